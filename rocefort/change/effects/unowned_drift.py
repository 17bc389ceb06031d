"""Unowned drift: running values that neither the last intent nor the new one has.

The plan may overwrite a value of the last intent: the new intent changes it on purpose. A value of
neither intent was typed by hand, and a plan must not remove it without permission. Unmodelled lines
are never changed; a plan lists them as kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from rocefort.base.errors import BadInput, Problem, Refused
from rocefort.change.effects.switch_configs import SwitchConfigs
from rocefort.dialects.secrets import with_known_secrets
from rocefort.models.change.compare import compare
from rocefort.models.change.edits import Edit
from rocefort.models.device.device import Device


def drift_edits(sides: SwitchConfigs, last: Device | None) -> tuple[Edit, ...]:
    """Return the drift from the last intent that the plan would overwrite.

    Each edit has the running value and the value of the last intent. last: Device of the last
    intent in the form that the switch saves; None if that intent did not have the switch.
    """
    if last is None:
        return ()
    last = with_known_secrets(last, sides.intended, ())
    changes = [edit.path for edit in sides.whole.edits]
    return tuple(
        Edit(path=edit.path, before=edit.after, after=edit.before)
        for edit in compare(last, sides.running)
        if any(_overlap(edit.path, path) for path in changes)
    )


def _overlap(a: str, b: str) -> bool:
    """Whether two paths are equal, or one encloses the other."""
    short, long = sorted((a, b), key=len)
    return long == short or (long.startswith(short) and long[len(short)] in ".[")


def adopted_drift(
    sides: Iterable[SwitchConfigs], last: Mapping[str, Device], adopt: Sequence[str]
) -> tuple[str, ...]:
    """Drift that `adopt` names, each `device: path`; raises Refused for all other drift.

    adopt: `leaf01` for all of a switch, or `leaf01:PATTERN` with `*` for any part of a path.
    Raises BadInput for one that names nothing.
    """
    drift = [
        (each.node.name, edit) for each in sides for edit in drift_edits(each, _last(each, last))
    ]
    idle = [word for word in adopt if not any(_names(word, n, e.path) for n, e in drift)]
    if idle:
        raise BadInput(
            problems=[Problem(f"--adopt {word}", "names no drift", "leave it out") for word in idle]
        )
    owned = [(n, e) for n, e in drift if any(_names(word, n, e.path) for word in adopt)]
    problems = list(_problems((n, e) for n, e in drift if (n, e) not in owned))
    if problems:
        raise Refused(problems=problems)
    return tuple(f"{name}: {edit.path}" for name, edit in owned)


def _last(sides: SwitchConfigs, last: Mapping[str, Device]) -> Device | None:
    return last.get(sides.node.name)


def _names(word: str, device: str, path: str) -> bool:
    name, colon, pattern = word.partition(":")
    return name == device and (not colon or fnmatchcase(path, _literal(pattern)))


def _literal(pattern: str) -> str:
    """Pattern in which only `*` is special, because a path has brackets."""
    return pattern.replace("[", "[[]").replace("?", "[?]")


def _problems(drift: Iterable[tuple[str, Edit]]) -> Iterator[Problem]:
    for name, edit in drift:
        runs, meant = edit.before_text or "nothing", edit.after_text or "nothing"
        what = f"{edit.path}: it runs {runs}, the last intent had {meant}; the plan overwrites that"
        how = f"put it into the fabric, or allow the overwrite by --adopt '{name}:{edit.path}'"
        yield Problem(name, what, how)
