"""Normal form of a Device: without the default values of its family, and only those."""

from __future__ import annotations

from typing import Any

import pytest
from canonical import canonical
from hypothesis import given
from hypothesis import strategies as st

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.load.documents import load_catalogue
from rocefort.dialects.vrp.interpreter.interpreter import replay
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.render import render, template_of
from rocefort.dialects.vrp.text.config_tree import parse_tree, tree_text
from rocefort.models.device.device import Device, without_defaults
from rocefort.models.device.interface import Interface
from rocefort.models.device.lossless_queue import DiffservDomain, DscpMap, Pfc, PfcProfile, PfcTimer
from rocefort.models.hardware.hardware import Family, SyntaxFamily
from rocefort.models.network.network import Node

FAMILIES = load_catalogue().families
G1, G2, V200 = (FAMILIES[SyntaxFamily(name)] for name in ("v300-g1", "v300-g2", "v200"))


def device(mtu: int | None = None, timer: PfcTimer | None = None, **pfc: Any) -> Device:
    profile = PfcProfile(queues=(4,), timers=(timer,) if timer else ())
    ports = (
        Interface(name="100GE1/0/1", routed=True, mtu=mtu),
        Interface(name="Vlanif10", mtu=mtu),
    )
    return Device(name="leaf01", interfaces=ports, pfc=Pfc(profiles=(profile,), **pfc))


TABLE: list[tuple[Family, Device, Device]] = [
    # The MTU of every family is 1500 without a line; 1501 is a line.
    (G1, device(mtu=1500), device()),
    (V200, device(mtu=1500), device()),
    (G2, device(mtu=1501), device(mtu=1501)),
    (G2, device(mtu=9000), device(mtu=9000)),
    # G1: milliseconds, 100 of both by default, each on its own.
    (G1, device(detect_ms=100, recovery_ms=100), device()),
    (G1, device(detect_ms=100, recovery_ms=101), device(recovery_ms=101)),
    (G1, device(detect_ms=10), device(detect_ms=10)),
    # G2: multiples, 10 of both by default, of an interval of 10 ms by default.
    (G2, device(interval_ms=10), device()),
    (G2, device(interval_ms=100), device(interval_ms=100)),
    (G2, device(timer=PfcTimer(queue=4, detect_time=10, recovery_time=10)), device()),
    (
        G2,
        device(timer=PfcTimer(queue=4, detect_time=10, recovery_time=9)),
        device(timer=PfcTimer(queue=4, recovery_time=9)),
    ),
    (
        G2,
        device(interval_ms=100, timer=PfcTimer(queue=4, detect_time=1, recovery_time=10)),
        device(interval_ms=100, timer=PfcTimer(queue=4, detect_time=1)),
    ),
    # V200: no default is confirmed, so no value is left out.
    (
        V200,
        device(timer=PfcTimer(queue=4, detect_time=10, recovery_time=10)),
        device(timer=PfcTimer(queue=4, detect_time=10, recovery_time=10)),
    ),
    # The paused queues are stated, although `priority 4` alone would leave queue 3 on.
    (G1, device(), device()),
]


@pytest.mark.parametrize(("family", "intended", "saved"), TABLE)
def test_what_holds_anyway_is_not_said(family: Family, intended: Device, saved: Device) -> None:
    assert without_defaults(intended, family) == saved


@pytest.mark.parametrize(
    ("port", "stays"),
    [
        (Interface(name="100GE1/0/1"), False),
        (Interface(name="MEth0/0/0"), False),
        (Interface(name="NULL0"), False),
        (Interface(name="100GE1/0/1", mtu=1500), False),
        (Interface(name="100GE1/0/1", enabled=False), True),
        (Interface(name="100GE1/0/1.10"), True),
        (Interface(name="Vlanif10"), True),
        (Interface(name="Eth-Trunk7"), True),
    ],
)
def test_a_port_of_which_nothing_is_said_is_there_anyway(port: Interface, stays: bool) -> None:
    saved = without_defaults(Device(name="leaf01", interfaces=(port,)), G1)
    assert len(saved.interfaces) == stays
    assert without_defaults(saved, G1) == saved


