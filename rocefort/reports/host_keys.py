"""Host keys as a table: a fingerprint is compared by eye, so they stand below each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

HEAD = ("host", "address", "key", "fingerprint", "record")


def keys_text(rows: Sequence[tuple[str, ...]]) -> str:
    """The table; "" without a row."""
    if not rows:
        return ""
    widths = [max(map(len, column)) for column in zip(HEAD, *rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (HEAD, *rows)
    )
    return "\n".join(lines)


def recorded_text(new: int, path: Path) -> str:
    """What was done."""
    if not new:
        return f"nothing to add to {path}"
    return f"{new} host key{'s' if new > 1 else ''} added to {path}"
