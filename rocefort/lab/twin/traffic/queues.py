"""Which queues of a switch packets have left by: kernels count, the switch's own map decides.

A kernel has no queues of this kind. nftables counts what leaves each port, by the port where it
came in and by its DSCP; into which queue that belongs says what the switch runs: the trust of the
port where it came in, and the diffserv domain there.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rocefort.dialects.frr import kernel_name
from rocefort.errors import ServiceFailed
from rocefort.lab.twin.topology import BACKSTAGE
from rocefort.lab.twin.twin import Twin
from rocefort.models.device.device import Device
from rocefort.models.device.priorities import PHB_QUEUE, default_queue

TABLE = "queues"
WAYS = ("in", "out")
BEHIND_FAULTS = 10  # priority of a chain: what a fault drops was never there
UNTAGGED = 0  # queue of a packet without an 802.1p priority
OWN = 6  # queue of what a switch sends itself
NAMED = {"be": 0, "df": 0, "lephb": 1, "va": 44, "ef": 46}  # nftables, beside csN and afNN
Counts = Mapping[int, tuple[int, int]]  # by queue: packets, bytes


@dataclass(frozen=True)
class PortCount:
    """What has left a port: where it came in (empty: the switch's own), with which DSCP."""

    port: str
    came_in: str
    dscp: int
    packets: int
    octets: int


def queues_of(twin: Twin, switch: str, device: Device) -> Mapping[str, Counts]:
    """By kernel name of a port, what has left it by each queue since this was first asked."""
    found: dict[str, dict[int, tuple[int, int]]] = {}
    for row in _new_counts(twin, switch):
        counts = found.setdefault(row.port, {})
        queue = queue_of(device, row.came_in, row.dscp)
        packets, octets = counts.get(queue, (0, 0))
        counts[queue] = packets + row.packets, octets + row.octets
    return found


def queue_of(device: Device, came_in: str, dscp: int) -> int:
    """Queue into which a switch puts a packet; came_in: kernel name of a port of it."""
    if not came_in:
        return OWN
    port = next((i for i in device.interfaces if kernel_name(i.name) == came_in), None)
    if port is None or not (port.layer3 or device.carrier(port).trust_dscp):
        return UNTAGGED
    domain = device.domain_of(port)
    if domain is None:
        return UNTAGGED
    entry = domain.by_dscp.get(dscp)
    return PHB_QUEUE[entry.phb] if entry else default_queue(dscp)


def _new_counts(twin: Twin, switch: str) -> Iterator[PortCount]:
    """Read the counters; the first time, and after a port was made anew, they begin."""
    cables = [c for c in twin.topology.cables if BACKSTAGE not in (c.a, c.b)]  # lead somewhere
    ports = sorted({port for cable in cables for node, port in cable.ends if node == switch})
    rows = _raw_counters(twin, switch)
    there = {row["chain"]["name"] for row in rows if "chain" in row}
    if there != {f"{way}_{port}" for way in WAYS for port in ports}:  # one goes with its port
        code, said = twin.run(switch, ["nft", "-f", "-"], _rules(ports))
        if code != 0:
            raise ServiceFailed(f"queues cannot be counted: {said.strip()}", where=switch)
        return
    for row in rows:
        if "set" in row:
            port = row["set"]["name"].removeprefix("left_")
            yield from _of_set(port, ports, row["set"].get("elem", ()))


def _of_set(port: str, ports: list[str], elements: Collection[Any]) -> Iterator[PortCount]:
    for each in elements:
        mark, dscp = each["elem"]["val"]["concat"]
        counter = each["elem"]["counter"]
        # Else the switch sent it: a kernel marks some of its own answers with numbers of no port.
        came_in = ports[mark - 1] if 0 < mark <= len(ports) else ""
        yield PortCount(port, came_in, dscp_number(dscp), counter["packets"], counter["bytes"])


def dscp_number(word: str | int) -> int:
    """Number of a DSCP that nftables may write by its name."""
    if isinstance(word, int):
        return word
    if word.startswith("cs"):
        return int(word[2:]) * 8
    if word.startswith("af"):
        return int(word[2]) * 8 + int(word[3]) * 2
    return NAMED[word] if word in NAMED else int(word, 0)


def _raw_counters(twin: Twin, switch: str) -> list[dict[str, Any]]:
    code, said = twin.run(switch, ["nft", "-j", "list", "table", "netdev", TABLE])
    if code != 0:
        return []
    rows: list[dict[str, Any]] = json.loads(said)["nftables"]
    return rows


def _rules(ports: list[str]) -> str:
    """Rules that note where a packet comes in, and count it where it leaves."""
    parts = [f"table netdev {TABLE} {{}}\ndelete table netdev {TABLE}\ntable netdev {TABLE} {{"]
    for number, port in enumerate(ports):
        at = f'device "{port}" priority {BEHIND_FAULTS};'
        parts += [
            f"set left_{port} {{ type mark . dscp; size 4096; flags dynamic; counter; }}",
            f"chain in_{port} {{ type filter hook ingress {at} meta mark set {number + 1}; }}",
            f"chain out_{port} {{ type filter hook egress {at}",
            f"  update @left_{port} {{ meta mark . ip dscp }}; }}",
        ]
    return "\n".join([*parts, "}\n"])
