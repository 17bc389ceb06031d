"""Exits verified by the embedded engine on the text of a fabric with two border leaves."""

from __future__ import annotations

import re
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.dialects.network_text import render_all
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.models.network.network import Network
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing.external_peers import offered_prefixes, probes, with_outside
from rocefort.validators.rules.verification.answers import verify

SAMPLE = Path(__file__).parents[2] / "samples" / "border" / "fabric.yaml"
DEFAULT = IPv4Network("0.0.0.0/0")


@pytest.fixture(scope="module")
def border() -> DerivedNetwork:
    return derive(SAMPLE)


@pytest.fixture(scope="module")
def texts(border: DerivedNetwork) -> dict[str, str]:
    return dict(render_all(border.network))


def _spoiled(
    border: DerivedNetwork, texts: dict[str, str], *faults: tuple[str, str, str]
) -> Network:
    """The network read from texts in which lines that match a pattern became others."""
    changed = dict(texts)
    for device, pattern, replacement in faults:
        changed[device], count = re.subn(pattern, replacement, changed[device])
        assert count == 1, f"{pattern!r} occurs {count} times on {device}"
    nodes = tuple(
        node.model_copy(update={"device": parse(changed[node.name], node.name).device})
        for node in border.network.nodes
    )
    return border.network.model_copy(update={"nodes": nodes})


def _said(network: Network) -> list[str]:
    solution = analyse(network)
    report = verify(network, solution.state, solution=solution)
    return [f"{finding.rule} {finding.message}" for finding in report.findings]


def test_every_leaf_reaches_the_exits_over_both_border_leaves(
    border: DerivedNetwork, texts: dict[str, str]
) -> None:
    network = _spoiled(border, texts)
    assert _said(network) == []
    widths = {(r.device, r.prefix): r.width for r in analyse(network).state.routes}
    assert {widths[f"spine0{n}", DEFAULT] for n in (1, 2)} == {2}  # a border leaf each
    assert {widths[f"leaf0{n}", DEFAULT] for n in (3, 4)} == {2}  # a spine each
    assert {widths[f"leaf0{n}", DEFAULT] for n in (1, 2)} == {1}  # the exit itself


def test_the_far_end_offers_what_must_not_come_in(border: DerivedNetwork) -> None:
    wan = next(e for e in border.network.exits or () if e.name == "wan-a")
    assert [str(p) for p in probes(wan, border.network)] == [
        "203.0.113.0/24",
        "198.51.100.0/24",
        "10.65.0.0/17",
        "10.66.0.0/17",
    ]
    assert set(offered_prefixes(wan, border.network)) >= {DEFAULT, IPv4Network("172.16.0.0/12")}
    whole = with_outside(border.network)
    assert whole.by_name["outside-wan-a"].device.bgp is not None
    assert with_outside(whole) == whole  # none is added twice


IN = r"  peer 192\.0\.2\.0 route-policy EXIT-wan-a-IN import\n"
OUT = r"  peer 192\.0\.2\.0 route-policy EXIT-wan-a-OUT export\n"
FAULTS = [
    pytest.param(
        [("leaf01", IN, "")],
        "BGP106 leaf01 takes 203.0.113.0/24 from exit wan-a, which must not come in",
        id="no import policy",
    ),
    pytest.param(
        [("leaf01", OUT, "")],
        "BGP106 leaf01 announces 10.0.1.4/32 to exit wan-a, which must not go out",
        id="no export policy",
    ),
    pytest.param(
        [
            (
                "leaf01",
                r"ip ip-prefix EXIT-wan-a-IN index 10001 permit 172.16.0.0 12.*\n",
                "ip ip-prefix EXIT-wan-a-IN index 10001 permit 10.65.0.0 16 less-equal 24\n",
            )
        ],
        "BGP106 leaf01 takes 10.65.0.0/17 from exit wan-a, which must not come in",
        id="a part of the fabric comes in",
    ),
    pytest.param(
        [("spine01", r"  load-balancing as-path-relax\n", "")],
        "BGP105 spine01 has 1 of 2 paths to 0.0.0.0/0 behind leaf01 and leaf02",
        id="no sharing over border leaves",
    ),
    pytest.param(
        [("spine01", r"ip ip-prefix FABRIC index 5000 permit 0\.0\.0\.0 0\n", "")],
        "BGP105 leaf03 has 1 of 2 paths to 0.0.0.0/0 behind leaf01 and leaf02",
        id="a spine keeps the default route",
    ),
    pytest.param(
        [("leaf02", r"ip ip-prefix LOCAL index 5000 permit 0\.0\.0\.0 0\n", "")],
        "BGP107 without leaf01, spine01, spine02, leaf03 and leaf04 have no default route, "
        "although leaf02 remains",
        id="one border leaf keeps the default route",
    ),
    pytest.param(
        [("leaf01", r"  network 10\.66\.0\.0 255\.255\.0\.0\n", "")],
        "BGP105 exit beamline does not get 10.66.0.0/16 from leaf01",
        id="a segment is not announced",
    ),
    pytest.param(
        [("leaf01", r"ip route-static 10\.66\.0\.0 255\.255\.0\.0 NULL0.*\n", "")],
        "BGP105 exit wan-a does not get 10.66.0.0/16 from leaf01",
        id="nothing makes the segment",
    ),
    pytest.param(
        [("leaf02", r" peer 192\.0\.2\.2 as-number 64900\n", " peer 192.0.2.2 as-number 64901\n")],
        "BGP101 BGP session of leaf02 with outside-wan-b (192.0.2.2) is not compatible: leaf02 "
        "expects AS 64901, outside-wan-b is AS 64900",
        id="wrong AS outside",
    ),
]


