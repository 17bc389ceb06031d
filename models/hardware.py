"""What a switch model and its syntax family can do, each fact with its source."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from rocefort.models.base import Frozen, Name


class SyntaxFamily(StrEnum):
    """The three dialects of CloudEngine lossless commands.

    V300 G1 and G2 are the chip groups of the V300R023C00 command reference (DCB commands).
    """

    V200 = "v200"
    V300_G1 = "v300-g1"
    V300_G2 = "v300-g2"


class Range(Frozen):
    """A closed range of settable values, with where it was read."""

    low: int
    high: int
    source: str
    confirmed: bool = True

    def __contains__(self, value: int) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.low} to {self.high}"


class Fact(Frozen):
    """A number about hardware; `confirmed` is false where the vendor's reference does not say."""

    value: int
    source: str
    confirmed: bool = True


class Choice(Frozen):
    """The few values that can be set, ascending, with where they were read."""

    values: Annotated[tuple[int, ...], Field(min_length=1)]
    source: str

    def __contains__(self, value: int) -> bool:
        return value in self.values

    def __str__(self) -> str:
        *some, last = map(str, self.values)
        return f"{', '.join(some)} or {last}" if some else last


class Unconfirmed(Frozen):
    """A command form that no vendor source confirms for this family."""

    command: str
    note: str


class Family(Frozen):
    """Ranges of one syntax family; None means that the family has no such setting.

    Times are milliseconds, sizes kbytes (1024 bytes).
    """

    name: SyntaxFamily
    deadlock_detect_ms: Range | None = None  # G1: one timer for all queues
    deadlock_recovery_ms: Range | None = None
    deadlock_detect_time: Range | None = None  # V200, G2: multiples of the interval
    deadlock_recovery_time: Range | None = None
    deadlock_interval_ms: Fact | None = None  # default; None on V200: its unit is unknown
    deadlock_intervals_ms: Choice | None = None  # what it may be set to
    deadlock_default_ms: Fact | None = None  # of both timers, where they are in ms
    deadlock_default_time: Fact | None = None  # of both timers, where they are multiples
    xoff_kbytes: Range | None = None
    headroom_kbytes: Range | None = None  # per port and queue, G2 only
    headroom_default_kbytes: Fact | None = None
    headroom_pool_kbytes: Range | None = None
    pfc_queues: Range
    unconfirmed: tuple[Unconfirmed, ...] = ()


class FamilyFile(Frozen):
    """The file that holds all syntax families."""

    families: tuple[Family, ...]


PORTS = re.compile(r"(?P<head>\d+GE\d+/\d+/)(?P<first>\d+)(?:-(?P<last>\d+))?")


def check_ports(value: str) -> str:
    """Accept `100GE1/0/1` or `100GE1/0/1-32`."""
    match = PORTS.fullmatch(value)
    if not match or int(match["last"] or match["first"]) < int(match["first"]):
        raise ValueError(f"{value!r} is not a port or a range of ports; write 100GE1/0/1-32")
    return value


def expand_ports(value: str) -> tuple[str, ...]:
    """`100GE1/0/1-3` -> the three names in order."""
    match = PORTS.fullmatch(check_ports(value))
    if match is None:
        return ()
    first, last = int(match["first"]), int(match["last"] or match["first"])
    return tuple(f"{match['head']}{n}" for n in range(first, last + 1))


@cache
def expand_all(ranges: tuple[str, ...]) -> tuple[str, ...]:
    """All port names of several ranges, in order; a fabric has few kinds of switch."""
    return tuple(name for ports in ranges for name in expand_ports(ports))


PortRange = Annotated[str, AfterValidator(check_ports)]


class Release(Frozen):
    """A software release prefix and the syntax family that it brings to this hardware."""

    prefix: str
    family: SyntaxFamily


class Hardware(Frozen):
    """One switch model."""

    model: Name
    ports: tuple[PortRange, ...]
    fabric_ports: tuple[PortRange, ...]  # in the order in which peers take them, by peer id
    buffer_kbytes: Fact | None = None  # None: unknown, and never passed
    releases: tuple[Release, ...]
    template: Literal["ce8850", "ce8851", "ce9860", "ce6865", "ce6866", "ce8855"]
    source: str
    confirmed: bool = True
    note: str = ""

    def port_names(self) -> tuple[str, ...]:
        """All front-panel ports in the hardware's order."""
        return expand_all(self.ports)

    def fabric_port_names(self) -> tuple[str, ...]:
        """Ports that take leaf-spine links, in the order of the peers' ids."""
        return expand_all(self.fabric_ports)

    def family_of(self, software: str) -> SyntaxFamily | None:
        """Syntax family of a release such as V300R023C00; None when the data knows none."""
        found = [r.family for r in self.releases if software.startswith(r.prefix)]
        return found[0] if found else None


@cache
def port_speed_gbps(interface: str) -> int | None:
    """Speed that an interface name promises: 100 for 100GE1/0/1; None for a logical one."""
    match = re.match(r"(\d+)GE\d", interface)
    return int(match[1]) if match else None
