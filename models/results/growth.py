"""Growth: what a fabric that grows gets, what it can carry then, and the proof that nothing moved.

Made by `rocefort/steps/fabric/expand.py` for reports. Gb/s are of one direction.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface

from rocefort.models.base import Frozen
from rocefort.models.hardware.transceivers import CableMedium
from rocefort.models.network.network import End


class NewSwitch(Frozen):
    """A switch that was not there before."""

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
    """A cable to plug; `far` is a server's name where it has no port that a switch knows.

    near_fits, far_fits: form factor of each end's port; None: the hardware data do not say.
    """

    near: End
    far: End | str
    length_m: float | None = None
    medium: CableMedium | None = None
    speed_gbps: int | None = None
    near_fits: str | None = None
    far_fits: str | None = None


class LeafLoad(Frozen):
    """Servers against uplinks of one leaf, Gb/s; up None: the speed of an uplink is not known."""

    leaf: str
    down_gbps: int
    up_gbps: int | None

    @property
    def ratio(self) -> float | None:
        """Oversubscription; None without uplinks of a known speed."""
        return self.down_gbps / self.up_gbps if self.up_gbps else None


class Bandwidth(Frozen):
    """What a fabric can carry.

    bisection_gbps: between the half of the leaves with the least uplinks and all others.
    widths: least and most equal-cost paths from leaf to leaf. pairs: of servers, delivered by
    every path, and all. None: not known, or the routing engine refused to tell (`refused`).
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
        known = [load.up_gbps for load in self.loads if load.up_gbps is not None]
        return (min(known), max(known)) if known else None


class Addition(Frozen):
    """How many additions of one kind that the allow-list has."""

    what: str
    number: int


class Proof(Frozen):
    """What stayed of the switches that were there, all of it counted, and what came to them."""

    switches: int
    lines: int  # of their configurations: each stays, in its order
    lines_added: int
    kept: tuple[Addition, ...]  # addresses, AS numbers and so on that are what they were
    additions: tuple[Addition, ...]


class GrowthStage(Frozen):
    """One state on the way, as the routing engine judged it; `wrong` says what is not as it must.

    sessions: ends established, and configured. lost: pairs of servers delivered before, not now.
    """

    title: str
    sessions: tuple[int, int]
    in_service: tuple[int, int]  # spines and leaves that take traffic
    widths: tuple[int, int] | None
    pairs: tuple[int, int]
    lost: int = 0
    wrong: tuple[str, ...] = ()


class StagedGrowth(Frozen):
    """A growth stage by stage; drain and lift: commands that keep traffic off, and let it come."""

    fabric: str
    stages: tuple[GrowthStage, ...]
    drain: tuple[str, ...] = ()
    lift: tuple[str, ...] = ()

    @property
    def wrong(self) -> bool:
        """Whether any state is not as it must be."""
        return any(stage.wrong for stage in self.stages)


class Growth(Frozen):
    """A growth as a whole. insertions: how many places of the file get lines; lines: how many."""

    fabric: str
    file: str
    lines: int
    switches: tuple[NewSwitch, ...]
    servers: tuple[str, ...]
    cables: tuple[NewCable, ...]
    before: Bandwidth
    after: Bandwidth
    proof: Proof
    warnings: tuple[str, ...] = ()  # findings below an error that were not there before
    not_judged: int = 0  # verdicts that are new, for want of a fact
