"""A Review as the files that it writes: a comment, a page and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping

from rocefort.models.review import Review
from rocefort.reports.page_frame import environment, file_text
from rocefort.reports.review_content import notes_of, review_comment, sections_of, verdict_of
from rocefort.reports.writers.html import html_of
from rocefort.reports.writers.markdown import LIMIT, markdown_of

REVIEW_FORMAT = 1
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


def review_json(review: Review) -> str:
    """All fields by their names, with the format's number and whether an error is new.

    Findings of the head are told once: as new, changed or unchanged.
    """
    head = json.dumps({"format": REVIEW_FORMAT, "failed": review.failed}, indent=1)
    content = review.model_dump_json(indent=1, exclude={"report": {"findings"}})
    return f"{head.removesuffix(chr(10) + '}')},{content.removeprefix('{')}\n"
