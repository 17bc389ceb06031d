"""The embedded engine: laws over random Clos fabrics, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from itertools import permutations
from random import Random
from typing import TYPE_CHECKING, Literal

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.base.errors import Refused
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.device.routing import BgpGroup, PrefixEntry, PrefixList
from rocefort.models.network.network import End, Link, Network, Sources, SwitchRole
from rocefort.validators.routing.bgp import denying
from rocefort.validators.routing.engine import analyse, solve
from rocefort.validators.routing_results import RoutingState, SessionStatus
from rocefort.validators.rules.verification.answers import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocefort.design.derive.derive import DerivedNetwork

    Clos = Callable[..., Network]
    Edits = dict[str, Callable[..., Network]]

SIZES = st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(1, 2))
SMALL = st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(1, 2))


def widths(state: RoutingState) -> dict[tuple[str, IPv4Network], int]:
    return {(route.device, route.prefix): route.width for route in state.routes}


def leaf_prefixes(network: Network) -> Iterator[tuple[str, str, IPv4Network]]:
    """Each leaf with each prefix of another leaf."""
    leaves = network.role(SwitchRole.LEAF)
    for leaf in leaves:
        for other in leaves:
            if leaf is not other and other.device.bgp:
                for prefix in other.device.bgp.networks:
                    yield leaf.name, other.name, prefix


def test_an_end_that_reaches_its_peer_elsewhere_is_no_end_of_a_session(
    clos: Clos, edits: Edits
) -> None:
    """leaf1's port to spine1 has 32 bits; the subnet of its port to spine2 holds spine1."""
    network = clos(2, 2, 1)
    for port, address in (("100GE1/0/1", "172.16.0.1/32"), ("100GE1/0/2", "172.16.0.5/24")):
        addresses = (IPv4Interface(address),)
        network = edits["port"](network, "leaf1", port, addresses=addresses)
    sessions = {(s.device, str(s.peer)): s for s in analyse(network).sessions}
    ends = sessions["leaf1", "172.16.0.0"], sessions["spine1", "172.16.0.1"]
    assert {end.status for end in ends} == {SessionStatus.NOT_COMPATIBLE}
    assert [end.reason for end in ends] == [
        "spine1 has no peer 172.16.0.5",
        "leaf1 reaches 172.16.0.0 by 100GE1/0/2",
    ]
    assert sessions["leaf1", "172.16.0.4"].status is SessionStatus.ESTABLISHED


@given(SIZES)
@settings(max_examples=tries(25))
def test_a_whole_fabric_uses_every_spine_link(clos: Clos, size: tuple[int, int, int]) -> None:
    spines, _, links = size
    network = clos(*size)
    state = solve(network)
    assert {s.status for s in state.sessions} == {SessionStatus.ESTABLISHED}
    found = widths(state)
    for leaf, _, prefix in leaf_prefixes(network):
        assert found[leaf, prefix] == spines * links
    assert state.reachability.lost == ()


@given(SIZES, st.booleans(), st.data())
@settings(max_examples=tries(25))
def test_a_lost_session_costs_exactly_its_own_paths(
    clos: Clos, edits: Edits, size: tuple[int, int, int], at_spine: bool, data: st.DataObject
) -> None:
    network = clos(*size)
    role = SwitchRole.SPINE if at_spine else SwitchRole.LEAF
    node = data.draw(st.sampled_from(network.role(role)))
    assert node.device.bgp is not None
    peer = data.draw(st.sampled_from(node.device.bgp.peers))
    lost = next(
        (link.a.device, link.b.device)
        for link in network.links or ()
        for mine, other in ((link.a, link.b), (link.b, link.a))
        if mine.device == node.name
        and (far := network.interface(other)) is not None
        and far.addresses[0].ip == peer.address
    )
    before = widths(solve(network))
    after = widths(solve(edits["drop_peer"](network, node.name, str(peer.address))))
    for leaf, other, prefix in leaf_prefixes(network):
        # A second link keeps the spine in use for the other leaves.
        cost = int(lost[1] == leaf) or (size[2] if lost[1] == other and size[2] == 1 else 0)
        assert after.get((leaf, prefix), 0) == before[leaf, prefix] - cost


