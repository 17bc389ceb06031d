"""A Review as the files beside its page: a comment, JSON, and SARIF 2.1.0.

`baselineState` of each result states whether the base had it: new, or updated (other figures).
Unchanged and not judged results are not part of the change: `rocefort check --format sarif` lists
them. Fixed findings are no results, because code scanning shows every result as an alert.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from pydantic import Field

from rocefort.change.results import SwitchDifference
from rocefort.models.base import Frozen
from rocefort.models.finding import Finding, Report, Severity, Where
from rocefort.models.wording import count_of
from rocefort.reports.formats.ci_reports import SCHEMA, as_sarif
from rocefort.reports.formats.rule_text import RuleText
from rocefort.reports.wording import group_items
from rocefort.reports.writers.markdown import LIMIT, markdown_of
from rocefort.verification.review.fabrics import reviews_comment
from rocefort.verification.review.results import RemovedFabric, Review, Reviews, UnreviewedFabric
from rocefort.verification.review.sections import review_comment

SERVICE, MANAGEMENT, ADVICE = "REV001", "REV002", "REV003"
WORDS = (
    RuleText(
        id=SERVICE,
        title="Effect of the change on traffic",
        severity=Severity.WARNING,
        explanation="A value that changes at this line affects traffic while it is applied.",
    ),
    RuleText(
        id=MANAGEMENT,
        title="Effect of the change on the management path",
        severity=Severity.WARNING,
        explanation="The change may cut off access to a switch; review it with care.",
    ),
    RuleText(
        id=ADVICE,
        title="Steps of a change that is not an expansion",
        severity=Severity.INFO,
        explanation="A switch is removed or replaced, a server moves, or a value that affects "
        "traffic changes: the review has the steps.",
    ),
)
KEY = re.compile(r"^[^[]*\[([^]]+)\]")  # what a path names: its first brackets
PORT = re.compile(r"\b\d+GE\d+/\d+/\d+(?::\d+)?\b|\bEth-Trunk\d+\b|\b\d+(?:\.\d+){3}(?:/\d+)?")


def reviews_sarif(reviews: Iterable[Review], rules: Sequence[RuleText]) -> str:
    """Reviews as one SARIF log with a run for each; same reviews, same bytes.

    rules: the words of all rules.
    """
    runs = [_run(review, rules) for review in reviews]
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": runs}, indent=2) + "\n"


def _run(review: Review, rules: Sequence[RuleText]) -> dict[str, Any]:
    found = review.findings
    told = tuple(_intent_results(review))
    findings = (*told, *found.new, *(pair.after for pair in found.changed))
    states = ["new"] * (len(told) + len(found.new)) + ["updated"] * len(found.changed)
    report = review.report.model_copy(update={"findings": findings, "not_judged": (), "waived": ()})
    log = json.loads(as_sarif(report, (*rules, *WORDS), subject=review.file))
    run: dict[str, Any] = log["runs"][0]
    run["automationDetails"] = {"id": f"rocefort-review/{review.fabric}/"}
    for result, state in zip(run["results"], states, strict=True):
        result["baselineState"] = state
    return run


def _intent_results(review: Review) -> Iterator[Finding]:
    """One result for each line of YAML and what its change does, whatever number of switches."""
    moved = {change.before_at: change.after_at for change in review.intent if change.after_at}
    places = {switch.device: _IntentPlaces(switch, moved) for switch in review.difference.changed}
    service = [
        (places[switch.device].of(reason), PORT.sub("a port or peer", reason), switch.device)
        for switch in review.difference.changed
        for reason in switch.change.service_affecting
    ]
    yield from _grouped_results(SERVICE, service, "affects service")
    management = [
        (places[c.device].of(c.what), f"{c.aspect}: {c.what}", c.device)
        for c in review.management.changes
    ]
    yield from _grouped_results(MANAGEMENT, management, "management path changes")
    for advice in review.advice:
        file, _, line = (advice.place or review.file).rpartition(":")
        where = Where(file=file or line, line=int(line) if file else None)
        message = f"{advice.title}: {' '.join(advice.traffic)}"
        yield Finding(rule=ADVICE, severity=Severity.INFO, where=where, message=message)


def _grouped_results(
    rule: str, found: Iterable[tuple[str, str, str]], what: str
) -> Iterator[Finding]:
    for (place, text), same in group_items(found, lambda item: item[:2]).items():
        devices = list(dict.fromkeys(device for _, _, device in same))
        file, _, line = place.rpartition(":")
        where = Where(file=file or None, line=int(line) if line.isdigit() else None)
        who = devices[0] if len(devices) == 1 else count_of(len(devices), "switch")
        message = f"{what} on {who}: {text}"
        yield Finding(rule=rule, severity=Severity.WARNING, where=where, message=message)


class _IntentPlaces:
    """Lines of the intent that the edits of a switch come from, by what their paths name.

    moved: new place of a value of the intent by its old place, for removed values.
    """

    def __init__(self, switch: SwitchDifference, moved: Mapping[str, str]) -> None:
        self._of: dict[str, str] = {}
        for edit, at in zip(switch.change.edits, switch.places, strict=True):
            place = at.after or moved.get(at.before, "")
            if place:
                key = KEY.search(edit.path)
                self._of.setdefault(edit.path, place)
                self._of.setdefault(key[1] if key else edit.path, place)

    def of(self, text: str) -> str:
        """Line of the first edit that a sentence names, else of the first that has one."""
        path = text.partition(":")[0]
        if path in self._of:
            return self._of[path]
        named = (place for word, place in self._of.items() if word in text)
        return next(named, next(iter(self._of.values()), ""))


MARK = "<!-- rocefort review -->"  # by which the comment of an earlier run is found


def reviews_markdown(
    found: Reviews, titles: Mapping[str, str], *, page: str = "", limit: int = LIMIT
) -> str:
    """All reviews as one comment of a pull request, of at most `limit` characters.

    titles: a rule's title by its id; page: where the whole is.
    """
    content = review_comment(found.only, titles) if found.only else reviews_comment(found, titles)
    return markdown_of(content, level=2, limit=limit, page=page, head=f"{MARK}\n")


def no_review_markdown(log: str) -> str:
    """The comment of a change whose review has not ended. log: address of the run."""
    where = f': <a href="{escape(log)}">log</a>' if log else ""
    return f"{MARK}\n\n## Rocefort: no review\n\nThe log of the run has the reason{where}.\n"


class HeadReport(Report):
    """Rules and verification of the head; its findings appear once, as those of the change."""

    findings: tuple[Finding, ...] = Field(default=(), exclude=True)


class ReviewOutput(Review):
    """A Review for programs. failed: whether an error is new."""

    has_failed: bool = Field(serialization_alias="failed")
    report: HeadReport


class ReviewsOutput(Frozen):
    """Reviews for programs, one or more; failed: whether an error is new, or a review missing."""

    base: str
    head: str
    has_failed: bool = Field(serialization_alias="failed")
    reviews: tuple[ReviewOutput, ...]
    removed: tuple[RemovedFabric, ...]
    unreviewed: tuple[UnreviewedFabric, ...]


def reviews_output(found: Reviews) -> ReviewsOutput:
    """Return the reviews for programs; same reviews, same bytes."""
    values = dict(found) | {"reviews": tuple(map(_output, found.reviews))}
    return ReviewsOutput(**values, has_failed=found.exit_code != 0)


def _output(review: Review) -> ReviewOutput:
    values = dict(review) | {"report": HeadReport(**dict(review.report))}
    return ReviewOutput(**values, has_failed=review.failed)
