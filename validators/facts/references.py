"""Names in a configuration: the objects that it defines, and the fields that refer to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rocefort.models.device.device import Device
from rocefort.models.device.interface import DEFAULT_DOMAIN, NO_DOMAIN, Interface, kind_of
from rocefort.models.device.lossless_queue import BUILT_IN_PROFILE
from rocefort.models.device.routing import FACTORY_VRF, BgpSettings

BUILT_IN_VIEWS = ("ViewDefault",)  # V300R023C00, `snmp-agent group`: the read view by default
POLICY, PREFIXES, GROUP = "route-policy", "prefix list", "BGP group"
VRF, PORT, DOMAIN = "routing table", "interface", "map of priorities"
PROFILE, SNMP_GROUP, VIEW = "PFC profile", "SNMP group", "SNMP view"
SENSORS, COLLECTORS = "sensor group", "destination group"


@dataclass(frozen=True, slots=True)
class NameReference:
    """A name that a field refers to: its path, and the kind of object with this name."""

    path: str
    kind: str
    name: str


def definitions(device: Device) -> dict[str, set[str]]:
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


def references(device: Device) -> Iterator[NameReference]:
    """Yield the names that fields of a Device refer to."""
    yield from _of_routing(device)
    yield from _of_interfaces(device.interfaces)
    yield from _of_management(device)
    yield from _of_telemetry(device)


def _of_routing(device: Device) -> Iterator[NameReference]:
    bgp = device.bgp
    for group in bgp.groups if bgp else ():
        yield from _of_peer(group, f"bgp.groups[{group.name}]")
    for peer in bgp.peers if bgp else ():
        yield from _of_peer(peer, path := f"bgp.peers[{peer.address}]")
        if peer.group is not None:
            yield NameReference(f"{path}.group", GROUP, peer.group)
    for policy in device.route_policies:
        for node in policy.nodes:
            if node.match_prefix_list is not None:
                path = f"route_policies[{policy.name}].nodes[{node.node}].match_prefix_list"
                yield NameReference(path, PREFIXES, node.match_prefix_list)
    for route in device.static_routes:
        if route.vrf is not None:
            yield NameReference(f"static_routes[{route.key}]", VRF, route.vrf)


def _of_peer(settings: BgpSettings, path: str) -> Iterator[NameReference]:
    for field in ("import_policy", "export_policy"):
        name = getattr(settings, field)
        if name is not None:
            yield NameReference(f"{path}.{field}", POLICY, name)
    yield from _source(f"{path}.source_interface", settings.source_interface)


def _of_interfaces(interfaces: Iterable[Interface]) -> Iterator[NameReference]:
    for interface in interfaces:
        path = f"interfaces[{interface.name}]"
        if interface.vrf is not None:
            yield NameReference(f"{path}.vrf", VRF, interface.vrf)
        if interface.domain is not None:
            yield NameReference(f"{path}.domain", DOMAIN, interface.domain)
        if interface.pfc is not None:
            yield NameReference(f"{path}.pfc", PROFILE, interface.pfc.profile)


def _of_management(device: Device) -> Iterator[NameReference]:
    snmp, syslog = device.snmp, device.syslog
    for path, name in (("ntp_vrf", device.ntp_vrf), ("syslog.vrf", syslog.vrf)):
        if name is not None:
            yield NameReference(path, VRF, name)
    yield from _source("ntp_source", device.ntp_source)
    yield from _source("syslog.source_interface", syslog.source_interface)
    yield from _source("snmp.source_interface", snmp.source_interface)
    for user in snmp.users:
        yield NameReference(f"snmp.users[{user.name}].group", SNMP_GROUP, user.group)
    for group in snmp.groups:
        for field in ("read_view", "write_view", "notify_view"):
            name = getattr(group, field)
            if name is not None:
                yield NameReference(f"snmp.groups[{group.name}].{field}", VIEW, name)


def _of_telemetry(device: Device) -> Iterator[NameReference]:
    telemetry = device.telemetry
    for destination in telemetry.destination_groups:
        for collector in destination.collectors:
            path = f"telemetry.destination_groups[{destination.name}].collectors[{collector.key}]"
            if collector.vrf is not None:
                yield NameReference(f"{path}.vrf", VRF, collector.vrf)
    for subscription in telemetry.subscriptions:
        path = f"telemetry.subscriptions[{subscription.name}]"
        yield from _source(f"{path}.source_interface", subscription.source_interface)
        for row in subscription.samplings:
            yield NameReference(f"{path}.samplings[{row.group}]", SENSORS, row.group)
        for name in subscription.destinations:
            yield NameReference(f"{path}.destinations[{name}]", COLLECTORS, name)


def _source(path: str, name: str | None) -> Iterator[NameReference]:
    """The source interface of a service; a physical port exists without a line."""
    if name is not None and kind_of(name) not in ("ethernet", "management"):
        yield NameReference(path, PORT, name)
