"""How long a trial has to last: what is done while it runs, each part with its bound."""

from __future__ import annotations

from dataclasses import dataclass

SETTLE_S = 30  # until BGP sessions are back after a commit; a fabric says its own
ACT_S = 15  # assumed: to ask a switch, to confirm and to read back, beside what it waits for


def margin_s(settle_s: float) -> float:
    """What must be left of a trial when its confirmation begins.

    It first looks once more whether all sessions are up, which may take them as long as after any
    commit; then it confirms and reads back.
    """
    return settle_s + ACT_S


@dataclass(frozen=True, slots=True)
class TrialTime:
    """What one wave asks of its trials, in seconds. gate_s: of its RDMA gate.

    soak_s: until all that the wave may break has broken; behind it all checks are made again.
    """

    wave: str
    settle_s: float
    gate_s: float
    soak_s: float = 0.0

    @property
    def look_s(self) -> float:
        """The checks of each switch, and the live checks after them: each settles, then reads."""
        return self.settle_s + ACT_S

    @property
    def checks_s(self) -> float:
        """All checks, once."""
        return 2 * self.look_s + self.gate_s

    @property
    def rest_s(self) -> float:
        """What must be left when it begins to soak."""
        return self.soak_s + self.checks_s + margin_s(self.settle_s)

    @property
    def whole_s(self) -> float:
        """All of it."""
        return self.checks_s + (self.rest_s if self.soak_s else margin_s(self.settle_s))

    def __str__(self) -> str:
        return (
            f"{self.look_s:.0f} s for the checks, {self.look_s:.0f} s for the live checks, "
            f"{self.gate_s:.0f} s for the RDMA gate and {margin_s(self.settle_s):.0f} s to confirm"
            + (f"; {self.soak_s:.0f} s to soak, and the checks once more" if self.soak_s else "")
        )
