"""A review as one HTML page: causes and errors first, then every section; nothing is cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rocefort.change.results import IntentChange
from rocefort.models.finding import Finding, Severity
from rocefort.models.wording import count_of
from rocefort.reports.blocks import first_words
from rocefort.reports.wording import file_lines, name_ranges
from rocefort.reports.writers.pages import PageHead, framed_page, html_of
from rocefort.verification.review.fabrics import headline_of, others_of
from rocefort.verification.review.results import Review, Reviews
from rocefort.verification.review.sections import intent_line, notes_of, sections_of
from rocefort.verification.review.verdict import (
    anchor_of,
    errors_by_rule,
    hit_of,
    risk_of,
    verdict_of,
)

MOST_ERRORS, MOST_CAUSES, MOST_NAMES = 4, 3, 4


@dataclass(frozen=True, slots=True)
class NewError:
    """New errors of one rule: the first message, the switches, the line and its changed value.

    anchor: id of the section with all of them.
    """

    rule: str
    title: str
    message: str
    scope: str
    source: str
    fix: str
    anchor: str


def review_page(review: Review, titles: Mapping[str, str], made: str = "") -> str:
    """The review as one HTML page: no script, nothing fetched. made: time and version."""
    sections = sections_of(review, titles)
    whole = [section for section in sections if section.blocks]
    words = verdict_of(review)
    head = PageHead(
        title=f"Review of {review.fabric}: {words}",
        heading=f"Review of {review.fabric}",
        verdict=words,
        tone="failed" if review.failed else "clean",
        sizes=_sizes(review),
        tiles=list(_tiles(review)),
        provenance=list(_provenance(review, made)),
        sections=[(section.id, section.title) for section in whole],
    )
    errors = list(errors_by_rule(review).values())
    rest = sum(map(len, errors[MOST_ERRORS:]))
    shown: dict[str, object] = {
        "errors": [_new_error(same, review, titles) for same in errors[:MOST_ERRORS]],
        "rest": count_of(rest, "more error") if rest else "",
        "causes": [intent_line(change) for change in review.intent[:MOST_CAUSES]],
        "more_causes": max(len(review.intent) - MOST_CAUSES, 0),
        "changed": _changed(review),
        "risk": risk_of(review),
        "hit": hit_of(review),
        "notes": notes_of(review),
        "sections": [(section, html_of(*section.blocks, level=3)) for section in whole],
        "others": [section for section in sections if not section.blocks],
    }
    return framed_page("review.html.j2", head, shown, files=("review.css",))


def _sizes(review: Review) -> list[str]:
    change = review.difference
    sizes = [f"{len(change.changed):,} of {count_of(change.compared, 'switch')} changed"]
    sizes += [count_of(len(change.only_after), "new switch")] if change.only_after else []
    sizes += [count_of(len(change.only_before), "removed switch")] if change.only_before else []
    return sizes


def _tiles(review: Review) -> Iterator[tuple[str, str]]:
    found = review.findings
    for severity in (Severity.ERROR, Severity.WARNING):
        number = sum(finding.severity is severity for finding in found.new)
        yield severity.value if number else "quiet", count_of(number, f"new {severity.value}")
    yield "quiet", f"{len(found.fixed):,} fixed"
    yield "quiet", f"{len(review.report.waived):,} waived"
    yield "unjudged", f"{len(review.report.not_judged):,} not judged"
    affected = sum(
        bool(switch.change.service_affecting or switch.facts)
        for switch in review.difference.changed
    ) + len(review.difference.only_before)
    if affected:
        yield "warning", f"{count_of(affected, 'switch')} affected in service"


def _provenance(review: Review, made: str) -> Iterator[tuple[str, str]]:
    if made:
        yield "Made", made
    yield "From", review.base
    yield "To", review.head
    yield "Fabric", review.file
    engines = " and ".join(review.verification.engines) if review.verification else ""
    yield "Routing", f"verified by {engines}" if engines else "not verified"


def _changed(review: Review) -> str:
    """Switches that the changed values meet: `all 128 switches`."""
    change = review.difference
    names = [switch.device for switch in change.changed]
    if not names:
        return ""
    if len(names) == change.compared:
        return f"all {count_of(len(names), 'switch')}"
    return f"{count_of(len(names), 'switch')}: {_names(names)}"


def _new_error(same: Sequence[Finding], review: Review, titles: Mapping[str, str]) -> NewError:
    first = same[0]
    messages = len({finding.message for finding in same})
    more = f" (and {count_of(messages - 1, 'other message')})" if messages > 1 else ""
    return NewError(
        rule=first.rule,
        title=titles.get(first.rule, ""),
        message=f"{first.message}{more}",
        scope=_scope(same, review.difference.compared),
        source=_source(same, review.intent),
        fix=first.hint,
        anchor=anchor_of(first),
    )


def _scope(same: Sequence[Finding], compared: int) -> str:
    devices = list(dict.fromkeys(f.where.device for f in same if f.where.device))
    if not devices:
        return "the fabric as a whole"
    if len(devices) == compared > 1:
        return f"all {count_of(compared, 'switch')}"
    if len(devices) == 1:
        return devices[0]
    return f"{count_of(len(devices), 'switch')}: {_names(devices)}"


def _names(devices: Sequence[str]) -> str:
    return first_words(name_ranges(devices), MOST_NAMES)


def _source(same: Sequence[Finding], intent: Sequence[IntentChange]) -> str:
    """Line of the intent, with its changed value; "" for errors of many lines."""
    files = file_lines(finding.where for finding in same)
    lines = [f"{file}:{line}" for file, numbers in files.items() for line in numbers]
    changed = {change.at: change for change in intent}
    known = [changed[line] for line in lines if line in changed]
    if known:
        return intent_line(known[0])
    return ", ".join(lines) if len(lines) <= MOST_NAMES else ""


def reviews_page(
    found: Reviews, folders: Mapping[str, str], titles: Mapping[str, str], made: str = ""
) -> str:
    """Page of several fabrics: the verdict of each. folders: of their pages, by fabric's file."""
    words = headline_of(found)
    head = PageHead(
        title=f"Review: {words}",
        heading="Review",
        verdict=words,
        tone="failed" if found.exit_code else "clean",
        provenance=[
            *([("Made", made)] if made else []),
            ("From", found.base),
            ("To", found.head),
        ],
    )
    shown: dict[str, object] = {
        "fabrics": [_fabric(review, folders[review.file], titles) for review in found.reviews],
        "others": others_of(found),
    }
    return framed_page("reviews.html.j2", head, shown, files=("review.css",))


def _fabric(review: Review, folder: str, titles: Mapping[str, str]) -> dict[str, object]:
    errors = list(errors_by_rule(review).values())
    return {
        "review": review,
        "verdict": verdict_of(review),
        "folder": folder,
        "sizes": _sizes(review),
        "risk": risk_of(review),
        "hit": hit_of(review),
        "errors": [_new_error(same, review, titles) for same in errors[:MOST_ERRORS]],
    }
