"""Display commands on a small fabric: golden outputs, readers of them, and faults."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import pytest
from leaf_and_spines import CABLES, LEAF, PORTS, SPINE, UPLINK, routed
from recorded_driver import RecordedDriver

from napalm_cloudengine.displays.interfaces import read_names
from napalm_cloudengine.displays.lines import DisplayAnswer
from napalm_cloudengine.displays.lldp import Neighbor
from napalm_cloudengine.displays.routing import read_peers
from napalm_cloudengine.displays.system import read_clock, read_version
from rocefort.base.errors import BadInput
from rocefort.dialects.vrp.running_state import read_topic
from rocefort.dialects.vrp.saved_text import read_display
from rocefort.emulator.state.model import EmulatedState
from rocefort.emulator.state.state_faults import STATE_FAULTS, read_state_fault
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.hardware.hardware import SyntaxFamily
from rocefort.models.network.observed import StateTopic

GOLDEN = Path(__file__).parents[2] / "golden" / "lab"


@pytest.fixture
def fabric(make_switch: Callable[..., EmulatedSwitch]) -> EmulatedState:
    """A leaf with a bonded server, and two spines."""
    texts = {
        "leaf01": LEAF,
        "spine01": SPINE.format(name="spine01", address="10.1.0.0"),
        "spine02": SPINE.format(name="spine02", address="10.1.0.2"),
    }
    switches = {name: make_switch(name=name, startup=text) for name, text in texts.items()}
    cabling = CABLES | {far: end for end, far in CABLES.items()}
    model = EmulatedState(switches, cabling, {"leaf01": PORTS}, routed)
    for switch in switches.values():
        assert not switch.startup_refusals
        switch.state_source = model
    return model


@pytest.fixture
def ask(fabric: EmulatedState, open_talk: Any) -> Callable[[str], str]:
    """Run a command on the leaf."""
    leaf = fabric.switches["leaf01"]
    talk = open_talk(leaf)
    return lambda command: str(talk(command))


def read(topic: StateTopic, command: str, text: str) -> Any:
    """Return the topic that the driver reads from a command's output."""
    return read_topic(RecordedDriver({command: text}), topic, "leaf01", (UPLINK,))


def counters(text: str) -> Any:
    return read(StateTopic.PFC_COUNTERS, "display dcb pfc", text)


COMMANDS = [
    "display version",
    "display device",
    "display device esn",
    "display clock",
    "display startup",
    "display alarm active",
    "dir",
    "display interface brief",
    "display interface 100GE1/0/25",
    "display interface Eth-Trunk10",
    "display lldp neighbor brief",
    "display lldp neighbor",
    "display eth-trunk 10",
    "display ip routing-table",
    "display ip routing-table 10.8.0.9",
    "display ip routing-table 10.8.0.0 24",
    "display bgp peer",
    "display bgp peer 10.1.0.0 verbose",
    "display ip routing-table 10.8.0.0 24 verbose",
    "display arp",
    "display mac-address",
    "display vlan",
    "display vlan 10",
    "display interface transceiver brief",
    "display device fan",
    "display device power",
    "display device temperature",
    "display dcb",
    "display dcb pfc-profile",
    "display dcb pfc",
    "display dcb pfc buffer",
    "display dcb pfc interface 100GE1/0/25",
    "display ai-ecn calculated state",
    "display qos queue statistics interface 100GE1/0/25",
    "display qos ecn threshold interface 100GE1/0/25",
]


def test_every_display_is_as_its_golden_file_has_it(
    ask: Callable[[str], str], golden_update: bool
) -> None:
    output = "".join(f"<leaf01>{command}\n{ask(command)}\n" for command in COMMANDS)
    assert "\nError:" not in output
    path = GOLDEN / "displays.txt"
    if golden_update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(output, encoding="utf-8")
    assert output == path.read_text(encoding="utf-8")


