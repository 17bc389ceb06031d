"""Steps of `rdma run`: probe, plan, measure, judge and store a run; also `rdma stop`."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nornir.core import Nornir

from rocefort.base.clock import utc_now
from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, DeviceFailed, Problem, ServiceFailed
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.fleet.connections import Connections
from rocefort.fleet.nornir_session import open_fleet, require_credentials
from rocefort.models.network.network import Network
from rocefort.models.wording import listing
from rocefort.rdma.designed_plan import RdmaRequest, servers_of
from rocefort.rdma.judge import run_store
from rocefort.rdma.judge.rounds import figure_spreads
from rocefort.rdma.judge.verdicts import verdicts
from rocefort.rdma.plan.command_lines import untried_versions
from rocefort.rdma.plan.load_rules import Load, LoadRules, load_verdict
from rocefort.rdma.plan.probe import ServerProbe, conditions, probe, undrained
from rocefort.rdma.plan.suites import plan_suite
from rocefort.rdma.rdma_plan import RdmaPlan, Round, Suite
from rocefort.rdma.recorder import RecordedFabric, RunRecorder
from rocefort.rdma.results import DerivedVerdict, EndedProcesses, Measurement, RawEnd, RdmaResult
from rocefort.rdma.run.cables import cable_control, path_control
from rocefort.rdma.run.counters import judge_nics, judge_switches
from rocefort.rdma.run.executor import RunConditions, RunResult, execute, hold_servers, stop_all
from rocefort.rdma.run_record import CounterReading

WITHOUT_PERFTEST = (Suite.STORAGE, Suite.MPI, Suite.TRANSFER)

Say = Callable[[str], None]


class HistoryNotWritten(ServiceFailed):
    """A run was measured and judged, but not written to the history; `result` contains it."""

    def __init__(self, error: ServiceFailed, result: RdmaResult) -> None:
        super().__init__(problems=error.problems)
        self.result = result


@dataclass(frozen=True)
class RunDialogue:
    """Callbacks of a run: `say` prints progress, `stopped` reports a requested stop."""

    say: Say
    stopped: Callable[[], bool] = lambda: False


def probed_plan(fabric: Path, request: RdmaRequest, access: Connections) -> RdmaPlan:
    """Return the plan of a run, with the servers probed as for a run; none is loaded or locked.

    Raises the errors that `run_tests` raises before it measures, except those of the window.
    """
    derived = derive(fabric)
    names = servers_of(derived, request)
    with open_fleet(derived.network, access) as nornir:
        probed = _server_probes(nornir, derived, names, request)
    plan = _plan(derived, request, probed, {})
    return plan.model_copy(update={"unmeasured": (*plan.unmeasured, *_useless(probed, {}))})


def run_tests(
    fabric: Path,
    access: Connections,
    request: RdmaRequest,
    history_path: Path,
    talk: RunDialogue,
) -> RdmaResult:
    """Probe, plan, measure, judge and store one run.

    Raises Refused before it loads a server that must not be loaded, DeviceFailed if no server can
    be loaded, and HistoryNotWritten, with the run, if the finished run cannot be stored.
    """
    derived = derive(fabric)
    rdma = derived.fabric.rdma
    names = servers_of(derived, request)
    now = Load(named=names, begins=utc_now())
    load_verdict(LoadRules.of(rdma), now).refuse(derived.network.name)
    with (
        run_store.open_history(history_path, make=True) as past,
        open_fleet(derived.network, access) as nornir,
    ):
        run = request.run or new_id()
        probed = _server_probes(nornir, derived, names, request)
        with hold_servers(
            nornir, [n for n, p in probed.items() if p.host is not None], run
        ) as hold:
            busy = hold.refused
            plan = _plan(derived, request, probed, busy)
            for line in _beginning(run, plan):
                talk.say(line)
            terms = RunConditions(
                rdma,
                run,
                access.speed_note,
                talk.stopped,
                request.deadline_s,
                hold.lost,
                cable_control(plan, access, talk.say, talk.stopped),
                path_control(plan, access),
            )
            servers = tuple(host.name for host in plan.hosts)
            recorder = RunRecorder(
                nornir,
                RecordedFabric.of(derived),
                servers,
                leaves_and_spines(derived.network, servers) if request.switches else (),
                access.command_timeout_s,
                emulated=access.emulated,
                plan=request.plan,
            )
            result, raw = _PreparedRun(nornir, derived, plan, recorder).carry_out(terms, talk.say)
            facts = conditions([probed[host.name] for host in plan.hosts])
            facts |= result.record.conditions if result.record is not None else {}
            facts |= {"servers": access.speed_note} if access.speed_note else {}
            lacking = _useless(probed, busy)
            result = result.model_copy(update={"conditions": facts, "unmeasured": lacking})
        judged = verdicts(derived.network, rdma, result, past.good(result))
        result = result.model_copy(
            update={"judged": (*judged, *result.judged), "spreads": figure_spreads(result)}
        )
        try:
            past.keep(result, raw)
        except ServiceFailed as error:
            raise HistoryNotWritten(error, result) from None
    return result


def new_id() -> str:
    """Return an unused run id: time and random digits."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _server_probes(
    nornir: Nornir, derived: DerivedNetwork, names: Sequence[str], request: RdmaRequest
) -> dict[str, ServerProbe]:
    require_credentials(nornir, names)
    servers = [server for server in derived.network.servers or () if server.name in names]
    probed = probe(nornir, servers, perftest=request.suite not in WITHOUT_PERFTEST)
    load = Load(named=names, undrained=undrained(probed.values(), request.drained))
    load_verdict(LoadRules.of(derived.fabric.rdma), load).refuse(derived.network.name)
    return probed


