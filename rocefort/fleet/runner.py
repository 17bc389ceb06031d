"""A Nornir object for one fabric: no log file, no global logging, no environment of its own."""

from __future__ import annotations

import logging

from nornir.core import Nornir
from nornir.core.configuration import Config, LoggingConfig, SSHConfig
from nornir.core.plugins.connections import ConnectionPluginRegister
from nornir.plugins.runners import ThreadedRunner
from nornir_napalm.plugins.connections import Napalm

from rocefort.fleet import ssh_exec
from rocefort.fleet.connections import Connections
from rocefort.fleet.inventory import NEW_SESSION, SESSION, NetworkInventory
from rocefort.models.network import Network

WORKERS = 20

# Failures come back as results. Without a handler here Python would also print the traceback of
# every failed task on stderr; an application's own handlers still get the records.
for _library in ("nornir", "paramiko"):
    logging.getLogger(_library).addHandler(logging.NullHandler())


def open_fleet(network: Network, connections: Connections, workers: int = WORKERS) -> Nornir:
    """Make a Nornir over all switches and servers; use it as a context manager.

    No session is opened yet. Raises BadInput where a device has no access.
    """
    for name in (SESSION, NEW_SESSION):
        ConnectionPluginRegister.register(name, Napalm)
    ConnectionPluginRegister.register(ssh_exec.CONNECTION, ssh_exec.SshExec)
    # An empty ssh configuration: a user's ~/.ssh/config cannot redirect a session.
    config = Config(logging=LoggingConfig(enabled=False), ssh=SSHConfig(config_file="/dev/null"))
    inventory = NetworkInventory(network, connections).load()
    return Nornir(inventory=inventory, config=config, runner=ThreadedRunner(num_workers=workers))
