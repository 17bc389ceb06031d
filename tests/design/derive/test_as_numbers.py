"""AS plan: one AS for all spines or one for each, and every invalid plan."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import derive

EditHeps = Callable[..., Path]
EACH = ("  spine_asn: 65000\n", "  spine_asn: 65000\n  spine_asns: each\n")
LEAF08 = "    name: leaf08\n"


def test_each_spine_has_an_as_of_its_own_and_leaves_share_their_paths(edit_heps: EditHeps) -> None:
    network = derive(edit_heps(EACH)).network
    processes = {node.name: node.device.bgp for node in network.nodes}
    assert {
        name: (bgp.asn, bgp.as_path_relax) for name, bgp in processes.items() if bgp and name < "t"
    } == {
        **{f"leaf{n:02}": (65100 + n, True) for n in range(1, 9)},
        "spine01": (65001, False),
        "spine02": (65002, False),
    }
    leaf = processes["leaf01"]
    assert leaf is not None
    assert [peer.asn for peer in leaf.peers] == [65001, 65002]


def test_a_spine_pinned_to_another_as_needs_relaxed_paths_too(edit_heps: EditHeps) -> None:
    pinned = edit_heps(("    name: spine02\n", "    name: spine02\n    pins: {asn: 64999}\n"))
    bgp = derive(pinned).network.by_name["leaf01"].device.bgp
    assert bgp is not None
    assert bgp.as_path_relax


def test_four_byte_numbers_and_a_public_one_derive(edit_heps: EditHeps) -> None:
    path = edit_heps(
        ("spine_asn: 65000", "spine_asn: 4200000000"),
        ("leaf_asn_base: 65100", "leaf_asn_base: 4200000100"),
        (LEAF08, LEAF08 + "    pins: {asn: 64496}\n"),
    )
    network = derive(path).network
    asns = {name: network.by_name[name].device.bgp for name in ("spine01", "leaf01", "leaf08")}
    assert [bgp.asn for bgp in asns.values() if bgp] == [4200000000, 4200000101, 64496]


SPINES = "routing.spine_asn: "
LEAVES = "routing.leaf_asn_base: "
PIN = "leaves[7].pins.asn: leaf08 is pinned to AS "
SENTENCES = [
    (
        [("leaf_asn_base: 65100", "leaf_asn_base: 65471")],
        LEAVES + "leaves take AS numbers 65472 to 65535 of the reserved capacity, which leaves "
        "the private 2-byte AS numbers 64512 to 65534; choose at most 65470, or another range",
    ),
    (
        [("leaf_asn_base: 65100", "leaf_asn_base: 23400")],
        LEAVES + "leaves take AS numbers 23401 to 23464 of the reserved capacity, and 23456 "
        "represents every 4-byte AS number (AS_TRANS, RFC 6793); choose others, for example of the "
        "private 4-byte AS numbers 4200000000 to 4294967294",
    ),
    (
        [("spine_asn: 65000", "spine_asn: 65535")],
        SPINES + "spines take AS number 65535 of the reserved capacity, and 65535 is reserved "
        "(RFC 7300); choose others, for example of the private 4-byte AS numbers 4200000000 to "
        "4294967294",
    ),
    (
        [("spine_asn: 65000", "spine_asn: 65110")],
        LEAVES + "spines take AS number 65110 and leaves take AS numbers 65101 to 65164 of the "
        "reserved capacity, so both take 65110; choose a base of at least 65110, or of at most "
        "65045",
    ),
    (
        [("  spine_asn: 65000\n", "  spine_asn: 65095\n  spine_asns: each\n")],
        LEAVES + "spines take AS numbers 65096 to 65103 and leaves take AS numbers 65101 to 65164 "
        "of the reserved capacity, so both take 65101 to 65103; choose a base of at least 65103, "
        "or of at most 65031",
    ),
    (
        [(LEAF08, LEAF08 + "    pins: {asn: 23456}\n")],
        PIN + "23456, which represents every 4-byte AS number (AS_TRANS, RFC 6793); choose "
        "another, for example of the private 4-byte AS numbers 4200000000 to 4294967294",
    ),
    (
        [(LEAF08, LEAF08 + "    pins: {asn: 65000}\n")],
        PIN + "65000, the AS of all spines; pin another number, or pin that switch, too",
    ),
    (
        [(LEAF08, LEAF08 + "    pins: {asn: 65103}\n")],
        PIN + "65103, which is reserved for leaf id 3, leaf03; pin another number, or pin that "
        "switch, too",
    ),
    (
        [(LEAF08, LEAF08 + "    pins: {asn: 65120}\n")],
        PIN + "65120, which is reserved for leaf id 20; pin another number, or pin that switch, "
        "too",
    ),
    (
        [EACH, (LEAF08, LEAF08 + "    pins: {asn: 65002}\n")],
        PIN + "65002, which is reserved for spine id 2, spine02; pin another number, or pin that "
        "switch, too",
    ),
]


@pytest.mark.parametrize(("edits", "sentence"), SENTENCES)
def test_a_plan_that_cannot_hold_is_one_clear_error(
    edit_heps: EditHeps, edits: list[tuple[str, str]], sentence: str
) -> None:
    with pytest.raises(BadInput) as caught:
        derive(edit_heps(*edits))
    errors = [
        re.sub(r"^.*fabric\.yaml:\d+:\d+: ", "", line) for line in str(caught.value).split("\n")
    ]
    assert errors == [sentence]


@pytest.mark.parametrize(
    "edits",
    [
        [("leaf_asn_base: 65100", "leaf_asn_base: 65470")],  # to the last private one
        [("leaf_asn_base: 65100", "leaf_asn_base: 23456")],  # from the one behind AS_TRANS
        [("spine_asn: 65000", "spine_asn: 65100")],  # just before the leaves
        [("  spine_asn: 65000\n", "  spine_asn: 65092\n  spine_asns: each\n")],
        [(LEAF08, LEAF08 + "    pins: {asn: 65108}\n")],  # what it would be anyway
        [(LEAF08, LEAF08 + "    pins: {asn: 65165}\n")],  # behind the capacity
        [  # two that have changed places
            ("    name: leaf07\n", "    name: leaf07\n    pins: {asn: 65108}\n"),
            (LEAF08, LEAF08 + "    pins: {asn: 65107}\n"),
        ],
        [("spine_asn: 65000", "spine_asn: 4294967294")],
    ],
)
def test_a_plan_that_just_holds_derives(edit_heps: EditHeps, edits: list[tuple[str, str]]) -> None:
    asns = [
        node.device.bgp.asn for node in derive(edit_heps(*edits)).network.nodes if node.device.bgp
    ]
    assert len(set(asns)) == (10 if "each" in str(edits) else 9)


def test_a_new_spine_adds_lines_and_moves_no_number(edit_heps: EditHeps) -> None:
    new = (
        "    name: spine02\n",
        "    name: spine02\n    hardware: CE9860-4C-EI\n    software: V200R022C00\n"
        "  - id: 3\n    name: spine03\n",
    )
    before, after = (derive(edit_heps(*edits)).network for edits in ([EACH], [EACH, new]))
    for name in ("leaf01", "spine01"):
        old, grown = (network.by_name[name].device.bgp for network in (before, after))
        assert old is not None
        assert grown is not None
        assert set(old.peers) <= set(grown.peers)
        assert grown.model_copy(update={"peers": old.peers}) == old
