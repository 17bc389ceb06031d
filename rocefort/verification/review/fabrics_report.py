"""Reviews of several fabrics as one comment: the verdicts first, then the details."""

from __future__ import annotations

from collections.abc import Mapping

from rocefort.models.finding import Severity
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Items, Note, Section, Tone
from rocefort.verification.review.results import RemovedFabric, Reviews
from rocefort.verification.review.sections import details_of
from rocefort.verification.review.verdict import verdict_of, verdict_section

MOST_UNCUT = 10  # verdicts that a short comment has whole; the longest has about 3,000 characters


def headline_of(found: Reviews) -> str:
    """The verdict on all fabrics in a few words."""
    if not found.reviews and not found.removed:
        return "no fabric changes"
    new = [finding for review in found.reviews for finding in review.findings.new]
    errors = sum(finding.severity is Severity.ERROR for finding in new)
    parts = [count_of(errors, "new error") if errors else "no new errors"]
    parts += [f"{count_of(len(found.unreviewed), 'fabric')} not reviewed"] * bool(found.unreviewed)
    parts += [f"{count_of(len(found.removed), 'fabric')} removed"] * bool(found.removed)
    changed = len(found.reviews) + len(found.unreviewed)
    return f"{count_of(changed, 'fabric')} changed: {', '.join(parts)}"


def others_of(found: Reviews) -> tuple[str, ...]:
    """Sentences on the fabrics without a review."""
    failed = (
        f"{fabric.file}: no review: {problem}"
        for fabric in found.unreviewed
        for problem in fabric.problems
    )
    return (*failed, *map(_removal, found.removed))


def reviews_summary(found: Reviews) -> Section:
    """The verdict of each fabric."""
    verdicts = (f"{review.file}: {verdict_of(review)}" for review in found.reviews)
    tone = Tone.ERROR if found.exit_code else Tone.GOOD
    title = f"{found.base} -> {found.head}: {headline_of(found)}"
    return Section(title, (Items((*verdicts, *others_of(found))),), tone=tone)


def reviews_comment(found: Reviews, titles: Mapping[str, str]) -> Section:
    """All reviews as a comment on a pull request: each verdict, then the details of each fabric."""
    ordered = sorted(found.reviews, key=lambda review: not review.failed)
    verdicts = [
        Section(
            f"{review.fabric}: {verdict_of(review)}",
            (verdict_section(review),),
            uncut=number < MOST_UNCUT,
        )
        for number, review in enumerate(ordered)
    ]
    details = [
        Section(f"Details of {review.fabric}", tuple(details_of(review, titles)))
        for review in ordered
    ]
    sides = Note(f"From {found.base} to {found.head}.")
    blocks = (sides, *reviews_summary(found).blocks, *verdicts, *details)
    return Section(f"Rocefort: {headline_of(found)}", blocks)


def _removal(fabric: RemovedFabric) -> str:
    if not fabric.fabric:
        return f"{fabric.file}: the fabric is removed; its file at the base does not parse"
    switches, servers = count_of(fabric.switches, "switch"), count_of(fabric.servers, "server")
    return (
        f"{fabric.file}: the fabric {fabric.fabric} is removed: {switches} and {servers} are no "
        "longer described; the switches keep their configuration"
    )
