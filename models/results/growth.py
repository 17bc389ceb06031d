"""Growth, removal and rename: what changes, and the proof that nothing else does.

`rocefort/steps/fabric/expand.py` and `rocefort/steps/review/edit.py` make them for reports. Gb/s
are of one direction.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface

from rocefort.models.base import Frozen
from rocefort.models.hardware.transceivers import CableMedium
from rocefort.models.network.network import End
from rocefort.models.results.advice import Advice


class ListedSwitch(Frozen):
    """Switch that a change of the fabric adds or removes."""

    name: str
    role: str
    id: int
    hardware: str
    software: str
    rack: str | None = None
    asn: int
    loopback: IPv4Address | None = None
    management: IPv4Interface | None = None


class ListedCable(Frozen):
    """Cable that a change of the fabric adds or removes; `far`: a server's name, or a switch port.

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
    switches: tuple[ListedSwitch, ...]
    servers: tuple[str, ...]
    without_rack: tuple[str, ...] = ()
    cables: tuple[ListedCable, ...]
    before: Bandwidth
    after: Bandwidth
    proof: Proof
    warnings: tuple[str, ...] = ()  # new findings below an error
    not_judged: int = 0  # new verdicts that need a missing fact


class Removal(Frozen):
    """Removal of switches and servers from a fabric.

    lines: of the file that are removed. beside: its other changes. comments: those above a removed
    item, which stay. mentions: lines that still name what is removed. proof: of the remaining
    switches; its additions and added lines are those that they lose. changes: what else changes on
    them. advice: steps for each switch; unplug: steps for servers whose leaf stays.
    """

    fabric: str
    file: str
    lines: int
    switches: tuple[ListedSwitch, ...]
    servers: tuple[str, ...]
    cables: tuple[ListedCable, ...]
    beside: tuple[str, ...]
    comments: tuple[str, ...]
    mentions: tuple[str, ...]
    before: Bandwidth
    after: Bandwidth
    proof: Proof
    changes: tuple[str, ...]
    warnings: tuple[str, ...]
    not_judged: int
    advice: tuple[Advice, ...]
    unplug: tuple[str, ...]
    connections: str


class ChangedName(Frozen):
    """Value of a configuration that changes with a name, on one or more switches."""

    devices: tuple[str, ...]
    before: str
    after: str


class Renaming(Frozen):
    """New name of a switch or server. paths: the values of the YAML that change."""

    fabric: str
    file: str
    old: str
    new: str
    paths: tuple[str, ...]
    mentions: tuple[str, ...]
    kept: tuple[Addition, ...]
    changed: tuple[ChangedName, ...]
    warnings: tuple[str, ...]
    advice: tuple[Advice, ...]
    connections: str
