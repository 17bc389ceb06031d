"""Pins of an import: exactly the values of the texts that differ from allocation."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Interface

from pydantic import ValidationError

from rocefort.base.documents.read import path_text
from rocefort.base.errors import BadInput, Problem
from rocefort.design import allocation
from rocefort.design.importing import management
from rocefort.design.importing.assumptions import Data, SwitchText
from rocefort.design.importing.bgp_graph import loopback
from rocefort.design.importing.links import link_kind
from rocefort.design.importing.routing import asn_of, own_passwords
from rocefort.design.importing.segments import gateways
from rocefort.design.importing.survey import Survey
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.nodes import Leaf, Switch


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
    addresses = management.addresses(survey.switches)
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
