"""Spellings of equal meaning: which they are, and what keeps two Devices apart."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest

from rocefort.dialects.syntax_families import load_families
from rocefort.dialects.vrp.interpreter.saved_lines import written_by_itself
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.spellings import in_one_spelling, spelled_as
from rocefort.models.device.device import Device, without_saved
from rocefort.models.device.lossless_queue import DropLimits, DropProfile
from rocefort.models.device.routing import Bgp, BgpGroup, BgpPeer
from rocefort.models.hardware.hardware import Family, SavedLine, SyntaxFamily
from rocefort.models.network.network import TextLine

G1, G2, V200 = (load_families()[SyntaxFamily(name)] for name in ("v300-g1", "v300-g2", "v200"))
TEN, TWENTY = {"keepalive_s": 10, "hold_s": 30}, {"keepalive_s": 20, "hold_s": 60}


def device(group: dict[str, int], peer: dict[str, int]) -> Device:
    address = IPv4Address("10.1.0.1")
    return Device(
        name="leaf01",
        bgp=Bgp(
            asn=65000,
            groups=(BgpGroup.model_validate({"name": "SPINE", **group}),),
            peers=(BgpPeer.model_validate({"address": address, "group": "SPINE", **peer}),),
        ),
    )


@pytest.mark.parametrize(
    ("intended", "running"),
    [
        (device(TEN, {}), device(TEN, TEN)),
        (device(TEN, TEN), device(TEN, {})),
        (device({}, {}), device({"keepalive_s": 60, "hold_s": 180}, {})),
        (device({}, {}), device({}, {"keepalive_s": 60, "hold_s": 180})),
    ],
)
def test_a_peer_that_repeats_what_holds_is_spelled_as_it_runs(
    intended: Device, running: Device
) -> None:
    assert spelled_as(intended, running, G1) == running
    assert in_one_spelling([(intended, G1)]) == in_one_spelling([(running, None)])


@pytest.mark.parametrize(
    ("intended", "running"),
    [
        (device(TWENTY, {}), device(TEN, TEN)),  # the peer's own line would stay
        (device(TEN, {}), device(TEN, TWENTY)),
        (device(TEN, {}), device(TEN, {"keepalive_s": 10, "hold_s": 40})),  # one line
        (device(TEN, {}), device(TEN, {"keepalive_s": 60, "hold_s": 180})),
    ],
)
def test_other_timers_stay_a_difference(intended: Device, running: Device) -> None:
    assert spelled_as(intended, running, G1) == intended


@pytest.mark.parametrize("field", ["active", "password"])
def test_lines_that_no_source_calls_repeated_stay(field: str) -> None:
    """A member may be disabled in a group that is enabled, and no text shows its password."""
    lines = {"active": "  peer {} enable", "password": " peer {} password cipher %^%#x"}[field]
    head = "sysname a\nbgp 65000\n group SPINE external\n peer 10.1.0.1 group SPINE\n"
    family = " ipv4-family unicast\n" if field == "active" else ""
    of_group, of_both = (
        parse(head + family + "\n".join(lines.format(each) for each in holders), "a.cfg").device
        for holders in (("SPINE",), ("SPINE", "10.1.0.1"))
    )
    assert of_group != of_both
    assert spelled_as(of_group, of_both, G1) == of_group


@pytest.mark.parametrize(("family", "cell", "equal"), [(G2, 320, True), (G1, 128, False)])
def test_cells_are_bytes_where_the_vendor_states_their_size(
    family: Family, cell: int, equal: bool
) -> None:
    limits = DropLimits(low=64, high=128, percent=10, unit="cells")
    same = DropLimits(low=64 * cell, high=128 * cell, percent=10, unit="bytes")
    cells, sizes = (
        Device(name="a", drop_profiles=(DropProfile(name="p", ecn=ecn),)) for ecn in (limits, same)
    )
    assert (spelled_as(sizes, cells, family) == cells) is equal


SAVED = [(family, line) for family in (G1, G2, V200) for line in family.saved_lines]


@pytest.mark.parametrize(
    ("family", "saved"), SAVED, ids=[f"{family.name}-{saved.line}" for family, saved in SAVED]
)
def test_a_line_that_a_switch_saves_by_itself_changes_nothing(
    family: Family, saved: SavedLine
) -> None:
    *views, line = saved.line.split(" / ")
    around = [f"{' ' * depth}{view}" for depth, view in enumerate(views)]
    without, with_line = (
        parse("\n".join(["sysname a", *around, *lines]), "a.cfg")
        for lines in ((), (f"{' ' * len(views)}{line}",))
    )
    assert (with_line.device != without.device) is bool(saved.row)
    assert without_saved(with_line.device, [saved]) == without.device
    if with_line.unmodelled:
        assert written_by_itself(TextLine(tuple(views), line, 1), family.syntax)


def test_what_somebody_typed_below_a_saved_line_stays() -> None:
    texts = "dcb pfc\n priority 4", "drop-profile default\n ecn low-limit 1 high-limit 2 "
    texts = texts[0], f"{texts[1]}discard-percentage 3"
    for text in (*texts, "diffserv domain default\n ip-dscp-inbound 26 phb af4"):
        read = parse(f"sysname a\n{text}", "a.cfg").device
        assert without_saved(read, V200.saved_lines) == read


def test_each_family_has_its_own_lines() -> None:
    line = TextLine((), "dcb ets-profile default", 1)
    assert written_by_itself(line, SyntaxFamily.V200)
    assert all(line.line != "dcb pfc" or line.row for line in V200.saved_lines)
    (confirmed,) = (each for each in V200.saved_lines if each.line == "dcb pfc")
    assert (confirmed.families, confirmed.unconfirmed) == ((SyntaxFamily.V200,), ())
