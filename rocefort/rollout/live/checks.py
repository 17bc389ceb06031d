"""Live checks of a rollout: before, during and after each wave, against the intent of it.

Before a wave, the fabric around it must be healthy: an error on a switch of the wave or on a cabled
neighbour refuses the wave, unless the operator allows it. All errors from before the change are the
baseline: afterwards only *new* errors stop a wave.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_not
from types import MappingProxyType
from typing import Generic, TypeVar

from rocefort.base.clock import utc_now
from rocefort.base.errors import DeviceFailed, Refused, RocefortError
from rocefort.dialects.choose import dialect_of
from rocefort.models.fabric.trial_time import SETTLE_S
from rocefort.models.finding import Finding, Report, Severity, new_findings
from rocefort.models.network.network import Network, Node, Sources
from rocefort.models.network.observed import DeviceSeen, Observed
from rocefort.models.wording import count_of
from rocefort.rollout.journal.history import AFTER, BEFORE
from rocefort.rollout.live.readings import as_beside
from rocefort.validators.checks import check_live, rules
from rocefort.validators.rules.live.switch_readings import (
    HealthLimits,
    IntendedState,
    LiveSubject,
    SwitchReadings,
    intended_of,
)

Observe = Callable[[Sequence[str], Sequence[str]], Observed]  # all devices; neighbours of a change
IntendedOf = Callable[[Network], IntendedState]
Given = TypeVar("Given")
Got = TypeVar("Got")
NOT_DURING = ("LIV020",)  # a running trial is not saved, and must not be


class LatestResult(Generic[Given, Got]):
    """Cache of a function's last result, valid while its argument is the same object."""

    def __init__(self, ask: Callable[[Given], Got]) -> None:
        self._ask = ask
        self._known: tuple[Given, Got] | None = None

    def __call__(self, given: Given) -> Got:
        """Return the result, from the cache for the same object."""
        if self._known is None or self._known[0] is not given:
            self._known = given, self._ask(given)
        return self._known[1]


@dataclass(frozen=True)
class LiveResult:
    """Result of the live checks: a reading, all findings, and the errors that stop a wave."""

    observed: Observed
    report: Report
    new: tuple[Finding, ...]  # errors that are not in the baseline
    old: tuple[Finding, ...] = ()  # errors of the baseline: reported, but they stop nothing
    first: bool = True  # the baseline itself

    def refusal(self, *, allow_sick: bool = False) -> RocefortError | None:
        """Error that stops the wave: Refused before a change, DeviceFailed after one."""
        if not self.new or (self.first and allow_sick):
            return None
        count = count_of(len(self.new), "error" if self.first else "new error")
        first = self.new[0]
        what = f"{count} of the live checks, the first: {first.rule} {first.message}"
        if self.first:
            how = "fix it first (`rocefort health` lists all), or use `--allow-unhealthy`"
            return Refused(what, where=str(first.where), how=how)
        return DeviceFailed(what, where=str(first.where), how=first.hint)


@dataclass(frozen=True)
class LiveChecks:
    """Live checks of one rollout; call it with the devices of a wave and the baseline.

    network: the intended fabric *at this moment* (see `IntendedFabric`). settle_s: the longest time
    after a commit for sessions, LLDP and AI-ECN. The checks are repeated until no new error is
    left or the time is over. before: None before the wave; during and after it the result of that
    first call, evaluated against the fabric intended then.
    """

    observe: Observe
    sources: Sources | None = None
    limits: HealthLimits = field(default_factory=HealthLimits)
    settle_s: float = SETTLE_S
    pause_s: float = 1.0
    sleep: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic
    intended: IntendedOf = field(default_factory=lambda: LatestResult(intended_of))

    def __call__(
        self,
        network: Network,
        devices: Sequence[str],
        before: LiveResult | None = None,
        *,
        on_trial: bool = False,
        beside: Mapping[str, DeviceSeen] = MappingProxyType({}),
    ) -> LiveResult:
        """Read and check the devices and their neighbours.

        on_trial: during or after the wave, also without a baseline: a resuming controller has none,
        and then every error counts. beside: neighbours that were read just now.
        """
        late = on_trial or before is not None
        deadline = self.monotonic() + (self.settle_s if late else 0.0)
        while True:
            observed = self._read(network, devices, beside)
            result = self._live_result(network, observed, before, late=late)
            if not result.new or self.monotonic() >= deadline:
                return result
            self.sleep(self.pause_s)

    def _read(
        self, network: Network, devices: Sequence[str], beside: Mapping[str, DeviceSeen]
    ) -> Observed:
        names = with_neighbours(network, devices)
        recent = {name: beside[name] for name in names if name in beside and name not in devices}
        unread = [name for name in names if name not in recent]
        observed = self.observe(unread, [name for name in unread if name not in devices])
        seen = {**observed.by_name, **recent}
        return observed.model_copy(update={"devices": tuple(seen[name] for name in names)})

    def _live_result(
        self, network: Network, observed: Observed, before: LiveResult | None, *, late: bool
    ) -> LiveResult:
        run = rules(ignore=NOT_DURING if late else (), judges=LiveSubject)
        readings = SwitchReadings(observed, before.observed if before else None, self.limits)
        intended = self.intended(network)
        report = check_live(network, readings, self.sources, run=run, intended=intended)
        if before is None:
            return LiveResult(observed, report, new=errors_of(report), first=not late)
        new, old = new_errors(report, before.report)
        return LiveResult(observed, report, new, old, first=False)


