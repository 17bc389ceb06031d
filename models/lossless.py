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


class PfcProfile(Frozen):
    """`dcb pfc [name]`: the set of paused queues, after the built-in queue 3 is counted."""

    name: str = "default"
    queues: Keyed[int] = (3,)
    timers: Keyed[PfcTimer] = ()

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
