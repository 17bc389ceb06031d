"""Steps of `lab chaos`: inject seeded faults into a running lab, check it after each, fix them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from time import monotonic

from rocefort.base.errors import BadInput, Refused, ServiceFailed
from rocefort.base.json_output import json_text
from rocefort.lab.experiments.experiment_results import Chaos, ChaosStep
from rocefort.lab.experiments.experiments_report import chaos_head, step_text
from rocefort.lab.network import PredictionCheck, await_law, detection_s, running_network, timers_of
from rocefort.lab.twin.faults import ActiveFault, break_lab, mend_lab, require_mended
from rocefort.lab.twin.registry import write_whole
from rocefort.lab.twin.twin import Twin
from rocefort.models.network.network import Network
from rocefort.models.wording import count_of

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
