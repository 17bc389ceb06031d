"""Laws of the interpreter for any input: it loads its saved form; a repeated line has no effect."""

from __future__ import annotations

from canonical import canonical
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.dialects.vrp.interpreter.interpreter import VrpRefusal, apply_line, replay
from rocefort.dialects.vrp.text.config_tree import ConfigLine, parse_tree, tree_text
from rocefort.models.hardware.hardware import SyntaxFamily

G1 = SyntaxFamily.V300_G1

LINES = st.sampled_from(
    [
        "sysname leaf01",
        "vlan batch 10 to 12 30",
        "undo vlan batch 11",
        "vlan 12",
        "lldp enable",
        "undo lldp enable",
        "dcb pfc",
        "priority 4",
        "priority 5",
        "undo priority 3",
        "undo priority 4",
        "interface 100GE1/0/1",
        "interface Vlanif10",
        "undo interface Vlanif10",
        "undo portswitch",
        "portswitch",
        "mtu 9000",
        "undo mtu",
        "ip address 10.0.0.1 31",
        "ip address 10.0.1.1 24 sub",
        "undo ip address",
        "port trunk allow-pass vlan 10 12",
        "undo port trunk allow-pass vlan 1 10",
        "qos drr 0 to 5",
        "qos pq 3 to 7",
        "undo qos drr 0",
        "dcb pfc enable mode manual",
        "bgp 65001",
        "undo bgp 65001",
        "group G external",
        "peer G as-number 65002",
        "peer 10.0.0.0 group G",
        "undo peer 10.0.0.0",
        "undo group G",
        "peer 10.0.0.0 bfd min-tx-interval 300",
        "ipv4-family unicast",
        "network 10.0.0.0 24",
        "peer 10.0.0.0 enable",
        "undo peer 10.0.0.0 enable",
        "quit",
        "#",
    ]
)


def typed_in(lines: list[str]) -> tuple[ConfigLine, ...]:
    """Type lines, skipping what is refused, as an operator would."""
    config: tuple[ConfigLine, ...] = ()
    view: tuple[str, ...] = ()
    for line in lines:
        try:
            applied = apply_line(config, view, line, G1)
        except VrpRefusal:
            continue
        config, view = applied.config, applied.view
    return config


@settings(max_examples=tries(150))
@given(st.lists(LINES, max_size=40))
def test_a_saved_configuration_loads_to_itself(lines: list[str]) -> None:
    config = typed_in(lines)
    loaded, refusals = replay(parse_tree(tree_text(config)), G1)
    assert not refusals
    assert canonical(loaded, G1) == canonical(config, G1)


@settings(max_examples=tries(150))
@given(st.lists(LINES, max_size=30), LINES)
def test_a_line_typed_twice_changes_nothing_the_second_time(lines: list[str], line: str) -> None:
    config: tuple[ConfigLine, ...] = ()
    view: tuple[str, ...] = ()
    for each in [*lines, line]:
        try:
            applied = apply_line(config, view, each, G1)
        except VrpRefusal:
            continue
        origin, config, view = view, applied.config, applied.view
        if each not in ("quit", "#"):
            assert apply_line(config, origin, each, G1).config == config
