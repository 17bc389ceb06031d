"""A Review as the files that it writes beside its page: a comment and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from pydantic import Field

from rocefort.models.base import Frozen
from rocefort.models.finding import Finding, Report
from rocefort.reports.writers.markdown import LIMIT, markdown_of
from rocefort.verification.review.fabrics import reviews_comment
from rocefort.verification.review.results import RemovedFabric, Review, Reviews, UnreviewedFabric
from rocefort.verification.review.sections import review_comment

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
