"""Results of `render`, `show` and `import`, for programs and as reports: texts and tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import islice
from typing import NamedTuple

from pydantic import Field

from rocefort.base.actions import WrittenFiles
from rocefort.design import schedulers
from rocefort.design.schedulers import FILES
from rocefort.design.table_rows import (
    BOND_COLUMNS,
    EXIT_COLUMNS,
    LOSSLESS_COLUMNS,
    PROFILE_COLUMNS,
    bond_rows,
    exit_rows,
    lossless_rows,
    profile_rows,
)
from rocefort.models.base import Frozen, natural
from rocefort.models.device.interface import Interface
from rocefort.models.fabric.topology import peer_at
from rocefort.models.hardware.media import COPPER, CableMedium, phy_of
from rocefort.models.network.network import End, Link, Network, Node, Reserved, Server, SwitchRole
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Block, Cell, Code, Note, Table, columns, plain


class RenderedTexts(Frozen):
    """Configurations by name of switch, or files by name of server; empty if they are in files."""

    texts: dict[str, str] = Field(default_factory=dict)
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class ImportedFabric(Frozen):
    """Fabric that was made from configurations, and the points that its author must review.

    designs: other designs in the texts. left: lines that the fabric does not have; equal ones of
    several switches are together, and lines_left is their number. whole: nothing is left. notes: on
    files and columns that were not read.
    """

    file: str
    whole: bool
    designs: tuple[str, ...]
    assumed: tuple[str, ...]
    differences: tuple[str, ...]
    left: tuple[str, ...]
    lines_left: int
    added: tuple[str, ...]
    notes: tuple[str, ...] = ()


def notes_report(done: WrittenFiles | RenderedTexts) -> Code:
    """Show the notes on the files."""
    return Code(done.notes)


Row = tuple[Cell, ...]


class ShowTable(StrEnum):
    """Tables of `rocefort show`."""

    DEVICES = "devices"
    LINKS = "links"
    ADDRESSES = "addresses"
    PORTS = "ports"
    CABLING = "cabling"
    PROFILES = "profiles"
    BONDS = "bonds"
    EXITS = "exits"
    LOSSLESS = "lossless"
    SLURM_TOPOLOGY = "slurm-topology"
    SLURM_BLOCKS = "slurm-blocks"
    KUBERNETES_LABELS = "kubernetes-labels"


class _Rows(NamedTuple):
    """Columns, with units in their names, and the rows of a network.

    by_first: in text, rows with the same first cell form a group with its own heading.
    """

    columns: tuple[str, ...]
    of: Callable[[Network], Iterable[Row]]
    by_first: bool = False


class TableOutput(Frozen):
    """Table of a network for programs; rows have the names of the columns as keys."""

    network: str
    table: ShowTable
    rows: tuple[dict[str, Cell], ...]


def show_report(network: Network, kind: ShowTable) -> tuple[Block, Table]:
    """Show a table of a network and its number of rows."""
    table = TABLES[kind]
    rows = tuple(table.of(network))
    heads = columns(*(name.replace("_", " ") for name in table.columns))
    title = Note(f"{network.name} {kind}: {count_of(len(rows), 'row')}")
    return title, Table(heads, rows, by_first=table.by_first)


def show_output(network: Network, kind: ShowTable) -> TableOutput:
    """Return the same rows for programs."""
    table = TABLES[kind]
    rows = tuple(dict(zip(table.columns, row, strict=True)) for row in table.of(network))
    return TableOutput(network=network.name, table=kind, rows=rows)


def show_csv(network: Network, kind: ShowTable) -> str:
    """Return the same rows as CSV; an unknown cell is empty."""
    table, file = TABLES[kind], io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([plain(cell) for cell in row] for row in table.of(network))
    return file.getvalue()


def _devices(network: Network) -> Iterator[Row]:
    for node in _nodes(network):
        interfaces = node.device.interfaces
        loopback = next((i for i in interfaces if i.kind == "loopback" and i.addresses), None)
        yield (
            node.name,
            node.role,
            node.id,
            node.hardware.model if node.hardware else None,
            node.software,
            node.syntax,
            node.device.bgp.asn if node.device.bgp else None,
            str(loopback.addresses[0].ip) if loopback else None,
            str(node.management) if node.management else None,
            node.rack,
        )


def _links(network: Network) -> Iterator[Row]:
    for link in _cables(network):
        interface = network.interface(link.a)
        subnet = str(interface.addresses[0].network) if interface and interface.addresses else None
        yield (*_ends(link), subnet, network.speed_gbps(link.a), link.cable_m)


def _addresses(network: Network) -> Iterator[Row]:
    uses = _uses(network)
    segments = {(s.leaf, s.gateway): s.name for s in network.segments or ()}
    for node in _nodes(network):
        for interface in node.device.interfaces:
            for address in interface.addresses:
                end = End(device=node.name, interface=interface.name)
                use = _use(interface, uses.get(end), segments.get((node.name, address)))
                yield node.name, interface.name, str(address), use
    for server in _servers(network):
        use = f"segment {server.segment}, at {server.port}"
        yield server.name, None, str(server.address), use


def _use(interface: Interface, cable: str | None, segment: str | None) -> str | None:
    """Return the use of an address."""
    if interface.kind == "loopback":
        return "loopback"
    if interface.kind == "management":
        return "management"
    if segment is not None:
        return f"gateway of segment {segment}"
    return cable or interface.description


def _ports(network: Network) -> Iterator[Row]:
    uses = _uses(network)
    ids = {role: {node.id for node in network.role(role)} for role in SwitchRole}
    for node in _nodes(network):
        kept = _reserved_ports(node, ids, network.reserved)
        for name in _port_names(node):
            row = node.name, name, node.speed_gbps(name)
            interface = node.device.by_interface.get(name)
            if use := uses.get(End(device=node.name, interface=name)):
                yield *row, "used", use
            elif interface is not None:
                yield *row, "configured", interface.description
            elif name in kept:
                yield *row, "reserved", kept[name]
            else:
                yield *row, "free", None


def _port_names(node: Node) -> list[str]:
    """Ports of the hardware in its order, then others that the configuration names."""
    named = [i.name for i in node.device.interfaces if i.kind == "ethernet"]
    return list(dict.fromkeys([*node.port_names, *named]))


def _reserved_ports(
    node: Node, ids: Mapping[SwitchRole, set[int | None]], reserved: Reserved | None
) -> dict[str, str]:
    """Fabric ports of the capacity by what they wait for: a peer, or a further link to one."""
    if node.role is None or reserved is None:
        return {}
    spine = node.role is SwitchRole.SPINE
    role, peers = (
        (SwitchRole.LEAF, reserved.leaves) if spine else (SwitchRole.SPINE, reserved.spines)
    )
    most = peers * reserved.links_per_pair
    waited = ((port, *peer_at(place, peers)) for place, port in enumerate(node.fabric_places))
    return {
        port: f"{role} id {number}" + (f", link {link}" if reserved.links_per_pair > 1 else "")
        for port, number, link in islice(waited, most)
        if number not in ids[role] or link > 1
    }


def _cabling(network: Network) -> Iterator[Row]:
    for link in _cables(network):
        cable = link.medium, link.cable_m, network.speed_gbps(link.a)
        yield (
            *_ends(link),
            *cable_facts(network, link.a, *cable),
            *_labels(str(link.a), str(link.b)),
        )
    for server in _servers(network):
        for port in server.ports:
            cable = server.medium, server.cable_m, server.flow_gbps or None
            labels = _labels(str(port), server.name)
            ends = port.device, port.interface, server.name, None
            yield (*ends, *cable_facts(network, port, *cable), *labels)
    for exit_ in network.exits or ():
        port = End(device=exit_.leaf, interface=exit_.port)
        cable = exit_.medium, exit_.cable_m, network.speed_gbps(port)
        ends = port.device, port.interface, f"exit {exit_.name}", None
        labels = _labels(str(port), exit_.name)
        yield (*ends, *cable_facts(network, port, *cable), *labels)


def cable_facts(
    network: Network,
    end: End,
    medium: CableMedium | None,
    length_m: float | None,
    speed_gbps: int | None,
) -> Row:
    """Length, speed, medium and FEC of a cable, as the port at its near end is set."""
    phy = phy_of(medium, speed_gbps)
    return length_m, speed_gbps, phy.name if phy else medium, _fec(network.interface(end), medium)


def _fec(interface: Interface | None, medium: CableMedium | None) -> str | None:
    if interface is None or interface.fec is not None:
        return interface.fec if interface else None
    return "negotiated" if medium == COPPER and interface.autonegotiation else None


def _labels(near: str, far: str) -> tuple[str, str]:
    """Return the labels of both ends of a cable; each begins with its own end."""
    return f"{near} / {far}", f"{far} / {near}"


def _nodes(network: Network) -> list[Node]:
    """Spines, leaves, then switches of an unknown role."""
    rest = (node for node in network.nodes if node.role is None)
    ordered = sorted(rest, key=lambda node: natural(node.name))
    return [*network.role(SwitchRole.SPINE), *network.role(SwitchRole.LEAF), *ordered]


def _cables(network: Network) -> list[Link]:
    """Links in the order of their first ends' switches and ports."""
    place = {node.name: number for number, node in enumerate(_nodes(network))}

    def key(link: Link) -> tuple[object, ...]:
        return place.get(link.a.device, len(place)), natural(link.a.interface)

    return sorted(network.links or (), key=key)


