"""Growth of a fabric: additions, new capacity, and the proof that nothing else changed.

`rocefort/steps/fabric/expand.py` makes it for reports. Gb/s are of one direction.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface

from rocefort.models.base import Frozen
from rocefort.models.hardware.transceivers import CableMedium
from rocefort.models.network.network import End


class NewSwitch(Frozen):
    """New switch."""

    name: str
    role: str
    id: int
    hardware: str
    software: str
    rack: str | None = None
    asn: int
    loopback: IPv4Address | None = None
    management: IPv4Interface | None = None


class NewCable(Frozen):
    """New cable; `far` is the name of a server, or a switch port.

    near_fits, far_fits: form factor of each end's port; None: not in the hardware data.
    """

    near: End
    far: End | str
    length_m: float | None = None
    medium: CableMedium | None = None
    speed_gbps: int | None = None
    near_fits: str | None = None
    far_fits: str | None = None


class LeafLoad(Frozen):
    """Servers and uplinks of one leaf, Gb/s; up None: the speed of an uplink is unknown."""

    leaf: str
    down_gbps: int
    up_gbps: int | None

    @property
    def ratio(self) -> float | None:
        """Oversubscription; None without uplinks of a known speed."""
        return self.down_gbps / self.up_gbps if self.up_gbps else None


class Bandwidth(Frozen):
    """Bandwidth of a fabric.

    bisection_gbps: between the half of the leaves with the least uplinks and all others.
    widths: least and most equal-cost paths from leaf to leaf. pairs: of servers, delivered by
    every path, and all. None: unknown, or refused by the routing engine, with `refused` as reason.
    """

    spines: int
    leaves: int
    loads: tuple[LeafLoad, ...]
    bisection_gbps: int | None
    widths: tuple[int, int] | None = None
    pairs: tuple[int, int] | None = None
    refused: str = ""

    @property
    def uplinks_gbps(self) -> tuple[int, int] | None:
        """Least and most uplinks of a leaf."""
        rates = [load.up_gbps for load in self.loads if load.up_gbps is not None]
        return (min(rates), max(rates)) if rates else None


class Addition(Frozen):
    """Number of additions of one kind, which the allow-list has."""

    what: str
    number: int


class Proof(Frozen):
    """Counts of what is unchanged on existing switches, and of additions to them."""

    switches: int
    lines: int  # of their configurations: each stays, in its order
    lines_added: int
    kept: tuple[Addition, ...]  # unchanged addresses, AS numbers and so on
    additions: tuple[Addition, ...]


class GrowthStage(Frozen):
    """Stage of a growth, as the routing engine judged it; `wrong`: its errors.

    sessions: ends established, and configured. lost: pairs of servers that are no longer delivered.
    """

    title: str
    sessions: tuple[int, int]
    in_service: tuple[int, int]  # spines and leaves that take traffic
    widths: tuple[int, int] | None
    pairs: tuple[int, int]
    lost: int = 0
    wrong: tuple[str, ...] = ()


class StagedGrowth(Frozen):
    """Growth by stages; drain and lift: commands that drain a switch, and end its drain."""

    fabric: str
    stages: tuple[GrowthStage, ...]
    drain: tuple[str, ...] = ()
    lift: tuple[str, ...] = ()

    @property
    def wrong(self) -> bool:
        """Whether any stage has an error."""
        return any(stage.wrong for stage in self.stages)


class Growth(Frozen):
    """Whole growth of a fabric. lines: number of lines that the file gets.

    without_rack: new switches without a rack, in a fabric that states racks.
    """

    fabric: str
    file: str
    lines: int
    switches: tuple[NewSwitch, ...]
    servers: tuple[str, ...]
    without_rack: tuple[str, ...] = ()
    cables: tuple[NewCable, ...]
    before: Bandwidth
    after: Bandwidth
    proof: Proof
    warnings: tuple[str, ...] = ()  # new findings below an error
    not_judged: int = 0  # new verdicts that need a missing fact
