"""`rocefort show`: what is in the tables of HEPS, and that all forms carry the same rows."""

from __future__ import annotations

import csv
import io
import re
from ipaddress import IPv4Interface
from typing import Any

import pytest

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.results import TABLES, ShowTable, show_csv, show_output, show_report
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.network.network import End, Link, Network, Node
from rocefort.reports.writers.terminal import text_of

KINDS = list(ShowTable)


def rows(network: Network, kind: ShowTable) -> list[dict[str, Any]]:
    content = show_output(network, kind).model_dump(mode="json")
    assert (content["network"], content["table"]) == (network.name, kind.value)
    return list(content["rows"])


def plain(value: Any) -> str:
    if isinstance(value, float):
        return str(int(value)) if value == int(value) else str(value)
    return "" if value is None else str(value)


def cells_of_text(text: str, columns: list[str]) -> list[list[str]]:
    """Rows of a text table, read by a person's eye: cells are two blanks apart."""
    _, *lines = text.splitlines()
    flat = [re.split(r" {2,}", line.strip()) for line in lines if line]
    found: list[list[str]] = []
    for cells, line in zip(flat, (line for line in lines if line), strict=True):
        if line.startswith(" "):
            found[-1] += cells
        else:
            found.append(list(cells))
    heads = [column.replace("_", " ") for column in columns]
    assert heads in found or not found  # a table without rows has no head
    return [row for row in found if row != heads]


HEPS_ROWS = [
    (
        ShowTable.DEVICES,
        10,
        {
            "name": "leaf03",
            "role": "leaf",
            "id": 3,
            "hardware": "CE8851-32CQ8DQ-P",
            "software": "V300R023C00",
            "family": "v300-g1",
            "asn": 65103,
            "loopback": "10.0.1.3",
            "management": "10.255.0.11/24",
            "rack": "row2",
        },
    ),
    (
        ShowTable.LINKS,
        16,
        {
            "device": "spine02",
            "port": "100GE1/1/3",
            "peer": "leaf03",
            "peer_port": "100GE1/0/26",
            "subnet": "10.1.0.34/31",
            "speed_gbps": 100,
            "length_m": 50.0,
        },
    ),
    (
        ShowTable.CABLING,
        28,
        {
            "device": "spine02",
            "port": "100GE1/1/3",
            "peer": "leaf03",
            "peer_port": "100GE1/0/26",
            "length_m": 50.0,
            "transceiver_gbps": 100,
            "medium": None,
            "fec": None,
            "label_here": "spine02 100GE1/1/3 / leaf03 100GE1/0/26",
            "label_at_peer": "leaf03 100GE1/0/26 / spine02 100GE1/1/3",
        },
    ),
    (
        ShowTable.CABLING,
        28,
        {
            "device": "leaf05",
            "port": "25GE1/0/1",
            "peer": "readout01",
            "peer_port": None,
            "length_m": 5.0,
            "transceiver_gbps": 25,
            "medium": None,
            "fec": None,
            "label_here": "leaf05 25GE1/0/1 / readout01",
            "label_at_peer": "readout01 / leaf05 25GE1/0/1",
        },
    ),
]


@pytest.mark.parametrize(("kind", "count", "row"), HEPS_ROWS)
def test_a_row_of_heps(
    heps: DerivedNetwork, kind: ShowTable, count: int, row: dict[str, Any]
) -> None:
    found = rows(heps.network, kind)
    assert len(found) == count
    assert row in found


@pytest.mark.parametrize(
    ("device", "interface", "address", "used_for"),
    [
        ("leaf01", "LoopBack0", "10.0.1.1/32", "loopback"),
        ("leaf01", "MEth0/0/0", "10.255.0.9/24", "management"),
        ("leaf01", "Vlanif120", "10.65.0.1/24", "gateway of segment compute"),
        ("leaf01", "100GE1/0/57", "10.1.0.1/31", "link to spine01 100GE1/1/1"),
        ("spine01", "100GE1/1/1", "10.1.0.0/31", "link to leaf01 100GE1/0/57"),
        ("k8sgn08", None, "10.65.0.11/24", "segment compute, at leaf01 100GE1/0/2"),
    ],
)
def test_an_address_of_heps(
    heps: DerivedNetwork, device: str, interface: str | None, address: str, used_for: str
) -> None:
    found = rows(heps.network, ShowTable.ADDRESSES)
    assert [row for row in found if (row["device"], row["interface"]) == (device, interface)] == [
        {"device": device, "interface": interface, "address": address, "used_for": used_for}
    ]


