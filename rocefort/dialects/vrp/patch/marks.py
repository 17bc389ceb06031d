"""Marks on rows of annet that say when in a patch a line comes. No typed line can hold one."""

from __future__ import annotations

ANEW = "\0anew"  # a port leaves its Eth-Trunk and joins it again
LAST = "\0last"  # a port applies its profile after its traffic has changed


def unmarked(row: str) -> str:
    """The line without its mark."""
    return row.partition("\0")[0]
