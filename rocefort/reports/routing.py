"""What a verification covered, as text: who answered, what was asked, what came back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rocefort.models.routing import RoutingState, SessionStatus


def verified_text(state: RoutingState, engines: Sequence[str], note: str = "") -> str:
    """Lines that say what was verified and by which engine."""
    up = sum(s.status is SessionStatus.ESTABLISHED for s in state.sessions)
    widths = Counter(route.width for route in state.routes)
    delivered = sum(pair.delivered for pair in state.reachability)
    shares = ", ".join(f"{widths[width]} of width {width}" for width in sorted(widths))
    lines = [
        f"verified by: {' and '.join(engines)}" + (f" ({note})" if note else ""),
        f"BGP sessions established: {up} of {len(state.sessions)} ends",
        f"BGP routes: {len(state.routes)} ({shares or 'none'})",
        f"server pairs delivered by every path: {delivered} of {len(state.reachability)}",
    ]
    return "\n".join(lines) + "\n"
