"""Stages of a plan: waves of one kind that follow each other, such as 119 waves of leaves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from rocefort.models.change.plan import Plan, Wave
from rocefort.models.wording import count_of

NUMBERS = re.compile(r" \d+ of \d+$")


@dataclass(frozen=True, slots=True)
class Stage:
    """Waves whose names differ in their numbers only; name: what the names share."""

    name: str
    waves: tuple[Wave, ...]

    @property
    def devices(self) -> list[str]:
        """Switches of all waves."""
        return [device for wave in self.waves for device in wave.devices]

    @property
    def size(self) -> str:
        """`119 waves of 1 switch`."""
        sizes = sorted({len(wave.devices) for wave in self.waves})
        most = count_of(sizes[-1], "switch")
        switches = most if len(sizes) == 1 else f"{sizes[0]} to {most}"
        return switches if len(self.waves) == 1 else f"{len(self.waves):,} waves of {switches}"


def stages_of(plan: Plan) -> tuple[Stage, ...]:
    """Return the stages of a plan in their order."""
    waves = groupby(plan.waves, key=lambda wave: NUMBERS.sub("", wave.name))
    return tuple(Stage(name, tuple(members)) for name, members in waves)


def wave_ranges(plan: Plan, names: set[str]) -> Iterator[str]:
    """Yield names of waves; all waves of a long stage are its name: `all 119 waves of leaves`."""
    for stage in stages_of(plan):
        own = [wave.name for wave in stage.waves if wave.name in names]
        if len(own) == len(stage.waves) and len(own) > 2:
            yield f"all {count_of(len(own), 'wave')} of {stage.name}"
        else:
            yield from own
