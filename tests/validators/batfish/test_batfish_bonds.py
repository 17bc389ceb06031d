"""A bonded server: the embedded engine and a running Batfish agree, without a warning."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from rocefort.models.device.device import Device
from rocefort.models.device.interface import Bond, Interface
from rocefort.models.device.packet_filters import Flow
from rocefort.models.network.network import End, Network
from rocefort.validators.batfish.batfish_engine import ask
from rocefort.validators.routing.engine import analyse
from rocefort.validators.rules.verification.engine_difference import disagreements

Clos = Callable[..., Network]
PORTS = ("25GE1/0/1", "25GE1/0/2")


def bundle(number: int, bond: Bond, down: tuple[str, ...], **fields: Any) -> Callable[..., Any]:
    """An edit of leaf1: its server's port and another in an Eth-Trunk."""

    def edit(device: Device) -> Device:
        members = [Interface(name=p, eth_trunk=number, enabled=p not in down) for p in PORTS]
        trunk = Interface(name=f"Eth-Trunk{number}", bond=bond, **({"access_vlan": 110} | fields))
        others = [i for i in device.interfaces if i.name not in PORTS]
        kept = {name: getattr(device, name) for name in Device.model_fields}
        return Device(**{**kept, "interfaces": (*others, *members, trunk)})

    return edit


def bonded(
    clos: Clos, number: int = 1, mode: str = "lacp-static", least: int = 1, **fields: Any
) -> Network:
    bond, down = Bond(mode=mode, minimum_links=least), fields.pop("down", ())
    network = clos(leaf1=bundle(number, bond, down, **fields))
    assert network.servers is not None
    first, *others = network.servers
    update = {
        "port": End(device="leaf1", interface=f"Eth-Trunk{number}"),
        "members": tuple(End(device="leaf1", interface=port) for port in PORTS),
    }
    return network.model_copy(update={"servers": (first.model_copy(update=update), *others)})


CASES: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({"number": 0}, True),
    ({"number": 511, "mode": "lacp-dynamic"}, True),
    ({"mode": "manual load-balance"}, True),
    ({"down": PORTS[:1]}, True),
    ({"down": PORTS}, False),
    ({"least": 2}, True),
    ({"least": 2, "down": PORTS[1:]}, False),
    ({"enabled": False}, False),
    ({"access_vlan": 999}, False),
    ({"access_vlan": None, "link_type": "trunk", "trunk_vlans": (110,)}, True),
]


@pytest.mark.parametrize(("fields", "delivered"), CASES)
def test_the_embedded_engine(clos: Clos, fields: dict[str, Any], delivered: bool) -> None:
    reached = analyse(bonded(clos, **dict(fields))).state.reachability
    assert reached.delivered == (reached.pairs if delivered else 0)


@pytest.mark.batfish
@pytest.mark.parametrize(("fields", "delivered"), CASES)
def test_batfish_agrees(
    clos: Clos, fields: dict[str, Any], delivered: bool, service: tuple[str, int]
) -> None:
    network = bonded(clos, **dict(fields))
    state = ask(network, *service)
    reached = state.reachability
    assert reached.delivered == (reached.pairs if delivered else 0)
    assert disagreements(analyse(network), state) == ()


def test_a_bond_with_too_few_members_says_so(clos: Clos) -> None:
    solution = analyse(bonded(clos, least=2, down=PORTS[1:]))
    trips = solution.trips
    stops = [trips.stop(a, b, Flow()) for a, b in permutations(trips.attachments, 2)]
    assert {stop.reason for stop in stops if stop} == {
        "leaf1 Eth-Trunk1 has 1 member up and needs 2"
    }
