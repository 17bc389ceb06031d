"""Import the policy between segments from the ACLs of gateways.

It is the inverse of `design.derive.segment_acls`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rocefort.design.derive.segment_acls import (
    DEFAULT,
    ENTRY_STEP,
    REPLY,
    filter_name,
    segment_acls,
)
from rocefort.design.importing.assumptions import Data, SwitchText
from rocefort.models.device.packet_filters import ROCE_PORT, FilterAcl, FilterRule
from rocefort.models.fabric.nodes import SegmentIntent
from rocefort.models.fabric.policy import SegmentPolicy

Row = tuple[int, bool, str, str, FilterRule]  # entry, reply, own segment, other segment, rule


def policy_of(sources: Sequence[SwitchText], segments: Iterable[SegmentIntent]) -> Data | None:
    """Return the `security.policy` that derives exactly the texts' ACLs; None if none does."""
    tagged = {segment.vlan: segment for segment in segments if segment.vlan}
    names = {filter_name(segment): segment.name for segment in tagged.values()}
    acls: dict[str, FilterAcl] = {}
    for source in sources:
        for acl in source.device.filters.acls:
            if acl.name not in names or acls.setdefault(names[acl.name], acl) != acl:
                return None
    if not acls:
        return None
    by_vlan = {vlan: segment.name for vlan, segment in tagged.items() if vlan}
    deny = any(rule.index >= DEFAULT for acl in acls.values() for rule in acl.rules)
    rows = _rows(acls, by_vlan)
    entries = [_entry(number, rows) for number in sorted({row[0] for row in rows})]
    data: Data = {"default": "deny" if deny else "allow", "entries": entries}
    return data if _implements_policy(data, acls, tagged.values()) else None


def _rows(acls: Mapping[str, FilterAcl], by_vlan: Mapping[int, str]) -> list[Row]:
    rows = []
    for own, acl in acls.items():
        for rule in acl.rules:
            entry, rest = divmod(rule.index, ENTRY_STEP)
            other = by_vlan.get(rest % REPLY)
            if rule.index < DEFAULT and other is not None:
                rows.append((entry, rest >= REPLY, own, other, rule))
    return rows


def _entry(number: int, rows: Sequence[Row]) -> Data:
    mine = [row for row in rows if row[0] == number]
    source = {own if not reply else other for _, reply, own, other, _ in mine}
    destination = {other if not reply else own for _, reply, own, other, _ in mine}
    rule = mine[0][4]
    entry: Data = {
        "id": number,
        "action": "allow" if rule.action == "permit" else "deny",
        "source": sorted(source),
        "destination": sorted(destination),
    }
    return entry | _service([row[4] for row in mine])


def _service(rules: Sequence[FilterRule]) -> Data:
    """Return protocol and ports; RDMA's replies go to its port, too, others come from theirs."""
    protocol = rules[0].protocol
    ports = next((p for r in rules if (p := r.destination_ports or r.source_ports)), None)
    if ports is None:
        return {} if protocol == "ip" else {"protocol": protocol}
    to_port = not any(rule.source_ports for rule in rules)
    if protocol == "udp" and to_port and ports.low == ports.high == ROCE_PORT:
        return {"protocol": "rdma"}
    both = [ports.low] if ports.low == ports.high else [ports.low, ports.high]
    return {"protocol": protocol, "ports": both}


def _implements_policy(
    data: Data, acls: Mapping[str, FilterAcl], segments: Iterable[SegmentIntent]
) -> bool:
    try:
        policy = SegmentPolicy.model_validate(data)
    except ValueError:
        return False
    derived = segment_acls(policy, segments)
    return all(derived.get(name) == acl for name, acl in acls.items())
