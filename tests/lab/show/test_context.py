"""Displays of configuration: the saved form, parts of it, and filters behind `|`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocefort.dialects.vrp.text.config_tree import parse_tree, tree_text
from rocefort.emulator.show.hardware import saved_text
from rocefort.emulator.switch.switch import EmulatedSwitch

MakeSwitch = Callable[..., EmulatedSwitch]
Ask = Callable[[str], str]

# Sections as the vendor prints them: `display configuration commit at` (CR, aaa), the examples for
# AI ECN and for BGP load balancing (CG), the format notes of telemetry.
SAVED = """#
sysname leaf01
#
vlan batch 10 20
#
dcb pfc
 priority 4
#
ai-service
 #
 ai-ecn
  ai-ecn enable
  assign queue 4
#
aaa
 local-user netops service-type ssh
 #
 task-group ops
  task bgp read
#
interface 100GE1/0/1
 description Uplink
 port default vlan 20
#
interface 100GE1/0/2
 port default vlan 10
#
bgp 65101
 peer 10.1.0.0 as-number 65001
 #
 ipv4-family unicast
  peer 10.1.0.0 enable
#
return
"""


@pytest.fixture
def switch(make_switch: MakeSwitch) -> EmulatedSwitch:
    return make_switch(startup=SAVED)


@pytest.fixture
def ask(switch: EmulatedSwitch, open_talk: Callable[[EmulatedSwitch], Any]) -> Ask:
    talk: Ask = open_talk(switch)
    return talk


def rows(*lines: str) -> str:
    return "\n".join(lines)


def test_a_configuration_is_shown_and_saved_in_the_vendors_form(
    switch: EmulatedSwitch, ask: Ask
) -> None:
    shown = ask("display current-configuration")
    assert shown.partition("#")[2] == SAVED.partition("#")[2].rstrip("\n")
    assert ask("display saved-configuration") == shown
    assert saved_text(switch) == f"!Software Version V300R023C00\n{SAVED}"
    ask("system-view")
    assert ask("display this") == SAVED.rstrip("\n")
    assert ask("display configuration candidate merge") == SAVED.rstrip("\n")
    assert tree_text(parse_tree(shown)) == SAVED.replace("\n #", ""), "` #` means nothing"


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (
            "display current-configuration configuration bgp",
            rows(
                "#",
                "bgp 65101",
                " peer 10.1.0.0 as-number 65001",
                " #",
                " ipv4-family unicast",
                "  peer 10.1.0.0 enable",
                "#",
                "return",
            ),
        ),
        ("display current-configuration configuration isis", rows("#", "return")),
        (
            "display current-configuration interface 100GE1/0/2",
            rows("#", "interface 100GE1/0/2", " port default vlan 10", "#", "return"),
        ),
        (
            "display current-configuration interface 100GE 1/0/3",
            "Error: The interface does not exist.",
        ),
        ("display current-configuration all | count", f"Total lines: {SAVED.count(chr(10)) + 2}."),
    ],
)
def test_a_part_of_it(ask: Ask, typed: str, shown: str) -> None:
    assert ask(typed) == shown


@pytest.mark.parametrize("word", ["include-default", "inactive", "nonsense"])
def test_what_is_not_known_is_not_shown_as_empty(ask: Ask, word: str) -> None:
    assert ask(f"display current-configuration {word}").endswith(
        "Error: Wrong parameter found at '^' position."
    )


def test_the_views_of_a_block_are_told_apart_where_one_stands(ask: Ask) -> None:
    ask("system-view")
    ask("ai-service")
    assert ask("display this") == rows(
        "#", "ai-service", " #", " ai-ecn", "  ai-ecn enable", "  assign queue 4", "#", "return"
    )


# V300R023C00 configuration guide, "Regular Expressions": modes, options, several in a row.
VLAN_ROWS = rows("vlan batch 10 20", " port default vlan 20", " port default vlan 10")


@pytest.mark.parametrize(
    ("filters", "shown"),
    [
        ("include vlan", VLAN_ROWS),
        ("include vlan | exclude batch", rows(" port default vlan 20", " port default vlan 10")),
        ("include vlan | count", "Total lines: 3."),
        ("count include vlan", "Total lines: 3."),
        ("include vlan | no-more", VLAN_ROWS),
        ("no-more include vlan", VLAN_ROWS),
        ("include sysname|batch", rows("sysname leaf01", "vlan batch 10 20")),
        ("include uplink", ""),
        ("ignore-case include uplink", " description Uplink"),
        ("begin peer 10.1.0.0 enable", rows("  peer 10.1.0.0 enable", "#", "return")),
        ("section include assign | exclude #", rows("ai-service", " ai-ecn", "  ai-ecn enable",
                                                    "  assign queue 4")),
        ("section begin ^bgp | count", "Total lines: 8."),
        ("section exclude [a-z]+ [0-9a-z]", rows("#", "return")),
        ("inc vlan | c", "Total lines: 3."),
    ],
)  # fmt: skip
def test_filters(ask: Ask, filters: str, shown: str) -> None:
    assert ask(f"display current-configuration | {filters}") == shown


@pytest.mark.parametrize(
    ("filters", "under", "message"),
    [
        ("include", "", "Incomplete command"),
        ("section", "", "Incomplete command"),
        ("", "", "Incomplete command"),
        ("include vlan | ", "", "Incomplete command"),
        ("section bgp", "bgp", "Unrecognized command"),
        ("i vlan", "i vlan", "Ambiguous command"),
        ("include [", "[", "Wrong parameter"),
        (f"include {'x' * 256}", "x" * 256, "Wrong parameter"),
        ("include a | " * 32 + "exclude last", "exclude", "Too many parameters"),
    ],
)
def test_filters_that_are_none(ask: Ask, filters: str, under: str, message: str) -> None:
    typed = f"display version | {filters}".rstrip()
    column = len("<leaf01>") + (typed.rindex(under) if under else len(typed))
    assert ask(typed) == f"{' ' * column}^\nError: {message} found at '^' position."


def test_ports_without_a_line_stand_among_the_interfaces(
    make_switch: MakeSwitch, open_talk: Callable[[EmulatedSwitch], Any]
) -> None:
    """As in the vendor's sample of `display configuration candidate merge`."""
    ports = ("100GE1/0/1", "100GE1/0/2", "100GE1/0/3", "100GE1/0/10", "400GE1/0/1")
    switch = make_switch(ports=ports, startup="#\nsysname x\n#\ninterface 100GE1/0/2\n mtu 9000\n")
    talk = open_talk(switch)
    talk("system-view", "port split dimension interface 400GE1/0/1 split-type 4*100GE", "y")
    talk("interface LoopBack0", "ip address 10.0.0.1 32", "interface 400GE1/0/1:2", "mtu 9100")
    talk("bgp 1", "commit")
    shown = talk("display current-configuration | include ^interface|^ mtu|^bgp")
    assert shown.splitlines() == [
        "interface 100GE1/0/1",
        "interface 100GE1/0/2",
        " mtu 9000",
        "interface 100GE1/0/3",
        "interface 100GE1/0/10",
        "interface 400GE1/0/1:1",
        "interface 400GE1/0/1:2",
        " mtu 9100",
        "interface 400GE1/0/1:3",
        "interface 400GE1/0/1:4",
        "interface LoopBack0",
        "bgp 1",
    ]
    part = talk("display current-configuration interface 100GE1/0/3")
    assert part == rows("#", "interface 100GE1/0/3", "#", "return")
    assert talk("display configuration candidate changes") == "", "they are no change"
    talk("system-view", "interface 100GE1/0/3", "mtu 9200")
    assert talk("display configuration candidate changes") == rows(
        "Building configuration", "  #", "  interface 100GE1/0/3", "+  mtu 9200", "  #"
    )