@given(SMALL, st.booleans(), st.randoms(use_true_random=False))
@settings(max_examples=tries(20))
def test_the_order_of_nodes_and_cables_does_not_matter(
    clos: Clos, size: tuple[int, int, int], asn_per_spine: bool, random: Random
) -> None:
    network = clos(*size, asn_per_spine=asn_per_spine)
    nodes, links = list(network.nodes), list(network.links or ())
    random.shuffle(nodes)
    random.shuffle(links)
    turned = tuple(Link(a=link.b, b=link.a) for link in links)
    shuffled = network.model_copy(update={"nodes": tuple(nodes), "links": turned})
    assert solve(shuffled) == solve(network)


def walks(
    network: Network, sessions: dict[str, list[tuple[str, str]]], prefix: IPv4Network
) -> dict[str, dict[tuple[int, ...], set[str]]]:
    """Every AS-loop-free way that an announcement can take: device -> AS path -> next hops."""
    reached: dict[str, dict[tuple[int, ...], set[str]]] = {}

    def asn(name: str) -> int:
        bgp = network.by_name[name].device.bgp
        assert bgp is not None
        return bgp.asn

    def go(name: str, path: tuple[int, ...]) -> None:
        device = network.by_name[name].device
        if device.prefix_lists and not device.prefix_lists[0].permits(prefix):
            return  # leaves export through their one list
        for receiver, next_hop in sessions.get(name, []):
            extended = (asn(name), *path)
            if asn(receiver) not in extended:
                reached.setdefault(receiver, {}).setdefault(extended, set()).add(next_hop)
                go(receiver, extended)

    for node in network.nodes:
        if node.device.bgp and prefix in node.device.bgp.networks:
            go(node.name, ())
    return reached


@given(SMALL, st.tuples(st.booleans(), st.booleans()), st.data())
@settings(max_examples=tries(40))
def test_next_hops_are_those_of_the_shortest_of_all_walks(
    clos: Clos,
    edits: Edits,
    size: tuple[int, int, int],
    choices: tuple[bool, bool],
    data: st.DataObject,
) -> None:
    asn_per_spine, open_policy = choices
    network = clos(*size, asn_per_spine=asn_per_spine)
    for leaf in network.role(SwitchRole.LEAF):
        network = edits["bgp"](network, leaf.name, as_path_relax=True)
        if open_policy:  # leaves pass on what they learn: valleys become possible
            bgp = network.by_name[leaf.name].device.bgp
            assert bgp is not None
            groups = (BgpGroup(name="SPINE", active=True),)
            network = edits["bgp"](network, leaf.name, groups=groups)
            network = edits["device"](network, leaf.name, prefix_lists=(), route_policies=())
    for spine in network.role(SwitchRole.SPINE):
        network = edits["bgp"](network, spine.name, as_path_relax=True)
    dropped = data.draw(st.sets(st.sampled_from(network.links or ()), max_size=4))
    for link in dropped:
        network = edits["port"](network, link.a.device, link.a.interface, enabled=False)
    sessions: dict[str, list[tuple[str, str]]] = {}
    for link in set(network.links or ()) - dropped:
        for near, far in ((link.a, link.b), (link.b, link.a)):
            port = network.interface(near)
            assert port is not None
            ways = sessions.setdefault(near.device, [])
            ways.append((far.device, str(port.addresses[0].ip)))
    found = {(r.device, r.prefix): {str(h) for h in r.next_hops} for r in solve(network).routes}
    for node in network.nodes:
        assert node.device.bgp is not None
        for prefix in node.device.bgp.networks:
            for receiver, paths in walks(network, sessions, prefix).items():
                shortest = min(map(len, paths))
                hops = {h for path, ways in paths.items() if len(path) == shortest for h in ways}
                assert found.pop((receiver, prefix)) == hops
    assert found == {}


@given(
    st.integers(1, 4), st.integers(2, 4), st.sets(st.tuples(st.integers(1, 4), st.integers(1, 4)))
)
@settings(max_examples=tries(30))
def test_pairs_are_delivered_exactly_where_a_spine_joins_their_leaves(
    clos: Clos, edits: Edits, spines: int, leaves: int, shut: set[tuple[int, int]]
) -> None:
    network = clos(spines, leaves)
    for spine, leaf in shut:
        if spine <= spines and leaf <= leaves:
            network = edits["port"](network, f"spine{spine}", f"100GE1/0/{leaf}", enabled=False)
    reached = solve(network).reachability
    for source, destination in permutations(sorted(reached.servers), 2):
        a, b = (int(name[3]) for name in (source, destination))
        joined = any({(s, a), (s, b)}.isdisjoint(shut) for s in range(1, spines + 1))
        assert reached.delivers(source, destination) == joined


