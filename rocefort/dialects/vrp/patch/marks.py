"""Marks on rows of annet for the position of a line in a patch. No typed line can contain one."""

from __future__ import annotations

ANEW = "\0anew"  # a port leaves its Eth-Trunk and joins it again
LAST = "\0last"  # a port applies its profile after its traffic has changed


def unmarked(row: str) -> str:
    """Return the line without its mark."""
    return row.partition("\0")[0]
