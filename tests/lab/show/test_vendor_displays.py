"""Displays of an emulated switch compared with the vendor's outputs, line by line.

Numbers of the samples are not the lab's. So a separate number counts as a zero in its column, and a
time as none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from ipaddress import IPv4Address
from typing import Any

import pytest
from vendor_displays import vendor_display

from rocefort.emulator.state.model import ComputedRoutes, EmulatedState
from rocefort.emulator.switch.state_source import PeerState
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.hardware.hardware import SyntaxFamily

V200, G1, G2 = SyntaxFamily.V200, SyntaxFamily.V300_G1, SyntaxFamily.V300_G2
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
NUMBER = re.compile(r"(?<= )( *)(\d+)(?=[ ,]|$)", re.MULTILINE)
BUNDLE = """\
sysname leaf01
port split dimension interface 400GE1/1/1 split-type 2*200GE
interface MEth0/0/0
 description out of band
 ip address 10.255.0.9 255.255.255.0
interface Eth-Trunk10
 port default vlan 10
interface 100GE1/0/1
 eth-trunk 10
interface 100GE1/0/2
 eth-trunk 10
interface 100GE1/0/3
 shutdown
interface 100GE1/0/10
 eth-trunk 10
vlan 10
interface 400GE1/1/1:1
 undo portswitch
 ip address 10.1.0.1 31
"""
PAUSED = """\
sysname leaf01
dcb pfc
 priority 4
 undo priority 3
interface 100GE1/0/1
 dcb pfc enable mode manual
 dcb pfc buffer 4 """
SHUT = """\
sysname leaf01
vlan 10
interface 100GE1/0/1
 port default vlan 10
interface 100GE1/0/3
 shutdown
"""
ROUTER = """\
sysname leaf01
interface LoopBack0
 ip address 10.0.0.11 32
bgp 65101
 peer 10.1.0.0 as-number 65001
 peer 10.1.0.2 as-number 65001
"""
PORTS = {"100GE1/0/1": 100_000, "100GE1/0/3": 100_000}
BUNDLED = PORTS | {"100GE1/0/2": 100_000, "100GE1/0/10": 100_000, "400GE1/1/1:1": 200_000}
STATIC = "xon static 550 kbytes xoff static 600 kbytes"
OFFSET = "xoff static 600 kbytes xon offset 50 kbytes"
Show = Callable[[str, str, SyntaxFamily, Mapping[str, int]], str]


def form(text: str) -> list[str]:
    """Return lines of a display with a zero for each number, in its column; - for a time."""
    text = NUMBER.sub(lambda m: f"{'0':>{len(m[0])}}", TIME.sub("-", text))
    return text.rstrip("\n").split("\n")


@pytest.fixture
def shown(make_switch: Callable[..., EmulatedSwitch], open_talk: Any, clock: Any) -> Show:
    """Return displays of a switch with a startup configuration and ports; its sessions are old."""

    def show(command: str, startup: str, family: SyntaxFamily, ports: Mapping[str, int]) -> str:
        switch = make_switch(startup=startup, family=family)
        assert not switch.startup_refusals, switch.startup_refusals
        clock.seconds += 522 * 3600 + 45 * 60
        addresses = map(IPv4Address, ("10.1.0.0", "10.1.0.2"))
        states = (("Established", 13), ("Idle", 0))
        peers = [PeerState(a, "65001", *s) for a, s in zip(addresses, states, strict=True)]
        known = {"leaf01": dict(ports)}
        switch.state_source = EmulatedState(
            {"leaf01": switch},
            None,
            known,
            lambda _running, _dead: ComputedRoutes({"leaf01": peers}),
        )
        return str(open_talk(switch)(command))

    return show


@pytest.mark.parametrize(
    ("sample", "command", "startup", "family", "ports"),
    [
        ("interface-brief-v300", "display interface brief", BUNDLE, G1, BUNDLED),
        ("interface-management", "display interface MEth0/0/0", BUNDLE, G1, BUNDLED),
        ("interface-brief-v200", "display interface brief", SHUT, V200, PORTS),
        ("interface-port-v200", "display interface 100GE1/0/1", SHUT, V200, PORTS),
        ("bgp-peer-v300", "display bgp peer", ROUTER, G1, {}),
        ("dcb-pfc-buffer-v300-g1", "display dcb pfc buffer", PAUSED + STATIC, G1, PORTS),
    ],
)
def test_a_display_has_the_vendors_form(
    shown: Show,
    sample: str,
    command: str,
    startup: str,
    family: SyntaxFamily,
    ports: Mapping[str, int],
) -> None:
    assert form(shown(command, startup, family, ports)) == form(vendor_display(sample))


@pytest.mark.parametrize(
    ("sample", "family"), [("dcb-pfc-buffer-v300-g2", G2), ("dcb-pfc-buffer-v200", V200)]
)
def test_thresholds_have_the_vendors_legend_and_columns(
    shown: Show, sample: str, family: SyntaxFamily
) -> None:
    """The row differs: V200's defaults are not known."""
    ours = shown("display dcb pfc buffer", PAUSED + OFFSET, family, PORTS).split("\n")
    theirs = vendor_display(sample).rstrip("\n").split("\n")
    assert (ours[:-2], ours[-1]) == (theirs[:-2], theirs[-1])
    assert [len(line) for line in ours] == [len(line) for line in theirs]


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        (OFFSET, ["-", "-", "50(K)", "600(K)", "-"]),
        ("xoff static 1500 cells", ["-", "-", "-", "1500(C)", "-"]),
        ("xoff dynamic 6", ["-", "-", "-", "6(D)", "-"]),
    ],
)
def test_a_v200_shows_thresholds_in_the_unit_of_their_line(
    shown: Show, line: str, cells: list[str]
) -> None:
    """Its defaults are not known, so none are printed."""
    rows = shown("display dcb pfc buffer", PAUSED + line, V200, PORTS).splitlines()
    assert rows[-2].split() == ["100GE1/0/1", "4", *cells]


def test_queues_of_a_port_have_the_heading_of_the_configuration_guide(shown: Show) -> None:
    command = "display qos queue statistics interface 100GE1/0/1"
    theirs = form(vendor_display("qos-queue-statistics-interface"))
    assert form(shown(command, SHUT, G1, PORTS))[: len(theirs)] == theirs