@given(st.integers(1, 4), st.integers(1, 2), st.integers(1, 9))
@settings(max_examples=tries(20))
def test_maximum_load_balancing_cuts_the_width(
    clos: Clos, edits: Edits, spines: int, links: int, limit: int
) -> None:
    network = edits["bgp"](clos(spines, 2, links), "leaf1", maximum_paths=limit)
    solution = analyse(network)
    prefix = IPv4Network("10.2.10.0/24")
    hops = solution.bgp["leaf1"][prefix].next_hops
    assert len(hops) == min(limit, spines * links)
    assert solution.ties("leaf1", prefix) >= set(hops)
    assert len(solution.ties("leaf1", prefix)) == spines * links
    assert widths(solution.state)["leaf2", IPv4Network("10.1.10.0/24")] == spines * links


def test_one_path_is_that_of_the_lowest_router_id(clos: Clos, edits: Edits) -> None:
    network = edits["bgp"](clos(2, 2), "leaf1", maximum_paths=1)
    network = edits["bgp"](network, "spine1", router_id=IPv4Address("10.254.0.9"))
    hops = analyse(network).bgp["leaf1"][IPv4Network("10.2.10.0/24")].next_hops
    assert hops == (IPv4Address("172.16.0.4"),)  # spine2, 10.254.0.2


@pytest.mark.parametrize(("relax", "width"), [(False, 1), (True, 3)])
def test_as_path_relax_joins_spines_of_different_asn(
    clos: Clos, edits: Edits, relax: bool, width: int
) -> None:
    network = edits["bgp"](clos(3, 2, asn_per_spine=True), "leaf1", as_path_relax=relax)
    assert widths(solve(network))["leaf1", IPv4Network("10.2.10.0/24")] == width


def test_a_spine_does_not_take_a_route_that_went_through_its_as(clos: Clos, edits: Edits) -> None:
    network = edits["drop_peer"](clos(2, 2), "leaf1", "172.16.0.0")
    network = edits["device"](network, "leaf2", route_policies=(), prefix_lists=())
    network = edits["bgp"](network, "leaf2", groups=(BgpGroup(name="SPINE", active=True),))
    assert ("spine1", IPv4Network("10.1.10.0/24")) not in widths(solve(network))


def test_a_connected_route_beats_bgp(clos: Clos, edits: Edits) -> None:
    """leaf2 has leaf1's subnet connected, does not announce it and does not use the BGP route."""
    network = clos(2, 3)
    own = Interface(name="LoopBack1", routed=True, addresses=(IPv4Interface("10.1.10.1/24"),))
    interfaces = (*network.by_name["leaf2"].device.interfaces, own)
    found = widths(solve(edits["device"](network, "leaf2", interfaces=interfaces)))
    prefix = IPv4Network("10.1.10.0/24")
    assert ("leaf2", prefix) not in found
    assert found["leaf3", prefix] == 2


def test_network_needs_the_very_prefix_in_the_local_table(clos: Clos, edits: Edits) -> None:
    network = edits["bgp"](clos(2, 2), "leaf1", networks=(IPv4Network("10.1.0.0/16"),))
    assert {
        prefix
        for _, prefix in widths(solve(network))
        if prefix.overlaps(IPv4Network("10.1.0.0/16"))
    } == set()


@pytest.mark.parametrize(
    "unknown", [{"links": None}, {"origin": "text"}, {"origin": "text", "links": ()}], ids=str
)
def test_cables_follow_from_addresses_where_nobody_laid_them_down(
    clos: Clos, unknown: dict[str, object]
) -> None:
    network = clos(2, 3, 2)
    assert solve(network.model_copy(update=unknown)) == solve(network)


def test_a_policy_of_a_peer_that_is_down_must_be_defined_too(
    clos: Clos, edits: Edits, sources: Sources
) -> None:
    """It is asked why leaf1 hides its prefixes: it must not be found missing only then."""
    network = edits["peer"](clos(2, 2), "leaf1", "172.16.0.0", asn=65009, export_policy="GONE")
    with pytest.raises(Refused) as caught:
        solve(network, sources)
    assert str(caught.value) == "leaf1 (leaf1.cfg:45): route-policy GONE is not defined"


LENGTHS = st.none() | st.integers(0, 32)
PREFIXES = st.sampled_from(
    [IPv4Network(p) for p in ("0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16", "10.1.1.1/32")]
)


