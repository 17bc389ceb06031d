"""Time of this machine, and of the switches as a controller waits for it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime


def utc_now() -> datetime:
    """This machine's clock."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Clock:
    """Seconds of the switches; scale: how many of them pass in one second of this machine.

    Above 1 only for emulated switches, whose timers run so much faster.
    """

    scale: float = 1.0

    def now(self) -> float:
        """Seconds since some moment; it never goes back."""
        return time.monotonic() * self.scale

    def sleep(self, seconds: float) -> None:
        """Wait until so many seconds have passed on the switches."""
        time.sleep(seconds / self.scale)
