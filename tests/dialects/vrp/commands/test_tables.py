"""Routing tables of their own and static routes: read, written, patched, executed, translated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv4Network

import pytest
from canonical import canonical

from rocefort.base.errors import BadInput, Refused
from rocefort.dialects.eos import render_eos
from rocefort.dialects.vrp.dialect import DISRUPTS
from rocefort.dialects.vrp.interpreter.execute import VrpRefusal
from rocefort.dialects.vrp.interpreter.interpreter import apply_lines
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.dialects.vrp.render import render
from rocefort.dialects.vrp.text.config_tree import parse_tree
from rocefort.models.change.compare import classify, compare
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.device.routing import StaticRoute, Vrf
from rocefort.models.hardware.hardware import SyntaxFamily

G1 = SyntaxFamily.V300_G1
MeaningOf = Callable[[str, Sequence[str], SyntaxFamily], frozenset[tuple[str, ...]]]

PUBLIC = """#
sysname a
#
interface MEth0/0/0
 ip address 10.255.0.1 255.255.255.0
 ip address 10.254.0.1 255.255.255.0 sub
#
ip route-static 0.0.0.0 0.0.0.0 10.255.0.254
ip route-static 10.0.0.0 255.0.0.0 NULL0 preference 70 description hold all
#
ntp unicast-server 10.250.0.1
#
info-center loghost 10.250.0.2
#
return
"""
OWN = """#
sysname a
#
ip vpn-instance MGMT
 ipv4-family
#
interface MEth0/0/0
 ip binding vpn-instance MGMT
 ip address 10.255.0.1 255.255.255.0
