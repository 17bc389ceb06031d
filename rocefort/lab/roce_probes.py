"""Probe packets of RoCE between servers of a lab: which pairs have a path, and which run replays.

They are UDP to port 4791 with the marks and the sizes of RoCEv2 and must not be fragmented. They
come from several source ports, so that they take several of the equal paths. Sockets are created in
the servers' namespaces, and can be used from any other.

A namespace has no RDMA, so the programs' output is recorded. Probe packets that cross the twin
decide on a good run, one of a blocked path, or one of a path with too small an MTU.
"""

from __future__ import annotations

import select
import socket
import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from os import urandom
from time import monotonic
from typing import Self

from rocefort.emulator.emulated_site import BANDWIDTH, BLOCKED
from rocefort.emulator.servers.ssh_hosts import NEWEST_RUNS, Sample, read_sample
from rocefort.lab.twin.namespaces import inside
from rocefort.lab.twin.registry import Registry, namespace
from rocefort.lab.twin.twin import Twin
from rocefort.models.device.packet_filters import ROCE_PORT

FLOWS = 8  # source ports of each pair: with two spines one is missed once in 128 pairs
HEADERS = 60  # IP, UDP, BTH, RETH and the check sum of a RoCEv2 packet
ROCE_MTUS = (4096, 2048, 1024, 512, 256)
SMALL = 64  # bytes: fits through every MTU
QUIET_S = 0.3  # after the last packet; in a twin no packet takes so long
BATCH = 64  # packets before a read: no queue of a kernel fills
IP_MTU_DISCOVER, PROBE = 10, 3  # do not fragment, and ignore the known path MTU
RCVBUFFORCE, BUFFER = 33, 1 << 23
SEEN = struct.Struct("!8sHI")  # owner of a packet, its stream, its number
Pair = tuple[str, str]  # servers: from, to


def roce_length(mtu: int) -> int:
    """Return the length of the largest RDMA packet for an MTU of the ports."""
    return HEADERS + next((size for size in ROCE_MTUS if size + HEADERS <= mtu), ROCE_MTUS[-1])


def pair_length(twin: Twin, pair: Pair) -> int:
    """Return the largest RDMA packet between two servers of a lab."""
    links = [twin.topology.by_host[name].links for name in pair]
    return roce_length(min(link.mtu or 1500 for each in links for link in each))


@dataclass
class RoceProbes:
    """Sockets of servers; senders: one a flow, receivers: get all packets to a server."""

    addresses: Mapping[str, str]
    senders: Mapping[str, Sequence[socket.socket]]
    receivers: Mapping[str, socket.socket]
    word: bytes = field(default_factory=partial(urandom, 8))

    def restarted(self) -> Self:
        """Return the same sockets, which ignore all packets sent before."""
        return replace(self, word=urandom(8))

    def send(self, pair: Pair, flow: int, seen: tuple[int, int], length: int) -> None:
        """Send one packet; one that the sender's own kernel refuses is lost like any other."""
        payload = SEEN.pack(self.word, *seen).ljust(length - 28, b"\0")
        try:
            self.senders[pair[0]][flow].sendto(payload, (self.addresses[pair[1]], ROCE_PORT))
        except OSError:
            return

    def arrived(self, wait_s: float) -> Iterator[tuple[str, int, int]]:
        """Yield receiver, stream and number of packets that are there, or come within a time."""
        by_number = {each.fileno(): (name, each) for name, each in self.receivers.items()}
        poll = select.poll()
        for number in by_number:
            poll.register(number, select.POLLIN)
        for number, _ in poll.poll(wait_s * 1000):
            name, receiver = by_number[number]
            try:
                while True:
                    packet = receiver.recv(128)
                    start = (packet[0] & 0xF) * 4 + 8
                    if len(packet) >= start + SEEN.size:
                        word, stream, count = SEEN.unpack_from(packet, start)
                        if word == self.word:
                            yield name, stream, count
            except BlockingIOError:
                continue


