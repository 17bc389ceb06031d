"""Paths of packets, hop by hop."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.models.results.trace import Endpoint, FilterDecision, Hop, Trace, TracePath
from rocefort.models.wording import count_of, listing
from rocefort.reports.blocks import Block, Items, Note, Section, Tone


def trace_report(trace: Trace) -> Iterator[Block]:
    """Show how many paths deliver, then every path."""
    yield Note(f"{trace.flow} of {_end(trace.source)} to {_end(trace.destination)}")
    if trace.down:
        yield Note(f"without {listing(trace.down)}")
    delivered = sum(path.delivered for path in trace.paths)
    count = count_of(len(trace.paths), "path")
    more = "" if trace.whole else ", and more that are not listed"
    yield Note(f"{count}, {delivered} delivered{more}")
    for number, path in enumerate(trace.paths, 1):
        hops = (Items((hop.device,), tuple(_hop(hop))) for hop in path.hops)
        yield Section(f"path {number} of {len(trace.paths)}", (*hops, _ending(path)))


def _end(end: Endpoint) -> str:
    name = str(end.address)
    return name if end.name == name else f"{end.name} ({name})"


def _ending(path: TracePath) -> Note:
    if not path.delivered:
        place = f" ({path.where})" if path.where.file else ""
        return Note(f"not delivered: {path.reason}{place}", Tone.ERROR)
    by = f" by exit {path.leaves_by}" if path.leaves_by else ""
    return Note(f"leaves the fabric{by}" if by else "delivered", Tone.GOOD)


def _hop(hop: Hop) -> Iterator[str]:
    """Return the actions of one switch in order."""
    entered = [f"in by {hop.enters}" if hop.enters else "starts here"]
    out = hop.by == "connected"
    place = [f"VLAN {hop.vlan}"] if hop.vlan else []
    place += [f"gateway {hop.gateway}"] if hop.gateway else []
    yield ", ".join(entered + ([] if out else place))
    inbound = [one for one in hop.judged if one.direction == "inbound"]
    yield from map(_decision_text, inbound)
    if hop.by == "switched":
        yield f"switched to {hop.leaves}"
        return
    if hop.by:
        hops = f", ECMP width {hop.width}" if hop.width else ""
        yield f"{hop.prefix} {'connected' if out else f'by {hop.by.upper()}'}{hops}"
    if hop.width > 1:
        yield f"next hops {', '.join(map(str, hop.next_hops))}"
    if out and place:
        yield ", ".join(place)
    yield from (_decision_text(one) for one in hop.judged if one not in inbound)
    if hop.leaves:
        towards = f" to {hop.next_hop}" if hop.next_hop else ""
        yield f"out by {hop.leaves}{towards}"


def _decision_text(one: FilterDecision) -> str:
    rule = f"rule {one.rule} of ACL {one.acl}" if one.rule is not None else f"ACL {one.acl}"
    verb = "permits it" if one.permitted else "drops it"
    if one.rule is None:
        verb = "has no rule for it, so it continues"
    place = f" ({one.where.file}:{one.where.line})" if one.where.file else ""
    return f"{rule} {verb}, {one.direction} on {one.interface}{place}"
