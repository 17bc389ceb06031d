"""Fault injection in a running lab: seeded faults (`lab chaos`), and failover under load."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from time import monotonic, sleep

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, Refused, ServiceFailed
from rocefort.base.json_output import json_text
from rocefort.lab.lab_report import Chaos, ChaosStep, Failover, FailoverRow, chaos_head, step_text
from rocefort.lab.network import (
    PredictionCheck,
    await_law,
    detection_s,
    far_ends,
    running_network,
    timers_of,
)
from rocefort.lab.twin.faults import ActiveFault, break_lab, mend_lab, require_mended
from rocefort.lab.twin.flows import FlowLoad, PacketGap, ProbeFlow, flows_between, running
from rocefort.lab.twin.registry import namespace, write_whole
from rocefort.lab.twin.topology import Host
from rocefort.lab.twin.twin import Twin
from rocefort.models.network.network import Network
from rocefort.models.wording import count_of

QUIET_S = 1.0  # before a fault, and after routes are stable
NOTHING = "nothing"
FAILOVER_PATIENCE_S = 180.0  # until whole again, added to the detection time of a silent peer
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
            limit = FAILOVER_PATIENCE_S + detection_s(self.twin)
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


PATIENCE_S = 180.0  # added to the detection time of a silent peer: BGP tries again every 120 s
FEWEST_CABLES = 2
TWO = 0.4  # share of the rounds with a second fault
Fault = tuple[str, str]
Say = Callable[[Chaos], None]
OF_NODES = ("node-down", "silent-node", "bgpd-killed")
OF_PORTS = ("link-down", "silent-loss", "silent-loss=1", "ce-mark")
# Alone in their round: on a slow or narrow port BGP may not carry the changes of another fault.
ALONE = ("wrong-cable", "wrong-mtu", "rate-limit")
OF_LINES = (
    "refuse-line @vlan batch",
    "fail-commit",
    "full-flash",
    "hang @commit*1",
    "drop-session-on-commit",
    "lie-ok @commit*1",
    "refuse-login",
    "wrong-host-key",
    "input-errors",
)
GROUPS = (OF_NODES, OF_PORTS, ALONE, OF_LINES)
WITH_ANOTHER = (OF_NODES, OF_PORTS, OF_LINES)


@dataclass(frozen=True)
class FaultSampler:
    """Sampler of faults for a fabric; the same seed gives the same ones, at any speed."""

    network: Network
    random: Random

    def rounds(self) -> Iterator[tuple[Fault, ...]]:
        """Yield faults that are injected together, then fixed; without end."""
        while True:
            first = self._fault(GROUPS)
            second = None
            if self.random.random() < TWO and first[0] not in ALONE:
                second = self._fault(WITH_ANOTHER)
            apart = second is not None and not self._touched(first) & self._touched(second)
            yield (first, second) if second is not None and apart else (first,)

    def _fault(self, groups: Sequence[Sequence[str]]) -> Fault:
        kind = self.random.choice(self.random.choice(groups))
        if kind in OF_NODES:
            speaking = [n.name for n in self.network.nodes if n.device.bgp is not None]
            return kind, self.random.choice(speaking)
        if kind in OF_LINES:
            return self._of_line(kind)
        if kind == "wrong-cable":
            return kind, ",".join(self._ports(2))
        fault, equals, value = kind.partition("=")
        return fault, self._ports(1)[0] + equals + value

    def _ports(self, number: int) -> list[str]:
        links = self.random.sample(self.network.links or (), number)
        return [f"{link.a.device}:{link.a.interface}" for link in links]

    def _of_line(self, kind: str) -> Fault:
        fault, _, what = kind.partition(" ")
        if fault == "input-errors":
            node, _, port = self._ports(1)[0].partition(":")
            return fault, f"{node}@{port}={self.random.randint(1, 1000)}/s"
        own = [node.name for node in self.network.nodes if node.hardware is not None]
        return fault, self.random.choice(own) + what

    def _touched(self, fault: Fault) -> set[str]:
        """Return the switches at either end of a fault."""
        node, _, port = fault[1].partition("=")[0].partition("@")[0].partition(":")
        far = {
            end.device
            for link in self.network.links or ()
            for end in (link.a, link.b)
            if port and (node, port) in {(e.device, e.interface) for e in (link.a, link.b)}
        }
        return {node} | far


@dataclass
class ChaosRun:
    """A running chaos test; say: called after each step."""

    twin: Twin
    network: Network
    chaos: Chaos
    stop: Callable[[], bool]
    say: Say
    begun: float = field(default_factory=monotonic)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def all(self, seed: int) -> None:
        """Run rounds until the time is over, the user stops it, or the law does not hold."""
        for faults in FaultSampler(self.network, Random(seed)).rounds():  # noqa: S311 - no secret
            if self.stop() or monotonic() - self.begun > self.chaos.minutes * 60:
                return
            self._round(faults)
            if self.chaos.failed:
                self._add(stopped="the law did not hold")
                return

    def _round(self, faults: Sequence[Fault]) -> None:
        broken: list[ActiveFault] = []
        for fault, where in faults:
            if self.stop() or self.chaos.failed:
                break
            at = monotonic()
            broken.append(break_lab(self.twin.registry, self.twin.record.name, fault, where))
            self._judge(at, f"broken: {fault} {where}", broken)
        at = monotonic()
        mended = mend_lab(self.twin.registry, self.twin.record.name)
        self._judge(at, f"fixed: {count_of(len(mended), 'fault')}", ())

    def _judge(self, at: float, done: str, broken: Sequence[ActiveFault]) -> None:
        limit = self.chaos.deadline_s
        verdict = await_law(self.twin, self.network, broken, limit, self.stop)
        if self.stop() and not verdict.holds and verdict.seconds < limit:
            done, verdict = f"{done} (not judged: stopped)", PredictionCheck(verdict.nothing, 0)
        different = verdict.opinions.differences
        step = ChaosStep(
            number=next(self.numbers),
            at_s=at - self.begun,
            done=done,
            compared=verdict.opinions.compared,
            differing=len(different),
            took_s=verdict.seconds,
            first=str(different[0]) if different else "",
        )
        self._add(steps=(*self.chaos.steps, step))

    def _add(self, **changes: object) -> None:
        self.chaos = self.chaos.model_copy(update=changes)
        self.say(self.chaos)

    def repair(self) -> None:
        """Fix all faults, and check that the lab is whole."""
        mend_lab(self.twin.registry, self.twin.record.name)
        if self.stop():
            self._add(stopped="asked to")
        verdict = await_law(self.twin, self.network, (), self.chaos.deadline_s)
        if not verdict.holds and not self.chaos.failed:
            what = f"still differs after the repair: {verdict.opinions.differences[0]}"
            raise ServiceFailed(what, where=self.twin.record.name)


def run_chaos(twin: Twin, seed: int, minutes: float, stop: Callable[[], bool], say: Say) -> Chaos:
    """Inject seeded faults into a lab for some minutes, and fix all of them at the end.

    Raises Refused if a fault is already there, the lab has no command lines, or fewer than two
    cables between switches, ServiceFailed if it is not whole at the start.
    """
    require_mended(twin.registry, twin.record)
    network = running_network(twin)
    if len(network.links or ()) < FEWEST_CABLES:
        what = "has fewer than two cables between switches: too few to swap or to unplug"
        raise Refused(what, where=twin.record.name)
    deadline = PATIENCE_S + detection_s(twin)
    first = await_law(twin, network, (), deadline)
    if not first.holds:
        what = f"is not whole before anything is broken: {first.opinions.differences[0]}"
        raise ServiceFailed(what, where=twin.record.name)
    begin = Chaos(
        lab=twin.record.name,
        seed=seed,
        minutes=minutes,
        deadline_s=deadline,
        timers=tuple(sorted(map(str, timers_of(twin)))),
    )
    running = ChaosRun(twin, network, begin, stop, say)
    say(begin)
    try:
        running.all(seed)
    finally:
        running.repair()
    return running.chaos


class ChaosReporter:
    """Reporter of new steps of a chaos test; it also writes them to a file, if one is given."""

    def __init__(self, say: Callable[[str], None], journal: Path | None) -> None:
        self.say = say
        self.journal = journal
        self._told = -1

    def __call__(self, chaos: Chaos) -> None:
        """Report the steps since the last call."""
        if self._told < 0:
            self.say("\n".join(chaos_head(chaos)))
            self._told = 0
        for step in chaos.steps[self._told :]:
            self.say(step_text(step))
        self._told = len(chaos.steps)
        if self.journal is not None:
            try:
                write_whole(self.journal, json_text(chaos) + "\n")
            except OSError as error:
                what, where = f"cannot be written: {error.strerror}", str(self.journal)
                raise BadInput(what, where=where) from None
