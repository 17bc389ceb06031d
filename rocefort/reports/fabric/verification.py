"""Result of a verification: engines, sessions, routes and reachability matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rocefort.models.results.reachability import Reachability
from rocefort.models.results.routing import NotCertain, RoutingState, SessionStatus, Timing
from rocefort.models.results.routing_change import RoutingChange
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Note, Section, Table, TableColumn

SEGMENTS = 8  # side by side


def verified_report(
    state: RoutingState,
    engines: Sequence[str],
    note: str = "",
    segment_pairs: tuple[int, int] | None = None,
    uncertain: NotCertain | None = None,
) -> Section:
    """Show the verified state and the engines.

    segment_pairs: delivered, and all; of texts, between gateways. uncertain: to take off.
    """
    unsure = uncertain or NotCertain()
    up = sum(s.status is SessionStatus.ESTABLISHED for s in state.sessions)
    widths = Counter(route.width for route in state.routes)
    reached = state.reachability
    shares = ", ".join(f"{widths[width]} of width {width}" for width in sorted(widths))
    sentences = (
        f"verified by: {' and '.join(engines)}" + (f" ({note})" if note else ""),
        f"BGP sessions established: {_certain(up, len(state.sessions), unsure.sessions, ' ends')}",
        f"BGP routes: {len(state.routes)} ({shares or 'none'})",
        *_pairs(reached, segment_pairs, unsure),
    )
    return Section("", (*map(Note, sentences), *segments(reached)))


def _certain(good: int, total: int, uncertain: int, unit: str = "") -> str:
    """`30 of 32 ends`, or `30 of 32 ends, 2 not judged`."""
    rest = f", {uncertain} not judged" if uncertain else ""
    return f"{good - uncertain} of {total}{unit}{rest}"


def _pairs(
    reached: Reachability, segment_pairs: tuple[int, int] | None, unsure: NotCertain
) -> Iterator[str]:
    """Pairs of servers and of segments that were probed, each kind in a sentence."""
    if reached.pairs:
        share = _certain(reached.delivered, reached.pairs, unsure.pairs)
        yield f"server pairs delivered by every path: {share}"
    else:
        yield "server pairs: none, no two servers are known"
    if segment_pairs is None:
        return
    delivered, pairs = segment_pairs
    if pairs:
        share = _certain(delivered, pairs, unsure.segment_pairs)
        yield f"segment pairs delivered by every path between gateways: {share}"
    else:
        yield "segment pairs: none, fewer than two switches have a gateway that is up"


def segments(reached: Reachability) -> Iterator[Table]:
    """Show the reachability matrix of segments: all, some or none of the pairs."""
    names = reached.segments
    if len(names) < 2:
        return
    cells = {(pair.source, pair.destination): pair.share for pair in reached.by_segment()}
    for start in range(0, len(names), SEGMENTS):
        others = list(enumerate(names, 1))[start : start + SEGMENTS]
        heads = (TableColumn(str(number), "right") for number, _ in others)
        rows = (
            (f"{number:>4} {name}", *(cells[name, other] for _, other in others))
            for number, name in enumerate(names, 1)
        )
        yield Table((TableColumn("pairs delivered, from segment"), *heads), tuple(rows))


def change_report(change: RoutingChange, against: str) -> Section:
    """Show the differences of two versions, by one engine."""
    routes = (
        ("gone", change.gone),
        ("new", change.new),
        ("narrower", change.narrower),
        ("wider", change.wider),
        ("over other next hops", change.moved),
    )
    moved = ", ".join(f"{len(some)} {what}" for what, some in routes if some)
    pairs = f"{count_of(len(change.lost), 'server pair')} lost, {len(change.gained)} gained"
    first = Note(f"against {against}, by {change.engine}: {pairs}")
    return Section("", (first, Note(f"BGP routes: {moved or 'as before'}")))


def timings_report(timings: Sequence[Timing], version: str) -> Section:
    """Show the time of each question; equal questions share a row."""
    seconds: dict[str, list[float]] = {}
    for timing in timings:
        seconds.setdefault(timing.question.partition(",")[0], []).append(timing.seconds)
    total = sum(timing.seconds for timing in timings)
    rows = tuple(
        (question, f"{len(own)} x", f"{sum(own):.2f} s")
        for question, own in sorted(seconds.items(), key=lambda item: -sum(item[1]))
    )
    head = Note(f"Batfish {version}: {count_of(len(timings), 'question')}, {total:.1f} s")
    heads = (TableColumn(), TableColumn(align="right"), TableColumn(align="right"))
    return Section("", (head, Table(heads, rows)))
