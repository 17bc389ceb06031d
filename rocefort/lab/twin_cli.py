"""Command lines of a twin: emulated switches with the state of its kernels, also while it grows.

python -m rocefort.lab.twin_cli ROOT NAME PIPE

It has the lab's mark, so that `lab down` ends it in any state of the lab. Its input is a file in
the lab's directory. It writes `ready` to the pipe, or the reason that it cannot start.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import fields
from functools import partial
from pathlib import Path
from time import sleep

from rocefort.base.errors import RocefortError, ServiceFailed
from rocefort.emulator.cli.server import LabServer
from rocefort.emulator.emulated_site import Rehearsal, connections_of, hosts_of, rehearse, switch_of
from rocefort.emulator.options import LabOptions
from rocefort.emulator.servers.ssh_hosts import RdmaHosts
from rocefort.emulator.state.model import EmulatedState
from rocefort.emulator.state_model import model_of
from rocefort.emulator.switch.audit_log import AuditLog
from rocefort.emulator.switch.store import Pool
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.fleet.connections import Connections, load_connections, save_connections
from rocefort.lab.roce_probes import ReplayedByTwin
from rocefort.lab.twin import requirements
from rocefort.lab.twin.cli_faults import LineFaults, in_force_file
from rocefort.lab.twin.config_sync import ConfigSync
from rocefort.lab.twin.faults import broken_file
from rocefort.lab.twin.registry import (
    LabProcess,
    LabRecord,
    Registry,
    grow_file,
    grown_file,
    lines_directory,
    log_file,
    network_file,
    pid_file,
    say_ready,
    write_whole,
)
from rocefort.lab.twin.state_source import GREETING, TwinStateSource
from rocefort.models.network.network import Network

WATCH_S = 0.1  # longest delay until the end of a trial reaches the kernel


def start_lines(
    registry: Registry, record: LabRecord, network: Network, texts: Mapping[str, str]
) -> Path:
    """Start the command lines of a lab, and wait until they listen; returns the connections file.

    Raises ServiceFailed with the error of the process.
    """
    state = lines_directory(registry, record)
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    design = state / "design.json"
    design.touch(mode=0o600)
    design.write_text(json.dumps([network.model_dump_json(), dict(texts)]), encoding="utf-8")
    process = LabProcess(record.id, record.name, "the command lines", log_file(registry, record))
    process.start("rocefort.lab.twin_cli", (str(registry.root), record.name))
    return state / "connections.yaml"


def serve(registry: Registry, record: LabRecord, pipe: int) -> None:
    """Run the command lines until the process is killed."""
    state = lines_directory(registry, record)
    design = state / "design.json"
    network_text, texts = json.loads(design.read_text(encoding="utf-8"))
    design.unlink()
    write_whole(network_file(registry, record), network_text)
    network = Network.model_validate_json(network_text)
    couple = partial(couple_twin, registry, record)
    options = LabOptions(whole=True)
    with ExitStack() as opened, rehearse(network, texts, state, options, couple) as lab:
        lab.hosts.choose = ReplayedByTwin(registry, record.name).choose
        pid_file(registry, record).write_text(str(os.getpid()), encoding="ascii")
        say_ready(pipe)
        sync = lab.server.audit_log
        assert isinstance(sync, ConfigSync)  # noqa: S101 - couple_twin made it
        faults = LineFaults(
            injected=broken_file(registry, record),
            in_force=in_force_file(registry, record),
            switches=lab.switches,
            model=lab.model,
        )
        while True:
            sleep(WATCH_S)
            lab.server.call(sync.watch)
            follow_faults(faults, lab.server)
            grow_lines(lab, registry, record, opened, GREETING)


def follow_faults(faults: LineFaults, server: LabServer) -> None:
    """Put faults of the command lines in force, and report them."""
    if faults.changed():
        server.call(faults.follow)
    for name in tuple(faults.renew):
        with suppress(ServiceFailed):  # its port is in use for a moment: the next call tries again
            server.reopen(name)
            faults.renew.discard(name)
    if faults.unreported and not faults.renew:
        faults.report()


def couple_twin(
    registry: Registry,
    record: LabRecord,
    switches: Mapping[str, EmulatedSwitch],
    model: EmulatedState,
) -> tuple[EmulatedState, AuditLog]:
    """Connect switches to a lab that is up; they begin with its configurations."""
    state = lines_directory(registry, record)
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    for switch in switches.values():
        switch.greeting = GREETING
    arguments = {
        item.name: getattr(model, item.name) for item in fields(model) if item.name[0] != "_"
    }
    state_source = TwinStateSource(**arguments, registry=registry, lab=record.name)
    sync = ConfigSync(
        state / "deeds.jsonl",
        registry=registry,
        lab=record.name,
        features=requirements.features_of(requirements.probe()),
        switches=switches,
    )
    return state_source, sync


def main() -> None:
    """Serve a lab's command lines."""
    root, name, pipe = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    registry = Registry(root)
    try:
        serve(registry, registry.find(name), pipe)
    except RocefortError as error:
        os.write(pipe, str(error).encode())
        sys.exit(error.exit_code)


