"""Plan an RDMA gate: server pairs that together cover every leaf of a wave."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from rocefort.base.errors import Refused, RocefortError
from rocefort.models.change.plan import Gate, GatePair
from rocefort.models.fabric.rdma import Rdma
from rocefort.models.network.network import Network, Server, SwitchRole
from rocefort.rdma.plan.load_rules import Load, LoadRules, LoadVerdict, load_verdict
from rocefort.rdma.plan.shared_links import disjoint_rounds
from rocefort.rdma.rdma_plan import Program

TOOLS = (Program.WRITE_BW, Program.WRITE_LAT)
# If speed is not judged, a short test shows whether it works; an emulated CPU is slow.
SHORT = {"bandwidth_s": 2, "latency_iterations": 200}
START_S = 3.0  # assumed: to start both ends of a tool, and to collect its output
ECT0 = 0b10  # ECN-capable transport, RFC 3168: without it a switch drops instead of marking


def traffic_class(dscp: int) -> int:
    """Return the --tclass of a DSCP with ECT(0): 34 -> 138."""
    return dscp << 2 | ECT0


def plan_pairs(network: Network, devices: Collection[str] | None = None) -> tuple[GatePair, ...]:
    """Pair RoCE servers on different leaves so that every leaf with a RoCE server is in a pair.

    devices: leaves to cover (all leaves if a spine is among them); None covers all. Preference:
    equal port speed, then few pairs, then the same segment. No pair is one that the policy denies.
    """
    spines = {node.name for node in network.role(SwitchRole.SPINE)}
    everything = devices is None or not spines.isdisjoint(devices)
    candidates = _candidates(network.servers or ())
    leaves = dict.fromkeys(server.port.device for server in candidates)
    required_leaves = [leaf for leaf in leaves if everything or leaf in (devices or ())]
    open_leaves = dict.fromkeys(required_leaves)
    pairs = []
    for leaf in required_leaves:
        if leaf in open_leaves and (pair := _best_pair(network, leaf, candidates, open_leaves)):
            client, server = pair
            open_leaves.pop(leaf)
            open_leaves.pop(server.port.device, None)
            pairs.append(_gate_pair(client, server))
    return tuple(pairs)


def plan_gate(  # noqa: PLR0913, PLR0917 - the network, and facts about its servers
    network: Network,
    rdma: Rdma,
    devices: Collection[str] | None = None,
    speed_note: str = "",
    accessible: Collection[str] | None = None,
    lacking: str = "",
) -> Gate:
    """Return the gate for a wave of devices.

    speed_note: the reason if speed is not judged. accessible: servers that can be logged in to;
    None: all. A leaf without RoCE servers, or without any on another leaf, is in `unmeasured`. A
    leaf that the rules of load leave without a pair is in `uncovered`.
    Raises Refused for a leaf that could be measured if its servers, or a partner's, were
    accessible, unless `lacking` gives the reason why they are not. Raises RocefortError if the
    network does not define the DSCP of RoCE.
    """
    if network.lossless is None:
        raise RocefortError(
            "the DSCP of RoCE is not known", where=network.name, how="plan from a fabric file"
        )
    servers = network.servers or ()
    reached = {s.name for s in servers if accessible is None or s.name in accessible}
    load = load_verdict(LoadRules.of(rdma), Load(others=reached))
    usable = tuple(s for s in servers if s.name in reached and s.name in load.servers)
    planned = plan_pairs(network.model_copy(update={"servers": usable}), devices)
    weak = {pair: why for pair in planned if (why := load.without_evidence(_slower_gbps(pair)))}
    leaves = _LeavesOfGate(network, reached, load, lacking)
    unmeasured, uncovered = leaves.unpaired(planned, devices)
    return Gate(
        pairs=tuple(pair for pair in planned if pair not in weak),
        unmeasured=tuple(unmeasured),
        traffic_class=traffic_class(network.lossless.roce_dscp),
        **(SHORT if speed_note else {}),
        line_rate_fraction=rdma.line_rate_fraction,
        latency_us=rdma.latency_us,
        latency_tolerance=rdma.latency_tolerance,
        speed_judged=not speed_note,
        speed_note=speed_note,
        limit_gbps=load.limit_gbps,
        window=load.window,
        uncovered=(*uncovered, *(f"{p.client} > {p.server}, {why}" for p, why in weak.items())),
    )


@dataclass(frozen=True)
class _LeavesOfGate:
    """Leaves of a network by their RoCE servers. reached: servers that can be logged in to."""

    network: Network
    reached: Collection[str]
    load: LoadVerdict
    lacking: str

    def unpaired(
        self, pairs: Iterable[GatePair], devices: Collection[str] | None
    ) -> tuple[list[str], list[str]]:
        """Return the leaves of a wave without a pair, each with the reason.

        First those that nothing can measure, then those that the rules of load exclude.
        """
        roce = {s.name: s.port.device for s in self.network.servers or () if s.roce}
        measured = {roce[name] for pair in pairs for name in (pair.client, pair.server)}
        leaves, unmeasured, uncovered = set(roce.values()), list[str](), list[str]()
        for leaf in _leaves_of(self.network, devices):
            if leaf in measured:
                continue
            if leaf not in leaves:
                unmeasured.append(f"{leaf} has no RoCE server")
            elif leaves == {leaf}:
                unmeasured.append(f"{leaf} has the only RoCE servers")
            elif not self._is_allowed(leaf):
                unmeasured.append(f"{leaf}, the policy denies RDMA to servers of other leaves")
            elif self.lacking and not _have_pair(roce, leaf, self.reached):
                unmeasured.append(f"{leaf}, {self.lacking}")
            elif self.load.listed and not _have_pair(roce, leaf, self.load.servers):
                here = leaf in {roce.get(name) for name in self.load.servers}
                which = "no RoCE server of another leaf" if here else "none of its RoCE servers"
                uncovered.append(f"{leaf}, {which} is in rdma.servers")
            else:
                self._refuse_inaccessible(leaf, roce)
        return unmeasured, uncovered

    def _is_allowed(self, leaf: str) -> bool:
        """Whether the policy lets RDMA pass from a leaf to any other."""
        servers = _candidates(self.network.servers or ())
        here = [server for server in servers if server.port.device == leaf]
        there = [server for server in servers if server.port.device != leaf]
        return any(self.network.lets_rdma(a, b) for a in here for b in there)

    def _refuse_inaccessible(self, leaf: str, roce: Mapping[str, str]) -> NoReturn:
        names = [
            name
            for name, at in roce.items()
            if at == leaf and (name in self.load.servers or not self.load.listed)
        ]
        raise Refused(
            "its RoCE servers, or all on other leaves, cannot be logged in to",
            where=leaf,
            how=f"add {' or '.join(names)}, and one on another leaf, to the connections' servers",
        )


def _have_pair(roce: Mapping[str, str], leaf: str, names: Collection[str]) -> bool:
    """Return whether a leaf and another one have RoCE servers among these."""
    there = {at for name, at in roce.items() if name in names}
    return leaf in there and there != {leaf}


def _leaves_of(network: Network, devices: Collection[str] | None) -> Iterator[str]:
    """Yield the leaves that a wave affects; a spine affects all leaves."""
    spines = {node.name for node in network.role(SwitchRole.SPINE)}
    for node in network.role(SwitchRole.LEAF):
        if devices is None or node.name in devices or not spines.isdisjoint(devices):
            yield node.name


def _candidates(servers: Iterable[Server]) -> tuple[Server, ...]:
    """Return one RoCE server per leaf, segment and speed; others would test the same paths."""
    first: dict[tuple[str, str, int], Server] = {}
    for server in servers:
        if server.roce:
            first.setdefault((server.port.device, server.segment, server.flow_gbps), server)
    return tuple(first.values())


def _best_pair(
    network: Network, leaf: str, candidates: Sequence[Server], open_leaves: Collection[str]
) -> tuple[Server, Server] | None:
    def cost(pair: tuple[Server, Server]) -> tuple[bool, bool, bool]:
        client, server = pair
        return (
            client.flow_gbps != server.flow_gbps,
            server.port.device not in open_leaves,
            client.segment != server.segment,
        )

    here = [server for server in candidates if server.port.device == leaf]
    there = [server for server in candidates if server.port.device != leaf]
    pairs = ((a, b) for a in here for b in there if network.lets_rdma(a, b))
    return min(pairs, key=cost, default=None)


def _gate_pair(client: Server, server: Server) -> GatePair:
    return GatePair(
        client=client.name,
        server=server.name,
        server_address=str(server.address.ip),
        client_rate_gbps=client.flow_gbps,  # a test is one flow, so it uses one member of a bond
        server_rate_gbps=server.flow_gbps,
    )


def _slower_gbps(pair: GatePair) -> int:
    return min(pair.client_rate_gbps, pair.server_rate_gbps)


def reach_gbps(gate: Gate, pair: GatePair) -> float:
    """Return the rate that a pair of a gate can reach: its slower port, or the limit."""
    return load_verdict(LoadRules.of_gate(gate), Load()).rate_gbps(_slower_gbps(pair))


def gate_s(gate: Gate) -> float:
    """Return the duration of a gate without delays, s: each round of pairs runs both tools."""
    rounds = sum(1 for _ in rounds_of(gate.pairs))
    return rounds * (gate.bandwidth_s + START_S * len(TOOLS))


def rounds_of(pairs: Iterable[GatePair]) -> Iterator[list[GatePair]]:
    """Yield groups of pairs in which no server is used twice."""
    yield from disjoint_rounds(dict.fromkeys(pairs), lambda pair: (pair.client, pair.server))
