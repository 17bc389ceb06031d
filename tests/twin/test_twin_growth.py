"""Changes of a running twin: one more spine, without a session reset; then other small changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rocefort.base.errors import Refused, ServiceFailed
from rocefort.change.expand import GrowthOptions, expand, wanted_of
from rocefort.design.derive.derive import derive
from rocefort.design.subject import subject_of_derived
from rocefort.lab.network import three_opinions
from rocefort.lab.twin.registry import Registry
from rocefort.lab.twin.twin import Twin, TwinOptions
from rocefort.models.device.interface import Interface
from rocefort.models.network.network import Network

pytestmark = pytest.mark.twin


@pytest.fixture(scope="module")
def network(small_fabric: Path) -> Network:
    """The small fabric, from the text that its switches would run."""
    return subject_of_derived(derive(small_fabric)).network


@pytest.fixture(scope="module")
def twin(network: Network, registry: Registry) -> Iterator[Twin]:
    new_twin = Twin.up(network, "growth", TwinOptions(bfd=False), registry)
    yield new_twin
    new_twin.down()


def _sessions(twin: Twin) -> dict[tuple[str, str], tuple[int, int]]:
    """Return by switch and peer how often the session came up, and how often it was lost."""
    counts = {}
    for name in twin.topology.by_switch:
        with twin.daemons(name).vty("bgpd") as vty:
            for peer, neighbour in vty.read("show bgp neighbors json").items():
                times = neighbour["connectionsEstablished"], neighbour["connectionsDropped"]
                counts[name, peer] = times
    return counts


def _processes(twin: Twin) -> set[tuple[str, str, str]]:
    root = twin.registry.directory(twin.record.id) / "nodes"
    return {(p.parent.name, p.stem, p.read_text("ascii")) for p in root.glob("*/*.pid")}


def test_a_spine_more_resets_no_session(twin: Twin, small_fabric: Path) -> None:
    grown = subject_of_derived(
        expand(small_fabric, wanted_of(GrowthOptions(1, 0, 0))).versions.end
    ).network
    sessions, processes = _sessions(twin), _processes(twin)
    twin.apply(grown)
    after = _sessions(twin)
    assert {key: after[key] for key in sessions} == sessions
    assert len(after) == 12
    assert all(established == dropped + 1 for established, dropped in after.values())  # up
    assert processes < _processes(twin)
    opinions = three_opinions(grown, twin.fibs(protocols=["bgp"]))
    assert opinions.differences == ()
    assert {len(hops) for hops in twin.fib("leaf001", ["bgp"]).values()} == {1, 3}


def test_the_spine_goes_again(twin: Twin, network: Network) -> None:
    sessions = {key: messages for key, messages in _sessions(twin).items() if "spine03" not in key}
    twin.apply(network)
    after = _sessions(twin)
    assert after == {key: sessions[key] for key in after}
    assert len(after) == 8
    assert three_opinions(network, twin.fibs(protocols=["bgp"])).differences == ()
    assert not list(Path("/run/netns").glob(f"rf-{twin.record.id}-spine03"))


def _with(network: Network, switch: str, port: str, **changes: object) -> Network:
    """Return the network with one interface of a switch changed."""

    def changed(interface: Interface) -> Interface:
        return interface.model_copy(update=changes) if interface.name == port else interface

    nodes = [
        node.model_copy(
            update={
                "device": node.device.model_copy(
                    update={"interfaces": tuple(map(changed, node.device.interfaces))}
                )
            }
        )
        if node.name == switch
        else node
        for node in network.nodes
    ]
    return network.model_copy(update={"nodes": tuple(nodes)})


def _cable(network: Network, *switches: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return ports and addresses of the cable between two switches, by switch."""
    (ends,) = (
        (link.a, link.b)
        for link in network.links or ()
        if {link.a.device, link.b.device} == set(switches)
    )
    ports = {end.device: end.interface for end in ends}
    devices = {name: network.by_name[name].device for name in switches}
    addresses = {n: devices[n].by_interface[port].addresses[0] for n, port in ports.items()}
    return ports, {name: str(address.ip) for name, address in addresses.items()}


def test_a_port_is_shut_and_opened(twin: Twin, network: Network) -> None:
    ports, addresses = _cable(network, "spine02", "leaf001")
    shut = _with(network, "spine02", ports["spine02"], enabled=False)
    expected = {
        name: tuple(peer for peer in peers if peer not in addresses.values())
        for name, peers in twin.topology.sessions.items()
    }
    twin.apply(shut, expected)
    assert {len(hops) for hops in twin.fib("leaf001", ["bgp"]).values()} == {1}
    assert three_opinions(shut, twin.fibs(protocols=["bgp"])).differences == ()
    twin.apply(network)
    assert three_opinions(network, twin.fibs(protocols=["bgp"])).differences == ()


def test_a_change_that_comes_to_no_rest_says_so(twin: Twin, network: Network) -> None:
    ports, addresses = _cable(network, "spine02", "leaf001")
    shut = _with(network, "spine02", ports["spine02"], enabled=False)
    twin.choice = TwinOptions(bfd=False, limit_s=1)
    with pytest.raises(ServiceFailed, match=r"after 1 s \d+ sessions? not up: "):
        twin.apply(shut, {"leaf001": (addresses["spine02"],)})
    assert twin.record.status == "changing"
    with pytest.raises(Refused, match="lab growth is not whole") as refused:
        twin.apply(network)
    assert refused.value.problem.how == "rocefort lab down growth, and up again"
