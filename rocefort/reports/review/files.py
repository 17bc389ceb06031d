"""A Review as the files that it writes: a comment, a page and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from rocefort.models.finding import Finding, Report
from rocefort.models.results.review import Review
from rocefort.reports.review.content import notes_of, review_comment, sections_of, verdict_of
from rocefort.reports.writers.html import html_of
from rocefort.reports.writers.markdown import LIMIT, markdown_of
from rocefort.reports.writers.templates import environment, file_text

MARK = "<!-- rocefort review -->"  # by which the comment of an earlier run is found


def review_markdown(
    review: Review, titles: Mapping[str, str], *, page: str = "", limit: int = LIMIT
) -> str:
    """The review as one comment of a pull request, of at most `limit` characters.

    titles: a rule's title by its id; page: where the whole is.
    """
    content = review_comment(review, titles)
    return markdown_of(content, level=2, limit=limit, page=page, head=f"{MARK}\n")


def review_page(review: Review, titles: Mapping[str, str]) -> str:
    """The review as one HTML page: no script, nothing fetched, nothing cut."""
    sections = sections_of(review, titles)
    template = environment().get_template("review.html.j2")
    return template.render(
        review=review,
        verdict=verdict_of(review),
        notes=notes_of(review),
        sections=sections,
        content=html_of(*sections),
        style=file_text("page.css"),
    )


class HeadReport(Report):
    """Rules and verification of the head; its findings appear once, as those of the change."""

    findings: tuple[Finding, ...] = Field(default=(), exclude=True)


class ReviewOutput(Review):
    """A Review for programs. failed: whether an error is new."""

    format: Literal[1] = 1
    has_failed: bool = Field(serialization_alias="failed")
    report: HeadReport


def review_json(review: Review) -> str:
    """All fields by their names; same review, same bytes."""
    values = dict(review) | {"report": HeadReport(**dict(review.report))}
    content = ReviewOutput(**values, has_failed=review.failed)
    return content.model_dump_json(indent=1, by_alias=True) + "\n"
