"""Steps of `tune measure`: the best candidates of a search, one trial each on the canary leaf.

A candidate is committed on trial, servers measure an incast to one of them behind the leaf, and the
trial is aborted. Its timer ends it without this process, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from math import ceil, exp, log
from pathlib import Path
from statistics import median
from uuid import uuid4

from nornir.core import Nornir

from rocefort.base.clock import Clock, utc_now
from rocefort.base.errors import BadInput, DeviceFailed, Refused, RocefortError
from rocefort.base.processes import stop_on_signals
from rocefort.base.progress import Step
from rocefort.change.edit import FabricFile, read_fabric, versions_of
from rocefort.change.effects.both_ends import refuse_two_sided
from rocefort.change.effects.switch_configs import sides_of
from rocefort.design.git_revisions import checked_out
from rocefort.design.load.documents import load_fabric
from rocefort.fleet.connections import Connections
from rocefort.fleet.nornir_session import open_fleet, require_credentials
from rocefort.fleet.switch_steps import collect_running
from rocefort.models.change.plan import Change, digest_of
from rocefort.models.fabric.trial_time import TrialLength
from rocefort.models.network.network import Network
from rocefort.models.network.observed import StateTopic
from rocefort.rdma.designed_plan import RdmaRequest, designed_plan
from rocefort.rdma.plan.load_rules import (
    Load,
    LoadRules,
    allowed_servers,
    load_verdict,
)
from rocefort.rdma.plan.site import RdmaPlanOptions
from rocefort.rdma.rdma_plan import RdmaPlan, Suite
from rocefort.rdma.results import RdmaResult
from rocefort.rdma.run_suite import HistoryNotWritten, RunDialogue, run_tests
from rocefort.rollout import operator
from rocefort.rollout.apply.operate import holding
from rocefort.rollout.controller.napalm_switches import NapalmSwitches
from rocefort.rollout.controller.protocols import Baseline
from rocefort.rollout.journal.events import RunningConfig, TrialOwner
from rocefort.rollout.journal.pending_trials import TrialLabel
from rocefort.rollout.live.readings import observe
from rocefort.rollout.plan.base_policy import file_in_git, newest
from rocefort.rollout.plan.procedures import refuse_beyond_trial
from rocefort.rollout.planning.lockout import refuse_lockout
from rocefort.rollout.planning.waves import LONGEST_TRIAL_S
from rocefort.tune.fabric_search import FabricSearch
from rocefort.tune.model import MeasuredFigures, MeasuredSearch, MeasuredTrial, Option
from rocefort.tune.run import Searched, SearchRequest, search
from rocefort.tune.search.objectives import GOODPUT, P50, P99, PAUSES, score
from rocefort.tune.trial_calendar import TrialCalendar, calendars_in_force
from rocefort.tune.write import REFUSAL, candidate, write_choice

TRIAL = "rocefort tune measure"
OUTSIDE = "--outside-window"
ROUND_S = 25.0  # to connect, start, end and read both ends of a round
LEAST_TRIAL_S = 60  # of `commit trial`, V300R023C00
RATES = {
    GOODPUT: "goodput_gbps",
    "median sender": "median_gbps",
    "slowest sender": "slowest_gbps",
}
PAUSES_SOFT = 10  # as the search's, so that one pause is not infinitely worse than none
NOT_MEASURED = (
    "the queue: perftest does not report it, and a switch only shows its length at one moment",
    "other leaves and the spines: they keep today's values, so only the leaf's last hop is tried",
    "DCQCN's and the storage's mixture of flows: the incast is of equal, long RDMA writes",
)
NO_HARDWARE = "because ECN and PFC act in switches and NICs, which are not here"
Say = Callable[[str], None]


@dataclass(frozen=True)
class MeasureRequest:
    """Request of measurements. minutes, trials: bounds of all measurements.

    outside: reason to measure although a calendar of the fabric holds it; empty: none.
    """

    search: SearchRequest
    servers: tuple[str, ...] = ()
    target: str | None = None
    trials: int = 5
    minutes: float = 30
    duration_s: int = 10
    history: Path = Path("tuning.db")
    write: bool = False
    outside: str = ""


def measure(request: MeasureRequest, access: Connections, say: Say) -> MeasuredSearch:
    """Search, then measure the best candidates; the canary leaf ends at the values it had.

    Raises Refused outside an approved window, while a calendar holds it, or if the leaf does not
    run the fabric; DeviceFailed if it does not return to the values that it had.
    """
    file = read_fabric(request.search.fabric or Path(), REFUSAL)
    window = approved_window(file)
    ready = _prepared(request, file, access)
    calendar = _calendar(file, ready, access)
    held = calendar.held(60 * request.minutes)
    if held and not request.outside:
        raise Refused(held, where=ready.canary, how=f"wait, or give a reason: {OUTSIDE} REASON")
    searched = search(request.search)
    own = searched.plan.fabric
    if own is None:
        raise BadInput("a search of scenarios has no canary leaf", how="name a fabric")
    with ExitStack() as opened:
        opened.enter_context(holding(access))
        stopped = opened.enter_context(stop_on_signals())
        fleet = opened.enter_context(open_fleet(file.start.network, access))
        require_credentials(fleet, [node.name for node in file.start.network.nodes])
        bench = _Bench(request, file, window, ready, calendar, access, fleet, stopped, say)
        bench.refuse_unlike()
        result = bench.result(searched, own)
    return written(searched, result) if request.write and result.chosen else result


def approved_window(file: FabricFile) -> str:
    """Return the window of trials; raises Refused without one, before its commit, or outside."""
    rules = LoadRules.of_tuning(file.loaded.fabric)
    window = rules.tuning_window
    where = f"{file.path}: rollout.tuning_window"
    if window is None:
        what = "the fabric approves no window in which thresholds are tried on switches"
        raise Refused(what, where=where, how="add it to the fabric, and have it reviewed")
    if file_in_git(file.path) and _committed_window(file.path) != window:
        raise Refused("the window is not committed", where=where, how="have it reviewed")
    load_verdict(rules, Load(begins=utc_now())).refuse(where)
    return window


def _committed_window(fabric: Path) -> str | None:
    committed = newest(fabric)
    if committed is None:
        return None
    with checked_out(committed) as checkout:
        return LoadRules.of_tuning(load_fabric(checkout.source).fabric).tuning_window


@dataclass(frozen=True)
class _Ready:
    """Servers of the measurements, and the plan of one of them."""

    canary: str
    names: tuple[str, ...]
    target: str
    plan: RdmaPlan


def _prepared(request: MeasureRequest, file: FabricFile, access: Connections) -> _Ready:
    """Choose the receiver behind the canary leaf; raises BadInput or Refused without one."""
    derived = file.start
    canary = derived.fabric.rollout.canary
    if canary in derived.network.own_lossless:
        own = derived.lossless_of(canary).name
        raise Refused(
            f"the canary leaf {canary} has a lossless profile of its own ({own}), and a search "
            "changes the fabric's",
            file=str(file.path),
            where="rollout.canary",
            how="name a leaf with the fabric's profile",
        )
    rules = LoadRules.of(derived.fabric.rdma)
    names = allowed_servers(derived.network, rules, request.servers)
    load_verdict(rules, Load(named=names, begins=utc_now())).refuse(derived.network.name)
    behind = [
        server
        for server in derived.network.servers or ()
        if server.name in names and server.roce and server.port.device == canary
    ]
    if request.target is not None:
        behind = [server for server in behind if server.name == request.target]
    if not behind:
        what = f"no server that may be loaded is behind the canary leaf {canary}"
        some = [s.name for s in derived.network.servers or () if s.port.device == canary]
        how = f"name one: --servers {some[0]},.." if some else "choose another rollout.canary"
        raise BadInput(what, where=str(file.path), how=how)
    target = request.target or max(behind, key=lambda server: server.flow_gbps).name
    plan = designed_plan(file.path, rdma_request(request, names, target))
    if missing := {*names} - {server.name for server in access.servers}:
        what = f"no entry for {', '.join(sorted(missing))} in {access.file_name}"
        raise BadInput(what, where="--servers", how="add it, or leave the server out")
    return _Ready(canary, names, target, plan)


def one_measurement_s(ready: _Ready) -> float:
    """Most time of one measurement, s of this machine."""
    return ready.plan.least_seconds + ROUND_S * len(ready.plan.rounds)


def timer_of(ready: _Ready, settle_s: float, time_scale: float) -> int:
    """Timer of a trial, s of the switch: a measurement, and the checks around it."""
    needed = one_measurement_s(ready) * time_scale + 2 * settle_s + LEAST_TRIAL_S
    return min(LONGEST_TRIAL_S, max(LEAST_TRIAL_S, ceil(needed)))


def _calendar(file: FabricFile, ready: _Ready, access: Connections) -> TrialCalendar:
    """Calendars that hold the measurements."""
    fabric, network = file.start.fabric, file.start.network
    calendars = calendars_in_force(file.path, fabric.rollout)
    timer_s = timer_of(ready, fabric.rollout.settle_s, access.time_scale) / access.time_scale
    return TrialCalendar(network, calendars, ready.canary, ready.plan, fabric.rdma, timer_s)


def rdma_request(request: MeasureRequest, names: tuple[str, ...], target: str) -> RdmaRequest:
    """Return the incast to the target."""
    options = RdmaPlanOptions(duration_s=request.duration_s, target=target)
    return RdmaRequest(Suite.INCAST, names, options)


@dataclass
class _Bench:
    """The canary leaf with its servers, during all measurements."""

    request: MeasureRequest
    file: FabricFile
    window: str
    ready: _Ready
    calendar: TrialCalendar
    access: Connections
    fleet: Nornir
    stopped: Callable[[], bool]
    say: Say
    running: dict[str, str] = field(default_factory=dict)
    until: datetime = field(init=False)
    switches: NapalmSwitches = field(init=False)

    def __post_init__(self) -> None:
        network = self.file.start.network
        label = TrialLabel(digest_of([TRIAL, network.name]), uuid4().hex)
        settle_s = self.file.start.fabric.rollout.settle_s
        clock = Clock(self.access.time_scale)
        self.switches = NapalmSwitches(self.fleet, network, label, {}, settle_s, clock)
        self.until = utc_now() + timedelta(minutes=self.request.minutes)

    @property
    def one_s(self) -> float:
        """Most time of one measurement, s of this machine."""
        return one_measurement_s(self.ready)

    @property
    def trial_s(self) -> int:
        """Timer of a trial, s of the switch."""
        settle_s = self.file.start.fabric.rollout.settle_s
        return timer_of(self.ready, settle_s, self.access.time_scale)

    def refuse_unlike(self) -> None:
        """Raise Refused if the leaf does not run what the fabric intends."""
        names = [node.name for node in self.file.start.network.nodes]
        self.running = collect_running(self.fleet, names)
        if not self._change(self.file.start.network).empty:
            what = "it does not run what the fabric intends"
            raise Refused(what, where=self.ready.canary, how="plan and apply the fabric first")

    def _change(self, network: Network) -> Change:
        sides = {each.node.name: each for each in sides_of(network, self.running)}
        chosen = {self.ready.canary: sides[self.ready.canary]}
        refuse_beyond_trial(network, chosen)
        refuse_two_sided(network, chosen)
        users = {device.name: device.user for device in self.access.devices}
        refuse_lockout(chosen.values(), users)
        return chosen[self.ready.canary].whole

    def result(self, searched: Searched, own: FabricSearch) -> MeasuredSearch:
        """Measure today's values, each candidate in its trial, and today's values again."""
        options = candidates(searched)[: self.request.trials]
        with Step("measure", len(options) + 2) as step:
            today = [self._today("today's values")]
            step.advance()
            trials = []
            for option in options:
                trials.append(self._trial(searched, own, option))
                step.advance()
            today.append(self._today("today's values, again"))
        return with_verdict(self._result(searched, today, trials), self.access.speed_note)

    def _result(
        self, searched: Searched, today: list[MeasuredTrial], trials: list[MeasuredTrial]
    ) -> MeasuredSearch:
        return MeasuredSearch(
            search=searched.result.search,
            objective=searched.result.objective,
            canary=self.ready.canary,
            target=self.ready.target,
            senders=tuple(name for name in self.ready.names if name != self.ready.target),
            window=self.window,
            outside=self.request.outside and f"by {operator.user()}: {self.request.outside}",
            trial_s=self.trial_s,
            today=tuple(today),
            trials=tuple(trials),
            noise_percent=None,
            chosen="",
            verdict="",
            not_measured=NOT_MEASURED,
            stopped=self.stopped(),
        )

    def _today(self, name: str) -> MeasuredTrial:
        problem = self._bound()
        return MeasuredTrial(name=name, values={}, problem=problem) if problem else self._run(name)

    def _bound(self) -> str:
        """Return why no further measurement begins; empty: it may."""
        ends = utc_now() + timedelta(seconds=self.one_s)
        if self.stopped():
            return "not begun: stopped"
        if ends > self.until:
            return f"not begun: it would end after {self.request.minutes:g} minutes"
        load = Load(named=self.ready.names, begins=utc_now(), lasts_s=self.one_s)
        closed = load_verdict(LoadRules.of_tuning(self.file.start.fabric), load).reason
        held = "" if self.request.outside else self.calendar.held(self.one_s)
        return f"not begun: {closed or held}" if closed or held else ""

    def _trial(self, searched: Searched, own: FabricSearch, option: Option) -> MeasuredTrial:
        """Measure a candidate on trial; the trial is aborted in any case."""
        bare = MeasuredTrial(name=option.name, values=option.values)
        if problem := self._bound():
            return bare.model_copy(update={"problem": problem})
        result = searched.result.model_copy(update={"chosen": option})
        versions = versions_of(self.file, lambda: candidate(self.file, own, result))
        try:
            versions.refuse(())
            change = self._change(versions.end.network)
        except RocefortError as error:
            return bare.model_copy(update={"problem": f"refused: {error.problem.what}"})
        if change.empty:
            return bare.model_copy(update={"problem": "the leaf has these values today"})
        try:
            return self._on_trial(change, bare)
        finally:
            self._end(change)

    def _on_trial(self, change: Change, bare: MeasuredTrial) -> MeasuredTrial:
        device = change.device
        before = self.switches.precheck([change])[device]
        if not isinstance(before, Baseline):
            return bare.model_copy(update={"problem": f"not tried: {before}"})
        sessions = {device: before.established}
        error = (
            self.switches.load([change]).get(device)
            or self.switches.trial(
                [change], TrialLength(self.trial_s, self.trial_s), {device: ""}
            ).get(device)
            or self.switches.check([change], sessions).get(device)
        )
        if error:
            return bare.model_copy(update={"problem": f"not tried: {error}"})
        self.say(f"{device} runs {bare.name} on trial, {self.trial_s} s at most")
        measured = self._run(bare.name)
        if ended := self.switches.check([change], sessions).get(device):
            return bare.model_copy(update={"problem": f"the trial did not last: {ended}"})
        return measured.model_copy(update={"values": bare.values})

    def _end(self, change: Change) -> None:
        """Abort the trial; raises DeviceFailed if the leaf does not run what it ran before."""
        self.switches.abort([change])
        state = self.switches.observe([[change]])[change.device]
        if state.runs is RunningConfig.BASELINE and state.trial is TrialOwner.NONE:
            return
        raise DeviceFailed(
            f"it does not run its old values again: {state.trouble or state.runs.value}",
            where=change.device,
            how=f"its trial's timer restores them within {self.trial_s} s; then plan the fabric",
        )

    def _run(self, name: str) -> MeasuredTrial:
        """Measure an incast."""
        request = rdma_request(self.request, self.ready.names, self.ready.target)
        talk = RunDialogue(lambda _: None, self.stopped)
        before = self._pauses()
        try:
            done = run_tests(self.file.path, self.access, request, self.request.history, talk)
        except HistoryNotWritten as error:
            done = error.result
        after = self._pauses()
        sent = after - before if before is not None and after is not None else None
        figures = figures_of(done, None if sent is None or sent < 0 else sent)
        problem = "" if figures else next(iter(_problems(done)), "not measured")
        return MeasuredTrial(name=name, values={}, run=done.id, figures=figures, problem=problem)

    def _pauses(self) -> int | None:
        """PFC frames that the leaf has sent in RoCE's queue."""
        network = self.file.start.network
        topic = StateTopic.PFC_COUNTERS
        (seen,) = observe(self.fleet, network, (self.ready.canary,), topics=(topic,)).devices
        rows = seen.whole(topic)
        lossless = network.lossless_of(self.ready.canary)
        if rows is None or lossless is None:
            return None
        sent = (row.tx_frames for row in rows if row.queue == lossless.queue)
        return int(sum(sent))


