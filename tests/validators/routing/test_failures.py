"""Effects of failures: repaired answers are those of a solution from the start, for every failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from itertools import permutations
from pathlib import Path

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st
from planned import own_policy

from rocefort.base.errors import BadInput, Refused
from rocefort.design.derive.derive import derive
from rocefort.dialects.network_text import read_back, render_all
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.device.packet_filters import Flow
from rocefort.models.device.routing import DEFAULT_ROUTE, BgpGroup, StaticRoute
from rocefort.models.network.network import LosslessIntent, Network, Sources, SwitchRole
from rocefort.validators.failures.study import (
    MOST,
    PreparedSolution,
    chosen_failures,
    dense,
    single_failures,
    study,
)
from rocefort.validators.routing.buffer_dependencies import components, gateways, traffic
from rocefort.validators.routing.engine import Solution, analyse
from rocefort.validators.routing_results import Failure, FailureEffect, FailureStudy
from rocefort.validators.rules.verification.answers import verify_failures

Clos = Callable[..., Network]
Edits = dict[str, Callable[..., Network]]
QUEUE = LosslessIntent(
    queue=4, roce_dscp=34, cnp_dscp=48, detect_ms=100, recovery_ms=100, headroom_mtu=9216
)
HEPS = derive(Path("heps")).network
SAMPLES = Path(__file__).parents[2] / "samples"

Widths = dict[tuple[str, IPv4Network], tuple[int, int]]
Pairs = Counter[tuple[str, str, str]]


def told_widths(effect: FailureEffect) -> Widths:
    return {
        (leaf, prefix): (loss.was, loss.now)
        for loss in effect.widths
        for leaf in loss.leaves
        for prefix in loss.prefixes
    }


def told_pairs(effect: FailureEffect) -> Pairs:
    found: Pairs = Counter()
    for loss in effect.lost:
        found[loss.source, loss.destination, loss.segment] += loss.pairs
    return found


def true_widths(network: Network, before: Solution, after: Solution, dead: set[str]) -> Widths:
    spines = {node.name for node in network.role(SwitchRole.SPINE)}
    leaves = {node.name for node in network.role(SwitchRole.LEAF)} - dead
    origins = {p: group.origins for group in before.classes for p in group.prefixes}
    found: Widths = {}
    for leaf in leaves:
        for prefix, selection in before.bgp.get(leaf, {}).items():
            left = after.bgp.get(leaf, {}).get(prefix)
            now = len(left.next_hops) if left else 0
            asked = not (origins[prefix] <= spines or origins[prefix] <= dead)
            if asked and now < len(selection.next_hops):
                found[leaf, prefix] = len(selection.next_hops), now
    return found


def true_pairs(network: Network, before: Solution, after: Solution, dead: set[str]) -> Pairs:
    servers = {server.name: server for server in network.servers or ()}
    names = {(s.leaf, s.prefix): s.name for s in network.segments or ()}
    found: Pairs = Counter()
    for a, b in permutations(servers, 2):
        source, target = servers[a].port.device, servers[b].port.device
        if {source, target} & dead or before.trips.stop(a, b, Flow()):
            continue
        if after.trips.stop(a, b, Flow()):
            subnet = servers[b].address.network
            found[source, target, names.get((target, subnet), str(subnet))] += 1
    return found


def true_cut_off(network: Network, before: Solution, after: Solution, dead: set[str]) -> set[str]:
    leaves = {node.name for node in network.role(SwitchRole.LEAF)}

    def heard(solution: Solution) -> set[str]:
        return {
            name
            for group in solution.classes
            if group.origins & leaves
            for name, selection in group.selections.items()
            if selection.next_hops
        }

    return (heard(before) & leaves) - heard(after) - dead


def has_circle(solution: Solution) -> bool:
    served = gateways(solution.underlay)
    return bool(components(traffic(solution.trips.forwarder, served).graph(served, 4)))


def check_all(network: Network, *, pairs: bool = False) -> int:
    """Compare repair with a full solution for every failure; return how many have an impact."""
    before = analyse(network)
    work = PreparedSolution(network, before, Sources())
    failures, _ = chosen_failures(single_failures(network, before), "2" if pairs else "single")
    costly = 0
    for failure in failures:
        told = work.effect(failure)
        costly += bool(told.widths or told.lost)
        _check(network, work, failure, told)
    return costly


def _check(network: Network, work: PreparedSolution, failure: Failure, told: FailureEffect) -> None:
    before, dead = work.solution, set(failure.nodes)
    after = dense(network, failure)  # nothing is refused for a failure alone
    assert told_widths(told) == true_widths(network, before, after, dead), failure
    assert told_pairs(told) == true_pairs(network, before, after, dead), failure
    if told.cut_off or any(not loss.now for loss in told.widths):
        assert set(told.cut_off) == true_cut_off(network, before, after, dead), failure
    if not has_circle(before):
        assert bool(told.circle) is (has_circle(after) and work.buffers.is_judged), failure
        assert work.buffers.is_judged or not has_circle(after), failure


def with_interface(network: Network, name: str, interface: Interface) -> Network:
    device = network.by_name[name].device
    fields = {key: getattr(device, key) for key in Device.model_fields}
    more = Device(**{**fields, "interfaces": (*device.interfaces, interface)})
    nodes = tuple(
        node.model_copy(update={"device": more}) if node.name == name else node
        for node in network.nodes
    )
    return network.model_copy(update={"nodes": nodes})


def opened(network: Network, edits: Edits, leaf: str) -> Network:
    """A leaf that passes on what it learns: valleys become possible."""
    groups = (BgpGroup(name="SPINE", active=True),)
    network = edits["bgp"](network, leaf, groups=groups)
    return edits["device"](network, leaf, prefix_lists=(), route_policies=())


@st.composite
def fabrics(draw: st.DrawFn, clos: Clos, edits: Edits) -> Network:
    """Small fabrics with all that makes a failure's cost other than the obvious one."""
    spines, leaves, links = (
        draw(st.integers(1, 3)),
        draw(st.integers(2, 4)),
        draw(st.sampled_from([1, 1, 2])),
    )
    network = clos(
        spines, leaves, links, draw(st.integers(1, 2)), asn_per_spine=draw(st.booleans())
    ).model_copy(update={"lossless": QUEUE})
    names = [node.name for node in network.nodes]
    for name in names:
        network = edits["bgp"](network, name, as_path_relax=draw(st.booleans()))
        if draw(st.integers(0, 3)) == 0:
            network = edits["bgp"](network, name, maximum_paths=draw(st.integers(1, 3)))
    for leaf in [name for name in names if name.startswith("leaf")]:
        if draw(st.integers(0, 2)) == 0:
            network = opened(network, edits, leaf)
        elif draw(st.integers(0, 5)) == 0:
            network = edits["hide"](network, leaf, f"10.{leaf[4:]}.10.0/24")
    for link in draw(st.sets(st.sampled_from(network.links or ()), max_size=2)):
        end = draw(st.sampled_from([link.a, link.b]))
        if draw(st.booleans()):
            network = edits["port"](network, end.device, end.interface, enabled=False)
        else:
            far = network.interface(link.b if end is link.a else link.a)
            assert far is not None
            network = edits["drop_peer"](network, end.device, str(far.addresses[0].ip))
    if draw(st.booleans()):
        network = _more(draw, network, edits)
    return network


