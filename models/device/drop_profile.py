"""Drop profiles: queue depths at which a switch marks (ECN) or drops (WRED) packets."""
# V300R023C00 command reference, congestion avoidance (`drop-profile`, `color`, `ecn`,
# `qos queue wred`, `qos queue ecn`).

from __future__ import annotations

from typing import Annotated, Literal

from rocefort.models.base import Frozen
from rocefort.models.device.priorities import Colour
from rocefort.models.effect import KEY, LOSSLESS, SAME, KeyedRow
from rocefort.models.keyed import Keyed

DEFAULT_PROFILE = "default"  # exists without a line; can be modified, but not deleted
LONGEST_DROP_PROFILE = 31  # characters of its name
NO_DROP_PROFILES = ("b", "br", "bri", "brie", "brief")  # `display drop-profile brief`
Unit = Literal["percent", "bytes", "cells"]
OTHER_DEPTHS = "queues with drop profile {} mark or drop packets at other depths"


def low_at_most_high(low: int, high: int) -> bool:
    """Whether two limits of one unit are in order."""
    return low <= high


class DropLimits(Frozen):
    """Limits of marks or drops: from `low` on by chance, from `high` on all packets.

    percent: the chance just below `high`, 1 to 100 (Pmax). Kmin and Kmax are `low` and `high`.
    """

    low: Annotated[int, SAME]
    high: Annotated[int, SAME]
    percent: Annotated[int, SAME]
    unit: Annotated[Unit, SAME] = "percent"


class ColourLimits(DropLimits, KeyedRow):
    """Drop limits of one colour."""

    colour: Annotated[Colour, KEY]


DROPS_WHEN_FULL = DropLimits(low=100, high=100, percent=100)  # the default of a colour


def drops_as_by_default(row: ColourLimits) -> bool:
    """Whether a colour has its default limits: drops only when the queue is full."""
    return row == ColourLimits(colour=row.colour, **dict(DROPS_WHEN_FULL))


class DropProfile(KeyedRow):
    """Drop limits by colour, and limits at which ECN marks instead."""

    name: Annotated[str, KEY]
    colours: Annotated[Keyed[ColourLimits], LOSSLESS.affecting(OTHER_DEPTHS)] = ()
    ecn: Annotated[DropLimits | None, LOSSLESS.affecting(OTHER_DEPTHS)] = None


class QueueMarking(KeyedRow):
    """Drop profile of a port's queue, and whether ECN marks by its limits."""

    queue: Annotated[int, KEY]
    profile: Annotated[str | None, SAME] = None
    ecn: Annotated[bool, SAME] = False
