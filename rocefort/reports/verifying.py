"""What a verification tells beside its findings: changes by engine, and how long a service took."""

from __future__ import annotations

from collections.abc import Sequence

from rocefort.models.routing import FailureStudy, Timing
from rocefort.models.routing_change import RoutingChange
from rocefort.models.wording import counted


def change_text(change: RoutingChange, against: str) -> str:
    """One version against another, by one engine: two lines."""
    routes = (
        ("gone", change.gone),
        ("new", change.new),
        ("narrower", change.narrower),
        ("wider", change.wider),
        ("over other next hops", change.moved),
    )
    said = ", ".join(f"{len(found)} {what}" for what, found in routes if found)
    pairs = f"{counted(len(change.lost), 'server pair')} lost, {len(change.gained)} gained"
    return f"against {against}, by {change.engine}: {pairs}\nBGP routes: {said or 'as before'}\n"


def timings_text(timings: Sequence[Timing], version: str) -> str:
    """How long each question took; equal questions share a line."""
    found: dict[str, list[float]] = {}
    for timing in timings:
        found.setdefault(timing.question.partition(",")[0], []).append(timing.seconds)
    total = sum(timing.seconds for timing in timings)
    lines = [f"Batfish {version}: {counted(len(timings), 'question')}, {total:.1f} s"]
    lines += [
        f"{question:<28} {len(seconds):5} x {sum(seconds):8.2f} s"
        for question, seconds in sorted(found.items(), key=lambda item: -sum(item[1]))
    ]
    return "\n".join(lines) + "\n"


def beside_report(
    studies: Sequence[FailureStudy],
    changes: Sequence[RoutingChange],
    timings: Sequence[Timing],
) -> dict[str, object]:
    """The same and the effects of failures, for programs; nothing where there is nothing."""
    parts = {"failures": studies, "changes": changes, "timings": timings}
    return {
        name: [one.model_dump(mode="json") for one in found]
        for name, found in parts.items()
        if found
    }
