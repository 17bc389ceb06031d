"""A second opinion on patches between random fabrics, and whether it sees a line that is forgotten."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from efforts import tries
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from patch_cases import CASES
from refused_nodes import family_of, lacks_pool
from second_opinion import EXCEPTIONS, apart, disagreement, effect, excepted, of_hier_config

from rocefort.dialects.network_text import render_all
from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.models.hardware.hardware import SyntaxFamily
from rocefort.models.network.network import Network

NetworkOf = Callable[[Any], Network]
Strategy = Callable[..., st.SearchStrategy[Any]]
UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)


def test_every_exception_is_needed() -> None:
    used = {
        excepted(path)
        for case in CASES
        for one, other in ((case.before, case.after), (case.after, case.before))
        for path in disagreement(one, other, case.family)
    }
    assert used == {*EXCEPTIONS}


@settings(max_examples=tries(4), phases=UNSHRUNK)
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
        if lacks_pool(node) or lacks_pool(new.by_name[node.name]):
            continue
        differences = disagreement(before[node.name], after[node.name], family_of(node))
        assert [path for path in differences if excepted(path) is None] == []


@pytest.mark.parametrize("left_out", range(4))
def test_a_patch_that_forgets_a_line_is_seen(left_out: int) -> None:
    """Each of its lines but those that open and leave a view."""
    family = SyntaxFamily.V300_G1
    old = "vlan batch 10\ninterface Vlanif10\n description old\n mtu 9000\n"
    new = "vlan batch 10 20\ninterface Vlanif10\n mtu 4000\nntp unicast-server 192.0.2.1\n"
    commands = list(make_patch(old, new, family).commands)
    candidates = [n for n, line in enumerate(commands) if not re.match(r" *(interface|quit)", line)]
    assert len(candidates) == 4
    theirs = of_hier_config(old, new)
    assert apart(effect(old, commands, family), theirs) == set()
    del commands[candidates[left_out]]
    assert apart(effect(old, commands, family), theirs) != set()
