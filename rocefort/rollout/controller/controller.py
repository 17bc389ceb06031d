"""Controller loop of a rollout: observe, decide, record the intent, act, record the result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from rocefort.base.errors import DeviceFailed, ExitCode, Refused, RocefortError
from rocefort.base.secret_masking import masked
from rocefort.dialects.words import in_words
from rocefort.models.change.plan import Wave, longest_soak_s
from rocefort.rollout import operator
from rocefort.rollout.controller import durations, outcome, requests
from rocefort.rollout.controller.config import RolloutConfig
from rocefort.rollout.controller.device_state import DeviceState
from rocefort.rollout.controller.durations import result_within
from rocefort.rollout.controller.next_action import (
    Action,
    AwaitApproval,
    AwaitTrials,
    FailWave,
    RolloutState,
    RunActs,
    RunChecks,
    RunGate,
    next_action,
    table,
)
from rocefort.rollout.controller.outcome import (
    failure_event,
    hold_event,
    interruption,
    outside_note,
    permissions,
    result_event,
    shown_error,
    wait_event,
    window_event,
)
from rocefort.rollout.controller.protocols import Outcome, WaveGate
from rocefort.rollout.journal.events import (
    Act,
    ActPhase,
    ApplyRules,
    ApprovalEvent,
    Event,
    HealthEvent,
    OperatorRequest,
    RolloutOutcome,
    RunEnded,
    RunResumed,
    RunStarted,
    StepEvent,
    SwitchState,
    TrialOwner,
)
from rocefort.rollout.journal.history import AFTER, BEFORE, FINISHED, RunHistory, history_of
from rocefort.rollout.journal.journal import JournalFailed
from rocefort.rollout.journal.pending_trials import PendingTrial

BaselineData = Mapping[str, Mapping[str, Any]]  # by device, the results of its precheck
LOOK_S = 60.0  # between two looks at trials that are waited for
SLICE_S = 2.0  # the longest delay before a wait notices a request to stop
T = TypeVar("T")


class RolloutLoop:
    """The loop of one controller process.

    observed: last reported state of each switch of the plan. history: the run up to now.
    """

    def __init__(self, config: RolloutConfig) -> None:
        self.config, self.plan, self.switches = config, config.plan, config.switches
        self.observed: dict[str, SwitchState] = {}
        self.history = RunHistory()
        self._listeners = config.listeners
        self._approval_timeout_s = config.options.approval_timeout_s
        self._exception: BaseException | None = None  # a defect, or the end of this process
        self._defect = ""  # as one sentence, reported after the wave is rolled back
        self._journal_failed = False  # the journal failed once
        self._stale_requests = frozenset[int]()  # requests made to an earlier run
        self._observed_at = 0.0  # timestamp of the last observation
        self._awaited = ""  # the wave whose approval the journal reports as awaited

    def run(self) -> RolloutOutcome:
        """Apply all waves; the first failure rolls back its wave and stops the rollout."""
        self.history = self._begin()
        try:
            if self.config.options.resume:
                self._record_resume()
            self._observe(self.plan.waves)
            if not self.config.options.resume:
                self.config.check_plan(self.observed)
                for note in self.config.notes():
                    self._record(StepEvent(act="note", phase=ActPhase.DONE, detail=note))
            for permission in permissions(self.config.options):
                self._record(permission)
            applied = self._loop()
        except JournalFailed as error:
            applied = self._completed(outcome.cut_short(self._table, error))
        except Exception as error:
            if not self.history.failure:
                raise
            applied = self._completed(outcome.cut_short(self._table, shown_error(error)))
        if self._exception and not self._defect:
            raise self._exception
        return applied

    def _begin(self) -> RunHistory:
        if self.config.options.resume:
            return history_of(self.config.journal.events())
        self._stale_requests = frozenset(
            request.number for request in self.config.journal.requests()
        )
        sizes = (len(wave.devices) for wave in self.plan.waves)
        rules = self.config.rules or ApplyRules(max(sizes, default=0))
        return RunHistory(rules=replace(rules, live=self.config.live is not None))

    def _loop(self) -> RolloutOutcome:
        while True:
            try:
                self._take_requests()
                action = next_action(self.plan, self.history, self.observed, self.config.guards)
                if applied := self._carry_out(action):
                    return applied
            except JournalFailed as error:
                if self._journal_failed:
                    raise
                self._journal_failed = (
                    True  # no act without a record, but a rollback may still work
                )
                self._fail(str(error), error.exit_code)
            except RocefortError as error:
                if self.history.failure:  # the rollback would fail for ever
                    raise
                self._fail(str(error), error.exit_code)
            except BaseException as error:  # a defect: trials must not wait for it
                if self._exception:
                    raise
                self._exception, self._listeners = error, ()  # one of them may be the cause
                if isinstance(error, Exception):
                    self._defect = str(shown_error(error))
                text = f"wave {self._wave}: {self._defect or 'the controller ends'}"
                self._fail(text, ExitCode.INTERNAL)

    def _take_requests(self) -> None:
        """Record requests of other processes, expired approvals, and an interruption."""
        for request in self.config.journal.requests():
            self._take_request(request)
        for event in requests.expired(self.history, self.config.now()):
            self._record(event)
        if self.config.stop() and not self.history.failure and (wave := self._wave):
            text = f"{interruption(self._table, wave)}; {self.config.options.resume_hint}"
            self._record(failure_event("stop", wave, text, ExitCode.STOPPED))

    def _take_request(self, request: OperatorRequest) -> None:
        author = f"by {request.by}"
        if request.number in self._stale_requests:
            late = f"{request.kind} {author}, meant for an earlier run"
            ignored = StepEvent(act="ignored", wave=request.wave, phase=ActPhase.DONE, detail=late)
            self._record(ignored, request)
        elif request.kind == "pause":
            paused = StepEvent(act="pause", phase=ActPhase.DONE, detail=request.by)
            self._record(paused, request)
        elif request.kind == "approve":
            now = self.config.now()
            self._record(requests.approval_event(request, self.plan, self.history, now), request)
        elif not self.history.failure and (wave := self._wave):
            text = f"wave {wave}: aborted as requested {author}"
            self._record(failure_event("stop", wave, text, ExitCode.STOPPED), request)

    def _carry_out(self, action: Action) -> RolloutOutcome | None:
        """Carry out an action; returns the outcome of the rollout if the action ends it."""
        match action:
            case RunActs():
                self._do(action)
            case RunChecks():
                self._watch(action)
            case RunGate(wave):
                self._measure(next(each for each in self.plan.waves if each.name == wave))
            case AwaitTrials():
                return self._wait(action)
            case FailWave(wave, troubles):
                for device, trouble in troubles:
                    self._record(failure_event("fault", wave, trouble.text, trouble.code, device))
            case AwaitApproval(wave, outside) if self._patient(wave, outside):
                pass
            case _:
                if event := hold_event(action):
                    self._record(event)
                return self._ended(action)
        return None

    # --- acts -------------------------------------------------------------------------------------

    def _do(self, action: RunActs) -> None:
        states = {device.name: device for device in self._table.of(action.wave)}
        devices = [states[name] for name in action.devices]
        if action.act is Act.PRECHECK and not any(each.mid_drain for each in devices):
            wave = self._wave_of(action.wave)
            if step := window_event(self.config.guards.windows, wave, self.history):
                self._record(step)
        for each in devices:
            self._record(each.event(action.act, devices))
        outcome, baselines = self._call(action.act, devices)
        self._observe([self._wave_of(action.wave)])
        for each in devices:
            event = each.event(action.act).like(**baselines.get(each.name, {}), phase=ActPhase.DONE)
            if action.act is Act.TRIAL:
                event = event.like(trial_id=self.observed[each.name].trial_id)
            seen = self.observed[each.name]
            self._record(result_event(event, each, seen, outcome.get(each.name)))

    def _call(self, act: Act, devices: Sequence[DeviceState]) -> tuple[Outcome, BaselineData]:
        changes = [each.change for each in devices]
        words = {each.name: each.word for each in devices}
        before = {each.name: each.progress.before for each in devices}
        calls: dict[Act, Callable[[], Outcome]] = {
            Act.LOAD: lambda: self.switches.load(changes),
            Act.TRIAL: lambda: self.switches.trial(changes, self.plan.trial_length, words),
            Act.CHECK: lambda: self.switches.check(changes, before),
            Act.SOAK: lambda: self._soak(devices),
            Act.CONFIRM: lambda: self.switches.confirm(changes, before),
            Act.SAVE: lambda: self.switches.save(changes),
            Act.ABORT: lambda: self.switches.abort(changes),
        }
        if act is Act.PRECHECK:
            return self._precheck(devices)
        return calls[act](), {}

    def _precheck(self, devices: Sequence[DeviceState]) -> tuple[Outcome, BaselineData]:
        """Store the running configuration and the sessions before the first change."""
        outcome, baselines = {}, {}
        for device, baseline in self.switches.precheck([each.change for each in devices]).items():
            if isinstance(baseline, RocefortError):
                outcome[device] = baseline
                continue
            running, sessions = (
                self.config.texts.keep(baseline.text),
                tuple(sorted(baseline.established)),
            )
            baselines[device] = {"running": running, "established": sessions}
        return outcome, baselines

    def _soak(self, devices: Sequence[DeviceState]) -> Outcome:
        """Wait until the trials have run for their soak time.

        The timers of the trials on the switches count, not the clock of this machine.
        """
        wave = self._wave_of(devices[0].wave)
        self._observe([wave])
        begun = {each.name: self.observed[each.name].left_s or 0 for each in devices}
        short = durations.too_short(devices, begun)
        seconds = longest_soak_s(each.change for each in devices)
        left_s = 0.0 if short else float(seconds)
        while left_s > 0:
            until = self.config.monotonic() + left_s
            while (wait := until - self.config.monotonic()) > 0:
                self.config.sleep(min(SLICE_S, wait))
                self._take_requests()
                if self.history.failure and not devices[0].step.back:  # stopped meanwhile
                    return {d.name: DeviceFailed("did not soak", where=d.name) for d in devices}
            self._observe([wave])
            left_s = max(
                seconds - durations.ran_s(self.observed[name], remaining_s)
                for name, remaining_s in begun.items()
            )
        return short

    def _measure(self, wave: Wave) -> None:
        """Run the gate of a wave.

        Skip it if the plan lists only pairs that cannot be measured, or if its servers may not be
        loaded now and an operator permits the wave without it. Raises Refused without that word.
        """
        gate, passed, messages, refusal = wave.gate, True, [], ""
        if gate.pairs:
            ask = partial(self.config.guards.load, wave, begun=True)
            refusal = self._in_time(wave, "the RDMA gate", ask)
        if refusal and not self.history.unmeasured:
            where = f"wave {wave.name}: its RDMA gate did not begin"
            raise Refused(refusal, where=where, how="apply the plan again when it may run")
        begun = StepEvent(act="gate", wave=wave.name, phase=ActPhase.INTENT)
        self._record(begun)
        if refusal:
            messages = [f"not run, as permitted {self.history.unmeasured}: {refusal}"]
        elif gate.pairs or not gate.skipped:
            left_s, devices = self._left_s(wave), self._table.of(wave.name)
            asked = WaveGate(wave, durations.gate_left_s(left_s, devices, self.config.scale))
            verdict = self._in_time(wave, "the RDMA gate", lambda: self.config.run_gate(asked))
            passed, messages = verdict.passed, [verdict.summary]
        if gate.skipped:
            messages.append(gate.skipped)
        self._observe([wave])
        summary = "; ".join(messages)
        if passed:
            self._record(begun.like(phase=ActPhase.DONE, detail=summary))
            return
        failed = f"wave {wave.name}: the RDMA gate failed: {summary}"
        self._record(begun.like(phase=ActPhase.FAILED, detail=failed, code=3))

    def _watch(self, action: RunChecks) -> None:
        """Run the live checks; the journal has their results before the wave's trials expire."""
        wave, when = self._wave_of(action.wave), action.when
        live_checks, rules = self.config.live, self.history.rules
        if live_checks is None:
            raise Refused("its live checks are not available", where=f"wave {wave.name}")
        begun = HealthEvent(wave=wave.name, phase=ActPhase.INTENT, when=when)
        self._record(begun)
        sick = rules is not None and rules.allow_sick
        verdict = self._in_time(
            wave, "the live check", lambda: live_checks(wave.devices, when, allow_sick=sick)
        )
        self._observe([wave])
        passed = ActPhase.DONE if verdict.passed else ActPhase.FAILED
        message = f"{when}: {verdict.summary}"
        if not verdict.passed:
            stays = "; it stays confirmed" if when == AFTER else ""
            message = (
                f"wave {wave.name}: the live checks {when} it failed: {verdict.summary}{stays}"
            )
        code = 0 if verdict.passed else 4 if when == BEFORE else 3
        self._record(begun.like(phase=passed, detail=message, code=code))

    def _in_time(self, wave: Wave, what: str, ask: Callable[[], T]) -> T:
        """Return a result in time to act on it; a later one is stopped and its sessions end."""
        left_s, config = self._left_s(wave), self.config
        seconds = None if left_s is None else left_s / config.scale
        return result_within(seconds, what, ask, config.end_checks)

    def _left_s(self, wave: Wave) -> float | None:
        """Seconds left of a wave's trials by the switches' clocks; None if no trial runs."""
        seen = [self.observed[name] for name in wave.devices]
        seconds = [each.left_s or 0 for each in seen if each.trial is TrialOwner.THIS_RUN]
        return min(seconds) - self.plan.margin_s if seconds else None

    def _wait(self, action: AwaitTrials) -> RolloutOutcome | None:
        """Wait until the switches have ended their trials; returns an outcome if it is interrupted.

        An interruption changes nothing: the trials end by their timers. One that came before, and
        for which the wave is rolled back, is no interruption of the wait.
        """
        wave, signals = self._wave_of(action.wave), self.config.stop()
        waiting = wait_event(action.wave)
        detail = outcome.pending_text(self._pending(action.devices))
        for device in action.devices:
            self._record(waiting.like(device=device, detail=detail))
        left_s, next_look_s = float(action.seconds + 1), action.seconds + 1 - LOOK_S
        while left_s > 0:
            if self.config.stop() > signals:
                pending = self._pending(action.devices)
                return self._completed(outcome.wait_interrupted(self._table, pending))
            self.config.sleep(min(SLICE_S, left_s))
            left_s -= SLICE_S
            if 0 < left_s <= next_look_s:
                next_look_s -= LOOK_S
                self._observe([wave])
                if all(self.observed[device].has_no_trial for device in action.devices):
                    break
                if progress := outcome.pending_text(self._pending(action.devices)):
                    self._tell(waiting.like(detail=f"waits: {progress}"))
        self._observe([wave])
        for device in action.devices:
            seen = self.observed[device]
            phase, text = (
                ActPhase.DONE if seen.has_no_trial else ActPhase.FAILED,
                outcome.state_message(seen),
            )
            self._record(waiting.like(device=device, phase=phase, detail=text))
        return None

    def _pending(self, devices: Iterable[str]) -> list[PendingTrial]:
        """Trials of some devices that may be of this run, by the last observation."""
        now = self.config.now().timestamp()
        since_s = (now - self._observed_at) * self.config.scale
        return outcome.pending_of(self._table, devices, now, self.config.scale, since_s)

    def _patient(self, wave: str, outside: str) -> bool:
        """Wait briefly for a wave's approval; the wave then begins with a new observation.

        outside: why a calendar holds the wave; empty: none does.
        """
        self._open()  # an approval is for a run, so there must be one
        request = ApprovalEvent(wave=wave, phase=ActPhase.INTENT)
        if self._approval_timeout_s <= 0:
            if self._awaited == wave:
                self._record(
                    request.like(phase=ActPhase.FAILED, detail=requests.NO_APPROVAL, code=4)
                )
            return False
        if self._awaited != wave:
            rules = self.history.rules or ApplyRules(0)
            text = requests.approval_prompt(
                rules, wave, self._approval_timeout_s, self.config.approve_with
            ) + outside_note(self.history, outside)
            self._record(request.like(detail=text))
            self._awaited = wave
        self._approval_timeout_s -= SLICE_S
        self.config.sleep(SLICE_S * self.config.scale)
        self._observe([self._wave_of(wave)])
        return True

    # --- state ------------------------------------------------------------------------------------

    @property
    def _table(self) -> RolloutState:
        return table(self.plan, self.history, self.observed)

    @property
    def _wave(self) -> str:
        focus = self._table.focus
        return focus[0].name if focus else ""

    def _wave_of(self, name: str) -> Wave:
        return next(wave for wave in self.plan.waves if wave.name == name)

    def _observe(self, waves: Sequence[Wave]) -> None:
        """Observe waves again, and the next wave too when they are complete."""
        changes = [self.plan.parts(wave, d) for wave in waves for d in wave.devices]
        self.observed.update(self.switches.observe(changes))
        self._observed_at = self.config.now().timestamp()
        names = {wave.name for wave in waves}
        if (focus := self._table.focus) and focus[0].name not in names:
            changes = [self.plan.parts(focus[0], d) for d in focus[0].devices]
            self.observed.update(self.switches.observe(changes))

    def _record_resume(self) -> None:
        """Record in the journal that another controller resumes, and the state of the switches."""
        self._mark(RunResumed(phase=ActPhase.INTENT, hosts=self.config.hosts, **self._process))
        self._observe(self.plan.waves)
        for device in self._table.devices:
            if device.touched:
                text = outcome.state_message(self.observed[device.name])
                name, wave = device.name, device.wave
                self._record(
                    StepEvent(act="found", wave=wave, device=name, phase=ActPhase.DONE, detail=text)
                )

    # --- events -----------------------------------------------------------------------------------

    def _record(self, event: Event, request: OperatorRequest | None = None) -> None:
        """Write an event to the journal, then to the history, then pass it to listeners."""
        self._open()
        event = event.like(detail=masked(event.detail))
        self.config.journal.append(event, request)
        self.history = self.history.after(event, self.config.now().timestamp())
        self._tell(event)

    def _tell(self, event: Event) -> None:
        for listener in self._listeners:
            listener(event)

    def _open(self) -> None:
        """Begin the run in the journal if it has not begun."""
        if not self.history.running:
            config, rules = self.config, self.history.rules or ApplyRules(0)
            which = {"run": config.run_id, "fabric": config.fabric, "hosts": config.hosts}
            self._mark(RunStarted(phase=ActPhase.INTENT, rules=rules, **which, **self._process))

    @property
    def _process(self) -> dict[str, Any]:
        by = {"tool": operator.release(), "host": operator.host(), "user": operator.user()}
        return {**by, "process": os.getpid(), "scale": self.config.scale}

    def _mark(self, event: RunStarted | RunResumed | RunEnded) -> None:
        """Begin, resume or end the run in the journal."""
        self.config.journal.append(event, None)
        self.history = self.history.after(event)

    def _fail(self, text: str, code: int) -> None:
        if self.history.failure:
            return  # it is being rolled back already
        self._record(failure_event("fault", self._wave, text, code))
        self._observe([self._wave_of(self._wave)] if self._wave else [])

    # --- outcome ----------------------------------------------------------------------------------

    def _ended(self, action: Action) -> RolloutOutcome:
        applied = self._completed(outcome.ending_of(self._table, action))
        if self.history.running and not applied.unfinished:
            how, code = applied.failure or FINISHED, applied.exit_code
            self._mark(RunEnded(phase=ActPhase.DONE, ended=how, code=code, **self._process))
        return applied

    def _completed(self, applied: RolloutOutcome) -> RolloutOutcome:
        """Outcome with the pending trials, and with an internal error whatever else failed."""
        texts = [
            trial.sentence for trial in self._pending(each.name for each in self._table.devices)
        ]
        applied = replace(applied, on_trial=tuple(map(in_words, texts)))
        if not self._defect:
            return applied
        failure = applied.failure
        if self._defect not in failure:
            failure = "; ".join(filter(None, (failure, self._defect)))
        return replace(applied, failure=failure, exit_code=ExitCode.INTERNAL)