def grow_lines(
    lab: Rehearsal, registry: Registry, record: LabRecord, opened: ExitStack, greeting: str
) -> None:
    """Add the parts of a growth file, if there is one, and write the result; opened: ends them."""
    request_file = grow_file(registry, record)
    if not request_file.exists():
        return
    network_text, texts = json.loads(request_file.read_text("utf-8"))
    request_file.unlink()
    message = ""
    try:
        _grow(lab, Network.model_validate_json(network_text), texts, opened, greeting)
        write_whole(network_file(registry, record), network_text)
    except RocefortError as error:
        message = str(error).replace("\n", "; ")
    write_whole(grown_file(registry, record), message)


def _grow(
    lab: Rehearsal,
    network: Network,
    texts: Mapping[str, str],
    opened: ExitStack,
    greeting: str,
) -> None:
    pool, options = Pool(), LabOptions(whole=True)
    switches = {n: switch_of(network, n, text, options, pool) for n, text in texts.items()}
    for switch in switches.values():
        switch.greeting = greeting
    file = lab.file
    old_connections = load_connections(file)
    servers = {server.name for server in old_connections.servers} | {*lab.hosts.addresses}
    fresh = tuple(s for s in network.servers or () if s.name not in servers)
    added = network.model_copy(update={"servers": fresh})
    hosts = hosts_of(added, file.parent, ("127.0.0.1", 0), 0)
    hosts.choose = lab.hosts.choose  # replayed runs are chosen as for the others
    with ExitStack() as more:
        more.enter_context(hosts.in_thread())
        lab.server.add(switches)
        opened.push(more.pop_all())
    model = model_of(network, {**lab.switches, **switches})
    lab.model.cabling, lab.model.ports = model.cabling, model.ports
    save_connections(_connections(lab, hosts, old_connections, switches), file)


def _connections(
    lab: Rehearsal,
    hosts: RdmaHosts,
    old_connections: Connections,
    switches: Mapping[str, EmulatedSwitch],
) -> Connections:
    """Return the present file, by any writer, with the new parts added."""
    file = old_connections.known_hosts
    lines = dict.fromkeys(file.read_text("utf-8").splitlines())
    every = connections_of(lab.server, hosts, lab.file.parent)
    lines |= dict.fromkeys(every.known_hosts.read_text("utf-8").splitlines())
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    devices = tuple(device for device in every.devices if device.name in switches)
    servers = (
        () if old_connections.servers_note else every.servers
    )  # guests measure only with guests
    return old_connections.model_copy(
        update={
            "devices": (*old_connections.devices, *devices),
            "servers": (*old_connections.servers, *servers),
        }
    )


if __name__ == "__main__":
    main()
