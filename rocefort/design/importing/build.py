"""Build a fabric as data from the Devices of its switches, with pins where values need them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from ipaddress import IPv4Address, IPv4Interface

from pydantic import ValidationError

from rocefort.base.documents.read import YamlPath, path_text
from rocefort.base.errors import BadInput, Problem
from rocefort.design import allocation
from rocefort.design.importing import management_plane
from rocefort.design.importing.assumptions import Data, Notes, SwitchText
from rocefort.design.importing.bgp_graph import cables, connect, link_kind, loopback, per_pair
from rocefort.design.importing.hardware import SwitchInputs, check_facts
from rocefort.design.importing.lossless_profile import profiles_of
from rocefort.design.importing.routing import (
    AddressSpace,
    ExitPort,
    asn_of,
    exits_of,
    link_pool,
    loopback_pool,
    own_passwords,
    routing_of,
    ways_out,
)
from rocefort.design.importing.segments import (
    access_interfaces,
    gateways,
    policy_of,
    segments_of,
    server_kind,
    servers_of,
)
from rocefort.design.importing.survey import Survey
from rocefort.design.load.hardware_catalogue import Catalogue
from rocefort.design.load.profiles import Library
from rocefort.models.device.interface import ETHERNET_MTU
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.topology import Leaf, SegmentIntent, Switch


def pinned(data: Data, survey: Survey) -> Data:
    """Add pins to a fabric; raises BadInput if a fabric does not accept a value of the texts."""
    try:
        fabric = Fabric.model_validate(data)
    except ValidationError as error:
        raise BadInput(
            problems=[
                Problem(path_text(row["loc"]), row["msg"].removeprefix("Value error, "))
                for row in error.errors()
            ]
        ) from None
    addresses = management_plane.addresses(survey.switches)
    for group, switches in (("spines", fabric.spines), ("leaves", fabric.leaves)):
        for switch, row in zip(switches, data[group], strict=True):
            address = addresses.get(switch.name)
            if pins := _pins(fabric, switch, survey.graph.sources[switch.name], address):
                row["pins"] = pins
    links = list(_links(fabric, data, survey))
    servers = list(_servers(fabric, data, survey))
    return data | ({"links": links} if links else {}) | {"servers": servers}


def _pins(
    fabric: Fabric, switch: Switch, source: SwitchText, address: IPv4Interface | None
) -> Data:
    """Return pins of a switch. address: of its management port."""
    pins: Data = {}
    if allocation.asn(fabric, switch) != asn_of(source):
        pins["asn"] = asn_of(source)
    own = loopback(source)
    if own is not None and allocation.loopback(fabric, switch) != own:
        pins["loopback"] = own
    if address is not None and allocation.management(fabric, switch).ip != address.ip:
        pins["management"] = address.ip
    if isinstance(switch, Leaf):
        by_vlan = gateways(source)
        pinned_gateways = {
            segment.name: by_vlan[segment.vlan].addresses[0]
            for segment in fabric.segments
            if segment.vlan in by_vlan
            and segment.name in switch.segments
            and allocation.gateway(segment, switch) != by_vlan[segment.vlan].addresses[0]
        }
        pins |= {"gateways": pinned_gateways} if pinned_gateways else {}
    return pins


def _links(fabric: Fabric, data: Data, survey: Survey) -> Iterator[Data]:
    spines = {spine.name: spine for spine in fabric.spines}
    leaves = {leaf.name: leaf for leaf in fabric.leaves}
    common, passwords = data["cables"].get("fabric"), own_passwords(survey)
    for link in survey.links:
        spine, leaf = spines[link.spine.device], leaves[link.leaf.device]
        pin: Data = {}
        for role, own, peer, tip in (
            ("spine", spine, leaf, link.spine),
            ("leaf", leaf, spine, link.leaf),
        ):
            ports = survey.fabric_ports[own.name]
            if allocation.fabric_port(fabric, ports, peer, link.number) != tip.port.name:
                pin[f"{role}_port"] = tip.port.name
        if allocation.link_subnet(fabric, spine, leaf, link.number) != link.subnet:
            pin["subnet"] = link.subnet
        if (kind := link_kind(link, survey.speed)) and kind != common:
            pin["cable"] = kind
        if password := passwords.get((spine.name, leaf.name, link.number)):
            pin["authentication"] = password
        if pin:
            number = {"number": link.number} if link.number > 1 else {}
            yield {"spine": spine.name, "leaf": leaf.name, **number, **pin}


def _servers(fabric: Fabric, data: Data, survey: Survey) -> Iterator[Data]:
    """Yield servers without derived values; with an address if the derived one is not usable."""
    segments = {segment.name: segment for segment in fabric.segments}
    common = data["cables"].get("server")
    used: set[IPv4Address] = set()
    for server, row in zip(fabric.servers, data["servers"], strict=True):
        hardware = survey.models[server.leaf].hardware
        data_row = {key: row[key] for key in row if key != "cable" or row[key] != common}
        if server.bond is not None:
            alone = server.bond.model_copy(update={"id": None})
            if allocation.trunk_id(server, alone, hardware) == server.bond.id:
                data_row["bond"] = {k: v for k, v in row["bond"].items() if k != "id"}
        vlanif = gateways(survey.graph.sources[server.leaf])[segments[server.segment].vlan or 0]
        gateway = vlanif.addresses[0]
        address = allocation.server_address(server, gateway, hardware).ip
        if not _usable(address, gateway) or address in used:
            address = _free(gateway, used)
            data_row["address"] = address
        used.add(address)
        yield data_row


def _usable(address: IPv4Address, gateway: IPv4Interface) -> bool:
    ends = gateway.network.network_address, gateway.network.broadcast_address
    return address in gateway.network and address not in (*ends, gateway.ip)


def _free(gateway: IPv4Interface, used: set[IPv4Address]) -> IPv4Address:
    """Return the highest free address of a gateway's subnet."""
    last = int(gateway.network.broadcast_address) - 1
    for number in range(last, int(gateway.network.network_address), -1):
        if IPv4Address(number) not in used | {gateway.ip}:
            return IPv4Address(number)
    what = f"{gateway.network} has fewer addresses than its leaf has servers"
    raise BadInput(what, how="a server of a fabric has an address of its own")


