"""Derived exits and management VRF: numbers, growth, and bad input."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.dialects.network_text import read_back, render_all
from rocefort.dialects.vrp.render import day0_device

SAMPLE = Path(__file__).parents[2] / "samples" / "border" / "fabric.yaml"
EditBorder = Callable[..., Path]


@pytest.fixture(scope="module")
def border() -> DerivedNetwork:
    return derive(SAMPLE)


@pytest.fixture
def edit(tmp_path: Path) -> EditBorder:
    """Write a copy of the sample with some pieces replaced; each must occur once."""

    def edited(*replacements: tuple[str, str]) -> Path:
        text = SAMPLE.read_text(encoding="utf-8")
        for old, new in replacements:
            assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
            text = text.replace(old, new)
        path = tmp_path / "fabric.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return edited


def _lists(derived: DerivedNetwork, name: str) -> dict[str, list[str]]:
    device = derived.network.by_name[name].device
    return {
        listed.name: [f"{e.index} {e.action} {e.prefix} {e.lengths}" for e in listed.entries]
        for listed in device.prefix_lists
    }


def test_lists_of_a_border_leaf_are_numbered_by_permanent_ids(border: DerivedNetwork) -> None:
    assert _lists(border, "leaf01") == {
        "EXIT-beamline-IN": ["10001 permit 10.90.0.0/16 (16, 16)"],
        "EXIT-beamline-OUT": ["130 permit 10.66.0.0/16 (16, 16)"],
        "EXIT-wan-a-IN": [
            "5000 permit 0.0.0.0/0 (0, 0)",
            "10001 permit 172.16.0.0/12 (12, 24)",
        ],
        "EXIT-wan-a-OUT": ["120 permit 10.65.0.0/16 (16, 16)", "130 permit 10.66.0.0/16 (16, 16)"],
        "LOCAL": [
            "1 permit 10.0.1.1/32 (32, 32)",
            "120 permit 10.65.0.0/24 (24, 24)",
            "5000 permit 0.0.0.0/0 (0, 0)",
            "11001 permit 172.16.0.0/12 (12, 24)",
            "13001 permit 10.90.0.0/16 (16, 16)",
        ],
    }


def test_spines_pass_on_what_any_exit_lets_in(border: DerivedNetwork) -> None:
    assert _lists(border, "spine01")["FABRIC"][4:] == [
        "5000 permit 0.0.0.0/0 (0, 0)",
        "11001 permit 172.16.0.0/12 (12, 24)",
        "12001 permit 172.16.0.0/12 (12, 24)",
        "13001 permit 10.90.0.0/16 (16, 16)",
    ]
    assert _lists(border, "leaf04") == {
        "LOCAL": ["1 permit 10.0.1.4/32 (32, 32)", "120 permit 10.65.3.0/24 (24, 24)"]
    }


def test_every_switch_shares_over_border_leaves(border: DerivedNetwork) -> None:
    processes = [node.device.bgp for node in border.network.nodes]
    assert all(bgp is not None and bgp.as_path_relax for bgp in processes)


def test_whole_segments_are_made_by_static_routes(border: DerivedNetwork) -> None:
    device = border.network.by_name["leaf01"].device
    keys = [r.key for r in device.static_routes]
    assert keys == [
        "10.65.0.0/16 NULL0",
        "10.66.0.0/16 NULL0",
        "MGMT 0.0.0.0/0 10.255.0.254",
    ]
    assert device.bgp is not None
    assert {IPv4Network("10.65.0.0/16"), IPv4Network("10.66.0.0/16")} <= set(device.bgp.networks)


def test_pfc_ends_at_an_exit_unless_it_is_lossless(border: DerivedNetwork) -> None:
    ports = border.network.by_name["leaf01"].device.by_interface
    wan, beamline = ports["100GE1/0/10"], ports["100GE1/0/11"]
    assert (wan.pfc, wan.thresholds, wan.domain) == (None, (), "none")
    assert beamline.pfc is not None
    assert (beamline.domain, [t.queue for t in beamline.thresholds]) == ("roce", [4])


def test_text_says_all_of_it(border: DerivedNetwork) -> None:
    texts = render_all(border.network)
    back = read_back(border.network, texts)
    assert [n.device for n in back.nodes] == [n.device for n in border.network.nodes]
    assert all(not n.unmodelled for n in back.nodes)


def test_day_0_finds_the_way_beyond_the_management_network(border: DerivedNetwork) -> None:
    device = day0_device(border.network.by_name["leaf01"].device)
    assert [v.name for v in device.vrfs] == ["MGMT"]
    assert [i.vrf for i in device.interfaces] == ["MGMT"]
    assert [r.key for r in device.static_routes] == ["MGMT 0.0.0.0/0 10.255.0.254"]


def test_management_in_the_public_table_has_its_way_too(edit: EditBorder) -> None:
    device = derive(edit(("  vrf: MGMT\n", ""))).network.by_name["leaf01"].device
    assert device.vrfs == ()
    routes = day0_device(device).static_routes
    assert [r.key for r in routes] == ["0.0.0.0/0 10.255.0.254"]


MORE = """  - id: 5
    name: leaf05
    hardware: CE8851-32CQ8DQ-P
    software: V300R023C00
    segments: [compute]
    exits:
      - {id: 9, name: wan-c, port: 100GE1/0/10, address: 192.0.2.9/31, peer: 192.0.2.8,
         asn: 64900, accepts: [{id: 7, prefix: 172.16.0.0/12}]}
