"""Answers of the command line to one line: a refusal with its caret, or the prompt of a view."""

from __future__ import annotations

import pytest

from rocefort.dialects.vrp.interpreter.interpreter import VrpRefusal, apply_line, prompt_name
from rocefort.dialects.vrp.text.config_tree import ConfigLine
from rocefort.models.hardware.hardware import SyntaxFamily

V200, G1, G2 = SyntaxFamily.V200, SyntaxFamily.V300_G1, SyntaxFamily.V300_G2

UNRECOGNIZED = "Error: Unrecognized command found at '^' position."
WRONG = "Error: Wrong parameter found at '^' position."
INCOMPLETE = "Error: Incomplete command found at '^' position."
TOO_MANY = "Error: Too many parameters found at '^' position."
IN_PORT = "interface 100GE1/0/1"


@pytest.mark.parametrize(
    ("family", "view", "line", "position", "message"),
    [
        (G1, "", "frobnicate 1", 0, UNRECOGNIZED),
        (G1, "", "  frobnicate 1", 2, UNRECOGNIZED),
        (G1, "", "vlan batch 4095", 11, WRONG),
        (G1, "", "undo vlan batch", 15, INCOMPLETE),
        (G1, "", "lldp enable now", 12, TOO_MANY),
        (G1, "", "lldp", 4, INCOMPLETE),
        (G1, "", "interface Foo1", 10, WRONG),
        (G1, "", "undo interface 100GE1/0/1", 15, WRONG),
        (G1, "", "undo dcb pfc", 12, INCOMPLETE),
        (G1, "", "undo dcb pfc default", 13, WRONG),
        (G1, "", "dcb pfc deadlock-detect timer 10000", 30, WRONG),
        (G1, "", "dcb pfc deadlock-detect timer 9", 30, WRONG),
        (G1, "", "undo dcb pfc deadlock-detect timer", 34, INCOMPLETE),
        (G2, "", "dcb pfc deadlock-detect timer 100", 24, UNRECOGNIZED),
        (V200, "", "dcb pfc deadlock-detect timer 100", 24, TOO_MANY),
        (G2, "", "dcb pfc deadlock-detect interval 20", 33, UNRECOGNIZED),
        (G1, IN_PORT, "mtu 45", 4, WRONG),
        (G1, IN_PORT, "mtu 9601", 4, WRONG),
        (G1, IN_PORT, "undo mtu 9000", 9, TOO_MANY),
        (G1, IN_PORT, "description " + "x" * 243, 12, WRONG),
        (G1, IN_PORT, "ip address 10.0.0.1 30", 0, UNRECOGNIZED),  # a layer-2 port
        (G1, IN_PORT, "dcb pfc buffer 4 xon static 601 kbytes xoff static 600 kbytes", 28, WRONG),
        (G1, IN_PORT, "dcb pfc buffer 4 xon static 1 mbytes xoff static 1000 kbytes", 28, WRONG),
        (G1, IN_PORT, "dcb pfc buffer 4 xon static 1 kbytes xoff static 6145 kbytes", 49, WRONG),
        (G1, IN_PORT, "dcb pfc buffer 6 xon static 1 kbytes xoff static 2 kbytes", 15, WRONG),
        (
            G1,
            IN_PORT,
            "dcb pfc buffer 4 xoff static 600 kbytes xon offset 50 kbytes",
            17,
            UNRECOGNIZED,
        ),
        (
            G2,
            IN_PORT,
            "dcb pfc buffer 4 xon static 550 kbytes xoff static 600 kbytes",
            17,
            UNRECOGNIZED,
        ),
        (
            V200,
            IN_PORT,
            "dcb pfc buffer 4 xon static 550 kbytes xoff static 600 kbytes",
            17,
            UNRECOGNIZED,
        ),
        (G1, "interface Eth-Trunk1", "dcb pfc enable mode manual", 0, UNRECOGNIZED),
        (G1, "dcb pfc", "priority 6", 9, WRONG),
        # the format is in the reference, and no source states which queues remain
        (G1, "dcb pfc", "undo priority", 13, INCOMPLETE),
        (G2, "dcb pfc", "undo priority", 13, INCOMPLETE),
        (G1, "dcb pfc", "priority 4 deadlock-detect time 10", 11, UNRECOGNIZED),
        (G2, "dcb pfc", "priority 4 deadlock-detect time 16", 32, WRONG),
        (G1, "", "undo bgp", 8, INCOMPLETE),
        (G1, "bgp 65001", "ipv4-family unicast x", 20, TOO_MANY),
        (G1, "bgp 65001;ipv4-family unicast", "maximum load-balancing 129", 23, WRONG),
        (G1, "bgp 65001;ipv4-family unicast", "undo maximum load-balancing 2", 28, UNRECOGNIZED),
        (G1, "bgp 65001", "peer 10.0.0.0 as-number 0", 24, WRONG),
        (G1, "bgp 65001", "peer 10.0.0.0 as-number 0.0", 24, WRONG),
        (G1, "bgp 65001", "undo peer 10.0.0.0 as-number 65002", 19, UNRECOGNIZED),
        (G1, "", "undo route-policy P permit node 20", 20, UNRECOGNIZED),
        (G1, "", "undo ip ip-prefix L index 10 permit 10.0.0.0 8", 29, TOO_MANY),
    ],
)
def test_what_is_refused_and_where_the_caret_stands(
    family: SyntaxFamily, view: str, line: str, position: int, message: str
) -> None:
    config: tuple[ConfigLine, ...] = ()
    place: tuple[str, ...] = ()
    for opener in filter(None, view.split(";")):
        applied = apply_line(config, place, opener, family)
        config, place = applied.config, applied.view
    with pytest.raises(VrpRefusal) as refusal:
        apply_line(config, place, line, family)
    assert (refusal.value.message, refusal.value.position) == (message, position)


@pytest.mark.parametrize(
    ("typed", "prompt"),
    [
        ("interface 100ge 1/0/1", "-100GE1/0/1"),
        ("bgp 65001;ipv4-family unicast", "-bgp-af-ipv4"),
        ("dcb pfc", "-dcb-pfc-default"),
        ("dcb pfc mine", "-dcb-pfc-mine"),
        ("diffserv domain roce", "-dsdomain-roce"),
        ("ai-service;ai-ecn", "-ai-service-ai-ecn"),
        ("acl 2000", "-acl4-basic-2000"),
        ("acl 3000", "-acl4-advance-3000"),
        ("user-interface vty 0 4", "-ui-vty0-4"),
        ("drop-profile p", "-drop-p"),
        ("vlan 7;quit", ""),
    ],
)
def test_prompts_name_the_view(typed: str, prompt: str) -> None:
    config: tuple[ConfigLine, ...] = ()
    view: tuple[str, ...] = ()
    for line in typed.split(";"):
        applied = apply_line(config, view, line, G1)
        config, view = applied.config, applied.view
    assert prompt_name(view, G1) == prompt
