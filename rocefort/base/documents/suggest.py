"""Suggest the nearest valid name, for hints of errors."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from fnmatch import fnmatchcase

from rocefort.base.errors import BadInput, Problem

NEAR_ONE = "did you mean"


def nearest(name: str, valid: Iterable[str], otherwise: str = "") -> str:
    """Return `did you mean 'hold_s'?`; if no name is similar, `otherwise`, or all names."""
    names = sorted(valid)
    similar = near(name, names)
    if similar:
        return f"{NEAR_ONE} {similar!r}?"
    return otherwise or f"known here: {', '.join(names)}"


def near(name: str, valid: Iterable[str]) -> str | None:
    """Return the valid name that is most similar in any case of letters; None if none is."""
    by_fold: dict[str, str] = {}
    for one in sorted(valid):
        by_fold.setdefault(one.casefold(), one)
    fold = name.casefold()
    begins = [one for one in by_fold if one.startswith(fold) and fold]
    similar = begins[:1] or get_close_matches(fold, by_fold, n=1)
    return by_fold[similar[0]] if similar else None


def matching_names(
    option: str, patterns: Collection[str], valid: Collection[str], what: str
) -> list[str]:
    """Return the known names that an option's names and patterns (`leaf0*`) match.

    what: message for one that matches nothing, for `format`. Raises BadInput with all of those.
    """
    matches = {p: {n for n in valid if fnmatchcase(n, p)} for p in patterns}
    strangers = [pattern for pattern, names in matches.items() if not names]
    if problems := [Problem(option, what.format(each), nearest(each, valid)) for each in strangers]:
        raise BadInput(problems=problems)
    return [name for name in valid if any(name in names for names in matches.values())]


def chosen_names(
    option: str, names: Collection[str], valid: Collection[str], what: str
) -> list[str]:
    """Return the known names that an option gives; all of them if it gives none.

    what: message for an unknown name, for `format`. Raises BadInput for unknown names.
    """
    strangers = [name for name in dict.fromkeys(names) if name not in valid]
    if problems := [Problem(option, what.format(name), nearest(name, valid)) for name in strangers]:
        raise BadInput(problems=problems)
    return [name for name in valid if name in names or not names]
