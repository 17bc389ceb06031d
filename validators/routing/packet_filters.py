"""Evaluation of traffic policies for a flow, policies that cannot be evaluated, flows to verify.

A policy is evaluated on gateways (Vlanif), for routed packets. The first matching rule of its ACL
decides: a denied packet is dropped for any behavior, a permitted packet gets the behavior, and a
packet without a match passes (V300R023C00, `deny | permit`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.device.packet_filters import Behavior, FilterAcl, FilterRule, Filters, Flow
from rocefort.models.network.network import Network, Server


@dataclass(frozen=True, slots=True)
class PacketFilter:
    """Evaluated part of a traffic policy: one ACL, and the behavior of its permitted packets."""

    acl: FilterAcl
    deny: bool = False

    def denying(
        self, source: IPv4Address, destination: IPv4Address, flow: Flow
    ) -> FilterRule | None:
        """Rule that drops packets of a flow; None: they pass."""
        rule = self.acl.first_match(source, destination, flow)
        return rule if rule and self.drops(rule) else None

    def drops(self, rule: FilterRule) -> bool:
        """Whether packets are dropped whose first match is a rule."""
        return self.deny or rule.action == "deny"


def filter_of(filters: Filters, name: str) -> PacketFilter | str:
    """Filter of a named policy, or the reason why it cannot be evaluated."""
    policy = filters.policy(name)
    if policy is None:
        return f"traffic policy {name} does not exist"
    if len(policy.bindings) != 1:
        return f"traffic policy {name} has {len(policy.bindings)} classifiers, not one"
    binding = policy.bindings[0]
    classifier = next((c for c in filters.classifiers if c.name == binding.classifier), None)
    behavior = next((b for b in filters.behaviors if b.name == binding.behavior), None)
    if classifier is None or behavior is None:
        kind = "classifier" if classifier is None else "behavior"
        missing = binding.classifier if classifier is None else binding.behavior
        return f"traffic {kind} {missing} does not exist"
    if len(classifier.acls) != 1:
        return f"traffic classifier {classifier.name} has {len(classifier.acls)} ACLs, not one"
    return _with_acl(filters, classifier.acls[0], behavior)


def _with_acl(filters: Filters, name: str, behavior: Behavior) -> PacketFilter | str:
    acl = next((acl for acl in filters.acls if acl.name == name), None)
    if acl is None:
        return f"ACL {name} is not an advanced ACL that exists"
    by_dscp = next((rule for rule in acl.rules if rule.dscp is not None), None)
    if by_dscp is not None:
        return f"rule {by_dscp.index} of ACL {name} matches by DSCP"
    return PacketFilter(acl, behavior.deny)


def applied_policies(interface: Interface) -> Iterator[tuple[str, str]]:
    """Field and name of every policy that an interface applies."""
    for field in ("filter_in", "filter_out"):
        name = getattr(interface, field)
        if name is not None:
            yield field, name


def unevaluated(device: Device) -> Iterator[tuple[Interface, str, str]]:
    """Policies in use that cannot be evaluated: interface, field and reason."""
    for interface in device.interfaces:
        for field, name in applied_policies(interface):
            reason = filter_of(device.filters, name)
            if interface.kind != "vlanif":
                reason = f"traffic policy {name} is applied to a port, not to a Vlanif"
            if isinstance(reason, str):
                yield interface, field, f"{reason}, which is not evaluated"


def filters_of(network: Network) -> Mapping[tuple[str, str, str], PacketFilter]:
    """Every filter that can be evaluated, by device, interface and field."""
    return {
        (node.name, interface.name, field): packet_filter
        for node in network.nodes
        if node.device.filters.policies
        for interface in node.device.interfaces
        for field, name in applied_policies(interface)
        if isinstance(packet_filter := filter_of(node.device.filters, name), PacketFilter)
    }


@dataclass(frozen=True, slots=True)
class PolicyFlow:
    """Flow between two servers that shows a part of the policy, beside RDMA."""

    source: Server
    destination: Server
    flow: Flow


def questions(network: Network) -> tuple[PolicyFlow, ...]:
    """Flows that show each part of the policy: from a server behind each gateway.

    Each goes to the first server of the other segment behind another gateway.
    """
    behind: defaultdict[str, dict[IPv4Network, Server]] = defaultdict(dict)
    for server in sorted(network.servers or (), key=lambda server: server.name):
        behind[server.segment].setdefault(server.address.network, server)
    flows = []
    for source, destination, flow in network.policy.examples(behind) if network.policy else ():
        for subnet, server in behind.get(source, {}).items():
            targets = behind.get(destination, {}).items()
            target = next((one for other, one in targets if other != subnet), None)
            if target is not None:
                flows.append(PolicyFlow(server, target, flow))
    return tuple(flows)