def test_every_address_is_there_once(heps: DerivedNetwork) -> None:
    found = [row["address"] for row in rows(heps.network, ShowTable.ADDRESSES)]
    own = [a for n in heps.network.nodes for i in n.device.interfaces for a in i.addresses]
    servers = [server.address for server in heps.network.servers or ()]
    assert sorted(found) == sorted(map(str, own + servers))
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("device", "port", "state", "used_for"),
    [
        ("leaf01", "100GE1/0/57", "used", "link to spine01 100GE1/1/1"),
        ("leaf01", "100GE1/0/59", "reserved", "spine id 3"),
        ("leaf01", "100GE1/0/1", "used", "server transfer01"),
        ("leaf01", "100GE1/0/3", "free", None),
        ("leaf03", "400GE1/0/8", "free", None),
        ("spine01", "100GE1/1/8", "used", "link to leaf08 100GE1/0/1"),
        ("spine01", "100GE1/1/9", "reserved", "leaf id 9"),
    ],
)
def test_a_port_of_heps(
    heps: DerivedNetwork, device: str, port: str, state: str, used_for: str | None
) -> None:
    found = {(row["device"], row["port"]): row for row in rows(heps.network, ShowTable.PORTS)}
    row = found[device, port]
    assert (row["state"], row["used_for"]) == (state, used_for)
    assert row["speed_gbps"] == int(port.split("GE", maxsplit=1)[0])


def test_every_port_is_there_once(heps: DerivedNetwork) -> None:
    found = [(row["device"], row["port"]) for row in rows(heps.network, ShowTable.PORTS)]
    hardware = [
        (node.name, port)
        for node in heps.network.nodes
        for port in (node.hardware.port_names() if node.hardware else ())
    ]
    assert found == hardware
    assert len(set(found)) == len(found)


def test_a_pinned_peer_leaves_no_port_reserved_for_it(heps: DerivedNetwork) -> None:
    network = heps.network
    moved = tuple(
        link.model_copy(update={"a": End(device="spine01", interface="100GE1/3/1")})
        if (link.a.device, link.b.device) == ("spine01", "leaf01")
        else link
        for link in network.links or ()
    )
    bare = tuple(
        node.model_copy(update={"device": Device(name=node.name)}) for node in network.nodes
    )
    pinned = network.model_copy(update={"links": moved, "nodes": bare})
    found = {(row["device"], row["port"]): row for row in rows(pinned, ShowTable.PORTS)}
    assert found["spine01", "100GE1/3/1"]["used_for"] == "link to leaf01 100GE1/0/57"
    assert found["spine01", "100GE1/1/1"]["state"] == "free"


@pytest.mark.parametrize("kind", KINDS)
def test_all_forms_carry_the_same_rows(heps: DerivedNetwork, kind: ShowTable) -> None:
    wanted = rows(heps.network, kind)
    columns = list(TABLES[kind].columns)  # HEPS has no bonds and no exits
    cells = [[plain(row[column]) for column in columns] for row in wanted]
    assert list(csv.reader(io.StringIO(show_csv(heps.network, kind)))) == [columns, *cells]
    in_text = cells_of_text(text_of(*show_report(heps.network, kind), width=80), columns)
    assert in_text == [[cell or "-" for cell in row] for row in cells]


