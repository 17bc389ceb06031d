"""`port split`: read, entered, patched and accepted by the switch, in both directions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from canonical import canonical
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.dialects.changes import change_of
from rocefort.dialects.syntax_families import load_families
from rocefort.dialects.vrp.interpreter.interpreter import VrpRefusal, apply_line, apply_lines
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.dialects.vrp.render import render
from rocefort.dialects.vrp.text.config_tree import parse_tree, tree_text
from rocefort.models.change.plan import ChangeKind
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.hardware.hardware import SyntaxFamily
from rocefort.models.hardware.media import PortSplit, parts_of

V200, G1, G2 = SyntaxFamily.V200, SyntaxFamily.V300_G1, SyntaxFamily.V300_G2
HEAD = "port split dimension interface"
MeaningOf = Callable[[str, Sequence[str], SyntaxFamily], frozenset[tuple[str, ...]]]


def splits(text: str) -> list[tuple[str, str]]:
    parsed = parse(f"sysname a\n{text}\n", "a.cfg")
    return [(s.port, s.type) for s in parsed.device.splits]


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("100GE1/0/1 split-type 4*25GE", [("100GE1/0/1", "4*25GE")]),
        (
            "100GE1/0/1 to 100GE1/0/3 split-type 2*50GE",
            [(f"100GE1/0/{n}", "2*50GE") for n in (1, 2, 3)],
        ),
        (
            "400GE2/0/1 400GE 2/0/7 to 400GE2/0/8 split-type 4*100GE",
            [(f"400GE2/0/{n}", "4*100GE") for n in (1, 7, 8)],
        ),
    ],
)
def test_ports_and_ranges_are_read(line: str, read: list[tuple[str, str]]) -> None:
    assert splits(f"{HEAD} {line}") == read


@pytest.mark.parametrize(
    "line",
    [
        "100GE1/0/1",
        "100GE1/0/3 to 100GE1/0/1 split-type 4*25GE",
        "100GE1/0/1 to 100GE2/0/1 split-type 4*25GE",
        "100GE1/0/1 split-type 9*10GE",
    ],
)
def test_what_no_device_holds_is_kept(line: str) -> None:
    parsed = parse(f"sysname a\n{HEAD} {line}\n", "a.cfg")
    assert parsed.device.splits == ()
    assert [x.text for x in parsed.unmodelled] == [f"{HEAD} {line}"]


def test_two_types_for_one_port_contradict() -> None:
    with pytest.raises(Exception, match=r"splits\[100GE1/0/1\].type is 2\*50GE here and 4\*25GE"):
        splits(f"{HEAD} 100GE1/0/1 split-type 4*25GE\n{HEAD} 100GE1/0/1 split-type 2*50GE")


PARENT = "interface 100GE1/0/1\n description whole\n"


def after(before: str, *typed: str, family: SyntaxFamily = G1) -> str:
    return tree_text(apply_lines(canonical(parse_tree(before), family), typed, family))


def test_the_port_goes_and_its_parts_come() -> None:
    split = after(
        PARENT, f"{HEAD} 100GE 1/0/1 split-type 4*25ge", "interface 100GE1/0/1:4", "shutdown"
    )
    assert split == (
        f"#\n{HEAD} 100GE1/0/1 split-type 4*25GE\n#\ninterface 100GE1/0/1:4\n shutdown\n#\nreturn\n"
    )
    assert after(split, f"undo {HEAD} 100GE1/0/1") == "#\nreturn\n"
    assert after(split, f"undo {HEAD} 100GE1/0/1 split-type 2*50GE") == split
    assert after(split, f"{HEAD} 100GE1/0/1 split-type 4*25GE") == split
    assert after(split, f"{HEAD} 100GE1/0/1 split-type 2*50GE") == (
        f"#\n{HEAD} 100GE1/0/1 split-type 2*50GE\n#\nreturn\n"
    )


def test_a_range_is_one_line_a_port() -> None:
    assert after("", f"{HEAD} 100GE1/0/1 to 100GE1/0/2 split-type 2*50GE") == (
        f"#\n{HEAD} 100GE1/0/1 split-type 2*50GE\n{HEAD} 100GE1/0/2 split-type 2*50GE\n#\nreturn\n"
    )


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ([f"{HEAD} 100GE1/0/1 split-type 4*25GE", "interface 100GE1/0/1"], "Wrong parameter"),
        ([f"{HEAD} 100GE1/0/1 split-type 2*50GE", "interface 100GE1/0/1:3"], "Wrong parameter"),
        (["interface 100GE1/0/1:1"], "Wrong parameter"),
        ([f"{HEAD} Vlanif3 split-type 4*25GE"], "Wrong parameter"),
        ([f"{HEAD} 100GE1/0/1 split-type 5*25GE"], "Wrong parameter"),
        (
            [
                "interface Eth-Trunk3",
                "quit",
                "interface 100GE1/0/9",
                "eth-trunk 3",
                "quit",
                f"{HEAD} 100GE1/0/9 split-type 4*25GE",
            ],
            "100GE1/0/9 is a member of an Eth-Trunk",
        ),
    ],
)
def test_what_the_switch_refuses(typed: list[str], message: str) -> None:
    with pytest.raises(VrpRefusal, match=message):
        after(PARENT, *typed)


def test_it_asks_before() -> None:
    config = canonical(parse_tree(PARENT), V200)
    result = apply_line(config, (), f"{HEAD} 100GE1/0/1 split-type 4*25GE", V200)
    assert result.question is not None
    assert result.question.startswith("Warning: This operation will delete current port(s)")
    again = apply_line(result.config, (), f"{HEAD} 100GE1/0/1 split-type 4*25GE", V200)
    assert again.question is None
    refresh = apply_line(result.config, (), "port split refresh", V200)
    assert (refresh.question, refresh.config) == ("Are you sure to continue? [Y/N]", result.config)
    with pytest.raises(VrpRefusal):
        apply_line(result.config, (), "port split refresh", G1)


def device(split: dict[str, str], described: dict[str, str]) -> Device:
    """A switch with splits and a description on some of the interfaces that they leave."""
    ports = [f"100GE1/0/{n}" for n in (1, 2, 3)]
    names = [n for p in ports for n in (parts_of(p, split[p]) if p in split else (p,))]
    return Device(
        name="a",
        lldp=True,
        splits=tuple(PortSplit(port=port, type=split_type) for port, split_type in split.items()),
        interfaces=tuple(
            Interface(name=name, description=described[name], routed=name.endswith("1"))
            for name in names
            if name in described
        ),
    )


TYPES = st.sampled_from(["4*25GE", "2*50GE"])
PORTS = st.sampled_from([f"100GE1/0/{n}" for n in (1, 2, 3)])
NAMES = st.builds("{}{}".format, PORTS, st.sampled_from(["", ":1", ":2", ":3", ":4"]))
DEVICES = st.builds(
    device,
    st.dictionaries(PORTS, TYPES),
    st.dictionaries(NAMES, st.sampled_from(["one", "two words"])),
)


@settings(max_examples=tries(60))
@given(DEVICES, DEVICES, st.sampled_from([V200, G1, G2]))
def test_running_and_patch_are_intended_and_back(
    meaning: MeaningOf, running: Device, intended: Device, family: SyntaxFamily
) -> None:
    old, new = (render(d, family, "ce8850") for d in (running, intended))
    assert parse(new, "a.cfg").device == intended
    patch = make_patch(old, new, family)
    assert meaning(old, patch.commands, family) == meaning(new, (), family)
    assert meaning(new, patch.reverse, family) == meaning(old, (), family)
    positions = [n for n, line in enumerate(patch.commands) if "port split dim" in line]
    assert positions == list(range(len(positions)))  # first of all
    assert patch.commands.count("port split refresh") == (family is V200 and bool(positions))


def test_a_member_leaves_its_eth_trunk_before_it_is_split() -> None:
    old = "sysname a\ninterface Eth-Trunk3\n mode lacp-static\ninterface 100GE1/0/1\n eth-trunk 3\n"
    new = (
        f"sysname a\n{HEAD} 100GE1/0/1 split-type 4*25GE\ninterface Eth-Trunk3\n mode lacp-static\n"
    )
    patch = make_patch(old, new, G1)
    assert patch.commands == (
        "interface 100GE1/0/1",
        " undo eth-trunk",
        " quit",
        f"{HEAD} 100GE1/0/1 split-type 4*25GE",
    )
    assert after(old, *patch.commands) == after(new)


def test_a_change_of_splits_says_what_is_lost() -> None:
    running, intended = device({}, {"100GE1/0/1": "one"}), device({"100GE1/0/1": "4*25GE"}, {})
    old, new = (render(d, G1, "ce8851") for d in (running, intended))
    change = change_of(old, running, new, intended, load_families()[G1], ())
    assert change.kind is ChangeKind.REMOVING
    assert (
        "100GE1/0/1 is split or made whole again: its configuration is lost, and no rollback "
        "restores it"
    ) in change.service_affecting