RDMA = {"line_rate_fraction": 0.9, "latency_us": 5, "latency_tolerance": 0.5}


def draft(
    name: str,
    sources: Sequence[SwitchText],
    facts: SwitchInputs,
    catalogue: Catalogue,
    library: Library,
) -> tuple[Data, Notes]:
    """Return (a fabric as data in the order of its YAML, notes on assumptions) from its switches.

    Raises BadInput if they are not those of one fabric.
    """
    graph = connect(sources)
    check_facts(facts, graph.sources.keys(), catalogue)
    survey = Survey(graph, facts, catalogue)
    data, notes = pinned(_fabric(name, survey, library), survey), survey.notes
    for key in RDMA:
        notes.assume(("rdma", key), "measure it")
    notes.assume(("rollout", "canary"), "the last leaf")
    if not facts.rack:
        notes.assume(("leaves",), "racks, owners and what NICs servers have are not known")
    notes.assumed = {_note_path(path, data): why for path, why in notes.assumed.items()}
    return data, notes


def _fabric(name: str, survey: Survey, library: Library) -> Data:
    """Return all parts without pins, in the order of the YAML."""
    spines, leaves = survey.roles.spines, survey.roles.leaves
    exit_ports, mtu = ways_out(survey), _mtu(survey)
    pools, segments = _networks(survey, exit_ports)
    names = {row["vlan"]: row["name"] for row in segments if "vlan" in row}
    interfaces = list(access_interfaces(survey, names, exit_ports))
    kinds = [server_kind(one, survey.speed) for one in interfaces]
    exits = exits_of(survey, exit_ports, {row["prefix"]: row["name"] for row in segments[:-1]}, mtu)
    each = per_pair(survey.links)
    common = max(each.values(), key=lambda number: list(each.values()).count(number))
    data: Data = {
        "fabric": name,
        "capacity": asdict(survey.capacity),
        "pools": pools,
        "routing": routing_of(survey),
        "mtu": mtu,
        "cables": cables(survey.links, kinds, survey.speed, survey.notes),
        "lossless": "site",
        "profiles": profiles_of(survey, library),
        "segments": segments,
        "spines": [_switch(survey, source) for source in spines],
        "leaves": [
            _switch(survey, leaf)
            | {"segments": [names[vlan] for vlan in names if vlan in gateways(leaf)]}
            | ({"links_per_pair": each[leaf.name]} if each[leaf.name] != common else {})
            | ({"exits": exits[leaf.name]} if leaf.name in exits else {})
            for leaf in leaves
        ],
    }
    if survey.capacity.links_per_pair == 1:
        del data["capacity"]["links_per_pair"]
    if common > 1:
        data["links_per_pair"] = common
    data["servers"] = servers_of(survey, interfaces)
    data["management"] = management_plane.management_of(survey, segments[-1]["prefix"])
    data["security"] = management_plane.security_of(survey)
    if policy := policy_of(leaves, [SegmentIntent.model_validate(row) for row in segments]):
        data["security"]["policy"] = policy
    data["services"] = management_plane.services_of(survey)
    data |= {"rdma": dict(RDMA), "rollout": {"canary": leaves[-1].name}}
    return data


