"""Network that a lab runs, and the engine's prediction for it, compared with kernels."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network
from time import monotonic, sleep

from rocefort.base.errors import Refused
from rocefort.lab.twin.faults import ActiveFault
from rocefort.lab.twin.registry import devices_directory, network_file
from rocefort.lab.twin.twin import Twin
from rocefort.models.device.device import Device
from rocefort.models.network.network import End, Link, Network
from rocefort.validators.failures.study import dense
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing.external_peers import with_outside
from rocefort.validators.routing_results import Failure, RoutingState

Hops = frozenset[IPv4Address]
Tables = Mapping[str, Mapping[IPv4Network, Hops]]  # of kernels: BGP's routes by switch
KERNEL_ENGINE = ("the kernel", "the engine")
Ties = Callable[[str, IPv4Network], Hops]


@dataclass(frozen=True)
class NextHopDifference:
    """A prefix of one switch with different next hops in two sources.

    who: names of the two sources of tables.
    """

    switch: str
    prefix: IPv4Network
    kernel: Hops
    engine: Hops
    who: tuple[str, str] = KERNEL_ENGINE

    def is_free_choice(self, ties: Hops) -> bool:
        """Whether both have equally many next hops, all from the set of a tie-breaker."""
        both = self.kernel | self.engine
        return bool(self.kernel) and len(self.kernel) == len(self.engine) and ties >= both

    def __str__(self) -> str:
        first, second = self.who
        kernel, engine = (
            ", ".join(map(str, sorted(hops))) or "no route" for hops in (self.kernel, self.engine)
        )
        return f"{self.switch} {self.prefix}: {first} has {kernel}, {second} {engine}"


@dataclass(frozen=True)
class OpinionCounts:
    """Number of compared (switch, prefix) pairs, and the differing ones."""

    engine: str
    compared: int
    differences: tuple[NextHopDifference, ...]


def three_opinions(network: Network, tables: Tables) -> OpinionCounts:
    """Compare kernels with the embedded engine; raises Refused as it does."""
    solution = analyse(network)
    return compare_tables(solution.state, tables, solution.ties)


def compare_tables(
    state: RoutingState, tables: Tables, ties: Ties, who: tuple[str, str] = KERNEL_ENGINE
) -> OpinionCounts:
    """Compare kernels with an engine's answers, or with recorded ones, of these switches.

    ties: next hops that only an arbitrary tie-breaker separates. If a switch may use fewer, two
    sources need equally many of them, not the same ones.
    """
    none: Hops = frozenset()
    engine_tables = tables_of(state, tables)
    pairs = [
        NextHopDifference(
            name, prefix, table.get(prefix, none), engine_tables[name].get(prefix, none), who
        )
        for name, table in tables.items()
        for prefix in sorted({*table, *engine_tables[name]})
    ]
    differences = tuple(
        each
        for each in pairs
        if each.kernel != each.engine and not each.is_free_choice(ties(each.switch, each.prefix))
    )
    return OpinionCounts(state.engine, len(pairs), differences)


def tables_of(state: RoutingState, switches: Collection[str]) -> dict[str, dict[IPv4Network, Hops]]:
    """Return an engine's answers as tables of these switches."""
    tables: dict[str, dict[IPv4Network, Hops]] = {name: {} for name in switches}
    for route in state.routes:
        if route.device in tables:
            tables[route.device][route.prefix] = frozenset(route.next_hops)
    return tables


PAUSE_S = 0.2
ALL = 100  # percent
AS_LINK, AS_NODE = ("link-down", "silent-loss"), ("node-down", "silent-node", "bgpd-killed")
CROSSED = "wrong-cable"


def running_network(twin: Twin) -> Network:
    """Return the fabric of a lab with the running configurations of its switches.

    Raises Refused for a lab that was started without command lines.
    """
    file = network_file(twin.registry, twin.record)
    if not file.exists():
        how = "start it with `rocefort lab up`"
        what = "it has no command lines, so its running configurations are not known"
        raise Refused(what, where=twin.record.name, how=how)
    network = Network.model_validate_json(file.read_bytes())
    newer = {
        path.stem: Device.model_validate_json(path.read_bytes())
        for path in devices_directory(twin.registry, twin.record).glob("*.json")
    }
    nodes = tuple(
        node.model_copy(update={"device": newer.get(node.name, node.device)})
        for node in network.nodes
    )
    return with_outside(network.model_copy(update={"nodes": nodes}))


