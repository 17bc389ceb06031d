"""Review: all effects of a change in git on a fabric, for one report in several formats."""

from __future__ import annotations

from rocefort.change.results import (
    Advice,
    BlastRadius,
    FabricDifference,
    IntentChange,
    ManagementPath,
    SwitchLines,
)
from rocefort.models.base import Frozen
from rocefort.models.finding import Finding, Report, Severity
from rocefort.validators.routing_results import FailureEffect, RoutingChange


class RewordedFinding(Frozen):
    """Finding at the same place with other figures."""

    before: Finding
    after: Finding


class FindingsChange(Frozen):
    """Comparison of the findings of both sides."""

    new: tuple[Finding, ...] = ()
    fixed: tuple[Finding, ...] = ()
    changed: tuple[RewordedFinding, ...] = ()
    unchanged: tuple[Finding, ...] = ()


class FailureChange(Frozen):
    """Failure whose effect differs from before; None: it cannot occur on that side."""

    failure: str
    before: FailureEffect | None = None
    after: FailureEffect | None = None


class FailuresChange(Frozen):
    """Comparison of all failures that were studied; `note`: why there was no study."""

    studied_before: int = 0
    studied_after: int = 0
    losing_before: int = 0  # failures that lose a pair although cabling connects it
    losing_after: int = 0
    parting_before: int = 0  # failures that lose any pair, or disconnect a leaf
    parting_after: int = 0
    changes: tuple[FailureChange, ...] = ()
    note: str = ""


class VerifiedState(Frozen):
    """Figures of one verification. pairs: of servers, without those that the policy denies."""

    sessions: int
    established: int
    routes: int
    widths: tuple[tuple[int, int], ...]  # width, routes of it
    pairs: int
    delivered: int


class Verification(Frozen):
    """Verification of the head, and its difference from that of the base.

    `same`: no input of routing differs, so one verification is valid for both sides.
    """

    engines: tuple[str, ...]
    head: VerifiedState
    base: VerifiedState | None = None
    same: bool = False
    changes: tuple[RoutingChange, ...] = ()  # from base to head, by each engine
    new_pairs: int = 0  # ordered pairs with a server that the base has not
    failures: FailuresChange = FailuresChange()
    note: str = ""


class Review(Frozen):
    """Result of a review. `notes`: remarks on the two sides."""

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


class RemovedFabric(Frozen):
    """Fabric that the head no longer has; an empty name: its file at the base does not parse."""

    file: str
    fabric: str = ""
    switches: int = 0
    servers: int = 0


class UnreviewedFabric(Frozen):
    """Changed fabric that could not be reviewed."""

    file: str
    problems: tuple[str, ...]
    exit_code: int


class Reviews(Frozen):
    """Reviews of all fabrics that a change touches, and the fabrics without a review."""

    base: str
    head: str
    reviews: tuple[Review, ...] = ()
    removed: tuple[RemovedFabric, ...] = ()
    unreviewed: tuple[UnreviewedFabric, ...] = ()

    @property
    def exit_code(self) -> int:
        """The worst of all fabrics."""
        codes = (int(any(review.failed for review in self.reviews)),)
        return max(codes + tuple(fabric.exit_code for fabric in self.unreviewed))

    @property
    def only(self) -> Review | None:
        """The review, if there is one and nothing beside it."""
        others = self.removed or self.unreviewed
        return self.reviews[0] if len(self.reviews) == 1 and not others else None
