"""The tables of the report page: addresses, cabling, lossless ports, packed configurations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from rocefort.design.results import cable_facts
from rocefort.design.table_rows import bond_rows, exit_rows
from rocefort.models.device.interface import Interface
from rocefort.models.fabric.policy import SegmentPolicy
from rocefort.models.network.exits import Exit
from rocefort.models.network.network import End, Link, Network, Node
from rocefort.reports.page_parts import PageColumn, PageTable, Row
from rocefort.verification.page.content import PageContent

Part = int | str  # the number of a run, or a line that is nowhere else


def packed_texts(texts: Mapping[str, str]) -> dict[str, object]:
    """Texts by device as parts, which joined by line feeds are the text again.

    Lines that are there more than once make runs between those that are there once: switches that
    are alike differ in addresses and names, and share the lines between them.
    """
    split = {name: text.split("\n") for name, text in texts.items()}
    count = Counter(line for lines in split.values() for line in lines)
    runs: dict[str, int] = {}
    parts = {name: list(_parts(lines, count, runs)) for name, lines in split.items()}
    return {"runs": list(runs), "texts": parts}


def _parts(lines: Sequence[str], count: Counter[str], runs: dict[str, int]) -> Iterator[Part]:
    for common, some in groupby(lines, key=lambda line: count[line] > 1):
        if common:
            yield runs.setdefault("\n".join(some), len(runs))
        else:
            yield from some


KINDS_OF_PORT = {"loopback": "loopback", "management": "management port"}


def tables_of(content: PageContent) -> tuple[PageTable, ...]:
    """All tables of the page."""
    tables = _ports(content), _addresses(content.network), _cabling(content.network)
    bonds = tuple(bond_rows(content.network, content.network.nodes))
    exits = tuple(exit_rows(content.network))
    policy = _policy(content.network.policy) if content.network.policy else None
    more = policy, _bonds(bonds) if bonds else None, _exits(exits) if exits else None
    return (*tables, *filter(None, more))


def _policy(policy: SegmentPolicy) -> PageTable:
    columns = (
        PageColumn("Entry", "number"),
        PageColumn("Action"),
        PageColumn("From", "prose"),
        PageColumn("To", "prose"),
        PageColumn("Protocol"),
        PageColumn("Ports"),
    )
    entries = tuple(
        (
            entry.id,
            entry.action,
            ", ".join(entry.source),
            ", ".join(entry.destination),
            entry.protocol,
            "-".join(map(str, entry.ports)) or "all",
        )
        for entry in policy.ordered
    )
    rest: Row = ("last", policy.default, "any segment", "any other", "any", "all")
    note = "The first entry that fits a conversation decides; replies go with it."
    return PageTable("policy", "Policy of the segments", columns, (*entries, rest), note)


def _bonds(rows: tuple[Row, ...]) -> PageTable:
    columns = (
        PageColumn("Switch", "switch"),
        PageColumn("Eth-Trunk"),
        PageColumn("Server"),
        PageColumn("Gb/s", "number"),
        PageColumn("Mode"),
        PageColumn("LACP timeout"),
        PageColumn("Links needed", "number"),
        PageColumn("Members"),
    )
    timeout = columns.index(PageColumn("LACP timeout"))
    told = tuple((*row[:timeout], row[timeout] or "no LACP", *row[timeout + 1 :]) for row in rows)
    return PageTable("bonds", "Bonds", columns, told)


def _exits(rows: tuple[Row, ...]) -> PageTable:
    columns = (
        PageColumn("Exit"),
        PageColumn("Leaf", "switch"),
        PageColumn("Port"),
        PageColumn("Address"),
        PageColumn("Peer"),
        PageColumn("AS", "number"),
        PageColumn("Default route"),
        PageColumn("Accepts"),
        PageColumn("Announces"),
        PageColumn("Lossless"),
    )
    told = tuple(tuple("none" if cell is None else cell for cell in row) for row in rows)
    return PageTable("exits", "Exits", columns, told)  # of an exit, what is not there is known


def _addresses(network: Network) -> PageTable:
    columns = (
        PageColumn("Device", "switch"),
        PageColumn("Interface"),
        PageColumn("Address"),
        PageColumn("Use"),
    )
    rows = [row for node in network.nodes for row in _of_node(network, node)]
    rows += [
        (server.name, "", str(server.address), f"server in {server.segment} at {server.port}")
        for server in network.servers or ()
    ]
    note = "" if network.servers is not None else "The addresses of servers are not known."
    return PageTable("addresses", "Addresses", columns, tuple(rows), note)


def _of_node(network: Network, node: Node) -> Iterator[Row]:
    served = {(s.leaf, f"Vlanif{s.vlan}"): s.name for s in network.segments or ()}
    for interface in node.device.interfaces:
        segment = served.get((node.name, interface.name))
        use = f"gateway of {segment}" if segment else _use(interface)
        for address in interface.addresses:
            yield node.name, interface.name, str(address), use


def _use(interface: Interface) -> str:
    return KINDS_OF_PORT.get(interface.kind) or interface.description or interface.kind


def _cabling(network: Network) -> PageTable:
    columns: tuple[PageColumn, ...] = (
        PageColumn("Switch", "switch"),
        PageColumn("Port"),
        PageColumn("To", "switch"),
        PageColumn("Far port"),
        PageColumn("Metres", "number"),
        PageColumn("Gb/s", "number"),
        PageColumn("Medium"),
        PageColumn("FEC"),
    )
    rows = [_cable(network, link) for link in network.links or ()]  # first: paths count on it
    rows += [
        (
            port.device,
            port.interface,
            s.name,
            "",
            *cable_facts(network, port, s.medium, s.cable_m, s.flow_gbps or None),
        )
        for s in network.servers or ()
        for port in s.ports
    ]
    rows += [_way_out(network, exit_) for exit_ in network.exits or ()]
    if not any(any(row[-2:]) for row in rows):  # no cable has a known medium
        columns, rows = columns[:-2], [row[:-2] for row in rows]
    notes = []
    if network.links is None:
        notes.append("The cabling between switches is not known.")
    elif network.origin == "text":
        notes.append("Links are inferred from the configurations; no intent confirms them.")
    if network.servers is None:
        notes.append("The servers are not known.")
    return PageTable("cabling", "Cabling", columns, tuple(rows), " ".join(notes))


def _way_out(network: Network, exit_: Exit) -> Row:
    end = End(device=exit_.leaf, interface=exit_.port)
    facts = cable_facts(network, end, exit_.medium, exit_.cable_m, network.speed_gbps(end))
    return (*(end.device, end.interface, f"exit {exit_.name}", ""), *facts)


def _cable(network: Network, link: Link) -> Row:
    ends = (link.a.device, link.a.interface, link.b.device, link.b.interface)
    speed = network.speed_gbps(link.a)
    return (*ends, *cable_facts(network, link.a, link.medium, link.cable_m, speed))


def _ports(content: PageContent) -> PageTable:
    columns = (
        PageColumn("Switch", "switch"),
        PageColumn("Port"),
        PageColumn("Gb/s", "number"),
        PageColumn("Metres", "number"),
        PageColumn("xoff KB", "number"),
        PageColumn("Headroom KB", "number"),
        PageColumn("Needed KB", "number"),
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
    return PageTable("ports", "Lossless ports", columns, tuple(rows))
