"""Filters of data packets in EOS terms: one access list for each applied traffic policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network

from rocefort.base.errors import Problem
from rocefort.models.base import NAME
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.device.packet_filters import FilterRule, PortRange

NAMES = "use letters, digits, '.', '_' and '-'"


@dataclass(frozen=True, slots=True)
class AccessList:
    """An access list: its name, and its lines without their numbers."""

    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AppliedPolicy:
    """A policy that an interface applies."""

    interface: Interface
    field: str  # of the Interface
    policy: str


def applied_policies(device: Device) -> Iterator[AppliedPolicy]:
    """Yield applied policies, in order of interfaces."""
    for interface in device.interfaces:
        for field in ("filter_in", "filter_out"):
            if (policy := getattr(interface, field)) is not None:
                yield AppliedPolicy(interface, field, policy)


def access_lists(device: Device) -> tuple[AccessList, ...]:
    """Return access lists of applied policies; call it if `filter_problems` yields nothing.

    In VRP a packet that an ACL denies is dropped whatever the behavior, one that it permits gets
    the behavior, and one that nothing matches is forwarded (V300R023C00, `deny | permit`).
    """
    return tuple(
        AccessList(access_name(name), (*_lines(device, name), "permit ip any any"))
        for name in sorted({use.policy for use in applied_policies(device)})
    )


def access_name(policy: str) -> str:
    """Return the name of a policy's access list."""
    return f"TP-{policy}"


def groups_of(interface: Interface) -> tuple[str, ...]:
    """Return the `ip access-group` lines of an interface."""
    ways = (("in", interface.filter_in), ("out", interface.filter_out))
    return tuple(f"{access_name(policy)} {side}" for side, policy in ways if policy is not None)


def _lines(device: Device, name: str) -> Iterator[str]:
    for _, rule, denied in rules_of(device, name):
        yield _line(rule, "deny" if denied else "permit")


def rules_of(device: Device, name: str) -> Iterator[tuple[str, FilterRule, bool]]:
    """Yield the source of each line of an access list: ACL, rule, and whether it drops.

    In the order of the lines. The last line permits the rest and has no rule.
    """
    acls = {acl.name: acl for acl in device.filters.acls}
    classifiers = {item.name: item for item in device.filters.classifiers}
    denying = {item.name for item in device.filters.behaviors if item.deny}
    policy = device.filters.policy(name)
    for row in policy.bindings if policy else ():
        for acl in classifiers[row.classifier].acls:
            for rule in acls[acl].rules:
                yield acl, rule, rule.action == "deny" or row.behavior in denying


def _line(rule: FilterRule, action: str) -> str:
    words = [action, rule.protocol, _network(rule.source), _ports(rule.source_ports)]
    words += [_network(rule.destination), _ports(rule.destination_ports)]
    words += [f"dscp {rule.dscp}"] if rule.dscp is not None else []
    return " ".join(filter(None, words))


def _network(prefix: IPv4Network | None) -> str:
    if prefix is None or prefix.prefixlen == 0:
        return "any"
    return f"host {prefix.network_address}" if prefix.prefixlen == 32 else str(prefix)


def _ports(ports: PortRange | None) -> str:
    return "" if ports is None else str(ports)


def filter_problems(device: Device) -> Iterator[Problem]:
    """Yield policies that EOS text cannot express: of switched ports, of several ACLs, empty."""
    acls = {acl.name for acl in device.filters.acls}
    classifiers = {item.name: item for item in device.filters.classifiers}
    missing = {path: (kind, name) for path, kind, name in device.filters.dangling()}
    for use in applied_policies(device):
        where = f"{device.name} {use.interface.name}"
        policy = device.filters.policy(use.policy)
        if policy is None:
            how = "define it, or remove the reference"
            yield Problem(where, f"traffic policy {use.policy} does not exist", how)
            continue
        if not use.interface.layer3:
            what = f"traffic policy {use.policy} is on a switched port"
            yield Problem(where, what, "apply it to the Vlanif")
        if not NAME.fullmatch(use.policy):
            yield Problem(f"{where} {use.policy!r}", "not one word of EOS", NAMES)
        paths = [
            f"policies[{use.policy}]",
            *(f"classifiers[{b.classifier}]" for b in policy.bindings),
        ]
        for kind, name in (missing[path] for path in paths if path in missing):
            yield Problem(where, f"{kind} {name} does not exist", "define it with its lines")
        used = [
            a
            for b in policy.bindings
            if b.classifier in classifiers
            for a in classifiers[b.classifier].acls
        ]
        if len(used) > 1 and set(used) <= acls:
            what = f"traffic policy {use.policy} has {len(used)} ACLs, whose order is not known"
            yield Problem(where, what, "use one classifier with one ACL")
