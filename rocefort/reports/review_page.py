"""A Review as one HTML page for looking at it whole: no script, nothing fetched, nothing cut."""

from __future__ import annotations

from collections.abc import Mapping

from rocefort.models.review import Review
from rocefort.reports.page_frame import environment, file_text
from rocefort.reports.review_content import notes_of, sections_of, verdict_of


def review_page(review: Review, titles: Mapping[str, str]) -> str:
    """The page; every value is escaped by the template. titles: a rule's title by its id."""
    return (
        environment()
        .get_template("review.html.j2")
        .render(
            review=review,
            verdict=verdict_of(review),
            notes=notes_of(review),
            sections=sections_of(review, titles),
            style=file_text("page.css"),
        )
    )