def _more(draw: st.DrawFn, network: Network, edits: Edits) -> Network:
    """Prefixes that hang on a link, on several leaves, or on static routes."""
    link = draw(st.sampled_from(network.links or ()))
    near = draw(st.sampled_from([link.a, link.b]))
    port = network.interface(near)
    bgp = network.by_name[near.device].device.bgp
    assert port is not None
    assert bgp is not None
    subnet = port.addresses[0].network
    kind = draw(st.sampled_from(["link", "anycast", "static", "floating", "foreign"]))
    if kind == "link":
        return edits["bgp"](network, near.device, networks=(*bgp.networks, subnet))
    if kind == "anycast":
        for name in ("leaf1", "leaf2"):
            loopback = Interface(
                name="LoopBack9", routed=True, addresses=(IPv4Interface("10.9.9.9/32"),)
            )
            network = with_interface(network, name, loopback)
            own = network.by_name[name].device.bgp
            assert own is not None
            more = (*own.networks, IPv4Network("10.9.9.9/32"))
            network = opened(edits["bgp"](network, name, networks=more), edits, name)
        return network
    wanted = IPv4Network(draw(st.sampled_from(["0.0.0.0/0", "10.1.0.0/16", "10.1.10.0/24"])))
    if kind == "foreign":
        other = IPv4Interface(f"10.{draw(st.integers(1, 2))}.10.9/24")
        if other.network in {a.network for i in network.by_name[near.device].device.interfaces
                             for a in i.addresses}:  # fmt: skip
            return network
        loopback = Interface(name="LoopBack9", routed=True, addresses=(other,))
        return with_interface(network, near.device, loopback)
    hop = next(ip for ip in (subnet[0], subnet[1]) if ip != port.addresses[0].ip)
    routes = [StaticRoute(prefix=wanted, next_hop=hop)]
    if kind == "floating":
        routes.append(StaticRoute(prefix=wanted, preference=200))
    network = edits["device"](network, near.device, static_routes=tuple(routes))
    if draw(st.booleans()):
        network = edits["bgp"](network, near.device, networks=(*bgp.networks, wanted))
    return network


