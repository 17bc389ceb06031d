"""Packets by queue: the switch's map applied to a kernel's counts, and the gate that uses them."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from typing import cast

import pytest
from nornir.core import Nornir

from napalm_cloudengine.displays.lines import DisplayAnswer
from napalm_cloudengine.displays.lossless import STATISTICS
from rocefort.emulator.emulated_site import BLOCKED
from rocefort.lab.experiments.under_load import run_command
from rocefort.lab.roce_probes import ReplayedByTwin, not_delivered, roce_length, wires
from rocefort.lab.twin.registry import Registry
from rocefort.lab.twin.state_source import OWN, dscp_number, queue_of, queues_of
from rocefort.lab.twin.twin import Twin, TwinOptions
from rocefort.models.change.plan import Gate
from rocefort.models.device.device import Device
from rocefort.models.device.lossless_queue import DSCPS
from rocefort.models.network.network import Network
from rocefort.rdma import queue_gate
from rocefort.rdma.plan.gate_pairs import traffic_class
from rocefort.rdma.queue_gate import QueueVerdict, wrong_queues
from rocefort.validators.facts.priorities import queue_of_dscp

ROCE, UPLINK, SERVER = 34, "100GE1_0_57", "100GE1_0_2"
PAIR = ("k8sgn08", "k8sgn09")


@pytest.fixture(scope="module")
def leaf(heps_network: Network) -> Device:
    return heps_network.by_name["leaf01"].device


@pytest.fixture(scope="module")
def twin(heps_network: Network, registry: Registry) -> Iterator[Twin]:
    """One leaf-spine-leaf path of HEPS."""
    names = ("spine01", "leaf01", "leaf02")
    links = [
        link for link in heps_network.links or () if {link.a.device, link.b.device} <= set(names)
    ]
    small = heps_network.model_copy(
        update={
            "nodes": tuple(node for node in heps_network.nodes if node.name in names),
            "links": tuple(links),
            "servers": tuple(s for s in heps_network.servers or () if s.name in PAIR),
        }
    )
    new_twin = Twin.up(small, "queues", TwinOptions(bfd=False), registry)
    yield new_twin
    new_twin.down()


def test_a_port_that_trusts_dscp_has_the_queues_of_its_domain(leaf: Device) -> None:
    (domain,) = leaf.domains
    for dscp in DSCPS:
        expected = queue_of_dscp(domain, dscp)
        assert queue_of(leaf, SERVER, dscp) == queue_of(leaf, UPLINK, dscp) == expected
    assert queue_of(leaf, SERVER, ROCE) == 4
    assert queue_of(leaf, "", ROCE) == OWN


@pytest.mark.parametrize("change", [{"trust_dscp": False}, {"domain": "none"}])
def test_without_trust_or_domain_it_is_queue_0(leaf: Device, change: dict[str, object]) -> None:
    interfaces = tuple(
        i.model_copy(update=change) if i.name == "100GE1/0/2" else i for i in leaf.interfaces
    )
    changed = leaf.model_copy(update={"interfaces": interfaces})
    assert queue_of(changed, SERVER, ROCE) == 0


NAMES = [("cs0", 0), ("be", 0), ("df", 0), ("lephb", 1), ("cs6", 48), ("af41", 34), ("ef", 46)]


@pytest.mark.parametrize(("word", "number"), [*NAMES, ("0x22", 34), ("35", 35), (0, 0)])
def test_a_dscp_by_its_name_in_nftables(word: str | int, number: int) -> None:
    assert dscp_number(word) == number


@pytest.mark.twin
def test_kernels_count_by_port_and_dscp(twin: Twin, leaf: Device) -> None:
    assert queues_of(twin, "leaf01", leaf) == {}  # from now on
    for dscp, queue, flows in ((ROCE, 4, 40), (8, 1, 16)):
        before = queues_of(twin, "leaf01", leaf)
        with wires(twin, PAIR, traffic_class(dscp), flows) as probes:
            assert not_delivered(probes, [PAIR, PAIR[::-1]], 64, 5) == []
        after = queues_of(twin, "leaf01", leaf)
        for port in (UPLINK, SERVER):
            was = before.get(port, {}).get(queue, (0, 0))[0]
            assert after[port][queue][0] - was == flows


@pytest.mark.twin
def test_a_packet_with_another_mark_is_the_switchs_own(twin: Twin, leaf: Device) -> None:
    before = queues_of(twin, "leaf01", leaf) or queues_of(twin, "leaf01", leaf)

    def send() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, 7048)
            sender.sendto(b"", (twin.topology.by_host[PAIR[0]].address, 9))

    twin.within("leaf01", send)
    was = before.get(SERVER, {}).get(OWN, (0, 0))[0]
    assert queues_of(twin, "leaf01", leaf)[SERVER][OWN][0] - was == 1


@pytest.mark.twin
def test_a_replayed_run_is_what_becomes_of_packets(
    twin: Twin, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocefort.lab.roce_probes.PATIENCE_S", 1.0)
    runs = ReplayedByTwin(registry, twin.record.name)
    address = twin.topology.by_host[PAIR[1]].address
    bandwidth = ("ib_write_bw", "-D", "5", "--tclass", "138", address)
    latency = ("ib_write_lat", "-n", "1000", "--tclass", "138", address)
    assert runs.choose(PAIR[0], bandwidth) is runs.choose(PAIR[0], latency) is None
    assert roce_length(9000) == 4156
    twin.ip("leaf01", [f"link set dev {UPLINK} mtu 1500"])
    try:
        sample = runs.choose(PAIR[0], bandwidth)
        assert sample is not None
        assert sample.name == "26.04/fail.path_mtu_1500"
        assert runs.choose(PAIR[0], latency) is None
        twin.ip("leaf01", [f"link set dev {UPLINK} down"])
        names = [s.name for w in (bandwidth, latency) if (s := runs.choose(PAIR[0], w))]
        assert names == list(BLOCKED.values())
    finally:
        twin.ip("leaf01", [f"link set dev {UPLINK} mtu 9000 up"])


Counted = Mapping[int, int]
JUDGED: list[tuple[str, Counted, Counted, str]] = [
    ("all by RoCE's queue", {4: 10}, {4: 5000, 6: 40}, ""),
    ("nothing left", {4: 10}, {4: 10}, ""),
    ("too little to say", {}, {0: 199}, ""),
    (
        "by another",
        {0: 100, 4: 7},
        {0: 400, 4: 7, 6: 12},
        "leaf01 100GE1/0/2: 300 packets of the test left by queue 0, and 0 by RoCE's queue 4: its "
        "priority map is not RoCE's",
    ),
]


@pytest.mark.parametrize(
    ("before", "after", "message"), [r[1:] for r in JUDGED], ids=[r[0] for r in JUDGED]
)
def test_roce_has_to_leave_by_its_queue(before: Counted, after: Counted, message: str) -> None:
    port = ("leaf01", "100GE1/0/2")
    assert list(wrong_queues({port: before}, {port: after}, 4)) == ([message] if message else [])


def test_the_ports_of_a_leaf_are_in_one_sentence() -> None:
    ports = [("leaf01", f"100GE1/0/{n}") for n in (1, 2, 3)] + [("leaf02", "100GE1/0/1")]
    after: list[Counted] = [{0: 300, 4: 5}, {4: 900}, {0: 400}, {2: 200}]
    assert list(wrong_queues({}, dict(zip(ports, after, strict=True)), 4)) == [
        "leaf01 100GE1/0/1, 100GE1/0/3: 700 packets of the test left by queue 0, and 5 by RoCE's "
        "queue 4: its priority map is not RoCE's",
        "leaf02 100GE1/0/1: 200 packets of the test left by queue 2, and 0 by RoCE's queue 4: its "
        "priority map is not RoCE's",
    ]


@pytest.mark.parametrize("passed", [True, False])
def test_what_lab_load_sends_is_not_taken_for_packets_of_the_test(
    heps_network: Network, monkeypatch: pytest.MonkeyPatch, passed: bool
) -> None:
    gate = cast("Gate", None)  # no check of it, nor of a leaf
    ran = QueueVerdict(passed, "1 pair measured")
    monkeypatch.setattr(queue_gate, "run_gate", lambda *_: ran)
    summary = queue_gate.QueueGate(heps_network)
    monkeypatch.setenv(queue_gate.UNDER_LOAD, "heps")
    assert summary(cast("Nornir", None), gate) == QueueVerdict(
        passed,
        "1 pair measured; RoCE's queue not judged: `rocefort lab load heps` sends meanwhile, and "
        "is counted too",
    )


def test_a_command_under_load_knows_of_it() -> None:
    words = ["sh", "-c", f'test "${queue_gate.UNDER_LOAD}" = heps']
    assert run_command(words, "heps") == 0
    assert run_command(words, "other") == 1


def test_what_passed_is_read_beside_what_was_dropped() -> None:
    text = (
        "Queue        CIR/PIR      Passed        Pass Rate       Dropped      Drop Rate  Drop Time\n"
        "        (% or kbps)(Packets/Bytes)     (pps/bps)(Packets/Bytes)  (pps/bps)\n"
        "----------------------------------------------------------------------------------\n"
        "0                 0          11               0             3            0       -\n"
        "          100000000         900               0           180            0\n"
        "4                 0       1,204               7             0            0       -\n"
        "          100000000     4900000            5000             0            0\n"
        "----------------------------------------------------------------------------------\n"
    )
    rows = STATISTICS.read(DisplayAnswer("display", text))
    assert {row["queue"]: row["passed_packets"] for row in rows} == {0: 11, 4: 1204}