@pytest.mark.parametrize("kind", KINDS)
def test_text_keeps_to_80_columns(heps: DerivedNetwork, kind: ShowTable) -> None:
    text = text_of(*show_report(heps.network, kind), width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert text.endswith("\n") and not text.endswith("\n\n")
    assert all(line == line.rstrip() for line in text.splitlines())


def test_text_of_devices(heps: DerivedNetwork) -> None:
    assert text_of(*show_report(heps.network, ShowTable.DEVICES), width=80).splitlines()[:6] == [
        "heps devices: 10 rows",
        "",
        "name     role   id  hardware          software     family     asn  loopback",
        "    management      rack",
        "spine01  spine   1  CE9860-4C-EI      V200R022C00  v200     65000  10.0.0.1",
        "    10.255.0.1/24   net1",
    ]


def test_a_long_table_has_headings_by_switch(heps: DerivedNetwork) -> None:
    lines = text_of(*show_report(heps.network, ShowTable.PORTS), width=80).splitlines()
    heads = [n for n, line in enumerate(lines) if line.startswith("device ")]
    assert [lines[n + 1].split()[0] for n in heads] == [n.name for n in heps.network.nodes]
    assert all(lines[n - 1] == "" for n in heads)


def test_the_order_of_the_yaml_does_not_count(heps: DerivedNetwork) -> None:
    network = heps.network
    turned = network.model_copy(
        update={
            "nodes": network.nodes[::-1],
            "links": (network.links or ())[::-1],
            "servers": (network.servers or ())[::-1],
        }
    )
    for kind in KINDS:
        assert text_of(*show_report(turned, kind), width=80) == text_of(
            *show_report(network, kind), width=80
        )


def text_network() -> Network:
    """Two switches known by their text alone."""
    ends = [("b10", "10.0.0.1/31"), ("b2", "10.0.0.0/31")]
    nodes = tuple(
        Node(
            device=Device(
                name=name,
                interfaces=(
                    Interface(name="100GE1/0/1", routed=True, addresses=(IPv4Interface(address),)),
                    Interface(name="100GE1/0/2", description="old, spare"),
                    Interface(name="Vlanif7", addresses=(IPv4Interface("192.0.2.1/24"),)),
                ),
            )
        )
        for name, address in ends
    )
    link = Link(
        a=End(device="b2", interface="100GE1/0/1"), b=End(device="b10", interface="100GE1/0/1")
    )
    return Network(name="found", origin="text", nodes=nodes, links=(link,))


def test_what_text_does_not_say_is_left_open() -> None:
    network = text_network()
    assert rows(network, ShowTable.DEVICES)[0] == dict.fromkeys(
        ("role", "id", "hardware", "software", "family", "asn", "loopback", "management", "rack")
    ) | {"name": "b2"}
    assert rows(network, ShowTable.LINKS)[0]["length_m"] is None
    ports = [tuple(row.values()) for row in rows(network, ShowTable.PORTS)]
    assert ports[:2] == [
        ("b2", "100GE1/0/1", 100, "used", "link to b10 100GE1/0/1"),
        ("b2", "100GE1/0/2", 100, "configured", "old, spare"),
    ]
    assert [row["used_for"] for row in rows(network, ShowTable.ADDRESSES)][:2] == [
        "link to b10 100GE1/0/1",
        None,
    ]
    assert '"old, spare"' in show_csv(network, ShowTable.PORTS)


def test_a_table_without_rows() -> None:
    empty = Network(name="empty", origin="text", nodes=())
    assert text_of(*show_report(empty, ShowTable.LINKS), width=80) == "empty links: 0 rows\n"
    assert rows(empty, ShowTable.LINKS) == []
    assert show_csv(empty, ShowTable.LINKS) == (
        "device,port,peer,peer_port,subnet,speed_gbps,length_m\n"
    )
    one = empty.model_copy(update={"nodes": text_network().nodes[:1]})
    assert text_of(*show_report(one, ShowTable.DEVICES), width=80).startswith(
        "empty devices: 1 row\n"
    )


def test_a_length_is_not_rounded(heps: DerivedNetwork) -> None:
    links = [link.model_copy(update={"cable_m": 10.125}) for link in heps.network.links or ()]
    network = heps.network.model_copy(update={"links": tuple(links)})
    for text in (
        text_of(*show_report(network, ShowTable.LINKS)),
        show_output(network, ShowTable.LINKS).model_dump_json(),
        show_csv(network, ShowTable.LINKS),
    ):
        assert "10.125" in text
