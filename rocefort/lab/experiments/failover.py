"""Steps of `lab failover`: one fault after another under load, and the packet loss of flows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import monotonic, sleep

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, Refused, ServiceFailed
from rocefort.lab.experiments.experiment_results import Failover, FailoverRow
from rocefort.lab.network import await_law, detection_s, far_ends, running_network, timers_of
from rocefort.lab.twin.faults import ActiveFault, break_lab, mend_lab, require_mended
from rocefort.lab.twin.teardown import namespace
from rocefort.lab.twin.topology import Host
from rocefort.lab.twin.traffic.flows import FlowLoad, PacketGap, ProbeFlow, flows_between, running
from rocefort.lab.twin.twin import Twin
from rocefort.models.network.network import Network

QUIET_S = 1.0  # before a fault, and after routes are stable
NOTHING = "nothing"
PATIENCE_S = 180.0  # until whole again, added to the detection time of a silent peer
MOST_PACKETS_S = 20_000  # of all flows: a sender in Python reaches no more than this


@dataclass(frozen=True)
class ServerPair:
    """Two servers on different leaves, and the places of faults between them."""

    source: str
    target: str
    near: str  # leaf of the source
    far: str  # leaf of the target
    spine: str
    near_port: str  # of the near leaf, to the spine
    far_port: str  # of the far leaf, to the spine


@dataclass(frozen=True)
class FailoverOptions:
    """Options of a measurement: flows, packets a second of each, limit for convergence."""

    flows: int = 16
    rate: int = 250
    limit_s: float = 60.0


def check_options(options: FailoverOptions) -> None:
    """Check that so many packets can be sent. Raises BadInput."""
    if options.flows * options.rate > MOST_PACKETS_S:
        how = f"at most {MOST_PACKETS_S} packets/s, all flows together"
        raise BadInput(f"{options.flows} flows of {options.rate} packets/s", how=how)


def pair_of(twin: Twin, network: Network, source: str | None, target: str | None) -> ServerPair:
    """Return two servers with a spine between them; by default the first ones.

    Raises BadInput for names that are not servers of different leaves, Refused if the lab has no
    two such servers.
    """
    hosts = twin.topology.by_host
    for name in (source, target):
        if name is not None and name not in hosts:
            raise BadInput(f"no server is called {name!r}", how=nearest(name, hosts))
    pairs = (
        (a, b)
        for a in ([source] if source else hosts)
        for b in ([target] if target else hosts)
        if hosts[a].switch != hosts[b].switch and can_send(hosts[a]) and can_send(hosts[b])
    )
    names = next(pairs, None)
    if names is None:
        how = "name two with --from and --to"
        raise Refused("no two servers are on different leaves", where=twin.record.name, how=how)
    near, far = (hosts[name].switch for name in names)
    for spine, near_port in _uplinks(network, near):
        for other, far_port in _uplinks(network, far):
            if spine == other:
                return ServerPair(*names, near, far, spine, near_port, far_port)
    raise Refused(f"no spine has both {near} and {far}", where=twin.record.name)


def can_send(host: Host) -> bool:
    """Whether flows can begin and end there: a guest's address is not its namespace's."""
    return host.gateway is not None and not host.guest


def _uplinks(network: Network, leaf: str) -> list[tuple[str, str]]:
    """Return switches next to a leaf, each with the leaf's own port, in order."""
    ends = far_ends(network)
    own = (end for end in sorted(ends, key=str) if end.device == leaf)
    return [(ends[end].device, end.interface) for end in own]


def faults_between(pair: ServerPair) -> tuple[tuple[str, str, str], ...]:
    """Return the faults of a measurement: description, fault, place."""
    near, far = f"{pair.near}:{pair.near_port}", f"{pair.far}:{pair.far_port}"
    return (
        (NOTHING, "", "-"),
        ("link down, near leaf", "link-down", near),
        ("link down, far leaf", "link-down", far),
        ("silent link, near leaf", "silent-loss", near),
        ("silent link, far leaf", "silent-loss", far),
        ("silent spine", "silent-node", pair.spine),
        ("bgpd of a spine killed", "bgpd-killed", pair.spine),
        ("bgpd of the far leaf killed", "bgpd-killed", pair.far),
    )


