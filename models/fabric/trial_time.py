"""Duration that a commit trial needs: checks, gate, soak and confirmation, each with its bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

SETTLE_S = 30  # until BGP sessions are back after a commit; a fabric can set its own
ACT_S = 15  # assumed: to query a switch, confirm and read back, without the time that it waits
SPARE_S = 60  # assumed: for slow commits and readings of a wave, beside the bounds of its acts


class TrialLength(NamedTuple):
    """Timer of a trial, s. plain: of a trial without an id, which only its own session ends."""

    named: int
    plain: int

    def of(self, trial_id: str | None) -> int:
        """Timer of a trial by its id; "": it has none, None: the id is not known."""
        return self.plain if trial_id == "" else self.named

    def bounds(self, has_id: bool | None) -> tuple[int, int]:
        """Least and most seconds of a trial; None: whether it has an id is not known."""
        return self.named if has_id else self.plain, self.plain if has_id is False else self.named


def margin_s(settle_s: float) -> float:
    """Time that must remain of a trial when its confirmation begins, s.

    The confirmation first waits until all sessions are up, as long as after any commit. Then it
    confirms and reads back.
    """
    return settle_s + ACT_S


@dataclass(frozen=True, slots=True)
class TrialTime:
    """Time that the trials of one wave need, in seconds. gate_s: of its RDMA gate.

    soak_s: until every fault that the wave may cause shows; all checks are made again after it.
    """

    wave: str
    settle_s: float
    gate_s: float
    soak_s: float = 0.0

    @property
    def look_s(self) -> float:
        """Time of the checks of a switch, or of live checks: sessions settle, then a read."""
        return self.settle_s + ACT_S

    @property
    def checks_s(self) -> float:
        """Time of all checks, once."""
        return 2 * self.look_s + self.gate_s

    @property
    def rest_s(self) -> float:
        """Time that must remain when the soak begins."""
        return self.soak_s + self.checks_s + margin_s(self.settle_s)

    @property
    def whole_s(self) -> float:
        """Time of the whole trial."""
        return self.checks_s + (self.rest_s if self.soak_s else margin_s(self.settle_s))

    def __str__(self) -> str:
        return (
            f"{self.look_s:.0f} s for the checks, {self.look_s:.0f} s for the live checks, "
            f"{self.gate_s:.0f} s for the RDMA gate and {margin_s(self.settle_s):.0f} s to confirm"
            + (f"; {self.soak_s:.0f} s to soak, and the checks once more" if self.soak_s else "")
        )