def solvable(network: Network) -> bool:
    try:
        analyse(network)
    except Refused:
        return False
    return True


@given(st.data())
@settings(max_examples=tries(60))
def test_repair_is_what_a_solution_from_the_start_says(
    clos: Clos, edits: Edits, data: st.DataObject
) -> None:
    network = data.draw(fabrics(clos, edits))
    if solvable(network):
        check_all(network)


@given(st.data())
@settings(max_examples=tries(6))
def test_pairs_of_failures_are_repaired_alike(
    clos: Clos, edits: Edits, data: st.DataObject
) -> None:
    network = data.draw(fabrics(clos, edits))
    if solvable(network) and len(network.nodes) < 6:
        check_all(network, pairs=True)


def _bouncing(clos: Clos, edits: Edits, spines: int = 2, leaves: int = 4) -> Network:
    """Spines of different AS and leaves that pass on what they learn."""
    network = clos(spines, leaves, asn_per_spine=True).model_copy(update={"lossless": QUEUE})
    for leaf in range(1, leaves + 1):
        network = opened(network, edits, f"leaf{leaf}")
    for node in network.nodes:
        network = edits["bgp"](network, node.name, as_path_relax=True)
    return network


@given(st.integers(2, 3), st.integers(3, 4), st.data())
@settings(max_examples=tries(5))
def test_circles_of_buffers_are_found_as_from_the_start(
    clos: Clos, edits: Edits, spines: int, leaves: int, data: st.DataObject
) -> None:
    network = _bouncing(clos, edits, spines, leaves)
    for link in data.draw(st.sets(st.sampled_from(network.links or ()), max_size=2)):
        network = edits["port"](network, link.a.device, link.a.interface, enabled=False)
    check_all(network, pairs=spines * leaves < 9)


def _single(network: Network) -> FailureStudy:
    return study(network)


def _of(done: FailureStudy, words: str) -> FailureEffect:
    return next(effect for effect in done.effects if str(effect.failure) == words)


LEAF1_SPINE2 = "leaf1 100GE1/0/2 - spine2 100GE1/0/1"


def test_a_failure_that_closes_a_circle_is_an_error(
    clos: Clos, edits: Edits, sources: Sources
) -> None:
    """leaf1 is left with spine1, leaf2 with spine2: the others carry their packets up again."""
    network = edits["port"](_bouncing(clos, edits), "leaf2", "100GE1/0/1", enabled=False)
    done = _single(network)
    assert done.circles == ""
    bad = [str(effect.failure) for effect in done.effects if effect.circle]
    assert bad == [
        LEAF1_SPINE2,
        "leaf3 100GE1/0/2 - spine2 100GE1/0/3",
        "leaf4 100GE1/0/2 - spine2 100GE1/0/4",
    ]
    finding = next(
        f for f in verify_failures(network, done, sources).findings if f.rule == "DLK101"
    )
    assert finding.message == (
        f"after loss of {LEAF1_SPINE2} there is a cyclic buffer dependency in queue 4: "
        "leaf3 > spine1 > leaf4 > spine2 > leaf3"
    )
    for spine in ("spine1", "spine2"):
        network = edits["bgp"](network, spine, networks=())  # no packet goes to its loopback
    assert [str(e.failure) for e in _single(network).effects if e.circle] == bad
    whole = _single(_bouncing(clos, edits))
    assert [effect.failure for effect in whole.effects if effect.circle] == []


