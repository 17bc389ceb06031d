"""Every fault of a gateway's ACL is found, one at a time, and correct texts have no finding.

An oracle beside the rule judges, by the policy and the ACLs, single packets at all boundaries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network
from itertools import product
from pathlib import Path

import pytest
from planned import own_policy

from rocefort.design.derive.derive import derive
from rocefort.models.device.packet_filters import FilterAcl, FilterRule, Flow, PortRange
from rocefort.models.finding import Finding
from rocefort.models.network.network import Network, Node, Segment, Sources
from rocefort.validators.checks import rules
from rocefort.validators.facts.overview import Overview
from rocefort.validators.routing.engine import analyse
from rocefort.validators.rules.registry import Subject, Verdict
from rocefort.validators.rules.verification.answers import verify

EditHeps = Callable[..., Path]
Rules = tuple[FilterRule, ...]
POLICIES = {
    "beamlines": """
security:
  policy:
    default: deny
    entries:
      - {id: 1, action: allow, source: [beamline, compute], destination: [storage], protocol: rdma}
      - {id: 2, action: allow, source: [compute], destination: [storage], protocol: tcp, ports: [2049]}
      - {id: 4, action: deny, source: [beamline], destination: [beamline]}
""",
    "denials": """
security:
  policy:
    entries:
      - {id: 1, action: allow, source: [compute], destination: [storage], protocol: tcp, ports: [2049]}
      - {id: 2, action: deny, source: [compute], destination: [storage], protocol: tcp}
      - {id: 3, action: deny, source: [beamline], destination: [storage], protocol: rdma}
      - {id: 4, action: deny, source: [beamline], destination: [transfer], protocol: udp, ports: [5000, 5999]}
      - {id: 5, action: deny, source: [transfer], destination: [compute]}
