"""Cables and roles from text: each source alone, together, and in conflict."""

from __future__ import annotations

from ipaddress import IPv4Interface

import pytest

from rocefort.design.infer import LldpNeighbour, infer
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.network.network import CablingSource, Network, Node
from rocefort.validators.checks import check

LLDP, ADDRESSES, DESCRIPTIONS = (
    CablingSource.LLDP,
    CablingSource.ADDRESSES,
    CablingSource.DESCRIPTIONS,
)
Ports = dict[str, tuple[str, str]]  # address and description by port, empty for none


def node(name: str, ports: Ports) -> Node:
    interfaces = [
        Interface(
            name=port,
            routed=True,
            addresses=(IPv4Interface(address),) if address else (),
            description=description or None,
        )
        for port, (address, description) in ports.items()
    ]
    return Node(device=Device(name=name, interfaces=tuple(interfaces)))


def network(heard: list[LldpNeighbour] | None = None, **switches: Ports) -> Network:
    return infer("made", [node(name, ports) for name, ports in switches.items()], heard or [])


def cables(of: Network) -> list[tuple[str, tuple[CablingSource, ...]]]:
    return [(f"{link.a} - {link.b}", link.told) for link in of.links or ()]


A1, B1 = "100GE1/0/1", "100GE1/0/1"
ONE = "one 100GE1/0/1 - two 100GE1/0/1"


@pytest.mark.parametrize(
    ("there", "back", "sources"),
    [
        (("10.0.0.0/31", ""), ("10.0.0.1/31", ""), (ADDRESSES,)),
        (("", "to two 100GE1/0/1"), ("", "to one 100GE1/0/1"), (DESCRIPTIONS,)),
        (("", "to-two 100GE 1/0/1"), ("", "TO ONE 100ge1/0/1"), (DESCRIPTIONS,)),
        (("", "to two"), ("", "to one"), (DESCRIPTIONS,)),
        (("", "Link to two"), ("", "link-to-one"), (DESCRIPTIONS,)),
        (("", "to two 100GE1/0/1"), ("", "to one"), (DESCRIPTIONS,)),
        (
            ("10.0.0.0/31", "to two 100GE1/0/1"),
            ("10.0.0.1/31", "to one 100GE1/0/1"),
            (ADDRESSES, DESCRIPTIONS),
        ),
        (("", "to two 100GE1/0/1"), ("", ""), None),  # no description at the far end
        (("", "to two 100GE1/0/1"), ("", "to one 100GE1/0/9"), None),
        (("", "to storage01"), ("", "to storage02"), None),  # no switches of this directory
        (("", "two 100GE1/0/1"), ("", "one 100GE1/0/1"), None),
        (("", "to two for a while"), ("", "to one"), None),
    ],
)
def test_what_makes_a_cable(
    there: tuple[str, str], back: tuple[str, str], sources: tuple[CablingSource, ...] | None
) -> None:
    inferred = network(one={A1: there}, two={B1: back})
    assert cables(inferred) == ([(ONE, sources)] if sources else [])
    assert (inferred.cabling is not None) == (sources is not None and DESCRIPTIONS in sources)


def test_a_description_without_a_port_tells_nothing_where_there_are_two() -> None:
    inferred = network(
        one={"100GE1/0/1": ("", "to two"), "100GE1/0/2": ("", "to two")},
        two={"100GE1/0/1": ("", "to one"), "100GE1/0/2": ("", "to one")},
    )
    assert inferred.links is None


def test_lldp_of_one_end_is_enough_and_no_other_port_of_a_switch_counts() -> None:
    heard = [
        LldpNeighbour("one", "100GE1/0/1", "two", "100GE1/0/1"),
        LldpNeighbour("one", "MEth0/0/0", "two", "MEth0/0/0"),
        LldpNeighbour("one", "100GE1/0/2", "storage01", None),
    ]
    inferred = network(heard, one={A1: ("", "")}, two={B1: ("", "")})
    assert cables(inferred) == [(ONE, (LLDP,))]
    assert inferred.cabling == inferred.links


