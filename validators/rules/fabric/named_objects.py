"""Rules on named objects of a configuration: each that a line names is defined, and in use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rocefort.models.device.device import Device
from rocefort.models.device.interface import DEFAULT_DOMAIN, DEFAULT_VLAN, Interface, gateway_vlan
from rocefort.models.device.lossless_queue import BUILT_IN_PROFILE, DEFAULT_PROFILE
from rocefort.models.device.routing import FACTORY_VRF
from rocefort.models.finding import Severity
from rocefort.models.network.network import End, Node
from rocefort.models.wording import listing
from rocefort.validators.facts.references import (
    GROUP,
    POLICY,
    PREFIXES,
    VRF,
    definitions,
    references,
)
from rocefort.validators.rules.registry import Subject, Verdict, rule

ALL_VLANS = 4094  # a list up to the last VLAN means all that exist
MOST_SHOWN = 8  # VLANs of a message


@rule(
    "TXT007",
    severity=Severity.WARNING,
    source="the models: an object of each kind, by name",
)
def defined_names(subject: Subject) -> Iterator[Verdict]:
    """Every name that a line refers to is defined.

    A reference without a definition has no effect, or another one than its author means: a peer
    whose route-policy does not exist, a routing table or an SNMP view by a mistyped name. Rules on
    ACLs, traffic policies, drop profiles and Eth-Trunks are their own (SEC012, SEC013, ECN004,
    LAG004).

    Example: route-policy IN is not defined
    Fix: Define the object, or correct the name.
    """
    for node in subject.network.nodes:
        defined = definitions(node.device)
        for reference in references(node.device):
            if reference.name not in defined[reference.kind]:
                yield subject.finding(
                    node,
                    f"{reference.kind} {reference.name} is not defined",
                    "define it, or correct the name",
                    path=reference.path,
                )


@rule(
    "TOP009",
    severity=Severity.ERROR,
    source="CloudEngine configuration guide (V300R023C00), VLAN: created before its ports",
)
def existing_vlans(subject: Subject) -> Iterator[Verdict]:
    """Ports and gateways name VLANs that exist.

    A port in a VLAN that the switch does not have carries nothing, and a gateway without its VLAN
    stays down. A list of a trunk up to VLAN 4094 means all VLANs that exist.

    Example: it is in VLAN 20, which does not exist
    Fix: Create the VLAN, or correct the number at the port.
    """
    for node in subject.network.nodes:
        exists = {DEFAULT_VLAN, *node.device.vlans}
        for interface in node.device.interfaces:
            yield from _vlans(subject, node, interface, exists)


def _vlans(
    subject: Subject, node: Node, interface: Interface, exists: set[int]
) -> Iterator[Verdict]:
    end = End(device=node.name, interface=interface.name)
    vlan = gateway_vlan(interface.name)
    if vlan is not None and vlan not in exists:
        how = f"create VLAN {vlan}, or remove the interface"
        yield subject.finding(end, f"its VLAN {vlan} does not exist", how)
    access = interface.access_vlan
    if access is not None and access not in exists:
        how = f"create VLAN {access}, or correct the number"
        what = f"it is in VLAN {access}, which does not exist"
        yield subject.finding(end, what, how, path="access_vlan")
    missing = [each for each in interface.trunk_vlans if each not in exists]
    if missing and ALL_VLANS not in interface.trunk_vlans:
        more = f" and {len(missing) - MOST_SHOWN} more" if missing[MOST_SHOWN:] else ""
        yield subject.finding(
            end,
            f"its trunk has {listing(missing[:MOST_SHOWN])}{more}, which do not exist",
            "create these VLANs, or take them off the trunk",
            path="trunk_vlans",
            severity=Severity.WARNING,
        )


BUILT_IN = frozenset((DEFAULT_DOMAIN, DEFAULT_PROFILE, BUILT_IN_PROFILE, FACTORY_VRF))


@dataclass(frozen=True, slots=True)
class _Object:
    """A named object of a configuration, with its path and whether something uses it."""

    kind: str
    name: str
    path: str
    used: bool


@rule(
    "TXT008",
    severity=Severity.WARNING,
    source="the models: an object of each kind, by name",
)
def used_objects(subject: Subject) -> Iterator[Verdict]:
    """Every ACL, policy, profile and routing table is used.

    An object that nothing uses has no effect. It may be left over, or the line that applies it is
    missing: a traffic policy that no gateway has, a routing table without an interface.

    Example: traffic policy VLAN120 is not used
    Fix: Apply the object where it should work, or remove it.
    """
    for node in subject.network.nodes:
        words = _words(node)
        for each in _objects(node.device):
            if not each.used and each.name not in BUILT_IN and each.name not in words:
                yield subject.finding(
                    node,
                    f"{each.kind} {each.name} is not used",
                    "apply it where it should work, or remove it",
                    path=each.path,
                )
        yield from _tables(subject, node, words)


def _words(node: Node) -> frozenset[str]:
    """Words of lines that no model has; one of them may be the use of an object."""
    return frozenset(word for line in node.unmodelled for word in line.text.split()[1:])


def _objects(device: Device) -> Iterator[_Object]:
    named = {(each.kind, each.name) for each in references(device)}
    policies = ((POLICY, "route_policies", device.route_policies),)
    lists = ((PREFIXES, "prefix_lists", device.prefix_lists),)
    groups = ((GROUP, "bgp.groups", device.bgp.groups if device.bgp else ()),)
    for kind, path, rows in (*policies, *lists, *groups):
        yield from (
            _Object(kind, r.name, f"{path}[{r.name}]", (kind, r.name) in named) for r in rows
        )
    yield from _of_filters(device)
    yield from _of_queues(device)


def _rows(kind: str, path: str, names: Iterable[str], used: set[str]) -> Iterator[_Object]:
    yield from (_Object(kind, name, f"{path}[{name}]", name in used) for name in names)


def _of_filters(device: Device) -> Iterator[_Object]:
    filters, ports = device.filters, device.interfaces
    bindings = [binding for policy in filters.policies for binding in policy.bindings]
    numbers = {str(vty.acl) for vty in device.vty}
    yield from _rows("ACL", "acls", (str(acl.number) for acl in device.acls), numbers)
    matched = {name for row in filters.classifiers for name in row.acls}
    yield from _rows("ACL", "filters.acls", (acl.name for acl in filters.acls), matched)
    yield from _rows(
        "traffic classifier",
        "filters.classifiers",
        (row.name for row in filters.classifiers),
        {binding.classifier for binding in bindings},
    )
    yield from _rows(
        "traffic behavior",
        "filters.behaviors",
        (row.name for row in filters.behaviors),
        {binding.behavior for binding in bindings},
    )
    applied = {name for port in ports for name in (port.filter_in, port.filter_out) if name}
    yield from _rows(
        "traffic policy", "filters.policies", (row.name for row in filters.policies), applied
    )


def _of_queues(device: Device) -> Iterator[_Object]:
    ports = device.interfaces
    marked = {row.profile for port in ports for row in port.markings if row.profile}
    names = (row.name for row in device.drop_profiles)
    yield from _rows("drop profile", "drop_profiles", names, marked)
    paused = {port.pfc.profile for port in ports if port.pfc}
    yield from _rows("PFC profile", "pfc.profiles", (r.name for r in device.pfc.profiles), paused)
    mapped = {port.domain for port in ports if port.domain}
    yield from _rows("map of priorities", "domains", (r.name for r in device.domains), mapped)


def _tables(subject: Subject, node: Node, words: frozenset[str]) -> Iterator[Verdict]:
    """Routing tables without an interface, or without IPv4."""
    named = {each.name for each in references(node.device) if each.kind == VRF}
    bound = {port.vrf for port in node.device.interfaces}
    for table in node.device.vrfs:
        path = f"vrfs[{table.name}]"
        if table.name not in bound | words | BUILT_IN:
            yield subject.finding(
                node,
                f"routing table {table.name} has no interface",
                "put an interface into it, or remove it",
                path=path,
            )
        elif table.name in named and not table.ipv4:
            yield subject.finding(
                node,
                f"routing table {table.name} has no IPv4 family, so its addresses are not in use",
                "add the IPv4 family to it",
                path=path,
            )
