"""Logins of an emulated switch: users, VTYs, and the holder of the configuration lock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

MOST_SESSIONS = 5  # V300R023C00, `display user-interface maximum-vty`
LOCK_SECONDS = 30  # default of `configuration exclusive timeout`, V300R023C00
# FIELD: clients of these switches wait for this text.
ALL_USED = "All user interfaces are used, please try later!"


class NoFreeTerminal(Exception):  # noqa: N818 - reads as a sentence where it is raised
    """Every VTY of the switch is in use."""

    def __init__(self) -> None:
        super().__init__(ALL_USED)


@dataclass(slots=True)
class LoginSession:
    """One session: its number, its user, its VTY, and a callback that ends it."""

    number: int
    user: str
    vty: int
    since: datetime
    hang_up: Callable[[], None] | None = None  # set by the transport of the session

    @property
    def interface(self) -> str:
        """Name of the user interface as the switch prints it."""
        return f"VTY {self.vty}"


@dataclass(frozen=True, slots=True)
class ConfigLock:
    """`configuration exclusive`: its session, its start, and its last use."""

    session: int
    at: datetime
    used_at: datetime
    used: float  # on the switch's clock, in seconds

    def touched(self, clock: float, now: datetime) -> ConfigLock:
        """Return the lock after its holder entered configuration."""
        return replace(self, used=clock, used_at=now)


def free_vty(logins: dict[int, LoginSession]) -> int:
    """Return the lowest unused VTY, as the switch allocates them."""
    taken = {login.vty for login in logins.values()}
    return next(number for number in range(len(taken) + 1) if number not in taken)
