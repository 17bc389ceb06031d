"""The live checks of a rollout, judged against what every switch is meant to run at that moment."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from rocefort.clock import utc_now
from rocefort.models.network.network import Network
from rocefort.models.network.observed import DeviceSeen, Observed
from rocefort.models.rollout.history import AFTER, BEFORE
from rocefort.models.wording import count_of
from rocefort.rollout.live.checks import IntendedFabric, LiveChecks, LiveResult, with_neighbours
from rocefort.rollout.live.readings import as_beside

FRESH_S = 30.0  # as long as sessions may take to settle
NOTHING_BEFORE = "; nothing was read before the change, so every error counts as new"


@dataclass(frozen=True, slots=True)
class WaveVerdict:
    """What the live checks say of a wave."""

    passed: bool
    summary: str


@dataclass
class WaveChecks:
    """Implements rocefort.rollout.controller.protocols.WaveWatch; remembers what was there before
    each wave.

    running: what each switch of the plan ran when it was observed last. That was compared with the
    plan by then, whatever state of its way the switch is in, so it is what is meant; the fabric
    is not asked, for a plan back leads away from it. others: what switches run that nobody changes;
    one that gives no text is taken to run what the fabric intends. leave: told whose sessions are
    needed on, before a wave; the others' may end.
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
    _last: tuple[float, Observed] | None = None  # after a wave, and when that reading began

    def __post_init__(self) -> None:
        self._meant = IntendedFabric(self.network)

    def _texts(self) -> dict[str, str]:
        running = self.running()
        if self._unchanged is None:
            names = [node.name for node in self.network.nodes if node.name not in running]
            self._unchanged = self.others(names) if names else {}
        return {**self._unchanged, **running}

    def _just_read(self, now: float) -> dict[str, DeviceSeen]:
        """What the reading after the last wave said: nothing was done to any switch since then.

        Only of switches beside the next wave, as far as such are read at all, and not for long;
        nothing where this machine's clock was set since, for it was what their clocks differ from.
        """
        if self._last is None or now - self._last[0] > FRESH_S:
            return {}
        if not 0 <= (utc_now() - self._last[1].at).total_seconds() <= FRESH_S:
            return {}
        devices = self._last[1].devices
        return {seen.name: as_beside(seen) for seen in devices if not seen.failed}

    def __call__(self, devices: Sequence[str], when: str, *, allow_sick: bool) -> WaveVerdict:
        """Read a wave's switches and their neighbours, and judge them."""
        began, wave = self.monotonic(), tuple(devices)
        network = self._meant(self._texts())
        baseline = None if when == BEFORE else self._before.get(wave)
        beside = self._just_read(began) if when == BEFORE else {}
        self.leave(with_neighbours(network, devices))
        found = self.checks(network, devices, baseline, on_trial=when != BEFORE, beside=beside)
        self._last = (began, found.observed) if when == AFTER else None
        if when == BEFORE:
            self._before[wave] = found
        if when == AFTER:
            self._before.pop(wave, None)
        said = count_of(len(found.observed.devices), "switch") + " read"
        alone = NOTHING_BEFORE if when != BEFORE and baseline is None else ""
        if refusal := found.refusal(allow_sick=allow_sick):
            return WaveVerdict(passed=False, summary=f"{refusal}{alone}")
        known = count_of(len(found.old or found.new), "error")
        sick = f", {known} that {'were' if known[:2] != '1 ' else 'was'} there before"
        return WaveVerdict(passed=True, summary=said + (sick if found.old or found.new else ""))
