"""HEPS as a twin: real sessions and real kernels, compared with the embedded engine."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from ipaddress import IPv4Network
from typing import TypeVar

import pytest
from cutting import after_failure, failed

from rocefort.lab.bring_up import notes_of
from rocefort.lab.network import three_opinions
from rocefort.lab.twin.namespaces import inside
from rocefort.lab.twin.status import snapshot_of, status_of, trace
from rocefort.lab.twin.twin import Twin
from rocefort.models.device.packet_filters import ENTROPY_PORT
from rocefort.models.network.network import Network
from rocefort.validators.failures.study import single_failures
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing_results import Failure

pytestmark = pytest.mark.twin
SERVER, FAR = "k8sgn08", "readout01"  # on leaf01 and leaf05
FLOWS = 1000
T = TypeVar("T")
NUMBERS = [
    pytest.param(0, id="link"),
    pytest.param(5, id="other-link", marks=pytest.mark.thorough),
    pytest.param(16, id="leaf", marks=pytest.mark.thorough),
    pytest.param(25, id="spine"),
]


@pytest.fixture(scope="module")
def twin(heps_twin: Twin) -> Twin:
    return heps_twin


def _inside(twin: Twin, node: str, work: Callable[[], T]) -> T:
    return inside([(f"rf-{twin.record.id}-{node}", work)])[0]


def ping(address: str, length: int = 56) -> bool:
    """Send one ICMP echo that may not be fragmented, from the namespace of the calling thread."""
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as sender:
        sender.settimeout(5)
        sender.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER, IP_PMTUDISC_DO
        packet = struct.pack("!BBHHH", 8, 0, 0, 7, 1) + bytes(length)
        total = sum(struct.unpack(f"!{len(packet) // 2}H", packet))
        check = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
        sender.sendto(packet[:2] + struct.pack("!H", check) + packet[4:], (address, 0))
        try:
            while True:
                answer = sender.recv(1 << 16)
                if answer[20] == 0:
                    return len(answer) == 20 + 8 + length
        except TimeoutError:
            return False


def send_flows(address: str, count: int) -> None:
    """Send one RoCEv2-like packet from each of many source ports."""
    for number in range(count):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.bind(("", 49152 + number))
            sender.sendto(bytes(64), (address, 4791))


def _received(twin: Twin, node: str, rule: str) -> int:
    """Return the UDP 4791 packets that nftables counted."""
    code, text = twin.run(node, ["nft", "list", "chain", "ip", "seen", rule])
    assert code == 0, text
    return int(text.split("packets ")[1].split()[0])


def test_every_session_is_up_and_nothing_is_wrong(twin: Twin) -> None:
    status = status_of("heps", twin.registry)
    assert (status.established, status.sessions) == (32, 32)
    assert (status.switches, status.servers) == (10, 12)
    assert status.wrong == ()
    assert twin.registry.names() == ("heps",)


def test_no_port_that_is_given_by_chance_is_one_of_a_flow(twin: Twin) -> None:
    given = _inside(twin, SERVER, partial(_ports_by_chance, 200))
    assert len(given) > 150
    assert max(given) < ENTROPY_PORT


def _ports_by_chance(count: int) -> set[int]:
    with ExitStack() as stack:
        sockets = [
            stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            for _ in range(count)
        ]
        for one in sockets:
            one.bind(("", 0))
        return {one.getsockname()[1] for one in sockets}


def test_the_user_is_told_what_is_left_out(twin: Twin) -> None:
    assert notes_of(twin)[:2] == [
        "PFC, its thresholds and deadlock timers do nothing: a kernel has no lossless queues "
        "(10 switches)",
        "ECN marks nothing: queues of a kernel are not those of a switch (10 switches)",
    ]


def test_the_kernels_agree_with_the_engine(twin: Twin, heps_network: Network) -> None:
    opinions = three_opinions(heps_network, twin.fibs(protocols=["bgp"]))
    assert opinions.differences == ()
    assert opinions.compared == len(analyse(heps_network).state.routes) > 150


@pytest.mark.parametrize("number", NUMBERS)
def test_they_agree_after_a_failure(twin: Twin, heps_network: Network, number: int) -> None:
    failure = single_failures(heps_network, analyse(heps_network))[number]
    whole = twin.fibs(protocols=["bgp"])
    with failed(twin, failure):
        after = twin.fibs(protocols=["bgp"])
        assert after != whole
        opinions = after_failure(heps_network, failure, after)
    assert opinions.differences == ()
    assert opinions.compared > 100
    assert twin.fibs(protocols=["bgp"]) == whole


def test_a_difference_is_found(twin: Twin, heps_network: Network) -> None:
    tables = twin.fibs(protocols=["bgp"])
    del tables["leaf01"][IPv4Network("10.65.1.0/24")]
    (difference,) = three_opinions(heps_network, tables).differences
    assert str(difference) == (
        "leaf01 10.65.1.0/24: the kernel has no route, the engine 10.1.0.0, 10.1.0.2"
    )
    (other, *_) = after_failure(heps_network, Failure(nodes=("spine01",)), tables).differences
    assert other.switch == "leaf01"


def test_servers_reach_each_other_over_the_spines(twin: Twin) -> None:
    for host in twin.topology.hosts:
        if host.name != SERVER:
            assert _inside(twin, SERVER, partial(ping, host.address)), host.name
    far = twin.topology.by_host[FAR].address
    assert _inside(twin, SERVER, partial(ping, far, 9000 - 28))


def test_flows_spread_over_the_spines(twin: Twin) -> None:
    rule = "type filter hook forward priority 0; policy accept;"
    count = "udp dport 4791 counter"
    table = f"table ip seen {{\nchain passing {{\n{rule}\n{count}\n}}\n}}\n"
    for spine in ("spine01", "spine02"):
        code, text = twin.run(spine, ["nft", "-f", "-"], table)
        assert code == 0, text
    far = twin.topology.by_host[FAR].address
    _inside(twin, SERVER, partial(send_flows, far, FLOWS))
    spread = [_received(twin, spine, "passing") for spine in ("spine01", "spine02")]
    for spine in ("spine01", "spine02"):
        twin.run(spine, ["nft", "delete", "table", "ip", "seen"])
    assert sum(spread) == FLOWS
    assert min(spread) > FLOWS * 0.42  # of 1,000 fair choices fewer come once in 5 million runs


def test_a_trace_follows_the_hash(twin: Twin) -> None:
    traces = [trace(twin, SERVER, FAR, port) for port in range(50000, 50012)]
    assert {each.stopped for each in traces} == {""}
    ways = {tuple(hop.node for hop in each.hops) for each in traces}
    assert ways == {(SERVER, "leaf01", spine, "leaf05", FAR) for spine in ("spine01", "spine02")}
    first = traces[0].hops
    assert (first[1].arrives, first[1].leaves[:9]) == ("Vlanif120", "100GE1/0/")
    assert (first[-2].leaves, first[-1].arrives) == ("Vlanif110", "eth0")


def test_a_trace_says_where_it_stops(twin: Twin) -> None:
    twin.ip("leaf05", ["link set dev Vlanif110 down"])
    try:
        result = trace(twin, SERVER, FAR)
    finally:
        twin.ip("leaf05", ["link set dev Vlanif110 up"])
    assert result.stopped
    assert result.hops[-1].node in {"leaf01", "leaf05", "spine01", "spine02"}
    twin.converge()


def test_a_snapshot_has_every_table(twin: Twin) -> None:
    snapshot = {switch.name: switch for switch in snapshot_of(twin).switches}
    assert len(snapshot) == 10
    assert set(snapshot["leaf01"].sessions.values()) == {"Established"}
    routes = {str(route.prefix): route for route in snapshot["leaf01"].routes}
    assert [str(hop) for hop in routes["10.65.1.0/24"].next_hops] == ["10.1.0.0", "10.1.0.2"]
    assert routes["10.65.0.0/24"].next_hops == ()
