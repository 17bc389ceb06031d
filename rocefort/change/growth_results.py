"""Growth, removal and rename: what changes, and the proof that nothing else does.

`rocefort/change/expand.py` and `rocefort/verification/review/edit.py` make them for reports. Gb/s
are of one direction.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface

from rocefort.change.results import Advice
from rocefort.models.base import Frozen
from rocefort.models.hardware.media import CableMedium
from rocefort.models.network.network import End
from rocefort.validators.capacity.bisection import Bandwidth
from rocefort.validators.rules.verification.growth import Addition, Proof


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


class GrowthOutput(Growth):
    """Growth of a fabric; written: whether the file has it."""

    written: bool


class RemovalOutput(Removal):
    """Removal from a fabric; written: whether the file has it."""

    written: bool


class RenamingOutput(Renaming):
    """New name in a fabric; written: whether the file has it."""

    written: bool
