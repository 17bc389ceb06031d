"""Clock of this machine, and of the switches that a controller waits for."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return the time of this machine."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Clock:
    """Time of the switches in seconds; scale: switch seconds per second of this machine.

    The scale is above 1 only for emulated switches, whose timers run faster.
    """

    scale: float = 1.0

    def now(self) -> float:
        """Return monotonic seconds since an arbitrary moment."""
        return time.monotonic() * self.scale

    def sleep(self, seconds: float) -> None:
        """Wait until this many seconds have passed on the switches."""
        time.sleep(seconds / self.scale)
