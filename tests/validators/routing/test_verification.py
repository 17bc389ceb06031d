"""Messages about sessions, widths and server pairs, fault by fault."""

from __future__ import annotations

from datetime import date, timedelta
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import TYPE_CHECKING

import pytest

from rocefort.models.device.routing import DEFAULT_ROUTE, BgpGroup, StaticRoute
from rocefort.models.finding import Finding, Severity, Waiver
from rocefort.models.network.network import Network, Position, Sources
from rocefort.validators.routing.engine import analyse, solve, with_servers_of
from rocefort.validators.routing_results import RoutingState, SessionStatus, reachability
from rocefort.validators.rules.verification.answers import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocefort.design.derive.derive import DerivedNetwork

    Clos = Callable[..., Network]
    Edits = dict[str, Callable[..., Network]]
    Fault = Callable[[Network, Edits], Network]

TODAY = date(2026, 11, 20)


def wrong_as(network: Network, edits: Edits) -> Network:
    return edits["peer"](network, "leaf1", "172.16.0.0", asn=65009)


def missing_session(network: Network, edits: Edits) -> Network:
    return edits["drop_peer"](network, "leaf1", "172.16.0.0")


def not_enabled(network: Network, edits: Edits) -> Network:
    return edits["peer"](network, "leaf1", "172.16.0.0", group=None)


def no_ecmp(network: Network, edits: Edits) -> Network:
    return edits["bgp"](network, "leaf1", maximum_paths=1)


def shut_link(network: Network, edits: Edits) -> Network:
    return edits["port"](network, "leaf1", "100GE1/0/1", enabled=False)


def wrong_address(network: Network, edits: Edits) -> Network:
    return edits["port"](network, "leaf1", "100GE1/0/1", addresses=())


def wrong_mask(network: Network, edits: Edits) -> Network:
    """spine1 has 172.16.0.2/30 where leaf2, 172.16.0.3/31, is its broadcast address."""
    wide = (IPv4Interface("172.16.0.2/30"),)
    return edits["port"](network, "spine1", "100GE1/0/2", addresses=wide)


def switched_port(network: Network, edits: Edits) -> Network:
    return edits["port"](network, "leaf1", "100GE1/0/1", routed=False)


def wrong_cable(network: Network, edits: Edits) -> Network:
    """The cables of leaf1 and leaf2 at spine1 are swapped."""
    first, second, *rest = network.links or ()
    swapped = (
        first.model_copy(update={"b": second.b}),
        second.model_copy(update={"b": first.b}),
    )
    return network.model_copy(update={"links": (*swapped, *rest)})


def shut_spine(network: Network, edits: Edits) -> Network:
    for port in ("100GE1/0/1", "100GE1/0/2", "100GE1/0/3"):
        network = edits["port"](network, "spine1", port, enabled=False)
    return network


def hidden_leaf(network: Network, edits: Edits) -> Network:
    return edits["hide"](network, "leaf1", "10.1.10.0/24")


def no_network_line(network: Network, edits: Edits) -> Network:
    return edits["bgp"](network, "leaf3", networks=(IPv4Network("10.255.0.3/32"),))


def svi_without_port(network: Network, edits: Edits) -> Network:
    return edits["port"](network, "leaf3", "25GE1/0/1", enabled=False)


def wrong_vlan(network: Network, edits: Edits) -> Network:
    return edits["port"](network, "leaf3", "25GE1/0/1", access_vlan=20)


def no_vlan_in_its_name(network: Network, edits: Edits) -> Network:
    return edits["port"](network, "leaf3", "Vlanif10", name="Vlanif1/0/10")


def wrong_gateway_mask(network: Network, edits: Edits) -> Network:
    return edits["port"](network, "leaf3", "Vlanif10", addresses=(IPv4Interface("10.3.10.1/23"),))