@pytest.mark.parametrize(("faults", "sentence"), FAULTS)
def test_a_fault_in_the_text_is_told(
    border: DerivedNetwork, texts: dict[str, str], faults: list[tuple[str, str, str]], sentence: str
) -> None:
    assert sentence in _said(_spoiled(border, texts, *faults))


def test_the_hint_of_a_lost_path_names_the_command(
    border: DerivedNetwork, texts: dict[str, str]
) -> None:
    network = _spoiled(border, texts, ("spine01", r"  load-balancing as-path-relax\n", ""))
    solution = analyse(network)
    found = verify(network, solution.state, solution=solution).findings
    assert {finding.hint for finding in found if finding.rule == "BGP105"} == {
        "check the exits' sessions, the policies, and `load-balancing as-path-relax` on the path"
    }


def test_a_static_route_wins_over_bgp_and_drops(
    border: DerivedNetwork, texts: dict[str, str]
) -> None:
    """A route to NULL0 for a remote leaf's prefix: BGP's is not used, and packets end there."""
    static = "ip route-static 10.66.2.0 255.255.255.0 NULL0\nip route-static 10.66.0.0"
    network = _spoiled(border, texts, ("leaf01", "ip route-static 10.66.0.0", static))
    assert any(
        said.startswith("BGP103 node01 does not reach store01 by every path")
        and said.endswith("leaf01 drops 10.66.2.0/24 (NULL0)")
        for said in _said(network)
    )


def test_a_static_route_to_a_neighbour_carries_packets(
    border: DerivedNetwork, texts: dict[str, str]
) -> None:
    route = "ip route-static 10.66.2.0 255.255.255.0 10.1.0.0\nip route-static 10.66.0.0"
    network = _spoiled(border, texts, ("leaf01", "ip route-static 10.66.0.0", route))
    assert analyse(network).state.reachability.delivers("node01", "store01")


LOST_WIDTH = [
    pytest.param("leaf01", r"maximum load-balancing 32", "maximum load-balancing 1", id="ECMP"),
    pytest.param("leaf01", r" peer 10\.1\.0\.0 as-number 65000", " peer 10.1.0.0 as-number 65009",
                 id="wrong AS"),
    pytest.param("leaf01", r" peer 10\.1\.0\.0 (as|group|desc).*\n(?: peer 10\.1\.0\.0 .*\n)*", "",
                 id="missing peer"),
    pytest.param("leaf03", r"maximum load-balancing 32", "maximum load-balancing 1", id="other"),
    pytest.param("spine01", r" peer 10\.1\.0\.1 as-number \d+", " peer 10.1.0.1 as-number 65999",
                 id="of the spine"),
]  # fmt: skip


@pytest.mark.parametrize(("device", "pattern", "replacement"), LOST_WIDTH)
def test_an_exit_is_no_cause_of_a_path_lost_inside(
    border: DerivedNetwork, texts: dict[str, str], device: str, pattern: str, replacement: str
) -> None:
    text = re.sub(r"  peer 10\.1\.0\.0 (enable|group SPINE)\n", "", texts[device])
    changed = {**texts, device: text} if not replacement else texts
    findings = _said(_spoiled(border, changed, (device, pattern, replacement)))
    assert any(finding.startswith(("BGP101", "BGP102")) for finding in findings)
    assert [finding for finding in findings if "EXIT-" in finding] == []


def test_the_hint_about_a_policy_that_the_exit_shares_keeps_it_narrow(
    border: DerivedNetwork, texts: dict[str, str]
) -> None:
    """The leaf's policy towards the spines is that of its exit, which denies the leaf's loopback."""
    network = _spoiled(
        border, texts, ("leaf01", "peer SPINE route-policy EXPORT", "peer SPINE route-policy "
                        "EXIT-wan-a-OUT")
    )  # fmt: skip
    solution = analyse(network)
    report = verify(network, solution.state, solution=solution)
    texts_alone = network.model_copy(update={"servers": None})
    alone = verify(texts_alone, analyse(texts_alone).state)
    findings = [
        finding
        for finding in (*report.findings, *alone.findings)
        if "route-policy EXIT-wan-a-OUT of leaf01" in finding.message
    ]
    rules = {(finding.rule, finding.where.device) for finding in findings}
    assert rules == {(rule, "leaf01") for rule in ("BGP102", "BGP103", "BGP201")}
    hints = {finding.hint for finding in findings}
    assert hints == {
        "give the peers between them a policy of their own: EXIT-wan-a-OUT is also that of "
        "192.0.2.0, and to permit more in it would announce more there"
    }