def test_the_queues_of_a_slot_are_those_of_its_ports_each_under_its_name(
    ask: Callable[[str], str],
) -> None:
    shown = ask("display qos queue statistics slot 1").split(" Queue statistics info: interface ")
    rule = " " + "-" * 94 + "\n"  # the sample of the reference also has one above the head
    blocks = dict(block.split(f"\n{rule}", 1) for block in shown[1:])
    assert shown[0] == ""
    assert "100GE1/0/25" in blocks
    for name, block in blocks.items():
        alone = ask(f"display qos queue statistics interface {name}").splitlines()
        of_slot = block.rstrip("\n").splitlines()
        assert (of_slot[0], of_slot[2:]) == (alone[0], alone[2:])
        assert of_slot[1].split() == alone[1].split(), "units in other columns"
    assert ask("display qos queue statistics slot 2").endswith(
        "Wrong parameter found at '^' position."
    )


def test_the_drivers_readers_take_what_is_shown(ask: Callable[[str], str]) -> None:
    table = read_peers(DisplayAnswer("display bgp peer", ask("display bgp peer")))
    assert (table.router_id, table.local_as) == ("10.0.0.11", 65101)
    assert [(p.address, p.state, p.prefixes_received) for p in table.peers] == [
        ("10.1.0.0", "Established", 1),
        ("10.1.0.2", "Established", 1),
    ]
    assert (
        read_version(DisplayAnswer("display version", ask("display version"))).model
        == "CE8851-32CQ8DQ-P"
    )
    names = read_names(DisplayAnswer("display interface brief", ask("display interface brief")))
    assert set(names) == {*PORTS, "Eth-Trunk10", "LoopBack0", "NULL0", "Vlanif10"}
    lldp = read_display(ask("display lldp neighbor brief"))
    assert lldp is not None
    assert lldp.neighbours == (
        Neighbor("100GE1/0/25", "spine01", "100GE1/0/1", 3),
        Neighbor("100GE1/0/26", "spine02", "100GE1/0/1", 4),
    )


def test_the_readers_of_live_checks_take_what_is_shown(ask: Callable[[str], str]) -> None:
    def read_of(topic: StateTopic, command: str) -> Any:
        return read(topic, command, ask(command))

    ports = {p.name: p for p in read_of(StateTopic.PORTS, "display interface")}
    assert ports["100GE1/0/25"].mtu == 9000
    assert ports["100GE1/0/25"].speed_mbps == 100_000
    assert ports["100GE1/0/3"].shut
    assert not ports["100GE1/0/4"].up, "it has no cable"
    routes = {r.prefix: r for r in read_of(StateTopic.ROUTES, "display ip routing-table")}
    assert routes[IPv4Network("10.8.0.0/24")].next_hops == (
        IPv4Address("10.1.0.0"),
        IPv4Address("10.1.0.2"),
    )
    assert routes[IPv4Network("10.99.0.0/16")].protocol == "Static"
    profiles = read_of(StateTopic.PFC_PROFILES, "display dcb pfc-profile")
    assert [(p.name, p.queues) for p in profiles] == [("default", (4,))]
    thresholds = read_of(StateTopic.THRESHOLDS, "display dcb pfc buffer")
    assert [(t.interface, t.xon_kbytes, t.xoff_kbytes) for t in thresholds] == [
        ("100GE1/0/1", 550, 600),
        ("100GE1/0/25", 100, 125),
    ]
    [bonded, uplink] = read_of(StateTopic.AI_ECN, "display ai-ecn calculated state")
    assert (bonded.interface, uplink.interface) == ("100GE1/0/1", "100GE1/0/25")
    assert (uplink.queue, uplink.mode, uplink.model) == (4, "BBR", "AI_ECN_HPC")
    assert (
        read_clock(DisplayAnswer("display clock", ask("display clock"))).isoformat()
        == "2026-01-02T03:04:05+00:00"
    )
    assert read_of(StateTopic.DISK, "dir") > 800_000


def cell(text: str, name: str) -> str:
    """Return the value after `Name:` in `display interface`."""
    return text.partition(f"{name}:")[2].partition(",")[0].split()[0]


