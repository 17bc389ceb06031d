"""What a verification covered, as text: who answered, what was asked, what came back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rocefort.models.reachability import Reachability
from rocefort.models.routing import RoutingState, SessionStatus
from rocefort.reports.wording import WIDTH

COLUMNS = 8  # segments side by side
CELL = 6
TITLE = "pairs delivered, from segment"


def segments_text(reached: Reachability) -> Iterator[str]:
    """Which segment reaches which: all, some or none of its pairs; nothing where there is one."""
    names = reached.segments
    if len(names) < 2:
        return
    cells = {(pair.source, pair.destination): pair.share for pair in reached.by_segment()}
    head = WIDTH - COLUMNS * CELL
    for start in range(0, len(names), COLUMNS):
        columns = names[start : start + COLUMNS]
        numbers = range(start + 1, start + 1 + len(columns))
        yield f"{TITLE:<{head}}" + "".join(f"{number:>{CELL}}" for number in numbers)
        for number, name in enumerate(names, 1):
            row = "".join(f"{cells[name, other]:>{CELL}}" for other in columns)
            label = f"{number:>4} {name}"
            if len(label) > head:  # a name may have 63 letters
                yield label
                label = ""
            yield f"{label:<{head}}{row}"


def verified_text(state: RoutingState, engines: Sequence[str], note: str = "") -> str:
    """Lines that say what was verified and by which engine."""
    up = sum(s.status is SessionStatus.ESTABLISHED for s in state.sessions)
    widths = Counter(route.width for route in state.routes)
    reached = state.reachability
    shares = ", ".join(f"{widths[width]} of width {width}" for width in sorted(widths))
    lines = [
        f"verified by: {' and '.join(engines)}" + (f" ({note})" if note else ""),
        f"BGP sessions established: {up} of {len(state.sessions)} ends",
        f"BGP routes: {len(state.routes)} ({shares or 'none'})",
        f"server pairs delivered by every path: {reached.delivered} of {reached.pairs}",
        *segments_text(reached),
    ]
    return "\n".join(lines) + "\n"
