"""The whole fabric of a Network on this machine: emulated switches, servers that replay runs.

Joins the lab to its state source (`state_model.py`) and to the fleet (a connections file that
`plan` and `apply` use like any site's).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

from napalm_cloudengine.connect import place_of
from rocefort.base.errors import BadInput, Refused
from rocefort.base.progress import tracked
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.server_configuration import reader_command
from rocefort.emulator.cli.server import LabServer, run_in_thread
from rocefort.emulator.options import LabOptions, inject, read_factory, read_faults
from rocefort.emulator.servers.sandbox import RdmaRoot, write_servers
from rocefort.emulator.servers.ssh_hosts import NEWEST_RUNS, RdmaHosts, Sample, read_sample
from rocefort.emulator.state.model import EmulatedState
from rocefort.emulator.state_model import model_of
from rocefort.emulator.switch.audit_log import AuditLog
from rocefort.emulator.switch.store import Pool, Store, lose_power, start
from rocefort.emulator.switch.switch import EmulatedSwitch, syntax_of
from rocefort.fleet.connections import Connections, ServerAccess, SshAccess, save_connections
from rocefort.fleet.server_scripts import EVERY, NODE
from rocefort.fleet.ssh_exec import guarded_words
from rocefort.models.network.network import Network, Node
from rocefort.models.network.servers import HostPlan

BANDWIDTH, LATENCY = "ib_write_bw", "ib_write_lat"
GOOD = {
    BANDWIDTH: f"{NEWEST_RUNS}/{BANDWIDTH}.duration",
    LATENCY: f"{NEWEST_RUNS}/{LATENCY}.iters",
}
BLOCKED = {tool: f"{NEWEST_RUNS}/fail.udp4791_blocked.{tool}" for tool in GOOD}
# Replacement of the model, and the audit log that also applies changes of the switches.
Couple = Callable[[Mapping[str, EmulatedSwitch], EmulatedState], tuple[EmulatedState, AuditLog]]
SPEED_NOTE = "replayed Soft-RoCE runs: correctness is judged, speed is not"
EMULATED_NOTE = "emulated servers, figures of a model: correctness is judged, speed is not"
NO_NODE = "@host\n{host}\n@kubelet\n@end\n"  # answer of a server that is no Kubernetes node
STATE_FILE = "switches.db"
# A trial of 600 s then lasts 30 s, long enough for all checks on a busy machine, and BGP's hold
# time of 30 s 1.5 s.
UNWATCHED_SCALE = 10.0
SCENERY = (  # note printed by a demonstration
    f"(the switches were emulated CLIs over SSH with timers {UNWATCHED_SCALE:g} times as fast, the "
    "RDMA runs replayed recordings)"
)


@dataclass(frozen=True)
class Rehearsal:
    """A running lab: its switches by name, its servers, and connections to both."""

    switches: Mapping[str, EmulatedSwitch]
    hosts: RdmaHosts
    connections: Connections
    file: Path  # the connections as a file
    model: EmulatedState  # state of the switches: faults are injected there
    server: LabServer
    restored: tuple[str, ...] = ()  # switches that continue from their last state
    consoles: Path | None = None  # connections to consoles of switches out of their box

    def replay(self, tool: str, sample: str) -> None:
        """Replay this sample from now on for every run of a tool."""
        self.hosts.replay(read_sample(sample), tool)


@contextmanager
def rehearse(
    network: Network,
    texts: Mapping[str, str],
    state: Path,
    options: LabOptions | None = None,
    couple: Couple | None = None,
) -> Iterator[Rehearsal]:
    """Run a lab until the block ends; by default it listens only on loopback.

    texts: running and saved configuration of each switch at the start. state: keys, known hosts,
    connections, and the states of the switches if the options keep them. options: None for a lab
    without a user, whose timers run faster than the wall clock. couple: replaces the model by a
    real network.
    """
    chosen = options or LabOptions(time_scale=UNWATCHED_SCALE)
    names = [node.name for node in network.nodes]
    faults, factory = read_faults(chosen.faults, names), read_factory(chosen.factory, names)
    day0 = {name: _day0_address(network.by_name[name]) for name in factory}
    with ExitStack() as opened:
        store = opened.enter_context(Store(state / STATE_FILE)) if chosen.keep else None
        switches, restored = _switches(network, texts, chosen, store, day0)
        model = model_of(network, switches)
        audit_log = AuditLog(chosen.log) if chosen.log else None
        if couple is not None:
            model, audit_log = couple(switches, model)
        inject(faults, switches, model)
        if audit_log is not None:
            opened.enter_context(audit_log)
        server = LabServer(
            switches, state, chosen.listen, state_source=model, store=store, audit_log=audit_log
        )
        hosts = hosts_of(network, state, chosen.listen, len(switches))
        if chosen.keep:  # a user drives this lab: its servers run whole RDMA tests
            roots = _rdma_roots(network, state / "rdma", chosen.servers)
            if switches:  # hosts back to back need no route
                _follow_routes(roots.values(), model)
            hosts.settings = roots
            for root in roots.values():
                opened.callback(root.kill_all)
        del network, texts  # much memory, and not needed any more
        opened.enter_context(run_in_thread(server))
        opened.enter_context(hosts.in_thread())
        connections = connections_of(server, hosts, state).model_copy(
            update={"time_scale": chosen.time_scale}
        )
        if chosen.keep:
            connections = connections.model_copy(update={"speed_note": EMULATED_NOTE})
        file = state / "connections.yaml"
        save_connections(connections, file)
        consoles = _save_consoles(server, state) if server.consoles else None
        yield Rehearsal(switches, hosts, connections, file, model, server, restored, consoles)


def hosts_of(network: Network, state: Path, listen: tuple[str, int], switches: int) -> RdmaHosts:
    """Return the servers; fixed ports of servers follow those of the switches."""
    addresses = {s.name: str(s.address.ip) for s in network.servers or ()}
    samples: dict[str, Sample] = {tool: read_sample(name) for tool, name in GOOD.items()}
    host, port = listen
    first = port + switches if port else 0
    return RdmaHosts(
        addresses,
        samples,
        state_dir=state / "hosts",
        listen=(host, first),
        answers={NODE: NO_NODE},
    )


def _rdma_roots(
    network: Network, state: Path, plans: Mapping[str, HostPlan]
) -> dict[str, RdmaRoot]:
    """Return servers that run emulated programs for real, under the guard of a run.

    plans: intended settings, of those whose reader is answered.
    """
    readers = {name: reader_command(plan) for name, plan in plans.items()}
    roots = {
        server.name: RdmaRoot(
            name=server.name,
            root=(state / server.name).resolve(),
            wire=(state / "wire").resolve(),
            address=str(server.address.ip),
            # The wire of hosts back to back is that of one leaf.
            leaf=network.name if network.lack_of_switches else server.port.device,
            gbps=server.flow_gbps,
            unwrap=guarded_words,
            texts=(*EVERY, readers.get(server.name, NODE)),
            plan=plans.get(server.name),
        ).make()
        for server in network.servers or ()
        if server.roce
    }
    write_servers(state / "wire", roots)
    return roots


def _follow_routes(roots: Collection[RdmaRoot], model: EmulatedState) -> None:
    """Let runs between servers of two leaves end as if blocked while a leaf has no route."""
    leaves = {root.address: root.leaf for root in roots}

    def reaches(leaf: str, address: str) -> bool:
        there = IPv4Address(address)
        return any(there in route.prefix for route in model.routes(leaf))

    def routed(near: str, far: str) -> bool:
        here, there = leaves[near], leaves.get(far)
        return there is None or (reaches(here, far) and reaches(there, near))

    for root in roots:
        root.routed = routed


def _switches(
    network: Network,
    texts: Mapping[str, str],
    options: LabOptions,
    store: Store | None,
    day0: Mapping[str, str],
) -> tuple[dict[str, EmulatedSwitch], tuple[str, ...]]:
    """Return every switch, and the names of those with a stored state.

    day0: management addresses of switches that start out of their box.
    """
    pool, switches, restored = Pool(), {}, []
    for node in tracked(network.nodes, "start"):
        stored = store is not None and store.has_state(node.name)
        # Its saved configuration then comes from the state: parsing a start-up text takes time.
        text = factory_text(node) if node.name in day0 else texts[node.name]
        switch = switch_of(network, node.name, "" if stored else text, options, pool)
        switch.day0_address = "" if stored else day0.get(node.name, "")
        if store is not None and store.restore(switch, pool):
            restored.append(node.name)
        if options.power_loss:
            lose_power(switch)
        switches[node.name] = switch
    return switches, tuple(restored)


def factory_text(node: Node) -> str:
    """Return the configuration of a switch out of its box.

    It has the lines that its family saves with nothing configured, as far as a source confirms
    them; a real switch may have more.
    """
    family = node.family
    saved = () if family is None else family.saved_lines
    own = [each.line.split(" / ") for each in saved if family and family.name in each.families]
    return dialect_of(node).with_lines("", own)


def _day0_address(node: Node) -> str:
    if node.management is None:
        how = "add a segment with the role management to the fabric"
        raise BadInput("has no management address, which day 0 sets", where=node.name, how=how)
    return str(node.management.ip)


def switch_of(
    network: Network, name: str, text: str, options: LabOptions, pool: Pool
) -> EmulatedSwitch:
    """Return a switch that runs and has saved a text. Raises Refused if its family is not known."""
    node = network.by_name[name]
    if node.family is None or node.hardware is None or node.software is None:
        raise Refused("its syntax family is not known", where=name, how="name its hardware")
    switch = EmulatedSwitch(
        name=name,
        startup=dialect_of(node).as_saved(text),
        family=syntax_of(node.family),
        hardware=node.hardware.model,
        software=node.software,
        personality=options.personality,
        candidate_mode=options.candidate,
        time_scale=options.time_scale,
    )
    start(switch, pool, whole=options.whole)
    return switch


def _trusted_keys(server: LabServer, recorded: str) -> str:
    """Return the host keys of switches; of one out of its box only if it is on record."""
    host = server.listen[0]
    unproven = {
        place_of(host, port)
        for name, port in server.ports.items()
        if server.switches[name].day0_address
    }
    lines = server.known_hosts.read_text().splitlines(keepends=True)
    return "".join(
        line for line in lines if line.split()[0] not in unproven or line.split()[2] in recorded
    )


CONSOLES_FILE = "consoles.yaml"


def _save_consoles(server: LabServer, state: Path) -> Path:
    """Write the connections to the consoles of switches, as to the ports of a console server."""
    credential = f"file:{(state / server.user).resolve()}.secret"
    devices = tuple(
        SshAccess(name=name, host=server.listen[0], port=port, user=server.user,
                  credential=credential)
        for name, port in server.consoles.items()
    )  # fmt: skip
    file = state / CONSOLES_FILE
    consoles = Connections(known_hosts=server.console_hosts.resolve(), devices=devices)
    save_connections(consoles, file)
    return file


def connections_of(server: LabServer, hosts: RdmaHosts, state: Path) -> Connections:
    """Return connections to a server's switches and these servers; passwords are separate files."""
    known_hosts = state / "all_known_hosts"
    recorded = known_hosts.read_text() if known_hosts.exists() else ""
    known_hosts.write_text(_trusted_keys(server, recorded) + hosts.known_hosts_text)
    for user, password in ((server.user, server.password), (hosts.user, hosts.password)):
        secret = state / f"{user}.secret"
        secret.touch(mode=0o600)
        secret.write_text(password)
    return Connections(
        emulated=True,
        known_hosts=known_hosts.resolve(),
        speed_note=SPEED_NOTE,
        devices=tuple(
            SshAccess(
                name=name, host=server.listen[0], port=port, user=server.user, credential=credential
            )
            for credential in [f"file:{(state / server.user).resolve()}.secret"]
            for name, port in server.ports.items()
        ),
        servers=tuple(
            ServerAccess(
                name=name,
                host=hosts.listen[0],
                port=port,
                user=hosts.user,
                credential=f"file:{(state / hosts.user).resolve()}.secret",
                rdma_device="rxe0",
                gid_index=1,
            )
            for name, port in hosts.ports.items()
        ),
    )