def _mtu(survey: Survey) -> int:
    ports = {
        f"{tip.device} {tip.port.name}": tip.port.mtu or ETHERNET_MTU
        for link in survey.links
        for tip in (link.spine, link.leaf)
    }
    vlanifs = {
        f"{leaf.name} {gateway.name}": gateway.mtu or ETHERNET_MTU
        for leaf in survey.roles.leaves
        for gateway in gateways(leaf).values()
    }
    return survey.notes.majority("MTU", ports | vlanifs) or ETHERNET_MTU


def _networks(survey: Survey, exit_ports: Sequence[ExitPort]) -> tuple[Data, list[Data]]:
    """Return (pools, segments with that of management last); none overlaps another."""
    roles, listed, space = survey.roles, survey.announced, AddressSpace()
    for exit_port in exit_ports:
        space.take(next(a.network for a in exit_port.port.addresses if exit_port.peer in a.network))
    vlans = {vlan for leaf in roles.leaves for vlan in gateways(leaf)} | {*listed.segments}
    outside = management_plane.management_prefix(survey, space, len(vlans))
    pools: Data = {}
    for name, members, size, pool in (
        ("spine_loopbacks", roles.spines, survey.capacity.spines, listed.spine_loopbacks),
        ("leaf_loopbacks", roles.leaves, survey.capacity.leaves, listed.leaf_loopbacks),
    ):
        pools[name] = loopback_pool(survey, members, size, pool, space)
    segments = segments_of(survey, space)
    segments.append({"name": "management", "role": "management", "prefix": outside})
    pools["links"], pools["link_prefix_length"] = link_pool(survey, space)
    return pools, segments


def _switch(survey: Survey, source: SwitchText) -> Data:
    model = survey.models[source.name]
    row: Data = {
        "id": survey.ids[source.name],
        "name": source.name,
        "hardware": model.hardware.model,
        "software": model.software,
    }
    if rack := survey.facts.rack.get(source.name):
        row["rack"] = rack
    if splits := survey.splits[source.name]:
        row["breakout"] = splits
    if model.hardware.fabric_ports != survey.catalogue.hardware[row["hardware"]].fabric_ports:
        row["fabric_ports"] = list(model.hardware.fabric_ports)
    return row


def _note_path(path: YamlPath, data: Data) -> YamlPath:
    """Return the path of a note; paths by a switch's name become paths of its values."""
    if path[0] not in ("hardware", "software"):
        return path
    for group in ("spines", "leaves"):
        for index, row in enumerate(data[group]):
            if row["name"] == path[1]:
                return (group, index, path[0])
    return path
