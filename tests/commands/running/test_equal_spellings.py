"""Lines of equal meaning in another spelling are no difference, by intent and by vote."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from text_faults import Line, findings_of, write_texts

from rocefort.design.load.hardware_catalogue import load_catalogue
from rocefort.dialects.vrp.spellings import in_one_spelling
from rocefort.models.device.device import Device
from rocefort.models.device.lossless_queue import DropLimits, DropProfile
from rocefort.models.device.routing import Bfd, Bgp, BgpGroup, BgpPeer

Rocefort = Callable[..., Any]
Saved = Callable[..., Path]


def _timers_of_peers(text: str) -> str:
    """Repeat the timers of each group at its peers."""
    timers = dict(re.findall(r"^ peer (\w+) timer (keepalive .*)$", text, re.MULTILINE))
    return re.sub(
        r"^ peer (\S+) group (\w+)$",
        lambda m: f"{m[0]}\n peer {m[1]} timer {timers[m[2]]}",
        text,
        flags=re.MULTILINE,
    )


SPELLINGS: Mapping[str, Callable[[str], str]] = {
    "timers of a peer": _timers_of_peers,
    "rule number": lambda text: text.replace(" rule 5 permit", " rule 10 permit"),
    "prefix-list index": lambda text: text.replace("LOCAL index 1 ", "LOCAL index 7 "),
    "node of a policy": lambda text: text.replace("permit node 10", "permit node 20"),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_another_spelling_is_no_difference(
    rocefort: Rocefort, heps_texts: Mapping[str, str], tmp_path: Path, name: str
) -> None:
    spelled = {**heps_texts, "leaf03": SPELLINGS[name](heps_texts["leaf03"])}
    texts = write_texts(spelled, tmp_path / "texts")
    assert findings_of(rocefort, "check", "heps", "--configs", texts, "--select", "TXT202") == []
    assert findings_of(rocefort, "check", "--configs", texts, "--select", "TXT203") == []


IN_GROUP = r"^ +peer 10\.1\.0\.32 group SPINE\n"
PLAIN = " peer 10.1.0.32 description"
OWN = """ peer 10.1.0.32 timer keepalive 10 hold 30
 peer 10.1.0.32 bfd min-tx-interval 300 min-rx-interval 300 detect-multiplier 3
 peer 10.1.0.32 bfd enable
"""
POLICY = "  peer 10.1.0.32 enable\n"


def test_a_peer_without_its_group_is_told_what_differs(
    rocefort: Rocefort, heps_texts: Mapping[str, str], tmp_path: Path
) -> None:
    text = re.sub(IN_GROUP, "", heps_texts["leaf03"], flags=re.MULTILINE)
    texts = write_texts({**heps_texts, "leaf03": text}, tmp_path / "texts")
    (found,) = findings_of(rocefort, "check", "--configs", texts, "--select", "TXT203")
    assert found.message.startswith(
        "peer 10.1.0.32: group is not set (keepalive_s is 60 for 10, hold_s is 180 for 30, "
        "bfd is not set for min_tx_ms=300 min_rx_ms=300 multiplier=3 and export_policy is not set "
        "for EXPORT) here, and SPINE at"
    )


def test_a_peer_with_the_lines_of_the_group_is_like_its_members(
    rocefort: Rocefort, heps_texts: Mapping[str, str], tmp_path: Path
) -> None:
    text = re.sub(IN_GROUP, "", heps_texts["leaf03"], flags=re.MULTILINE)
    text = text.replace(PLAIN, f"{OWN}{PLAIN}", 1)
    text = text.replace(POLICY, f"{POLICY}  peer 10.1.0.32 route-policy EXPORT export\n", 1)
    texts = write_texts({**heps_texts, "leaf03": text}, tmp_path / "texts")
    assert findings_of(rocefort, "check", "--configs", texts, "--select", "TXT203") == []


def test_an_unused_port_and_a_description_are_information(rocefort: Rocefort, saved: Saved) -> None:
    unused = "lldp enable\n#\ninterface 100GE1/0/40\n description free\n shutdown\n#"
    rack = "description to daisygn02, rack 7"
    texts = saved(
        Line("leaf03", "", "lldp enable", unused),
        Line("leaf03", "interface 100GE1/0/2", "description to daisygn02", rack),
    )
    ran = rocefort("check", "heps", "--configs", texts, "--select", "TXT202")
    assert "INFO TXT202" in ran.out
    assert "0 errors, 0 warnings, 2 info" in ran.words


def test_limits_in_cells_are_those_in_bytes() -> None:
    cells = DropLimits(low=64, high=128, percent=10, unit="cells")
    limits = DropLimits(low=64 * 320, high=128 * 320, percent=10, unit="bytes")
    family = load_catalogue().families["v300-g2"]
    one, other = in_one_spelling(
        (Device(name="a", drop_profiles=(DropProfile(name="p", ecn=ecn),)), family)
        for ecn in (cells, limits)
    )
    assert one == other


def test_default_timers_that_a_group_states_are_no_difference() -> None:
    stated = BgpGroup(name="SPINE", keepalive_s=60, hold_s=180, bfd=Bfd())
    one, other = in_one_spelling(
        (Device(name="a", bgp=Bgp(asn=65000, groups=(group,))), None)
        for group in (stated, BgpGroup(name="SPINE"))
    )
    assert one == other


def test_a_peer_keeps_the_default_that_its_group_has_not() -> None:
    group = BgpGroup(name="SPINE", keepalive_s=10, hold_s=30)
    peer = BgpPeer(address=IPv4Address("10.1.0.1"), group="SPINE", keepalive_s=60, hold_s=180)
    device = Device(name="a", bgp=Bgp(asn=65000, groups=(group,), peers=(peer,)))
    assert in_one_spelling([(device, None)]) == [device]


def test_another_number_of_a_gateway_is_a_finding(rocefort: Rocefort, saved: Saved) -> None:
    old, new = (f"ip address 10.65.2.{n} 255.255.255.0" for n in (1, 254))
    texts = saved(Line("leaf03", "interface Vlanif120", old, new))
    (found,) = findings_of(rocefort, "check", "--configs", texts, "--select", "TXT203")
    assert (found.switch, found.message.partition(",")[0]) == (
        "leaf03",
        "addresses.host is 254 here",
    )


def test_another_mask_of_a_gateway_is_named(rocefort: Rocefort, saved: Saved) -> None:
    masks = ("255.255.255.0", "255.255.254.0")
    lines = (f"ip address 10.65.3.1 {mask}" for mask in masks)
    texts = saved(Line("leaf04", "interface Vlanif120", *lines))
    (found,) = findings_of(rocefort, "check", "--configs", texts, "--select", "TXT203")
    assert found.switch == "leaf04"
    assert found.message.startswith(
        "the address has a mask of 23 bits here (host 257), and of 24 bits (host 1) at "
    )
