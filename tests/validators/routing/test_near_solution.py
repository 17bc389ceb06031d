"""A version solved beside another one has the same answers as one that is solved by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocefort.models.network import Network
from rocefort.validators.routing import analyse

if TYPE_CHECKING:
    from collections.abc import Callable

    Clos = Callable[..., Network]
    Edits = dict[str, Callable[..., Network]]


@pytest.mark.parametrize(
    ("port", "changes", "spared"),
    [
        ("25GE1/0/1", {"description": "moved"}, True),
        ("100GE1/0/1", {"enabled": False}, False),  # a session goes: nothing is taken over
    ],
)
def test_only_what_differs_is_solved(
    clos: Clos, edits: Edits, port: str, changes: dict[str, object], *, spared: bool
) -> None:
    before = analyse(clos())
    changed = edits["port"](clos(), "leaf1", port, **changes)
    alone, beside = analyse(changed), analyse(changed, near=before)
    assert beside.state == alone.state
    assert beside.classes == alone.classes
    tables = {id(group.table) for group in before.classes}
    assert all((id(group.table) in tables) is spared for group in beside.classes)


@pytest.mark.parametrize("spines", [1, 2, 4])
@pytest.mark.parametrize("leaves", [2, 3])
def test_a_version_without_the_last_leaf_is_lent_all_its_tables(
    clos: Clos, spines: int, leaves: int
) -> None:
    larger = clos(spines, leaves + 1, servers=2)
    smaller = without_node(larger, f"leaf{leaves + 1}")
    whole = analyse(larger)
    assert whole.state.routes  # as a review has them by now
    alone, beside = analyse(smaller), analyse(smaller, near=whole)
    assert all(group.lender is not None for group in beside.classes)
    assert beside.lender is whole
    assert beside.classes == alone.classes
    assert beside.state == alone.state
    assert beside.widths == alone.widths
    assert [group.table for group in beside.classes] == [group.table for group in alone.classes]
    lent = {id(route) for route in whole.state.routes}
    assert all(id(route) in lent for route in beside.state.routes)


@pytest.mark.parametrize("gone", ["spine1", "leaf1", "leaf3"])
def test_a_version_without_a_switch_has_the_answers_that_it_has_alone(
    clos: Clos, gone: str
) -> None:
    larger = clos(2, 3, servers=2)
    smaller = without_node(larger, gone)
    alone, beside = analyse(smaller), analyse(smaller, near=analyse(larger))
    assert beside.classes == alone.classes
    assert beside.state == alone.state


def test_a_version_with_another_limit_is_lent_nothing(clos: Clos, edits: Edits) -> None:
    changed = edits["bgp"](clos(), "leaf1", maximum_paths=1)
    alone, beside = analyse(changed), analyse(changed, near=analyse(clos()))
    assert all(group.lender is None for group in beside.classes)
    assert beside.state == alone.state


def without_node(network: Network, name: str) -> Network:
    """The network before a switch came: no cable, peer or server of it."""
    cabled = {
        (end.device, end.interface)
        for link in network.links or ()
        for end in (link.a, link.b)
        if name in {link.a.device, link.b.device}
    }
    nodes = []
    for node in network.nodes:
        if node.name == name:
            continue
        device = node.device
        ports = [i for i in device.interfaces if (node.name, i.name) in cabled]
        subnets = [address.network for port in ports for address in port.addresses]
        bgp = device.bgp
        if bgp is not None:
            peers = (p for p in bgp.peers if not any(p.address in s for s in subnets))
            bgp = bgp.model_copy(update={"peers": tuple(peers)})
        kept = tuple(i for i in device.interfaces if i not in ports)
        device = device.model_copy(update={"interfaces": kept, "bgp": bgp})
        nodes.append(node.model_copy(update={"device": device}))
    return network.model_copy(
        update={
            "nodes": tuple(nodes),
            "links": tuple(x for x in network.links or () if name not in {x.a.device, x.b.device}),
            "servers": tuple(s for s in network.servers or () if s.port.device != name),
            "segments": tuple(s for s in network.segments or () if s.leaf != name),
        }
    )