def candidates(searched: Searched) -> list[Option]:
    """Return candidates: the choice, the best for each objective, then the front.

    A choice with a fault, such as dropped packets, is none.
    """
    result = searched.result
    every = [result.chosen, *result.best.values(), *result.front]
    if result.verdict.fault:
        every = [option for option in every if option.settings != result.chosen.settings]
    return list({tuple(option.values.items()): option for option in reversed(every)}.values())[::-1]


def written(searched: Searched, result: MeasuredSearch) -> MeasuredSearch:
    """Write the measured choice into the fabric; other switches get it by `plan` and `apply`."""
    chosen = next(each for each in candidates(searched) if each.name == result.chosen)
    simulated = searched.result.model_copy(update={"chosen": chosen})
    done = write_choice(replace(searched, result=simulated), f", measured on {result.canary}")
    return result.model_copy(update={"written": done.written})


def figures_of(result: RdmaResult, pauses: int | None) -> MeasuredFigures | None:
    """Return the figures of an incast; None unless all its senders were measured."""
    last = {run.id for run in result.plan.rounds[-1].runs}
    rates = [m.figures.gbps for m in result.measurements if m.run.id in last and m.figures]
    known = [rate for rate in rates if rate is not None]
    if len(known) < len(last) or not min(known, default=0):
        return None
    return MeasuredFigures(
        goodput_gbps=sum(known), median_gbps=median(known), slowest_gbps=min(known), pauses=pauses
    )