def test_circles_are_excluded_where_no_path_can_bounce(clos: Clos, edits: Edits) -> None:
    network = clos(2, 3).model_copy(update={"lossless": QUEUE})
    assert _single(network).circles == "excluded: no path passes the AS of the spines twice"
    network = clos(2, 3, asn_per_spine=True).model_copy(update={"lossless": QUEUE})
    assert _single(network).circles == "excluded: one end of every link passes nothing on"
    unknown = _single(clos(2, 3))
    assert unknown.circles == "not judged: which queue is lossless is not known"
    (skipped,) = verify_failures(clos(2, 3), unknown).not_judged
    assert (skipped.rule, skipped.reason) == ("DLK101", "which queue is lossless is not known")


def test_a_link_costs_its_leaf_one_path(clos: Clos) -> None:
    done = _single(clos(2, 4, servers=2))
    effect = _of(done, "leaf1 100GE1/0/1 - spine1 100GE1/0/1")
    assert told_widths(effect)["leaf1", IPv4Network("10.2.10.0/24")] == (2, 1)
    assert told_widths(effect)["leaf2", IPv4Network("10.1.10.0/24")] == (2, 1)
    assert ("leaf2", IPv4Network("10.3.10.0/24")) not in told_widths(effect)
    assert (effect.lost, effect.cut_off, effect.bisection) == ((), (), 0.75)
    assert {loss.expected for loss in effect.widths} == {None}
    assert verify_failures(clos(2, 4), done).findings == ()
    leaf = _of(done, "leaf1")
    assert (leaf.own_servers, leaf.lost, leaf.widths, leaf.bisection) == (2, (), (), 1.0)


def test_what_a_lone_link_loses_is_expected_and_counted(clos: Clos) -> None:
    done = _single(clos(1, 3))
    effect = _of(done, "leaf1 100GE1/0/1 - spine1 100GE1/0/1")
    assert (effect.pairs, effect.cut_off) == (4, ("leaf1",))
    assert all(loss.expected for loss in effect.lost)
    assert {f.rule for f in verify_failures(clos(1, 3), done).findings} == {"TOP102"}


def test_a_pair_that_cabling_still_joins_is_an_error(
    clos: Clos, edits: Edits, sources: Sources
) -> None:
    network = edits["drop_peer"](clos(2, 3), "leaf1", "172.16.0.0")
    done = _single(network)
    told = [f"{f.rule} {f.where}: {f.message}" for f in
            verify_failures(network, done, sources).findings]  # fmt: skip
    assert told[0] == (
        f"BGP108 leaf1 (leaf1.cfg:40): after loss of {LEAF1_SPINE2} (and after 2 other failures) "
        "leaf1 loses 1 pair to compute of leaf2, which cabling still connects: leaf1 has no route "
        "to "
        "10.2.10.0/24"
    )
    assert {line.split()[0] for line in told} == {"BGP108"}


def test_fewer_paths_than_cabling_leaves_are_an_error(clos: Clos, edits: Edits) -> None:
    """One of two cables of leaf1 to spine1 carries no session: the other one's loss costs more."""
    network = edits["drop_peer"](clos(2, 2, 2), "leaf1", "172.16.0.0")
    findings = verify_failures(network, _single(network)).findings
    assert [f"{f.rule} {f.where}: {f.message}" for f in findings] == [
        "BGP109 leaf2: after loss of leaf1 100GE1/0/2 - spine1 100GE1/0/2 leaf2 has 2 of 4 "
        "paths left to 10.1.10.0/24 and 1 more prefix"
    ]
    assert [finding.hint for finding in findings] == [
        "check for sessions that are down, `load-balancing as-path-relax` and "
        "`maximum load-balancing`"
    ]


def test_maximum_load_balancing_is_no_loss_below_its_limit(clos: Clos, edits: Edits) -> None:
    network = edits["bgp"](clos(3, 2), "leaf1", maximum_paths=2)
    done = _single(network)
    assert verify_failures(network, done).findings == ()
    assert all(loss.leaves != ("leaf1",) for loss in _of(done, "spine1").widths)


def test_what_cabling_leaves_is_not_judged_where_nobody_knows_the_spines(clos: Clos) -> None:
    network = clos(1, 2)
    nodes = tuple(node.model_copy(update={"role": None}) for node in network.nodes)
    unknown = network.model_copy(update={"nodes": nodes})
    done = _single(unknown)
    assert any(effect.lost for effect in done.effects)
    report = verify_failures(unknown, done)
    assert report.findings == ()
    assert [(n.rule, n.reason) for n in report.not_judged if n.rule != "DLK101"] == [
        (rule, "which switches are spines and leaves is not known")
        for rule in ("TOP102", "BGP108", "BGP109")
    ]