# On a fabric of 2 spines and 3 leaves with one server each.
FAULTS: list[tuple[Fault, list[str]]] = [
    (
        wrong_as,
        [
            "BGP101 leaf1 (leaf1.cfg:45): BGP session of leaf1 with spine1 (172.16.0.0) is not "
            "compatible: leaf1 expects AS 65009, spine1 is AS 65000",
        ],
    ),
    (
        missing_session,
        [
            "BGP101 leaf1 (leaf1.cfg:40): BGP session of spine1 with leaf1 (172.16.0.1) is not "
            "compatible: leaf1 has no peer 172.16.0.0",
        ],
    ),
    (
        not_enabled,
        [
            "BGP101 leaf1 (leaf1.cfg:45): BGP session of leaf1 with spine1 (172.16.0.0) is not "
            "compatible: leaf1 does not enable the peer 172.16.0.0 for IPv4",
        ],
    ),
    (
        no_ecmp,
        [
            "BGP102 leaf1 (leaf1.cfg:50): leaf1 has 1 of 2 paths to 10.2.10.0/24 of leaf2 "
            "and to 3 more prefixes of other leaves: `maximum load-balancing` is 1",
        ],
    ),
    (
        shut_link,
        [
            "BGP101 leaf1 100GE1/0/1 (leaf1.cfg:20): BGP session of leaf1 with spine1 "
            "(172.16.0.0) is not compatible: leaf1 100GE1/0/1 is shut down",
        ],
    ),
    (
        wrong_address,
        [
            "BGP101 leaf1 (leaf1.cfg:45): BGP session of leaf1 with spine1 (172.16.0.0) is not "
            "compatible: no interface of leaf1 is in the subnet of 172.16.0.0",
            "BGP101 spine1 (spine1.cfg:60): BGP session of spine1 with 172.16.0.1 is not "
            "compatible: no other switch has the address 172.16.0.1",
        ],
    ),
    (
        wrong_mask,
        [
            "BGP101 spine1 100GE1/0/2: BGP session of leaf2 with spine1 (172.16.0.2) is not "
            "compatible: 172.16.0.3 is the broadcast address of 172.16.0.0/30 on spine1 100GE1/0/2",
        ],
    ),
    (
        switched_port,
        [
            "BGP101 leaf1 (leaf1.cfg:45): BGP session of leaf1 with spine1 (172.16.0.0) is not "
            "compatible: no interface of leaf1 is in the subnet of 172.16.0.0",
            "BGP101 leaf1 100GE1/0/1 (leaf1.cfg:20): BGP session of spine1 with leaf1 "
            "(172.16.0.1) is not compatible: "
            "leaf1 100GE1/0/1 is a switched port, its address is not in use",
        ],
    ),
    (
        wrong_cable,
        [
            "BGP101 leaf1 100GE1/0/1 (leaf1.cfg:20): BGP session of leaf1 with spine1 "
            "(172.16.0.0) is not established: no cable joins leaf1 100GE1/0/1 "
            "and spine1 100GE1/0/1",
            "BGP101 leaf2 100GE1/0/1: BGP session of leaf2 with spine1 (172.16.0.2) is not "
            "established: no cable joins leaf2 100GE1/0/1 and spine1 100GE1/0/2",
        ],
    ),
    (
        shut_spine,
        [
            "BGP101 spine1 100GE1/0/1: BGP session of leaf1 with spine1 (172.16.0.0) is not "
            "compatible: spine1 100GE1/0/1 is shut down",
            "BGP101 spine1 100GE1/0/2: BGP session of leaf2 with spine1 (172.16.0.2) is not "
            "compatible: spine1 100GE1/0/2 is shut down",
            "BGP101 spine1 100GE1/0/3: BGP session of leaf3 with spine1 (172.16.0.4) is not "
            "compatible: spine1 100GE1/0/3 is shut down",
        ],
    ),
    (
        hidden_leaf,
        [
            "BGP102 leaf1 (leaf1.cfg:1): 2 leaves lack paths to 10.1.10.0/24 of leaf1: "
            "route-policy EXPORT of leaf1 denies it",
            "BGP103 leaf1 (leaf1.cfg:1): srv2-1 does not reach srv1-1 by every path, "
            "nor do 1 more pair: route-policy EXPORT of leaf1 denies it",
        ],
    ),
    (
        wrong_gateway_mask,
        [
            "BGP102 leaf3 Vlanif10: 2 leaves lack paths to 10.3.10.0/24 of leaf3: "
            "leaf3 Vlanif10 has 10.3.10.1/23, a mask of 23 bits, not 24",
            "BGP103 leaf3 Vlanif10: srv1-1 does not reach srv3-1 by every path, nor do 1 more pair: "
            "leaf3 Vlanif10 has 10.3.10.1/23, a mask of 23 bits, not 24",
        ],
    ),
    (
        no_network_line,
        [
            "BGP102 leaf3: 2 leaves lack paths to 10.3.10.0/24 of leaf3: "
            "leaf3 has no network line for it",
            "BGP103 leaf3: srv1-1 does not reach srv3-1 by every path, nor do 1 more pair: "
            "leaf3 has no network line for it",
        ],
    ),
    (
        svi_without_port,
        [
            "BGP102 leaf3 Vlanif10: 2 leaves lack paths to 10.3.10.0/24 of leaf3: "
            "no enabled port of leaf3 carries VLAN 10",
            "BGP103 leaf3 25GE1/0/1 (leaf3.cfg:31): srv1-1 does not reach srv3-1 by every path, "
            "nor do 3 more pairs: leaf3 25GE1/0/1 is shut down",
        ],
    ),
    (
        wrong_vlan,
        [
            "BGP102 leaf3 Vlanif10: 2 leaves lack paths to 10.3.10.0/24 of leaf3: "
            "no enabled port of leaf3 carries VLAN 10",
            "BGP103 leaf3 Vlanif10: srv1-1 does not reach srv3-1 by every path, nor do 1 more pair: "
            "no enabled port of leaf3 carries VLAN 10",
            "BGP103 leaf3 25GE1/0/1: srv3-1 does not reach srv1-1 by every path, "
            "nor do 1 more pair: leaf3 has no VLAN 20",
        ],
    ),
    (
        no_vlan_in_its_name,
        [
            "BGP102 leaf3 Vlanif1/0/10: 2 leaves lack paths to 10.3.10.0/24 of leaf3: "
            "leaf3 Vlanif1/0/10 names no VLAN",
            "BGP103 leaf3 Vlanif1/0/10: srv1-1 does not reach srv3-1 by every path, nor do 1 more pair: "
            "leaf3 Vlanif1/0/10 names no VLAN",
            "BGP103 leaf3 Vlanif10: srv3-1 does not reach srv1-1 by every path, "
            "nor do 1 more pair: leaf3 has no gateway 10.3.10.1 in VLAN 10",
        ],
    ),
]


