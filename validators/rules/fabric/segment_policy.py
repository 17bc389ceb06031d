"""Rules on the segment policy in the text: ACLs of gateways, traffic policies, terminal lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from rocefort.dialects.choose import dialect_of
from rocefort.dialects.dialect import FILTERED
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.device.management import Acl, AclRule
from rocefort.models.device.packet_filters import FilterAcl, FilterRule
from rocefort.models.fabric.policy import SegmentPolicy
from rocefort.models.finding import Severity
from rocefort.models.network.network import Network, Node, Segment
from rocefort.models.wording import listing
from rocefort.validators.routing.packet_filters import (
    PacketFilter,
    applied_policies,
    filter_of,
    unevaluated,
)
from rocefort.validators.routing.packet_sets import (
    Difference,
    FiltersOnWay,
    differences,
    server_addresses,
)
from rocefort.validators.rules.missing import POLICY, UNKNOWN, Missing, Need
from rocefort.validators.rules.registry import Subject, Verdict, rule

CR = "«the vendor's reference»"
FILTER = Missing("what the filter lets pass", "what runs")
IN, OUT = "filter_in", "filter_out"


@dataclass(frozen=True, slots=True)
class _Gateway:
    """Part of a segment with the filters of its gateway; None: no policy is applied.

    reasons: why a filter cannot be evaluated, each with its position in the Device.
    """

    segment: Segment
    inbound: PacketFilter | None
    outbound: PacketFilter | None
    reasons: Mapping[str, str]

    @classmethod
    def of(cls, segment: Segment, node: Node) -> _Gateway:
        """Evaluate the policies that a gateway applies."""
        interface = node.device.by_interface.get(f"Vlanif{segment.vlan}")
        reasons = dict(_unmodelled(node, interface))
        for port, field, what in unevaluated(node.device):
            if port.kind != "vlanif" or port is interface:
                reasons[f"interfaces[{port.name}].{field}"] = what
        filters: dict[str, PacketFilter] = {}
        for field, name in applied_policies(interface) if interface else ():
            if isinstance(packet_filter := filter_of(node.device.filters, name), PacketFilter):
                filters[field] = packet_filter
        return cls(segment, filters.get(IN), filters.get(OUT), reasons)

    @property
    def treatment(self) -> tuple[object, ...]:
        """Equal for gateways of a segment that treat all packets alike."""
        return self.inbound, self.outbound, bool(self.reasons)


def _unmodelled(node: Node, gateway: Interface | None) -> Iterator[tuple[str, str]]:
    """Lines on filters outside the models that may concern a gateway: position and reason."""
    dialect, filters = dialect_of(node), node.device.filters
    lines = [line for line in node.unmodelled if dialect.forwarding_effect(line) == FILTERED]
    if not lines:
        return
    objects = (filters.acls, filters.classifiers, filters.behaviors, filters.policies)
    names = {row.name for rows in objects for row in rows}
    names |= {port.name for port in node.device.interfaces if port.kind == "vlanif"}
    applied = [name for _, name in applied_policies(gateway)] if gateway else []
    used = {*applied, *(part for name in applied for part in filters.parts_of(name))}
    if gateway is not None:
        used.add(gateway.name)
    for line in lines:
        named = names.intersection(" ".join(line.path).split())
        if not named or named & used:
            yield f"unmodelled[{line.line}]", f"`{line.shown_text}` may change {FILTERED}"


@dataclass(frozen=True, slots=True)
class _Isolation:
    """Policy that gateways must implement, and groups of gateways with the same filters."""

    policy: SegmentPolicy
    groups: Mapping[str, tuple[Sequence[_Gateway], ...]]  # by segment

    @classmethod
    def of(cls, policy: SegmentPolicy, network: Network) -> _Isolation:
        """Evaluate all gateways."""
        alike: defaultdict[str, defaultdict[object, list[_Gateway]]]
        alike = defaultdict(lambda: defaultdict(list))
        for segment in network.segments or ():
            gateway = _Gateway.of(segment, network.by_name[segment.leaf])
            alike[segment.name][gateway.treatment].append(gateway)
        return cls(policy, {name: tuple(groups.values()) for name, groups in alike.items()})

    @property
    def gateways(self) -> Iterator[_Gateway]:
        """All gateways."""
        yield from (one for groups in self.groups.values() for group in groups for one in group)

    def wrong(self) -> Iterator[tuple[_Gateway, str, Difference]]:
        """Differences from the policy: gateway of the source, other segment, and packet.

        A group is judged as one, and only where it differs each of its gateways.
        """
        for name, other in product(self.groups, repeat=2):
            for sources, targets in product(self.groups[name], self.groups[other]):
                if not any(self._between(sources, targets)):
                    continue
                for source in sources:
                    far = [one for one in targets if one is not source]
                    for difference in self._between((source,), far):
                        yield source, other, difference

    def _between(
        self, sources: Sequence[_Gateway], targets: Sequence[_Gateway]
    ) -> Iterator[Difference]:
        if not targets:
            return
        here, there = sources[0], targets[0]
        yield from differences(
            self.policy,
            (here.segment.name, there.segment.name),
            (
                server_addresses(one.segment for one in sources),
                server_addresses(one.segment for one in targets),
            ),
            FiltersOnWay(here.inbound, there.outbound, bool(here.reasons or there.reasons)),
        )


@rule(
    "SEC010",
    severity=Severity.ERROR,
    source=f"the fabric's security.policy; {CR}, «drop» and «let through» (what an ACL denies is "
    "dropped, what no rule matches passes)",
)
def isolated_segments(subject: Subject) -> Iterator[Verdict]:
    """Gateways filter packets as the policy requires.

    The rule compares sets of packets: all that the policy allows from each segment to each other
    (protocols, ports, requests and replies), and all that pass the traffic policies of both
    gateways, inbound at the source's and outbound at the destination's. A finding names one
    packet. A gateway with a filter that is not modelled is not judged. A fabric without a policy
    (security.policy) has no requirements.

    Example: udp 10.10.1.2:49152 > 10.20.2.2:4791 passes Vlanif10, which applies no traffic policy
    inbound, and the policy denies it (compute to storage)
    Fix: Render the fabric again, or correct security.policy.
    """
    network, nodes = subject.network, subject.network.by_name
    if network.policy is None or network.segments is None:
        if network.origin == "text":
            yield subject.not_judged(None, UNKNOWN[Need.POLICY], POLICY)
        return
    isolation = _Isolation.of(network.policy, network)
    reasons = {
        (gateway.segment.leaf, path): reason
        for gateway in isolation.gateways
        for path, reason in gateway.reasons.items()
    }
    for (leaf, path), reason in reasons.items():
        yield subject.not_judged(nodes[leaf], reason, FILTER, path=path)
    wrong: dict[tuple[str, str, str], tuple[str, dict[str, None]]] = {}
    for source, other, difference in isolation.wrong():
        at = source.segment
        if difference.outbound:
            there = difference.packet.destination
            at = next(
                one.segment
                for group in isolation.groups[other]
                for one in group
                if there in one.segment.prefix
            )
        key = at.leaf, *_decision(nodes[at.leaf].device, f"Vlanif{at.vlan}", difference)
        _, pairs = wrong.setdefault(key, (str(difference.packet), {}))
        pairs[f"{source.segment.name} to {other}"] = None
    for (leaf, path, what), (packet, pairs) in wrong.items():
        yield subject.finding(
            nodes[leaf],
            f"{packet} {what} ({listing([*pairs])})",
            "render the fabric again, or correct security.policy",
            path=path,
        )


def _decision(device: Device, svi: str, difference: Difference) -> tuple[str, str]:
    """Position and words of what decides on a packet against the policy."""
    field, way = (OUT, "outbound") if difference.outbound else (IN, "inbound")
    interface, row = device.by_interface.get(svi), difference.rule
    name = getattr(interface, field) if interface else None
    packet_filter = None if name is None else filter_of(device.filters, name)
    path = f"interfaces[{svi}]" + ("" if name is None else f".{field}")
    verb, verdict = ("is dropped by", "allows") if difference.dropped else ("passes", "denies")
    if not isinstance(packet_filter, PacketFilter):
        what = f"{svi}, which applies no traffic policy {way}"
    elif row is None:
        what = f"ACL {packet_filter.acl.name} {way} on {svi}, where no rule matches it"
    else:
        acl = packet_filter.acl.name
        path, what = f"filters.acls[{acl}].rules[{row.index}]", f"rule {row.index} of ACL {acl}"
        what += f" {way} on {svi}"
    return path, f"{verb} {what}, and the policy {verdict} it"


@rule(
    "SEC011",
    severity=Severity.WARNING,
    source=f"{CR}, «rule of an ACL» (Advanced ACL view): rules are tried in the order of "
    "their numbers",
)
def unreachable_rules(subject: Subject) -> Iterator[Verdict]:
    """Every rule of an advanced ACL can match.

    A rule has no effect if an earlier rule matches all its packets. Where the two have different
    actions, the later rule promises a permission or a denial that does not exist.

    Example: rule 10020 of ACL VLAN10 never matches: rule 5, which denies them, takes all its
    packets
    Fix: Remove it, or give it a lower number.
    """
    for node in subject.network.nodes:
        for acl in node.device.filters.acls:
            for before, behind in _covered_rules(acl):
                same = "which does the same" if before.action == behind.action else "which "
                if before.action != behind.action:
                    same += "permits them" if before.action == "permit" else "denies them"
                yield subject.finding(
                    node,
                    f"rule {behind.index} of ACL {acl.name} never matches: rule {before.index}, "
                    f"{same}, takes all its packets",
                    "remove it, or give it a lower number",
                    path=f"filters.acls[{acl.name}].rules[{behind.index}]",
                )


@lru_cache(maxsize=1024)
def _covered_rules(acl: FilterAcl) -> tuple[tuple[FilterRule, FilterRule], ...]:
    """Rules with the earlier rule that covers them; cached, as many switches share an ACL."""
    return tuple(_pairs(acl))


def _pairs(acl: FilterAcl) -> Iterator[tuple[FilterRule, FilterRule]]:
    for place, behind in enumerate(acl.rules):
        before = next((r for r in acl.rules[:place] if r.covers(behind)), None)
        if before is not None:
            yield before, behind


@rule(
    "SEC012",
    severity=Severity.ERROR,
    source=f"{CR}, «traffic policy of a port» (interface view), «class of a policy», "
    "«ACL of a class»: prerequisites",
)
def whole_filters(subject: Subject) -> Iterator[Verdict]:
    """Applied traffic policies exist, with all that they refer to.

    A traffic policy without its classifier, behavior or ACL filters nothing.

    Example: Vlanif10 applies traffic policy VLAN10, which does not exist
    Fix: Define what is missing, or remove the reference.
    """
    for node in subject.network.nodes:
        device, filters = node.device, node.device.filters
        for interface in device.interfaces:
            for field, name in applied_policies(interface):
                if filters.policy(name) is None:
                    yield subject.finding(
                        node,
                        f"{interface.name} applies traffic policy {name}, which does not exist",
                        f"define «a traffic policy: {name}», or remove the line",
                        path=f"interfaces[{interface.name}].{field}",
                    )
        basic = {str(acl.number) for acl in device.acls}
        for path, kind, name in filters.dangling():
            if kind == "ACL" and name in basic:
                continue
            owner = path.partition("[")[2].removesuffix("]")
            who = "classifier" if path.startswith("classifiers") else "policy"
            yield subject.finding(
                node,
                f"traffic {who} {owner} names {kind} {name}, which does not exist",
                f"define {kind} {name}, or remove the reference",
                path=f"filters.{path}",
            )
        for classifier in filters.classifiers:
            if not classifier.acls and not _other_match(node, classifier.name):
                yield subject.finding(
                    node,
                    f"traffic classifier {classifier.name} has no ACL, so it matches nothing",
                    "add «ACL of a class», or remove the classifier",
                    path=f"filters.classifiers[{classifier.name}]",
                )


def _other_match(node: Node, classifier: str) -> bool:
    """Whether the text has another match in a classifier, which the models do not cover."""
    dialect = dialect_of(node)
    return any(dialect.matches_in(line, classifier) for line in node.unmodelled)


@rule(
    "SEC013",
    severity=Severity.WARNING,
    source=f"{CR}, «ACL of logins» (user interface view)",
)
def terminal_acl(subject: Subject) -> Iterator[Verdict]:
    """The terminal lines have an ACL of source networks.

    Without an ACL every host that reaches the switch can try passwords; the same holds if the ACL
    permits every source. A named ACL that does not exist is an error: the behaviour of the release
    is not confirmed.

    Example: vty 0 to 4: no ACL limits the source of a session
    Fix: Name the management networks in security.management_access.
    """
    for node in subject.network.nodes:
        acls = {acl.number: acl for acl in node.device.acls}
        for vty in node.device.vty:
            lines, path = f"vty {vty.first} to {vty.last}", f"vty[{vty.first}]"
            if vty.acl is None:
                yield subject.finding(
                    node,
                    f"{lines}: no ACL limits the source of a session",
                    "name the networks in security.management_access",
                    path=path,
                )
            elif open_rule := _open_rule(acls.get(vty.acl)):
                yield subject.finding(
                    node,
                    f"{lines}: rule {open_rule.index} of ACL {vty.acl} permits every source",
                    "permit the management networks alone",
                    path=f"acls[{vty.acl}].rules[{open_rule.index}]",
                )
            elif vty.acl not in acls:
                yield subject.finding(
                    node,
                    f"{lines}: ACL {vty.acl} does not exist",
                    f"define «an ACL: {vty.acl}»",
                    path=f"{path}.acl",
                    severity=Severity.ERROR,
                )


def _open_rule(acl: Acl | None) -> AclRule | None:
    """Return the rule of an ACL that permits every source; none after a rule that denies it."""
    for row in acl.rules if acl else ():
        if row.source is None or row.source.prefixlen == 0:
            return row if row.action == "permit" else None
    return None