@given(PREFIXES, LENGTHS, LENGTHS, st.sampled_from(["permit", "deny"]), PREFIXES)
def test_the_engine_reads_a_prefix_list_as_the_model_does(
    clos: Clos,
    edits: Edits,
    prefix: IPv4Network,
    low: int | None,
    high: int | None,
    action: Literal["permit", "deny"],
    route: IPv4Network,
) -> None:
    """Bounds of 0 among them: `0.0.0.0 0 greater-equal 0` is every route."""
    entry = PrefixEntry(index=10, action=action, prefix=prefix, greater_equal=low, less_equal=high)
    listed = PrefixList(name="LOCAL", entries=(entry,))
    device = edits["device"](clos(1, 1), "leaf1", prefix_lists=(listed,)).by_name["leaf1"].device
    peers = device.bgp.peers if device.bgp else ()
    assert (denying(device, peers, route, Sources()) is None) is listed.permits(route)


def test_the_answers_are_valid_and_sorted(clos: Clos) -> None:
    state = solve(clos(2, 3, servers=2))
    assert RoutingState.model_validate(state.model_dump()) == state
    assert list(state.sessions) == sorted(state.sessions, key=lambda s: (s.device, s.peer))
    assert list(state.routes) == sorted(state.routes, key=lambda r: (r.device, r.prefix))
    classes = [one.servers for one in state.reachability.classes]
    assert classes == sorted(classes) == [(f"srv{n}-1", f"srv{n}-2") for n in (1, 2, 3)]
    assert state.reachability.pairs == 6 * 5


def test_servers_on_one_leaf_need_no_gateway(clos: Clos, edits: Edits) -> None:
    network = edits["port"](clos(1, 2, servers=2), "leaf1", "Vlanif10", enabled=False)
    reached = solve(network).reachability
    pairs = permutations(reached.servers, 2)
    delivered = {pair for pair in pairs if reached.delivers(*pair)}
    switched = {("srv1-1", "srv1-2"), ("srv1-2", "srv1-1"), ("srv2-1", "srv2-2")}
    assert delivered == {*switched, ("srv2-2", "srv2-1")}


def _with_interface(network: Network, name: str, interface: Interface) -> Network:
    """The network with one more interface, in its place by name."""
    device = network.by_name[name].device
    fields = {key: getattr(device, key) for key in Device.model_fields}
    more = Device(**{**fields, "interfaces": (*device.interfaces, interface)})
    nodes = tuple(
        node.model_copy(update={"device": more}) if node.name == name else node
        for node in network.nodes
    )
    return network.model_copy(update={"nodes": nodes})


def _ibgp_group(network: Network, edits: Edits) -> Network:
    return edits["bgp"](network, "leaf1", groups=(BgpGroup(name="SPINE", external=False),))


def _ibgp_peers(network: Network, edits: Edits) -> Network:
    network = edits["peer"](network, "spine1", "172.16.0.1", asn=65000)
    return edits["bgp"](network, "leaf1", asn=65000)


def _no_group(network: Network, edits: Edits) -> Network:
    return edits["peer"](network, "leaf1", "172.16.0.0", group="SPNE")


def _other_source(network: Network, edits: Edits) -> Network:
    return edits["peer"](network, "leaf1", "172.16.0.0", source_interface="LoopBack0")


def _no_policy(network: Network, edits: Edits) -> Network:
    return edits["device"](network, "leaf1", route_policies=())


def _no_list(network: Network, edits: Edits) -> Network:
    return edits["device"](network, "leaf1", prefix_lists=())


def _trunk(network: Network, _: Edits) -> Network:
    trunk = Interface(name="Eth-Trunk1", routed=True)
    return _with_interface(network, "leaf1", trunk)


def _twice(network: Network, _: Edits) -> Network:
    address = IPv4Interface("10.1.10.2/24")
    again = Interface(name="LoopBack1", routed=True, addresses=(address,))
    return _with_interface(network, "leaf1", again)


def _bridged(network: Network, edits: Edits) -> Network:
    changes = {"routed": False, "access_vlan": 10, "addresses": ()}
    network = edits["port"](network, "leaf1", "100GE1/0/1", **changes)
    return edits["port"](network, "spine1", "100GE1/0/1", **changes)


def _two_cables(network: Network, _: Edits) -> Network:
    end = End(device="leaf1", interface="100GE1/0/1")
    extra = Link(a=end, b=End(device="leaf2", interface="100GE1/0/9"))
    return network.model_copy(update={"links": (*(network.links or ()), extra)})


