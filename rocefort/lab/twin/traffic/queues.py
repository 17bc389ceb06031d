"""Packets sent by each queue of a switch, from kernel counters and the switch's priority map.

A kernel has no such queues. nftables counts packets that leave each port, by input port and DSCP.
The switch's configuration maps them to a queue: the trust of the input port, and its diffserv
domain.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rocefort.base.errors import ServiceFailed
from rocefort.dialects.frr import kernel_name
from rocefort.lab.twin.topology import BACKSTAGE
from rocefort.lab.twin.twin import Twin
from rocefort.models.device.device import Device
from rocefort.models.device.lossless import PHB_QUEUE, default_queue

TABLE = "queues"
DIRECTIONS = ("in", "out")
BEHIND_FAULTS = 10  # priority of a chain: packets dropped by a fault are not counted
UNTAGGED = 0  # queue of a packet without an 802.1p priority
OWN = 6  # queue of packets from the switch itself
NAMED = {"be": 0, "df": 0, "lephb": 1, "va": 44, "ef": 46}  # nftables, beside csN and afNN
Counts = Mapping[int, tuple[int, int]]  # by queue: packets, bytes


@dataclass(frozen=True)
class PortCount:
    """Packets that have left a port, by input port (empty: from the switch itself) and DSCP."""

    port: str
    came_in: str
    dscp: int
    packets: int
    octets: int


def queues_of(twin: Twin, switch: str, device: Device) -> Mapping[str, Counts]:
    """Return sent packets by kernel name of a port and by queue, since the first call."""
    by_port: dict[str, dict[int, tuple[int, int]]] = {}
    for row in _new_counts(twin, switch):
        counts = by_port.setdefault(row.port, {})
        queue = queue_of(device, row.came_in, row.dscp)
        packets, octets = counts.get(queue, (0, 0))
        counts[queue] = packets + row.packets, octets + row.octets
    return by_port


def queue_of(device: Device, came_in: str, dscp: int) -> int:
    """Return the queue of a packet; came_in: kernel name of the input port."""
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
    """Read the counters; the first call, and one after a port was created again, starts them."""
    cables = [c for c in twin.topology.cables if BACKSTAGE not in (c.a, c.b)]  # not to nowhere
    ports = sorted({port for cable in cables for node, port in cable.ends if node == switch})
    rows = _raw_counters(twin, switch)
    present = {row["chain"]["name"] for row in rows if "chain" in row}
    required = {f"{direction}_{port}" for direction in DIRECTIONS for port in ports}
    if present != required:  # a chain goes with its port
        code, output = twin.run(switch, ["nft", "-f", "-"], _rules(ports))
        if code != 0:
            raise ServiceFailed(f"queues cannot be counted: {output.strip()}", where=switch)
        return
    for row in rows:
        if "set" in row:
            port = row["set"]["name"].removeprefix("left_")
            yield from _of_set(port, ports, row["set"].get("elem", ()))


def _of_set(port: str, ports: list[str], elements: Collection[Any]) -> Iterator[PortCount]:
    for each in elements:
        mark, dscp = each["elem"]["val"]["concat"]
        counter = each["elem"]["counter"]
        # Else the switch sent it: a kernel marks some of its own replies with other numbers.
        came_in = ports[mark - 1] if 0 < mark <= len(ports) else ""
        yield PortCount(port, came_in, dscp_number(dscp), counter["packets"], counter["bytes"])


def dscp_number(word: str | int) -> int:
    """Return the number of a DSCP, which nftables may write as a name."""
    if isinstance(word, int):
        return word
    if word.startswith("cs"):
        return int(word[2:]) * 8
    if word.startswith("af"):
        return int(word[2]) * 8 + int(word[3]) * 2
    return NAMED[word] if word in NAMED else int(word, 0)


def _raw_counters(twin: Twin, switch: str) -> list[dict[str, Any]]:
    code, output = twin.run(switch, ["nft", "-j", "list", "table", "netdev", TABLE])
    if code != 0:
        return []
    rows: list[dict[str, Any]] = json.loads(output)["nftables"]
    return rows


def _rules(ports: list[str]) -> str:
    """Return rules that mark packets by input port, and count them at output."""
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
