"""Routing on the page: the ECMP matrix, failures, a traced pair, and how full switches are."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any

import pytest
from efforts import tries
from hypothesis import given
from hypothesis import strategies as st

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.device.routing import Bgp
from rocefort.models.fabric.policy import PolicyEntry, SegmentPolicy
from rocefort.models.finding import Report
from rocefort.models.network.network import End, Link, Network, Node, SwitchRole
from rocefort.reports.page_parts import packed_column
from rocefort.validators.failures.routing_delta import failed_network
from rocefort.validators.failures.study import study
from rocefort.validators.routing.engine import solve
from rocefort.validators.routing_results import (
    Failure,
    FailureEffect,
    FailureStudy,
    LostClasses,
    PairLoss,
    Reachability,
    Route,
    RoutingState,
    ServerClass,
)
from rocefort.verification.page.ecmp import (
    OUTSIDE,
    Matrix,
    Paths,
    PrefixGroup,
    equal_rows,
    failure_table,
    matrix_of,
    paths_of,
)
from rocefort.verification.page.fabric_page import PageContent, page
from rocefort.verification.page.network_tables import packed_texts, tables_of
from rocefort.verification.page.pictures import Utilisation, level

Browse = Callable[..., dict[str, Any]]


def _clos(spines: int, leaves: int) -> Network:
    """A Clos whose leaves announce a loopback; link addresses by spine and leaf."""
    names = [(f"s{n}", SwitchRole.SPINE) for n in range(spines)]
    names += [(f"l{n}", SwitchRole.LEAF) for n in range(leaves)]
    ports: dict[str, list[Interface]] = {name: [] for name, _ in names}
    links = []
    for leaf in range(leaves):
        for spine in range(spines):
            a = End(device=f"s{spine}", interface=f"100GE1/0/{leaf + 1}")
            b = End(device=f"l{leaf}", interface=f"100GE1/0/{spine + 1}")
            links.append(Link(a=a, b=b))
            for end, address in ((a, _near(spine, leaf)), (b, _near(spine, leaf) + 1)):
                own = (IPv4Interface(f"{address}/31"),)
                ports[end.device].append(Interface(name=end.interface, routed=True, addresses=own))
    for leaf in range(leaves):
        own = (IPv4Interface(_loopback(leaf)),)
        ports[f"l{leaf}"].append(Interface(name="LoopBack0", addresses=own))
    nodes = [
        Node(device=_device(name, ports[name]), role=role, id=number + 1)
        for number, (name, role) in enumerate(names)
    ]
    return Network(name="clos", origin="fabric", nodes=tuple(nodes), links=tuple(links))


def _device(name: str, ports: Sequence[Interface]) -> Device:
    own = [port.addresses[0].network for port in ports if port.kind == "loopback"]
    return Device(name=name, interfaces=tuple(ports), bgp=Bgp(asn=65000, networks=tuple(own)))


def _near(spine: int, leaf: int) -> IPv4Address:
    """The spine's end of a link; the leaf's is the next."""
    return IPv4Address("10.0.0.0") + 2048 * spine + 2 * leaf


def _loopback(leaf: int) -> IPv4Network:
    return IPv4Network(IPv4Address("10.9.0.0") + leaf)


def _state(spines: int, leaves: int, **rest: Any) -> RoutingState:
    """Every leaf has every spine for every other leaf."""
    hops = {leaf: tuple(_near(spine, leaf) for spine in range(spines)) for leaf in range(leaves)}
    own = [_loopback(leaf) for leaf in range(leaves)]
    routes = [
        Route(f"l{a}", own[b], hops[a]) for a in range(leaves) for b in range(leaves) if a != b
    ]
    routes += [
        Route(f"s{spine}", own[leaf], (_near(spine, leaf) + 1,))
        for spine in range(spines)
        for leaf in range(leaves)
    ]
    return RoutingState.model_construct(  # 250,000 routes need no second look
        engine="test",
        sessions=(),
        routes=tuple(routes),
        reachability=rest.pop("reachability", Reachability()),
        answers=(),
    )


def _content(network: Network, state: RoutingState | None, **rest: Any) -> PageContent:
    report = Report(network=network.name, rules=())
    texts = {node.name: f"sysname {node.name}\n" for node in network.nodes}
    return PageContent(network=network, report=report, texts=texts, routing=state, **rest)


def _matrix(network: Network, state: RoutingState) -> Matrix:
    matrix = matrix_of(paths_of(network, state))
    assert matrix is not None
    return matrix


def _failed(network: Network, *cut: tuple[str, str]) -> RoutingState:
    """Solved without the links between some pairs of switches."""
    gone = [
        (link.a, link.b)
        for link in network.links or ()
        if {link.a.device, link.b.device} in [set(pair) for pair in cut]
    ]
    assert len(gone) == len(cut)
    return solve(failed_network(network, Failure(links=tuple(gone))))


# ECMP


def test_every_leaf_of_heps_has_both_spines(heps: DerivedNetwork) -> None:
    matrix = _matrix(heps.network, solve(heps.network))
    assert matrix.words == "Every leaf reaches every other with width 2."
    assert [line.name for line in matrix.lines] == [f"leaf{n:02}" for n in range(1, 9)]
    assert matrix.widths[0] == (None, 2, 2, 2, 2, 2, 2, 2)
    text = page(_content(heps.network, solve(heps.network)))
    assert f"<p>{matrix.words}</p>" in text
    assert '<table id="matrix">' not in text


def test_a_lost_link_narrows_its_leaf_alone_to_and_fro(heps: DerivedNetwork) -> None:
    matrix = _matrix(heps.network, _failed(heps.network, ("leaf03", "spine02")))
    assert matrix.words == "Of 56 ordered pairs of leaves 14 with width 1 and 42 with width 2."
    assert matrix.widths[2] == (1, 1, None, 1, 1, 1, 1, 1)
    assert [row[2] for row in matrix.widths] == [1, 1, None, 1, 1, 1, 1, 1]
    assert matrix.widths[0][1] == 2


def test_a_leaf_without_uplinks_has_no_route(heps: DerivedNetwork) -> None:
    cut = ("leaf03", "spine01"), ("leaf03", "spine02")
    matrix = _matrix(heps.network, _failed(heps.network, *cut))
    assert matrix.words == "Of 56 ordered pairs of leaves 14 with width 0 and 42 with width 2."
    assert {row[2] for row in matrix.widths} == {0, None}


def test_what_only_exits_need_narrows_no_leaf() -> None:
    network, state = _clos(2, 2), _state(2, 2)
    nodes = list(network.nodes)
    bgp = Bgp(asn=65000, networks=(_loopback(0), IPv4Network("192.0.2.0/31")))
    device = nodes[2].device.model_copy(update={"bgp": bgp})
    nodes[2] = nodes[2].model_copy(update={"device": device})
    matrix = _matrix(network.model_copy(update={"nodes": tuple(nodes)}), state)
    assert matrix.words == "Every leaf reaches every other with width 2."


def test_the_narrowest_prefix_of_a_leaf_counts() -> None:
    network, state = _clos(2, 3), _state(2, 3)
    server = ServerClass(
        leaf="l1", segment="compute", subnet=IPv4Network("10.8.0.0/24"), servers=("h1",)
    )
    update = {
        "reachability": Reachability(classes=(server,)),
        "routes": (*state.routes, Route("l0", server.subnet, (_near(1, 0),))),
    }
    widths = _matrix(network, state.model_copy(update=update)).widths
    assert widths == ((None, 1, 2), (2, None, 2), (2, 0, None))


def test_a_next_hop_that_no_cable_leads_to_is_no_link() -> None:
    network, state = _clos(2, 2), _state(2, 2)
    away = Route("l0", _loopback(1), (IPv4Address("198.51.100.1"), _near(1, 0)))
    routes = (away, *(route for route in state.routes if route[:2] != away[:2]))
    paths = paths_of(network, state.model_copy(update={"routes": routes}))
    assert paths is not None
    group = next(group for group in paths.groups if group.prefixes == (_loopback(1),))
    assert paths.sets[group.sets[2]] == (OUTSIDE, 1)


def test_without_routes_or_cabling_there_is_no_matrix() -> None:
    network = _clos(2, 2)
    assert paths_of(network, None) is None
    assert paths_of(network.model_copy(update={"links": None}), _state(2, 2)) is None
    assert matrix_of(None) is None
    assert matrix_of(paths_of(_clos(2, 1), _state(2, 1))) is None
    assert 'id="ecmp"' not in page(_content(network, None))


def _by_hand(widths: Sequence[Sequence[int]]) -> Paths:
    """Paths with given widths: each leaf is a class, each width a set of that many links."""
    most = max(map(max, widths))
    size = range(len(widths))
    return Paths(
        nodes=tuple(f"l{n}" for n in size),
        links=(),
        leaves=tuple(size),
        groups=tuple(
            PrefixGroup((_loopback(to),), (to,), {a: widths[a][to] for a in size if a != to})
            for to in size
        ),
        sets=tuple(tuple(range(width)) for width in range(most + 1)),
        servers=(),
        lost=(),
    )


def test_many_leaves_that_fare_alike_share_a_row() -> None:
    widths = [[8 - (7 in (a, b)) for b in range(121)] for a in range(121)]
    matrix = matrix_of(_by_hand(widths))
    assert matrix is not None
    assert [(line.name, line.leaves) for line in matrix.lines] == [
        ("l0 to l6, l8 to l120", 120),
        ("l7", 1),
    ]
    assert matrix.widths == ((8, 7), (7, None))
    assert (
        matrix.words
        == "Of 14,520 ordered pairs of leaves 240 with width 7 and 14,280 with width 8."
    )
    assert matrix.note == "Leaves that fare alike share a row: 2 groups."
    whole = matrix_of(_by_hand([row[:120] for row in widths[:120]]))
    assert whole is not None
    assert len(whole.lines) == 120


@pytest.mark.parametrize("seed", range(tries(6)))
def test_groups_say_the_width_of_every_pair(seed: int) -> None:
    chance = random.Random(seed)
    kinds = [chance.randrange(5) for _ in range(130)]
    table = [[chance.randrange(3) for _ in range(5)] for _ in range(5)]
    widths = [[table[a][b] for b in kinds] for a in kinds]
    rows = [
        [None if a == b else width for b, width in enumerate(row)] for a, row in enumerate(widths)
    ]
    groups = equal_rows(rows)
    assert sorted(leaf for group in groups for leaf in group) == list(range(130))
    assert len(groups) <= 5
    for one in groups:
        for other in groups:
            assert len({widths[a][b] for a in one for b in other if a != b}) <= 1


def test_too_many_groups_are_cut_to_the_narrowest() -> None:
    widths = [[1 + (a * b) % 50 for b in range(130)] for a in range(130)]
    matrix = matrix_of(_by_hand(widths))
    assert matrix is not None
    assert len(matrix.lines) == 40
    assert matrix.note.endswith("groups. Shown are the 40 with the least width.")


# Failures


def test_failures_of_heps_share_rows_and_name_an_example(heps: DerivedNetwork) -> None:
    table = failure_table(study(heps.network), "")
    assert table is not None
    links, *_ = table.rows
    assert links[0] == "any of 16 leaf-spine links"
    assert links[2:5] == (0, 1, "none")
    assert links[5] == (
        "leaf01 100GE1/0/57 - spine01 100GE1/1/1; leaf01 100GE1/0/58 - spine02 100GE1/1/1; "
        "leaf02 100GE1/0/57 - spine01 100GE1/1/2 and 13 more"
    )
    assert table.note.startswith("Every single failure: 26. Cyclic buffer dependency")
    assert "Failures" in page(_content(heps.network, None, failures=study(heps.network)))


def test_a_failure_names_the_pairs_that_it_costs() -> None:
    loss = PairLoss(
        source="leaf01",
        destination="leaf02",
        segment="storage",
        pairs=3,
        reason="no route",
        expected=False,
    )
    effect = FailureEffect(failure=Failure(nodes=("spine01",)), lost=(loss,) * 8)
    table = failure_table(FailureStudy(scope="single", population=1, effects=(effect,)), "")
    assert table is not None
    (row,) = table.rows
    assert row[0] == "spine01"
    assert row[2:4] == (24, "as before")
    one = "leaf01 to storage on leaf02, 3: no route"
    assert row[4] == "; ".join([one] * 6 + ["and 2 more"])


def test_failures_that_nobody_studied_are_said() -> None:
    assert failure_table(None, "") is None
    text = page(_content(_clos(1, 1), None, failures_note="4,436 not studied"))
    assert '<p class="quiet">4,436 not studied</p>' in text


# Tables


def test_the_policy_of_the_segments_ends_with_its_default() -> None:
    entry = PolicyEntry(
        id=2,
        action="allow",
        source=("compute",),
        destination=("storage", "home"),
        protocol="tcp",
        ports=(8000, 8999),
    )
    rdma = PolicyEntry(
        id=1, action="allow", source=("compute",), destination=("storage",), protocol="rdma"
    )
    policy = SegmentPolicy(default="deny", entries=(entry, rdma))
    network = _clos(1, 1).model_copy(update={"policy": policy})
    tables = {table.id: table for table in tables_of(_content(network, None))}
    assert tables["policy"].rows == (
        (1, "allow", "compute", "storage", "rdma", "all"),
        (2, "allow", "compute", "storage, home", "tcp", "8000-8999"),
        ("last", "deny", "any segment", "any other", "any", "all"),
    )
    assert "policy" not in {table.id for table in tables_of(_content(_clos(1, 1), None))}


TEXTS = st.dictionaries(
    st.text(max_size=3), st.text(st.sampled_from("ab\n\r#"), max_size=30), max_size=4
)


@given(TEXTS)
def test_packed_texts_lose_nothing(texts: dict[str, str]) -> None:
    packed: Any = packed_texts(texts)
    for name, parts in packed["texts"].items():
        lines = [packed["runs"][part] if isinstance(part, int) else part for part in parts]
        assert "\n".join(lines) == texts[name]
    assert packed["texts"].keys() == texts.keys()


def test_lines_that_switches_share_are_written_once() -> None:
    shared = "#\ndcb pfc\n#\n"
    packed = packed_texts({f"l{n}": f"sysname l{n}\n{shared}" for n in range(3)})
    assert packed == {"runs": [shared], "texts": {f"l{n}": [f"sysname l{n}", 0] for n in range(3)}}


@given(st.lists(st.one_of(st.none(), st.integers(0, 2), st.sampled_from("ab"))))
def test_packed_columns_lose_nothing(cells: list[Any]) -> None:
    packed: Any = packed_column(cells)
    runs = zip(packed.get("runs", ()), packed.get("lengths", ()), strict=True)
    assert packed.get("cells", [cell for cell, length in runs for _ in range(length)]) == cells


# Utilisation


@pytest.mark.parametrize(
    ("share", "name"),
    [(None, "unknown"), (0, "u1"), (0.25, "u1"), (0.26, "u2"), (1.0, "u4"), (1.01, "over")],
)
def test_levels_of_utilisation(share: float | None, name: str) -> None:
    assert level(share) == name


def test_how_full_the_switches_of_heps_are(heps: DerivedNetwork) -> None:
    use = Utilisation(heps.network)
    leaf, spine = heps.network.by_name["leaf01"], heps.network.by_name["spine01"]
    assert use.words(leaf, "; ") == (
        "; 4 of 64 ports in use, 200 Gb/s of servers on 200 of uplinks"
    )
    assert use.load_level(leaf) == "u4"
    assert use.ports(spine) == (8, 128)
    assert use.gbps(spine) is None


def test_what_is_not_known_is_no_low_utilisation(heps: DerivedNetwork) -> None:
    for field in ("servers", "links"):
        network = heps.network.model_copy(update={field: None})
        use = Utilisation(network)
        leaf = network.by_name["leaf01"]
        assert (use.ports_level(leaf), use.load_level(leaf)) == ("unknown", "unknown")
    bare = heps.network.by_name["spine01"].model_copy(update={"hardware": None})
    assert Utilisation(heps.network).ports(bare) is None


# In a browser

PROBE = """
window.addEventListener("load", () => {
  const form = document.getElementById("trace"), output = document.getElementById("traced");
  const lines = () => document.querySelectorAll("#path-lines path").length;
  const on = () => [...document.querySelectorAll(".on")].map((a) => a.dataset.switch);
  const result = { pairs: [] };
  for (const [from, to] of PAIRS) {
    for (const [name, value] of [["source", from], ["destination", to]]) {
      form.elements[name].value = value;
      form.elements[name].dispatchEvent(new Event("input", { bubbles: true }));
    }
    result.pairs.push({ text: output.textContent, lines: lines(), on: on() });
  }
  const rows = [...document.querySelectorAll("#matrix tbody tr")];
  result.matrix = rows.map((tr) => [...tr.cells].map((cell) => cell.textContent));
  const colours = [...document.querySelectorAll("#matrix td")].map((td) => getComputedStyle(td).backgroundColor);
  result.colours = new Set(colours).size;
  result.failures = document.querySelectorAll("[data-table=failures] tbody tr").length;
  const link = document.querySelector("svg .switch");
  const stroke = () => link && getComputedStyle(link).stroke;
  const before = stroke();
  document.getElementById("by-use").click();
  result.recoloured = stroke() !== before;
  const cell = document.querySelector(".on .switch");
  result.marked = cell && getComputedStyle(cell).stroke;
  result.legend = [...document.querySelectorAll("#topology .legend")].filter((p) => p.offsetParent).length;
  result.tabs = [...form.elements].every((one) => one.tabIndex === 0);
  result.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  form.reset();
  setTimeout(() => {
    result.cleared = [output.hidden, lines(), on().length];
    document.querySelector("#matrix tbody tr:last-child td:nth-child(2)").click();
    result.clicked = [form.elements.source.value, form.elements.destination.value, lines()];
    parent.postMessage(JSON.stringify(result), "*");
  }, 50);
});
"""


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (400, True)])
def test_a_pair_is_traced_in_a_browser(
    browse: Browse, heps: DerivedNetwork, width: int, dark: bool
) -> None:
    state = _failed(heps.network, ("leaf03", "spine02"))
    pairs = [
        ("leaf01", "leaf02"),
        ("leaf01", "leaf03"),
        ("transfer01", "daisygn02"),
        ("leaf01", "leaf01"),
    ]
    text = page(_content(heps.network, state, failures=study(heps.network)))
    seen = browse(text, PROBE.replace("PAIRS", json.dumps(pairs)), width, dark=dark)
    both, one, servers, same = seen["pairs"]
    assert both["text"].startswith(
        "Width 2 at leaf01 to 10.0.1.2/32 and 1 more, 2 equal paths: "
        "100GE1/0/57 to spine01 100GE1/1/1, 100GE1/0/58 to spine02 100GE1/1/1."
    )
    assert both["lines"] == 4
    assert both["on"] == ["spine01", "spine02", "leaf01", "leaf02"]
    assert "Width 1 at leaf01" in one["text"]
    assert (one["lines"], one["on"]) == (2, ["spine01", "leaf01", "leaf03"])
    assert servers["text"].endswith("RDMA is delivered by every path.")
    assert same["text"] == "Both are on leaf01: no link between switches is crossed."
    assert seen["matrix"][2] == ["leaf03", "1", "1", "\u2013", "1", "1", "1", "1", "1"]
    assert seen["colours"] >= 3  # none, narrow, wide
    assert seen["failures"] == len(failure_rows(heps))
    assert (seen["recoloured"], seen["legend"], seen["tabs"]) == (True, 1, True)
    assert seen["overflow"] == 0
    assert seen["cleared"] == [True, 0, 0]
    assert seen["clicked"] == ["leaf08", "leaf01", 4]


def failure_rows(heps: DerivedNetwork) -> tuple[tuple[object, ...], ...]:
    """Rows of the failure table."""
    table = failure_table(study(heps.network), "")
    assert table is not None
    return table.rows


def test_130_leaves_are_one_row_and_traced_all_the_same(browse: Browse) -> None:
    network, spines, leaves = _clos(4, 130), 4, 130
    classes = tuple(
        ServerClass(leaf=f"l{n}", segment="x", subnet=_loopback(n), servers=(f"h{n}",))
        for n in range(leaves)
    )
    reached = Reachability(classes=classes, lost=(LostClasses(sources=(1,), destinations=(2,)),))
    state = _state(spines, leaves, reachability=reached)
    cut = [route for route in state.routes if route[:2] != ("l5", _loopback(9))]
    blind = [route for route in cut if route[:2] != ("s1", _loopback(8))]
    text = page(_content(network, state.model_copy(update={"routes": tuple(blind)})))
    pairs = [("l3", "l4"), ("h1", "h2"), ("l5", "l9"), ("l0", "l8")]
    seen = browse(text, PROBE.replace("PAIRS", json.dumps(pairs)), 400, dark=False)
    whole, refused, none, dead = seen["pairs"]
    assert whole["lines"] == 8
    assert whole["on"] == ["s0", "s1", "s2", "s3", "l3", "l4"]
    assert refused["text"].endswith("RDMA is not delivered by every path.")
    assert none["text"] == "l5 has no BGP route to 10.9.0.9/32."
    assert none["lines"] == 0
    assert "Width 4 at l0 to 10.9.0.8/32, 3 equal paths" in dead["text"]
    assert dead["text"].endswith("Paths end without a route at s1.")
    assert seen["marked"] == "rgb(184, 72, 11)"  # also where other colours are chosen
    assert len(seen["matrix"]) == 3  # l5, l9, and all others
    assert seen["overflow"] == 0


def test_the_page_of_500_leaves_tells_next_hops_in_little() -> None:
    paths = paths_of(_clos(8, 500), _state(8, 500))
    assert paths is not None
    told = json.dumps(paths.as_json_value(), separators=(",", ":"))
    assert len(told) < 250_000  # of 250,000 routes
