"""Pins: every value of the texts that allocation would give otherwise, and none beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface

from pydantic import ValidationError

from rocefort.design import allocate
from rocefort.design.importing.graph import loopback
from rocefort.design.importing.links import Joined, SpeedOf, link_kind
from rocefort.design.importing.notes import Data, Source
from rocefort.design.importing.routing import asn_of
from rocefort.design.importing.segments import gateways
from rocefort.documents.read import path_text
from rocefort.errors import BadInput, Problem
from rocefort.models.fabric import Fabric
from rocefort.models.fabric_nodes import Leaf, Switch
from rocefort.models.hardware import Hardware

LinkKey = tuple[str, str, int]  # spine, leaf, number


@dataclass(frozen=True)
class PinSources:
    """What the texts say of everything that can be pinned, by switch or link."""

    sources: Mapping[str, Source]
    hardware: Mapping[str, Hardware]
    fabric_ports: Mapping[str, Sequence[str]]
    links: Sequence[Joined]
    management: Mapping[str, IPv4Address]
    passwords: Mapping[LinkKey, Data]
    speed: SpeedOf


def pinned(data: Data, given: PinSources) -> Data:
    """The fabric with pins; raises BadInput where a value of the texts is none of a fabric's."""
    try:
        fabric = Fabric.model_validate(data)
    except ValidationError as error:
        raise BadInput(
            problems=[
                Problem(path_text(row["loc"]), row["msg"].removeprefix("Value error, "))
                for row in error.errors()
            ]
        ) from None
    links = list(_links(fabric, data, given))
    return {
        **data,
        "spines": _pinned(fabric, fabric.spines, data["spines"], given),
        "leaves": _pinned(fabric, fabric.leaves, data["leaves"], given),
        **({"links": links} if links else {}),
        "servers": list(_servers(fabric, data, given)),
    }


def _pinned(
    fabric: Fabric, switches: Sequence[Switch], rows: Sequence[Data], given: PinSources
) -> list[Data]:
    both = zip(switches, rows, strict=True)
    return [_with_pins(fabric, switch, row, given) for switch, row in both]


def _with_pins(fabric: Fabric, switch: Switch, row: Data, given: PinSources) -> Data:
    pins: Data = {}
    source = given.sources[switch.name]
    if allocate.asn(fabric, switch) != asn_of(source):
        pins["asn"] = asn_of(source)
    own = loopback(source)
    if own is not None and allocate.loopback(fabric, switch) != own:
        pins["loopback"] = own
    address = given.management.get(switch.name)
    if address is not None and allocate.management(fabric, switch).ip != address:
        pins["management"] = address
    if isinstance(switch, Leaf) and (found := dict(_gateways(fabric, switch, source))):
        pins["gateways"] = found
    return row | ({"pins": pins} if pins else {})


def _gateways(fabric: Fabric, leaf: Leaf, source: Source) -> Iterator[tuple[str, IPv4Interface]]:
    said = gateways(source)
    for segment in fabric.segments:
        if segment.vlan in said and segment.name in leaf.segments:
            address = said[segment.vlan].addresses[0]
            if allocate.gateway(segment, leaf) != address:
                yield segment.name, address


def _links(fabric: Fabric, data: Data, given: PinSources) -> Iterator[Data]:
    spines = {spine.name: spine for spine in fabric.spines}
    leaves = {leaf.name: leaf for leaf in fabric.leaves}
    common = data["cables"].get("fabric")
    for link in given.links:
        spine, leaf = spines[link.spine.device], leaves[link.leaf.device]
        pin: Data = {}
        for role, own, peer, tip in (
            ("spine", spine, leaf, link.spine),
            ("leaf", leaf, spine, link.leaf),
        ):
            ports = given.fabric_ports[own.name]
            if allocate.fabric_port(fabric, ports, peer, link.number) != tip.port.name:
                pin[f"{role}_port"] = tip.port.name
        if allocate.link_subnet(fabric, spine, leaf, link.number) != link.subnet:
            pin["subnet"] = link.subnet
        if (kind := link_kind(link, given.speed)) and kind != common:
            pin["cable"] = kind
        if own_password := given.passwords.get((spine.name, leaf.name, link.number)):
            pin["authentication"] = own_password
        if pin:
            number = {"number": link.number} if link.number > 1 else {}
            yield {"spine": spine.name, "leaf": leaf.name, **number, **pin}


def _servers(fabric: Fabric, data: Data, given: PinSources) -> Iterator[Data]:
    """Servers without what follows anyway; with an address where the derived one is none."""
    segments = {segment.name: segment for segment in fabric.segments}
    common = data["cables"].get("server")
    used: set[IPv4Address] = set()
    for server, row in zip(fabric.servers, data["servers"], strict=True):
        hardware = given.hardware[server.leaf]
        made = {key: row[key] for key in row if key != "cable" or row[key] != common}
        if server.bond is not None:
            alone = server.bond.model_copy(update={"id": None})
            if allocate.trunk_id(server, alone, hardware) == server.bond.id:
                made["bond"] = {k: v for k, v in row["bond"].items() if k != "id"}
        said = gateways(given.sources[server.leaf])[segments[server.segment].vlan or 0]
        gateway = said.addresses[0]
        address = allocate.server_address(server, gateway, hardware).ip
        if not _usable(address, gateway) or address in used:
            address = _free(gateway, used)
            made["address"] = address
        used.add(address)
        yield made


def _usable(address: IPv4Address, gateway: IPv4Interface) -> bool:
    ends = gateway.network.network_address, gateway.network.broadcast_address
    return address in gateway.network and address not in (*ends, gateway.ip)


def _free(gateway: IPv4Interface, used: set[IPv4Address]) -> IPv4Address:
    """The highest address behind a gateway that nobody has."""
    last = int(gateway.network.broadcast_address) - 1
    for number in range(last, int(gateway.network.network_address), -1):
        if IPv4Address(number) not in used | {gateway.ip}:
            return IPv4Address(number)
    what = f"{gateway.network} has fewer addresses than its leaf has servers"
    raise BadInput(what, how="a server of a fabric has an address of its own")
