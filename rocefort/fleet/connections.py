"""Connections file: SSH access of each switch and each server."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Self, TypeVar

import yaml
from pydantic import AfterValidator, Field, PrivateAttr, model_validator

from rocefort.documents.read import read_document
from rocefort.documents.validate import validate
from rocefort.errors import Problem
from rocefort.fleet.credentials import KeyOrReference
from rocefort.models.base import Frozen, Name, Reference

MOST_TIME_SCALE = 1000
HOST = re.compile(r"[A-Za-z0-9:][A-Za-z0-9.:_-]{0,252}")


def check_host(value: str) -> str:
    """Return an address or host name: one word that is safe for a shell and an SSH client."""
    if not HOST.fullmatch(value):
        raise ValueError(f"{value!r} is not an address or a host name; write one of the two")
    return value


Host = Annotated[str, AfterValidator(check_host)]
Seconds = Annotated[float, Field(gt=0, le=3600)]


class SshAccess(Frozen):
    """SSH access of one switch."""

    name: Name
    host: Host
    port: Annotated[int, Field(ge=1, le=65535)] = 22
    user: Name
    credential: Reference


class ServerAccess(SshAccess):
    """SSH access of one server, and its RDMA device for measurements."""

    credential: KeyOrReference
    rdma_device: Name
    gid_index: Annotated[int, Field(ge=0, le=255)]  # the RoCE v2 GID of the segment's address
    # Wait for an answer before a retransmission: 4.096 us times two to the power of this value
    # (InfiniBand's local ACK timeout); None: perftest's default, 14.
    qp_timeout: Annotated[int, Field(ge=1, le=31)] | None = None


@dataclass(frozen=True, slots=True)
class ConnectionsFile:
    """File that connections were read from; it does not count when connections are compared."""

    name: str = field(default="connections", compare=False)


class Connections(Frozen):
    """All accesses of one site; `known_hosts` has every host key, and no key is learnt."""

    known_hosts: Path
    connect_timeout_s: Seconds = 10
    command_timeout_s: Seconds = 60
    speed_note: str = ""  # reason why RDMA speed is not judged on these servers; else empty
    servers_note: str = ""  # reason why no other server can measure; empty: each leaf needs one
    # Speed of the timers of these switches; a lab sets it for its own switches, on loopback.
    time_scale: Annotated[float, Field(ge=1, le=MOST_TIME_SCALE)] = 1
    devices: tuple[SshAccess, ...]
    servers: tuple[ServerAccess, ...] = ()
    _place: ConnectionsFile = PrivateAttr(ConnectionsFile())  # no field: it is not part of the file

    @property
    def file_name(self) -> str:
        """File of the connections, for errors."""
        return self._place.name

    def read_from(self, path: Path) -> Self:
        """Return the same connections with another file."""
        copy = self.model_copy()
        copy._place = ConnectionsFile(str(path))  # noqa: SLF001 - of this very class
        return copy

    def lacks(self, name: str) -> Problem:
        """Return the problem of a switch without an entry, with an example entry."""
        return Problem(self.file_name, f"no entry for {name}", f"add under devices: {_entry(name)}")

    def lacks_server(self, name: str) -> Problem:
        """Return the problem of a server without an entry, with an example entry."""
        entry = _entry(name, "rdma_device: DEVICE", "gid_index: NUMBER")
        return Problem(self.file_name, f"no entry for {name}", f"add under servers: {entry}")

    @model_validator(mode="after")
    def _scaled_on_loopback(self) -> Self:
        far = [each for each in self.devices if self.time_scale != 1 and not _loopback(each.host)]
        if far:
            raise ValueError(
                f"time_scale is for emulated switches on loopback, and {far[0].name} is at "
                f"{far[0].host}; leave it out"
            )
        return self

    @model_validator(mode="after")
    def _names_once(self) -> Self:
        names = Counter(access.name for access in (*self.devices, *self.servers))
        twice = sorted(name for name, count in names.items() if count > 1)
        if twice:
            raise ValueError(f"{', '.join(twice)} more than once; keep one entry per name")
        return self


A = TypeVar("A", bound=SshAccess)


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _entry(name: str, *more: str) -> str:
    """Example entry for the file, with placeholders."""
    parts = (f"name: {name}", "host: ADDRESS", "user: USER", "credential: REFERENCE", *more)
    return f"- {{{', '.join(parts)}}}"


def load_connections(path: Path) -> Connections:
    """Read a connections file; raises BadInput with file, line and column of every problem.

    Relative paths in it (known_hosts, file: and key: credentials) start at its directory.
    """
    read = validate(Connections, read_document(path, "known_hosts: FILE"))
    return _anchored(read, path.resolve().parent).read_from(path)


def save_connections(connections: Connections, path: Path) -> None:
    """Write a connections file, readable by its owner only."""
    text = yaml.safe_dump(connections.model_dump(mode="json"), sort_keys=False)
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")


def _anchored(connections: Connections, directory: Path) -> Connections:
    def anchor(access: A) -> A:
        scheme, _, rest = access.credential.partition(":")
        if scheme not in ("file", "key"):
            return access
        return access.model_copy(update={"credential": f"{scheme}:{directory / rest}"})

    return connections.model_copy(
        update={
            "known_hosts": directory / connections.known_hosts,
            "devices": tuple(map(anchor, connections.devices)),
            "servers": tuple(map(anchor, connections.servers)),
        }
    )
