"""The tables of the report page: addresses, cabling and lossless ports, as rows of plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rocefort.models.hardware import port_speed_gbps
from rocefort.models.interface import Interface
from rocefort.models.network import Link, Network, Node
from rocefort.reports.page_content import PageContent

Cell = str | int | float | None  # None: not known
Row = tuple[Cell, ...]
KINDS_OF_PORT = {"loopback": "loopback", "management": "management port"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column; cells of kind `switch` lead to the configuration of that switch."""

    name: str
    kind: Literal["text", "number", "switch"] = "text"


@dataclass(frozen=True, slots=True)
class Table:
    """A table; note: why it is empty or not whole."""

    id: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""


def tables_of(content: PageContent) -> tuple[Table, ...]:
    """All tables of the page."""
    return _ports(content), _addresses(content.network), _cabling(content.network)


def _addresses(network: Network) -> Table:
    columns = (Column("Device", "switch"), Column("Interface"), Column("Address"), Column("Use"))
    rows = [row for node in network.nodes for row in _of_node(network, node)]
    rows += [
        (server.name, "", str(server.address), f"server in {server.segment} at {server.port}")
        for server in network.servers or ()
    ]
    note = "" if network.servers is not None else "The addresses of servers are not known."
    return Table("addresses", "Addresses", columns, tuple(rows), note)


def _of_node(network: Network, node: Node) -> Iterator[Row]:
    served = {(s.leaf, f"Vlanif{s.vlan}"): s.name for s in network.segments or ()}
    for interface in node.device.interfaces:
        segment = served.get((node.name, interface.name))
        use = f"gateway of {segment}" if segment else _use(interface)
        for address in interface.addresses:
            yield node.name, interface.name, str(address), use


def _use(interface: Interface) -> str:
    return KINDS_OF_PORT.get(interface.kind) or interface.description or interface.kind


def _cabling(network: Network) -> Table:
    columns = (
        Column("Switch", "switch"),
        Column("Port"),
        Column("To", "switch"),
        Column("Far port"),
        Column("Gb/s", "number"),
        Column("Metres", "number"),
    )
    rows = [_cable(link) for link in network.links or ()]
    rows += [
        (s.port.device, s.port.interface, s.name, "", s.speed_gbps, s.cable_m)
        for s in network.servers or ()
    ]
    notes = []
    if network.links is None:
        notes.append("The cabling between switches is not known.")
    elif network.origin == "text":
        notes.append("Links are inferred from addresses; nobody laid them down.")
    if network.servers is None:
        notes.append("The servers are not known.")
    return Table("cabling", "Cabling", columns, tuple(rows), " ".join(notes))


def _cable(link: Link) -> Row:
    speed = port_speed_gbps(link.a.interface)
    ends = (link.a.device, link.a.interface, link.b.device, link.b.interface)
    return (*ends, speed, link.cable_m)


def _ports(content: PageContent) -> Table:
    columns = (
        Column("Switch", "switch"),
        Column("Port"),
        Column("Gb/s", "number"),
        Column("Metres", "number"),
        Column("xoff KB", "number"),
        Column("Headroom KB", "number"),
        Column("Needed KB", "number"),
    )
    rows = [
        (
            budget.device,
            port.interface,
            port.speed_gbps,
            port.cable_m,
            port.xoff_kbytes,
            port.headroom_kbytes,
            port.needed_kbytes,
        )
        for budget in content.budgets
        for port in budget.ports
    ]
    return Table("ports", "Lossless ports", columns, tuple(rows))


def as_json_value(tables: Sequence[Table]) -> dict[str, object]:
    """The tables for the page's script, by id."""
    return {
        table.id: {
            "columns": [[column.name, column.kind] for column in table.columns],
            "rows": table.rows,
        }
        for table in tables
    }