def errors_of(report: Report) -> tuple[Finding, ...]:
    """Findings of severity error without a waiver."""
    return tuple(f for f in report.findings if f.severity is Severity.ERROR)


def new_errors(report: Report, baseline: Report) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Errors that are new since a baseline, and those of the baseline."""
    new = new_findings(report, baseline, Severity.ERROR)
    return new, tuple(finding for finding in errors_of(report) if finding not in new)


def with_neighbours(network: Network, devices: Sequence[str]) -> tuple[str, ...]:
    """Devices, and the switches at the other ends of their cables, in the network's order."""
    selected = set(devices)
    for link in network.links or ():
        ends = {link.a.device, link.b.device}
        selected |= ends if ends & set(devices) else set()
    return tuple(node.name for node in network.nodes if node.name in selected)


@dataclass
class IntendedFabric:
    """Intended fabric between two waves: an unchanged switch is intended to run its baseline.

    Each text is parsed once, and the Network object stays the same while no text changes.
    """

    network: Network  # intended at the end of the rollout
    _nodes: dict[str, tuple[str, Node]] = field(default_factory=dict)  # newest text and its Node
    _now: Network | None = None

    def __call__(self, running: Mapping[str, str], changed: Sequence[str] = ()) -> Network:
        """Return the Network. running: texts by switch; changed: switches that run their target."""
        nodes = tuple(
            node
            if node.name in changed or node.name not in running
            else self._running(node, running[node.name])
            for node in self.network.nodes
        )
        now = self._now
        if now is None or any(map(is_not, nodes, now.nodes)):
            now = self._now = self.network.model_copy(update={"nodes": nodes})
        return now

    def _running(self, node: Node, text: str) -> Node:
        cached = self._nodes.get(node.name)
        if cached is None or cached[0] != text:
            dialect = dialect_of(node)
            device = dialect.parse(text, f"{node.name} (running)").device
            cached = self._nodes[node.name] = text, node.model_copy(update={"device": device})
        return cached[1]


FRESH_S = 30.0  # the time in which sessions settle
NOTHING_BEFORE = "; nothing was read before the change, so every error counts as new"


@dataclass(frozen=True, slots=True)
class WaveVerdict:
    """Verdict of the live checks on a wave."""

    passed: bool
    summary: str


@dataclass
class WaveChecks:
    """Implementation of rocefort.rollout.controller.protocols.WaveWatch with a baseline per wave.

    running: newest running text of each switch of the plan. The controller has compared it with the
    plan in every state, so it is the intended one. The fabric does not count here, because a
    rollback plan leads away from it. others: running texts of unchanged switches; without a text
    the fabric's intent counts. leave: called before a wave with the switches whose sessions are
    still needed; other sessions may end.
    """

    network: Network
    checks: LiveChecks
    running: Callable[[], Mapping[str, str]]
    others: Callable[[Sequence[str]], Mapping[str, str]]
    leave: Callable[[Collection[str]], None] = field(default=lambda _: None)
    monotonic: Callable[[], float] = time.monotonic
    _meant: IntendedFabric = field(init=False)
    _unchanged: Mapping[str, str] | None = None
    _before: dict[tuple[str, ...], LiveResult] = field(default_factory=dict)
    _last: tuple[float, Observed] | None = None  # begin and reading after a wave

    def __post_init__(self) -> None:
        self._meant = IntendedFabric(self.network)

    def _texts(self) -> dict[str, str]:
        running = self.running()
        if self._unchanged is None:
            names = [node.name for node in self.network.nodes if node.name not in running]
            self._unchanged = self.others(names) if names else {}
        return {**self._unchanged, **running}

    def _just_read(self, now: float) -> dict[str, DeviceSeen]:
        """Reading after the last wave: no switch has changed since then.

        It is used for neighbours of the next wave only, and for a short time. It is not used if
        this machine's clock was set since then, because the readings contain offsets from it.
        """
        if self._last is None or now - self._last[0] > FRESH_S:
            return {}
        if not 0 <= (utc_now() - self._last[1].at).total_seconds() <= FRESH_S:
            return {}
        devices = self._last[1].devices
        return {seen.name: as_beside(seen) for seen in devices if not seen.failed}

    def __call__(self, devices: Sequence[str], when: str, *, allow_sick: bool) -> WaveVerdict:
        """Read and check a wave's switches and their neighbours."""
        began, wave = self.monotonic(), tuple(devices)
        network = self._meant(self._texts())
        baseline = None if when == BEFORE else self._before.get(wave)
        beside = self._just_read(began) if when == BEFORE else {}
        self.leave(with_neighbours(network, devices))
        result = self.checks(network, devices, baseline, on_trial=when != BEFORE, beside=beside)
        self._last = (began, result.observed) if when == AFTER else None
        if when == BEFORE:
            self._before[wave] = result
        if when == AFTER:
            self._before.pop(wave, None)
        summary = count_of(len(result.observed.devices), "switch") + " read"
        alone = NOTHING_BEFORE if when != BEFORE and baseline is None else ""
        if refusal := result.refusal(allow_sick=allow_sick):
            return WaveVerdict(passed=False, summary=f"{refusal}{alone}")
        old_errors = count_of(len(result.old or result.new), "error")
        sick = f", {old_errors} that {'were' if old_errors[:2] != '1 ' else 'was'} there before"
        return WaveVerdict(
            passed=True, summary=summary + (sick if result.old or result.new else "")
        )
