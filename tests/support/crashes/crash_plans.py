"""Plans of a few switches for controllers that die: changes and sizes of waves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from rocefort.change.effects.switch_configs import running_device, running_digest
from rocefort.dialects.vrp.parse.parser import parse as parse_text
from rocefort.emulator.switch.personality import Personality
from rocefort.models.change.compare import compare
from rocefort.models.change.edits import Edit
from rocefort.models.change.plan import Change, ChangeKind, DrainedChange, Gate, Plan, Soak, Wave
from rocefort.models.hardware.hardware import Family

TRIAL_S, PLAIN_TRIAL_S, SETTLE_S = 600, 300, 5
OLD, NEW = "description old", "description new"
SERVING, DRAINED = "description serving", "description drained"
STARTUP = "sysname {}\n#\ninterface 100GE1/0/1\n {}\n#\ninterface 100GE1/0/2\n {}\n#\nreturn\n"
# The states of a switch that is drained for its change; words on a port stand for the drain here.
STATES = ((OLD, SERVING), (OLD, DRAINED), (NEW, DRAINED), (NEW, SERVING))
GATE = Gate(
    pairs=(),
    traffic_class=138,
    line_rate_fraction=0.9,
    latency_us=3.7,
    latency_tolerance=0.2,
    speed_judged=True,
)


@dataclass(frozen=True)
class Case:
    """Sizes of the waves, abilities of the switches, and results of the gate."""

    sizes: tuple[int, ...]
    personality: Personality
    backwards: bool = False
    fails: str = ""  # the wave whose gate fails
    drains: str = ""  # the wave whose only switch is drained first
    fails_on: int = 0  # on which leg of a drained switch its gate fails
    soak_s: int = 0
    soaking: tuple[str, ...] = ()  # the switches that soak; none named: all

    def __str__(self) -> str:
        backwards = ", backwards" if self.backwards else ""
        drained = ", drained" if self.drains else ""
        leg = f" on leg {self.fails_on + 1}" if self.drains else ""
        gate = f", gate fails{leg}" if self.fails else ""
        return f"{max(self.sizes)} at once, {self.personality}{backwards}{drained}{gate}"

    @property
    def limit(self) -> int:
        return max(self.sizes)


def text_of(name: str, line: str, drain: str = SERVING) -> str:
    return STARTUP.format(name, line, drain)


PLANS: dict[Case, Plan] = {}


def plan_of(case: Case, family: Family) -> Plan:
    if case not in PLANS:
        PLANS[case] = _plan(case, family)
    return PLANS[case]


def _change(device: str, before: tuple[str, str], after: tuple[str, str], family: Family) -> Change:
    texts = [parse_text(text_of(device, *state), device) for state in (before, after)]
    edits = compare(*(running_device(parsed, family) for parsed in texts))
    commands = [(f"interface 100GE1/0/{i}", *lines) for i, lines in _lines(before, after)]

    def typed(which: int) -> tuple[str, ...]:
        return tuple(c for port in commands for c in (port[0], f" {port[which]}", "quit"))

    return Change(
        device=device,
        kind=ChangeKind.MODIFYING,
        edits=tuple(Edit(path=e.path, before=e.before, after=e.after) for e in edits),
        patch=typed(2),
        reverse=typed(1),
        running_digest=running_digest(texts[0], family),
        intended_digest=running_digest(texts[1], family),
    )


def _lines(
    before: tuple[str, str], after: tuple[str, str]
) -> Iterator[tuple[int, tuple[str, str]]]:
    for i, lines in enumerate(zip(before, after, strict=True), 1):
        if lines[0] != lines[1]:
            yield i, lines


def _drained(device: str, family: Family, soak: Soak | None) -> DrainedChange:
    drain, change, lift = (
        _change(device, *states, family).model_copy(update={"soak": soak})
        for states in pairwise(STATES)
    )
    return DrainedChange(device=device, drain=drain, change=change, lift=lift, meanwhile="")


def _plan(case: Case, family: Family) -> Plan:
    names = iter(f"leaf{n:02}" for n in range(1, sum(case.sizes) + 1))
    waves = tuple(
        Wave(name=f"wave {i}", devices=tuple(next(names) for _ in range(size)), gate=GATE)
        for i, size in enumerate(case.sizes, 1)
    )
    devices = [device for wave in waves for device in wave.devices]
    soak = Soak(seconds=case.soak_s, why="a timer") if case.soak_s else None
    waves = tuple(
        wave.model_copy(update={"drained": (_drained(wave.devices[0], family, soak),)})
        if wave.name == case.drains
        else wave
        for wave in waves
    )
    changes = tuple(
        _change(device, STATES[0], STATES[-1], family).model_copy(
            update={"soak": soak if device in (case.soaking or devices) else None}
        )
        for device in devices
    )
    return Plan(
        fabric="f",
        source="f",
        tool="t",
        intent_digest="i",
        trial_s=TRIAL_S,
        plain_trial_s=PLAIN_TRIAL_S,
        settle_s=SETTLE_S,
        changes=changes,
        waves=waves,
    ).seal()