#
ip route-static 10.0.0.0 255.0.0.0 NULL0
ip route-static vpn-instance MGMT 0.0.0.0 0.0.0.0 10.255.0.254
#
ntp unicast-server 10.250.0.1 vpn-instance MGMT
#
info-center loghost 10.250.0.2 vpn-instance MGMT
#
return
"""
OTHER = OWN.replace("MGMT", "OOB").replace("10.255.0.1 ", "10.255.0.2 ")
TEXTS = {"public": PUBLIC, "own": OWN, "other": OTHER}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("family", SyntaxFamily)
def test_the_text_is_read_and_written_back(text: str, family: SyntaxFamily) -> None:
    parsed = parse(text, "a.cfg")
    assert parsed.unmodelled == ()
    again = render(parsed.device, family, "ce8851")
    assert parse(again, "b.cfg").device == parsed.device
    assert set(again.splitlines()) == set(text.splitlines())


def test_what_it_says_and_where() -> None:
    parsed = parse(OWN, "a.cfg")
    device = parsed.device
    assert device.vrfs == (Vrf(name="MGMT", ipv4=True),)
    assert device.by_interface["MEth0/0/0"].vrf == "MGMT"
    assert device.static_routes == (
        StaticRoute(prefix=IPv4Network("10.0.0.0/8")),
        StaticRoute(
            prefix=IPv4Network("0.0.0.0/0"), next_hop=IPv4Address("10.255.0.254"), vrf="MGMT"
        ),
    )
    assert (device.ntp_vrf, device.syslog.vrf) == ("MGMT", "MGMT")
    assert parsed.lines["static_routes[MGMT 0.0.0.0/0 10.255.0.254]"] == 12


def test_the_default_preference_is_not_said() -> None:
    text = "sysname a\nip route-static 10.0.0.0 8 NULL 0 preference 60\n"
    assert parse(text, "a.cfg").device.static_routes == (
        StaticRoute(prefix=IPv4Network("10.0.0.0/8")),
    )


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("ip route-static 10.0.0.1 8 NULL0", "10.0.0.1 has bits beyond the mask 8"),
        ("ip route-static 10.0.0.0 8 NULL0 preference 256", "preference 256"),
        ("ip route-static 10.0.0.0 8 10.0.0.300", "10.0.0.300 is not an IPv4 address"),
    ],
)
def test_an_argument_that_no_route_has_is_refused_with_its_line(line: str, sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse(f"sysname a\n{line}\n", "a.cfg")
    assert str(caught.value).startswith(f"a.cfg:2: {sentence}")


@pytest.mark.parametrize(
    "line",
    [
        "ip route-static 10.0.0.0 8 Vlanif10 10.2.0.9",
        "ip route-static 10.0.0.0 8 10.2.0.9 tag 7",
        "ip route-static 10.0.0.0 8 vpn-instance T 10.2.0.9",
    ],
)
def test_a_route_with_more_than_the_model_says_is_kept(line: str) -> None:
    parsed = parse(f"sysname a\n{line}\n", "a.cfg")
    assert [at.text for at in parsed.unmodelled] == [line]
    assert parsed.device.static_routes == ()


def test_servers_in_two_tables_are_more_than_a_device_says() -> None:
    text = "sysname a\nntp unicast-server 10.0.0.1\nntp unicast-server 10.0.0.2 vpn-instance M\n"
    parsed = parse(text, "a.cfg")
    assert [at.line for at in parsed.unmodelled] == [3]
    assert parsed.device.ntp_servers == (IPv4Address("10.0.0.1"),)


@pytest.mark.parametrize("was", TEXTS)
@pytest.mark.parametrize("will", TEXTS)
def test_a_patch_leads_there_and_back(meaning: MeaningOf, was: str, will: str) -> None:
    running, intended = (
        render(parse(TEXTS[name], name).device, G1, "ce8851") for name in (was, will)
    )
    patch = make_patch(running, intended, G1)
    assert meaning(running, patch.commands, G1) == meaning(intended, (), G1)
    assert meaning(intended, patch.reverse, G1) == meaning(running, (), G1)


def test_addresses_are_said_again_behind_the_binding() -> None:
    running, intended = (render(parse(t, "a").device, G1, "ce8851") for t in (PUBLIC, OWN))
    commands = make_patch(running, intended, G1).commands
    assert [line.strip() for line in commands[:7]] == [
        "ip vpn-instance MGMT",
        "ipv4-family",  # a view of its own
        "quit",
        "quit",
        "interface MEth0/0/0",
        "ip binding vpn-instance MGMT",
        "ip address 10.255.0.1 255.255.255.0",
    ]


def _after(text: str, *commands: str) -> set[str]:
    config = apply_lines(canonical(parse_tree(text), G1), commands, G1)
    return {" / ".join((*path, line.text)) for top in config for path, line in top.walk()}


def test_a_binding_takes_the_addresses_away_coming_and_going() -> None:
    new = ("ip vpn-instance X", "quit", "interface MEth0/0/0", "ip binding vpn-instance X")
    assert not [line for line in _after(PUBLIC, *new) if "ip address" in line]
    gone = ("interface MEth0/0/0", "undo ip binding vpn-instance MGMT")
    assert not [line for line in _after(OWN, *gone) if "ip address" in line]
    none = ("interface MEth0/0/0", "undo ip binding vpn-instance X")  # it has no such binding
    assert [line for line in _after(OWN, *none) if "ip address" in line]


def test_a_table_that_goes_takes_all_that_is_in_it() -> None:
    remaining = _after(OWN, "undo ip vpn-instance MGMT")
    assert not [
        x for x in remaining if "binding" in x or "ip address" in x or "0.0.0.0 0.0.0.0" in x
    ]
    assert "ip route-static 10.0.0.0 255.0.0.0 NULL0" in remaining


def test_a_route_is_undone_by_its_next_hop_or_all_of_its_prefix() -> None:
    second = "ip route-static 0.0.0.0 0.0.0.0 10.255.0.253 preference 70"
    one = _after(PUBLIC, second, "undo ip route-static 0.0.0.0 0 10.255.0.253")
    assert {x for x in one if "route-static 0.0.0.0" in x} == {
        "ip route-static 0.0.0.0 0.0.0.0 10.255.0.254"
    }
    both = _after(PUBLIC, second, "undo ip route-static 0.0.0.0 0")
    assert not {x for x in both if "route-static 0.0.0.0" in x}


@pytest.mark.parametrize(
    "commands",
    [
        ("interface MEth0/0/0", "ip binding vpn-instance NONE"),
        ("ip route-static vpn-instance NONE 0.0.0.0 0 10.255.0.254",),
    ],
)
def test_a_table_must_be_made_first(commands: tuple[str, ...]) -> None:
    with pytest.raises(VrpRefusal) as caught:
        _after(PUBLIC, *commands)
    assert caught.value.message == "Error: NONE does not exist."


def test_moving_to_another_table_is_felt() -> None:
    running, intended = (parse(text, "a").device for text in (PUBLIC, OWN))
    _, reasons = classify(compare(running, intended), (), DISRUPTS)
    assert "MEth0/0/0 moves to another routing table: sessions over it break" in reasons
    assert "the static route 0.0.0.0/0 10.255.0.254 goes or changes" in reasons
    new = "MGMT 0.0.0.0/0 10.255.0.254"
    assert f"the default route {new} attracts all traffic that no other route does" in reasons


def test_in_eos_words() -> None:
    text = render_eos(parse(OWN, "a").device)
    for line in (
        "vrf instance VRF-MGMT",
        "ip routing vrf VRF-MGMT",
        "   vrf VRF-MGMT",
        "ip route 10.0.0.0/8 Null0 60",
        "ip route vrf VRF-MGMT 0.0.0.0/0 10.255.0.254 60",
    ):
        assert line in text.splitlines()


def test_what_eos_cannot_say_of_tables_is_refused() -> None:
    route = StaticRoute(prefix=IPv4Network("10.0.0.0/8"), preference=200)
    device = Device(
        name="a",
        interfaces=(Interface(name="MEth0/0/0", vrf="NONE"),),
        static_routes=(route,),
    )
    with pytest.raises(Refused) as caught:
        render_eos(device)
    assert str(caught.value).splitlines() == [
        "a MEth0/0/0: vpn-instance NONE does not exist; define it with `ip vpn-instance`",
        "a ip route-static 10.0.0.0/8 NULL0: preference 200 is not below that of BGP in EOS; "
        "use a preference below 200",
    ]
