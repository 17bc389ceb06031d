"""A Review for programs: everything in it, same review, same bytes."""

from __future__ import annotations

import json

from rocefort.models.review import Review

REVIEW_FORMAT = 1


def review_json(review: Review) -> str:
    """All fields by their names, with the format's number and whether an error is new.

    Findings of the head are told once: as new, changed or unchanged.
    """
    head = json.dumps({"format": REVIEW_FORMAT, "failed": review.failed}, indent=1)
    content = review.model_dump_json(indent=1, exclude={"report": {"findings"}})
    return f"{head.removesuffix(chr(10) + '}')},{content.removeprefix('{')}\n"
