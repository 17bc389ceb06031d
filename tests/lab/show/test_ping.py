"""`ping` and `display lldp neighbor` of a chain of three switches, compared with recorded forms."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from napalm_cloudengine import pinging
from napalm_cloudengine.displays import lldp
from napalm_cloudengine.displays.lines import DisplayAnswer
from rocefort.emulator.show.routing import printed
from rocefort.emulator.state.model import EmulatedState
from rocefort.emulator.state.state_faults import Port, read_state_fault
from rocefort.emulator.switch.state_source import EchoReply, EchoRequest
from rocefort.emulator.switch.switch import EmulatedSwitch

RECORDED = Path(__file__).parents[2] / "napalm_cloudengine" / "mocked_data"
UP, DOWN = "100GE1/0/1", "100GE1/0/2"
PORT = "interface {}\n undo portswitch\n ip address {} 255.255.255.254\n"
LEAF = "sysname {name}\nlldp enable\ninterface LoopBack0\n ip address 10.0.0.{id} 255.255.255.255\n"
TEXTS = {
    "leaf01": LEAF.format(name="leaf01", id=1)
    + PORT.format(UP, "10.1.0.1")
    + "interface Vlanif10\n ip address 10.7.0.1 255.255.255.0\n"
    + "interface 100GE1/0/3\n port default vlan 10\nvlan batch 10\n"
    + "ip route-static 0.0.0.0 0.0.0.0 10.1.0.0\nip route-static 10.99.0.0 255.255.0.0 NULL0\n",
    "spine01": LEAF.format(name="spine01", id=100)
    + PORT.format(UP, "10.1.0.0").replace(" undo", " description to leaf01\n undo")
    + PORT.format(DOWN, "10.1.0.2")
    + "interface MEth0/0/0\n ip address 192.0.2.1 255.255.255.0\n"
    + "ip route-static 10.0.0.1 255.255.255.255 10.1.0.1\n"
    + "ip route-static 10.0.0.2 255.255.255.255 10.1.0.3\n"
    + "ip route-static 10.7.0.0 255.255.255.0 10.1.0.1\n",
    "leaf02": LEAF.format(name="leaf02", id=2)
    + PORT.format(UP, "10.1.0.3")
    + "ip route-static 10.0.0.1 255.255.255.255 10.1.0.2\n",
}
CABLES: dict[Port, Port] = {
    ("leaf01", UP): ("spine01", UP),
    ("spine01", DOWN): ("leaf02", UP),
    ("leaf01", "100GE1/0/3"): ("server01", "port 1"),
}
REACHED = """\
  PING 10.0.0.2: 100  data bytes, press CTRL_C to break
    Reply from 10.0.0.2: bytes=100 Sequence=1 ttl=254 time=1 ms
    Reply from 10.0.0.2: bytes=100 Sequence=2 ttl=254 time=1 ms

  --- 10.0.0.2 ping statistics ---
    2 packet(s) transmitted
    2 packet(s) received
    0.00% packet loss
    round-trip min/avg/max = 1/1/1 ms"""
LOST = """\
  PING 10.9.9.9: 56  data bytes, press CTRL_C to break
    Request time out

  --- 10.9.9.9 ping statistics ---
    1 packet(s) transmitted
    0 packet(s) received
    100.00% packet loss"""
CANNOT = "Error: This emulator cannot ping it: "
SERVER = f"{CANNOT}the owner of 10.7.0.9 behind Vlanif10 of leaf01 is not modelled."
WRONG = "Error: Wrong parameter found at '^' position."


@pytest.fixture
def chain(make_switch: Callable[..., EmulatedSwitch]) -> EmulatedState:
    """leaf01 - spine01 - leaf02, by static routes; a server at leaf01."""
    switches = {name: make_switch(name=name, startup=text) for name, text in TEXTS.items()}
    model = EmulatedState(switches, CABLES | {far: end for end, far in CABLES.items()})
    for switch in switches.values():
        assert not switch.startup_refusals
        switch.state_source = model
    return model


@pytest.fixture
def ask(chain: EmulatedState, open_talk: Any) -> Callable[[str], str]:
    """Run a command on leaf01."""
    talk = open_talk(chain.switches["leaf01"])
    return lambda command: str(talk(command))


def test_the_form_is_that_of_the_recorded_reply() -> None:
    (path,) = (RECORDED / "test_ping" / "normal").glob("ping*.txt")
    replies = [EchoReply(60, 2), None, EchoReply(60, 4), EchoReply(60, 2), EchoReply(60, 4)]
    echo = EchoRequest(IPv4Address("8.8.8.8"), size=100)
    assert printed(echo, replies) + "\n" == path.read_text(encoding="utf-8")


def test_a_host_is_reached_over_two_links_and_back(ask: Callable[[str], str]) -> None:
    options = "-a 10.0.0.1 -c 2 -h 255 -s 100 -t 2000"
    assert ask(f"ping {options} 10.0.0.2") == REACHED
    assert ask("ping ip -t 2000 -m 500 -s 100 -c 2 -a 10.0.0.1 10.0.0.2") == REACHED
    assert ask("ping -c 1 10.9.9.9") == LOST


@pytest.mark.parametrize(
    ("typed", "received", "ttl"),
    [
        ("10.0.0.1", 5, 255),
        ("127.0.0.1", 5, 255),
        ("10.1.0.0", 5, 255),
        ("10.0.0.100", 5, 255),
        ("10.0.0.2", 0, None),  # leaf02 has no route back to 10.1.0.1
        ("-a 10.0.0.1 10.0.0.2", 5, 254),
        ("-a 10.0.0.1 -h 1 10.0.0.2", 0, None),
        ("-a 10.0.0.1 -h 2 10.0.0.2", 5, 254),
        ("-a 10.0.0.1 -i 100GE1/0/1 10.0.0.2", 5, 254),
        ("-a 10.0.0.1 -i Vlanif10 10.0.0.2", 0, None),
        ("10.99.0.1", 0, None),  # NULL0
        ("10.7.0.255", 0, None),  # its own broadcast
        ("10.8.0.1", 0, None),  # spine01 has no route
    ],
)
def test_what_answers(
    ask: Callable[[str], str], typed: str, received: int, ttl: int | None
) -> None:
    text = ask(f"ping {typed}")
    output = pinging.result(text, pinging.PingRequest(typed.rsplit(maxsplit=1)[-1]))["success"]
    assert (output["probes_sent"], output["packet_loss"]) == (5, 5 - received)
    assert text.count("ttl=") == received
    assert ttl is None or f"ttl={ttl} " in text


def test_a_cut_or_wrong_cable_is_a_way_no_more(
    chain: EmulatedState, ask: Callable[[str], str]
) -> None:
    typed = "ping -a 10.0.0.1 10.0.0.2"
    for name, what in (("link-down", DOWN), ("wrong-cable", f"{DOWN}=leaf01:100GE1/0/3")):
        assert "  0.00% packet loss" in ask(typed)
        chain.inject("spine01", read_state_fault(name, what))
        assert "100.00% packet loss" in ask(typed)
        chain.faults.clear()


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("10.7.0.9", SERVER),
        ("-vpn-instance a 10.0.0.2", f"{CANNOT}VPN instances have no routes here."),
        ("-a 10.5.5.5 10.0.0.2", f"{CANNOT}leaf01 has no address 10.5.5.5 that is up."),
        ("-c 1001 10.0.0.2", f"{CANNOT}it sends 1000 packets at most."),
        ("leaf02", f"{' ' * 13}^\n{WRONG}"),
        ("-c 1 -c 2 10.0.0.2", f"{' ' * 18}^\n{WRONG}"),
        ("-s 19 10.0.0.2", f"{' ' * 16}^\n{WRONG}"),
        ("", f"{' ' * 12}^\nError: Incomplete command found at '^' position."),
    ],
)
def test_what_it_cannot_ping_is_one_error(
    ask: Callable[[str], str], typed: str, sentence: str
) -> None:
    assert ask(f"ping {typed}".strip()) == sentence


def heard(text: str) -> list[lldp.Neighbor]:
    return lldp.read_detail(DisplayAnswer("display lldp neighbor", text))


def test_the_driver_reads_what_neighbours_say(chain: EmulatedState, open_talk: Any) -> None:
    talk = open_talk(chain.switches["leaf01"])
    (neighbour,) = heard(talk("display lldp neighbor"))
    assert talk("display lldp neighbor interface 100GE1/0/3") == "100GE1/0/3 has 0 neighbor(s)"
    assert (neighbour.local, neighbour.text("port_id")) == (UP, UP)
    assert neighbour.text("port_description") == "to leaf01"
    assert neighbour.text("system_name") == "spine01"
    assert neighbour.text("address") == "192.0.2.1"
    assert neighbour.text("enabled_capabilities") == "bridge router"
    (back,) = heard(
        open_talk(chain.switches["leaf02"])("display lldp neighbor interface 100GE1/0/1")
    )
    assert (back.text("port_id"), back.text("port_description")) == (DOWN, "")


def test_the_lines_of_a_neighbour_are_those_of_the_recorded_reply(
    ask: Callable[[str], str],
) -> None:
    (path,) = (RECORDED / "test_get_lldp_neighbors_detail" / "normal").glob("*.txt")
    first = path.read_text(encoding="utf-8").partition("has 0")[0]

    def keys(text: str) -> list[str]:
        rows = [row.partition(":") for row in text.splitlines()]
        return [f"{name}:" for name, colon, _ in rows if colon and len(name) == 35]

    shown = "".join(keys(ask("display lldp neighbor interface 100GE1/0/1")))
    # The reference and newer captures write `subtype`; the recorded reply is of an older release.
    assert shown.replace("subtype   ", "type      ") == "".join(keys(first))


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("interface 100GE1/0/9", "Error: The interface does not exist."),
        ("interface Vlanif10", f"{' ' * 48}^\n{WRONG}"),
    ],
)
def test_neighbours_of_what_is_no_port(
    ask: Callable[[str], str], typed: str, sentence: str
) -> None:
    assert ask(f"display lldp neighbor {typed}") == sentence


def test_nobody_is_heard_where_lldp_is_off(chain: EmulatedState, open_talk: Any) -> None:
    spine = open_talk(chain.switches["spine01"])
    spine("system-view", "undo lldp enable", "commit")
    assert spine("display lldp neighbor") == ""
    leaf = open_talk(chain.switches["leaf02"])
    assert leaf("display lldp neighbor interface 100GE1/0/1") == "100GE1/0/1 has 0 neighbor(s)"