REFUSALS = [
    (
        _ibgp_group,
        "leaf1 (leaf1.cfg:40): group SPINE is internal; iBGP is not modelled",
    ),
    (
        _ibgp_peers,
        "leaf1 (leaf1.cfg:45): peer 172.16.0.0 is in the same AS 65000; iBGP is not modelled",
    ),
    (
        _no_group,
        "leaf1 (leaf1.cfg:45): peer 172.16.0.0 is in group SPNE, which is not defined",
    ),
    (
        _other_source,
        "leaf1 (leaf1.cfg:45): the session with 172.16.0.0 starts from LoopBack0, not from their "
        "link; this is not modelled",
    ),
    (_no_policy, "leaf1 (leaf1.cfg:45): route-policy EXPORT is not defined"),
    (_no_list, "leaf1 (leaf1.cfg:1): prefix list LOCAL is not defined"),
    (
        _trunk,
        "leaf1 Eth-Trunk1 (leaf1.cfg:1): Eth-Trunk1 is routed, which is not modelled",
    ),
    (
        _twice,
        "leaf1 Vlanif10 (leaf1.cfg:1): subnet 10.1.10.0/24 is on LoopBack1 and on Vlanif10; "
        "give each interface its own subnet",
    ),
    (
        _bridged,
        "leaf1 100GE1/0/1 (leaf1.cfg:20): VLAN 10 is bridged to spine1 100GE1/0/1, "
        "which is not modelled; route between switches: `undo portswitch`",
    ),
    (
        _two_cables,
        "leaf1 100GE1/0/1 (leaf1.cfg:20): 100GE1/0/1 is wired to spine1 100GE1/0/1 "
        "and to leaf2 100GE1/0/9; use a port for one cable",
    ),
]


@pytest.mark.parametrize(("fault", "sentence"), REFUSALS, ids=[f.__name__ for f, _ in REFUSALS])
def test_what_is_not_modelled_is_refused_by_name(
    clos: Clos,
    edits: Edits,
    sources: Sources,
    fault: Callable[[Network, Edits], Network],
    sentence: str,
) -> None:
    with pytest.raises(Refused) as caught:
        solve(fault(clos(2, 2), edits), sources)
    assert str(caught.value) == sentence
    assert caught.value.exit_code == 4


def test_a_session_told_to_start_from_its_own_link_is_as_without(clos: Clos, edits: Edits) -> None:
    network = clos(2, 2)
    told = edits["peer"](network, "leaf1", "172.16.0.0", source_interface="100GE1/0/1")
    assert analyse(told).sessions == analyse(network).sessions


def test_a_route_that_its_sender_does_not_use_is_passed_on(clos: Clos, edits: Edits) -> None:
    """V300R023C00, active-route-advertise: by default BGP advertises all that it selected."""
    network = clos(1, 3)
    other = Interface(name="LoopBack1", routed=True, addresses=(IPv4Interface("10.1.10.9/24"),))
    solution = analyse(_with_interface(network, "spine1", other))
    prefix = IPv4Network("10.1.10.0/24")
    table = {route.device for route in solution.state.routes if route.prefix == prefix}
    assert table == {"leaf2", "leaf3"}  # not spine1, where it is connected
    lost = set(solution.state.reachability.lost_pairs())
    assert lost == {("srv2-1", "srv1-1"), ("srv3-1", "srv1-1")}


def test_heps_uses_both_spines_everywhere(heps: DerivedNetwork) -> None:
    state = solve(heps.network)
    found = widths(state)
    assert {s.status for s in state.sessions} == {SessionStatus.ESTABLISHED}
    assert len(state.sessions) == 2 * 2 * 8
    assert {found[leaf, prefix] for leaf, _, prefix in leaf_prefixes(heps.network)} == {2}
    segments = {s.name: s.segment for s in heps.network.servers or ()}
    lost = {frozenset({segments[a], segments[b]}) for a, b in state.reachability.lost_pairs()}
    assert lost == {frozenset({"beamline", "transfer"})}  # the policy denies it
    assert verify(heps.network, state).findings == ()


def test_a_server_on_an_unknown_switch_is_refused(clos: Clos) -> None:
    network = clos(1, 2)
    servers = tuple(
        s.model_copy(update={"port": End(device="leaf9", interface="25GE1/0/1")})
        for s in network.servers or ()
    )
    with pytest.raises(Refused, match="server srv1-1 is on leaf9, which is not in the network"):
        solve(network.model_copy(update={"servers": servers}))