def line(finding: Finding) -> str:
    return f"{finding.rule} {finding.where}: {finding.message}"


@pytest.mark.parametrize(("fault", "lines"), FAULTS, ids=[f.__name__ for f, _ in FAULTS])
def test_each_fault_is_found_with_device_line_and_cause(
    clos: Clos, edits: Edits, sources: Sources, fault: Fault, lines: list[str]
) -> None:
    network = fault(clos(2, 3), edits)
    report = verify(network, solve(network), sources)
    assert [line(finding) for finding in report.findings] == lines
    assert {finding.severity for finding in report.findings} == {Severity.ERROR}
    assert all(finding.hint for finding in report.findings)


@pytest.mark.parametrize(
    ("hop", "why"),
    [
        (None, "drops what it attracts (NULL0)"),
        (IPv4Address("172.16.0.0"), "sends what it attracts to 172.16.0.0, which is inside"),
        (IPv4Address("10.1.10.250"), None),  # a router in the segment
    ],
)
def test_an_announced_default_route_leads_out(
    clos: Clos, edits: Edits, hop: IPv4Address | None, why: str | None
) -> None:
    network = clos(2, 3)
    bgp = network.by_name["leaf1"].device.bgp
    assert bgp is not None
    routed = edits["device"](
        network, "leaf1", static_routes=(StaticRoute(prefix=DEFAULT_ROUTE, next_hop=hop),)
    )
    quiet = verify(routed, solve(routed))
    assert [finding for finding in quiet.findings if finding.rule == "BGP202"] == []
    announces = edits["bgp"](routed, "leaf1", networks=(*bgp.networks, DEFAULT_ROUTE))
    report = verify(announces, solve(announces))
    found = [line(finding) for finding in report.findings if finding.rule == "BGP202"]
    place = "BGP202 leaf1: leaf1 announces a default route, and "
    assert found == ([f"{place}{why}"] if why else [])