def _servers(network: Network) -> list[Server]:
    """Servers in the order of their leaves and ports."""
    place = {node.name: number for number, node in enumerate(_nodes(network))}

    def key(server: Server) -> tuple[object, ...]:
        return place.get(server.port.device, len(place)), natural(server.port.interface)

    return sorted(network.servers or (), key=key)


def _ends(link: Link) -> tuple[str, str, str, str]:
    return link.a.device, link.a.interface, link.b.device, link.b.interface


def _uses(network: Network) -> dict[End, str]:
    """Return the use of each cabled port of a switch."""
    links = network.links or ()
    cables = {end: f"link to {other}" for link in links for end, other in _both_ways(link)}
    servers = network.servers or ()
    exits = {End(device=e.leaf, interface=e.port): f"exit {e.name}" for e in network.exits or ()}
    return cables | exits | {port: f"server {s.name}" for s in servers for port in s.ports}


def _both_ways(link: Link) -> tuple[tuple[End, End], tuple[End, End]]:
    return (link.a, link.b), (link.b, link.a)


ENDS = ("device", "port", "peer", "peer_port")
TABLES: Mapping[ShowTable, _Rows] = {
    ShowTable.DEVICES: _Rows(
        (
            "name",
            "role",
            "id",
            "hardware",
            "software",
            "family",
            "asn",
            "loopback",
            "management",
            "rack",
        ),
        _devices,
    ),
    ShowTable.EXITS: _Rows(EXIT_COLUMNS, exit_rows),
    ShowTable.LINKS: _Rows((*ENDS, "subnet", "speed_gbps", "length_m"), _links),
    ShowTable.ADDRESSES: _Rows(("device", "interface", "address", "used_for"), _addresses),
    ShowTable.PORTS: _Rows(
        ("device", "port", "speed_gbps", "state", "used_for"), _ports, by_first=True
    ),
    ShowTable.CABLING: _Rows(
        (
            *ENDS,
            "length_m",
            "transceiver_gbps",
            "medium",
            "fec",
            "label_here",
            "label_at_peer",
        ),
        _cabling,
        by_first=True,
    ),
    ShowTable.BONDS: _Rows(BOND_COLUMNS, lambda network: bond_rows(network, _nodes(network))),
    ShowTable.LOSSLESS: _Rows(
        LOSSLESS_COLUMNS, lambda network: lossless_rows(network, _nodes(network))
    ),
    ShowTable.PROFILES: _Rows(PROFILE_COLUMNS, profile_rows, by_first=True),
    **{ShowTable(name): _Rows(schedulers.COLUMNS, schedulers.server_rows) for name in FILES},
}
