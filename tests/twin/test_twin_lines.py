"""Command lines of a twin: a commit there reaches the kernels, and displays show the kernels."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from functools import partial
from ipaddress import IPv4Network
from pathlib import Path

import pytest
from twin_labs import HEPS, Run

from rocefort.fleet.connections import Connections, load_connections
from rocefort.fleet.running_configs import running_of
from rocefort.lab.bring_up import one_lab
from rocefort.lab.twin.faults import FAULTS, faults_help
from rocefort.lab.twin.namespaces import inside
from rocefort.lab.twin.registry import lines_directory
from rocefort.lab.twin.twin import Twin
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.journal.events import Event
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.plan.make_plan import make_plan

EditHeps = Callable[..., Path]


@pytest.fixture(scope="module")
def twin(heps_twin: Twin) -> Twin:
    return heps_twin


@pytest.fixture
def connections(twin: Twin) -> Path:
    return lines_directory(twin.registry, twin.record) / "connections.yaml"


def counters(twin: Twin) -> dict[tuple[str, str], tuple[int, int]]:
    """Return how often each session came up and was lost."""
    counts = {}
    for switch in twin.topology.sessions:
        with twin.daemons(switch).vty("bgpd") as vty:
            peers = vty.read("show bgp ipv4 unicast summary json")["peers"]
        for peer, row in peers.items():
            counts[switch, peer] = row["connectionsEstablished"], row["connectionsDropped"]
    return counts


def again(twin: Twin) -> Twin:
    """Return the lab as it is now."""
    current = Twin.find(twin.record.name, twin.registry)
    current.converge()
    return current


def applied(fabric: Path, access: Connections, journal: Path) -> tuple[str, ...]:
    """Plan and apply over SSH; returns the confirmed switches."""
    plan = make_plan(fabric, access, running_of(fabric, access, None))
    events: list[Event] = []
    done = apply_plan(plan, access, RunDirectory.of_journal(journal), [events.append])
    assert done.failure == ""
    return done.confirmed


@pytest.mark.twin
def test_the_fabric_is_well(run: Run, twin: Twin, connections: Path) -> None:
    code, out, _ = run("health", "heps", "--connections", connections)
    assert code == 0, out
    assert "heps: 20 rules, 0 errors, 0 warnings, 0 info, 2 not judged because" in out
    status = one_lab("heps")
    assert (status.wrong, status.connections) == ((), str(connections))


@pytest.mark.twin
def test_a_rollout_reaches_the_kernels_and_resets_no_session(
    twin: Twin, connections: Path, edit_heps: EditHeps, tmp_path: Path
) -> None:
    server = "  - {name: storage02, leaf: leaf08, port: 25GE1/0/2, segment: storage, roce: false}\n"
    fabric = edit_heps(
        (
            "    segments: [beamline]\n\n# Published: the seven",
            "    segments: [beamline, storage]\n\n# Published: the seven",
        ),
        ("\nsecurity:\n", f"{server}\nsecurity:\n"),
        ("  - name: readout03\n", "  - name: readout03\n    description: detector 3\n"),
    )
    access = load_connections(connections)
    before, sessions = twin.fibs(protocols=["bgp"]), counters(twin)
    assert applied(fabric, access, tmp_path / "journal") == ("leaf08", "leaf07")
    after = again(twin).fibs(protocols=["bgp"])
    (new,) = after["leaf01"].keys() - before["leaf01"].keys()
    assert after["leaf01"][new] == after["leaf01"][IPv4Network("10.0.1.8/32")]
    assert len(after["leaf01"][new]) == 2
    assert len(after["spine01"][new]) == 1
    del after["leaf01"][new]
    assert after["leaf01"] == before["leaf01"]
    assert counters(twin) == sessions
    assert applied(HEPS, access, tmp_path / "back") == ("leaf08", "leaf07")
    assert again(twin).fibs(protocols=["bgp"]) == before
    assert counters(twin) == sessions


FOUND = [
    ("wrong-mtu", "leaf03:100GE1/0/25", "LIV009", "MTU: 1500 bytes, intended 9000"),
    (
        "link-down",
        "leaf03:100GE1/0/25",
        "LIV003",
        "peer 10.1.0.32 (spine01): the session is not established",
    ),
    ("wrong-cable", "leaf01:100GE1/0/57,leaf02:100GE1/0/58", "LIV006", "spine02"),
    ("node-down", "spine02", "LIV003", "the session is not established"),
    ("bgpd-killed", "leaf05", "LIV003", "the session is not established"),
]
# LIV003 reports this as an unplugged cable.
MARKS = dict.fromkeys(("node-down", "bgpd-killed"), pytest.mark.thorough)


@pytest.mark.twin
@pytest.mark.parametrize(
    ("fault", "where", "rule", "message"),
    [pytest.param(*row, id=row[0], marks=MARKS.get(row[0], ())) for row in FOUND],
)
def test_health_finds_what_is_broken(
    run: Run, twin: Twin, connections: Path, fault: str, where: str, rule: str, message: str
) -> None:
    before = again(twin)
    whole = before.fibs(protocols=["bgp"])
    assert run("lab", "break", "heps", fault, where) == (
        0,
        f"broken: {fault} {where}; `rocefort lab mend heps` repairs it\n",
        "",
    )
    code, out, _ = run("health", "heps", "--connections", connections, "--select", rule)
    assert f"broken on purpose: {fault} {where}" in one_lab("heps").wrong
    assert run("lab", "mend", "heps") == (0, f"repaired: {fault} {where}\n", "")
    assert code == 1
    assert message in " ".join(out.split())
    now = again(twin)
    assert now.fibs(protocols=["bgp"]) == whole
    assert set(now.topology.cables) == set(before.topology.cables)
    assert one_lab("heps").wrong == ()


def pings(twin: Twin, count: int) -> int:
    """Return the number of echoes that cross from leaf01 to spine01 over their cable."""
    return inside([(f"rf-{twin.record.id}-leaf01", partial(_echoes, "10.1.0.0", count))])[0]


def _echoes(address: str, count: int) -> int:
    packet = struct.pack("!BBHHH", 8, 0, 0xFFFF - 0x0800 - 8, 7, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as sender:
        sender.settimeout(1)
        for _ in range(count):
            sender.sendto(packet, (address, 0))
        replies = 0
        try:
            while replies < count:
                answer = sender.recv(1 << 16)
                replies += answer[20] == 0 and answer[24:26] == packet[4:6]
        except TimeoutError:
            return replies
        return replies


@pytest.mark.twin
def test_faults_on_a_port_come_and_go(run: Run, twin: Twin) -> None:
    port = "leaf01:100GE1/0/57"
    assert pings(twin, 20) == 20
    assert run("lab", "break", "heps", "silent-loss", port)[0] == 0
    assert pings(twin, 20) == 0
    assert run("lab", "break", "heps", "wrong-mtu", f"{port}=1400")[2] == (
        f"rocefort: {port}=1400: is broken already: silent-loss {port}; rocefort lab mend heps\n"
    )
    assert run("lab", "mend", "heps")[0] == 0
    for fault, command, output in (
        ("rate-limit", "tc qdisc show dev 100GE1_0_57", "rate 5Mbit"),
        ("ce-mark", "nft list ruleset", "ip ecn set ce"),
        ("silent-loss", "nft list ruleset", "numgen random mod 100 < 5"),
    ):
        assert run("lab", "break", "heps", fault, f"{port}=5")[0] == 0
        assert output in twin.run("leaf01", command.split())[1]
        assert run("lab", "mend", "heps")[0] == 0
        assert output not in twin.run("leaf01", command.split())[1]
    assert pings(twin, 20) == 20
    assert run("lab", "mend", "heps") == (0, "no fault is injected\n", "")


BAD = [
    (("smoke", "leaf01"), f"no fault is called 'smoke'; known here: {', '.join(sorted(FAULTS))}"),
    (("link-down", "leaf01"), "'leaf01' is no place of this fault; write NODE:PORT"),
    (("node-down", "leaf01=3"), "'leaf01=3' is no place of this fault; write NODE"),
    (("silent-loss", "leaf01:100GE1/0/57=101"), "leaf01: 101 percent; write =1 to =100"),
    (
        ("link-down", "leaf01:100GE1/0/9"),
        "leaf01: no cable is at 100GE1/0/9; name a port by the switch's text",
    ),
]


@pytest.mark.twin
@pytest.mark.parametrize(("words", "message"), BAD)
def test_no_fault(run: Run, twin: Twin, words: tuple[str, str], message: str) -> None:
    assert run("lab", "break", "heps", *words) == (2, "", f"rocefort: {message}\n")
    assert one_lab("heps").wrong == ()


def test_every_fault_says_what_it_does() -> None:
    faults = faults_help()
    assert [name.split()[0] for name, _ in faults] == list(FAULTS)
    assert faults[0][1] == "The cable is unplugged: both ends lose carrier."
    assert all(text.endswith(".") for _, text in faults)
