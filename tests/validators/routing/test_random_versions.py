"""Random versions of a fabric: groups settle as devices do, and moved routes are complete."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import TYPE_CHECKING

from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.base.errors import Refused
from rocefort.models.device.routing import Bgp, StaticRoute
from rocefort.models.network.network import End, Network
from rocefort.validators.failures.study import count_singles, single_failures
from rocefort.validators.routing.engine import (
    Solution,
    analyse,
    change_of,
    change_since,
    common_switches,
)
from rocefort.validators.rules.verification.answers import verify

if TYPE_CHECKING:
    from rocefort.validators.routing_results import RoutingState


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


Clos = Callable[..., Network]
Edits = dict[str, Callable[..., Network]]
Change = tuple[str, int, int]  # what, and two numbers of switches that it is about
TODAY = date(2026, 1, 1)


def changed(network: Network, edits: Edits, change: Change) -> Network:
    """A version with something changed; as it is where what it is about is gone."""
    what, a, b = change
    name = f"spine{min(b, 2)}" if what == "spine gone" else f"leaf{a}"
    if name not in network.by_name:
        return network
    if what.endswith(" gone") and what != "peer gone":
        return without_node(network, name)
    if what in AROUND:
        return changed_around(network, name, what, b)
    bgp = network.by_name[name].device.bgp
    peer = bgp.peers[b % len(bgp.peers)].address if bgp and bgp.peers else None
    return (
        network if bgp is None or peer is None else TEXT[what](network, edits, name, b, bgp, peer)
    )


def announced(
    network: Network, edits: Edits, name: str, b: int, bgp: Bgp, _: IPv4Address
) -> Network:
    """Another network, or one less."""
    more = IPv4Network(f"10.{b}.10.0/{23 + b}")
    return edits["bgp"](network, name, networks=(*bgp.networks[:1], more))


def static(network: Network, edits: Edits, name: str, b: int, _: Bgp, peer: IPv4Address) -> Network:
    """To nowhere, or to a spine, from where it may come back."""
    route = StaticRoute(prefix=IPv4Network(f"10.{b}.10.0/24"), next_hop=None if b == 3 else peer)
    return edits["device"](network, name, static_routes=(route,))


def shut(network: Network, edits: Edits, name: str, b: int, _: Bgp, __: IPv4Address) -> Network:
    """An uplink, where there is one of that number."""
    port = f"100GE1/0/{min(b, 2)}"
    known = network.by_name[name].device.by_interface
    return edits["port"](network, name, port, enabled=False) if port in known else network


def gateway(network: Network, edits: Edits, name: str, b: int, _: Bgp, __: IPv4Address) -> Network:
    """Another address, perhaps that of another leaf."""
    address = IPv4Interface(f"10.{b}.10.{b}/24")
    return edits["port"](network, name, "Vlanif10", addresses=(address,))


TEXT: dict[str, Callable[[Network, Edits, str, int, Bgp, IPv4Address], Network]] = {
    "as": lambda n, e, name, b, *_: e["bgp"](n, name, asn=65200 + b),
    "twin as": lambda n, e, name, b, *_: twin(n, e, name, 65100 + b),
    "paths": lambda n, e, name, b, *_: e["bgp"](n, name, maximum_paths=b, as_path_relax=b == 2),
    "session": lambda n, e, name, *more: e["peer"](n, name, str(more[-1]), asn=65999),
    "peer gone": lambda n, e, name, *more: e["drop_peer"](n, name, str(more[-1])),
    "hidden": lambda n, e, name, b, *_: e["hide"](n, name, f"10.{b}.10.0/24"),
    "no VLAN": lambda n, e, name, *_: e["device"](n, name, vlans=()),
    "port": lambda n, e, name, b, *_: e["port"](n, name, "25GE1/0/1", description=f"to {b}"),
    "announced": announced,
    "static": static,
    "shut": shut,
    "gateway": gateway,
}
AROUND = ["uncabled", "segment", "other port", "other leaf", "address", "renamed"]


def changed_around(network: Network, leaf: str, what: str, b: int) -> Network:
    """Something beside the text of the switches is changed."""
    servers = list(network.servers or ())
    own = next((n for n, server in enumerate(servers) if server.port.device == leaf), None)
    if what == "uncabled":
        links = (x for x in network.links or () if (x.a.device, x.b.device) != (f"spine{b}", leaf))
        return network.model_copy(update={"links": tuple(links)})
    if what == "segment":
        segments = tuple(
            s.model_copy(update={"vlan": 10 + b}) if s.leaf == leaf else s
            for s in network.segments or ()
        )
        return network.model_copy(update={"segments": segments})
    if own is None or (what == "other leaf" and f"leaf{b}" not in network.by_name):
        return network
    address = servers[own].address
    update: dict[str, dict[str, object]] = {
        "other port": {"port": End(device=leaf, interface=f"25GE1/0/{b}")},
        "other leaf": {"port": End(device=f"leaf{b}", interface="25GE1/0/2")},
        "address": {"address": IPv4Interface((int(address.network[0]) + b, 24))},
        "renamed": {"name": f"a{b}", "segment": "storage"},
    }
    servers[own] = servers[own].model_copy(update=update[what])
    return network.model_copy(update={"servers": tuple(servers)})


def twin(network: Network, edits: Edits, name: str, asn: int) -> Network:
    """A leaf gets an AS, and its peers know it."""
    device = network.by_name[name].device
    own = {address.ip for interface in device.interfaces for address in interface.addresses}
    for node in network.nodes:
        for peer in node.device.bgp.peers if node.device.bgp else ():
            if peer.address in own:
                network = edits["peer"](network, node.name, str(peer.address), asn=asn)
    return edits["bgp"](network, name, asn=asn)


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["spine gone", "leaf gone", *TEXT, *AROUND]),
        st.integers(1, 3),
        st.integers(1, 3),
    ),
    max_size=3,
)
FABRICS = st.tuples(
    st.integers(1, 2), st.integers(2, 3), st.integers(1, 2), st.integers(1, 2), st.booleans()
)


def solved(network: Network) -> Solution | None:
    """A solution with all its answers; None where the engine refuses."""
    try:
        solution = analyse(network)
        assert solution.state.engine
    except Refused:
        return None
    return solution


@given(FABRICS, CHANGES, CHANGES)
def test_what_moves_by_group_is_what_moves_route_by_route(
    clos: Clos, edits: Edits, shape: tuple[int, ...], first: list[Change], second: list[Change]
) -> None:
    base = clos(*shape)
    for change in first:
        base = changed(base, edits, change)
    head = base
    for change in second:
        head = changed(head, edits, change)
    was, now = solved(base), solved(head)
    if was is None or now is None:
        return
    assert len(was.state.routes) == len(tuple(was.state.routes))
    both = common_switches(base, head)
    assert change_since(was, now.state, now, both) == change_of(eager(was), eager(now), both)
    judged = [verify(base, state, solution=was, today=TODAY) for state in (was.state, eager(was))]
    assert judged[0] == judged[1]
    assert count_singles(base, was) == len(single_failures(base, was))


def eager(solution: Solution) -> RoutingState:
    """Its answers with every route made."""
    return solution.state.model_copy(update={"routes": tuple(solution.state.routes)})


@given(FABRICS, CHANGES, st.data())
@settings(max_examples=tries(60))
def test_groups_settle_as_everybody_does_who_is_asked(
    clos: Clos, edits: Edits, shape: tuple[int, ...], changes: list[Change], data: st.DataObject
) -> None:
    network = clos(*shape)
    for change in changes:
        network = changed(network, edits, change)
    found = solved(network)
    if found is None:
        return
    graph, speakers = found.routing.graph, found.routing.speakers
    numbers = range(len(speakers.names))
    origins = sorted(data.draw(st.sets(st.sampled_from(numbers), max_size=3)) if numbers else ())
    denied = data.draw(st.integers(0, 2 ** len(found.routing.policies)))
    cases = [(origins, denied)]
    cases += [([speakers.numbers[n] for n in sorted(g.origins)], g.denied) for g in found.classes]
    for known, policies in cases:
        settled = speakers.groups.settle(known, policies)
        truth = graph.spread(known, policies)
        assert settled.table == truth
        assert [settled.sent(number) for number in numbers] == truth.sent
    for prefix, widths in found.widths.items():
        dense = {r.device: r.width for r in found.state.routes if r.prefix == prefix}
        assert dict(widths) == dense
        assert len(widths) == len(dense)
        names = frozenset(network.by_name)
        for least in range(1, 5):
            assert widths.at_least(least) == sum(width >= least for width in dense.values())
            few = {name for name in names if dense.get(name, 0) < least}
            assert widths.fewer(least, names) == few