def _problems(result: RdmaResult) -> Iterator[str]:
    yield from (m.sentence for m in result.measurements if m.figures is None)
    yield from result.unmeasured


def measured_ratios(own: MeasuredFigures, today: MeasuredFigures) -> dict[str, float | None]:
    """Return each figure by today's; None: today has no pauses, the candidate has."""
    out: dict[str, float | None] = {
        name: getattr(own, key) / getattr(today, key) for name, key in RATES.items()
    }
    if own.pauses is not None and today.pauses is not None:
        equal = 1.0 if own.pauses == 0 else None
        out[PAUSES] = own.pauses / today.pauses if today.pauses else equal
    return out


def measured_costs(own: MeasuredFigures, today: MeasuredFigures) -> dict[str, float]:
    """Return what the objective minimises of each goal, below 1 is better, as a search does."""
    out = {
        GOODPUT: today.goodput_gbps / own.goodput_gbps,
        P50: today.median_gbps / own.median_gbps,
        P99: today.slowest_gbps / own.slowest_gbps,
    }
    if own.pauses is not None and today.pauses is not None:
        out[PAUSES] = (own.pauses + PAUSES_SOFT) / (today.pauses + PAUSES_SOFT)
    return out


def with_verdict(result: MeasuredSearch, speed_note: str) -> MeasuredSearch:
    """Return the result with ratios and the choice: better by more than today's values vary."""
    before, after = (each.figures for each in result.today)
    if before is None:
        return result.model_copy(update={"verdict": "today's values were not measured"})
    trials = [
        trial.model_copy(update={"ratios": measured_ratios(trial.figures, before)})
        if trial.figures
        else trial
        for trial in result.trials
    ]
    again = measured_costs(after, before) if after else None
    noise = abs(score(again, result.objective)) if again else None
    update: dict[str, object] = {"trials": tuple(trials)}
    if noise is not None:
        update["noise_percent"] = round(100 * (exp(noise) - 1), 3)
    scored = {
        t.name: score(measured_costs(t.figures, before), result.objective)
        for t in trials
        if t.figures
    }
    best = min(scored, key=lambda name: scored[name], default="")
    if not best:
        update["verdict"] = "no candidate was measured"
    elif speed_note:
        update["verdict"] = f"nothing is chosen, {NO_HARDWARE}: {speed_note}"
    elif noise is None:
        update["verdict"] = "nothing is chosen: today's values were not measured again"
    elif scored[best] >= -noise - log(1.01):
        update["verdict"] = "no candidate is better by more than today's values vary, and 1 %"
    else:
        update |= {"chosen": best, "verdict": f"{best} is the best for {result.objective}"}
    return result.model_copy(update=update)