# Fault, text after `@`, the display, and its output then.
FAULTS: list[tuple[str, str, str, Callable[[str], object], object]] = [
    (
        "input-errors",
        "100GE 1/0/25=5/s",
        "display interface 100GE1/0/25",
        lambda text: (cell(text, "CRC"), cell(text, "Total Error")),
        ("50", "50"),
    ),
    (
        "input-errors",
        "100GE1/0/25=7",
        "display interface brief",
        lambda text: [row.split()[-2] for row in text.splitlines() if row.startswith(UPLINK)],
        ["7"],
    ),
    (
        "input-discards",
        "100GE1/0/25=3",
        "display interface 100GE1/0/25",
        lambda text: cell(text, "Discard"),
        "3",
    ),
    (
        "output-discards",
        "100GE1/0/25=3",
        "display interface brief",
        lambda text: [row.split()[-1] for row in text.splitlines() if row.startswith(UPLINK)],
        ["3"],
    ),
    (
        "wrong-mtu",
        "100GE1/0/25=1500",
        "display interface 100GE1/0/25",
        lambda text: "The Maximum Transmit Unit is 1500," in text,
        True,
    ),
    (
        "traffic",
        "100GE1/0/25 queue 4=100/s",
        "display qos queue statistics interface 100GE1/0/25",
        lambda text: [r.split()[2:4] for r in text.splitlines() if r.startswith("     4 ")],
        [["1000", "100"]],
    ),
    (
        "queue-drops",
        "100GE1/0/25=1000",
        "display qos queue statistics interface 100GE1/0/25",
        lambda text: [
            q.queue
            for q in read(
                StateTopic.QUEUES, f"display qos queue statistics interface {UPLINK}", text
            )
            if q.dropped_packets
        ],
        [4],
    ),
    (
        "pfc-received",
        "100GE1/0/25=20/s",
        "display dcb pfc interface 100GE1/0/25",
        lambda text: [(p.rx_frames, p.rx_rate) for p in counters(text)],
        [(200, 20)],
    ),
    (
        "pfc-sent",
        "100GE1/0/25 queue 4=9",
        "display dcb pfc interface 100GE1/0/25",
        lambda text: [(p.tx_frames, p.tx_rate) for p in counters(text)],
        [(9, 0)],
    ),
    (
        "deadlocks",
        "100GE1/0/25=2",
        "display dcb pfc",
        lambda text: [p.deadlocks for p in counters(text)],
        [0, 2],
    ),
    (
        "ai-ecn-abnormal",
        "100GE1/0/25",
        "display ai-ecn calculated state interface 100GE1/0/25",
        lambda text: [
            row.mode for row in read(StateTopic.AI_ECN, "display ai-ecn calculated state", text)
        ],
        ["-"],
    ),
    (
        "link-down",
        "100GE1/0/25",
        "display bgp peer",
        lambda text: [
            peer.state for peer in read_peers(DisplayAnswer("display bgp peer", text)).peers
        ],
        ["Idle", "Established"],
    ),
    (
        "link-down",
        "100GE1/0/25",
        "display alarm active",
        lambda text: "0x8520003  Major" in text and "100GE1/0/25" in text,
        True,
    ),
    (
        "wrong-cable",
        "100GE1/0/25=spine02:100GE1/0/1",
        "display lldp neighbor brief",
        lambda text: [row.split()[2:] for row in text.splitlines()[2:]],
        [["100GE1/0/1", "spine02"]],
    ),
]


@pytest.mark.parametrize(("name", "what", "command", "read", "expected"), FAULTS)
def test_a_fault_shows_in_its_display_and_heals(
    fabric: EmulatedState,
    ask: Callable[[str], str],
    clock: Any,
    name: str,
    what: str,
    command: str,
    read: Callable[[str], object],
    expected: object,
) -> None:
    healthy = read(ask(command))
    assert healthy != expected
    fabric.inject("leaf01", read_state_fault(name, what))
    clock.seconds += 10
    assert read(ask(command)) == expected
    fabric.faults.clear()
    assert read(ask(command)) == healthy


def test_every_fault_has_a_case() -> None:
    assert {case[0] for case in FAULTS} == set(STATE_FAULTS)


