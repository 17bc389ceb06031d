"""Outputs of display commands in the vendor's own form, each from a named source."""

from __future__ import annotations

from pathlib import Path

SAMPLES = Path(__file__).parents[2] / "napalm_cloudengine" / "samples"


def vendor_display(name: str) -> str:
    """Return the text of a sample, without the lines that name its source."""
    header, _, text = (SAMPLES / f"{name}.txt").read_text(encoding="utf-8").partition("\n\n")
    assert header.startswith("! source: "), f"{name} does not say where it comes from"
    return text
