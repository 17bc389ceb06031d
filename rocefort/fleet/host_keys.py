"""Host keys of switches and servers (`trust`): collect, check, and record them.

There is no login: the key exchange of SSH shows the host's key before any authentication. A
collected key alone proves nothing: a person compares its fingerprint with the one that the host's
console shows.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import NamedTemporaryFile

import paramiko

from napalm_cloudengine import regular_file
from rocefort.base.errors import BadInput, DeviceFailed, Problem, Refused, ServiceFailed
from rocefort.design.derive.derive import derive
from rocefort.design.load.documents import find_fabric
from rocefort.fleet.connections import Connections, SshAccess
from rocefort.fleet.errors import Unreachable, reading_known_hosts, unreachable
from rocefort.fleet.trusted_keys import HostKeyRow

WORKERS = 20


class KeyStatus(StrEnum):
    """Status of a host's key on record."""

    NEW = "new"
    SAME = "same"
    CHANGED = "CHANGED"


@dataclass(frozen=True, slots=True)
class HostKey:
    """Key that a host shows, and the key on record if that differs.

    place: name of the host in known_hosts; known: the fingerprint on record, "" without one.
    """

    name: str
    place: str
    kind: str
    base64: str
    fingerprint: str
    standing: KeyStatus
    known: str = ""

    @property
    def line(self) -> str:
        """Line of the key for known_hosts."""
        return f"{self.place} {self.kind} {self.base64}\n"


def place_of(access: SshAccess) -> str:
    """Name of an access in known_hosts: `host`, or `[host]:port` for a port other than 22."""
    return access.host if access.port == 22 else f"[{access.host}]:{access.port}"


def collect(
    accesses: Sequence[SshAccess], known_hosts: Path, timeout_s: float
) -> tuple[tuple[HostKey, ...], tuple[Unreachable, ...]]:
    """Collect the keys of hosts in the given order, and the errors of hosts without one.

    known_hosts: the record for comparison; it may not exist yet. Raises BadInput for an unreadable
    record.
    """
    record = read_record(known_hosts)

    def ask(access: SshAccess) -> HostKey | Unreachable:
        recorded: Mapping[str, paramiko.PKey] = record.lookup(place_of(access)) or {}
        at = f"{access.host}:{access.port}"
        try:
            return _key_record(access, _key(access, tuple(recorded), timeout_s), dict(recorded))
        except (paramiko.SSHException, OSError, EOFError) as error:
            return unreachable(access.name, at, access.user, str(known_hosts), error)

    with ThreadPoolExecutor(WORKERS) as pool:
        answers = list(pool.map(ask, accesses))
    return (
        tuple(answer for answer in answers if isinstance(answer, HostKey)),
        tuple(answer for answer in answers if isinstance(answer, Unreachable)),
    )


def read_record(path: Path) -> paramiko.HostKeys:
    """Read known_hosts, empty if it is missing; raises BadInput for a damaged file."""
    with reading_known_hosts(path, "check the path"):
        return paramiko.HostKeys(str(path)) if path.exists() else paramiko.HostKeys()


def add_to_record(path: Path, keys: Iterable[HostKey]) -> None:
    """Add all keys to the known_hosts file, or leave the file unchanged.

    Raises ServiceFailed if it cannot be written.
    """
    try:
        before = regular_file.read_text(path) if path.exists() else ""
        if before and not before.endswith("\n"):
            before += "\n"
        path.parent.mkdir(parents=True, exist_ok=True)
        _swap(path, before + "".join(key.line for key in keys))
    except OSError as error:
        raise ServiceFailed(
            f"known hosts cannot be written: {error.strerror}; the file is unchanged",
            file=str(path),
            how="check its folder and the free space",
        ) from None


def _swap(path: Path, text: str) -> None:
    target = path.resolve()  # a symbolic link remains
    with NamedTemporaryFile(
        "w", encoding="utf-8", dir=target.parent, prefix=f".{target.name}-", delete=False
    ) as part:
        written = Path(part.name)
        try:
            part.write(text)
            part.flush()
            os.fsync(part.fileno())
            if target.exists():
                written.chmod(target.stat().st_mode & 0o777)
            written.replace(target)
        except BaseException:
            written.unlink(missing_ok=True)
            raise


def _key(access: SshAccess, known_kinds: Sequence[str], timeout_s: float) -> paramiko.PKey:
    """Key of one host without a login, of the kind on record if there is one."""
    with socket.create_connection((access.host, access.port), timeout_s) as connection:
        transport = paramiko.Transport(connection)
        try:
            transport.banner_timeout = transport.handshake_timeout = timeout_s
            options = transport.get_security_options()
            # Kinds on record first; signatures of an RSA key have other names than the key.
            signed = ("rsa-sha2-512", "rsa-sha2-256") if "ssh-rsa" in known_kinds else ()
            first = {*known_kinds, *signed}
            options.key_types = sorted(options.key_types, key=lambda kind: kind not in first)
            transport.start_client(timeout=timeout_s)
            return transport.get_remote_server_key()
        finally:
            transport.close()


def _key_record(
    access: SshAccess, key: paramiko.PKey, recorded: dict[str, paramiko.PKey]
) -> HostKey:
    on_record = recorded.get(key.get_name()) or next(iter(recorded.values()), None)
    standing = KeyStatus.NEW
    if on_record is not None:
        standing = KeyStatus.SAME if on_record == key else KeyStatus.CHANGED
    return HostKey(
        access.name,
        place_of(access),
        key.get_name(),
        key.get_base64(),
        key.fingerprint,
        standing,
        on_record.fingerprint if on_record is not None else "",
    )


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
