"""Rules on the segment policy in the text: ACLs of gateways, traffic policies, terminal lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address

from rocefort.dialects.choose import dialect_of
from rocefort.models.device.management import Acl, AclRule
from rocefort.models.device.packet_filters import FilterAcl, FilterRule, Flow
from rocefort.models.fabric.policy import SegmentPolicy
from rocefort.models.finding import Severity
from rocefort.models.network.network import Network, Node, Segment
from rocefort.models.wording import listing
from rocefort.validators.routing.packet_filters import PacketFilter, applied_policies, filter_of
from rocefort.validators.rules.missing import POLICY, UNKNOWN, Missing, Need
from rocefort.validators.rules.registry import Subject, Verdict, rule

CR = "«the vendor's reference»"
REPRESENTATIVES = 3  # addresses past a prefix's first, which no server has
FILTER = Missing("what the filter lets pass", "what runs")


def _address(segment: Segment) -> IPv4Address:
    """Address of a server in a segment: neither the network address nor the gateway."""
    first = segment.prefix.network_address + min(REPRESENTATIVES, segment.prefix.num_addresses - 1)
    return first if first != segment.gateway.ip else first - 1


@dataclass(frozen=True, slots=True)
class _Isolation:
    """Policy that the filters of gateways must implement, with the parts of each segment."""

    policy: SegmentPolicy
    parts: Mapping[str, tuple[Segment, ...]]  # by segment, a part a leaf

    @classmethod
    def of(cls, policy: SegmentPolicy, network: Network) -> _Isolation:
        """Sort the parts of the segments."""
        parts: defaultdict[str, list[Segment]] = defaultdict(list)
        for segment in network.segments or ():
            parts[segment.name].append(segment)
        return cls(policy, {name: tuple(some) for name, some in parts.items()})

    def flows_from(self, source: str) -> Iterator[tuple[str, Flow]]:
        """Other segments with the flows to judge: RDMA, and each flow that the policy names."""
        for name in self.parts:
            yield name, Flow()
        for a, b, flow in self.policy.examples():
            if a == source and b in self.parts:
                yield b, flow

    def wrong(
        self, own: Segment, packet_filter: PacketFilter | None, *, everywhere: bool
    ) -> Iterator[tuple[str, Flow]]:
        """Segments and flows that the filter of a gateway treats against the policy.

        everywhere: towards every leaf's part of the other segment, not towards one alone.
        """
        source = _address(own)
        for name, flow in self.flows_from(own.name):
            parts = [part for part in self.parts[name] if part.leaf != own.leaf or name != own.name]
            allowed = self.policy.allows(own.name, name, flow)
            for part in parts if everywhere else parts[:1]:
                denying = (
                    packet_filter.denying(source, _address(part), flow) if packet_filter else None
                )
                if (denying is None) is not allowed:
                    yield name, flow
                    break


@rule(
    "SEC010",
    severity=Severity.ERROR,
    source=f"the fabric's security.policy; {CR}, «drop» and «let through» (what an ACL denies is "
    "dropped, what no rule matches passes)",
)
def isolated_segments(subject: Subject) -> Iterator[Verdict]:
    """Gateways filter inbound packets as the policy requires.

    The rule evaluates the inbound ACL of each gateway for RDMA (UDP 4791) and for each flow that
    the policy names, from each segment to each other. A fabric without a policy (security.policy)
    has no requirements.

    Example: the gateway of compute (traffic policy VLAN10 inbound on Vlanif10) lets pass RDMA to
    storage, against the fabric's policy
    Fix: Render the fabric again, or correct security.policy.
    """
    network = subject.network
    if network.policy is None or network.segments is None:
        if network.origin == "text":
            yield subject.not_judged(None, UNKNOWN[Need.POLICY], POLICY)
        return
    isolation, seen = _Isolation.of(network.policy, network), set[tuple[str, FilterAcl | None]]()
    for own in network.segments:
        node = network.by_name[own.leaf]
        interface = node.device.by_interface.get(f"Vlanif{own.vlan}")
        name = interface.filter_in if interface else None
        packet_filter = filter_of(node.device.filters, name) if name is not None else None
        path = f"interfaces[Vlanif{own.vlan}]" + ("" if name is None else ".filter_in")
        if isinstance(packet_filter, str):
            reason = f"{packet_filter}, which is not evaluated"
            yield subject.not_judged(node, reason, FILTER, path=path)
            continue
        # Leaves with the same ACL treat all other leaves alike: judge the others for one of them.
        key = own.name, packet_filter.acl if packet_filter else None
        wrong = [*isolation.wrong(own, packet_filter, everywhere=key not in seen)]
        seen.add(key)
        if wrong:
            yield _not_isolated(subject, node, own, name, wrong, path)


def _not_isolated(  # noqa: PLR0913, PLR0917 - the fault and its position
    subject: Subject,
    node: Node,
    own: Segment,
    name: str | None,
    wrong: list[tuple[str, Flow]],
    path: str,
) -> Verdict:
    policy = subject.network.policy
    by_verb: dict[str, list[str]] = {}
    for other, flow in wrong:
        allowed = policy is not None and policy.allows(own.name, other, flow)
        verb = "drops" if allowed else "lets pass"
        by_verb.setdefault(verb, []).append(f"{flow} to {other}")
    what = " and ".join(f"{verb} {listing(flows)}" for verb, flows in by_verb.items())
    no, policy_name = ("no ", "") if name is None else ("", f" {name}")
    return subject.finding(
        node,
        f"the gateway of {own.name} ({no}traffic policy{policy_name} inbound on Vlanif{own.vlan}) "
        f"{what}, against the fabric's policy",
        "render the fabric again, or correct security.policy",
        path=path,
    )


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
