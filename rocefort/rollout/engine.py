"""The rollout: observe, decide, write down what is meant, act, write down its result; again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import uuid4

from rocefort import internal_errors
from rocefort.clock import utc_now
from rocefort.errors import DeviceFailed, Refused, RocefortError, ServiceFailed
from rocefort.fleet.masking import masked
from rocefort.models.change import Plan, Wave, longest_soak_s
from rocefort.models.history import AFTER, BEFORE, FINISHED, History, history_of
from rocefort.models.rollout import (
    Act,
    ActEvent,
    Applied,
    ApprovalEvent,
    Event,
    HealthEvent,
    Phase,
    Request,
    Rules,
    RunEnded,
    RunResumed,
    Runs,
    RunStarted,
    Seen,
    StepEvent,
    Trouble,
    Whose,
)
from rocefort.rollout import approvals, endings, who
from rocefort.rollout.deadline import nothing, within
from rocefort.rollout.decide import (
    Action,
    Await,
    Do,
    Fault,
    Measure,
    Table,
    Wait,
    Watch,
    next_action,
    table,
)
from rocefort.rollout.journal import Journal, JournalFailed, Listener
from rocefort.rollout.ports import Outcome, RunGate, Switches, Texts, Verdict, Watching
from rocefort.rollout.stand import Device

Kept = Mapping[str, Mapping[str, Any]]  # by device, what a precheck found there
APPLY_AGAIN = "apply the plan again to go on"
SLICE_S = 2.0  # how long a wait is deaf to a wish to stop
ROUNDED_S = 1.0  # a switch shows whole seconds


def no_sleep(_seconds: float) -> None:
    """For a rollout that must not wait: it asks again at once."""


def believed(_observed: Mapping[str, Seen]) -> None:
    """For a plan that was checked before."""


@dataclass
class Rollout:
    """One life of a controller that carries out one plan.

    live: the live checks.
    The journal, then the listeners, hear of every act before and after it. stop: asked before
    every act; once it says yes, the wave under way is rolled back. resume: go on with the run that
    the journal holds. run_id: of a new run; switches are told it, too. fabric: digest under which
    the fabric is kept for who goes on with it. end_checks: takes its sessions from a live check or
    a gate that hangs, for good. patience_s: how long to wait for an approval. approve_with: the
    command that gives one, without its wave. break_glass: why waves go on without their approvals.
    sleep, monotonic: of the switches' time. again: what whoever interrupts it does to go on. now:
    by which approvals expire. check_plan: asked once by a new run before its first act.
    """

    plan: Plan
    switches: Switches
    run_gate: RunGate
    journal: Journal
    texts: Texts
    listeners: Sequence[Listener] = ()
    stop: Callable[[], bool] = lambda: False
    rules: Rules | None = None
    resume: bool = False
    run_id: str = field(default_factory=lambda: uuid4().hex)
    fabric: str = ""
    sleep: Callable[[float], None] = no_sleep
    monotonic: Callable[[], float] = time.monotonic
    scale: float = 1.0  # seconds of the switches, and of `sleep`, in one of this machine
    patience_s: float = 0.0
    approve_with: str = "rocefort approve PLAN"
    break_glass: str = ""
    again: str = APPLY_AGAIN
    now: Callable[[], datetime] = utc_now
    live: Watching | None = None
    end_checks: Callable[[], None] = nothing
    check_plan: Callable[[Mapping[str, Seen]], None] = believed
    observed: dict[str, Seen] = field(default_factory=dict)
    history: History = field(default_factory=History)
    _raised: BaseException | None = None  # a defect, or the end of this process
    _defect: str = ""  # as one sentence: told once the wave is back
    _spoilt: bool = False  # the journal failed once
    _late: frozenset[int] = frozenset()  # requests that were asked of an earlier run
    _awaited: str = ""  # the wave whose approval is waited for, once that was said

    def run(self) -> Applied:
        """Apply all waves; the first failure rolls its wave back and stops."""
        self.history = self._begin()
        try:
            if self.resume:
                self._take_up()
            self._observe(self.plan.waves)
            if not self.resume:
                self.check_plan(self.observed)
            if self.break_glass:
                detail = f"by {who.user()}: {self.break_glass}"
                self._say(StepEvent(act="break-glass", phase=Phase.DONE, detail=detail))
            applied = self._loop()
        except JournalFailed as error:
            applied = self._with_defect(endings.cut_short(self._table, error))
        except Exception as error:
            if not self.history.failure:
                raise
            applied = self._with_defect(endings.cut_short(self._table, _sentence_of(error)))
        if self._raised and not self._defect:
            raise self._raised
        return applied

    def _begin(self) -> History:
        if self.resume:
            return history_of(self.journal.events())
        self._late = frozenset(request.number for request in self.journal.requests())
        sizes = (len(wave.devices) for wave in self.plan.waves)
        rules = self.rules or Rules(max(sizes, default=0))
        return History(rules=replace(rules, live=self.live is not None))

    def _loop(self) -> Applied:
        while True:
            try:
                action = self._decided()
                if applied := self._carried_out(action):
                    return applied
            except JournalFailed as error:
                if self._spoilt:
                    raise
                self._spoilt = True  # no act without a record: but it may take the way back
                self._fail(str(error), error.exit_code)
            except RocefortError as error:
                if self.history.failure:  # the way back would fail for ever
                    raise
                self._fail(str(error), error.exit_code)
            except BaseException as error:  # a defect: trials need not wait for it
                if self._raised:
                    raise
                self._raised, self.listeners = error, ()  # one of them may be what failed
                if isinstance(error, Exception):
                    self._defect = str(_sentence_of(error))
                text = f"wave {self._wave}: {self._defect or 'the controller ends'}"
                self._fail(text, internal_errors.EXIT_CODE)

    def _decided(self) -> Action:
        self._hear()
        return next_action(self.plan, self.history, self.observed)

    def _hear(self) -> None:
        """Take up what others ask for, and the wish to stop."""
        for request in self.journal.requests():
            self._take(request)
        for event in approvals.expired(self.history, self.now()):
            self._say(event)
        if self.stop() and not self.history.failure and (wave := self._wave):
            self._say(self._stop(wave, f"wave {wave}: interrupted; {self.again}"))

    def _take(self, request: Request) -> None:
        told_by = f"by {request.by}"
        if request.number in self._late:
            late = f"{request.kind} {told_by}, asked of an earlier run"
            ignored = StepEvent(act="ignored", wave=request.wave, phase=Phase.DONE, detail=late)
            self._say(ignored, request)
        elif request.kind == "pause":
            paused = StepEvent(act="pause", phase=Phase.DONE, detail=request.by)
            self._say(paused, request)
        elif request.kind == "approve":
            self._say(approvals.judged(request, self.plan, self.history, self.now()), request)
        elif not self.history.failure and (wave := self._wave):
            self._say(self._stop(wave, f"wave {wave}: aborted {told_by}"), request)

    @staticmethod
    def _stop(wave: str, text: str) -> StepEvent:
        return StepEvent(act="stop", wave=wave, phase=Phase.FAILED, detail=text, code=3)

    def _carried_out(self, action: Action) -> Applied | None:
        """Do what was decided; how it ended, where it ends."""
        match action:
            case Do():
                self._do(action)
            case Watch():
                self._watch(action)
            case Measure(wave):
                self._measure(next(each for each in self.plan.waves if each.name == wave))
            case Wait():
                self._wait(action)
            case Fault(wave, troubles):
                for device, trouble in troubles:
                    self._say(_fault(wave, device, trouble))
            case Await(wave) if self._patient(wave):
                pass
            case _:
                return self._ended(action)
        return None

    # --- acts -------------------------------------------------------------------------------------

    def _do(self, action: Do) -> None:
        known = {device.name: device for device in self._table.of(action.wave)}
        devices = [known[name] for name in action.devices]
        for each in devices:
            self._say(_act(action.act, each).like(detail=_detail(action.act, each, devices)))
        outcome, kept = self._call(action.act, devices)
        self._observe([self._wave_of(action.wave)])
        for each in devices:
            event = _act(action.act, each).like(**kept.get(each.name, {}), phase=Phase.DONE)
            self._say(self._result(event, each, outcome.get(each.name)))

    def _call(self, act: Act, devices: Sequence[Device]) -> tuple[Outcome, Kept]:
        changes = [each.change for each in devices]
        words = {each.name: each.word for each in devices}
        before = {each.name: each.course.before for each in devices}
        calls: dict[Act, Callable[[], Outcome]] = {
            Act.LOAD: lambda: self.switches.load(changes),
            Act.TRIAL: lambda: self.switches.trial(changes, self.plan.trial_s, words),
            Act.CHECK: lambda: self.switches.check(changes, before),
            Act.SOAK: lambda: self._soak(devices),
            Act.CONFIRM: lambda: self.switches.confirm(changes, before),
            Act.SAVE: lambda: self.switches.save(changes),
            Act.ABORT: lambda: self.switches.abort(changes),
        }
        if act is Act.PRECHECK:
            return self._precheck(devices)
        return calls[act](), {}

    def _precheck(self, devices: Sequence[Device]) -> tuple[Outcome, Kept]:
        """Keep what runs before anything is done to it."""
        outcome, kept = {}, {}
        for device, found in self.switches.precheck([each.change for each in devices]).items():
            if isinstance(found, RocefortError):
                outcome[device] = found
                continue
            running, sessions = self.texts.keep(found.text), tuple(sorted(found.established))
            kept[device] = {"running": running, "established": sessions}
        return outcome, kept

    def _soak(self, devices: Sequence[Device]) -> Outcome:
        """Wait until what the change may break has had its time, which the switches prove.

        A trial's own timer counts: whatever this machine's clock says, it has run for so long.
        """
        wave = self._wave_of(devices[0].wave)
        self._observe([wave])
        begun = {each.name: self.observed[each.name].left_s or 0 for each in devices}
        outcome: dict[str, RocefortError] = {}
        for each in devices:
            left = begun[each.name]
            if left < each.rest_s:
                what = f"only {left} s are left of its trial, and {each.rest_s:.0f} s are needed"
                outcome[each.name] = DeviceFailed(f"{what} to soak", where=each.name)
        seconds = longest_soak_s(each.change for each in devices)
        left_s = 0.0 if outcome else float(seconds)
        while left_s > 0:
            until = self.monotonic() + left_s
            while (wait := until - self.monotonic()) > 0:
                self.sleep(min(SLICE_S, wait))
                self._hear()
                if self.history.failure and not devices[0].leg.back:  # somebody stops it
                    return {d.name: DeviceFailed("did not soak", where=d.name) for d in devices}
            self._observe([wave])
            left_s = max(seconds - self._ran_s(name, left) for name, left in begun.items())
        return outcome

    def _ran_s(self, device: str, left_s: int) -> float:
        """For how long a trial has run that had so much left; one that has ended is not waited for.

        Where nothing shows what is left now, it counts as not run.
        """
        now = self.observed[device]
        if now.trouble or now.trial is not Whose.OURS:
            return float("inf")
        return 0.0 if now.left_s is None else left_s - now.left_s + ROUNDED_S

    def _result(self, done: ActEvent, device: Device, error: RocefortError | None) -> ActEvent:
        if done.act is Act.ABORT:
            end = self._after_abort(device, error)
            phase = Phase.FAILED if end.code else Phase.DONE
            return done.like(phase=phase, detail=end.text, code=end.code)
        if error:
            return done.like(phase=Phase.FAILED, detail=str(error), code=error.exit_code)
        return done

    def _after_abort(self, device: Device, error: RocefortError | None) -> Trouble:
        """What an abort came to, as its switch says; code 0: it is old, or had been confirmed."""
        name, seen = device.name, self.observed[device.name]
        if seen.trouble:
            return seen.trouble
        if seen.maybe_ours:
            return Trouble(str(error or f"{name}: its trial is still pending"))
        if seen.runs is Runs.OTHER or seen.trial is Whose.FOREIGN:
            return Trouble(f"{name}: does not run what it ran before the change")
        if len(device.parts) > 1:
            behind = seen.at <= device.leg.part if device.leg.back else seen.at > device.leg.part
            return Trouble("was confirmed" if behind else "", 0)
        return Trouble("" if seen.runs is Runs.OLD else "was confirmed", 0)

    def _measure(self, wave: Wave) -> None:
        """Run the gate; one whose plan says that nothing can be measured there goes on without."""
        gate, passed, said = wave.gate, True, []
        begun = StepEvent(act="gate", wave=wave.name, phase=Phase.INTENT)
        self._say(begun)
        if gate.pairs or not gate.unmeasured:
            verdict = self._in_time(wave, "the RDMA gate", lambda: self.run_gate(gate))
            passed, said = verdict.passed, [verdict.summary]
        if gate.unmeasured:
            said.append(f"not measured: {', '.join(gate.unmeasured)}")
        self._observe([wave])
        summary = "; ".join(said)
        if passed:
            self._say(begun.like(phase=Phase.DONE, detail=summary))
            return
        failed = f"wave {wave.name}: the RDMA gate failed: {summary}"
        self._say(begun.like(phase=Phase.FAILED, detail=failed, code=3))

    def _watch(self, action: Watch) -> None:
        """Run the live checks; before the wave ends by itself what they found is in the journal."""
        wave, when = self._wave_of(action.wave), action.when
        asked, rules = self.live, self.history.rules
        if asked is None:
            raise Refused("its live checks are not at hand", where=f"wave {wave.name}")
        begun = HealthEvent(wave=wave.name, phase=Phase.INTENT, when=when)
        self._say(begun)
        sick = rules is not None and rules.allow_sick
        verdict = self._in_time(
            wave, "the live check", lambda: asked(wave.devices, when, allow_sick=sick)
        )
        self._observe([wave])
        passed = Phase.DONE if verdict.passed else Phase.FAILED
        said = f"{when}: {verdict.summary}"
        if not verdict.passed:
            stays = "; it stays confirmed" if when == AFTER else ""
            said = f"wave {wave.name}: the live checks {when} it failed: {verdict.summary}{stays}"
        code = 0 if verdict.passed else 4 if when == BEFORE else 3
        self._say(begun.like(phase=passed, detail=said, code=code))

    def _in_time(self, wave: Wave, what: str, ask: Callable[[], Verdict]) -> Verdict:
        """A verdict while there is time to act on it; after that nothing of it goes on."""
        left = self._left_s(wave)
        return within(None if left is None else left / self.scale, what, ask, self.end_checks)

    def _left_s(self, wave: Wave) -> float | None:
        """What the trials of a wave leave, by their switches' own clocks; None: none runs."""
        seen = [self.observed[name] for name in wave.devices]
        left = [each.left_s or 0 for each in seen if each.trial is Whose.OURS]
        return min(left) - self.plan.margin_s if left else None

    def _wait(self, action: Wait) -> None:
        for device in action.devices:
            detail = f"its trial ends in {action.seconds} s"
            self._say(_wait(action, device).like(detail=detail))
        left = float(action.seconds + 1)
        while left > 0 and (self.history.failure or not self.stop()):
            self.sleep(min(SLICE_S, left))
            left -= SLICE_S
        self._observe([self._wave_of(action.wave)])
        for device in action.devices:
            self._say(_wait(action, device).like(phase=Phase.DONE))

    def _patient(self, wave: str) -> bool:
        """Wait a little for the approval of a wave, which begins with a fresh look."""
        self._open()  # what is approved is a run
        request = ApprovalEvent(wave=wave, phase=Phase.INTENT)
        if self.patience_s <= 0:
            if self._awaited == wave:
                self._say(request.like(phase=Phase.FAILED, detail=approvals.RAN_OUT, code=4))
            return False
        if self._awaited != wave:
            rules = self.history.rules or Rules(0)
            text = approvals.awaited(rules, wave, self.patience_s, self.approve_with)
            self._say(request.like(detail=text))
            self._awaited = wave
        self.patience_s -= SLICE_S
        self.sleep(SLICE_S * self.scale)
        self._observe([self._wave_of(wave)])
        return True

    # --- what is known ----------------------------------------------------------------------------

    @property
    def _table(self) -> Table:
        return table(self.plan, self.history, self.observed)

    @property
    def _wave(self) -> str:
        focus = self._table.focus
        return focus[0].name if focus else ""

    def _wave_of(self, name: str) -> Wave:
        return next(wave for wave in self.plan.waves if wave.name == name)

    def _observe(self, waves: Sequence[Wave]) -> None:
        """Look at waves anew, and at the next one where they are done with."""
        ways = [self.plan.parts(wave, d) for wave in waves for d in wave.devices]
        self.observed.update(self.switches.observe(ways))
        names = {wave.name for wave in waves}
        if (focus := self._table.focus) and focus[0].name not in names:
            ways = [self.plan.parts(focus[0], d) for d in focus[0].devices]
            self.observed.update(self.switches.observe(ways))

    def _take_up(self) -> None:
        """Say in the journal that another controller goes on, and how it finds the switches."""
        self._mark(RunResumed(phase=Phase.INTENT, **self._process))
        self._observe(self.plan.waves)
        for device in self._table.devices:
            if device.touched:
                text = endings.found(self.observed[device.name])
                name, wave = device.name, device.wave
                self._say(
                    StepEvent(act="found", wave=wave, device=name, phase=Phase.DONE, detail=text)
                )

    # --- what is said -----------------------------------------------------------------------------

    def _say(self, event: Event, request: Request | None = None) -> None:
        """Make an event durable, then known, then heard."""
        self._open()
        event = event.like(detail=masked(event.detail))
        self.journal.append(event, request)
        self.history = self.history.after(event)
        for listener in self.listeners:
            listener(event)

    def _open(self) -> None:
        """Begin the run in the journal, where that is not done."""
        if not self.history.running:
            rules = self.history.rules or Rules(0)
            which = {"run": self.run_id, "fabric": self.fabric, "rules": rules}
            self._mark(RunStarted(phase=Phase.INTENT, **which, **self._process))

    @property
    def _process(self) -> dict[str, Any]:
        by = {"tool": who.release(), "host": who.host(), "user": who.user()}
        return {**by, "process": os.getpid(), "scale": self.scale}

    def _mark(self, event: RunStarted | RunResumed | RunEnded) -> None:
        """Begin, resume or end the run in the journal."""
        self.journal.append(event, None)
        self.history = self.history.after(event)

    def _fail(self, text: str, code: int) -> None:
        if self.history.failure:
            return  # on the way back already
        self._say(_fault(self._wave, "", Trouble(text, code)))
        self._observe([self._wave_of(self._wave)] if self._wave else [])

    # --- how it ends ------------------------------------------------------------------------------

    def _ended(self, action: Action) -> Applied:
        applied = self._with_defect(endings.ended(self._table, action))
        if self.history.running and not applied.unfinished:
            how, code = applied.failure or FINISHED, applied.exit_code
            self._mark(RunEnded(phase=Phase.DONE, ended=how, code=code, **self._process))
        return applied

    def _with_defect(self, applied: Applied) -> Applied:
        """How it ended; an internal error is told whatever else failed."""
        if not self._defect:
            return applied
        failure = applied.failure
        if self._defect not in failure:
            failure = "; ".join(filter(None, (failure, self._defect)))
        return replace(applied, failure=failure, exit_code=internal_errors.EXIT_CODE)


