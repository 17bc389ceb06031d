"""The whole fabric of a Network on this machine: emulated switches, servers that replay runs.

Joins the lab to the routing engine (what `display bgp peer` shows) and to the fleet (a connections
file that `plan` and `apply` take like any site's).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rocefort.dialects.vrp.parse import parse
from rocefort.dialects.vrp.secrets import as_saved
from rocefort.dialects.vrp.tree import ConfigLine, tree_text
from rocefort.errors import Refused
from rocefort.fleet.connections import Access, Connections, ServerAccess, save_connections
from rocefort.lab.hosts import RdmaHosts, Sample, read_sample
from rocefort.lab.server import LabServer, run_in_thread
from rocefort.lab.switch import EmulatedSwitch, Peers, PeerState, idle_peers
from rocefort.models.device import Device
from rocefort.models.network import Network
from rocefort.models.routing import SessionStatus
from rocefort.paths import ROOT
from rocefort.validators.routing import solve

SAMPLES = ROOT / "tests" / "samples" / "perftest"
BANDWIDTH, LATENCY = "ib_write_bw", "ib_write_lat"
GOOD = {BANDWIDTH: "ib_write_bw.gbits", LATENCY: "ib_write_lat.iters"}
SPEED_NOTE = "replayed Soft-RoCE runs: correctness is judged, speed is not"
LOCALHOST = "127.0.0.1"


@dataclass(frozen=True)
class Rehearsal:
    """A running lab: its switches by name, its servers, and how to reach both."""

    switches: Mapping[str, EmulatedSwitch]
    hosts: RdmaHosts
    connections: Connections
    file: Path  # the connections as a file

    def replay(self, tool: str, sample: str) -> None:
        """From now on every run of a tool gives this sample."""
        self.hosts.replay(read_sample(SAMPLES, sample), tool)


@contextmanager
def rehearse(network: Network, texts: Mapping[str, str], state: Path) -> Iterator[Rehearsal]:
    """Run a lab until the block ends; nothing but loopback is listened on.

    texts: what each switch runs and has saved at the start. state: keys, known hosts, connections.
    """
    switches = {node.name: _switch(network, node.name, texts[node.name]) for node in network.nodes}
    addresses = {s.name: str(s.address.ip) for s in network.servers or ()}
    samples: dict[str, Sample] = {tool: read_sample(SAMPLES, name) for tool, name in GOOD.items()}
    server = LabServer(switches, state_dir=state, peers=peers_of(network))
    hosts = RdmaHosts(addresses, samples, state_dir=state / "hosts")
    with run_in_thread(server), hosts.in_thread():
        connections = _connections(server, hosts, state)
        file = state / "connections.yaml"
        save_connections(connections, file)
        yield Rehearsal(switches, hosts, connections, file)


def _switch(network: Network, name: str, text: str) -> EmulatedSwitch:
    node = network.by_name[name]
    if node.family is None or node.hardware is None or node.software is None:
        raise Refused("its syntax family is not known", where=name, how="name its hardware")
    return EmulatedSwitch(
        name=name,
        startup=as_saved(text),
        family=node.family.name,
        hardware=node.hardware.model,
        software=node.software,
    )


def _connections(server: LabServer, hosts: RdmaHosts, state: Path) -> Connections:
    known_hosts = state / "all_known_hosts"
    known_hosts.write_text(server.known_hosts.read_text() + hosts.known_hosts_text)
    for user, password in ((server.user, server.password), (hosts.user, hosts.password)):
        secret = state / f"{user}.secret"
        secret.touch(mode=0o600)
        secret.write_text(password)
    return Connections(
        known_hosts=known_hosts.resolve(),
        speed_note=SPEED_NOTE,
        devices=tuple(
            Access(name=name, host=LOCALHOST, port=port, user=server.user, credential=credential)
            for credential in [f"file:{(state / server.user).resolve()}.secret"]
            for name, port in server.ports.items()
        ),
        servers=tuple(
            ServerAccess(
                name=name,
                host=LOCALHOST,
                port=port,
                user=hosts.user,
                credential=f"file:{(state / hosts.user).resolve()}.secret",
                rdma_device="rxe0",
                gid_index=1,
            )
            for name, port in hosts.ports.items()
        ),
    )


def peers_of(network: Network) -> Peers:
    """BGP states that the switches of a lab show: the embedded engine's, from what they run."""

    asked: tuple[tuple[ConfigLine, ...], ...] = ()
    answer: Mapping[str, Sequence[PeerState]] = {}

    def states(
        running: Mapping[str, tuple[ConfigLine, ...]],
    ) -> Mapping[str, Sequence[PeerState]]:
        """Solve anew only when some switch runs something else than at the last question."""
        nonlocal asked, answer
        now = tuple(running[node.name] for node in network.nodes)
        if len(asked) != len(now) or any(a is not b for a, b in zip(asked, now, strict=True)):
            asked, answer = now, solved(running)
        return answer

    def solved(
        running: Mapping[str, tuple[ConfigLine, ...]],
    ) -> Mapping[str, Sequence[PeerState]]:
        nodes = tuple(
            node.model_copy(update={"device": _device(node.name, running[node.name])})
            for node in network.nodes
        )
        try:
            return _states(network.model_copy(update={"nodes": nodes}))
        except Refused:  # the engine does not model what runs there: nothing is claimed to be up
            return idle_peers(running)

    return states


@lru_cache(maxsize=4096)
def _device(name: str, running: tuple[ConfigLine, ...]) -> Device:
    return parse(tree_text(running), f"{name} (running)").device


def _states(network: Network) -> dict[str, list[PeerState]]:
    state = solve(network)
    learned = Counter((r.device, hop) for r in state.routes for hop in r.next_hops)
    states: dict[str, list[PeerState]] = {node.name: [] for node in network.nodes}
    for session in state.sessions:
        if session.device not in states:
            continue  # the other end of an exit, which no lab runs
        bgp = network.by_name[session.device].device.bgp
        peer = next((p for p in bgp.peers if p.address == session.peer), None) if bgp else None
        asn = bgp.settings(peer).asn if bgp and peer else None
        up = session.status is SessionStatus.ESTABLISHED
        states[session.device].append(
            PeerState(
                address=session.peer,
                asn=str(asn or 0),
                state="Established" if up else "Idle",
                prefixes=learned[session.device, session.peer],
            )
        )
    return states
