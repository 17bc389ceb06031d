"""PFC, AI-ECN and priority maps of a whole switch, as its text says them."""

from __future__ import annotations

from functools import cached_property

from rocefort.models.base import Frozen
from rocefort.models.keyed import Keyed
from rocefort.models.qos import Colour, Phb


class PfcTimer(Frozen):
    """Deadlock timers of one queue as multiples of an interval (V200, V300 G2)."""

    queue: int
    detect_time: int | None = None
    recovery_time: int | None = None

    @property
    def key(self) -> int:
        """One row a queue."""
        return self.queue


# V300R023C00, `priority turn-off`; what a V200 does without a line is not known.
TURN_OFF_DEADLOCKS = 30


class PfcTurnOff(Frozen):
    """After so many deadlocks of a queue within 20 s a port goes on without PFC."""

    queue: int
    deadlocks: int

    @property
    def key(self) -> int:
        """One row a queue."""
        return self.queue


class PfcProfile(Frozen):
    """`dcb pfc [name]`: the set of paused queues, after the built-in queue 3 is counted."""

    name: str = "default"
    queues: Keyed[int] = (3,)
    timers: Keyed[PfcTimer] = ()
    turn_off: Keyed[PfcTurnOff] = ()

    def turn_off_of(self, queue: int) -> int:
        """Deadlocks of a queue within 20 s after which a port goes on without PFC."""
        rows = (row.deadlocks for row in self.turn_off if row.queue == queue)
        return next(rows, TURN_OFF_DEADLOCKS)

    @property
    def key(self) -> str:
        """Profiles are told apart by name."""
        return self.name


class Pfc(Frozen):
    """PFC settings of the whole switch. Timers in milliseconds, sizes in kbytes."""

    profiles: Keyed[PfcProfile] = ()
    detect_ms: int | None = None  # G1
    recovery_ms: int | None = None  # G1
    interval_ms: int | None = None  # G2: unit of the profiles' multiples
    dscp_mapping: bool = False  # G2: without it PFC keys on 802.1p
    headroom_pool_kbytes: int | None = None


class AiEcnQueue(Frozen):
    """`assign queue Q [model M]`; no model means distributed storage (V300R023C00)."""

    queue: int
    model: str | None = None

    @property
    def key(self) -> int:
        """One row a queue."""
        return self.queue


class AiEcn(Frozen):
    """The `ai-service` / `ai-ecn` block."""

    enabled: bool = False
    queues: Keyed[AiEcnQueue] = ()


class DscpMap(Frozen):
    """`ip-dscp-inbound D phb P colour` or `8021p-inbound P phb ..`."""

    value: int
    phb: Phb
    colour: Colour = "green"

    @property
    def key(self) -> int:
        """One row a DSCP or 802.1p value."""
        return self.value


class DiffservDomain(Frozen):
    """Inbound priority map; what it does not name keeps the default domain's value."""

    name: str
    dscp: Keyed[DscpMap] = ()
    dot1p: Keyed[DscpMap] = ()

    @property
    def key(self) -> str:
        """Domains are told apart by name."""
        return self.name

    @cached_property
    def by_dscp(self) -> dict[int, DscpMap]:
        """Rows of DSCPs by value."""
        return {row.value: row for row in self.dscp}
