"""DLK001 and the graph under it: cyclic buffer dependencies, with vectors counted by hand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from ipaddress import IPv4Interface, IPv4Network
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocefort.design.derive.derive import derive
from rocefort.models.device.interface import Interface
from rocefort.models.device.routing import PolicyNode, PrefixEntry, PrefixList, RoutePolicy
from rocefort.models.network.network import TextLine
from rocefort.validators.routing.buffer_dependencies import (
    Buffer,
    Graph,
    an_end_of_every_link_passes_nothing_on,
    components,
    cycle,
    forwarding_graph,
    one_as_cuts_every_link,
)

Change = Callable[[Any], Any]
QUEUE = 4


def graph_of_paths(paths: Iterable[Sequence[Buffer]]) -> Graph:
    """Dependencies of paths, each given as its buffers in order."""
    graph: defaultdict[Buffer, set[Buffer]] = defaultdict(set)
    for path in paths:
        for buffer in path:
            graph[buffer].update(())
        for waiting, awaited in pairwise(path):
            graph[waiting].add(awaited)
    return {buffer: frozenset(awaited) for buffer, awaited in graph.items()}


def path_buffers(nodes: Sequence[str], priority: int) -> tuple[Buffer, ...]:
    """Buffers of a path of nodes whose packets keep one priority."""
    return tuple((a, b, priority) for a, b in pairwise(nodes))


def _fat_tree(k: int) -> Iterator[tuple[str, ...]]:
    """Every shortest path between two hosts of a k-ary fat-tree, nodes by name."""
    half = k // 2
    hosts = [(pod, edge, host) for pod in range(k) for edge in range(half) for host in range(half)]
    for (pod, edge, host), (pod2, edge2, host2) in permutations(hosts, 2):
        start = f"h{pod}.{edge}.{host}", f"e{pod}.{edge}"
        end = f"e{pod2}.{edge2}", f"h{pod2}.{edge2}.{host2}"
        if start[1] == end[0]:
            yield (*start, end[1])
        elif pod == pod2:
            yield from ((*start, f"a{pod}.{agg}", *end) for agg in range(half))
        else:
            for agg in range(half):
                for core in range(half):
                    up, down = f"a{pod}.{agg}", f"a{pod2}.{agg}"
                    yield (*start, up, f"c{agg}.{core}", down, *end)


@pytest.mark.parametrize(
    ("k", "paths", "buffers", "edges"), [(4, 848, 96, 208), (6, 22950, 324, 1134)]
)
def test_a_fat_tree_has_no_cycle(k: int, paths: int, buffers: int, edges: int) -> None:
    found = list(_fat_tree(k))
    assert len(found) == paths
    graph = graph_of_paths(path_buffers(path, QUEUE) for path in found)
    assert len(graph) == buffers
    assert sum(map(len, graph.values())) == edges
    assert components(graph) == []


UP_DOWN = [f"L{a} S{s} L{b}" for a in (1, 2, 3) for b in (1, 2, 3) if a != b for s in (1, 2)]


def _cycles(paths: Sequence[str]) -> list[set[str]]:
    graph = graph_of_paths(path_buffers(path.split(), QUEUE) for path in paths)
    return [{f"{a}>{b}" for a, b, _ in component} for component in components(graph)]


def test_bounces() -> None:
    """Up-down paths, one bounce, and a second one that closes the cycle."""
    assert _cycles(UP_DOWN) == []
    assert _cycles(["L3 S1 L1", "S1 L1 S2 L3"]) == []
    bounces = ["S1 L1 S2 L3", "S2 L3 S1 L1"]
    assert _cycles(bounces) == [{"S1>L1", "L1>S2", "S2>L3", "L3>S1"}]
    assert _cycles([*UP_DOWN, bounces[0]]) == []


def test_a_bounce_at_another_priority_closes_no_circle() -> None:
    """Tagger: k bounces need k + 1 lossless classes."""
    first = path_buffers(("S1", "L1", "S2", "L3"), QUEUE)
    tagged = (("S2", "L3", QUEUE), ("L3", "S1", QUEUE + 1), ("S1", "L1", QUEUE + 1))
    assert components(graph_of_paths([first, tagged])) == []


def test_a_ring_of_three() -> None:
    paths = ["A B C", "B C A", "C A B"]
    assert _cycles(paths) == [{"A>B", "B>C", "C>A"}]
    assert _cycles(paths[:2]) == []
    graph = graph_of_paths(path_buffers(path.split(), QUEUE) for path in paths)
    assert cycle(graph, components(graph)[0]) == (
        ("A", "B", QUEUE),
        ("B", "C", QUEUE),
        ("C", "A", QUEUE),
    )


def test_a_buffer_that_waits_for_itself() -> None:
    buffer = ("A", "A", QUEUE)
    graph = graph_of_paths([(buffer, buffer)])
    assert components(graph) == [frozenset({buffer})]
    assert cycle(graph, frozenset({buffer})) == (buffer,)
    with pytest.raises(ValueError, match="the component holds no cycle"):
        cycle(graph_of_paths([(buffer,)]), frozenset({buffer}))


def _reaches(graph: dict[Buffer, frozenset[Buffer]], start: Buffer) -> set[Buffer]:
    seen: set[Buffer] = set()
    waiting = list(graph[start])
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += graph[node]
    return seen


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=24))
def test_components_are_those_that_reach_themselves(pairs: list[tuple[int, int]]) -> None:
    """Tarjan against the plain definition, on any graph of eight buffers."""
    nodes = [(str(n), "", QUEUE) for n in range(8)]
    graph = {n: frozenset(nodes[b] for a, b in pairs if nodes[a] == n) for n in nodes}
    reach = {node: _reaches(graph, node) for node in nodes}
    wanted = {
        frozenset(other for other in nodes if other in reach[node] and node in reach[other])
        for node in nodes
        if node in reach[node]
    }
    found = components(graph)
    assert set(found) == wanted
    assert len(found) == len(wanted)
    for component in found:
        circle = cycle(graph, component)
        assert circle[0] == min(component)
        assert set(circle) <= component
        assert len(set(circle)) == len(circle)
        assert all(b in graph[a] for a, b in pairwise((*circle, circle[0])))


def test_only_traffic_that_is_sent_makes_dependencies() -> None:
    """Two classes around a ring of four: the circle needs senders at every part of it."""
    ring = ["A", "B", "C", "D"]
    hops = [(a, ring[(i + 1) % 4]) for i, a in enumerate(ring)]
    # class n: from node n two hops on, as routing forwards it there
    forwards = {hop: 1 << i | 1 << (i - 1) % 4 for i, hop in enumerate(hops)}
    senders = {name: 1 << i for i, name in enumerate(ring)}
    whole = forwarding_graph(senders, forwards, QUEUE)
    assert components(whole) == [frozenset((*hop, QUEUE) for hop in hops)]
    del senders["D"]
    assert components(forwarding_graph(senders, forwards, QUEUE)) == []


def test_one_class_alone_makes_no_circle() -> None:
    """Packets that pass both links, but not of one class, do not wait for each other."""
    forwards = {("A", "B"): 1, ("B", "A"): 2}
    assert components(forwarding_graph({"A": 1, "B": 2}, forwards, QUEUE)) == []
    assert components(forwarding_graph({"A": 3, "B": 3}, dict.fromkeys(forwards, 3), QUEUE)) == [
        frozenset({("A", "B", QUEUE), ("B", "A", QUEUE)})
    ]


def _announced(small: Any) -> Any:
    """Leaves announce the subnets of their servers."""
    for n in (1, 2):
        small = small.bgp(f"leaf0{n}", networks=(IPv4Network(f"10.10.{n}.0/24"),))
    return small


def _own_asns(small: Any, *gateways: int, relax: bool = True) -> Any:
    """Spines with an AS number each, and servers on some of them."""
    small = _announced(small)
    for n in (1, 2):
        small = small.bgp(f"spine0{n}", asn=65000 + n, as_path_relax=relax)
        small = small.bgp(f"leaf0{n}", as_path_relax=relax)
        for spine in (1, 2):
            small = small.peer(f"leaf0{n}", f"10.1.{n}.{2 * spine}", asn=65000 + spine)
    for n in gateways:
        device = small.network.by_name[f"spine0{n}"].device
        port = Interface(name="100GE1/0/9", access_vlan=20)
        gateway = Interface(name="Vlanif20", addresses=(IPv4Interface(f"10.20.{n}.1/24"),))
        small = small.device(
            device.name, vlans=(20,), interfaces=(*device.interfaces, port, gateway)
        ).bgp(device.name, networks=(IPv4Network(f"10.20.{n}.0/24"),))
    return small


def _guarded(small: Any, *more: PrefixEntry, **policy: Any) -> Any:
    """Leaves whose export policy permits their own prefix, and some more."""
    for n in (1, 2):
        own = PrefixEntry(index=1, prefix=IPv4Network(f"10.10.{n}.0/24"))
        node = PolicyNode(node=10, match_prefix_list="OWN").model_copy(update=policy)
        small = small.device(
            f"leaf0{n}",
            prefix_lists=(PrefixList(name="OWN", entries=(own, *more)),),
            route_policies=(RoutePolicy(name="OUT", nodes=(node,)),),
        )
        for spine in (2, 4):
            small = small.peer(f"leaf0{n}", f"10.1.{n}.{spine}", export_policy="OUT")
    return small


def _more(index: int, prefix: str, **fields: Any) -> PrefixEntry:
    return PrefixEntry(index=index, prefix=IPv4Network(prefix), **fields)


def _bridged(small: Any) -> Any:
    """leaf01 and spine01 joined by a switched link with VLAN 10."""
    switched = {"routed": False, "addresses": (), "link_type": "trunk", "trunk_vlans": (10,)}
    spoiled = small.port("leaf01", "100GE1/0/31", **switched)
    return spoiled.port("spine01", "100GE1/0/1", **switched).device("spine01", vlans=(10,))


CIRCLE = "cyclic buffer dependency in queue 4: "

DLK001: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),  # one AS cuts every link
    (_own_asns, []),
    (lambda s: _own_asns(s, 1), []),
    (lambda s: _own_asns(s, 1, 2, relax=False), []),
    (  # servers on both spines: packets between them bounce on the leaves
        lambda s: _own_asns(s, 1, 2),
        [
            "error leaf01: cyclic buffer dependency in queue 4: "
            "leaf01 > spine01 > leaf02 > spine02 > leaf01",
            f"error leaf01: {CIRCLE}leaf01 > spine02 > leaf02 > spine01 > leaf01",
        ],
    ),
    (lambda s: _guarded(_own_asns(s, 1, 2)), []),  # leaves that pass nothing on
    (
        lambda s: _guarded(_own_asns(s, 1, 2), _more(2, "10.20.0.0/16", greater_equal=24)),
        [
            f"error leaf01: {CIRCLE}leaf01 > spine01 > leaf02 > spine02 > leaf01",
            f"error leaf01: {CIRCLE}leaf01 > spine02 > leaf02 > spine01 > leaf01",
        ],
    ),
    (  # the same, where all spines are in one AS: their routes do not pass a leaf to each other
        lambda s: (
            _own_asns(s, 1, 2)
            .bgp("spine02", asn=65001)
            .peer("leaf01", "10.1.1.4", asn=65001)
            .peer("leaf02", "10.1.2.4", asn=65001)
        ),
        [],
    ),
    (  # no switch announces a prefix
        lambda s: _own_asns(s).bgp("leaf01", networks=()).bgp("leaf02", networks=()),
        ["not judged fabric: no route leads from one gateway to another"],
    ),
    (
        lambda s: s.node("leaf01", unmodelled=(TextLine((), "ospf 1", 9),)),
        [
            "not judged fabric: the paths are not known: `ospf 1` may change the routes and is "
            "not modelled"
        ],
    ),
    (  # a VLAN that crosses a cable is no matter of routes
        _bridged,
        [
            "not judged fabric: the paths are not known: VLAN 10 is bridged to "
            "leaf01 100GE1/0/31, which is not modelled"
        ],
    ),
    (
        lambda s: _own_asns(s).link(1, b=s.network.links[0].b),
        [
            "not judged fabric: the paths are not known: 100GE1/0/31 is wired to "
            "spine01 100GE1/0/1 and to spine01 100GE1/0/2"
        ],
    ),
    (
        lambda s: s.change(lossless=None).pausing(),
        [
            "not judged fabric: which queue is lossless is not known: most switches pause none; "
            "`display dcb pfc-profile` lists them"
        ],
    ),
    (
        lambda s: s.change(links=None),
        ["not judged fabric: the cabling is not known, so nothing between two ports can be judged"],
    ),
]


@pytest.mark.parametrize(("change", "says"), DLK001)
def test_dlk001_no_cycle(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("DLK001") == says


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        (_own_asns, False),  # no policies: leaves pass everything on
        (lambda s: _guarded(_own_asns(s)), True),
        (lambda s: _guarded(_own_asns(s), match_prefix_list=None), False),
        (lambda s: _guarded(_own_asns(s), match_prefix_list="MISSING"), False),
        (lambda s: _guarded(_own_asns(s), action="deny", match_prefix_list=None), True),
        (lambda s: _guarded(_own_asns(s), _more(2, "10.99.0.0/24")), True),  # no switch has it
        (lambda s: _guarded(_own_asns(s), _more(2, "10.99.0.0/16", less_equal=24)), False),
        (lambda s: _guarded(_own_asns(s, 1), _more(2, "10.20.1.0/24")), False),  # a spine's
        (lambda s: _guarded(_own_asns(s, 1), _more(2, "10.20.1.0/24", action="deny")), True),
        (lambda s: _guarded(_own_asns(s)).peer("leaf01", "10.1.1.2", export_policy=None), False),
        (lambda s: _guarded(_own_asns(s)).bgp("leaf01", asn=65101, peers=()), True),
        (lambda s: _guarded(_own_asns(s)).device("leaf02", bgp=None), True),
    ],
)
def test_a_switch_that_passes_nothing_on_is_known_by_its_policies(
    small: Any, change: Change, holds: bool
) -> None:
    assert an_end_of_every_link_passes_nothing_on(change(small).network) is holds


def test_heps_with_an_as_for_each_spine_needs_no_solving(edit_heps: Callable[..., Path]) -> None:
    each = edit_heps(("  spine_asn: 65000\n", "  spine_asn: 65000\n  spine_asns: each\n"))
    network = derive(each).network
    assert not one_as_cuts_every_link(network)
    assert an_end_of_every_link_passes_nothing_on(network)