def test_a_static_route_in_place_of_a_path_of_bgp_is_named_at_its_line(
    clos: Clos, edits: Edits
) -> None:
    network = clos(2, 3)
    spine = next(link for link in network.links or () if link.b.device == "leaf1").a
    port = network.interface(spine)
    assert port is not None
    hop = port.addresses[0].ip
    routes = tuple(
        StaticRoute(prefix=IPv4Network(prefix), next_hop=hop)
        for prefix in ("198.51.100.0/24", "10.2.10.0/24")
    )
    routed = edits["device"](network, "leaf1", static_routes=routes)
    sources = Sources({f"leaf1/static_routes[{routes[1].key}]": Position("leaf1.cfg", 7)})
    solution = analyse(routed)
    report = verify(routed, solution.state, sources, solution)
    assert [line(finding) for finding in report.findings] == [
        "BGP102 leaf1 (leaf1.cfg:7): leaf1 has no path of BGP to 10.2.10.0/24 of leaf2: its "
        "static route is used",
        "BGP203 leaf1 (leaf1.cfg:7): the static route to 10.2.10.0/24 overrides the route of BGP "
        "to 10.2.10.0/24 of leaf2",
    ]


def test_a_whole_fabric_has_no_finding(clos: Clos, sources: Sources) -> None:
    network = clos(2, 3, 2, 2)
    report = verify(network, solve(network), sources)
    assert (report.findings, report.not_judged) == ((), ())
    assert report.rules == ("BGP101", "BGP102", "BGP103", "BGP202", "BGP203")


def test_a_leaf_that_waits_for_its_servers_lacks_no_path(
    clos: Clos, edits: Edits, sources: Sources
) -> None:
    """TOP008 reports it; a port with the VLAN that is shut down is BGP102's."""
    network = clos(2, 3)
    servers = tuple(one for one in network.servers or () if one.port.device != "leaf3")
    idle = edits["port"](network, "leaf3", "25GE1/0/1", access_vlan=None)
    idle = idle.model_copy(update={"servers": servers})
    report = verify(idle, solve(idle), sources)
    assert (report.findings, "BGP102" in report.rules) == ((), True)
    shut = edits["port"](network, "leaf3", "25GE1/0/1", enabled=False)
    shut = shut.model_copy(update={"servers": servers})
    assert [finding.rule for finding in verify(shut, solve(shut), sources).findings] == ["BGP102"]


def test_a_spine_that_is_missing_altogether_is_short_of_paths(clos: Clos) -> None:
    network = clos(2, 2).model_copy(update={"spines": 3})
    found = [line(finding) for finding in verify(network, solve(network)).findings]
    assert found == [
        "BGP102 leaf1: leaf1 has 2 of 3 paths to 10.2.10.0/24 of leaf2 "
        "and to 1 more prefix of other leaves",
        "BGP102 leaf2: leaf2 has 2 of 3 paths to 10.1.10.0/24 of leaf1 "
        "and to 1 more prefix of other leaves",
    ]


def test_the_hint_of_a_missing_path_limit_names_the_number(clos: Clos, edits: Edits) -> None:
    network = edits["bgp"](clos(2, 2, 2), "leaf1", maximum_paths=3)
    (finding,) = verify(network, solve(network)).findings
    assert finding.hint == "set `maximum load-balancing` to 4 or more"


def test_a_waiver_covers_what_a_verification_finds(clos: Clos, edits: Edits) -> None:
    network = edits["bgp"](clos(2, 2, 2), "leaf1", maximum_paths=3)
    waiver = Waiver(rule="BGP102", device="leaf1", why="trial", until=TODAY)
    network = network.model_copy(update={"waivers": (waiver,)})
    report = verify(network, solve(network), today=TODAY)
    assert (report.findings, report.failed) == ((), False)
    assert [(w.finding.rule, w.why) for w in report.waived] == [("BGP102", "trial")]
    late = verify(network, solve(network), today=TODAY + timedelta(days=1))
    assert [finding.where.device for finding in late.findings] == ["leaf1", None]
    assert late.waived == ()


def test_what_is_not_known_is_not_judged(clos: Clos) -> None:
    whole = clos(2, 2)
    nodes = tuple(node.model_copy(update={"role": None}) for node in whole.nodes)
    network = Network(name="text", origin="text", nodes=nodes)
    report = verify(network, solve(network))
    assert [(item.rule, item.reason) for item in report.not_judged] == [
        ("BGP102", "which switches are spines and leaves is not known"),
        ("BGP103", "the servers are not known"),
    ]
    assert report.findings == ()


