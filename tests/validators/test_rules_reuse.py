"""What is said of a switch once, for both sides of a review, is what each side says by itself."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import MethodType
from typing import Any

import pytest
from efforts import tries
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rocefort.models.finding import Severity
from rocefort.models.network import End, Network, Node, Position, Sources
from rocefort.validators import check, rules
from rocefort.validators.by_switch import Judgements, Said, Switch
from rocefort.validators.overview import Overview
from rocefort.validators.rules import Rule, Subject, Verdict

Change = Callable[[Any], Any]


def _tables() -> dict[str, list[Change]]:
    """Every way to spoil the small fabric that the tests of a rule have, by the rule's id."""
    ids, found = {r.id for r in rules()}, dict[str, list[Change]]()
    for path in sorted(Path(__file__).parent.glob("test_rules_*.py")):
        if path == Path(__file__):
            continue
        spec = importlib.util.spec_from_file_location(f"tables_of_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        start = getattr(module, "bonded", lambda small: small)  # where the tables there begin
        for name in ids & vars(module).keys():
            found[name] = [_after(start, row[0]) for row in getattr(module, name)]
    return found


def _after(start: Change, change: Change) -> Change:
    return lambda small: change(start(small))


TABLES = _tables()
CHANGES = [change for changes in TABLES.values() for change in changes]


def _placed(small: Any, file: str) -> Any:
    """With positions of a file for all switches and for some of their ports."""
    table = {f"{node.name}/": Position(file, n) for n, node in enumerate(small.network.nodes, 1)}
    for node in small.network.nodes:
        for line, port in enumerate(node.device.interfaces[::2], 10 + len(file)):
            table[f"{node.name}/interfaces[{port.name}]"] = Position(file, line)
    return replace(small, sources=Sources(table))


def _hold(before: Any, after: Any, run: list[Rule] | None = None) -> None:
    """Both reports are byte for byte those of checks that know nothing of each other."""
    judgements = Judgements()
    for side in (_placed(after, "after.yaml"), _placed(before, "before.yaml")):
        told = check(side.network, side.sources, run=run, judgements=judgements)
        alone = check(side.network, side.sources, run=run)
        assert told.model_dump_json() == alone.model_dump_json()


def test_every_rule_has_a_table_here() -> None:
    assert set(TABLES) == {r.id for r in rules()}


@pytest.mark.parametrize("rule_id", sorted(TABLES))
def test_each_rule_says_the_same_of_both_sides(small: Any, rule_id: str) -> None:
    own = [r for r in rules() if r.id == rule_id]
    sides = [small, *(change(small) for change in TABLES[rule_id])]
    for before, after in pairwise(sides):
        _hold(before, after, own)
        _hold(small, after, own)


@settings(max_examples=tries(60))
@given(st.sampled_from(CHANGES), st.sampled_from(CHANGES), st.booleans())
def test_any_change_of_any_fabric(small: Any, first: Change, second: Change, turned: bool) -> None:
    before = first(small)
    try:
        after = second(before)
    except (AssertionError, LookupError, StopIteration):  # what it changes is there no more
        assume(False)
    _hold(*((after, before) if turned else (before, after)))


ASKED: list[str] = []


def _say_its_length(switch: Switch, unit: str) -> Iterator[Said]:
    ASKED.append(switch.node.name)
    lengths = ", ".join(f"{port.cable_m:g} {unit}" for port in switch.roce_ports)
    yield switch.finding(switch.node, f"its cables: {lengths}", "")


def _lengths(subject: Subject) -> Iterator[Verdict]:
    yield from subject.by_switch(_say_its_length, "m" if subject.network.spines == 2 else "km")


def _rule(judge: Callable[[Subject], Iterator[Verdict]]) -> Rule:
    return Rule("TXT900", "Title", "", Severity.INFO, "RFC 1", (), (), judge)


def _judge(network: Network, judgements: Judgements) -> list[str]:
    """Which switches are judged by themselves, and not taken as judged before."""
    ASKED.clear()
    assert len(list(_rule(_lengths).run(Overview(network, Sources(), judgements)))) == 4
    return list(ASKED)


def test_a_switch_is_judged_again_only_if_something_that_counts_is_another(small: Any) -> None:
    judgements = Judgements()
    all_four = [node.name for node in small.network.nodes]
    assert _judge(small.network, judgements) == all_four
    assert _judge(small.network, judgements) == []
    assert _judge(small.device("leaf01", bfd=False).network, judgements) == ["leaf01"]
    longer = small.link(0, cable_m=7)  # a fact of two switches that is in neither Node
    assert _judge(longer.network, judgements) == ["spine01", "leaf01"]
    assert _judge(small.change(spines=3).network, judgements) == all_four


class _Carrier:
    """Something that a rule could look at beside its Switch."""

    def judge(self, switch: Switch) -> Iterator[Said]:
        yield switch.finding(switch.node, repr(self), "")


def test_a_judge_of_switches_brings_nothing_in_with_it(small: Any) -> None:
    def of_closure(subject: Subject) -> Iterator[Verdict]:
        def judge(switch: Switch) -> Iterator[Said]:
            yield switch.finding(switch.node, f"one of {len(subject.network.nodes)}", "")

        yield from subject.by_switch(judge)

    def of_method(subject: Subject) -> Iterator[Verdict]:
        yield from subject.by_switch(MethodType(_Carrier.judge, _Carrier()))

    for judge in (of_closure, of_method):
        with pytest.raises(TypeError, match="TXT900: a judge of switches is a function of a mod"):
            list(_rule(judge).run(Overview(small.network, Sources())))


def test_a_judge_of_switches_speaks_of_its_switch_alone(small: Any) -> None:
    leaf: Node = small.network.by_name["leaf01"]
    switch = Switch(small.network.by_name["spine01"], ())
    with pytest.raises(ValueError, match="leaf01 is not spine01, which alone is judged"):
        switch.finding(leaf, "wrong", "")
    with pytest.raises(ValueError, match="leaf01 100GE1/0/1 is no port of spine01, which alone"):
        switch.not_judged(End(device="leaf01", interface="100GE1/0/1"), "not known")
