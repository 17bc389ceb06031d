"""Lossless queue of a switch: PFC, AI-ECN, drop profiles, priority maps.

Source: V300R023C00 command reference, QoS, priority mapping (default domain); the NIC's default
dscp2prio is DSCP >> 3 (ConnectX).
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from rocefort.models.base import Frozen, Keyed
from rocefort.models.effect import (
    KEY,
    LOSSLESS,
    SAME,
    STATED,
    EditCondition,
    KeyedRow,
    LosslessTopic,
    OfKey,
)
from rocefort.models.hardware.hardware import RecoveryBehavior

Phb = Literal["be", "af1", "af2", "af3", "af4", "ef", "cs6", "cs7"]
Colour = Literal["green", "yellow", "red"]
PHB_QUEUE: dict[Phb, int] = {
    "be": 0,
    "af1": 1,
    "af2": 2,
    "af3": 3,
    "af4": 4,
    "ef": 5,
    "cs6": 6,
    "cs7": 7,
}
QUEUE_PHB: dict[int, Phb] = {queue: phb for phb, queue in PHB_QUEUE.items()}
DSCPS = range(64)
QUEUES = range(8)


def default_queue(dscp: int) -> int:
    """Return the queue of a DSCP (0..63) in the default diffserv domain."""
    return dscp >> 3


def host_priority(dscp: int) -> int:
    """Return the priority of a DSCP on a NIC with the default dscp2prio; pauses use it."""
    return dscp >> 3


OTHER_QUEUES = "PFC profile {} pauses other queues on every port that applies it"
OTHER_TIMERS = LOSSLESS.affecting(
    "PFC deadlock timers change under traffic", topic=LosslessTopic.DEADLOCK_TIMERS
)


class PfcTimer(KeyedRow):
    """Deadlock timers of one queue as multiples of an interval (V200, V300 G2)."""

    queue: Annotated[int, KEY]
    detect_time: Annotated[int | None, SAME] = None
    recovery_time: Annotated[int | None, SAME] = None


# V300R023C00, `priority turn-off`; the default of a V200 is unknown.


TURN_OFF_DEADLOCKS = 30


class PfcTurnOff(KeyedRow):
    """Number of deadlocks of a queue within 20 s after which a port continues without PFC."""

    queue: Annotated[int, KEY]
    deadlocks: Annotated[int, SAME]


# Paused without a line: V300R023C00, `priority (DCB PFC profile view)`.


BUILT_IN_QUEUE = 3
BUILT_IN_PROFILE = "default"  # PFC profile that exists without a line


class PfcProfile(KeyedRow):
    """PFC profile: the set of paused queues, the built-in queue 3 included."""

    name: Annotated[str, KEY] = BUILT_IN_PROFILE
    queues: Annotated[Keyed[int], LOSSLESS.affecting(OTHER_QUEUES)] = (BUILT_IN_QUEUE,)
    timers: Annotated[Keyed[PfcTimer], OTHER_TIMERS] = ()
    turn_off: Annotated[
        Keyed[PfcTurnOff],
        OTHER_TIMERS.affecting("ports give PFC up after another number of deadlocks"),
    ] = ()

    def turn_off_of(self, queue: int) -> int:
        """Deadlocks of a queue within 20 s after which a port continues without PFC."""
        rows = (row.deadlocks for row in self.turn_off if row.queue == queue)
        return next(rows, TURN_OFF_DEADLOCKS)


class Pfc(Frozen):
    """PFC settings of the whole switch. Timers in milliseconds, sizes in kbytes."""

    profiles: Annotated[
        Keyed[PfcProfile],
        LOSSLESS.affecting(
            "PFC profile {} is removed",
            EditCondition.GONE,
            of_key=OfKey(BUILT_IN_PROFILE, EditCondition.COMES, OTHER_QUEUES),
        ),
    ] = ()
    detect_ms: Annotated[int | None, OTHER_TIMERS] = None  # G1
    recovery_ms: Annotated[int | None, OTHER_TIMERS] = None  # G1
    interval_ms: Annotated[int | None, OTHER_TIMERS] = None  # G2: unit of the profiles' multiples
    # What happens to the packets of a deadlocked queue; None: by the family's default.
    recovery_behavior: Annotated[
        RecoveryBehavior | None,
        OTHER_TIMERS.affecting("packets of a deadlocked queue are treated otherwise"),
    ] = None
    # G2: without it PFC keys on 802.1p.
    dscp_mapping: Annotated[
        bool, LOSSLESS.affecting("PFC keys on another field of the packets")
    ] = False
    headroom_pool_kbytes: Annotated[
        int | None, LOSSLESS.affecting("the headroom pool of the switch is divided again")
    ] = None


class AiEcnQueue(KeyedRow):
    """Queue that AI-ECN marks; no model means distributed storage (V300R023C00)."""

    queue: Annotated[int, KEY]
    model: Annotated[str | None, STATED] = None


MOST_AI_ECN_QUEUES = 2  # of a switch; V300R023C00, AI ECN, `assign queue`


class AiEcn(Frozen):
    """AI-ECN of a switch: whether it is on, and its queues."""

    enabled: Annotated[bool, SAME] = False
    queues: Annotated[Keyed[AiEcnQueue], SAME] = ()


class DscpMap(KeyedRow):
    """Behaviour and colour of packets that arrive with a DSCP or an 802.1p priority."""

    value: Annotated[int, KEY]
    phb: Annotated[Phb, SAME]
    colour: Annotated[Colour, STATED] = "green"


class DiffservDomain(KeyedRow):
    """Inbound priority map; other priorities have the value of the default domain."""

    name: Annotated[str, KEY]
    dscp: Annotated[Keyed[DscpMap], SAME.but(when=EditCondition.ALWAYS)] = ()
    dot1p: Annotated[Keyed[DscpMap], SAME.but(when=EditCondition.ALWAYS)] = ()

    @cached_property
    def by_dscp(self) -> dict[int, DscpMap]:
        """Rows of DSCPs by value."""
        return {row.value: row for row in self.dscp}


# V300R023C00 command reference, congestion avoidance (`drop-profile`, `color`, `ecn`,
# `qos queue wred`, `qos queue ecn`).


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
