"""Verify the head of a review, and the base if their routing input differs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from operator import itemgetter

from rocefort.base.progress import Step
from rocefort.change.results import FabricDifference
from rocefort.design.subject import ReadNetwork
from rocefort.models.change.compare import effect_of
from rocefort.models.effect import StudyKind
from rocefort.models.finding import Report
from rocefort.models.network.network import Network, Sources
from rocefort.validators import engine_choice
from rocefort.validators.batfish.access import Service
from rocefort.validators.engine_choice import Engine, StudyOptions, VerificationResult
from rocefort.validators.routing.engine import Solution, analyse, change_since, common_switches
from rocefort.validators.routing.reachability_matrix import denied_pairs
from rocefort.validators.routing_results import (
    FailureEffect,
    FailureStudy,
    RoutingState,
    SessionStatus,
)
from rocefort.validators.rules.verification.answers import verify, verify_change, verify_redundancy
from rocefort.verification.failures import FailureReport, study_failures
from rocefort.verification.review.results import (
    FailureChange,
    FailuresChange,
    Verification,
    VerifiedState,
)

BASE = "base"  # name of a step of the progress


@dataclass(frozen=True)
class VerificationOptions:
    """Verification engine and scope of failures."""

    engine: Engine
    service: Service | None
    failures: str | None = None


@dataclass(frozen=True)
class ReviewVerification:
    """Results: the reports of both sides, and the part of the review on verification."""

    told: Verification
    head: Report
    base: Report | None
    start: Solution | None = None  # of the base, by the embedded engine


@dataclass(frozen=True)
class VerifiedSide:
    """Network of one side, with its sources."""

    network: Network
    sources: Sources


def verify_both(
    base: VerifiedSide | None,
    head: VerifiedSide,
    difference: FabricDifference,
    asking: VerificationOptions,
) -> ReviewVerification:
    """Verify the head; verify the base only if their routing input differs.

    Raises as `engines.run` does.
    """
    same = base is not None and _same(base.network, head.network, difference, buffers=True)
    both = asking.engine in (Engine.BATFISH, Engine.BOTH)
    before = base.network if base and both and not same else None
    wishes = StudyOptions(None, before)
    done = engine_choice.run(head.network, head.sources, asking.engine, asking.service, wishes)
    failing = _study(head, asking, done.solution)
    report = done.report.joined(failing.report) if failing.report else done.report
    if base is None:
        return ReviewVerification(
            _review_verification(done, failing, FailureReport(), None), report, None
        )
    if same:
        quiet = _same(base.network, head.network, difference, buffers=False)
        earlier = failing
        if failing.study and not quiet:  # buffers differ, and so may PFC pauses
            with Step(BASE):
                earlier = _study(base, asking, analyse(base.network, base.sources))
        verification = _review_verification(done, failing, earlier, done.state, done.solution)
        return ReviewVerification(
            verification.model_copy(update={"same": True}), report, report, done.solution
        )
    with Step(BASE):
        solved = analyse(base.network, base.sources)
        was = verify(base.network, solved.state, base.sources, solved)
    changes = done.changes
    if not both:
        both_have = common_switches(base.network, head.network)
        changes = (change_since(solved, done.state, done.solution, both_have),)
        judged = verify_change(head.network, changes[0], head.sources, done.solution)
        report = report.joined(judged)
    with Step(BASE):
        earlier = _study(base, asking, solved) if failing.study else FailureReport()
    was = was.joined(earlier.report) if earlier.report else was
    studies = earlier.study, failing.study
    report = report.joined(verify_redundancy(base.network, head.network, studies, head.sources))
    verification = _review_verification(done, failing, earlier, solved.state, solved)
    return ReviewVerification(
        verification.model_copy(update={"changes": changes}), report, was, solved
    )


def _review_verification(
    done: VerificationResult,
    failing: FailureReport,
    earlier: FailureReport,
    before: RoutingState | None,
    solved: Solution | None = None,
) -> Verification:
    """Part of the review on verification, without changes of routing."""
    return Verification(
        engines=done.engines,
        head=_figures(done.state, done.solution),
        base=_figures(before, solved) if before else None,
        new_pairs=_new_pairs(before, done.state),
        failures=_failures(earlier.study, failing.study, failing.note),
        note=done.note,
    )


def _study(
    version: VerifiedSide, asking: VerificationOptions, solution: Solution | None
) -> FailureReport:
    subject = ReadNetwork(version.network, version.sources, {})
    return study_failures(subject, asking.failures, solution)


def _same(base: Network, head: Network, difference: FabricDifference, *, buffers: bool) -> bool:
    """Whether the verified input is equal; buffers: lossless buffers may differ."""
    if difference.only_before or difference.only_after:
        return False
    beside = ["links", "servers", "segments", "exits", "policy", "spines"]
    if not buffers:
        beside += ["lossless", "own_lossless"]
    if any(getattr(base, name) != getattr(head, name) for name in beside):
        return False
    unread = (StudyKind.NONE, StudyKind.BUFFERS) if buffers else (StudyKind.NONE,)
    return all(
        effect_of(edit).readers in unread
        for switch in difference.changed
        for edit in switch.change.edits
    ) and not any(switch.facts for switch in difference.changed)


def _figures(state: RoutingState, solution: Solution | None) -> VerifiedState:
    """Figures of a state; solution: of the embedded engine, if the state comes from it."""
    if solution is not None and solution.state is state:
        widths = solution.width_counts
    else:
        widths = Counter(map(len, map(itemgetter(2), state.routes)))  # a million: iterate in C
    denied = denied_pairs(solution.underlay.network, state.reachability) if solution else 0
    return VerifiedState(
        sessions=len(state.sessions),
        established=sum(s.status is SessionStatus.ESTABLISHED for s in state.sessions),
        routes=sum(widths.values()),
        widths=tuple(sorted(widths.items())),
        pairs=state.reachability.pairs - denied,
        delivered=state.reachability.delivered,
    )


def _new_pairs(before: RoutingState | None, after: RoutingState) -> int:
    """Number of ordered pairs with a server that the base does not have."""
    if before is None:
        return 0
    common = len(before.reachability.servers & after.reachability.servers)
    return after.reachability.pairs - common * (common - 1)


def _failures(was: FailureStudy | None, now: FailureStudy | None, note: str) -> FailuresChange:
    old, new = (
        {str(effect.failure): effect for effect in study.effects} if study else {}
        for study in (was, now)
    )
    names = (*new, *(name for name in old if name not in new)) if was else ()
    changes = (
        FailureChange(failure=name, before=old.get(name), after=new.get(name))
        for name in names
        if old.get(name) != new.get(name)
    )
    return FailuresChange(
        studied_before=len(old),
        studied_after=len(new),
        losing_before=sum(map(_loses, old.values())),
        losing_after=sum(map(_loses, new.values())),
        parting_before=sum(map(_parts, old.values())),
        parting_after=sum(map(_parts, new.values())),
        changes=tuple(changes) if old is not new else (),
        note=note,
    )


def _parts(effect: FailureEffect) -> bool:
    """Whether a failure disconnects pairs of working switches, with or without cables."""
    return bool(effect.lost or effect.cut_off)


def _loses(effect: FailureEffect) -> bool:
    """Whether a failure disconnects a pair that is still cabled."""
    return any(not loss.expected for loss in effect.lost)
