"""Steps of `trust`: collect host keys, find changed ones, add new ones to known_hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rocefort.base.errors import BadInput, DeviceFailed, Problem, Refused
from rocefort.design.derive.derive import derive
from rocefort.design.load.load import find_fabric
from rocefort.fleet.connections import Connections, SshAccess
from rocefort.fleet.errors import Unreachable
from rocefort.fleet.host_keys import HostKey, KeyStatus, add_to_record, collect
from rocefort.fleet.trusted_keys import HostKeyRow


@dataclass(frozen=True, slots=True)
class CollectedKeys:
    """Host keys of a fabric, and the hosts without one."""

    known_hosts: Path
    keys: tuple[HostKey, ...]
    silent: tuple[Unreachable, ...]

    @property
    def new(self) -> tuple[HostKey, ...]:
        """Keys that are not on record."""
        return tuple(key for key in self.keys if key.standing is KeyStatus.NEW)


def collect_keys(fabric: Path, connections: Connections, known_hosts: Path | None) -> CollectedKeys:
    """Collect the host key of every switch of the fabric and every server with an access."""
    record = known_hosts or connections.known_hosts
    accesses = _accesses(fabric, connections)
    return CollectedKeys(record, *collect(accesses, record, connections.connect_timeout_s))


def _accesses(fabric: Path, connections: Connections) -> tuple[SshAccess, ...]:
    network = derive(find_fabric(fabric)).network
    switches = {access.name: access for access in connections.devices}
    names = [node.name for node in network.nodes]
    missing = [connections.lacks(name) for name in names if name not in switches]
    if missing:
        raise BadInput(problems=missing)
    servers = {server.name for server in network.servers or ()}
    return (
        *(switches[name] for name in names),
        *(access for access in connections.servers if access.name in servers),
    )


def key_rows(keys: Sequence[HostKey]) -> tuple[HostKeyRow, ...]:
    """Rows of a table: host, address, kind, fingerprint, status on record."""
    return tuple(
        HostKeyRow(
            host=key.name,
            address=key.place,
            key=key.kind,
            fingerprint=key.fingerprint,
            record=key.standing.value,
        )
        for key in keys
    )


def refuse_changed(collected: CollectedKeys) -> None:
    """Raise Refused if a host shows another key than the one on record."""
    problems = [
        Problem(
            key.name,
            f"{key.place} shows the host key {key.fingerprint}, on record is {key.known}; "
            "nothing was written",
            f"find out why; if it should have changed, remove the old line: "
            f"ssh-keygen -R '{key.place}' -f '{collected.known_hosts}'",
        )
        for key in collected.keys
        if key.standing is KeyStatus.CHANGED
    ]
    if problems:
        raise Refused(problems=problems)


def trust(collected: CollectedKeys, *, agreed: bool) -> None:
    """Put the new keys on record; raises Refused if the user did not agree."""
    if not agreed:
        raise Refused(
            "not trusted, nothing was written",
            where=str(collected.known_hosts),
            how="compare the fingerprints with the hosts' own, then run it again",
        )
    add_to_record(collected.known_hosts, collected.new)


def fail_silent(collected: CollectedKeys) -> None:
    """Raise DeviceFailed with every host without a key."""
    if collected.silent:
        raise DeviceFailed(problems=[error.problem for error in collected.silent])