def _useless(probed: dict[str, ServerProbe], busy: dict[str, str]) -> tuple[str, ...]:
    """Return the reason for each server that is left out."""
    return (*(each.why for each in probed.values() if each.host is None), *busy.values())


def _plan(
    derived: DerivedNetwork,
    request: RdmaRequest,
    probed: dict[str, ServerProbe],
    busy: dict[str, str],
) -> RdmaPlan:
    """Return the plan of the servers that can measure; raises DeviceFailed if too few remain."""
    hosts = [p.host for p in probed.values() if p.host is not None and p.server not in busy]
    network, rdma = derived.network, derived.fabric.rdma
    try:
        plan = plan_suite(network, rdma, request.suite, hosts, request.options)
    except BadInput as error:
        lacking = _useless(probed, busy)
        if not lacking:
            raise
        problems = [Problem("", sentence) for sentence in lacking]
        raise DeviceFailed(problems=[*problems, *error.problems]) from None
    notes = [note for each in probed.values() for note in each.notes]
    untried = untried_versions({host.name: host.perftest or "" for host in hosts})
    return plan.model_copy(update={"notes": (*plan.notes, *notes, *untried)})


def _beginning(run: str, plan: RdmaPlan) -> list[str]:
    seconds = plan.least_seconds
    lines = [f"run {run}: {len(plan.runs)} runs in {len(plan.rounds)} rounds, {seconds} s at least"]
    lines += untried_versions({host.name: host.perftest or "" for host in plan.hosts})
    for each in plan.rounds:
        if each.cable_by == "person":
            links = listing(each.fault_links)
            when = f"after {each.cable_at_s} s, at a message here, take {links} away"
            lines.append(f"round {each.number}: {when}")
        elif each.fault and each.cable_by is None:
            links = " or ".join(each.fault_links)
            lines.append(f"round {each.number}: {each.fault}: take {links} down while it runs")
    return lines


@dataclass(frozen=True)
class _PreparedRun:
    """A plan with its servers, and the recorder of its run."""

    nornir: Nornir
    derived: DerivedNetwork
    plan: RdmaPlan
    recorder: RunRecorder

    def carry_out(self, terms: RunConditions, say: Say) -> tuple[RdmaResult, list[RawEnd]]:
        """Execute all rounds between the two readings of the record."""
        begun = self.recorder.begin()
        began, measurements, raw = datetime.now(UTC), list[Measurement](), list[RawEnd]()
        for each, rans in execute(self.nornir, self.plan, terms):
            say(_round_line(each, self.plan, rans))
            measurements += [ran.measurement for ran in rans]
            raw += [end for ran in rans for end in ran.raw]
        ended = datetime.now(UTC)
        record = self.recorder.end(begun)
        seconds = (ended - began).total_seconds()
        result = RdmaResult(
            id=terms.run,
            plan=self.plan,
            began=began,
            ended=ended,
            measurements=tuple(measurements),
            cables=tuple(terms.events),
            judged=tuple(_counter_verdicts(self.derived, record.before, record.after, seconds)),
            record=record,
        )
        return result, raw


def _round_line(each: Round, plan: RdmaPlan, rans: Sequence[RunResult]) -> str:
    measured = sum(ran.measurement.value is not None for ran in rans)
    lost = "" if measured == len(rans) else f", {len(rans) - measured} not measured"
    again = f", repetition {each.repetition} of {plan.repeat}" if plan.repeat > 1 else ""
    title = f"round {each.number} of {len(plan.rounds)}{again}"
    return f"{title}: {each.note or 'runs'}: {measured} measured{lost}"


def _counter_verdicts(
    derived: DerivedNetwork, before: CounterReading, after: CounterReading, seconds: float
) -> list[DerivedVerdict]:
    lossless, limit_pps = derived.network.lossless, derived.fabric.rdma.pause_rate_pps
    lacking = dict.fromkeys((*before.unread, *after.unread))
    verdicts_of_counters = [
        DerivedVerdict(subject="counters", ok=None, sentence=sentence) for sentence in lacking
    ]
    if lossless is None:
        return verdicts_of_counters
    queue = lossless.queue  # of every switch: rule QOS005
    verdicts_of_counters += judge_nics(before.nics, after.nics, seconds, queue, limit_pps)
    verdicts_of_counters += judge_switches(
        before.switches, after.switches, seconds, queue, limit_pps
    )
    return verdicts_of_counters


def stop_everything(
    fabric: Path, access: Connections, servers: Sequence[str]
) -> tuple[EndedProcesses, ...]:
    """End all processes of runs on servers that can be logged in to; by default on all of them."""
    network = derive(fabric).network
    accessible = [server.name for server in access.servers]
    problems = [
        Problem(
            "--servers",
            f"no entry for {name} in {access.file_name}",
            nearest(name, accessible),
        )
        for name in servers
        if name not in accessible
    ]
    if problems:
        raise BadInput(problems=problems)
    with open_fleet(network, access) as nornir:
        return stop_all(nornir, [name for name in accessible if name in servers or not servers])


def leaves_and_spines(network: Network, servers: Sequence[str]) -> tuple[str, ...]:
    """Return the switches that traffic between these servers may use."""
    leaves = {s.port.device for s in network.servers or () if s.name in servers}
    met = {
        end.device
        for link in network.links or ()
        for here, end in ((link.a, link.b), (link.b, link.a))
        if here.device in leaves
    }
    across = met if len(leaves) > 1 else set()
    return tuple(node.name for node in network.nodes if node.name in leaves | across)
