"""Law of progress events: steps are nested, totals are reached, nothing follows the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def steps_of(events: Iterable[Mapping[str, Any]], *, interrupted: bool = False) -> list[str]:
    """Assert the law for events as JSON has them, and return the steps in order of their begin.

    interrupted: steps may end before their total. Steps of a step have a colon between them.
    """
    names: list[str] = []
    last: list[dict[str, Any]] = []  # newest event of each open step
    for event in events:
        within = [each["step"] for each in last]
        match event["phase"]:
            case "begin":
                assert event["within"] == within
                assert event["done"] == 0
                names.append(": ".join([*within, event["step"]]))
                last.append(dict(event))
            case "advance":
                level = len(event["within"])
                assert [*event["within"], event["step"]] == within[: level + 1]
                assert event["done"] > last[level]["done"]
                assert event["done"] <= event["total"] or not event["total"]
                last[level] = dict(event)
            case "end":
                assert [*event["within"], event["step"]] == within
                assert event["done"] >= last[-1]["done"]
                assert event["done"] == event["total"] or not event["total"] or interrupted, event
                last.pop()
            case "note":
                assert event["within"] == within
                assert event["detail"]
    assert not last
    return names
