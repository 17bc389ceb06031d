"""A patch made of the rows that differ is the patch made of all rows."""

from __future__ import annotations

from itertools import permutations

import pytest
from patch_cases import of_whole_texts

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.network_text import render_node
from rocefort.dialects.vrp.patch import patch as patches
from rocefort.dialects.vrp.patch.changed_rows import reduced
from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.dialects.vrp.text.config_tree import parse_tree
from rocefort.models.hardware.hardware import SyntaxFamily

NEIGHBOURS = """\
sysname leaf01
ntp unicast-server 10.255.0.5
ssh user netops
ssh user netops authentication-type password
ssh user netops service-type stelnet
dcb pfc
 priority 4
 undo priority 3
interface 100GE1/0/1
 description to spine01
 dcb pfc enable mode manual
interface 100GE1/0/2
 description to spine02
 dcb pfc enable mode manual
"""


@pytest.mark.parametrize("family", list(SyntaxFamily))
def test_two_switches_of_one_family_have_the_same_patch(
    heps: DerivedNetwork, family: SyntaxFamily
) -> None:
    nodes = [n for n in heps.network.nodes if n.family and n.family.name is family]
    for a, b in permutations([render_node(node) for node in (*nodes[:1], *nodes[-2:])], 2):
        patch = make_patch(a, b, family)
        assert patch.commands
        with of_whole_texts():
            assert make_patch(a, b, family) == patch


def seen(old: str, new: str) -> tuple[list[str], list[str]]:
    """Return the remaining top rows of a text in which one piece is replaced."""
    was, will = (
        patches._rows(parse_tree(text)) for text in (NEIGHBOURS, NEIGHBOURS.replace(old, new))
    )
    left, right = reduced(was, will)
    return list(left), list(right)


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        ("to spine01", "to spine03", ["interface 100GE1/0/1"]),
        ("10.255.0.5", "10.255.0.6", ["ntp unicast-server 10.255.0.6"]),
        # lines of one owner are read together: without the others, the user would be removed
        (
            "ssh user netops service-type stelnet\n",
            "",
            ["ssh user netops", "ssh user netops authentication-type password"],
        ),
        # a changed profile needs the ports that apply it
        (" undo priority 3\n", "", ["dcb pfc", "interface 100GE1/0/1", "interface 100GE1/0/2"]),
    ],
)
def test_what_is_left_to_see(old: str, new: str, rows: list[str]) -> None:
    assert seen(old, new)[1] == rows


def test_lines_of_a_port_that_stay_are_left_out() -> None:
    changed = NEIGHBOURS.replace("to spine01", "to spine03")
    was, will = (patches._rows(parse_tree(text)) for text in (NEIGHBOURS, changed))
    assert list(reduced(was, will)[1]["interface 100GE1/0/1"]) == ["description to spine03"]


def test_a_port_that_changes_is_seen_to_apply_a_profile_that_changes() -> None:
    changed = NEIGHBOURS.replace("to spine01", "to spine03").replace(" undo priority 3\n", "")
    was, will = (patches._rows(parse_tree(text)) for text in (NEIGHBOURS, changed))
    left = [list(rows["interface 100GE1/0/1"]) for rows in reduced(was, will)]
    assert left == [
        ["description to spine01", "dcb pfc enable mode manual"],
        ["description to spine03", "dcb pfc enable mode manual"],
    ]


def test_equal_changes_of_many_switches_are_made_once() -> None:
    family = SyntaxFamily.V200
    make = patches._engine(family)
    assert hasattr(make, "cache_info")
    before = make.cache_info().misses
    for number in range(20):
        text = f"sysname leaf{number}\ninterface 25GE1/0/1\n description to {number}\n mtu {{}}\n"
        make_patch(text.format(9000), text.format(9100), family)
    assert make.cache_info().misses <= before + 2