def far_ends(network: Network) -> dict[End, End]:
    """Return the other end of each cable between switches."""
    far = {}
    for link in network.links or ():
        far[link.a], far[link.b] = link.b, link.a
    return far


def ends_of(where: str) -> list[End]:
    """Return the ports in a fault's place."""
    places = (part.partition("=")[0].partition(":") for part in where.split(","))
    return [End(device=node, interface=port) for node, _, port in places]


def failure_of(network: Network, broken: Sequence[ActiveFault]) -> Failure:
    """Return the routing failure of these faults; most of them cost routing nothing."""
    far, links, nodes = far_ends(network), [], []
    for fault in broken:
        percent = int(fault.where.partition("=")[2] or ALL) if fault.fault == "silent-loss" else ALL
        if fault.fault in AS_NODE:
            nodes.append(fault.where)
        elif fault.fault in AS_LINK and percent == ALL:
            (end,) = ends_of(fault.where)
            links += [(end, far[end])] if end in far else []
    return Failure(links=tuple(links), nodes=tuple(nodes))


def recabled(network: Network, broken: Sequence[ActiveFault]) -> Network:
    """Return the fabric with its cables as they are plugged."""
    links = list(network.links or ())
    for fault in broken:
        if fault.fault == CROSSED:
            here, other = ends_of(fault.where)
            far = far_ends(network.model_copy(update={"links": tuple(links)}))
            pairs = ((here, far[other]), (other, far[here]))
            gone = {here, other}
            links = [link for link in links if not {link.a, link.b} & gone]
            links += [Link(a=a, b=b) for a, b in pairs]
    return network.model_copy(update={"links": tuple(links)})


@dataclass(frozen=True)
class PredictionCheck:
    """Whether the kernels match the engine's prediction; seconds: how long it took them."""

    opinions: OpinionCounts
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether they agree."""
        return not self.opinions.differences

    @property
    def nothing(self) -> OpinionCounts:
        """Comparison of nothing, for a check that was stopped."""
        return replace(self.opinions, compared=0, differences=())


def await_law(
    twin: Twin,
    network: Network,
    broken: Sequence[ActiveFault],
    deadline_s: float,
    stop: Callable[[], bool] = lambda: False,
) -> PredictionCheck:
    """Wait until the kernels match the engine's prediction with these faults, twice in a row.

    stop: whether the user has stopped the wait.
    """
    failure = failure_of(network, broken)
    solution = dense(recabled(network, broken), failure)
    alive = [name for name in twin.topology.by_switch if name not in failure.nodes]
    begin, agreed = monotonic(), False
    while True:
        tables = twin.fibs(alive, ["bgp"])
        opinions = compare_tables(solution.state, tables, solution.ties)
        seconds = monotonic() - begin
        if (not opinions.differences and agreed) or seconds > deadline_s or stop():
            return PredictionCheck(opinions, seconds)
        agreed = not opinions.differences
        sleep(PAUSE_S)


def detection_s(twin: Twin) -> float:
    """Return the longest silence of a peer until its routes go: BFD's time, or BGP's hold time."""
    return max((t.detection_s for t in timers_of(twin)), default=0.0)


@dataclass(frozen=True)
class SessionTimers:
    """Timers of one session of a running bgpd. bfd: `3 x 300 ms`, empty without."""

    keepalive_s: float
    hold_s: float
    bfd: str = ""
    detection_s: float = 0.0

    def __str__(self) -> str:
        bgp = f"BGP keepalive {self.keepalive_s:g} s, hold {self.hold_s:g} s"
        return f"{bgp}, BFD {self.bfd}" if self.bfd else f"{bgp}, no BFD"


def timers_of(twin: Twin) -> set[SessionTimers]:
    """Return the timers in use, from bgpd and bfdd."""
    timers = set()
    for switch in twin.topology.sessions:
        with twin.daemons(switch).vty("bgpd") as vty:
            peers = vty.read("show bgp neighbors json")
        for neighbour in peers.values():
            keepalive = neighbour["bgpTimerKeepAliveIntervalMsecs"] / 1000
            hold = neighbour["bgpTimerHoldTimeMsecs"] / 1000
            bfd = neighbour.get("peerBfdInfo")
            if bfd is None:
                timers.add(SessionTimers(keepalive, hold, detection_s=hold))
            else:
                count, ms = bfd["detectMultiplier"], bfd["rxMinInterval"]
                timers.add(SessionTimers(keepalive, hold, f"{count} x {ms} ms", count * ms / 1000))
    return timers
