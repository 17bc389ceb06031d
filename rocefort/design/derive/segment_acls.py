"""Derive the ACLs between segments from the policy, for the gateways where packets enter.

An ACL is on the gateway of the sending segment, inbound from the servers. So denied packets use no
link, and a leaf has only the rules of its own segments. Switches keep no state: replies are packets
of the other segment, and need rules of their own. Prefixes are those of whole segments, so another
leaf changes no rule.

Numbers follow from permanent ids: entry 12 towards VLAN 130 is rule 120130, its replies to
VLAN 130 are rule 125130. The default towards VLAN 130 is rule 100000130, after all entries.
Frames within a VLAN of one leaf are switched and reach no gateway, so no policy applies to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rocefort.models.device.packet_filters import FilterAcl, FilterRule
from rocefort.models.fabric.policy import LAST_ENTRY, PolicyEntry, SegmentPolicy
from rocefort.models.fabric.topology import SegmentIntent

ENTRY_STEP, REPLY = 10_000, 5_000  # above the highest VLAN, 4094
DEFAULT = ENTRY_STEP * (LAST_ENTRY + 1)

Segments = Mapping[str, SegmentIntent]


def filter_name(segment: SegmentIntent) -> str:
    """Name of a segment's ACL, classifier and policy; 31 characters suffice for any VLAN."""
    return f"VLAN{segment.vlan}"


def segment_acls(
    policy: SegmentPolicy | None, segments: Iterable[SegmentIntent]
) -> dict[str, FilterAcl]:
    """Return the ACL of every segment with rules in the policy, by segment."""
    tagged = {segment.name: segment for segment in segments if segment.vlan}
    if policy is None:
        return {}
    acls = {
        name: FilterAcl(name=filter_name(segment), rules=tuple(_rules(policy, segment, tagged)))
        for name, segment in tagged.items()
    }
    return {name: acl for name, acl in acls.items() if acl.rules}


def _rules(policy: SegmentPolicy, own: SegmentIntent, segments: Segments) -> Iterator[FilterRule]:
    settled: set[str] = set()  # segments that need no default rule
    for entry in policy.ordered:
        for rule, other in _entry_rules(entry, own, segments):
            if entry.protocol == "any":
                settled.add(other)
            yield rule
    if policy.default == "deny":
        for name, segment in segments.items():
            if name not in settled | {own.name}:
                yield FilterRule(
                    index=DEFAULT + (segment.vlan or 0),
                    action="deny",
                    source=own.prefix,
                    destination=segment.prefix,
                )


def _entry_rules(
    entry: PolicyEntry, own: SegmentIntent, segments: Segments
) -> Iterator[tuple[FilterRule, str]]:
    """Yield the rules of an entry for packets of one segment: requests, then replies."""
    destinations = entry.destination if own.name in entry.source else ()
    sources = entry.source if own.name in entry.destination else ()
    for name in destinations:
        yield _rule(entry, own, segments[name], reply=False), name
    for name in sources:
        if not (
            entry.symmetric and name in destinations
        ):  # the request's rule also matches replies
            yield _rule(entry, own, segments[name], reply=True), name


def _rule(
    entry: PolicyEntry, own: SegmentIntent, other: SegmentIntent, *, reply: bool
) -> FilterRule:
    from_service = reply and not entry.symmetric
    return FilterRule(
        index=entry.id * ENTRY_STEP + (REPLY if reply else 0) + (other.vlan or 0),
        action="permit" if entry.action == "allow" else "deny",
        protocol=entry.wire_protocol,
        source=own.prefix,
        source_ports=entry.service if from_service else None,
        destination=other.prefix,
        destination_ports=None if from_service else entry.service,
    )