def test_an_end_that_no_cable_reaches_leaves_the_cabling_unknown() -> None:
    inferred = network(
        one={A1: ("10.0.0.0/31", "to two"), "100GE1/0/2": ("10.0.0.2/31", "")},
        two={B1: ("10.0.0.1/31", "to one")},
    )
    assert inferred.links is not None
    assert inferred.cabling is None


def findings_of(of: Network) -> list[str]:
    return [
        f"{f.severity} {f.where}: {f.message}" for f in check(of).findings if f.rule == "TOP007"
    ]


def test_lldp_is_believed_before_addresses_and_both_are_named() -> None:
    heard = [LldpNeighbour("one", "100GE1/0/1", "two", "100GE1/0/2")]
    inferred = network(
        heard,
        one={A1: ("10.0.0.0/31", "")},
        two={"100GE1/0/1": ("10.0.0.1/31", ""), "100GE1/0/2": ("", "")},
    )
    assert cables(inferred) == [("one 100GE1/0/1 - two 100GE1/0/2", (LLDP,))]
    assert findings_of(inferred) == [
        "error one 100GE1/0/1: LLDP reports two 100GE1/0/2 there; "
        "by its address it is cabled to two 100GE1/0/1"
    ]


def test_addresses_are_believed_before_descriptions() -> None:
    inferred = network(
        one={A1: ("10.0.0.0/31", "to two 100GE1/0/2")},
        two={"100GE1/0/1": ("10.0.0.1/31", "to one"), "100GE1/0/2": ("", "to one 100GE1/0/1")},
    )
    assert cables(inferred) == [(ONE, (ADDRESSES,))]
    assert findings_of(inferred) == [
        "warning one 100GE1/0/1: by its address it is cabled to two 100GE1/0/1; "
        "its description names two 100GE1/0/2"
    ]


def test_sources_that_agree_as_far_as_they_go_are_no_finding() -> None:
    heard = [LldpNeighbour("one", "100GE1/0/1", "two", None)]
    inferred = network(
        heard, one={A1: ("10.0.0.0/31", "to two")}, two={B1: ("10.0.0.1/31", "to one 100GE1/0/1")}
    )
    assert findings_of(inferred) == []


def gateway(name: str, links: dict[str, str]) -> Node:
    leaf = node(name, {port: ("", text) for port, text in links.items()})
    vlanif = Interface(name="Vlanif10", addresses=(IPv4Interface("10.9.0.1/24"),))
    device = leaf.device.model_copy(update={"interfaces": (*leaf.device.interfaces, vlanif)})
    return Node(device=device)


def test_roles_follow_from_gateways_and_from_who_is_joined() -> None:
    leaves = [gateway(f"l{n}", {"100GE1/0/1": "to s1", "100GE1/0/2": "to s2"}) for n in (1, 2)]
    spine = {f"100GE1/0/{n}": ("", f"to l{n}") for n in (1, 2)}
    other = node("edge", {"100GE1/0/1": ("", "to l1")})
    inferred = infer("made", [*leaves, node("s1", spine), node("s2", spine), other])
    roles = {n.name: n.role for n in inferred.nodes}
    assert roles == {"l1": "leaf", "l2": "leaf", "s1": "spine", "s2": "spine", "edge": None}


@pytest.mark.parametrize("leaves", [1, 2])
def test_a_spine_is_told_from_any_neighbour_by_two_leaves(leaves: int) -> None:
    served = [gateway(f"l{n}", {"100GE1/0/1": "to s1"}) for n in range(1, leaves + 1)]
    spine = node("s1", {f"100GE1/0/{n}": ("", f"to l{n}") for n in range(1, leaves + 1)})
    inferred = infer("made", [*served, spine])
    assert [n.role for n in inferred.nodes] == (
        ["leaf", "leaf", "spine"] if leaves == 2 else [None] * 2
    )