def flows_of(twin: Twin, pairs: Sequence[tuple[str, str]], count: int) -> tuple[ProbeFlow, ...]:
    """Return `count` flows between pairs of servers."""
    hosts, lab = twin.topology.by_host, twin.record.id
    ends = [(namespace(lab, a), namespace(lab, b), hosts[b].address) for a, b in pairs]
    return flows_between(ends, count)


def measure_failover(  # noqa: PLR0913, PLR0917 - a pair, options, and callbacks
    twin: Twin,
    source: str | None,
    target: str | None,
    options: FailoverOptions,
    say: Callable[[str], None],
    stop: Callable[[], bool],
) -> Failover:
    """Inject one fault after another while flows run; each is fixed in any case.

    Raises Refused if a fault is already there, BadInput for more packets than can be sent.
    """
    check_options(options)
    require_mended(twin.registry, twin.record)
    network = running_network(twin)
    pair = pair_of(twin, network, source, target)
    work = FailoverRun(twin, network, pair, options, stop)
    rows = []
    for fault in faults_between(pair):
        if stop():
            break
        say(f"{fault[0]} ..")
        rows.append(work.row(*fault))
    return Failover(
        lab=twin.record.name,
        source=pair.source,
        destination=pair.target,
        flows=options.flows,
        rate=options.rate,
        timers=tuple(sorted(map(str, timers_of(twin)))),
        limit_s=options.limit_s,
        rows=tuple(rows),
    )


@dataclass(frozen=True)
class FailoverRun:
    """One fault at a time, under load."""

    twin: Twin
    network: Network
    pair: ServerPair
    options: FailoverOptions
    stop: Callable[[], bool]

    def row(self, words: str, fault: str, where: str) -> FailoverRow:
        """Inject a fault, wait until routes are stable, fix it, and wait until the lab is whole."""
        flows = flows_of(self.twin, [(self.pair.source, self.pair.target)], self.options.flows)
        with running(self.twin.record.id, flows, self.options.rate) as load:
            sleep(QUIET_S)
            broken_at = monotonic()
            try:
                active: list[ActiveFault] = []
                if fault:
                    active.append(
                        break_lab(self.twin.registry, self.twin.record.name, fault, where)
                    )
                verdict = await_law(
                    self.twin, self.network, active, self.options.limit_s, self.stop
                )
                settled = verdict.seconds if verdict.holds else None
                sleep(QUIET_S)
                fixed_at = monotonic()
            finally:
                mend_lab(self.twin.registry, self.twin.record.name)
            limit = PATIENCE_S + detection_s(self.twin)
            whole = await_law(self.twin, self.network, (), limit, self.stop)
            sleep(QUIET_S)
        if not whole.holds and not self.stop():
            what = f"is not whole after {limit:.0f} s: {whole.opinions.differences[0]}"
            raise ServiceFailed(what, where=self.twin.record.name)
        return row_of((words, where), load, (broken_at, fixed_at), settled)


def row_of(
    what: tuple[str, str], load: FlowLoad, at: tuple[float, float], settled: float | None
) -> FailoverRow:
    """Return the effect of a fault on the flows; at: times of the fault and of its fix."""
    during = [(flow, gap) for flow, gap in load.gaps if gap.begin_s < at[1]]
    over = all(gap.seconds is not None and gap.begin_s + gap.seconds < at[1] for _, gap in during)
    fault, where = what
    return FailoverRow(
        fault=fault,
        where=where,
        hit=len({flow for flow, _ in during}),
        lost=load.lost,
        window_ms=longest_ms(gap for _, gap in during) if over else None,
        settled_s=settled,
        mending_ms=longest_ms(gap for _, gap in load.gaps if gap.begin_s >= at[1]),
    )


def longest_ms(gaps: Iterable[PacketGap]) -> float | None:
    """Return the longest of some gaps in ms; 0 without any, None if one did not end."""
    spans = [gap.seconds for gap in gaps]
    if None in spans:
        return None
    return 1000 * max((span for span in spans if span is not None), default=0.0)