def test_the_built_in_domain_is_there_anyway_unless_it_maps_anything() -> None:
    mapped = DiffservDomain(name="default", dscp=(DscpMap(value=26, phb="af4"),))
    for family in (V200, G1, G2):
        for domain, expected in ((DiffservDomain(name="default"), ()), (mapped, (mapped,))):
            device = Device(name="leaf01", domains=(domain,))
            assert without_defaults(device, family).domains == expected


def test_telnet_is_off_without_a_line_where_it_has_no_source() -> None:
    device = Device(name="leaf01", telnet_off=("ipv4", "ipv6"))
    assert without_defaults(device, V200).telnet_off == ("ipv4", "ipv6")
    assert without_defaults(device, G1).telnet_off == without_defaults(device, G2).telnet_off == ()


def test_vlan_1_is_there_anyway_and_no_patch_deletes_it() -> None:
    assert without_defaults(Device(name="leaf01", vlans=(1, 10)), G1).vlans == (10,)
    access, trunk = (
        without_defaults(Device(name="leaf01", interfaces=(port,)), G1).interfaces[0]
        for port in (
            Interface(name="100GE1/0/1", edge=True, access_vlan=1),
            Interface(name="100GE1/0/1", link_type="trunk", trunk_vlans=(1, 10)),
        )
    )
    assert (access.access_vlan, trunk.trunk_vlans) == (None, (10,))


small = st.none() | st.integers(1, 15)
times = st.none() | st.sampled_from([10, 99, 100, 101, 1500])


@given(
    st.sampled_from([G1, G2, V200]),
    st.none() | st.sampled_from([1500, 9000]),
    st.builds(PfcTimer, queue=st.just(4), detect_time=small, recovery_time=small),
    times,
    times,
    st.none() | st.sampled_from([10, 100]),
)
def test_the_without_defaults_has_no_further_without_defaults(
    family: Family,
    mtu: int | None,
    timer: PfcTimer,
    detect_ms: int | None,
    recovery_ms: int | None,
    interval_ms: int | None,
) -> None:
    intended = device(
        mtu, timer, detect_ms=detect_ms, recovery_ms=recovery_ms, interval_ms=interval_ms
    )
    once = without_defaults(intended, family)
    assert without_defaults(once, family) == once
    assert Device.model_validate(once.model_dump()) == once


def test_what_heps_derives_is_in_without_defaults(heps: DerivedNetwork) -> None:
    for node in heps.network.nodes:
        assert node.family
        assert without_defaults(node.device, node.family) == node.device


def said_aloud(node: Node) -> Device:
    """Return the Device with every default of its family as a value, as a person might type it."""
    family, device = node.family, node.device
    assert family
    ms, interval, time = (
        fact.value if fact else None
        for fact in (
            family.deadlock_default_ms,
            family.deadlock_interval_ms,
            family.deadlock_default_time,
        )
    )
    timers = (PfcTimer(queue=4, detect_time=time, recovery_time=time),) if time else None
    profiles = tuple(
        p.model_copy(update={"timers": timers or p.timers}) for p in device.pfc.profiles
    )
    update = {"detect_ms": ms, "recovery_ms": ms, "interval_ms": interval, "profiles": profiles}
    ports = tuple(
        i.model_copy(update={"mtu": 1500})
        if i.layer3 and i.mtu is None and i.kind == "ethernet"
        else i
        for i in device.interfaces
    )
    pfc = device.pfc.model_copy(update=update)
    return device.model_copy(update={"pfc": pfc, "interfaces": ports})


def test_a_switch_saves_exactly_the_without_defaults(heps: DerivedNetwork) -> None:
    """The VRP interpreter drops exactly the values that the normal form leaves out."""
    seen = set()
    for node in heps.network.nodes:
        assert node.family
        assert node.hardware
        syntax, template = node.family.syntax, template_of(node.hardware)
        seen.add(syntax)
        text = render(said_aloud(node), syntax, template)
        loaded, refusals = replay(parse_tree(text), syntax)
        assert refusals == ()
        for saved in (canonical(parse_tree(text), syntax), loaded):
            parsed = parse(tree_text(saved), f"{node.name}.cfg")
            assert parsed.unmodelled == ()
            assert parsed.device == without_defaults(said_aloud(node), node.family) == node.device
    assert seen == {SyntaxFamily.V200, SyntaxFamily.V300_G1}
