"""Impact of failures: failures with equal cost share a row."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rocefort.design.subject import ReadNetwork
from rocefort.models.base import natural
from rocefort.models.finding import Report
from rocefort.models.wording import count_of, listing
from rocefort.reports.blocks import Note, Section, Table, columns
from rocefort.validators.failures.study import SINGLE, count_singles, study
from rocefort.validators.routing.engine import Solution
from rocefort.validators.routing_results import Failure, FailureEffect, FailureStudy
from rocefort.validators.rules.verification.answers import verify_failures

NONE = "none"
QUICK = 2_000  # single failures studied by default: some seconds with 8 spines


@dataclass(frozen=True)
class FailureReport:
    """A failure study with its findings, or a note why there is none."""

    study: FailureStudy | None = None
    report: Report | None = None
    note: str = ""


def study_failures(
    subject: ReadNetwork, scope: str | None, solution: Solution | None
) -> FailureReport:
    """Study a scope of failures; by default every single failure, if there is a solution.

    solution: of the embedded engine, None if that engine did not run. Raises as `study` does.
    """
    if scope == NONE or (scope is None and solution is None):
        return FailureReport()
    if scope is None and solution is not None:
        count = count_singles(subject.network, solution)
        if count > QUICK:
            note = f"{count:,} single failures not studied: run `rocefort verify --failures single`"
            return FailureReport(note=note)
    done = study(subject.network, scope or SINGLE, subject.sources, solution)
    return FailureReport(done, verify_failures(subject.network, done, subject.sources))


SCOPES = {"single": "every single failure", "2": "every pair of failures"}
MOST_LINES = 40


def failures_report(study: FailureStudy) -> Section:
    """Show the scope, the cost of each failure, and cyclic buffer dependencies."""
    rows = [(who, cost) for who, cost, _ in failure_groups(study)]
    more = len(rows) - MOST_LINES
    rest = [Note(f"and {count_of(more, 'row')} more, in --format json")] if more > 0 else []
    table = Table(columns("failure", "costs", wraps=("failure", "costs")), tuple(rows[:MOST_LINES]))
    return Section("", (Note(title(study)), table, *rest, Note(circles_text(study))))


def failure_groups(study: FailureStudy) -> list[tuple[str, str, list[FailureEffect]]]:
    """Group failures of one kind with equal cost: failing parts, cost and effects."""
    groups: defaultdict[tuple[str, str], list[FailureEffect]] = defaultdict(list)
    for effect in study.effects:
        groups[_kind(effect.failure), costs(effect)].append(effect)
    return [
        (_failing_parts(kind, effects), f"{cost}{_own_servers_text(effects)}", effects)
        for (kind, cost), effects in groups.items()
    ]


def title(study: FailureStudy) -> str:
    """Return the scope: number of failures, population and selection."""
    if study.seed is None:
        return f"{SCOPES.get(study.scope, study.scope)}: {len(study.effects):,}"
    kind = "single" if study.scope.startswith("single") else "pairs of"
    sampled = f"{len(study.effects):,} of {study.population:,} {kind} failures"
    return f"{sampled}, a sample with seed {study.seed}"


def circles_text(study: FailureStudy) -> str:
    """State whether a failure closes a cyclic buffer dependency, or why that is unknown."""
    if not study.circles:
        bad = sum(bool(effect.circle) for effect in study.effects)
        number = count_of(bad, "failure") if bad else "none"
        return f"failures that close a cyclic buffer dependency: {number}"
    return f"cyclic buffer dependency after a failure: {study.circles}"


def _stem(name: str) -> str:
    return re.sub(r"[-_.]?\d.*$", "", name) or name


def _kind(failure: Failure) -> str:
    """Return the kind of the failing part: leaf-spine link, spine; for a pair, both kinds."""
    cables = ("-".join(sorted((_stem(a.device), _stem(b.device)))) for a, b in failure.links)
    kinds = Counter((*(f"{cable} link" for cable in cables), *map(_stem, failure.nodes)))
    if len(kinds) == 1 and kinds.total() == 1:
        return next(iter(kinds))
    return "pair of " + " and ".join(
        f"a {kind}" if number == 1 else count_of(number, kind)
        for kind, number in sorted(kinds.items())
    )


def _failing_parts(kind: str, effects: Sequence[FailureEffect]) -> str:
    if len(effects) == 1:
        return str(effects[0].failure)
    if kind.startswith("pair of "):
        return f"any of {len(effects)} pairs{kind.removeprefix('pair')}"
    return f"any of {count_of(len(effects), kind)}"


def costs(effect: FailureEffect) -> str:
    """Return the cost of one failure in words; equal costs give equal text."""
    parts = [*_widths(effect), *_pairs(effect)]
    if effect.cut_off:
        verb = "is" if len(effect.cut_off) == 1 else "are"
        parts.append(f"{count_of(len(effect.cut_off), 'leaf')} {verb} cut off")
    if effect.bisection is not None and effect.bisection < 1:
        parts.append(f"{effect.bisection:.1%} of the bisection left")
    if effect.circle:
        parts.append(f"cyclic buffer dependency: {effect.circle}")
    return ", ".join(parts)


def _own_servers_text(effects: Sequence[FailureEffect]) -> str:
    """Return the number of servers on the failing parts, least and most."""
    least, most = (pick(effect.own_servers for effect in effects) for pick in (min, max))
    if not most:
        return ""
    servers = count_of(most, "server") if least == most else f"{least} to {most} servers"
    one = all(len(effect.failure.nodes) < 2 for effect in effects)
    return f", {servers} of {'its' if one else 'their'} own"


def _widths(effect: FailureEffect) -> Iterable[str]:
    """Return the width losses of the leaves with the most affected peers.

    For a link that is its own leaf, without the leaves that lose only a path to it.
    """
    reach: defaultdict[tuple[int, int], defaultdict[str, set[str]]]
    reach = defaultdict(lambda: defaultdict(set))
    for loss in effect.widths:
        for leaf in loss.leaves:
            reach[loss.was, loss.now][leaf].update(loss.towards)
    for (was, now), leaves in sorted(reach.items(), reverse=True):
        most = max(map(len, leaves.values()))
        hit = sum(len(others) == most for others in leaves.values())
        yield f"width {was} -> {now} for {count_of(hit, 'leaf')}"


def _pairs(effect: FailureEffect) -> Iterable[str]:
    if not effect.lost:
        yield "no pair lost"
        return
    text = f"{count_of(effect.pairs, 'pair')} lost"
    leaves = sorted({loss.source for loss in effect.lost if not loss.expected}, key=natural)
    if leaves:
        shown = listing(leaves) if len(leaves) < 4 else count_of(len(leaves), "leaf")
        text += f" although still cabled, from {shown}"
    yield text
