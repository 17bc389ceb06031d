"""Difference of two states of a fabric, effects of a change, and advice on it."""

from __future__ import annotations

from enum import StrEnum

from rocefort.models.base import Frozen
from rocefort.models.change.plan import Change


class IntentChange(Frozen):
    """YAML value that differs; None: absent. `before_at`, `after_at`: file:line."""

    path: str  # profiles.lossless.heps.xoff_kbytes, leaves[leaf03].segments
    before: str | None = None
    after: str | None = None
    before_at: str = ""
    after_at: str = ""

    @property
    def at(self) -> str:
        """Present place of the value, else the earlier one."""
        return self.after_at or self.before_at


class ReviewLine(Frozen):
    """Line of a configuration that is added or removed, and the YAML line of its source."""

    added: bool
    view: str  # lines of the views around it, joined by ` / `; empty: the system view
    text: str
    place: str  # file:line of the intent


class LostServer(Frozen):
    """Server on one leaf without service during a change, or after it."""

    server: str
    leaf: str
    why: str
    owner: str | None = None
    maintenance: str | None = None  # when its owner allows work, in the owner's words


class Redundancy(Frozen):
    """Uplinks of a leaf while one switch changes, if all that the change affects is down."""

    changing: str
    leaf: str
    uplinks: int  # cables to spines before
    left: int


class BlastRadius(Frozen):
    """Sessions, links, servers, racks and segments that a change can affect.

    Pairs are unordered pairs of RoCE servers on different leaves.
    """

    sessions: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    racks: tuple[str, ...] = ()  # of the leaves of these servers
    segments: tuple[str, ...] = ()
    pairs: int = 0
    pairs_in_all: int = 0
    redundancy: tuple[Redundancy, ...] = ()
    lost: tuple[LostServer, ...] = ()


class ManagementChange(Frozen):
    """Change of a switch's management path."""

    device: str
    aspect: str  # management address, SSH, VTY lines, ..
    what: str


class SwitchAddress(Frozen):
    """Management address of a switch; None: unknown."""

    device: str
    address: str | None = None  # with its prefix length
    port: str | None = None


class ManagementPath(Frozen):
    """Aspects of management that were compared on switches of both sides, and their changes.

    `removed` and `new` are on one side only and cannot be compared.
    """

    aspects: tuple[str, ...] = ()
    switches: int = 0
    changes: tuple[ManagementChange, ...] = ()
    removed: tuple[SwitchAddress, ...] = ()
    new: tuple[SwitchAddress, ...] = ()

    @property
    def untouched(self) -> int:
        """Number of switches with an unchanged management path."""
        return self.switches - len({change.device for change in self.changes})


class SwitchLines(Frozen):
    """Changed lines of one switch, each with its source."""

    device: str
    lines: tuple[ReviewLine, ...]


class Ownership(StrEnum):
    """Fate of a line without a model when one side changes to the other."""

    STAYS = "stays"  # the other side has it, too, or is a fabric, which owns only its own lines
    GOES = "goes"  # only the first side has it, and the second is text
    COMES = "comes"  # only the second side has it


class Unowned(Frozen):
    """Kept line of a configuration, with its views; secrets are masked."""

    text: str
    ownership: Ownership
    where: str = ""  # file:line


class Places(Frozen):
    """Places of an Edit's values, file:line on each side; empty without such a line."""

    before: str = ""
    after: str = ""


class SwitchDifference(Frozen):
    """Difference of one switch that both sides have.

    `places` belong to the change's edits, one each. `facts`: differences outside of the text
    (hardware, release). `no_patch`: why a change with edits has no commands. `notes`: remarks on
    the sides.
    """

    change: Change
    places: tuple[Places, ...] = ()
    facts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    no_patch: str = ""
    unowned: tuple[Unowned, ...] = ()

    @property
    def device(self) -> str:
        """Name of the switch."""
        return self.change.device

    @property
    def changes(self) -> bool:
        """Whether the sides differ in lines that change, in edits or in facts."""
        moved = any(line.ownership is not Ownership.STAYS for line in self.unowned)
        return moved or bool(self.change.patch or self.change.edits or self.facts)


class OneSided(Frozen):
    """Switch that only one side has."""

    device: str
    where: str  # its file
    lines: int  # commands in its configuration


class FabricDifference(Frozen):
    """Difference of two sides; `before` and `after` are the names that the user gave.

    `switches` are those that differ or have kept lines, in the order of the sides.
    """

    before: str
    after: str
    compared: int  # switches that both sides have
    switches: tuple[SwitchDifference, ...]
    only_before: tuple[OneSided, ...] = ()
    only_after: tuple[OneSided, ...] = ()

    @property
    def changed(self) -> tuple[SwitchDifference, ...]:
        """Switches that need a change."""
        return tuple(switch for switch in self.switches if switch.changes)

    @property
    def differs(self) -> bool:
        """Whether the sides differ; lines that stay do not count."""
        return bool(self.changed or self.only_before or self.only_after)

    @property
    def drifts(self) -> bool:
        """Whether running differs from intended; kept lines count as drift."""
        return bool(self.switches or self.only_before or self.only_after)


class AdviceKind(StrEnum):
    """Kind of a part of a change that is not growth."""

    REMOVAL = "removal"  # a switch is removed
    RENAME = "rename"  # one switch, another name
    SERVER_RENAME = "server rename"  # one server, another name
    NOT_A_RENAME = "not a rename"  # it looks like one, but its id is another
    HARDWARE = "hardware"  # a switch gets another model or operating system
    RELEASE = "release"  # a switch runs another release
    MOVE = "move"  # a server gets another port
    PASSWORD = "password"  # noqa: S105 - a kind of change
    LOSSLESS = "lossless"  # a threshold or a profile


class AdviceStep(Frozen):
    """One step; `commands` are for the switch `on`, or for a shell if `on` is empty.

    `back`: commands that undo them, as long as no later step was made.
    """

    text: str
    on: str = ""
    commands: tuple[str, ...] = ()
    back: tuple[str, ...] = ()


class Advice(Frozen):
    """Effect of a part of a change on traffic, and the steps to make it.

    `unconfirmed`: facts without a source, or with one for another release. `place`: file:line.
    """

    kind: AdviceKind
    title: str
    devices: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    traffic: tuple[str, ...]
    steps: tuple[AdviceStep, ...] = ()
    unconfirmed: tuple[str, ...] = ()
    place: str = ""
