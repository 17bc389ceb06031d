"""Addition of switches and servers to the command-line process of a running lab."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack

from rocefort.base.errors import RocefortError
from rocefort.fleet.connections import Connections, load_connections, save_connections
from rocefort.emulator.servers.ssh_hosts import RdmaHosts
from rocefort.emulator.switch.shared_lines import Pool
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.lab.twin.cli_process import grow_file, grown_file, network_file
from rocefort.lab.twin.registry import LabRecord, Registry, write_whole
from rocefort.models.network.network import Network
from rocefort.steps.lab.emulated_site import Rehearsal, connections_of, hosts_of, switch_of
from rocefort.steps.lab.options import LabOptions
from rocefort.steps.lab.state_model import model_of


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
