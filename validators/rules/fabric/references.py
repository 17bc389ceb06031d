"""Rules on names in a configuration: what a line refers to is defined in the same text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rocefort.models.device.bgp import BgpSettings
from rocefort.models.device.device import Device
from rocefort.models.device.interface import (
    DEFAULT_DOMAIN,
    DEFAULT_VLAN,
    NO_DOMAIN,
    Interface,
    gateway_vlan,
    kind_of,
)
from rocefort.models.device.lossless import BUILT_IN_PROFILE
from rocefort.models.device.static_routes import FACTORY_VRF
from rocefort.models.finding import Severity
from rocefort.models.network.network import End, Node
from rocefort.models.wording import listing
from rocefort.validators.rules.registry import Subject, Verdict, rule

ALL_VLANS = 4094  # a list up to the last VLAN means all that exist
BUILT_IN_VIEWS = ("ViewDefault",)  # V300R023C00, `snmp-agent group`: the read view by default
MOST_SHOWN = 8  # VLANs of a message


@dataclass(frozen=True, slots=True)
class Reference:
    """A name that a field refers to: its path, and the kind of object with this name."""

    path: str
    kind: str
    name: str


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
        defined = _definitions(node.device)
        for reference in references(node.device):
            if reference.name not in defined[reference.kind]:
                yield subject.finding(
                    node,
                    f"{reference.kind} {reference.name} is not defined",
                    "define it, or correct the name",
                    path=reference.path,
                )


POLICY, PREFIXES, GROUP = "route-policy", "prefix list", "BGP group"
VRF, PORT, DOMAIN = "routing table", "interface", "map of priorities"
PROFILE, SNMP_GROUP, VIEW = "PFC profile", "SNMP group", "SNMP view"
SENSORS, COLLECTORS = "sensor group", "destination group"


def _definitions(device: Device) -> dict[str, set[str]]:
    """Names by kind of object, with those that exist without a line."""
    bgp, snmp, telemetry = device.bgp, device.snmp, device.telemetry
    return {
        POLICY: {row.name for row in device.route_policies},
        PREFIXES: {row.name for row in device.prefix_lists},
        GROUP: {row.name for row in bgp.groups} if bgp else set(),
        VRF: {row.name for row in device.vrfs} | {FACTORY_VRF},
        PORT: {row.name for row in device.interfaces},
        DOMAIN: {row.name for row in device.domains} | {DEFAULT_DOMAIN, NO_DOMAIN},
        PROFILE: {row.name for row in device.pfc.profiles} | {BUILT_IN_PROFILE},
        SNMP_GROUP: {row.name for row in snmp.groups},
        VIEW: {row.name for row in snmp.views} | {*BUILT_IN_VIEWS},
        SENSORS: {row.name for row in telemetry.sensor_groups},
        COLLECTORS: {row.name for row in telemetry.destination_groups},
    }


def references(device: Device) -> Iterator[Reference]:
    """Yield the names that fields of a Device refer to."""
    yield from _of_routing(device)
    yield from _of_interfaces(device.interfaces)
    yield from _of_management(device)
    yield from _of_telemetry(device)


def _of_routing(device: Device) -> Iterator[Reference]:
    bgp = device.bgp
    for group in bgp.groups if bgp else ():
        yield from _of_peer(group, f"bgp.groups[{group.name}]")
    for peer in bgp.peers if bgp else ():
        yield from _of_peer(peer, path := f"bgp.peers[{peer.address}]")
        if peer.group is not None:
            yield Reference(f"{path}.group", GROUP, peer.group)
    for policy in device.route_policies:
        for node in policy.nodes:
            if node.match_prefix_list is not None:
                path = f"route_policies[{policy.name}].nodes[{node.node}].match_prefix_list"
                yield Reference(path, PREFIXES, node.match_prefix_list)
    for route in device.static_routes:
        if route.vrf is not None:
            yield Reference(f"static_routes[{route.key}]", VRF, route.vrf)


def _of_peer(settings: BgpSettings, path: str) -> Iterator[Reference]:
    for field in ("import_policy", "export_policy"):
        name = getattr(settings, field)
        if name is not None:
            yield Reference(f"{path}.{field}", POLICY, name)
    yield from _source(f"{path}.source_interface", settings.source_interface)


def _of_interfaces(interfaces: Iterable[Interface]) -> Iterator[Reference]:
    for interface in interfaces:
        path = f"interfaces[{interface.name}]"
        if interface.vrf is not None:
            yield Reference(f"{path}.vrf", VRF, interface.vrf)
        if interface.domain is not None:
            yield Reference(f"{path}.domain", DOMAIN, interface.domain)
        if interface.pfc is not None:
            yield Reference(f"{path}.pfc", PROFILE, interface.pfc.profile)


def _of_management(device: Device) -> Iterator[Reference]:
    snmp, syslog = device.snmp, device.syslog
    for path, name in (("ntp_vrf", device.ntp_vrf), ("syslog.vrf", syslog.vrf)):
        if name is not None:
            yield Reference(path, VRF, name)
    yield from _source("ntp_source", device.ntp_source)
    yield from _source("syslog.source_interface", syslog.source_interface)
    yield from _source("snmp.source_interface", snmp.source_interface)
    for user in snmp.users:
        yield Reference(f"snmp.users[{user.name}].group", SNMP_GROUP, user.group)
    for group in snmp.groups:
        for field in ("read_view", "write_view", "notify_view"):
            name = getattr(group, field)
            if name is not None:
                yield Reference(f"snmp.groups[{group.name}].{field}", VIEW, name)


def _of_telemetry(device: Device) -> Iterator[Reference]:
    telemetry = device.telemetry
    for destination in telemetry.destination_groups:
        for collector in destination.collectors:
            path = f"telemetry.destination_groups[{destination.name}].collectors[{collector.key}]"
            if collector.vrf is not None:
                yield Reference(f"{path}.vrf", VRF, collector.vrf)
    for subscription in telemetry.subscriptions:
        path = f"telemetry.subscriptions[{subscription.name}]"
        yield from _source(f"{path}.source_interface", subscription.source_interface)
        for row in subscription.samplings:
            yield Reference(f"{path}.samplings[{row.group}]", SENSORS, row.group)
        for name in subscription.destinations:
            yield Reference(f"{path}.destinations[{name}]", COLLECTORS, name)


def _source(path: str, name: str | None) -> Iterator[Reference]:
    """The source interface of a service; a physical port exists without a line."""
    if name is not None and kind_of(name) not in ("ethernet", "management"):
        yield Reference(path, PORT, name)


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
