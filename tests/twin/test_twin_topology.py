"""Topology of a twin: namespaces, cables, hosts, and the sessions that are waited for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest
from cutting import lost_sessions, ports_of

from rocefort.base.errors import Refused, ServiceFailed
from rocefort.base.repository import INVENTORY
from rocefort.design.derive.derive import derive
from rocefort.dialects.frr import Features
from rocefort.lab.network import compare_tables
from rocefort.lab.twin.builder import host_lines
from rocefort.lab.twin.kernel_routes import KernelState, summary_of, wait_settled
from rocefort.lab.twin.topology import BACKSTAGE, topology_of
from rocefort.models.device.routing import StaticRoute
from rocefort.models.network.network import End, Network
from rocefort.validators.routing_results import Failure, Reachability, Route, RoutingState

LEAN = Features(vrf=False, vlan=False, bonding=False)


def test_every_port_has_one_cable(heps_network: Network) -> None:
    topology = topology_of(heps_network, LEAN)
    ends = [end for cable in topology.cables for end in cable.ends]
    assert len(ends) == len(set(ends))
    ports = {(plan.name, port) for plan in topology.switches for port in plan.ports.values()}
    assert ports <= set(ends)
    assert {node for node, _ in ends} <= set(topology.nodes)
    assert topology.far("leaf01", "100GE1_0_57") == ("spine01", "100GE1_1_1")
    assert topology.far("leaf01", "MEth0_0_0")[0] == BACKSTAGE  # type: ignore[index]
    assert all(len(port) <= 15 for _, port in ends)


def test_servers_have_their_leaf_and_gateway(heps_network: Network) -> None:
    host = topology_of(heps_network, LEAN).by_host["k8sgn08"]
    assert (host.switch, host.address, host.gateway) == ("leaf01", "10.65.0.11", "10.65.0.1")
    assert host_lines(host) == [
        "link set dev lo up",
        "link set dev eth0 mtu 9000",
        "address replace 10.65.0.11/24 dev eth0",
        "link set dev eth0 up",
        "route replace default via 10.65.0.1",
    ]


def test_hosts_back_to_back_share_one_cable() -> None:
    topology = topology_of(derive(INVENTORY / "redigo-direct" / "fabric.yaml").network, LEAN)
    assert topology.switches == ()
    assert [cable.ends for cable in topology.cables] == [(("host2", "eth0"), ("host1", "eth0"))]
    assert [host.gateway for host in topology.hosts] == [None, None]


def test_sessions_of_both_ends(heps_network: Network) -> None:
    topology = topology_of(heps_network, LEAN)
    assert sum(map(len, topology.sessions.values())) == 32
    assert topology.sessions["leaf01"] == ("10.1.0.0", "10.1.0.2")
    alone = heps_network.model_copy(update={"nodes": heps_network.nodes[1:]})
    assert topology_of(alone, LEAN).sessions["leaf01"] == ("10.1.0.2",)


def test_all_refusals_are_told_together(heps_network: Network) -> None:
    route = StaticRoute(prefix=IPv4Network("10.9.0.0/16"), preference=255)
    nodes = tuple(
        n.model_copy(update={"device": n.device.model_copy(update={"static_routes": (route,)})})
        for n in heps_network.nodes[:2]
    )
    with pytest.raises(Refused) as refused:
        topology_of(heps_network.model_copy(update={"nodes": nodes}), LEAN)
    assert [problem.where for problem in refused.value.problems] == [
        f"{spine} ip route-static 10.9.0.0/16 NULL0" for spine in ("spine01", "spine02")
    ]


def test_what_a_failure_darkens(heps_network: Network) -> None:
    topology = topology_of(heps_network, LEAN)
    ends = (
        End(device="leaf01", interface="100GE1/0/57"),
        End(device="spine01", interface="100GE1/1/1"),
    )
    cable = ports_of(topology, Failure(links=(ends,)))
    assert cable == [("leaf01", "100GE1_0_57"), ("spine01", "100GE1_1_1")]
    assert lost_sessions(topology, cable, ()) == {"leaf01 10.1.0.0", "spine01 10.1.0.1"}
    spine = ports_of(topology, Failure(nodes=("spine01",)))
    assert len(lost_sessions(topology, spine, ("spine01",))) == 16


class Lab:
    """A lab of one switch whose answers are given one after another."""

    def __init__(self, *states: str, chosen: str = "10.1.0.0") -> None:
        self.states, self.hop = list(states), chosen

    def look(self, names: Collection[str] | None = None) -> dict[str, KernelState]:
        assert names is None or set(names) == {"leaf01"}
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        routes = '[{"dst": "10.2.0.0/16", "gateway": "10.1.0.0", "protocol": "bgp"}]'
        return {"leaf01": KernelState({"10.1.0.0": state}, (), routes)}

    def chosen(self) -> dict[str, Mapping[str, Any]]:
        path = {"valid": True, "bestpath": True, "nexthops": [{"ip": self.hop}]}
        return {"leaf01": {"routes": {"10.2.0.0/16": [path]}}}

    def own(self, switch: str) -> set[IPv4Network]:
        assert switch == "leaf01"
        return set()


WANTED = {"leaf01": ("10.1.0.0",)}


def test_convergence_waits_for_sessions_and_for_the_kernel() -> None:
    assert wait_settled(Lab("Active", "Connect", "Established"), WANTED, 30) > 0
    with pytest.raises(ServiceFailed) as late:
        wait_settled(Lab("Active"), WANTED, 0.2)
    assert str(late.value) == (
        "after 0 s 1 session not up: leaf01 to 10.1.0.0 is Active; see `rocefort lab status`, and "
        "how busy this machine is"
    )
    with pytest.raises(ServiceFailed, match="the kernel of leaf01 does not have what BGP chose"):
        wait_settled(Lab("Established", chosen="10.1.0.2"), WANTED, 0.6)


def test_a_summary() -> None:
    answer = {"peers": {"10.1.0.2": {"state": "Established", "pfxRcd": 3, "pfxSnt": 2, "outq": 1}}}
    assert summary_of(answer) == ({"10.1.0.2": "Established"}, ((3, 2, 1),))
    assert summary_of({}) == ({}, ())


def test_a_tie_is_no_difference() -> None:
    prefix, hops = IPv4Network("10.2.0.0/16"), [IPv4Address(f"10.1.0.{n}") for n in range(3)]
    state = RoutingState(
        engine="embedded",
        sessions=(),
        routes=(Route("leaf01", prefix, (hops[0], hops[1])),),
        reachability=Reachability.model_construct(),
    )
    kernel = {"leaf01": {prefix: frozenset((hops[0], hops[2]))}}
    assert compare_tables(state, kernel, lambda *_: frozenset(hops)).differences == ()
    (opinions,) = compare_tables(state, kernel, lambda *_: frozenset()).differences
    assert str(opinions) == (
        "leaf01 10.2.0.0/16: the kernel has 10.1.0.0, 10.1.0.2, the engine 10.1.0.0, 10.1.0.1"
    )
    fewer = {"leaf01": {prefix: frozenset((hops[2],))}}
    assert len(compare_tables(state, fewer, lambda *_: frozenset(hops)).differences) == 1
