"""Rendering of VRP text: the forms of each family, and refusals of other values by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.network_text import render_node
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.render import render, template_of
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface, InterfacePfc, OtherThreshold, PfcThreshold
from rocefort.models.device.lossless_queue import DiffservDomain, Pfc, PfcProfile, PfcTimer
from rocefort.models.device.management import LocalUser
from rocefort.models.device.routing import Bgp, BgpGroup, BgpPeer, PrefixList, RoutePolicy
from rocefort.models.hardware.hardware import SyntaxFamily

V200, G1, G2 = SyntaxFamily.V200, SyntaxFamily.V300_G1, SyntaxFamily.V300_G2
FAMILY = {V200: "ce9860", G1: "ce8851", G2: "ce8855"}


def write(device: Device, family: SyntaxFamily) -> str:
    return render(device, family, FAMILY[family])


def queue_timer(detect: int | None, recovery: int | None) -> Device:
    timer = PfcTimer(queue=4, detect_time=detect, recovery_time=recovery)
    return Device(name="a", pfc=Pfc(profiles=(PfcProfile(timers=(timer,)),)))


def threshold(xon: int, xoff: int, headroom: int | None = None) -> Device:
    row = PfcThreshold(queue=4, xon_kbytes=xon, xoff_kbytes=xoff, headroom_kbytes=headroom)
    return with_port(Interface(name="100GE1/0/1", thresholds=(row,)))


BESIDE_XOFF = "only V300 G1 has xon next to xoff; correct xon"


def other(unit: Literal["cells", "alpha"], *, both: bool = False, **values: int) -> Device:
    """A port whose queue 4 has thresholds other than kbytes, or of both kinds."""
    row = OtherThreshold(queue=4, unit=unit, xoff=6, **values)
    kbytes = (PfcThreshold(queue=4, xon_kbytes=1, xoff_kbytes=2),) if both else ()
    port = Interface(name="100GE1/0/1", thresholds=kbytes, other_thresholds=(row,))
    return with_port(port)


def with_port(port: Interface) -> Device:
    return Device(name="a", interfaces=(port,))


def with_bgp(*, groups: tuple[BgpGroup, ...] = (), peers: tuple[BgpPeer, ...] = ()) -> Device:
    return Device(name="a", bgp=Bgp(asn=1, groups=groups, peers=peers))


@pytest.mark.parametrize(
    ("device", "family", "lines"),
    [
        (threshold(550, 600), G1, ["xon static 550 kbytes xoff static 600 kbytes"]),
        (threshold(550, 600), G2, ["xoff static 600 kbytes xon offset 50 kbytes"]),
        (threshold(550, 600), V200, ["xoff static 600 kbytes xon offset 50 kbytes"]),
        (
            threshold(550, 600, 256),
            G2,
            ["xoff static 600 kbytes xon offset 50 kbytes", "hdrm 256 kbytes"],
        ),
        (other("cells"), V200, ["xoff static 6 cells"]),
        (other("alpha"), V200, ["xoff dynamic 6"]),
        (other("alpha", offset_kbytes=9), G2, ["xoff dynamic 6 xon offset 9 kbytes"]),
        (other("alpha", xon=3), G1, ["xon dynamic 3 xoff dynamic 6"]),
    ],
)
def test_thresholds_in_the_family_form(
    device: Device, family: SyntaxFamily, lines: list[str]
) -> None:
    start = " dcb pfc buffer 4 "
    written = [t for t in write(device, family).splitlines() if t.startswith(start)]
    assert written == [start + line for line in lines]


@pytest.mark.parametrize(
    ("family", "lines"),
    [
        (V200, [" priority 4 deadlock-detect time 10 deadlock-recovery time 15"]),
        (G2, [" priority 4 deadlock-detect time 10", " priority 4 deadlock-recovery time 15"]),
    ],
)
def test_queue_timers_in_the_family_form(family: SyntaxFamily, lines: list[str]) -> None:
    written = write(queue_timer(10, 15), family).splitlines()
    assert [line for line in written if "deadlock" in line] == lines


@pytest.mark.parametrize(
    ("device", "family", "sentence"),
    [
        (
            Device(name="a", pfc=Pfc(detect_ms=100)),
            V200,
            "a: pfc.detect_ms on v200: no `dcb pfc deadlock-detect timer`; "
            "give detect_time per queue",
        ),
        (
            Device(name="a", pfc=Pfc(recovery_ms=100)),
            G2,
            "a: pfc.recovery_ms on v300-g2: no `dcb pfc deadlock-recovery timer`; "
            "give recovery_time per queue",
        ),
        (
            Device(name="a", pfc=Pfc(interval_ms=100)),
            G1,
            "a: pfc.interval_ms on v300-g1: no `dcb pfc deadlock-detect interval`",
        ),
        *(
            (device, family, f"a: interfaces[100GE1/0/1].other_thresholds[4] on {family}: {why}")
            for device, family, why in (
                (other("cells"), G2, "no thresholds in cells; give kbytes or a share"),
                (other("alpha"), G1, BESIDE_XOFF),
                (other("alpha", xon=3), V200, BESIDE_XOFF),
                (other("alpha", xon=3, offset_kbytes=9), G1, "no xon offset; give xon"),
                (
                    other("alpha", both=True),
                    V200,
                    "this queue has thresholds in kbytes, too; keep one of the two",
                ),
            )
        ),
        (
            Device(name="a", pfc=Pfc(dscp_mapping=True)),
            G1,
            "a: pfc.dscp_mapping on v300-g1: no `dcb pfc dscp-mapping enable slot ..`",
        ),
        (
            Device(name="a", pfc=Pfc(headroom_pool_kbytes=64)),
            V200,
            "a: pfc.headroom_pool_kbytes on v200: no `qos buffer headroom-pool size`",
        ),
        (
            queue_timer(10, 10),
            G1,
            "a: pfc.profiles[default].timers[4].detect_time on v300-g1: no `priority .. "
            "deadlock-detect`; give detect_ms for the whole switch\n"
            "a: pfc.profiles[default].timers[4].recovery_time on v300-g1: no `priority .. "
            "deadlock-recovery`; give recovery_ms for the whole switch",
        ),
        (
            queue_timer(10, None),
            V200,
            "a: pfc.profiles[default].timers[4] on v200: one line sets both times; "
            "give detect_time and recovery_time",
        ),
        (
            queue_timer(None, None),
            G2,
            "a: pfc.profiles[default].timers[4] on v300-g2: a timer without a time; "
            "give detect_time or recovery_time",
        ),
        (
            threshold(550, 600, 256),
            G1,
            "a: interfaces[100GE1/0/1].thresholds[4].headroom_kbytes on v300-g1: "
            "no `dcb pfc buffer .. hdrm`",
        ),
        (
            threshold(601, 600),
            G2,
            "a: interfaces[100GE1/0/1].thresholds[4] on v300-g2: "
            "xon above xoff cannot be an offset; lower xon_kbytes",
        ),
        (
            with_port(Interface(name="100GE1/0/1", routed=True, trust_dscp=True)),
            G1,
            "a: interfaces[100GE1/0/1].trust_dscp on v300-g1: a routed port has no `trust dscp`; "
            "it trusts DSCP already",
        ),
        (
            with_port(Interface(name="100ge 1/0/1")),
            G1,
            "a: interfaces[100ge 1/0/1] on v300-g1: not an interface name as a switch saves it; "
            "use 100GE1/0/1",
        ),
        (
            Device(name="a", domains=(DiffservDomain(name="none"),)),
            G1,
            "a: domains[none] on v300-g1: `trust upstream none` names no domain; rename it",
        ),
        (
            with_port(Interface(name="100GE1/0/1", pfc=InterfacePfc(profile="mode"))),
            G1,
            "a: interfaces[100GE1/0/1].pfc on v300-g1: `mode` is a keyword; rename the profile",
        ),
        (
            with_bgp(peers=(BgpPeer(address="10.0.0.1", description="b"),)),
            G1,
            "a: bgp.peers[10.0.0.1] on v300-g1: a peer without AS and group; give asn or group",
        ),
        (
            with_bgp(groups=(BgpGroup(name="G", hold_s=30),)),
            G1,
            "a: bgp.groups[G] on v300-g1: one line sets keepalive and hold time; "
            "give keepalive_s and hold_s",
        ),
        (
            with_bgp(groups=(BgpGroup(name="10.0.0.1"),)),
            G1,
            "a: bgp.groups[10.0.0.1] on v300-g1: reads as a peer's address; use another name",
        ),
        (
            Device(name="a", prefix_lists=(PrefixList(name="L"),)),
            G1,
            "a: prefix_lists[L] on v300-g1: it is empty, so no line would create it; "
            "give it an entry",
        ),
        (
            Device(name="a", route_policies=(RoutePolicy(name="R"),)),
            G1,
            "a: route_policies[R] on v300-g1: it is empty, so no line would "
            "create it; give it a node",
        ),
        (
            Device(name="a", users=(LocalUser(name="u"),)),
            G1,
            "a: users[u] on v300-g1: it is empty, so no line would create it; "
            "give it a service type or a level",
        ),
    ],
)
def test_what_a_family_cannot_say_is_refused(
    device: Device, family: SyntaxFamily, sentence: str
) -> None:
    with pytest.raises(BadInput) as refused:
        write(device, family)
    assert str(refused.value) == sentence


def test_all_that_cannot_be_said_is_reported_together() -> None:
    device = Device(name="a", pfc=Pfc(interval_ms=100, dscp_mapping=True))
    with pytest.raises(BadInput) as refused:
        write(device, G1)
    assert len(refused.value.problems) == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda bad: with_port(Interface(name="100GE1/0/1", description=bad)),
        lambda bad: with_bgp(peers=(BgpPeer(address="10.0.0.1", asn=1, description=bad),)),
    ],
)
@pytest.mark.parametrize(
    "bad", ["x\n shutdown", "x\r shutdown", "", " x", "x ", "x  y", "x\ty", "x\x85y", "x\x1b[A"]
)
def test_free_text_stays_one_argument(make: Callable[[str], Device], bad: str) -> None:
    with pytest.raises(BadInput, match=r"\.?description on v300-g1: .* cannot stand in a config"):
        write(make(bad), G1)


@pytest.mark.parametrize("bad", ["x\nreboot", "x y", "", "имя"])
def test_names_stay_one_word(bad: str) -> None:
    for device in (
        Device(name=bad),
        with_bgp(groups=(BgpGroup(name=bad),)),
        Device(name="a", users=(LocalUser(name=bad, level=3),)),
    ):
        with pytest.raises(BadInput, match="cannot stand in a configuration line"):
            write(device, G1)


def test_an_unknown_template_names_the_known_ones() -> None:
    with pytest.raises(BadInput) as refused:
        render(Device(name="a"), G1, "ce1234")
    assert str(refused.value) == (
        "a: no VRP template 'ce1234'; use one of ce12800, ce6865, ce6866, ce8850, ce8851, ce8855, "
        "ce9860"
    )


@pytest.mark.parametrize("template", ["ce6865", "ce6866", "ce8850", "ce8851", "ce8855", "ce9860"])
@pytest.mark.parametrize("family", SyntaxFamily)
def test_every_template_says_every_family(family: SyntaxFamily, template: str) -> None:
    device = Device(name="a", lldp=True)
    assert render(device, family, template) == "#\nsysname a\n#\nlldp enable\n#\nreturn\n"


def test_a_group_peer_has_the_lines_that_the_switch_adds() -> None:
    """Otherwise every plan would undo them."""
    device = with_bgp(
        groups=(BgpGroup(name="G", asn=2, active=True),),
        peers=(BgpPeer(address="10.0.0.1", group="G", active=True),),
    )
    assert write(device, G1) == (
        "#\nsysname a\n#\nbgp 1\n"
        " group G external\n peer G as-number 2\n peer 10.0.0.1 group G\n"
        " #\n ipv4-family unicast\n"
        "  peer G enable\n  peer 10.0.0.1 enable\n  peer 10.0.0.1 group G\n#\nreturn\n"
    )


def test_growth_adds_lines_and_changes_none() -> None:
    """Law 3 for lists: one more VLAN, on the switch and on a trunk, is one more line each."""
    ports = [
        Interface(name="100GE1/0/1", link_type="trunk", trunk_vlans=vlans)
        for vlans in ((10, 30), (10, 20, 30))
    ]
    small = write(Device(name="a", vlans=(10, 30), interfaces=(ports[0],)), G1).splitlines()
    large = write(Device(name="a", vlans=(10, 20, 30), interfaces=(ports[1],)), G1).splitlines()
    added = [line for line in large if line not in small]
    assert added == ["vlan batch 20", " port trunk allow-pass vlan 20"]
    assert [line for line in large if line in small] == small


def test_every_switch_of_heps_reads_back(heps: DerivedNetwork) -> None:
    for node in heps.network.nodes:
        assert node.family is not None
        assert node.hardware is not None
        text = render(node.device, node.family.syntax, template_of(node.hardware))
        parsed = parse(text, f"{node.name}.cfg")
        assert (parsed.device, parsed.unmodelled) == (node.device, ())


def test_hardware_without_a_template_is_one_error(heps: DerivedNetwork) -> None:
    """It was rendered as a CE8850, which has only the family's settings."""
    node = heps.network.by_name["leaf03"]
    assert node.hardware is not None
    hardware = node.hardware.model_copy(update={"template": None})
    with pytest.raises(BadInput) as caught:
        render_node(node.model_copy(update={"hardware": hardware}))
    assert str(caught.value) == (
        "hardware CE8851-32CQ8DQ-P: template: null, and VRP is written by a template; name one of "
        "ce12800, ce6865, ce6866, ce8850, ce8851, ce8855, ce9860"
    )