def test_a_cut_cable_takes_both_ends_and_its_routes_down(
    fabric: EmulatedState, ask: Callable[[str], str]
) -> None:
    fabric.inject("leaf01", read_state_fault("link-down", UPLINK))
    far = {state.name: state.physical for state in fabric.interfaces("spine01")}
    assert far["100GE1/0/1"] == "down"
    text = ask("display ip routing-table 10.8.0.0 24")
    text = text.replace("Summary Count : 1", "Destinations : 1 Routes : 1")
    hops = read(StateTopic.ROUTES, "display ip routing-table", text)
    assert [route.next_hops for route in hops] == [(IPv4Address("10.1.0.2"),)]


def test_shutting_a_port_shows_at_the_other_end(fabric: EmulatedState, open_talk: Any) -> None:
    spine = open_talk(fabric.switches["spine01"])
    leaf = open_talk(fabric.switches["leaf01"])
    assert f"{UPLINK} current state : UP" in leaf(f"display interface {UPLINK}")
    spine("system-view", "interface 100GE1/0/1", "shutdown", "commit")
    assert "100GE1/0/1               *down" in spine("display interface brief")
    assert f"{UPLINK} current state : DOWN" in leaf(f"display interface {UPLINK}")
    assert [n.device for n in fabric.neighbours("leaf01")] == ["spine02"]


def test_an_eth_trunk_needs_its_members(fabric: EmulatedState, ask: Callable[[str], str]) -> None:
    for port in ("100GE1/0/1", "100GE1/0/2"):
        assert "Operate status: up" in ask("display eth-trunk 10")
        fabric.inject("leaf01", read_state_fault("link-down", port))
    assert "Operate status: down" in ask("display eth-trunk 10")
    states = {state.name: state.physical for state in fabric.interfaces("leaf01")}
    assert states["Vlanif10"] == "down", "no port carries its VLAN"


def test_thresholds_stand_in_the_columns_of_each_family(
    make_switch: Callable[..., EmulatedSwitch], open_talk: Any
) -> None:
    text = (
        "dcb pfc\ninterface 100GE1/0/1\n dcb pfc enable mode manual\n"
        " dcb pfc buffer 3 xoff static 600 kbytes xon offset 50 kbytes\n"
    )
    g2 = open_talk(make_switch(startup=text, family=SyntaxFamily.V300_G2))
    row = g2("display dcb pfc buffer").splitlines()[-2]
    assert row.split() == ["100GE1/0/1", "3", "1600(B)", "640(B)", "50(K)", "600(K)", "256(K)"]
    v200 = open_talk(make_switch(startup=text, family=SyntaxFamily.V200))
    row = v200("display dcb pfc buffer").splitlines()[-2]
    assert row.split() == ["100GE1/0/1", "3", "-", "-", "50(K)", "600(K)", "-"]


@pytest.mark.parametrize(
    ("name", "what", "sentence"),
    [
        ("input-errors", "", "'' names no port; write input-errors@100GE1/0/1"),
        ("input-errors", "100GE1/0/1", "input-errors takes a value; write input-errors@"),
        ("link-down", "100GE1/0/1=3", "link-down takes no value; write link-down@100GE1/0/1"),
        ("input-errors", "100GE1/0/1=-1", "input-errors takes a number, or N/s, not '-1'"),
        ("wrong-mtu", "100GE1/0/1=9/s", "wrong-mtu takes a number, not '9/s'"),
        ("wrong-mtu", "100GE1/0/1 queue 4=9", "wrong-mtu is of a port, not of a queue"),
        ("wrong-cable", "100GE1/0/1=leaf02", "'leaf02' is no port of a switch; write SWITCH:"),
    ],
)
def test_a_fault_that_says_nothing_is_refused(name: str, what: str, sentence: str) -> None:
    with pytest.raises(BadInput) as raised:
        read_state_fault(name, what)
    assert sentence in str(raised.value)


def test_faults_of_what_is_not_there_are_refused(fabric: EmulatedState) -> None:
    fault = read_state_fault("link-down", "100GE1/0/99")
    with pytest.raises(BadInput, match=r"leaf01: no port is called 100GE1/0/99"):
        fabric.inject("leaf01", fault)
    with pytest.raises(BadInput, match=r"no switch is called 'leaf9'; did you mean 'leaf01'"):
        fabric.inject("leaf9", fault)
    assert not fabric.faults
