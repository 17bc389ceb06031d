"""Live checks of waves, against the configuration intended for every switch at that moment."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from rocefort.base.clock import utc_now
from rocefort.models.network.network import Network
from rocefort.models.network.observed import DeviceSeen, Observed
from rocefort.models.wording import count_of
from rocefort.rollout.journal.history import AFTER, BEFORE
from rocefort.rollout.live.checks import IntendedFabric, LiveChecks, LiveResult, with_neighbours
from rocefort.rollout.live.readings import as_beside

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