def _sentence_of(error: Exception) -> RocefortError:
    """An error as one that can be shown; the traceback of a defect is kept in a file."""
    if isinstance(error, RocefortError):
        return error
    what, how = internal_errors.told(error)
    return ServiceFailed(what, how=how)


def _detail(act: Act, device: Device, at_once: Sequence[Device]) -> str:
    """What people read of an act that begins: the leg of a drain, and how long all soak, and why.

    at_once: the devices that the act is for.
    """
    soaks = [(each.name, each.soak) for each in (device, *at_once) if each.soak]
    if act is not Act.SOAK or not soaks:
        return device.word
    name, soak = max(soaks, key=lambda each: each[1].seconds)
    whose = "" if name == device.name else f"{name}: "
    return ", ".join(filter(None, (device.word, f"{soak.seconds} s: {whose}{soak.why}")))


def _act(act: Act, device: Device) -> ActEvent:
    """An act that begins, on the leg that a device is on."""
    word, (part, back) = device.word, device.leg
    event = ActEvent(act=act, wave=device.wave, device=device.name, phase=Phase.INTENT, detail=word)
    return event.like(part=part, of=len(device.parts), back=back) if word else event


def _wait(wait: Wait, device: str) -> StepEvent:
    return StepEvent(act="wait", wave=wait.wave, device=device, phase=Phase.INTENT)


def _fault(wave: str, device: str, trouble: Trouble) -> StepEvent:
    return StepEvent(
        act="fault",
        wave=wave,
        device=device,
        phase=Phase.FAILED,
        detail=trouble.text,
        code=trouble.code,
    )
