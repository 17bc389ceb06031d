"""Emulated RDMA servers for the HEPS fabric, and a fleet that reaches them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from nornir.core import Nornir

from rocefort.design.derive import Derived
from rocefort.fleet.connections import Access, Connections, ServerAccess
from rocefort.fleet.runner import open_fleet
from rocefort.lab.hosts import RdmaHosts, Sample, read_sample
from rocefort.models.change import Gate
from rocefort.rdma.gate import plan_gate

SAMPLES = Path(__file__).parents[1] / "samples" / "perftest"


def sample(name: str) -> Sample:
    return read_sample(SAMPLES, name)


@dataclass
class Site:
    """What a gate needs."""

    hosts: RdmaHosts
    nornir: Nornir
    gate: Gate
    connections: Connections


@pytest.fixture
def site(heps: Derived, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    network = heps.network
    monkeypatch.setenv("SERVER_PASSWORD", "emulated-only")
    good = {tool: sample(name) for tool, name in GOOD.items()}
    addresses = {server.name: str(server.address.ip) for server in network.servers or ()}
    with RdmaHosts(addresses, good, tmp_path).in_thread() as hosts:
        (tmp_path / "known_hosts").write_text(hosts.known_hosts_text)
        connections = Connections(
            known_hosts=tmp_path / "known_hosts",
            devices=tuple(
                Access(name=n.name, host="127.0.0.1", user="none", credential="env:NONE")
                for n in network.nodes
            ),
            servers=tuple(
                ServerAccess(
                    name=name,
                    host="127.0.0.1",
                    port=port,
                    user="rdma",
                    credential="env:SERVER_PASSWORD",
                    rdma_device="mlx5_0",
                    gid_index=3,
                )
                for name, port in hosts.ports.items()
            ),
        )
        gate = plan_gate(network, heps.fabric.rdma, {"leaf03"}, "the servers are emulated")
        with open_fleet(network, connections) as nornir:
            yield Site(hosts, nornir, gate, connections)
        assert hosts.running == ()


GOOD = {"ib_write_bw": "ib_write_bw.tclass106", "ib_write_lat": "ib_write_lat.iters"}
