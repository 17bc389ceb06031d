"""Review: what a change in git does to a fabric, whole, for one report in several forms."""

from __future__ import annotations

from rocefort.models.base import Frozen
from rocefort.models.finding import Finding, Report, Severity
from rocefort.models.results.advice import Advice
from rocefort.models.results.difference import FabricDifference
from rocefort.models.results.routing import FailureEffect
from rocefort.models.results.routing_change import RoutingChange


class IntentChange(Frozen):
    """One YAML value that differs; None: not there. `before_at`, `after_at`: file:line."""

    path: str  # profiles.lossless.heps.xoff_kbytes, leaves[leaf03].segments
    before: str | None = None
    after: str | None = None
    before_at: str = ""
    after_at: str = ""

    @property
    def at(self) -> str:
        """Where it stands now, or stood."""
        return self.after_at or self.before_at


class ReviewLine(Frozen):
    """One line of a configuration that comes or goes, and the YAML line that it comes from."""

    added: bool
    view: str  # lines of the views around it, joined by ` / `; empty: the system view
    text: str
    place: str  # file:line of the intent


class LostServer(Frozen):
    """A server on one leaf that has no service while a change is made, or after it."""

    server: str
    leaf: str
    why: str
    owner: str | None = None
    maintenance: str | None = None  # when its owner allows work, in the owner's words


class Redundancy(Frozen):
    """What a leaf has left while one switch changes, if all that the change touches is out."""

    changing: str
    leaf: str
    uplinks: int  # cables to spines before
    left: int


class BlastRadius(Frozen):
    """What traffic can feel of a change; sessions and links are named, the rest counted or named.

    Pairs are unordered pairs of RoCE servers on different leaves.
    """

    sessions: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    segments: tuple[str, ...] = ()
    pairs: int = 0
    pairs_in_all: int = 0
    redundancy: tuple[Redundancy, ...] = ()
    lost: tuple[LostServer, ...] = ()


class ManagementChange(Frozen):
    """Something of a switch's management path that does not stay as it is."""

    device: str
    aspect: str  # management address, SSH, VTY lines, ..
    what: str


class SwitchAddress(Frozen):
    """How a switch is reached; None: not known."""

    device: str
    address: str | None = None  # with its prefix length
    port: str | None = None


class ManagementPath(Frozen):
    """Aspects that were compared on switches of both sides, and what of them changes.

    `removed` and `new` are on one side only: there is nothing to compare.
    """

    aspects: tuple[str, ...] = ()
    switches: int = 0
    changes: tuple[ManagementChange, ...] = ()
    removed: tuple[SwitchAddress, ...] = ()
    new: tuple[SwitchAddress, ...] = ()

    @property
    def untouched(self) -> int:
        """Switches whose whole management path stays."""
        return self.switches - len({change.device for change in self.changes})


class RewordedFinding(Frozen):
    """A finding that stays at its place with other figures."""

    before: Finding
    after: Finding


class FindingsChange(Frozen):
    """Findings of both sides against each other."""

    new: tuple[Finding, ...] = ()
    fixed: tuple[Finding, ...] = ()
    changed: tuple[RewordedFinding, ...] = ()
    unchanged: tuple[Finding, ...] = ()


class FailureChange(Frozen):
    """A failure that costs something else than before; None: it could not happen."""

    failure: str
    before: FailureEffect | None = None
    after: FailureEffect | None = None


class FailuresChange(Frozen):
    """Every failure that was studied on both sides; `note`: why there was no study."""

    studied_before: int = 0
    studied_after: int = 0
    losing_before: int = 0  # failures that lose a pair which cabling still joins
    losing_after: int = 0
    parting_before: int = 0  # failures that lose any pair, or cut a leaf off
    parting_after: int = 0
    changes: tuple[FailureChange, ...] = ()
    note: str = ""


class VerifiedState(Frozen):
    """Figures of one verification."""

    sessions: int
    established: int
    routes: int
    widths: tuple[tuple[int, int], ...]  # width, routes of it
    pairs: int
    delivered: int


class Verification(Frozen):
    """Verification of the head, and how it differs from that of the base.

    `same`: nothing that routing reads differs, so both sides are one and were verified once.
    """

    engines: tuple[str, ...]
    head: VerifiedState
    base: VerifiedState | None = None
    same: bool = False
    changes: tuple[RoutingChange, ...] = ()  # from base to head, by each engine
    new_pairs: int = 0  # ordered pairs with a server that the base has not
    failures: FailuresChange = FailuresChange()
    note: str = ""


class SwitchLines(Frozen):
    """Changed lines of one switch, with where each comes from."""

    device: str
    lines: tuple[ReviewLine, ...]


class Review(Frozen):
    """All that a review found. `notes` tell what a reader must know of the two sides."""

    fabric: str
    file: str  # of the fabric at the head, from the top of the repository
    base: str  # as the user named it, with its commit
    head: str
    notes: tuple[str, ...] = ()
    base_problems: tuple[str, ...] = ()  # why the base could not be derived
    intent: tuple[IntentChange, ...] = ()
    difference: FabricDifference
    lines: tuple[SwitchLines, ...] = ()
    advice: tuple[Advice, ...] = ()
    blast: BlastRadius = BlastRadius()
    management: ManagementPath = ManagementPath()
    findings: FindingsChange = FindingsChange()
    report: Report  # of the head: rules and verification
    verification: Verification | None = None

    @property
    def failed(self) -> bool:
        """Whether a finding of severity error is new."""
        return any(finding.severity is Severity.ERROR for finding in self.findings.new)
