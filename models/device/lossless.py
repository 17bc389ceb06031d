"""PFC, AI-ECN and priority maps in the configuration of a switch."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated

from rocefort.models.base import Frozen
from rocefort.models.device.priorities import Colour, Phb
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
from rocefort.models.keyed import Keyed

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
