"""Findings of two versions against each other: new, fixed, with other figures, unchanged."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence

from rocefort.models.finding import Finding
from rocefort.models.review import FindingsChange, Reworded


def findings_change(before: Iterable[Finding], after: Iterable[Finding]) -> FindingsChange:
    """Compare findings: one is the same where rule, severity, place and sentence are.

    What is the same but for figures stays, with both sentences; lines may move.
    """
    old, new = list(before), list(after)
    known = Counter(map(_exact, old))
    unchanged: list[Finding] = []
    left: list[Finding] = []
    for finding in new:
        key = _exact(finding)
        known[key] -= 1
        (unchanged if known[key] >= 0 else left).append(finding)
    gone = _rest(old, unchanged)
    by_place: dict[Hashable, list[Finding]] = defaultdict(list)
    for finding in gone:
        by_place[_but_figures(finding)].append(finding)
    changed, fresh = [], []
    for finding in left:
        alike = by_place[_but_figures(finding)]
        if alike:
            changed.append(Reworded(before=alike.pop(0), after=finding))
        else:
            fresh.append(finding)
    fixed = _rest(gone, [pair.before for pair in changed])
    return FindingsChange(
        new=tuple(fresh), fixed=tuple(fixed), changed=tuple(changed), unchanged=tuple(unchanged)
    )


def _rest(findings: Sequence[Finding], taken: Sequence[Finding]) -> list[Finding]:
    """Findings without those that are taken, each as often as it is."""
    count = Counter(map(_exact, taken))
    left = []
    for finding in findings:
        key = _exact(finding)
        if count[key]:
            count[key] -= 1
        else:
            left.append(finding)
    return left


def _exact(finding: Finding) -> Hashable:
    where = finding.where
    return finding.rule, finding.severity, where.device, where.interface, finding.message


def _but_figures(finding: Finding) -> Hashable:
    where = finding.where
    sentence = re.sub(r"\d+", "#", finding.message)
    return finding.rule, finding.severity, where.device, where.interface, sentence
