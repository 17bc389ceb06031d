"""Units of the rules for CloudEngine switches."""

from __future__ import annotations

KBYTE = 1024  # a CloudEngine's kbyte; its reference does not state 1000 or 1024


def kbytes(size_bytes: int) -> int:
    """Convert bytes to whole kbytes, rounded up."""
    return -(-size_bytes // KBYTE)
