"""Who is logged in to an emulated switch, on which VTY, and who holds its configuration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

MOST_SESSIONS = 5  # V300R023C00, `display user-interface maximum-vty`
LOCK_SECONDS = 30  # default of `configuration exclusive timeout`, V300R023C00
# FIELD: what clients of these switches wait for.
ALL_USED = "All user interfaces are used, please try later!"


class NoFreeTerminal(Exception):  # noqa: N818 - reads as a sentence where it is raised
    """Every VTY of the switch is taken."""

    def __init__(self) -> None:
        super().__init__(ALL_USED)


@dataclass(slots=True)
class LoginSession:
    """One session: its number, its user, its VTY, and how to end it from outside."""

    number: int
    user: str
    vty: int
    since: datetime
    hang_up: Callable[[], None] | None = None  # set by who carries the session

    @property
    def interface(self) -> str:
        """The user interface as the switch writes it."""
        return f"VTY {self.vty}"


@dataclass(frozen=True, slots=True)
class ConfigLock:
    """`configuration exclusive`: who holds it, since when, and when it was last used."""

    session: int
    at: datetime
    used_at: datetime
    used: float  # on the switch's clock, in seconds

    def touched(self, clock: float, now: datetime) -> ConfigLock:
        """The lock after its holder delivered configuration."""
        return replace(self, used=clock, used_at=now)


def free_vty(logins: dict[int, LoginSession]) -> int:
    """The lowest VTY that nobody uses, as the switch allocates them."""
    taken = {login.vty for login in logins.values()}
    return next(number for number in range(len(taken) + 1) if number not in taken)
