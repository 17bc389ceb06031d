"""Rule on objects of a configuration that nothing uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rocefort.models.device.device import Device
from rocefort.models.device.interface import DEFAULT_DOMAIN
from rocefort.models.device.lossless import BUILT_IN_PROFILE, DEFAULT_PROFILE
from rocefort.models.device.routing import FACTORY_VRF
from rocefort.models.finding import Severity
from rocefort.models.network.network import Node
from rocefort.validators.facts.references import GROUP, POLICY, PREFIXES, VRF, references
from rocefort.validators.rules.registry import Subject, Verdict, rule

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