servers:
"""


def test_another_border_leaf_only_adds_lines(border: DerivedNetwork, edit: EditBorder) -> None:
    before = render_all(border.network)
    after = render_all(derive(edit(("servers:\n", MORE))).network)
    for name, text in before.items():
        gone = set(text.splitlines()) - set(after[name].splitlines())
        assert not gone, f"{name} loses {gone}"
    added = set(after["spine01"].splitlines()) - set(before["spine01"].splitlines())
    assert "ip ip-prefix FABRIC index 19007 permit 172.16.0.0 12" in added


def test_the_first_exit_only_adds_lines(edit: EditBorder) -> None:
    text = SAMPLE.read_text(encoding="utf-8")
    start, end = text.index("    exits:\n      - id: 1"), text.index("  - id: 2\n    name: leaf02")
    later = text.index("    exits:\n      - id: 2")
    upto = text.index("  - id: 3\n    name: leaf03")
    none = derive(edit((text[start:end], ""), (text[later:upto], "")))
    assert none.network.exits == ()
    before, after = render_all(none.network), render_all(derive(SAMPLE).network)
    for name, lines in before.items():
        assert not set(lines.splitlines()) - set(after[name].splitlines())


def test_a_static_exit_originates_the_default_route(edit: EditBorder) -> None:
    derived = derive(
        edit(
            (
                "        asn: 64900\n        accepts:\n"
                "          - {id: 1, prefix: 172.16.0.0/12, longest: 24}\n  - id: 3",
                "        default: static\n  - id: 3",
            )
        )
    )
    device = derived.network.by_name["leaf02"].device
    assert [r.key for r in device.static_routes] == [
        "0.0.0.0/0 192.0.2.2",
        "MGMT 0.0.0.0/0 10.255.0.254",
    ]
    assert device.bgp is not None
    assert IPv4Network("0.0.0.0/0") in device.bgp.networks
    assert not [p for p in device.bgp.peers if p.group is None]


BAD = [
    (
        ("        port: 100GE1/0/11\n", "        port: 100GE1/0/57\n"),
        "leaves[0].exits[1].port: leaf01 100GE1/0/57 is reserved for spines",
    ),
    (
        ("        port: 100GE1/0/11\n", "        port: 100GE1/0/1\n"),
        "leaves[0].exits[1].port: leaf01 100GE1/0/1 is used twice, by server node01 and exit "
        "beamline",
    ),
    (
        ("        port: 100GE1/0/11\n", "        port: 100GE1/0/10\n"),
        "leaves[0].exits[1].port: leaf01 100GE1/0/10 is used twice, by exit wan-a and exit "
        "beamline",
    ),
    (
        ("      - id: 2\n        name: wan-b", "      - id: 1\n        name: wan-b"),
        "leaves[1].exits[0].id: exit id '1' is given twice",
    ),
    (
        ("        peer: 192.0.2.6\n", "        peer: 192.0.2.7\n"),
        "leaves[0].exits[1].peer: 192.0.2.7 and 192.0.2.5/30 are no two hosts of one subnet",
    ),
    (
        ("        address: 192.0.2.5/30\n", "        address: 192.0.2.1/29\n"),
        "leaves[1].exits[0].address: 192.0.2.2/31 of exit wan-b overlaps 192.0.2.0/29 of exit "
        "beamline",
    ),
    (
        ("        asn: 64950\n", "        asn: 65103\n"),
        "leaves[0].exits[1].asn: AS 65103 of exit beamline is that of leaf03",
    ),
    (
        ("        announces: [storage]\n", "        announces: [storag]\n"),
        "leaves[0].exits[1].announces[0]: no segment 'storag' with a VLAN; did you mean 'storage'?",
    ),
    (
        ("prefix: 10.90.0.0/16}", "prefix: 10.66.9.0/24}"),
        "leaves[0].exits[1].accepts[0].prefix: 10.66.9.0/24 accepted from outside overlaps "
        "10.66.0.0/16 of segment storage",
    ),
    (
        ("  gateway: 10.255.0.254\n", "  gateway: 10.254.0.254\n"),
        "management.gateway: gateway 10.254.0.254 is no address of 10.255.0.0/24",
    ),
    (
        ("  gateway: 10.255.0.254\n", "  gateway: 10.255.0.5\n"),
        "management.gateway: gateway 10.255.0.5 is the management address of leaf01",
    ),
    (
        ("        asn: 64950\n        default: none\n", "        default: none\n"),
        "leaves[0].exits[1]: an exit without asn has no BGP",
    ),
    (
        ("prefix: 10.90.0.0/16}", "prefix: 0.0.0.0/0}"),
        "leaves[0].exits[1].accepts[0]: 0.0.0.0/0 is the default route; use `default: accept`",
    ),
    (
        ("prefix: 10.90.0.0/16}", "prefix: 10.90.0.0/16, longest: 16}"),
        "leaves[0].exits[1].accepts[0]: longest 16 is not above the length of 10.90.0.0/16; give a "
        "larger one, or leave it out",
    ),
]


@pytest.mark.parametrize(("change", "sentence"), BAD, ids=[s[:60] for _, s in BAD])
def test_bad_intent_says_where_and_what(
    edit: EditBorder, change: tuple[str, str], sentence: str
) -> None:
    with pytest.raises(BadInput) as caught:
        derive(edit(change))
    lines = str(caught.value).splitlines()
    assert any(f": {sentence}" in line for line in lines), lines
    assert caught.value.exit_code == 2
