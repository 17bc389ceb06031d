"""Items of the acceptance of a stage: their list, and what does each of them.

Suites run under the rules of load of the fabric, as `rdma run` does. All readings of switches are
two of all topics, with the soak between them. Each item is in the record as soon as it is done, so
that a killed acceptance continues with the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from rocefort.base.clock import Clock, utc_now
from rocefort.base.errors import BadInput, DeviceFailed, Refused
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.fleet.connections import Connections
from rocefort.models.change.plan import Plan
from rocefort.models.finding import Report, Severity
from rocefort.models.network.beamlines import spread_over_leaves
from rocefort.models.network.network import Network, Server
from rocefort.models.wording import count_of, listing, names_text
from rocefort.rdma.designed_plan import RdmaRequest
from rocefort.rdma.judge.measurement import rate_titles
from rocefort.rdma.plan.load_rules import LoadRules, allowed_servers
from rocefort.rdma.plan.site import RdmaPlanOptions, TooFewServers, best_sink
from rocefort.rdma.rdma_plan import Suite
from rocefort.rdma.results import MeasurementVerdict, RdmaResult
from rocefort.rdma.run.cables import LAB
from rocefort.rdma.run_suite import HistoryNotWritten, RunDialogue, run_tests
from rocefort.rollout import operator
from rocefort.rollout.journal.history import FINISHED, RunHistory
from rocefort.rollout.live.health import health_of
from rocefort.rollout.plan.acceptance import Acceptance, AcceptanceItem, DoneBy, ItemState
from rocefort.rollout.planning.sealed_files import tool

MOST_SENTENCES = 20
NOT_MEASURED = "not measured: the connections lead to a lab that has other hosts than the rollout"
ROLLOUT, HOSTS, OPTICS, FAILOVER = "rollout", "hosts", "optics", "failover"
# Items that two readings of all switches judge, with the live rules of each.
READINGS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "cabling": ("cables as designed, by LLDP", ("LIV006", "LIV007", "LIV008", "LIV009")),
    "errors": (
        "errors, discards and deadlocks over the soak",
        ("LIV010", "LIV011", "LIV014", "LIV015", "LIV016"),
    ),
    "routing": ("BGP sessions, prefixes and ECMP width", ("LIV003", "LIV004", "LIV005")),
    "lossless": ("PFC, thresholds and AI-ECN in force", ("LIV012", "LIV013", "LIV017")),
    "switches": (
        "models, clocks, flash and saved configurations",
        ("LIV001", "LIV002", "LIV018", "LIV019", "LIV020"),
    ),
}
OF_JOURNAL: Mapping[str, str] = {
    ROLLOUT: "every wave is confirmed, read back and saved",
    HOSTS: "switches and servers are those of the rollout",
}
SUITES = (Suite.MESH, Suite.SWEEP, Suite.INCAST)
BY_HAND: Mapping[str, tuple[str, str]] = {
    OPTICS: (
        "optical power of transceivers",
        "Rocefort does not read it; a person does, and enters it: --passed optics=TEXT",
    ),
    FAILOVER: (
        "cables pulled, and what was lost",
        "no cable was pulled; --cable-by lab or --cable-by person measures while one is",
    ),
}


@dataclass(frozen=True)
class AcceptanceRequest:
    """Options of `accept` on what it does. again: items that are done again.

    cable_by: who takes cables away, `cable_at_s` after the start of a round; None: no one does.
    """

    suites: tuple[Suite, ...] = SUITES
    servers: tuple[str, ...] = ()
    soak_s: float = 60.0
    duration_s: int | None = None
    drained: tuple[str, ...] = ()
    cable_by: Literal["lab", "person"] | None = None
    cable_at_s: int | None = None
    again: tuple[str, ...] = ()

    @property
    def failover(self) -> RdmaPlanOptions:
        """Options of the suite in which cables are taken away."""
        return RdmaPlanOptions(
            duration_s=self.duration_s, cable_by=self.cable_by, cable_at_s=self.cable_at_s
        )


@dataclass(frozen=True)
class IncastSink:
    """Server that receives an incast, for a part of the facility.

    servers: those that take part; empty: all that may be loaded. beamline: that sends; its rate is
    then expected.
    """

    name: str
    title: str
    server: str
    servers: tuple[str, ...] = ()
    beamline: str = ""


def incast_sinks(network: Network, names: Sequence[str]) -> Iterator[IncastSink]:
    """One incast for each rack, or leaf without a rack, and for each beamline.

    All servers that the policy lets send to it send to the fastest of a rack. The servers of a
    beamline send to the fastest of the segment that its data goes to, and to as many of it as they
    are themselves.
    """
    servers = [s for s in network.servers or () if s.name in names and s.roce]
    parts: dict[tuple[str, str], list[Server]] = {}
    for server in servers:
        rack = network.by_name[server.port.device].rack
        where = ("rack", rack) if rack else ("leaf", server.port.device)
        parts.setdefault(where, []).append(server)
    for (kind, part), members in parts.items():
        sink = best_sink(members, lambda server: len(_senders(network, servers, server)))
        senders = len(_senders(network, servers, sink))
        who = "all servers" if senders == len(servers) - 1 else count_of(senders, "server")
        title = f"{who} to {sink.name} in {kind} {part}"
        yield IncastSink(f"{Suite.INCAST}-{part}", title, sink.name)
    for beamline in network.beamlines:
        own = tuple(s.name for s in servers if s.name in beamline.servers)
        for path in beamline.sends_to:
            there = [s for s in servers if s.segment == path.to and s.name not in own]
            if own and there:
                sink = max(there, key=lambda server: server.flow_gbps)
                title = f"beamline {beamline.name} to {sink.name} in segment {path.to}"
                name = f"{Suite.INCAST}-{beamline.name}-{path.to}"
                others = spread_over_leaves([s for s in there if s is not sink])[: len(own) - 1]
                takes_part = (*own, sink.name, *(server.name for server in others))
                yield IncastSink(name, title, sink.name, takes_part, beamline.name)


def _senders(network: Network, servers: Sequence[Server], sink: Server) -> list[Server]:
    """Return the servers that the policy lets send RDMA to one."""
    return [s for s in servers if s is not sink and network.lets_rdma(s, sink)]


def new_record(
    plan: Plan, derived: DerivedNetwork, request: AcceptanceRequest, rollout: RunHistory
) -> Acceptance:
    """Record of a stage before its first item; raises BadInput for a suite that it cannot run.

    rollout: history of the plan's run, which has the plan's author and policy.
    """
    if Suite.STORAGE in request.suites:
        how = "measure it beside the acceptance: `rocefort rdma run --suite storage`"
        raise BadInput("it needs a directory of servers", where="--suite storage", how=how)
    rules = LoadRules.of(derived.fabric.rdma)
    names = allowed_servers(derived.network, rules, request.servers)
    items = [AcceptanceItem(name=name, title=title) for name, title in OF_JOURNAL.items()]
    for suite in request.suites:
        if suite is Suite.INCAST:
            sinks = incast_sinks(derived.network, names)
            items += [AcceptanceItem(name=sink.name, title=sink.title) for sink in sinks]
        else:
            title = {Suite.MESH: "every pair of leaves", Suite.SWEEP: "all message sizes"}
            items.append(AcceptanceItem(name=str(suite), title=title.get(suite, f"suite {suite}")))
    items += [AcceptanceItem(name=name, title=title) for name, (title, _) in READINGS.items()]
    items += [
        AcceptanceItem(
            name=name,
            title=title,
            done_by=DoneBy.PERSON,
            state=ItemState.NOT_JUDGED,
            sentences=(why,),
        )
        for name, (title, why) in BY_HAND.items()
        if name not in request.suites
    ]
    return Acceptance(
        fabric=derived.fabric.fabric,
        plan=plan.digest,
        tool=tool(),
        author=(rollout.rules.author if rollout.rules else "") or plan.author,
        author_user=plan.author,
        policy=rollout.rules.approvals if rollout.rules else None,
        switches=tuple(change.device for change in plan.changes if not change.empty),
        began=utc_now(),
        soak_s=request.soak_s,
        items=tuple(items),
    )


def differing_hosts(rollout: RunHistory, hosts: Mapping[str, str]) -> list[str]:
    """Names of the switches and servers that have another host here than in a rollout."""
    return [name for name in hosts if rollout.hosts.get(name, hosts[name]) != hosts[name]]


def reopened(
    record: Acceptance, request: AcceptanceRequest, *, elsewhere: bool = False
) -> Acceptance:
    """Return the record with items open that are to be done again, or now with a cable away.

    elsewhere: its hosts are not those of the rollout, so every measured item is open.
    Raises BadInput for an unknown item, or one that a person does.
    """
    known = {item.name: item for item in record.items}
    for name in request.again:
        if name not in known:
            how = f"its items are {listing(known)}"
            raise BadInput(f"{name!r} is no item", where="--again", how=how)
        if known[name].done_by is DoneBy.PERSON:
            how = f"--passed {name}=TEXT, or --failed {name}=TEXT"
            raise BadInput(f"a person does {name}", where="--again", how=how)
    names = {*request.again, *([FAILOVER] if request.cable_by else [])}
    if elsewhere:
        names |= {item.name for item in record.items if item.done_by is DoneBy.MACHINE}
    items = tuple(item.reopened() if item.name in names else item for item in record.items)
    return record.model_copy(update={"items": items, "soak_s": request.soak_s})


@dataclass
class StageRun:
    """Carries out the open items of a record, and keeps the record after each.

    rollout: history of the plan's run. keep: writes the record. say: prints a line. stopped:
    whether the user requested a stop.
    """

    plan: Plan
    rollout: RunHistory
    derived: DerivedNetwork
    access: Connections
    history: Path
    request: AcceptanceRequest
    keep: Callable[[Acceptance], Acceptance]
    say: Callable[[str], None]
    stopped: Callable[[], bool] = lambda: False
    now: Callable[[], datetime] = utc_now
    _readings: dict[str, tuple[ItemState, tuple[str, ...]]] = field(default_factory=dict)

    def carry_out(self, record: Acceptance) -> Acceptance:
        """Do every open item in its order; raises Refused while servers must not be loaded.

        Raises Refused too if the rollout is not finished, or reached other hosts.
        """
        record = self._compared(record)
        for item in record.in_state(ItemState.OPEN):
            if self.stopped():
                return record
            done = self._done(item)
            if done.state is ItemState.OPEN:
                return record
            self.say(f"{done.name}: {done.state}")
            record = self.keep(record.with_item(done))
        ended = record.model_copy(update={"ended": self.now()})
        return self.keep(ended)

    def _done(self, item: AcceptanceItem) -> AcceptanceItem:
        began = self.now()
        if item.name == ROLLOUT:
            gates = tuple(f"{name}: {text}" for name, text in self.rollout.gates.items())
            done = item.model_copy(update={"state": ItemState.PASSED, "sentences": gates})
        elif self._elsewhere:
            why = (NOT_MEASURED,)
            done = item.model_copy(update={"state": ItemState.NOT_JUDGED, "sentences": why})
        elif item.name in READINGS:
            done = self._reading(item)
        else:
            done = self._suite(item)
        if done.state is ItemState.OPEN:
            return done
        update = {"began": began, "ended": self.now(), "who": operator.user()}
        if item.name == FAILOVER and done.run:
            update["done_by"] = DoneBy.MACHINE if self.request.cable_by == LAB else DoneBy.PERSON
        if done.state is not ItemState.NOT_JUDGED:
            update["done_by"] = DoneBy.MACHINE  # no person replaces what was measured
        return done.model_copy(update=update).settled()

    # --- hosts ----------------------------------------------------------------------------------

    @property
    def _elsewhere(self) -> list[str]:
        """Names whose host is another than in the rollout."""
        return differing_hosts(self.rollout, self.access.hosts)

    def _compared(self, record: Acceptance) -> Acceptance:
        """Return the record with the hosts that are measured, compared with those of the rollout.

        A lab with other hosts is not judged. Raises Refused for other hosts that are of no lab.
        """
        if self.rollout.ended != FINISHED:
            what = "its rollout is not finished; a stage is accepted after its last wave"
            how = "`rocefort status PLAN` shows where it is"
            raise Refused(what, where=f"plan {self.plan.digest[:12]}", how=how)
        now = self.now()
        state, sentence = self._verdict_of_hosts()
        item = AcceptanceItem(
            name=HOSTS,
            title=OF_JOURNAL[HOSTS],
            who=operator.user(),
            state=state,
            sentences=(sentence,),
            began=now,
            ended=now,
        )
        self.say(f"{HOSTS}: {state}")
        update = {"hosts": self.access.hosts, "emulated": self.access.of_lab}
        return record.with_item(item).model_copy(update=update)

    def _verdict_of_hosts(self) -> tuple[ItemState, str]:
        before, now = self.rollout.hosts, self.access.hosts
        if not before:
            why = "the journal of the rollout has no hosts, as of an earlier version"
            return ItemState.NOT_JUDGED, why
        if others := self._elsewhere:
            first, file = others[0], self.access.file_name
            more = f"; {len(others) - 1} more differ" if others[1:] else ""
            what = f"the rollout reached it at {before[first]}, {file} names {now[first]}{more}"
            if self.access.of_lab:
                return (
                    ItemState.NOT_JUDGED,
                    f"a lab, not the network of the rollout: {first}: {what}",
                )
            how = "name the connections of the rollout; a host that has moved since needs a rollout"
            raise Refused(what, where=first, how=how)
        if lacking := [name for name in now if name not in before]:
            return ItemState.NOT_JUDGED, f"the rollout had no connection to {names_text(lacking)}"
        of_lab = ", of a lab" if self.access.of_lab else ""
        return ItemState.PASSED, f"{count_of(len(now), 'host')}, each as in the rollout{of_lab}"

    # --- readings -------------------------------------------------------------------------------

    def _reading(self, item: AcceptanceItem) -> AcceptanceItem:
        if not self._readings:
            self.say(f"two readings of all switches, {self.request.soak_s:g} s apart")
            health = health_of(
                Path(self.plan.source),
                self.access,
                interval_s=self.request.soak_s,
                sleep=Clock(self.access.time_scale).sleep,
            )
            for name, (_, rules) in READINGS.items():
                self._readings[name] = judged_rules(health.report, rules)
        state, sentences = self._readings[item.name]
        soak = {"soak_s": self.request.soak_s}
        return item.model_copy(update={"state": state, "sentences": sentences, **soak})

    # --- suites ---------------------------------------------------------------------------------

    def _suite(self, item: AcceptanceItem) -> AcceptanceItem:
        request = self._suite_of(item.name)
        rules = LoadRules.of(self.derived.fabric.rdma)
        names = allowed_servers(self.derived.network, rules, request.servers)
        item = item.model_copy(update={"servers": names})
        self.say(f"{item.name}: {item.title}")
        pulls = request.suite is Suite.FAILOVER  # a person has to know which cable, and when
        talk = RunDialogue(self.say if pulls else _silent, self.stopped)
        fabric = Path(self.plan.source)
        try:
            result = run_tests(fabric, self.access, request, self.history, talk)
        except HistoryNotWritten as error:
            result = error.result
        except TooFewServers as error:
            if item.failed:
                raise
            few = (str(error.problem.what),)
            return item.model_copy(update={"state": ItemState.NOT_JUDGED, "sentences": few})
        except DeviceFailed as error:
            what = tuple(f"{p.where} {p.what}".strip() for p in error.problems)
            return item.model_copy(update={"state": ItemState.FAILED, "sentences": what})
        if self.stopped() and not result.complete:
            return item  # open
        state, sentences = judged_run(result)
        return item.model_copy(update={"state": state, "sentences": sentences, "run": result.id})

    def _suite_of(self, name: str) -> RdmaRequest:
        """Request of an item: its suite, its servers and its target."""
        suite = Suite(name.split("-", 1)[0])
        servers, seconds = self.request.servers, self.request.duration_s
        options = RdmaPlanOptions(duration_s=seconds, covering=suite is Suite.MESH)
        if suite is Suite.FAILOVER:
            options = self.request.failover
        if suite is Suite.INCAST:
            rules = LoadRules.of(self.derived.fabric.rdma)
            names = allowed_servers(self.derived.network, rules, self.request.servers)
            sinks = {sink.name: sink for sink in incast_sinks(self.derived.network, names)}
            if name not in sinks:
                what = f"none of its servers may be loaded now: {name}"
                raise Refused(what, where="rdma.servers", how="name them: --servers")
            sink = sinks[name]
            options = RdmaPlanOptions(
                duration_s=seconds, target=sink.server, beamline=sink.beamline
            )
            servers = sink.servers or servers
        return RdmaRequest(suite, servers, options=options, drained=self.request.drained)


def _silent(_line: str) -> None:
    """Print no round: the progress shows them, and the report has the result."""


def judged_rules(report: Report, rules: Sequence[str]) -> tuple[ItemState, tuple[str, ...]]:
    """State of an item that live rules judge, and its sentences.

    It passed only if every rule was judged everywhere.
    """
    errors = [
        f"{finding.rule} {finding.where}: {finding.message}"
        for finding in report.findings
        if finding.rule in rules and finding.severity is Severity.ERROR
    ]
    if errors:
        return ItemState.FAILED, _first(errors)
    open_ones: dict[tuple[str, str], int] = {}
    for each in report.not_judged:
        if each.rule in rules:
            open_ones[each.rule, each.cause] = open_ones.get((each.rule, each.cause), 0) + 1
    if open_ones:
        reasons = [
            f"{rule} is not judged at {count_of(number, 'place')}: {cause}"
            for (rule, cause), number in open_ones.items()
        ]
        return ItemState.NOT_JUDGED, _first(reasons)
    ran = [rule for rule in rules if rule in report.rules]
    return ItemState.PASSED, (f"{listing(ran)} without an error",)


def judged_run(result: RdmaResult) -> tuple[ItemState, tuple[str, ...]]:
    """State of an item that a suite measures, and its sentences."""
    if not result.plan.runs:
        return ItemState.NOT_JUDGED, _first(result.plan.unmeasured or ("nothing to measure",))
    bad = (MeasurementVerdict.TOO_SLOW, MeasurementVerdict.NOT_MEASURED)
    wrong = [m.sentence for m in result.measurements if m.verdict in bad]
    wrong += [each.sentence for each in result.judged if each.ok is False]
    wrong += result.unmeasured
    lost = tuple(_lost(result))
    if wrong:
        return ItemState.FAILED, _first([*wrong, *lost])
    titles = rate_titles(result.plan.rounds)
    rates = [each for each in result.judged if each.subject in titles]
    if unjudged := [each.sentence for each in rates if each.ok is None]:
        return ItemState.NOT_JUDGED, _first(unjudged)
    judged = [each.sentence for each in result.judged if each.ok]
    if result.plan.suite is Suite.FAILOVER:
        state = ItemState.PASSED if judged else ItemState.NOT_JUDGED
        return state, _first([*lost, *(judged or ("no limit of what may be lost is stated",))])
    passed = sum(m.verdict is MeasurementVerdict.PASSED for m in result.measurements)
    measured = count_of(len(result.measurements), "measurement")
    if not passed:
        reason = result.conditions.get("servers") or result.measurements[0].sentence
        return ItemState.NOT_JUDGED, (f"{measured} delivered; speed not judged: {reason}",)
    text = f"{passed} of {measured} judged by expectations, none too slow"
    return ItemState.PASSED, _first([text, *(each.sentence for each in rates)])


def _lost(result: RdmaResult) -> Iterator[str]:
    """Yield sentences on what was lost while cables were away, and on who took them."""
    if result.plan.suite is not Suite.FAILOVER:
        return
    notes = {each.note for each in result.plan.rounds}
    yield from (each.sentence for each in result.judged if each.subject in notes)
    for event in result.cables:
        if event.taken_at is not None:
            back = f", and back at {event.back_at:%H:%M:%S}" if event.back_at else ", and not back"
            who = "the lab" if event.by == LAB else "a person"
            cables = f"{who} took {listing(event.cables)} away"
            yield f"round {event.round}: {cables} at {event.taken_at:%H:%M:%S}{back} (UTC)"


def _first(sentences: Sequence[str]) -> tuple[str, ...]:
    more = len(sentences) - MOST_SENTENCES
    return (*sentences[:MOST_SENTENCES], *([f"and {more} more"] if more > 0 else []))
