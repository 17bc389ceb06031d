"""Table of host keys: fingerprints are aligned, so that a user can compare them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rocefort.models.wording import count_of
from rocefort.reports.blocks import Table, columns

HEADS = columns("host", "address", "key", "fingerprint", "record")


def keys_report(rows: Sequence[tuple[str, ...]]) -> Table:
    """Show the table; nothing without a row."""
    return Table(HEADS, tuple(rows))


def recorded_text(new: int, path: Path) -> str:
    """Return the number of added keys in a sentence."""
    if not new:
        return f"nothing to add to {path}"
    return f"{count_of(new, 'host key')} added to {path}"
