"""The laws of text and patches hold for a dialect other than VRP, chosen by its family's data."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface
from pathlib import Path

import pytest
import tiny_dialect
from hypothesis import given
from hypothesis import strategies as st

from rocefort.base.errors import BadInput
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.syntax_families import read_families
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface, InterfacePfc
from rocefort.models.device.routing import Bgp, BgpPeer

(FAMILY,) = read_families(Path(tiny_dialect.__path__[0])).values()
TINY = dialect_of(FAMILY)

ADDRESSES = st.integers(min_value=1, max_value=6).map(lambda n: IPv4Address(f"10.0.0.{n}"))
PORTS = st.builds(
    Interface,
    name=st.sampled_from(["100GE1/0/1", "100GE1/0/2", "LoopBack0"]),
    description=st.none() | st.sampled_from(["spine01 100GE1/0/1", "free"]),
    mtu=st.none() | st.sampled_from([1500, 9216]),
    routed=st.booleans(),
    enabled=st.booleans(),
    addresses=st.lists(
        ADDRESSES.map(lambda address: IPv4Interface(f"{address}/31")), max_size=2, unique=True
    ).map(tuple),
)
BGP = st.builds(
    Bgp,
    asn=st.sampled_from([65000, 65001]),
    peers=st.dictionaries(ADDRESSES, st.sampled_from([65000, 65101]), max_size=3).map(
        lambda peers: tuple(BgpPeer(address=a, asn=n, active=True) for a, n in peers.items())
    ),
)
DEVICES = st.builds(
    Device,
    name=st.just("leaf01"),
    vlans=st.sets(st.sampled_from([10, 20, 30])).map(tuple),
    interfaces=st.lists(PORTS, max_size=3, unique_by=lambda port: port.name).map(tuple),
    bgp=st.none() | BGP,
)


@given(DEVICES)
def test_what_is_written_is_read_back(device: Device) -> None:
    text = TINY.render(device, FAMILY)
    parsed = TINY.parse(text, "leaf01.cfg")
    assert parsed.device == device
    assert not parsed.unmodelled
    assert TINY.render(parsed.device, FAMILY) == text


@given(DEVICES, DEVICES)
def test_a_patch_leads_there_and_back(old: Device, new: Device) -> None:
    before, after = (TINY.render(device, FAMILY) for device in (old, new))
    patch = TINY.patch(before, after, FAMILY)
    there = TINY.applied(before, patch.commands, FAMILY)
    assert TINY.parse(there, "there").device == new
    assert TINY.parse(TINY.applied(there, patch.reverse, FAMILY), "back").device == old
    assert bool(patch.commands) == (before != after)


def test_what_it_cannot_say_is_refused() -> None:
    port = Interface(name="100GE1/0/1", pfc=InterfacePfc())
    with pytest.raises(BadInput, match=r"^leaf01: TinyOS has no commands for all of it$"):
        TINY.render(Device(name="leaf01", interfaces=(port,)), FAMILY)