def test_another_engine_is_reported_without_a_cause_where_ours_refuses(
    clos: Clos, edits: Edits
) -> None:
    whole = clos(1, 2)
    state = solve(whole)
    sessions = (
        state.sessions[0].model_copy(update={"status": SessionStatus.NOT_ESTABLISHED}),
        state.sessions[1].model_copy(update={"status": SessionStatus.NOT_COMPATIBLE}),
        *state.sessions[2:],
    )
    reached = reachability(state.reachability.classes, {"srv2-1": {"srv1-1"}})
    answers = RoutingState(
        engine="batfish", sessions=sessions, routes=state.routes, reachability=reached
    )
    group = BgpGroup(name="OTHER", external=False)
    bgp = whole.by_name["leaf1"].device.bgp
    assert bgp is not None
    refused = edits["bgp"](whole, "leaf1", groups=(*bgp.groups, group))
    found = verify(refused, answers).findings
    assert [(line(f), f.hint) for f in found] == [
        (
            "BGP101 leaf1: BGP session of leaf1 with 172.16.0.0 is not established",
            "both ends match, so check the interfaces between them",
        ),
        (
            "BGP101 leaf2: BGP session of leaf2 with 172.16.0.2 is not compatible",
            "compare addresses, AS numbers and `peer enable` at both ends",
        ),
        (
            "BGP103 leaf1 25GE1/0/1: srv1-1 does not reach srv2-1 by every path",
            "follow the path hop by hop from the leaf",
        ),
    ]


def test_a_duplicated_link_address_is_told(clos: Clos, edits: Edits) -> None:
    """leaf3 has leaf2's address towards spine1: leaf2's session stays, leaf3's cannot be."""
    network = clos(2, 3)
    port = network.by_name["leaf2"].device.by_interface["100GE1/0/1"]
    network = edits["port"](network, "leaf3", "100GE1/0/1", addresses=port.addresses)
    found = [line(f) for f in verify(network, solve(network)).findings if f.rule == "BGP101"]
    assert found == [
        "BGP101 leaf3: BGP session of leaf3 with spine1 (172.16.0.4) is not compatible: "
        "no interface of leaf3 is in the subnet of 172.16.0.4",
        "BGP101 spine1: BGP session of spine1 with 172.16.0.5 is not compatible: "
        "no other switch has the address 172.16.0.5",
    ]


@pytest.mark.parametrize("fault", [f for f, _ in FAULTS], ids=lambda f: f.__name__)
def test_no_finding_hangs_on_the_order_of_the_nodes(
    clos: Clos, edits: Edits, sources: Sources, fault: Fault
) -> None:
    network = fault(clos(2, 3), edits)
    turned = network.model_copy(update={"nodes": network.nodes[::-1]})
    assert verify(turned, solve(turned), sources) == verify(network, solve(network), sources)


def test_an_address_on_two_switches_is_told_in_the_same_words_in_any_order(
    clos: Clos, edits: Edits
) -> None:
    """leaf2 and leaf3 both have, on ports that are shut down, what spine1's peer should have."""
    network = edits["port"](clos(2, 3), "leaf1", "100GE1/0/1", addresses=())
    wrong = (IPv4Interface("172.16.0.1/31"),)
    for leaf in ("leaf2", "leaf3"):
        network = edits["port"](network, leaf, "100GE1/0/2", addresses=wrong, enabled=False)
    turned = network.model_copy(update={"nodes": network.nodes[::-1]})
    found = [line(f) for f in verify(turned, solve(turned)).findings]
    assert found == [line(f) for f in verify(network, solve(network)).findings]
    assert any(
        "BGP session of spine1" in sentence and "leaf2 100GE1/0/2 is shut down" in sentence
        for sentence in found
    )


def test_configurations_have_the_servers_of_the_fabric_that_they_are_compared_with(
    heps: DerivedNetwork,
) -> None:
    fabric = heps.network
    nodes = tuple(node for node in fabric.nodes if node.name != "leaf01")
    absent = {"servers": None, "segments": None, "links": None, "origin": "text"}
    text = fabric.model_copy(update={"nodes": nodes, **absent})
    both = with_servers_of(fabric, text)
    servers = fabric.servers or ()
    leaves = {server.port.device for server in servers} - {"leaf01"}
    assert both.servers == tuple(s for s in servers if s.port.device in leaves)
    assert both.segments == tuple(s for s in fabric.segments or () if s.leaf in leaves) != ()
    assert {x.a.device for x in both.links or ()} | {x.b.device for x in both.links or ()} == {
        node.name for node in nodes
    }