@contextmanager
def wires(
    twin: Twin, servers: Collection[str], traffic_class: int, flows: int = FLOWS
) -> Iterator[RoceProbes]:
    """Open sockets in the namespaces of servers, until the block ends."""
    with ExitStack() as opened:
        names = list(dict.fromkeys(servers))
        make = partial(_sockets, traffic_class, flows)
        sockets = inside((namespace(twin.record.id, name), make) for name in names)
        for receiver, senders in sockets:
            for each in (receiver, *senders):
                opened.enter_context(each)
        hosts = twin.topology.by_host
        yield RoceProbes(
            addresses={name: hosts[name].address for name in hosts},
            senders={n: senders for n, (_, senders) in zip(names, sockets, strict=True)},
            receivers={n: receiver for n, (receiver, _) in zip(names, sockets, strict=True)},
        )


def _sockets(traffic_class: int, flows: int) -> tuple[socket.socket, list[socket.socket]]:
    # Raw: works beside other listeners of the port, such as another of these.
    receiver = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
    receiver.setblocking(False)
    receiver.setsockopt(socket.SOL_SOCKET, RCVBUFFORCE, BUFFER)
    senders = []
    for _ in range(flows):
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sender.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, PROBE)
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, traffic_class)
        sender.bind(("", 0))
        senders.append(sender)
    return receiver, senders


def not_delivered(
    probes: RoceProbes, pairs: Sequence[Pair], length: int | Mapping[Pair, int], patience_s: float
) -> list[Pair]:
    """Return pairs with a flow that does not arrive; lost packets are sent again for a while."""
    probes = probes.restarted()
    flows = range(min((len(each) for each in probes.senders.values()), default=0))
    missing = {(number, flow) for number in range(len(pairs)) for flow in flows}
    until = monotonic() + patience_s
    while missing:
        for count, (number, flow) in enumerate(sorted(missing)):
            size = length if isinstance(length, int) else length[pairs[number]]
            probes.send(pairs[number], flow, (number, flow), size)
            if count % BATCH == BATCH - 1:
                missing -= _received_pairs(probes, pairs, 0)
        while missing and (arrived := _received_pairs(probes, pairs, QUIET_S)):
            missing -= arrived
        if monotonic() > until:
            break
    return [pairs[number] for number in sorted({number for number, _ in missing})]


def _received_pairs(
    probes: RoceProbes, pairs: Sequence[Pair], wait_s: float
) -> set[tuple[int, int]]:
    return {(s, flow) for name, s, flow in probes.arrived(wait_s) if pairs[s][1] == name}


TWIN_NOTE = (
    "packets of RoCE cross the twin, and their result selects the recorded run: "
    "correctness is judged, speed is not"
)
# A latency run sends small packets, which get through.
TOO_LONG = {BANDWIDTH: f"{NEWEST_RUNS}/fail.path_mtu_1500"}
PATIENCE_S = 3.0  # perftest sends lost packets again; sessions may still be coming up


@dataclass(frozen=True)
class ReplayedByTwin:
    """Choice of samples for the servers of one lab."""

    registry: Registry
    lab: str

    def choose(self, client: str, words: Sequence[str]) -> Sample | None:
        """Return the sample of a client's run; None: a good one."""
        twin = Twin.find(self.lab, self.registry)
        server = next((h.name for h in twin.topology.hosts if h.address in words), None)
        if server is None or words[0] not in BLOCKED:
            return None
        name = self._name(twin, (client, server), words)
        return read_sample(name) if name else None

    @staticmethod
    def _name(twin: Twin, pair: tuple[str, str], words: Sequence[str]) -> str | None:
        marks = [after for option, after in pairwise(words) if option in ("--tclass", "-R")]
        tclass = int(marks[0]) if marks and marks[0].isdecimal() else 0
        full = pair_length(twin, pair)
        both = [pair, pair[::-1]]
        with wires(twin, pair, tclass) as probes:
            if not_delivered(probes, both, SMALL, PATIENCE_S):
                return BLOCKED[words[0]]
            if words[0] in TOO_LONG and not_delivered(probes, both, full, PATIENCE_S):
                return TOO_LONG[words[0]]
        return None