""",
}
PORTS = (
    *product((49152,), (22, 2049, 4791, 5000, 5999, 65535)),
    *product((2049, 5000, 5999), (22, 65535)),
)
FLOWS = (
    Flow(protocol="icmp"),
    *(Flow(protocol="tcp", source_port=near, destination_port=far) for near, far in PORTS),
    *(Flow(protocol="udp", source_port=near, destination_port=far) for near, far in PORTS),
)


def _half(network: IPv4Network | None) -> IPv4Network | None:
    """The half that has the parts of leaves 1 to 8."""
    return next(network.subnets(new_prefix=22)) if network else None


def _turned(rule: FilterRule) -> FilterRule:
    return rule.model_copy(
        update={
            "source": rule.destination,
            "destination": rule.source,
            "source_ports": rule.destination_ports,
            "destination_ports": rule.source_ports,
        }
    )


def _without_one_port(rule: FilterRule) -> FilterRule:
    ports = rule.destination_ports or PortRange(low=0, high=65535)
    fewer = PortRange(low=ports.low, high=max(ports.low, ports.high - 1))
    protocol = "tcp" if rule.protocol == "ip" else rule.protocol
    return rule.model_copy(update={"protocol": protocol, "destination_ports": fewer})


def _edit(**update: object) -> Callable[[FilterRule], FilterRule]:
    return lambda rule: rule.model_copy(update=update)


FAULTS: dict[str, Callable[[FilterRule], FilterRule]] = {
    "permits": _edit(action="permit"),
    "only RDMA": _edit(protocol="udp", destination_ports=PortRange(low=4791, high=4791)),
    "only TCP": _edit(protocol="tcp"),
    "only ICMP": _edit(protocol="icmp", source_ports=None, destination_ports=None),
    "one port less": _without_one_port,
    "some sources": lambda rule: rule.model_copy(update={"source": _half(rule.source)}),
    "some destinations": lambda r: r.model_copy(update={"destination": _half(r.destination)}),
    "any destination": _edit(destination=None),
    "any packet": _edit(protocol="ip", source_ports=None, destination_ports=None),
    "opposite direction": _turned,
}


def _faults(acl: FilterAcl) -> Iterator[tuple[str, bool, Rules]]:
    """Each rule removed, changed and moved: what, whether the rule denies, and the rules."""
    for place, one in enumerate(acl.rules):
        before, behind, deny = acl.rules[:place], acl.rules[place + 1 :], one.action == "deny"
        yield "removed", deny, (*before, *behind)
        yield "last", deny, (*before, *behind, one.model_copy(update={"index": 4_000_000_000}))
        yield "first", deny, (one.model_copy(update={"index": 0}), *before, *behind)
        for what, fault in FAULTS.items():
            yield what, deny, (*before, fault(one), *behind)


def _with_rules(network: Network, node: Node, acl: FilterAcl, rows: Rules) -> Network:
    filters = node.device.filters
    acls = tuple(acl.model_copy(update={"rules": rows}) if a is acl else a for a in filters.acls)
    device = node.device.model_copy(update={"filters": filters.model_copy(update={"acls": acls})})
    return _with_node(network, node.model_copy(update={"device": device}))


def _with_node(network: Network, node: Node) -> Network:
    nodes = tuple(node if one.name == node.name else one for one in network.nodes)
    return network.model_copy(update={"nodes": nodes})


def _verdicts(network: Network) -> list[Verdict]:
    (rule,) = rules(["SEC010"])
    return [*Subject(Overview(network, Sources()), rule).verdicts()]


Answers = Mapping[tuple[IPv4Address, IPv4Address, Flow], bool]


def _answers(network: Network, node: Node, acl: FilterAcl) -> Answers:
    """Policy's answers for flows from the ACL's segment to a server of each other segment."""
    parts, policy = network.segments or (), network.policy
    assert policy is not None
    own = next(s for s in parts if s.leaf == node.name and f"VLAN{s.vlan}" == acl.name)
    others = {part.name: part for part in parts if part is not own}
    return {
        (_server(own), _server(part), flow): policy.allows(own.name, name, flow)
        for name, part in others.items()
        for flow in FLOWS
    }


def _is_wrong(answers: Answers, rows: Rules) -> bool:
    """Whether the rules treat some packet against the policy."""
    changed = FilterAcl(name="changed", rules=rows)
    matches = ((changed.first_match(*packet), allowed) for packet, allowed in answers.items())
    return any((row is None or row.action == "permit") is not allowed for row, allowed in matches)


def _server(part: Segment) -> IPv4Address:
    return part.prefix.network_address + 9


@pytest.mark.parametrize("policy", POLICIES)
def test_every_fault_of_an_acl_is_found(edit_heps: EditHeps, policy: str) -> None:
    network = derive(edit_heps(own_policy(POLICIES[policy]))).network
    assert _verdicts(network) == []
    seen, denials, found = set[FilterAcl](), 0, 0
    for node in network.nodes:
        for acl in node.device.filters.acls:
            if acl in seen:  # another leaf with it
                continue
            seen.add(acl)
            answers = _answers(network, node, acl)
            for what, deny, rows in _faults(acl):
                faulty = _with_rules(network, node, acl, rows)
                verdicts = _verdicts(faulty)
                wrong = _is_wrong(answers, rows)
                assert bool(verdicts) is wrong, (node.name, acl.name, what, rows, verdicts)
                assert {verdict.where.device for verdict in verdicts} <= {node.name}
                assert all(isinstance(one, Finding) and " > " in one.message for one in verdicts)
                found += wrong
                if deny and what in ("removed", "permits"):
                    assert wrong, (acl.name, what)
                    denials += 1
    assert (denials, found) == EXPECTED[policy]


EXPECTED = {"beamlines": (26, 150), "denials": (16, 84)}  # removed or open denials; all faults


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_that_one_gateway_lacks_is_named_there(edit_heps: EditHeps, policy: str) -> None:
    network = derive(edit_heps(own_policy(POLICIES[policy]))).network
    for node in network.nodes:
        for port in node.device.interfaces:
            if port.filter_in is None:
                continue
            for update in (
                {"filter_in": None},
                {"filter_in": None, "filter_out": port.filter_in},
            ):
                ports = tuple(
                    one.model_copy(update=update) if one is port else one
                    for one in node.device.interfaces
                )
                device = node.device.model_copy(update={"interfaces": ports})
                changed = node.model_copy(update={"device": device})
                verdicts = _verdicts(_with_node(network, changed))
                assert verdicts, (node.name, port.name)
                assert {verdict.where.device for verdict in verdicts} == {node.name}
                assert f"passes {port.name}, which applies no traffic policy inbound" in str(
                    verdicts[0]
                )


def test_an_engine_is_asked_more_than_the_allowed_rdma(edit_heps: EditHeps) -> None:
    """RDMA and NFS of compute to storage are allowed: only other packets show a lost denial."""
    network = derive(edit_heps(own_policy(POLICIES["beamlines"]))).network
    compute = {one.port.device: one for one in network.servers or () if one.segment == "compute"}
    assert _sec101(network) == []
    for leaf, server in compute.items():
        node = network.by_name[leaf]
        (acl,) = (acl for acl in node.device.filters.acls if acl.name == "VLAN120")
        rows = tuple(rule for rule in acl.rules if rule.index != 100000130)
        first = min(s.name for s in network.servers or () if s.address in server.address.network)
        assert _sec101(_with_rules(network, node, acl, rows)) == [
            f"ICMP of {first} reaches storage01, which the policy denies (and TCP to port 22 and "
            "UDP to port 22)"
        ]


FAULTS_BESIDE_FLOWS = {
    "half of the sources": (100000110, (_edit(source=IPv4Network("10.65.0.0/25")),)),
    "half of the destinations": (20130, (_edit(destination=IPv4Network("10.66.3.0/25")),)),
    "a port before the denial": (
        100000110,
        (
            _edit(
                index=100000109,
                action="permit",
                protocol="tcp",
                destination_ports=PortRange(low=445, high=445),
            ),
            _edit(),
        ),
    ),
}


@pytest.mark.parametrize("fault", FAULTS_BESIDE_FLOWS)
def test_packets_that_no_flow_shows_are_verified(edit_heps: EditHeps, fault: str) -> None:
    """Servers and ports of the engine's flows are right: other packets show the line."""
    network = derive(edit_heps(own_policy(POLICIES["beamlines"]))).network
    number, edits = FAULTS_BESIDE_FLOWS[fault]
    node = network.by_name["leaf01"]
    (acl,) = (acl for acl in node.device.filters.acls if acl.name == "VLAN120")
    rows = tuple(
        changed
        for rule in acl.rules
        for changed in ([edit(rule) for edit in edits] if rule.index == number else [rule])
    )
    faulty = _with_rules(network, node, acl, rows)
    messages = [finding.message for finding in _verdicts(faulty) if isinstance(finding, Finding)]
    assert len(messages) == 1
    assert _sec101(faulty) == messages


def _sec101(network: Network) -> list[str]:
    findings = verify(network, analyse(network).state).findings
    return [finding.message for finding in findings if finding.rule == "SEC101"]
