"""Units that a CloudEngine and the rules about it share."""

from __future__ import annotations

KBYTE = 1024  # a CloudEngine's kbyte; its reference does not say 1000 or 1024


def kbytes(size_bytes: int) -> int:
    """Bytes as whole kbytes, rounded up."""
    return -(-size_bytes // KBYTE)
