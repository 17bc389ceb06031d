"""`verify --configs DIR`: packets between gateways, and routes that attract them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from new_fabrics import random_fabric
from text_faults import Found, Line, findings_of, with_faults, write_texts

from rocefort.design.derive.derive import derive
from rocefort.design.new import Size, new_fabric
from rocefort.design.subject import subject_of_texts
from rocefort.dialects.network_text import render_all
from rocefort.validators.engine_choice import Engine, run

Rocefort = Callable[..., Any]
Saved = Callable[..., Path]

MODELS = ("CE8851-32CQ8DQ-P", "CE9860-4C-EI")
OF_SEGMENTS = ("BGP201", "BGP202", "BGP203")
LOST = "packets from leaf01 to 10.65.1.0/24 of leaf02 are lost, and those of 8 more segment pairs: "
FAMILY = " ipv4-family unicast"
ANNOUNCED = Line("leaf02", FAMILY, "", "network 0.0.0.0 0.0.0.0")
ATTRACTS = "leaf02 announces a default route, and "


def static(switch: str, route: str) -> Line:
    """Static route that is added to a text."""
    return Line(switch, "", "", f"ip route-static {route}")


def default_by(hop: str) -> list[Line]:
    """Default route of leaf02, which announces it."""
    return [static("leaf02", f"0.0.0.0 0.0.0.0 {hop}"), ANNOUNCED]


def without_sessions(switch: str, *peers: tuple[str, str]) -> list[Line]:
    """Edits that take peers of leaf02 out of its text, each with the name of its spine."""
    lines = []
    for peer, spine in peers:
        lines += [
            Line(switch, "bgp 65102", f"peer {peer} as-number 65000"),
            Line(switch, "bgp 65102", f"peer {peer} group SPINE"),
            Line(switch, "bgp 65102", f"peer {peer} description {spine}"),
            Line(switch, FAMILY, f"peer {peer} enable"),
            Line(switch, FAMILY, f"peer {peer} group SPINE"),
        ]
    return lines


# Faults, and the errors and warnings of these rules: rule, switch, line and message.
FAULTS: list[tuple[list[Line], list[tuple[str, str, str, str]]]] = [
    (
        [static("spine01", "10.65.1.0 255.255.255.128 NULL0")],
        [
            (
                "BGP201",
                "spine01",
                "ip route-static 10.65.1.0 255.255.255.128 NULL0",
                "packets from leaf01 to 10.65.1.0/24 of leaf02 are lost, and those of 8 more "
                "segment pairs: spine01 drops 10.65.1.0/25 (NULL0)",
            )
        ],
    ),
    (  # in the middle of the segment
        [static("spine02", "10.65.1.64 255.255.255.192 NULL0")],
        [
            (
                "BGP201",
                "spine02",
                "ip route-static 10.65.1.64 255.255.255.192 NULL0",
                f"{LOST}spine02 drops 10.65.1.64/26 (NULL0)",
            )
        ],
    ),
    (
        [static("spine01", "10.65.1.0 255.255.255.0 10.1.0.1")],
        [
            (
                "BGP201",
                "spine01",
                "ip route-static 10.65.1.0 255.255.255.0 10.1.0.1",
                f"{LOST}packets loop: leaf01 - spine01 - leaf01",
            )
        ],
    ),
    (
        [static("leaf03", "10.65.1.0 255.255.255.0 10.1.0.32")],  # to spine01: it delivers
        [
            (
                "BGP203",
                "leaf03",
                "ip route-static 10.65.1.0 255.255.255.0 10.1.0.32",
                "the static route to 10.65.1.0/24 overrides the route of BGP to 10.65.1.0/24 of "
                "leaf02",
            )
        ],
    ),
    (
        [static("leaf02", "10.64.0.0 255.248.0.0 NULL0")],
        [
            (
                "BGP203",
                "leaf02",
                "ip route-static 10.64.0.0 255.248.0.0 NULL0",
                "the static route to 10.64.0.0/13 catches packets to 10.65.0.0/24 of leaf01 and to "
                "8 more segments when BGP has no route to them",
            )
        ],
    ),
    (  # it keeps packets to unused addresses from the way out
        [static("leaf02", "10.64.0.0 255.248.0.0 NULL0"), *default_by("10.65.1.250")],
        [],
    ),
    (  # an aggregate
        [
            static("leaf02", "10.64.0.0 255.248.0.0 NULL0"),
            Line("leaf02", FAMILY, "", "network 10.64.0.0 255.248.0.0"),
        ],
        [],
    ),
    ([static("leaf02", "172.16.0.0 255.240.0.0 10.65.1.250")], []),
    (
        [Line("leaf02", FAMILY, "network 10.65.1.0 255.255.255.0")],
        [("BGP201", "leaf02", "bgp 65102", f"{LOST}leaf02 has no network line for it")],
    ),
    (  # a default route, and an aggregate of another leaf, attract what no leaf announces
        [
            Line("leaf02", FAMILY, "network 10.65.1.0 255.255.255.0"),
            Line("leaf08", FAMILY, "", "network 0.0.0.0 0.0.0.0"),
            Line("leaf08", FAMILY, "", "network 10.65.0.0 255.255.0.0"),
            static("leaf08", "10.65.0.0 255.255.0.0 NULL0"),
            static("leaf08", "0.0.0.0 0.0.0.0 10.66.1.250"),
            Line("leaf08", "", "", "ip ip-prefix LOCAL index 500 permit 0.0.0.0 0"),
            Line("leaf08", "", "", "ip ip-prefix LOCAL index 501 permit 10.65.0.0 16"),
        ],
        [("BGP201", "leaf02", "bgp 65102", f"{LOST}leaf02 has no network line for it")],
    ),
    (
        [Line("leaf02", "", "ip ip-prefix LOCAL index 120 permit 10.65.1.0 24")],
        [
            (
                "BGP201",
                "leaf02",
                "route-policy EXPORT permit node 10",
                f"{LOST}route-policy EXPORT of leaf02 denies it",
            )
        ],
    ),
    (  # a network line of the wide subnet would cover that of another leaf
        [
            Line(
                "leaf04",
                "interface Vlanif120",
                "ip address 10.65.3.1 255.255.255.0",
                "ip address 10.65.3.1 255.255.254.0",
            )
        ],
        [
            (
                "BGP201",
                "leaf04",
                "interface Vlanif120",
                "packets from leaf01 to 10.65.2.0/23 of leaf04 are lost, and those of 7 more "
                "segment pairs: leaf04 Vlanif120 has 10.65.3.1/23, a mask of 23 bits, not 24",
            )
        ],
    ),
    (
        without_sessions("leaf02", ("10.1.0.16", "spine01"), ("10.1.0.18", "spine02")),
        [
            (
                "BGP201",
                "leaf02",
                "bgp 65102",
                "packets from leaf02 to 10.65.0.0/24 of leaf01 are lost, and those of 17 more "
                "segment pairs: leaf02 has no BGP session that is up",
            )
        ],
    ),
    (
        default_by("NULL0"),
        [
            (
                "BGP202",
                "leaf02",
                ANNOUNCED.new,
                "leaf02 announces a default route, and drops what it attracts (NULL0)",
            )
        ],
    ),
    (
        default_by("10.1.0.16"),
        [
            (
                "BGP202",
                "leaf02",
                ANNOUNCED.new,
                f"{ATTRACTS}sends what it attracts to 10.1.0.16, which is inside",
            )
        ],
    ),
    (
        default_by("10.255.0.254"),
        [
            (
                "BGP202",
                "leaf02",
                ANNOUNCED.new,
                f"{ATTRACTS}sends what it attracts to 10.255.0.254, by the management port",
            )
        ],
    ),
    (default_by("10.65.1.250"), []),  # a router in the segment
    ([ANNOUNCED], []),  # without a route of its own the line announces nothing
]


@pytest.mark.parametrize(("edits", "expected"), FAULTS)
def test_lost_packets_name_the_switch_and_the_line(
    rocefort: Rocefort, saved: Saved, edits: list[Line], expected: list[tuple[str, ...]]
) -> None:
    words = ("verify", "--configs", saved(*edits), "--failures", "none")
    own = [each for each in findings_of(rocefort, *words) if each.rule in OF_SEGMENTS]
    assert own == [Found(*each) for each in expected]


def test_segment_pairs_are_counted(rocefort: Rocefort, saved: Saved) -> None:
    ran = rocefort("verify", "--configs", saved(), "--failures", "none")
    assert ran.code == 0
    assert "server pairs: none, no two servers are known" in ran.words
    assert "segment pairs delivered by every path between gateways: 86 of 86" in ran.words
    lost = saved(static("spine01", "10.65.1.0 255.255.255.128 NULL0"))
    ran = rocefort("verify", "--configs", lost)
    assert ran.code == 1
    assert "segment pairs delivered by every path between gateways: 77 of 86" in ran.words


def test_gateways_that_are_down_are_no_proof(rocefort: Rocefort, tmp_path: Path) -> None:
    directory = texts_of_new(tmp_path, Size(2, 2, 0))
    ran = rocefort("verify", "--configs", directory, "--failures", "none")
    assert ran.code == 0
    assert "segment pairs: none, fewer than two switches have a gateway that is up" in ran.words


def texts_of_new(directory: Path, size: Size, *edits: Line) -> Path:
    """Texts of a fabric of `new` of a size, with faults."""
    file = directory / "fabric.yaml"
    file.write_text(new_fabric("hall", size, *MODELS), encoding="utf-8")
    texts = with_faults(render_all(derive(file).network), edits)
    return write_texts(texts, directory / "texts")


# Faults in a fabric of `new` with 3 spines and 4 leaves, and the findings.
NEW_FAULTS: list[tuple[Line, tuple[str, str, str]]] = [
    (
        Line("leaf003", FAMILY, "network 10.64.2.0 255.255.255.0"),
        ("BGP201", "bgp 64515", "leaf003 has no network line for it"),
    ),
    (
        static("spine02", "10.64.2.0 255.255.255.0 NULL0"),
        (
            "BGP201",
            "ip route-static 10.64.2.0 255.255.255.0 NULL0",
            "spine02 drops 10.64.2.0/24 (NULL0)",
        ),
    ),
    (
        static("leaf001", "10.64.2.0 255.255.254.0 NULL0"),
        (
            "BGP203",
            "ip route-static 10.64.2.0 255.255.254.0 NULL0",
            "the static route to 10.64.2.0/23 catches packets to 10.64.2.0/24 of leaf003 and to 1 "
            "more segment when BGP has no route to them",
        ),
    ),
]


@pytest.mark.parametrize(("edit", "expected"), NEW_FAULTS)
def test_faults_in_texts_of_a_new_fabric_are_found(
    rocefort: Rocefort, tmp_path: Path, edit: Line, expected: tuple[str, str, str]
) -> None:
    directory = texts_of_new(tmp_path, Size(3, 4, 2), edit)
    found = findings_of(rocefort, "verify", "--configs", directory, "--failures", "none")
    rule, line, message = expected
    assert [(each.rule, each.switch, each.line) for each in found] == [(rule, edit.switch, line)]
    assert found[0].message.endswith(message)


@pytest.mark.parametrize("size", [Size(2, 3, 2), Size(4, 6, 3, links_per_pair=2), Size(2, 2, 1)])
def test_texts_of_new_fabrics_have_no_finding(
    rocefort: Rocefort, tmp_path: Path, size: Size
) -> None:
    directory = texts_of_new(tmp_path, size)
    assert findings_of(rocefort, "verify", "--configs", directory) == []


@pytest.mark.parametrize("seed", range(8))
def test_texts_of_random_fabrics_have_no_finding(
    rocefort: Rocefort, tmp_path: Path, seed: int
) -> None:
    """Exits with a default route, aggregates, bonds and policies are among them."""
    fabric = tmp_path / "fabric"
    texts = render_all(random_fabric(seed, fabric).network)
    directory = write_texts(texts, tmp_path / "texts")
    for words in (("--configs", directory), (fabric, "--configs", directory)):
        assert findings_of(rocefort, "verify", *words, "--failures", "none") == []
    subject = subject_of_texts(directory)
    solution = run(subject.network, subject.sources, Engine.EMBEDDED).solution
    assert solution is not None
    assert solution.gateways.delivered == solution.gateways.pairs > 0


@pytest.mark.parametrize("default", ["static", "accept", "none"])
def test_exits_of_an_intent_have_no_finding(
    rocefort: Rocefort, tmp_path: Path, default: str
) -> None:
    fabric = with_exit(tmp_path, default)
    directory = write_texts(render_all(derive(fabric).network), tmp_path / "texts")
    for words in ((fabric,), ("--configs", directory), (fabric, "--configs", directory)):
        assert findings_of(rocefort, "verify", *words, "--failures", "none") == []


def with_exit(directory: Path, default: str) -> Path:
    """Random fabric with an exit on leaf01 that has a default route of a kind."""
    fabric = directory / "fabric"
    random_fabric(0, fabric)
    file = fabric / "fabric.yaml"
    data = json.loads(file.read_text(encoding="utf-8"))
    exit_ = {"id": 1, "name": "wan", "port": "100GE1/0/9", "address": "192.0.2.1/31"}
    exit_ |= {"peer": "192.0.2.0", "default": default}
    if default != "static":
        exit_ |= {"asn": 64900, "accepts": [{"id": 1, "prefix": "172.16.0.0/12", "longest": 24}]}
    data["leaves"][0]["exits"] = [exit_]
    file.write_text(json.dumps(data), encoding="utf-8")
    return fabric


def test_a_default_route_without_an_exit_is_an_error_by_the_intent(
    rocefort: Rocefort, saved: Saved
) -> None:
    directory = saved(*default_by("10.65.1.250"))
    found = findings_of(rocefort, "verify", "heps", "--configs", directory, "--failures", "none")
    assert [(each.rule, each.line, each.message) for each in found] == [
        (
            "BGP202",
            ANNOUNCED.new,
            f"{ATTRACTS}the fabric intends no exit with a default route there",
        )
    ]


def test_a_part_of_a_segment_without_servers_is_probed_beside_the_intent(
    rocefort: Rocefort, saved: Saved
) -> None:
    edit = static("spine01", "10.65.1.192 255.255.255.192 NULL0")
    words = ("verify", "heps", "--configs", saved(edit), "--failures", "none")
    assert [(each.rule, each.line) for each in findings_of(rocefort, *words)] == [
        ("BGP201", edit.new)
    ]
    assert "segment pairs delivered by every path between gateways: 77 of 86" in (
        rocefort(*words).words
    )


def test_a_segment_whose_servers_are_lost_is_reported_once(
    rocefort: Rocefort, saved: Saved
) -> None:
    edit = static("spine01", "10.65.1.0 255.255.255.128 NULL0")
    found = findings_of(rocefort, "verify", "heps", "--configs", saved(edit), "--failures", "none")
    assert [(each.rule, each.line) for each in found] == [("BGP103", edit.new)]
