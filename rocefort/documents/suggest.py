"""The nearest valid name, for errors that tell how to mend a wrong one."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from rocefort.errors import BadInput, Problem


def nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean 'hold_s'?`, or all known names when none is near."""
    names = sorted(known)
    begins = [candidate for candidate in names if candidate.startswith(name) and name]
    near = begins[:1] or get_close_matches(name, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(names)}"


def chosen_names(
    option: str, names: Collection[str], known: Collection[str], what: str
) -> list[str]:
    """The known names that an option gives, all where it gives none.

    what: what is wrong with a name that is not known, for `format`. Raises BadInput for such.
    """
    strangers = [name for name in dict.fromkeys(names) if name not in known]
    if problems := [Problem(option, what.format(name), nearest(name, known)) for name in strangers]:
        raise BadInput(problems=problems)
    return [name for name in known if name in names or not names]
