"""Drift that nobody owns: what a switch runs though neither the last intent nor the new one has it.

A value that the plan would overwrite is somebody's if the last intent had it: then the new one
changes it on purpose. If neither has it, a person typed it, and a plan must not take it away
unasked. Lines that no model knows are never touched; a plan tells of them as kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from rocefort.errors import BadInput, Problem, Refused
from rocefort.models.device.device import Device
from rocefort.models.rollout.compare import compare
from rocefort.models.rollout.edits import Edit
from rocefort.rollout.planning.plan import SwitchConfigs
from rocefort.rollout.planning.secrets import with_known_secrets


def drift_edits(sides: SwitchConfigs, last: Device | None) -> tuple[Edit, ...]:
    """What a switch runs against its last intent, where the plan would overwrite it.

    Of each: the value that it runs, and the one that the last intent had. last: in the form in
    which the switch saves it; None: the last intent did not have the switch.
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
    """Whether one path is the other, or encloses it."""
    short, long = sorted((a, b), key=len)
    return long == short or (long.startswith(short) and long[len(short)] in ".[")


def adopted_drift(
    sides: Iterable[SwitchConfigs], last: Mapping[str, Device], adopt: Sequence[str]
) -> tuple[str, ...]:
    """Drift that `adopt` names, each `device: path`; raises Refused for all that it does not name.

    adopt: `leaf01` for all of a switch, or `leaf01:PATTERN` with `*` for any part of a path.
    Raises BadInput for one that names nothing.
    """
    found = [
        (each.node.name, edit) for each in sides for edit in drift_edits(each, _last(each, last))
    ]
    idle = [word for word in adopt if not any(_names(word, n, e.path) for n, e in found)]
    if idle:
        raise BadInput(
            problems=[Problem(f"--adopt {word}", "names no drift", "leave it out") for word in idle]
        )
    owned = [(n, e) for n, e in found if any(_names(word, n, e.path) for word in adopt)]
    problems = list(_problems((n, e) for n, e in found if (n, e) not in owned))
    if problems:
        raise Refused(problems=problems)
    return tuple(f"{name}: {edit.path}" for name, edit in owned)


def _last(sides: SwitchConfigs, last: Mapping[str, Device]) -> Device | None:
    return last.get(sides.node.name)


def _names(word: str, device: str, path: str) -> bool:
    name, colon, pattern = word.partition(":")
    return name == device and (not colon or fnmatchcase(path, _literal(pattern)))


def _literal(pattern: str) -> str:
    """A pattern in which only `*` is special: a path has brackets of its own."""
    return pattern.replace("[", "[[]").replace("?", "[?]")


def _problems(drift: Iterable[tuple[str, Edit]]) -> Iterator[Problem]:
    for name, edit in drift:
        runs, meant = edit.before_text or "nothing", edit.after_text or "nothing"
        what = f"{edit.path}: it runs {runs}, the last intent had {meant}; the plan overwrites that"
        how = f"put it into the fabric, or let go of it by --adopt '{name}:{edit.path}'"
        yield Problem(name, what, how)
