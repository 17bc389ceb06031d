"""What came of a plan on a twin of its fabric, before it was approved."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from rocefort.models.base import Frozen

REHEARSAL_FORMAT: Final = 1


class RehearsedWave(Frozen):
    """One wave: how it ended, what its gate said, and how long it took."""

    name: str
    devices: tuple[str, ...]
    ended: str
    gate: str = ""
    seconds: float = 0.0


class RehearsedCheck(Frozen):
    """Something that was looked at behind the last wave: what, and what was found."""

    what: str
    passed: bool
    found: str


class Loss(Frozen):
    """Packets between servers while the plan was carried out; worst: the pair that missed most."""

    streams: int
    sent: int
    lost: int
    longest_ms: int
    worst: str = ""


class PlanRehearsal(Frozen):
    """A plan on a twin. `digest` is SHA-256 over everything else; plan: the digest of the plan.

    guests: servers that ran real RDMA; of the others packets crossed. not_judged: what a twin
    cannot tell. failure: the first thing that went wrong, as a sentence; empty: it passed.
    """

    format: Literal[1] = REHEARSAL_FORMAT
    plan: str
    fabric: str
    tool: str
    by: str
    host: str
    began: datetime
    ended: datetime
    frr: str
    kernel: str
    guests: tuple[str, ...] = ()
    waves: tuple[RehearsedWave, ...] = ()
    checks: tuple[RehearsedCheck, ...] = ()
    loss: Loss | None = None
    not_judged: tuple[str, ...] = ()
    failure: str = ""
    digest: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing went wrong."""
        return not self.failure
