"""Second opinion on patches: the lines that differ, by hier_config's tree and its own VRP driver.

hier_config has no commands of a switch, so it cannot judge the command that undoes a line. The lines
that are removed and added follow from the two texts alone, and our patch must have the same effect.
A table gives the reason for each difference between hier_config and a switch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from canonical import canonical
from hier_config import HConfig, HConfigChild, Platform, get_hconfig

from rocefort.dialects.vrp.interpreter.interpreter import Lines, apply_lines
from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.dialects.vrp.text.config_tree import parse_tree
from rocefort.dialects.vrp.text.secret_forms import as_saved
from rocefort.models.hardware.hardware import SyntaxFamily

Place = tuple[str, ...]


class Apart(NamedTuple):
    """A line on which the two may disagree."""

    line: str  # pattern of its last part
    reason: str


EXCEPTIONS = (
    Apart(
        r"interface (\d+GE|MEth)\S+",
        "a physical port is there with or without a line; only what is in it can come or go",
    ),
    Apart(
        r"dcb pfc|aaa|telemetry|user-interface vty \d+ \d+",
        "a view that every switch has: a patch empties it and cannot remove it",
    ),
    Apart(
        r"port link-type access",
        "the default, which a text may say and a switch does not save",
    ),
    Apart(
        r"peer \S+ enable",
        "the default of an IPv4 peer, which its line `undo peer .. enable` takes away",
    ),
)
LISTS = re.compile(
    r"(?P<head>vlan batch|port trunk allow-pass vlan|qos drr) (?P<members>\d[\d to]*)"
)


class Moved(NamedTuple):
    """Lines, with their views, that a change removes and adds."""

    gone: frozenset[Place]
    come: frozenset[Place]


def one_by_one(paths: Iterator[Place] | set[Place]) -> Iterator[Place]:
    """Return the lines; a line that lists numbers becomes one line per number."""
    for path in paths:
        if match := LISTS.fullmatch(path[-1]):
            members = re.sub(r"(\d+) to (\d+)", _spelled_out, match["members"])
            yield from ((*path[:-1], f"{match['head']} {number}") for number in members.split())
        else:
            yield path


def _spelled_out(match: re.Match[str]) -> str:
    return " ".join(map(str, range(int(match[1]), int(match[2]) + 1)))


def difference(before: set[Place], after: set[Place]) -> Moved:
    return Moved(frozenset(before - after), frozenset(after - before))


def effect(running: str, commands: Sequence[str], family: SyntaxFamily) -> Moved:
    """Return the effect of commands on a running configuration."""

    def lines(config: Lines) -> set[Place]:
        paths = {(*path, line.text) for top in config for path, line in top.walk()}
        return set(one_by_one(paths))

    config = canonical(parse_tree(as_saved(running)), family)
    after = canonical(apply_lines(config, map(as_saved, commands), family), family)
    return difference(lines(config), lines(after))


def of_hier_config(running: str, intended: str) -> Moved:
    """Return the effect of hier_config's own remediation."""
    old, new = (get_hconfig(Platform.HUAWEI_VRP, as_saved(text)) for text in (running, intended))
    gone: set[Place] = set()
    come: set[Place] = set()
    _walk(old.config_to_get_to(new), old, (), gone, come)
    out, into = set(one_by_one(gone)), set(one_by_one(come))
    return Moved(frozenset(out - into), frozenset(into - out))


def _walk(
    remedy: HConfig | HConfigChild,
    running: HConfig | HConfigChild | None,
    path: Place,
    gone: set[Place],
    come: set[Place],
) -> None:
    children = list(running.children) if running is not None else []
    undone = {_undo(child.text): child for child in children}
    same = {child.text: child for child in children}
    for line in remedy.children:
        if (child := undone.get(line.text)) is not None:
            gone.update(_below(child, path))
            continue
        if line.text not in same:
            come.add((*path, line.text))
        _walk(line, same.get(line.text), (*path, line.text), gone, come)


def _undo(text: str) -> str:
    """Return the command by which the driver undoes a line."""
    return get_hconfig(Platform.HUAWEI_VRP, "").add_child(text).negate().text


def _below(child: HConfigChild, path: Place) -> Iterator[Place]:
    yield (*path, child.text)
    for one in child.children:
        yield from _below(one, (*path, child.text))


def disagreement(running: str, intended: str, family: SyntaxFamily) -> set[Place]:
    """Yield lines that only one of the two removes, or adds."""
    ours = effect(running, make_patch(running, intended, family).commands, family)
    return apart(ours, of_hier_config(running, intended))


def apart(ours: Moved, theirs: Moved) -> set[Place]:
    return {*(ours.gone ^ theirs.gone), *(ours.come ^ theirs.come)}


def excepted(path: Place) -> Apart | None:
    return next((row for row in EXCEPTIONS if re.fullmatch(row.line, path[-1])), None)
