"""Bonds of servers: derived Eth-Trunks, growth without other changes, and errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import derive
from rocefort.design.results import ShowTable, show_csv, show_output
from rocefort.models.device.interface import Bond
from rocefort.models.network.network import End
from rocefort.rdma.plan.gate_pairs import plan_pairs

Edit = Callable[..., Path]
ALONE = "    leaf: leaf03\n    port: 100GE1/0/1\n"


def bonded(edit: Edit, ports: str = "[100GE1/0/1, 100GE1/0/5]", more: str = "") -> Path:
    """Write HEPS with k8sgn12 on several ports of leaf03."""
    return edit((ALONE, f"    leaf: leaf03\n    bond:\n      ports: {ports}\n{more}"))


def sentences_of(path: Path) -> list[str]:
    """Return the error's sentences without the position in the file."""
    with pytest.raises(BadInput) as refused:
        derive(path)
    return [line.partition(": ")[2] for line in str(refused.value).splitlines()]


def test_layer_2_stands_on_the_eth_trunk_and_lossless_on_its_members(edit_heps: Edit) -> None:
    network = derive(bonded(edit_heps)).network
    device = network.by_name["leaf03"].device
    trunk, members = device.by_interface["Eth-Trunk1"], device.members[1]
    assert (trunk.access_vlan, trunk.edge, trunk.trust_dscp) == (120, True, True)
    assert trunk.bond == Bond(mode="lacp-static", lacp_timeout="fast")
    assert trunk.pfc is None and trunk.thresholds == ()
    assert [m.name for m in members] == ["100GE1/0/1", "100GE1/0/5"]
    assert all(m.pfc and m.thresholds and m.drr and m.access_vlan is None for m in members)
    (server,) = (s for s in network.servers or () if s.name == "k8sgn12")
    assert server.port == End(device="leaf03", interface="Eth-Trunk1")
    assert [end.interface for end in server.ports] == ["100GE1/0/1", "100GE1/0/5"]
    assert (server.speed_gbps, server.flow_gbps) == (200, 100)


def test_the_order_of_the_ports_does_not_count(edit_heps: Edit) -> None:
    one = derive(bonded(edit_heps)).network
    other = derive(bonded(edit_heps, "[100GE1/0/5, 100GE1/0/1]")).network
    assert one == other


def test_another_port_adds_lines_only_and_a_bond_keeps_the_address(edit_heps: Edit) -> None:
    single = derive(edit_heps()).network
    two, three = (
        derive(bonded(edit_heps, ports)).network
        for ports in ("[100GE1/0/1, 100GE1/0/5]", "[100GE1/0/9, 100GE1/0/1, 100GE1/0/5]")
    )
    interfaces = [set(n.by_name["leaf03"].device.interfaces) for n in (two, three)]
    assert {i.name for i in interfaces[1] - interfaces[0]} == {"100GE1/0/9"}
    assert interfaces[0] < interfaces[1]
    addresses = {
        str(server.address)
        for network in (single, two, three)
        for server in network.servers or ()
        if server.name == "k8sgn12"
    }
    assert len(addresses) == 1


def test_the_number_follows_the_first_port_or_a_pin(edit_heps: Edit) -> None:
    def numbers(path: Path) -> set[int]:
        return set(derive(path).network.by_name["leaf03"].device.members)

    assert numbers(bonded(edit_heps, "[100GE1/0/9, 100GE1/0/5]")) == {5}
    assert numbers(bonded(edit_heps, more="      id: 77\n")) == {77}


def test_a_gate_measures_one_member_and_show_lists_the_bond(edit_heps: Edit) -> None:
    network = derive(bonded(edit_heps, more="      minimum_links: 2\n")).network
    pairs = plan_pairs(network, ["leaf03"])
    assert {pair.client_rate_gbps for pair in pairs} | {
        pair.server_rate_gbps for pair in pairs
    } == {100}
    assert (
        '"members":"100GE1/0/1 100GE1/0/5"'
        in show_output(network, ShowTable.BONDS).model_dump_json()
    )
    ports = [line.split() for line in show_csv(network, ShowTable.PORTS).splitlines()]
    assert sum("k8sgn12" in " ".join(words) for words in ports) == 2


M_LAG = "a server on two leaves (M-LAG) is not supported; bond ports of one leaf, or give it "
M_LAG += "two names, each with a port and an address on its leaf, and let the host route"


@pytest.mark.parametrize(
    ("ports", "more", "sentences"),
    [
        (
            "[100GE1/0/1, 400GE1/0/1]",
            "",
            ["the ports of k8sgn12 differ in speed: 100 and 400 Gb/s; bond ports of one speed"],
        ),
        (
            "[100GE1/0/1, 100GE1/0/2]",
            "",
            ["leaf03 100GE1/0/2 is used twice, by k8sgn12 and daisygn02; give each server a port"],
        ),
        (
            "[100GE1/0/1, 100GE1/0/1]",
            "",
            ["leaf03 100GE1/0/1 is used twice, by the bond of k8sgn12; give each server a port"],
        ),
        (
            "[100GE1/0/1, 100GE1/0/5]",
            "      minimum_links: 257\n",
            ["257 is out of range; write a number of members from 1 to 256"],
        ),
        (
            "[100GE1/0/1, 100GE1/0/5]",
            "      mode: manual\n      timeout: slow\n",
            ["a manual bond has no LACP, so no timeout; take it off"],
        ),
        ("[100GE1/0/1, leaf04 100GE1/0/5]", "", [M_LAG]),
        (
            "[100GE1/0/1]",
            "    port: 100GE1/0/5\n",
            ["both port and bond; give the server its one port, or the ports of its bond"],
        ),
        ("[]", "", ["'ports' is empty; give at least one"]),
    ],
)
def test_what_cannot_be_bundled(
    edit_heps: Edit, ports: str, more: str, sentences: list[str]
) -> None:
    errors = sentences_of(bonded(edit_heps, ports, more))
    assert len(errors) == len(sentences)
    for line, sentence in zip(errors, sentences, strict=True):
        assert sentence in line


@pytest.mark.parametrize(
    "pieces",
    [
        [(ALONE, "    leaf: [leaf03, leaf04]\n    port: 100GE1/0/1\n")],
        [
            (
                ALONE,
                "    leaf: leaf03\n    bond: {ports: [100GE1/0/1]}\n    segment: compute\n"
                "  - name: k8sgn12\n    leaf: leaf04\n    bond: {ports: [100GE1/0/7]}\n",
            )
        ],
    ],
)
def test_a_server_on_two_leaves_is_refused(edit_heps: Edit, pieces: list[tuple[str, str]]) -> None:
    (line,) = sentences_of(edit_heps(*pieces))
    assert line.endswith(f".leaf: {M_LAG}")


def test_a_server_needs_a_port_or_a_bond(edit_heps: Edit) -> None:
    (line,) = sentences_of(edit_heps((ALONE, "    leaf: leaf03\n")))
    assert line.endswith(
        "neither port nor bond; give the server its one port, or the ports of its bond"
    )


def test_two_bonds_of_a_leaf_have_two_numbers(edit_heps: Edit) -> None:
    second = "    leaf: leaf03\n    port: 100GE1/0/2\n"
    path = edit_heps(
        (ALONE, "    leaf: leaf03\n    bond: {ports: [100GE1/0/1], id: 2}\n"),
        (second, "    leaf: leaf03\n    bond: {ports: [100GE1/0/2]}\n"),
    )
    (line,) = sentences_of(path)
    assert line.endswith(
        "leaf03 Eth-Trunk2 is used twice, by k8sgn12 and daisygn02; give bond.id another number"
    )
