"""Live checks of a rollout as one callable: before, during and after a wave.

Before a wave, the fabric around it must be healthy: an error on a switch of the wave or on a cabled
neighbour refuses the wave, unless the operator allows it. All errors from before the change are the
baseline: afterwards only *new* errors stop a wave.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_not
from types import MappingProxyType
from typing import Generic, TypeVar

from rocefort.base.errors import DeviceFailed, Refused, RocefortError
from rocefort.dialects.choose import dialect_of
from rocefort.models.fabric.trial_time import SETTLE_S
from rocefort.models.finding import Finding, Report, Severity, new_findings
from rocefort.models.network.network import Network, Node, Sources
from rocefort.models.network.observed import DeviceSeen, Observed
from rocefort.models.wording import count_of
from rocefort.validators.checks import check_live, rules
from rocefort.validators.rules.live.subject import (
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
