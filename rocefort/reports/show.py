"""Tables of a Network for a person at a cabinet and for other programs: text, JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby, islice

from rocefort.models.fabric_ports import peer_at
from rocefort.models.interface import Interface
from rocefort.models.keyed import natural
from rocefort.models.network import End, Link, Network, Node, Reserved, Role, Server
from rocefort.models.optics import COPPER, CableMedium, phy_of
from rocefort.models.wording import counted
from rocefort.reports import show_bonds, show_exits, show_profiles
from rocefort.reports.show_bonds import bond_rows
from rocefort.reports.terminal import WIDTH

Cell = str | int | float | None  # None: not known, or not there
Row = Sequence[Cell]
GAP = "  "
INDENT = "    "


class Kind(StrEnum):
    """What `rocefort show` can show."""

    DEVICES = "devices"
    LINKS = "links"
    ADDRESSES = "addresses"
    PORTS = "ports"
    CABLING = "cabling"
    PROFILES = "profiles"
    BONDS = "bonds"
    EXITS = "exits"


class Form(StrEnum):
    """How it is written."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class Table:
    """Columns, with units in their names, and the rows of a network.

    by_first: in text, rows with the same first cell stand together under a heading of their own.
    """

    columns: tuple[str, ...]
    rows: Callable[[Network], Iterable[Row]]
    by_first: bool = False


def show(network: Network, kind: Kind, form: Form = Form.TEXT) -> str:
    """One table of a network; all forms carry the same rows, and end in a newline.

    Text keeps to 80 columns: a row that needs more goes on in indented lines, under headings that
    do the same. Cells are never cut, so a single longer one stands out.
    """
    table = TABLES[kind]
    return _WRITERS[form](network.name, kind, table, [tuple(row) for row in table.rows(network)])


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
    """What an address is for."""
    if interface.kind == "loopback":
        return "loopback"
    if interface.kind == "management":
        return "management"
    if segment is not None:
        return f"gateway of segment {segment}"
    return cable or interface.description


def _ports(network: Network) -> Iterator[Row]:
    uses = _uses(network)
    ids = {role: {node.id for node in network.role(role)} for role in Role}
    for node in _nodes(network):
        kept = _kept(node, ids, network.reserved)
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


def _kept(
    node: Node, ids: Mapping[Role, set[int | None]], reserved: Reserved | None
) -> dict[str, str]:
    """Fabric ports of the capacity by what they wait for: a peer, or a further link to one."""
    if node.role is None or reserved is None:
        return {}
    spine = node.role is Role.SPINE
    role, peers = (Role.LEAF, reserved.leaves) if spine else (Role.SPINE, reserved.spines)
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
    """What to write on each end of a cable: first the end that the label is at."""
    return f"{near} / {far}", f"{far} / {near}"


def _nodes(network: Network) -> list[Node]:
    """Spines, leaves, then switches of an unknown role."""
    rest = (node for node in network.nodes if node.role is None)
    ordered = sorted(rest, key=lambda node: natural(node.name))
    return [*network.role(Role.SPINE), *network.role(Role.LEAF), *ordered]


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
    """What each cabled port of a switch is used for."""
    links = network.links or ()
    cables = {end: f"link to {other}" for link in links for end, other in _both_ways(link)}
    servers = network.servers or ()
    exits = {End(device=e.leaf, interface=e.port): f"exit {e.name}" for e in network.exits or ()}
    return cables | exits | {port: f"server {s.name}" for s in servers for port in s.ports}


def _both_ways(link: Link) -> tuple[tuple[End, End], tuple[End, End]]:
    return (link.a, link.b), (link.b, link.a)


ENDS = ("device", "port", "peer", "peer_port")
TABLES: Mapping[Kind, Table] = {
    Kind.DEVICES: Table(
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
    Kind.EXITS: Table(show_exits.COLUMNS, show_exits.exit_rows),
    Kind.LINKS: Table((*ENDS, "subnet", "speed_gbps", "length_m"), _links),
    Kind.ADDRESSES: Table(("device", "interface", "address", "used_for"), _addresses),
    Kind.PORTS: Table(("device", "port", "speed_gbps", "state", "used_for"), _ports, by_first=True),
    Kind.CABLING: Table(
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
    Kind.BONDS: Table(show_bonds.COLUMNS, lambda network: bond_rows(network, _nodes(network))),
    Kind.PROFILES: Table(show_profiles.COLUMNS, show_profiles.profile_rows, by_first=True),
}


def _json(network: str, kind: Kind, table: Table, rows: Sequence[Row]) -> str:
    content = {
        "network": network,
        "table": kind.value,
        "rows": [dict(zip(table.columns, row, strict=True)) for row in rows],
    }
    return json.dumps(content, indent=2) + "\n"


def _csv(_network: str, _kind: Kind, table: Table, rows: Sequence[Row]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([_plain(cell) for cell in row] for row in rows)
    return file.getvalue()


def _text(network: str, kind: Kind, table: Table, rows: Sequence[Row]) -> str:
    head = [column.replace("_", " ") for column in table.columns]
    body = [[_plain(cell) or "-" for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    right = [_numeric(row[place] for row in rows) for place in range(len(head))]
    lines = _layout(widths)
    out = [f"{network} {kind}: {counted(len(rows), 'row')}"]
    for _, group in groupby(body, key=lambda row: row[0] if table.by_first else ""):
        out.append("")
        for row in [head, *group]:
            out += _set(row, widths, right, lines)
    return "\n".join(out) + "\n"


def _plain(cell: Cell) -> str:
    """A cell as a person writes it: 50 and not 50.0, nothing for what is not there."""
    if cell is None:
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _numeric(cells: Iterable[Cell]) -> bool:
    known = [cell for cell in cells if cell is not None]
    return bool(known) and all(isinstance(cell, (int, float)) for cell in known)


def _layout(widths: Sequence[int]) -> list[range]:
    """Which columns stand in which line of a row: as many as fit, the first always one."""
    lines, start, used = [], 0, 0
    for place, width in enumerate(widths):
        if place > start and used + len(GAP) + width > WIDTH:
            lines.append(range(start, place))
            start, used = place, len(INDENT) + width
        else:
            used += width + (len(GAP) if place > start else 0)
    return [*lines, range(start, len(widths))]


def _set(
    row: Sequence[str], widths: Sequence[int], right: Sequence[bool], lines: Sequence[range]
) -> Iterator[str]:
    """One row in its lines."""
    for number, places in enumerate(lines):
        cells = [row[p].rjust(widths[p]) if right[p] else row[p].ljust(widths[p]) for p in places]
        yield ((INDENT if number else "") + GAP.join(cells)).rstrip()


_WRITERS: Mapping[Form, Callable[[str, Kind, Table, Sequence[Row]], str]] = {
    Form.TEXT: _text,
    Form.JSON: _json,
    Form.CSV: _csv,
}
