"""Nornir inventory of a fabric: switches and servers, their groups and connections."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from nornir.core.configuration import Config
from nornir.core.inventory import (
    ConnectionOptions,
    Defaults,
    Group,
    Groups,
    Host,
    Hosts,
    Inventory,
    ParentGroups,
)
from nornir.core.plugins.connections import ConnectionPlugin

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, DeviceFailed, Problem, RocefortError
from rocefort.base.secret_references import key_of, resolve
from rocefort.fleet import ssh_exec
from rocefort.fleet.connections import Connections, ServerAccess, SshAccess
from rocefort.fleet.errors import unreachable
from rocefort.models.change.plan import Wave
from rocefort.models.network.network import Network, Node, Server

LOG = logging.getLogger(__name__)

SESSION = "napalm"
NEW_SESSION = "napalm_new_session"  # besides the first: proves that a new login is possible
LIVE_SESSION = "napalm_live_checks"  # in the user view, also while the first has a candidate
SESSIONS = (SESSION, NEW_SESSION, LIVE_SESSION)
SWITCHES, SERVERS = "switches", "servers"  # groups
WAVE, WAVE_NUMBER = "wave", "wave_number"  # data of a host


class FleetHost(Host):
    """Nornir host that reads its secret when a session opens, with errors of one sentence.

    ended: whether its sessions are closed permanently; then it opens no other.
    """

    __slots__ = ("credential", "ended", "known_hosts")

    def __init__(self, access: SshAccess, connections: Connections, **parts: Any) -> None:  # noqa: ANN401 - Nornir's own arguments
        self.credential = access.credential
        self.known_hosts = str(connections.known_hosts)
        self.ended = False
        super().__init__(
            name=access.name, hostname=access.host, port=access.port, username=access.user, **parts
        )

    def get_connection_parameters(self, connection: str | None = None) -> ConnectionOptions:
        """Parameters of a connection with the secret resolved; raises BadInput, Refused."""
        parameters = super().get_connection_parameters(connection)
        if key := key_of(self.credential):
            parameters.extras = {**(parameters.extras or {}), "key": str(key)}
        else:
            parameters.password = resolve(self.credential).reveal()
        return parameters

    def open_connection(
        self,
        connection: str,
        configuration: Config,
        *arguments: Any,  # noqa: ANN401 - Nornir's own arguments
        **named: Any,  # noqa: ANN401
    ) -> ConnectionPlugin:
        """Open a session; raises Unreachable (exit code 3) with the reason and the cure.

        BadInput for a driver that is not installed.
        """
        try:
            self._refuse_ended()
            LOG.info("%s: opening %s to %s:%s", self.name, connection, self.hostname, self.port)
            opened = super().open_connection(connection, configuration, *arguments, **named)
        except RocefortError:
            raise
        except _no_driver():
            how = "install it, or correct `driver` of its syntax family"
            what = f"no NAPALM driver {self.platform!r} is installed"
            raise BadInput(what, where=self.name, how=how) from None
        except session_errors() as error:
            at = f"{self.hostname}:{self.port}"
            raise unreachable(self.name, at, self.username or "", self.known_hosts, error) from None
        LOG.info("%s: %s is open", self.name, connection)
        if self.ended:  # in the meantime
            self.close_connections()
        self._refuse_ended()
        return opened

    def _refuse_ended(self) -> None:
        if self.ended:
            raise DeviceFailed("its sessions were closed after their time limit", where=self.name)


class NetworkInventory:
    """Nornir inventory over a Network and a connections file.

    Groups: `switches` or `servers`; a switch's role (`spine`, `leaf`), `rack:NAME`,
    `hardware:MODEL` and, given the waves of a plan, `wave:NAME`; a server's `at:LEAF`. Servers
    without an access are left out. A host's data has `wave` and `wave_number`, from 1.
    """

    def __init__(
        self, network: Network, connections: Connections, waves: Sequence[Wave] = ()
    ) -> None:
        self.network = network
        self.connections = connections
        self._waves = {
            device: (number, wave.name)
            for number, wave in enumerate(waves, 1)
            for device in wave.devices
        }

    def load(self) -> Inventory:
        """Build the inventory; raises BadInput with every device without access or driver."""
        _check(self.network, self.connections)
        accesses = {access.name: access for access in self.connections.devices}
        server_accesses = {access.name: access for access in self.connections.servers}
        groups, defaults = Groups(), Defaults()
        hosts = Hosts()
        for node in self.network.nodes:
            hosts[node.name] = self._switch(node, accesses[node.name], groups, defaults)
        for server in self.network.servers or ():
            if access := server_accesses.get(server.name):
                hosts[server.name] = self._server(server, access, groups, defaults)
        return Inventory(hosts=hosts, groups=groups, defaults=defaults)

    def _switch(
        self, node: Node, access: SshAccess, groups: Groups, defaults: Defaults
    ) -> FleetHost:
        names = [SWITCHES]
        names += [node.role.value] if node.role else []
        names += [f"rack:{node.rack}"] if node.rack else []
        names += [f"hardware:{node.hardware.model}"] if node.hardware else []
        data: dict[str, object] = {"software": node.software, "id": node.id}
        if number_and_name := self._waves.get(node.name):
            number, wave = number_and_name
            names.append(f"wave:{wave}")
            data |= {WAVE: wave, WAVE_NUMBER: number}
        options = {
            "timeout": self.connections.command_timeout_s,
            # The driver checks host keys against this file alone; no option turns that off.
            "optional_args": {
                "name": node.name,
                "ssh_known_hosts": str(self.connections.known_hosts),
            },
        }
        return FleetHost(
            access,
            self.connections,
            platform=node.driver,
            groups=_parents(groups, names),
            defaults=defaults,
            data=data,
            connection_options={name: ConnectionOptions(extras=options) for name in SESSIONS},
        )

    def _server(
        self, server: Server, access: ServerAccess, groups: Groups, defaults: Defaults
    ) -> FleetHost:
        options = {
            "name": server.name,
            "known_hosts": str(self.connections.known_hosts),
            "connect_timeout_s": self.connections.connect_timeout_s,
        }
        return FleetHost(
            access,
            self.connections,
            platform="linux",
            groups=_parents(groups, [SERVERS, f"at:{server.port.device}"]),
            defaults=defaults,
            data={
                "rdma_device": access.rdma_device,
                "gid_index": access.gid_index,
                "qp_timeout": access.qp_timeout,
            },
            connection_options={ssh_exec.CONNECTION: ConnectionOptions(extras=options)},
        )


def _parents(groups: Groups, names: Iterable[str]) -> ParentGroups:
    return ParentGroups([groups.setdefault(name, Group(name=name)) for name in names])


def _check(network: Network, connections: Connections) -> None:
    switches = {node.name for node in network.nodes}
    servers = {server.name for server in network.servers or ()}
    given = {access.name for access in connections.devices}
    problems = [connections.lacks(name) for name in sorted(switches - given)]
    problems += [_without_driver(node) for node in network.nodes if node.driver is None]
    told = {access.name for access in connections.servers}
    for kind, named, known in (("device", given, switches), ("server", told, servers)):
        for name in sorted(named - known):
            what = f"{network.name} has no {kind} {name}"
            how = nearest(name, known, "remove it")
            problems.append(Problem("", what, how, connections.file_name))
    if not connections.known_hosts.is_file():
        how = (
            "record the host keys of all devices with `rocefort trust`; compare them with their "
            "consoles"
        )
        problems.append(Problem("", "no such known_hosts file", how, str(connections.known_hosts)))
    if problems:
        raise BadInput(problems=problems)


def _without_driver(node: Node) -> Problem:
    if node.family is None:
        return Problem(node.name, "its syntax family is not known", "name its hardware")
    what = f"its syntax family {node.family.name} names no NAPALM driver"
    return Problem(node.name, what, "add `driver` to the family")


def _no_driver() -> tuple[type[Exception], ...]:
    from napalm.base.exceptions import ModuleImportError  # noqa: PLC0415 - as below

    return (ModuleImportError,)


def session_errors() -> tuple[type[Exception], ...]:
    """Exceptions of a session that cannot be opened, or is lost."""
    import paramiko  # noqa: PLC0415 - slow, and only needed when a session fails
    from napalm.base.exceptions import ConnectionException  # noqa: PLC0415

    return (ConnectionException, paramiko.SSHException, OSError, EOFError)
