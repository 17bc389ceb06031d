"""Logins of an emulated switch: users, VTYs, the holder of the lock, and what SSH needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from rocefort.dialects.vrp.interpreter.interpreter import Lines
from rocefort.dialects.vrp.text.config_tree import ConfigLine
from rocefort.dialects.vrp.text.secret_forms import cipher_of

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


def ssh_listens(running: Lines, address: str) -> bool:
    """Whether a configuration answers SSH at an address: server, its interface, VTYs."""
    ports = [line.text for line in running if _has(line.children, f"ip address {address} ")]
    server = any(_has(running, f"ssh server-source -i {port.split()[-1]}") for port in ports)
    vtys = [line.children for line in running if line.text.startswith("user-interface vty ")]
    return (
        server
        and _has(running, "stelnet server enable")
        and any(_has(vty, "protocol inbound ssh") for vty in vtys)
    )


def ssh_admits(running: Lines, user: str, password: str) -> bool:
    """Whether a configuration lets a local user log in by SSH with a password."""
    aaa = [line for section in running if section.text == "aaa" for line in section.children]
    known = {f"local-user {user} password irreversible-cipher {p}"
             for p in (password, cipher_of(password))}  # fmt: skip
    return (
        any(line.text in known for line in aaa)
        and _has(aaa, f"local-user {user} service-type ssh")
        and f"ssh user {user}" in {line.text for line in running}
    )


def _has(lines: Iterable[ConfigLine], begin: str) -> bool:
    return any(f"{line.text} ".startswith(f"{begin.rstrip()} ") for line in lines)
