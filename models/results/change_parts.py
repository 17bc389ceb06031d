"""Parts of a change: values of the intent, lines, blast radius, management path."""

from __future__ import annotations

from rocefort.models.base import Frozen


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
