"""A second opinion on patches: hier_config's tree and its own VRP driver say which lines differ.

It knows no command of a switch, so it cannot judge how a line is undone; but which lines go and
which come follows from the two texts alone, and our patch must do just that. Where it sees another
difference than a switch would have, a table says why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from hier_config import HConfig, HConfigChild, Platform, get_hconfig
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from rocefort.dialects.vrp.interpret import Lines, apply_lines, canonical
from rocefort.dialects.vrp.patch import make_patch
from rocefort.dialects.vrp.secrets import as_saved
from rocefort.dialects.vrp.texts import render_all
from rocefort.dialects.vrp.tree import parse_tree
from rocefort.models.hardware import SyntaxFamily
from rocefort.models.network import Network

Place = tuple[str, ...]
NetworkOf = Callable[[Any], Network]
Strategy = Callable[..., st.SearchStrategy[Any]]
UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)

CASES = [
    (row["name"], SyntaxFamily(row["family"]), row["before"], row["after"])
    for path in sorted((Path(__file__).parents[1] / "patches").glob("*.yaml"))
    for row in yaml.safe_load(path.read_text(encoding="utf-8"))
]


class Apart(NamedTuple):
    """A line on which the two need not agree."""

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
    """Lines, each with its views, that a change takes away and that it brings."""

    gone: frozenset[Place]
    come: frozenset[Place]


def one_by_one(paths: Iterator[Place] | set[Place]) -> Iterator[Place]:
    """The lines; one that lists numbers as one for each number, however they were joined."""
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
    """What commands do to a running configuration, line by line."""

    def lines(config: Lines) -> set[Place]:
        found = {(*path, line.text) for top in config for path, line in top.walk()}
        return set(one_by_one(found))

    config = canonical(parse_tree(as_saved(running)), family)
    after = canonical(apply_lines(config, map(as_saved, commands), family), family)
    return difference(lines(config), lines(after))


def of_hier_config(running: str, intended: str) -> Moved:
    """What its own remediation takes away and brings."""
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
    """The line that the driver undoes a line by."""
    return get_hconfig(Platform.HUAWEI_VRP, "").add_child(text).negate().text


def _below(child: HConfigChild, path: Place) -> Iterator[Place]:
    yield (*path, child.text)
    for one in child.children:
        yield from _below(one, (*path, child.text))


def disagreement(running: str, intended: str, family: SyntaxFamily) -> set[Place]:
    """Lines of which only one of the two says that they go, or come."""
    ours = effect(running, make_patch(running, intended, family).commands, family)
    return apart(ours, of_hier_config(running, intended))


def apart(ours: Moved, theirs: Moved) -> set[Place]:
    return {*(ours.gone ^ theirs.gone), *(ours.come ^ theirs.come)}


def excepted(path: Place) -> Apart | None:
    return next((row for row in EXCEPTIONS if re.fullmatch(row.line, path[-1])), None)


@pytest.mark.parametrize(
    ("family", "before", "after"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_hier_config_sees_the_lines_of_every_case_go_and_come(
    family: SyntaxFamily, before: str, after: str
) -> None:
    for running, intended in ((before, after), (after, before)):
        found = disagreement(running, intended, family)
        assert [path for path in found if excepted(path) is None] == []


def test_every_exception_is_needed() -> None:
    used = {
        excepted(path)
        for _, family, before, after in CASES
        for one, other in ((before, after), (after, before))
        for path in disagreement(one, other, family)
    }
    assert used == {*EXCEPTIONS}


@settings(max_examples=4, deadline=None, phases=UNSHRUNK)
@given(data=st.data())
def test_hier_config_sees_the_lines_of_random_pairs_go_and_come(
    random_fabrics: Strategy,
    random_switch_sets: Strategy,
    network_of: NetworkOf,
    data: st.DataObject,
) -> None:
    switches = data.draw(random_switch_sets(2, 4))
    old, new = (network_of(data.draw(random_fabrics(switches))) for _ in range(2))
    before, after = render_all(old), render_all(new)
    for node in old.nodes:
        assert node.syntax is not None
        found = disagreement(before[node.name], after[node.name], node.syntax)
        assert [path for path in found if excepted(path) is None] == []


@pytest.mark.parametrize("left_out", range(4))
def test_a_patch_that_forgets_a_line_is_seen(left_out: int) -> None:
    """Each of its lines but those that open and leave a view."""
    family = SyntaxFamily.V300_G1
    old = "vlan batch 10\ninterface Vlanif10\n description old\n mtu 9000\n"
    new = "vlan batch 10 20\ninterface Vlanif10\n mtu 4000\nntp unicast-server 192.0.2.1\n"
    commands = list(make_patch(old, new, family).commands)
    told = [n for n, line in enumerate(commands) if not re.match(r" *(interface|quit)", line)]
    assert len(told) == 4
    theirs = of_hier_config(old, new)
    assert apart(effect(old, commands, family), theirs) == set()
    del commands[told[left_out]]
    assert apart(effect(old, commands, family), theirs) != set()
