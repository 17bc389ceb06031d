"""Rehearsal of a plan: its result on a twin of the fabric, before approval."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from rocefort.models.base import Frozen

REHEARSAL_FORMAT: Final = 1


class RehearsedWave(Frozen):
    """Result of one wave: its end, the verdict of its gate, and its duration."""

    name: str
    devices: tuple[str, ...]
    ended: str
    gate: str = ""
    seconds: float = 0.0


class RehearsedCheck(Frozen):
    """Check after the last wave, with its result."""

    what: str
    passed: bool
    found: str


class Loss(Frozen):
    """Packets between servers during the rehearsal; worst: the pair that lost most."""

    streams: int
    sent: int
    lost: int
    longest_ms: int
    worst: str = ""


class PlanRehearsal(Frozen):
    """Plan on a twin. `digest` is SHA-256 over everything else; plan: the digest of the plan.

    guests: servers that ran real RDMA; the other servers exchanged packets. not_judged: what a
    twin cannot show. failure: the first problem, as a sentence; empty: it passed.
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
