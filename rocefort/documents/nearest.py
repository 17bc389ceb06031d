"""The nearest valid name, for errors that tell how to mend a wrong one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean 'hold_s'?`, or all known names when none is near."""
    names = sorted(known)
    begins = [candidate for candidate in names if candidate.startswith(name) and name]
    near = begins[:1] or get_close_matches(name, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(names)}"
