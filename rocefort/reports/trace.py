"""Paths of packets as text of 80 columns, hop by hop."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from rocefort.models.trace import Endpoint, Hop, Judged, Path, Trace
from rocefort.models.wording import counted, listing
from rocefort.reports.wording import WIDTH

INDENT = 4
DETAIL = 6


def trace_text(trace: Trace) -> str:
    """Every path of a trace, under a first line that says how many deliver."""
    ends = " to ".join(_end(end) for end in (trace.source, trace.destination))
    lines = wrap(f"{trace.flow} of {ends}", WIDTH, subsequent_indent=" " * INDENT)
    if trace.down:
        lines += wrap(f"without {listing(trace.down)}", WIDTH)
    delivered = sum(path.delivered for path in trace.paths)
    count = counted(len(trace.paths), "path")
    more = "" if trace.whole else ", and more that are not listed"
    lines.append(f"{count}, {delivered} delivered{more}")
    for number, path in enumerate(trace.paths, 1):
        lines += ["", f"path {number} of {len(trace.paths)}", *_path(path)]
    return "\n".join(lines) + "\n"


def _end(end: Endpoint) -> str:
    name = str(end.address)
    return name if end.name == name else f"{end.name} ({name})"


def _path(path: Path) -> Iterator[str]:
    for hop in path.hops:
        yield f"  {hop.device}"
        for said in _hop(hop):
            yield from wrap(
                said,
                WIDTH,
                initial_indent=" " * INDENT,
                subsequent_indent=" " * DETAIL,
                break_on_hyphens=False,
            )
    if path.delivered:
        by = f" by exit {path.leaves_by}" if path.leaves_by else ""
        yield f"  {'leaves the fabric' + by if by else 'delivered'}"
    else:
        place = f" ({path.where})" if path.where.file else ""
        yield from wrap(
            f"not delivered: {path.reason}{place}",
            WIDTH,
            initial_indent="  ",
            subsequent_indent=" " * INDENT,
        )


def _hop(hop: Hop) -> Iterator[str]:
    """What one switch does, in the order in which it does it."""
    entered = [f"in by {hop.enters}" if hop.enters else "starts here"]
    out = hop.by == "connected"
    place = [f"VLAN {hop.vlan}"] if hop.vlan else []
    place += [f"gateway {hop.gateway}"] if hop.gateway else []
    yield ", ".join(entered + ([] if out else place))
    inbound = [one for one in hop.judged if one.direction == "inbound"]
    yield from map(_judged, inbound)
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
    yield from (_judged(one) for one in hop.judged if one not in inbound)
    if hop.leaves:
        towards = f" to {hop.next_hop}" if hop.next_hop else ""
        yield f"out by {hop.leaves}{towards}"


def _judged(one: Judged) -> str:
    rule = f"rule {one.rule} of ACL {one.acl}" if one.rule is not None else f"ACL {one.acl}"
    verb = "permits it" if one.permitted else "drops it"
    if one.rule is None:
        verb = "has no rule for it, so it goes on"
    place = f" ({one.where.file}:{one.where.line})" if one.where.file else ""
    return f"{rule} {verb}, {one.direction} on {one.interface}{place}"
