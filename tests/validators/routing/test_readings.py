"""Lines with an uncertain effect: answers that they may change are not judged, all others are."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Network

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.models.device.routing import PrefixList, StaticRoute
from rocefort.models.finding import Finding, NotJudged, Report, Where
from rocefort.models.network.network import Network, Sources, TextLine
from rocefort.validators.batfish.snapshot import snapshot_files
from rocefort.validators.engine_choice import Engine, VerificationResult, run
from rocefort.validators.routing.running_lines import as_it_runs
from rocefort.validators.rules.certainty import readings
from rocefort.validators.rules.verification.answers import verify

Clos = Callable[..., Network]
Edits = dict[str, Callable[..., Network]]
FAMILY = "ipv4-family unicast"
# Lines by view. The first ones have one effect; `..` of the last ones reach every switch.
CERTAIN = [
    ("", "peer {peer} ignore"),
    (FAMILY, "undo peer {peer} enable"),
    (FAMILY, "import-route direct"),
    (FAMILY, "import-route static"),
    (FAMILY, "preference 20 200 200"),
]
LOCAL = [
    ("", "peer {peer} ebgp-max-hop 2"),
    ("", "peer {group} fake-as 65009"),
    ("", "default local-preference 200"),
    (FAMILY, "peer {peer} allow-as-loop"),
    (FAMILY, "peer {peer} filter-policy 2000 import"),
    (FAMILY, "peer {group} preferred-value 100"),
    (FAMILY, "peer {group} ip-prefix NONE export"),
    (FAMILY, "bestroute as-path-ignore"),
    (FAMILY, "filter-policy 2000 export"),
    ("route-policy EXPORT permit node 10", "if-match tag 5"),
    ("route-policy EXPORT permit node 10", "apply local-preference 200"),
    ("system", "ip ip-prefix LOCAL index 5 deny 10.0.0.0 8 extra"),
    ("system", "ip route-static 10.99.0.0 16 10.1.10.9 track nqa a b"),
]
WIDE = [
    (FAMILY, "import-route ospf 1"),
    (FAMILY, "peer {group} default-route-advertise"),
    (FAMILY, "aggregate 10.0.0.0 8"),
]


def with_line(network: Network, name: str, view: str, form: str) -> Network:
    """The network with a line in the text of a switch."""
    device = network.by_name[name].device
    bgp = device.bgp
    assert bgp is not None
    text = form.format(peer=bgp.peers[0].address, group=bgp.groups[0].name)
    path: tuple[str, ...] = () if view == "system" else (view,)
    if not view.startswith(("system", "route-policy")):
        path = tuple(filter(None, (f"bgp {bgp.asn}", view)))
    line = TextLine(path, text, 900)
    nodes = (
        node.model_copy(update={"unmodelled": (*node.unmodelled, line)})
        if node.name == name
        else node
        for node in network.nodes
    )
    return network.model_copy(update={"nodes": tuple(nodes)})


def without_policy(network: Network, edits: Edits, name: str) -> Network:
    """The network with a switch whose export policy is not defined."""
    return edits["device"](network, name, route_policies=())


def verified(network: Network) -> VerificationResult:
    """Answers of the embedded engine."""
    return run(network, Sources(), Engine.EMBEDDED)


def places(report: Report) -> set[tuple[str, Where]]:
    """Rule and place of every finding."""
    return {(each.rule, each.where) for each in report.findings}


def named(report: Report) -> set[tuple[str, Where]]:
    """Rule and place of every finding and of every answer that depends on a line."""
    return places(report) | {(each.rule, each.where) for each in report.not_judged}


def of_leaf(network: Network, pair: tuple[str, str]) -> set[str]:
    """Leaves of the servers of a pair."""
    leaves = {server.name: server.port.device for server in network.servers or ()}
    return {leaves[name] for name in pair}


def all_pairs(network: Network) -> list[tuple[str, str]]:
    """Ordered pairs of servers."""
    names = [server.name for server in network.servers or ()]
    return [(a, b) for a in names for b in names if a != b]


def check_laws(before: Network, after: Network, switch: str, *, local: bool) -> None:
    """Every answer is certain, or named with the line; pairs that cannot use it keep theirs."""
    was, now = verified(before), verified(after)
    for reading, solved in zip(now.readings.all, now.solutions, strict=True):
        report = verify(reading.network, solved.state, Sources(), solved)
        assert places(report) <= named(now.report)
        assert {(f.rule, f.where) for f in now.report.findings} <= named(report)
    assert places(was.report) <= named(now.report)
    if local and switch.startswith("leaf"):
        for pair in all_pairs(before):
            if switch not in of_leaf(before, pair):
                answers = {solved.state.reachability.delivers(*pair) for solved in now.solutions}
                assert answers == {was.state.reachability.delivers(*pair)}, pair


def test_a_line_about_one_prefix_leaves_other_static_routes(clos: Clos, edits: Edits) -> None:
    route = StaticRoute(prefix=IPv4Network("192.0.2.0/24"), next_hop=None)
    network = edits["device"](clos(1, 2), "leaf1", static_routes=(route,))
    line = "ip route-static 10.99.0.0 16 10.1.10.9 track nqa a b"
    found = verified(with_line(network, "leaf1", "system", line)).readings.all
    kept = [route in each.network.by_name["leaf1"].device.static_routes for each in found]
    assert len(kept) > 1
    assert all(kept)


@st.composite
def broken(draw: st.DrawFn) -> tuple[int, int, str, str]:
    """Size, a leaf with a fault, and a kind of fault."""
    leaves = draw(st.integers(2, 4))
    fault = draw(st.sampled_from(["none", "networks", "shut", "policy"]))
    return draw(st.integers(1, 3)), leaves, f"leaf{draw(st.integers(1, leaves))}", fault


def faulty(clos: Clos, edits: Edits, fault: tuple[int, int, str, str]) -> Network:
    """A fabric with a fault on one leaf."""
    spines, leaves, name, kind = fault
    network = clos(spines, leaves, servers=2)
    if kind == "networks":
        return edits["bgp"](network, name, networks=())
    if kind == "policy":
        nothing = (PrefixList(name="LOCAL"),)
        return edits["device"](network, name, prefix_lists=nothing)
    if kind == "shut":
        ports = network.by_name[name].device.interfaces
        shut = (i.model_copy(update={"enabled": i.access_vlan != 10}) for i in ports)
        return edits["device"](network, name, interfaces=tuple(shut))
    return network


@settings(max_examples=tries(100))
@given(fault=broken(), line=st.sampled_from(CERTAIN + LOCAL + WIDE), data=st.data())
def test_one_line_hides_no_answer(
    clos: Clos,
    edits: Edits,
    fault: tuple[int, int, str, str],
    line: tuple[str, str],
    data: st.DataObject,
) -> None:
    network = faulty(clos, edits, fault)
    names = [node.name for node in network.nodes]
    view = line[0]
    leaves = [name for name in names if name.startswith("leaf")]
    switch = data.draw(st.sampled_from(leaves if view.startswith("route-policy") else names))
    after = with_line(network, switch, *line)
    check_laws(network, after, switch, local=line not in WIDE)


@settings(max_examples=tries(30))
@given(fault=broken(), data=st.data())
def test_a_policy_that_is_not_defined_hides_no_answer(
    clos: Clos, edits: Edits, fault: tuple[int, int, str, str], data: st.DataObject
) -> None:
    network = faulty(clos, edits, fault)
    switch = data.draw(st.sampled_from([f"leaf{n}" for n in range(1, fault[1] + 1)]))
    check_laws(network, without_policy(network, edits, switch), switch, local=True)


@pytest.mark.parametrize("line", CERTAIN)
def test_a_line_with_a_certain_effect_is_one_reading(clos: Clos, line: tuple[str, str]) -> None:
    network = with_line(clos(), "leaf1", *line)
    assert readings(network, Sources()).doubts == ()
    assert not any("depending on" in row.reason for row in verified(network).report.not_judged)


@pytest.mark.parametrize("line", CERTAIN[:2])
def test_a_closed_session_is_named_by_its_line(clos: Clos, line: tuple[str, str]) -> None:
    report = verified(with_line(clos(), "leaf1", *line)).report
    (session,) = [f for f in report.findings if f.rule == "BGP101"]
    text = line[1].format(peer="172.16.0.0")
    assert session.message == (
        "BGP session of leaf1 with spine1 (172.16.0.0) is not compatible: "
        f"leaf1 closes it by `{text}`"
    )


@pytest.mark.parametrize("line", [*CERTAIN[:3], None])
def test_batfish_gets_the_effect_of_a_line(clos: Clos, line: tuple[str, str] | None) -> None:
    network = with_line(clos(), "leaf1", *line) if line else clos()
    text = snapshot_files(as_it_runs(network, Sources()).network)["configs/leaf1.cfg"].decode()
    assert ("  neighbor 172.16.0.0 " in text) is (line not in CERTAIN[:2])
    assert ("network 172.16.0.0/31" in text) is (line == CERTAIN[2])


def test_an_imported_subnet_is_announced(clos: Clos, edits: Edits) -> None:
    bare = edits["bgp"](clos(), "leaf1", networks=())
    assert any(f.rule == "BGP103" for f in verified(bare).report.findings)
    with_import = with_line(bare, "leaf1", FAMILY, "import-route direct")
    assert verified(with_import).report.findings == ()


def test_of_two_origins_the_winner_is_not_certain(clos: Clos, edits: Edits) -> None:
    network = with_line(clos(), "leaf1", FAMILY, "import-route direct")
    shared = network.by_name["leaf1"].device.by_interface["Vlanif10"].addresses[0].network
    both = edits["bgp"](network, "leaf2", networks=(shared,))
    assert [doubt.name for doubt in readings(both, Sources()).doubts] == ["`import-route direct`"]


@pytest.mark.parametrize(
    ("line", "rules"),
    [
        (("", "peer {peer} ebgp-max-hop 2"), {"BGP101"}),
        ((FAMILY, "peer {peer} allow-as-loop"), {"BGP102"}),
        ((FAMILY, "filter-policy 2000 export"), {"BGP102", "BGP103"}),
        ((FAMILY, "import-route ospf 1"), {"BGP102", "BGP103"}),
        (("route-policy EXPORT permit node 10", "if-match tag 5"), {"BGP102", "BGP103"}),
    ],
)
def test_answers_that_a_line_may_change_are_named(
    clos: Clos, line: tuple[str, str], rules: set[str]
) -> None:
    network = with_line(clos(), "leaf1", *line)
    (doubt,) = readings(network, Sources()).doubts
    report = verified(network).report
    assert report.findings == ()
    rows = [row for row in report.not_judged if row.shared_cause == doubt.words]
    assert {row.rule for row in rows} == rules
    assert all(row.reason.endswith(f"depending on {doubt.name}") for row in rows)


def test_two_doubts_are_told_apart(clos: Clos, edits: Edits) -> None:
    """An answer names the line that it depends on, and a fault elsewhere stays an error."""
    network = edits["bgp"](clos(2, 4), "leaf4", networks=())
    network = with_line(network, "leaf1", FAMILY, "filter-policy 2000 export")
    network = without_policy(network, edits, "leaf2")
    report = verified(network).report
    causes = {row.where.device: row for row in report.not_judged if row.rule == "BGP102"}
    assert {"leaf1", "leaf2"} <= causes.keys()
    assert "leaf4" in {finding.where.device for finding in report.findings}
    assert all(isinstance(row, NotJudged) for row in causes.values())
    assert all(isinstance(row, Finding) for row in report.findings)
