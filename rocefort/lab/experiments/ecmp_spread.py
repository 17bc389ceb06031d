"""Steps of `lab spread`: number of flows on each equal path, and the expected number."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address, IPv4Network
from math import erfc, exp, gamma, sqrt
from socket import AF_INET, SOCK_DGRAM, socket
from time import monotonic, sleep

from rocefort.base.errors import Refused, ServiceFailed
from rocefort.lab.experiments.fault_injection import ServerPair, pair_of
from rocefort.lab.lab_report import FlowSpread, SpreadRow
from rocefort.lab.network import running_network
from rocefort.lab.twin.namespaces import inside
from rocefort.lab.twin.registry import namespace
from rocefort.lab.twin.twin import Twin
from rocefort.models.device.packet_filters import ENTROPY_PORT, ROCE_PORT
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing_results import RoutingState

BOUND = 1e-6  # fair choices exceed it in one of a million runs
TABLE = "rocefort_spread"
PATIENCE_S = 10.0  # until the last packet is counted
BURST = 100  # packets between two pauses


@dataclass(frozen=True)
class EqualPath:
    """One equal path: the next hop, its switch, and the port where packets come in."""

    hop: IPv4Address
    spine: str
    link: str  # kernel name


def measure_spread(twin: Twin, source: str | None, target: str | None, flows: int) -> FlowSpread:
    """Send one packet of each flow and count them where the equal paths end.

    Raises BadInput for names that are not servers of different leaves, Refused if the engine has
    fewer than two equal paths.
    """
    network = running_network(twin)
    pair = pair_of(twin, network, source, target)
    paths = paths_of(twin, analyse(network).state, pair)
    foretold = ask_leaf(twin, pair, flows)
    counted = count(twin, pair, paths, flows)
    fair = flows / len(paths)
    chi_square = sum((counted[path] - fair) ** 2 / fair for path in paths)
    return FlowSpread(
        lab=twin.record.name,
        source=pair.source,
        destination=pair.target,
        leaf=pair.near,
        flows=flows,
        rows=tuple(
            SpreadRow(
                spine=path.spine,
                port=twin.topology.by_switch[path.spine].by_link[path.link].interface,
                counted=counted[path],
                expected=fair,
                foretold=foretold[path.hop],
            )
            for path in paths
        ),
        chi_square=chi_square,
        freedom=len(paths) - 1,
        chance=chance_of(chi_square, len(paths) - 1),
        bound=BOUND,
    )


def paths_of(twin: Twin, state: RoutingState, pair: ServerPair) -> list[EqualPath]:
    """Return the equal paths that the engine predicts from the source's leaf to the destination."""
    address = IPv4Address(twin.topology.by_host[pair.target].address)
    routes = [r for r in state.routes if r.device == pair.near and address in r.prefix]
    best = max(routes, key=lambda route: route.prefix.prefixlen, default=None)
    if best is None or best.width < 2:
        what = f"has {best.width if best else 0} paths to {address}: nothing to spread"
        raise Refused(what, where=pair.near, how="name servers of leaves with several spines")
    return [EqualPath(hop, *twin.topology.owners[str(hop)]) for hop in best.next_hops]


def ask_leaf(twin: Twin, pair: ServerPair, flows: int) -> Counter[IPv4Address]:
    """Return flows by next hop, as the leaf's kernel reports for each."""
    hosts, plan = twin.topology.by_host, twin.topology.by_switch[pair.near]
    source, target = hosts[pair.source].address, hosts[pair.target].address
    own = (
        link.name
        for link in plan.links
        for text in link.addresses
        if IPv4Address(source) in IPv4Network(text, strict=False)
    )
    link = next(own)
    lines = "".join(
        f"route get {target} from {source} iif {link} ipproto udp sport {port} dport {ROCE_PORT}\n"
        for port in range(ENTROPY_PORT, ENTROPY_PORT + flows)
    )
    code, output = twin.run(pair.near, ["ip", "-j", "-batch", "-"], lines)
    if code != 0:
        raise ServiceFailed(
            f"does not report next hops of flows: {output.strip()}", where=pair.near
        )
    rows = (json.loads(line)[0] for line in output.splitlines() if line.strip())
    return Counter(IPv4Address(row["gateway"]) for row in rows)


def count(
    twin: Twin, pair: ServerPair, paths: Sequence[EqualPath], flows: int
) -> Counter[EqualPath]:
    """Send the flows, one packet each, and count them at their input ports."""
    hosts = twin.topology.by_host
    source, target = hosts[pair.source].address, hosts[pair.target].address
    spines: dict[str, list[EqualPath]] = {}
    for path in paths:
        spines.setdefault(path.spine, []).append(path)
    only = f"ip saddr {source} ip daddr {target} udp dport {ROCE_PORT}"
    try:
        for spine, own in spines.items():
            _install(twin, spine, [f'iifname "{path.link}" {only} counter' for path in own])
        work = partial(_send, target, flows)
        inside([(namespace(twin.record.id, pair.source), work)])
        until = monotonic() + PATIENCE_S
        packets = _packets_by_path(twin, spines)
        while packets.total() < flows and monotonic() < until:
            sleep(0.05)
            packets = _packets_by_path(twin, spines)
    finally:
        for spine in spines:
            twin.run(spine, ["nft", "delete", "table", "ip", TABLE])
    return packets


def _install(twin: Twin, spine: str, rules: Sequence[str]) -> None:
    hook = "type filter hook prerouting priority -300; policy accept;"
    body = "\n".join((hook, *rules))
    text = f"table ip {TABLE}\ndelete table ip {TABLE}\n"  # replaces one of a killed run
    text += f"table ip {TABLE} {{\nchain seen {{\n{body}\n}}\n}}\n"
    code, output = twin.run(spine, ["nft", "-f", "-"], text)
    if code != 0:
        raise ServiceFailed(f"nft failed: {output.splitlines()[0]}", where=spine)


def _packets_by_path(twin: Twin, spines: Mapping[str, Sequence[EqualPath]]) -> Counter[EqualPath]:
    packets: Counter[EqualPath] = Counter()
    for spine, own in spines.items():
        _, text = twin.run(spine, ["nft", "-j", "list", "chain", "ip", TABLE, "seen"])
        rules = [row["rule"] for row in json.loads(text)["nftables"] if "rule" in row]
        for path, rule in zip(own, rules, strict=True):
            counters = (part["counter"] for part in rule["expr"] if "counter" in part)
            packets[path] = next(counters)["packets"]
    return packets


def _send(address: str, flows: int) -> None:
    """Send one packet from each source port, slowly enough for every queue."""
    for number in range(flows):
        with socket(AF_INET, SOCK_DGRAM) as sender:
            sender.bind(("", ENTROPY_PORT + number))
            sender.sendto(bytes(64), (address, ROCE_PORT))
        if number % BURST == 0:
            sleep(0.01)


def chance_of(chi_square: float, freedom: int) -> float:
    """Return the probability that a chi-square value is as large as this or larger, by chance.

    The regularised upper incomplete gamma function Q(k/2, x/2), which has a closed form for whole
    k: Abramowitz and Stegun, 26.4.4 and 26.4.5.
    """
    half = chi_square / 2
    shape, probability = (1.0, exp(-half)) if freedom % 2 == 0 else (0.5, erfc(sqrt(half)))
    while shape < freedom / 2:
        probability += half**shape * exp(-half) / gamma(shape + 1)
        shape += 1
    return probability
