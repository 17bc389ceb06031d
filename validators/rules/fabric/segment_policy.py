"""Rules on the segment policy in the text: ACLs of gateways, traffic policies, terminal lines."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from rocefort.dialects.choose import dialect_of
from rocefort.models.device.management import Acl, AclRule
from rocefort.models.device.packet_filters import FilterAcl, FilterRule
from rocefort.models.finding import Severity
from rocefort.models.network.network import Node
from rocefort.validators.routing.isolation import Isolation
from rocefort.validators.routing.packet_filters import applied_policies
from rocefort.validators.rules.missing import FILTER, POLICY, UNKNOWN, Need
from rocefort.validators.rules.registry import Subject, Verdict, rule

CR = "«the vendor's reference»"
POLICY_FIX = "render the fabric again, or correct security.policy"


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
    isolation = Isolation.of(network.policy, network)
    for (leaf, path), reason in isolation.unknown.items():
        yield subject.not_judged(nodes[leaf], reason, FILTER, path=path)
    for decision, message in isolation.violations():
        place = decision.place
        yield subject.finding(nodes[place.device], message, POLICY_FIX, path=place.path)


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