def test_pairs_are_all_or_a_sample_that_says_so(clos: Clos) -> None:
    network = clos(2, 3)
    singles = single_failures(network, analyse(network))
    assert [str(f) for f in singles[:2]] == [
        "leaf1 100GE1/0/1 - spine1 100GE1/0/1",
        "leaf1 100GE1/0/2 - spine2 100GE1/0/1",
    ]
    assert len(singles) == 2 * 3 + 5
    everything, population = chosen_failures(singles, "2")
    assert len(everything) == population == 55
    some, of = chosen_failures(singles, "sample:20")
    assert (len(some), of) == (20, 55)
    assert some == [failure for failure in everything if failure in some]
    assert chosen_failures(singles, "sample:20")[0] == some
    assert chosen_failures(singles, f"sample:{MOST}")[0] == everything
    assert len(chosen_failures(singles, "sample:1")[0]) == 1
    assert study(network, "sample:3").seed == 1


def test_too_many_pairs_are_refused_and_other_words_too() -> None:
    singles = [Failure(nodes=(f"leaf{n}",)) for n in range(300)]
    with pytest.raises(Refused) as caught:
        chosen_failures(singles, "2")
    assert str(caught.value) == (
        "300 cables and switches make 44,850 pairs, and 20,000 are the most that are studied at "
        "once; take some of them: --failures sample:1000"
    )
    for scope in ("3", "sample:", "sample:0", f"sample:{MOST + 1}", "sample:x"):
        with pytest.raises(BadInput, match="is not one of: none, single, 2, single:N, sample:N"):
            chosen_failures(singles, scope)


@pytest.mark.parametrize(
    ("wanted", "routes"),
    [
        ("0.0.0.0/0", (StaticRoute(prefix=DEFAULT_ROUTE, next_hop=IPv4Address("172.16.0.0")),)),
        (
            "10.2.0.0/16",
            (
                StaticRoute(prefix=IPv4Network("10.2.0.0/16"), next_hop=IPv4Address("172.16.0.0")),
                StaticRoute(prefix=IPv4Network("10.2.0.0/16"), preference=200),
            ),
        ),
    ],
    ids=["a static route", "a floating one"],
)
def test_a_prefix_goes_with_the_link_that_it_hangs_on(
    clos: Clos, edits: Edits, wanted: str, routes: tuple[StaticRoute, ...]
) -> None:
    network = opened(clos(2, 3), edits, "leaf1")
    own = network.by_name["leaf1"].device.bgp
    assert own is not None
    networks = tuple(sorted({*own.networks, IPv4Network(wanted)}))
    network = edits["bgp"](network, "leaf1", networks=networks)
    network = edits["device"](network, "leaf1", static_routes=routes)
    check_all(network)
    lost = told_widths(_of(_single(network), "leaf1 100GE1/0/1 - spine1 100GE1/0/1"))
    stays = len(routes) == 2  # the floating one takes over
    assert lost["leaf2", IPv4Network(wanted)] == (2, 1 if stays else 0)


def test_exits_fail_too() -> None:
    derived = derive(SAMPLES / "border" / "fabric.yaml")
    network = read_back(derived.network, render_all(derived.network))
    assert check_all(network) > 0
    assert any("outside-" in str(effect.failure) for effect in _single(network).effects)


POLICY = """
security:
  policy:
    default: deny
    entries:
      - {id: 1, action: allow, source: [beamline, compute], destination: [storage], protocol: rdma}
      - {id: 2, action: allow, source: [transfer], destination: [compute, storage]}
"""


def test_pairs_that_a_policy_denies_are_not_lost(edit_heps: Callable[..., Path]) -> None:
    derived = derive(edit_heps(own_policy(POLICY)))
    network = read_back(derived.network, render_all(derived.network))
    both = next(f for f in chosen_failures(single_failures(network, analyse(network)), "2")[0]
                if f.nodes == ("spine01", "spine02"))  # fmt: skip
    work = PreparedSolution(network, analyse(network), Sources())
    allowed = work.effect(both).pairs
    assert 0 < allowed < PreparedSolution(HEPS, analyse(HEPS), Sources()).effect(both).pairs
    _check(network, work, both, work.effect(both))
    assert check_all(network) > 0
