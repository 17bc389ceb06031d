"""Lines of drop profiles, whose limits stand in one of three units.

Source: V300R023C00 command reference, congestion avoidance; the forms of V200 are the same (AI
Fabric best practice, static ECN).
"""

from __future__ import annotations

from collections.abc import Callable

from rocefort.dialects.vrp.parsing import arguments
from rocefort.dialects.vrp.parsing.parts import Part
from rocefort.models.drop_profile import Unit

UNITS: tuple[Unit, ...] = ("bytes", "cells", "percent")  # in the order of the format


def colour(name: str) -> Callable[..., None]:
    """Reader of the line of one colour."""

    def read(profile: Part, *words: str | None) -> None:
        _limits(profile.row("colours", name, colour=name), words)

    return read


def ecn(profile: Part, *words: str | None) -> None:
    """Between which depths of its queue a packet is marked."""
    _limits(profile.part("ecn"), words)


def _limits(part: Part, words: tuple[str | None, ...]) -> None:
    *pairs, percent = words
    for unit, low, high in zip(UNITS, pairs[::2], pairs[1::2], strict=True):
        if low is not None and high is not None:
            part.set("unit", unit)
            part.set("low", arguments.whole(low))
            part.set("high", arguments.whole(high))
    part.set("percent", arguments.whole(percent or ""))
