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

from rocefort.base.documents.read import read_document
from rocefort.base.documents.schema import schema_of
from rocefort.base.documents.validate import validate
from rocefort.base.errors import Problem
from rocefort.base.secret_references import KeyOrReference
from rocefort.models.base import Frozen, Name, Reference
from rocefort.models.wording import named

MOST_TIME_SCALE = 1000
HOST = re.compile(r"[A-Za-z0-9:][A-Za-z0-9.:_-]{0,252}")


def check_host(value: str) -> str:
    """Return an address or host name: one word that is safe for a shell and an SSH client."""
    if not HOST.fullmatch(value):
        raise ValueError(f"{value!r} is not an address or a host name; write one of the two")
    return value


Host = Annotated[str, AfterValidator(check_host)]
Seconds = Annotated[float, Field(gt=0, le=3600, json_schema_extra=named("a time limit"))]


class SshAccess(Frozen):
    """SSH access of one switch."""

    name: Name = Field(description="Name of the switch in the fabric.", examples=["leaf01"])
    host: Host = Field(description="Address or host name.", examples=["10.255.0.1"])
    port: int = Field(
        default=22,
        ge=1,
        le=65535,
        json_schema_extra=named("a TCP or UDP port"),
        description="Port of its SSH server.",
    )
    user: Name = Field(description="Login name.", examples=["netops"])
    credential: Reference = Field(
        description="Password by reference: env:NAME, file:PATH or keyring:SERVICE/USER.",
        examples=["env:SWITCH_PASSWORD"],
    )

    @property
    def endpoint(self) -> str:
        """Host and port as one word."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def on_loopback(self) -> bool:
        """Whether it is on this machine, as emulated switches are."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False


class ServerAccess(SshAccess):
    """SSH access of one server, and its RDMA device for measurements."""

    name: Name = Field(description="Name of the server in the fabric.", examples=["gpu01"])
    credential: KeyOrReference = Field(
        description="Private key, key:PATH, or a password by reference, as of a switch.",
        examples=["key:id_ed25519"],
    )
    rdma_device: Name = Field(description="RDMA device for measurements.", examples=["mlx5_0"])
    gid_index: int = Field(
        ge=0,
        le=255,
        json_schema_extra=named("a GID index"),
        description="Index of the RoCE v2 GID of the segment's address.",
        examples=[3],
    )
    qp_timeout: int | None = Field(
        default=None,
        ge=1,
        le=31,
        json_schema_extra=named("an exponent", "14 is 67 ms, 20 is 4.3 s"),
        description="Wait for an answer before a retransmission: 4.096 us times two to the power "
        "of this value (InfiniBand's local ACK timeout); perftest's default is 14.",
        examples=[18],
    )


@dataclass(frozen=True, slots=True)
class ConnectionsFile:
    """File that connections were read from; it does not count when connections are compared."""

    name: str = field(default="connections", compare=False)


class Connections(Frozen):
    """All accesses of one site; `known_hosts` has every host key, and no key is learnt."""

    known_hosts: Path = Field(
        description="File of SSH host keys; `rocefort trust` records them.",
        examples=["known_hosts"],
    )
    connect_timeout_s: Seconds = Field(default=10, description="Time limit of a login (s).")
    command_timeout_s: Seconds = Field(default=60, description="Time limit of a command (s).")
    speed_note: str = Field(
        default="",
        description="Reason why RDMA speed is not judged on these servers.",
        examples=["virtual machines"],
    )
    emulated: bool = Field(
        default=False,
        description="Whether the servers are emulated: their figures are constants, which enter no "
        "comparison.",
    )
    servers_note: str = Field(
        default="",
        description="Reason why no other server can measure; empty: each leaf needs one.",
        examples=["guests of a lab"],
    )
    time_scale: float = Field(
        default=1,
        ge=1,
        le=MOST_TIME_SCALE,
        json_schema_extra=named("a factor"),
        description="Speed of the timers; a lab sets it for its own switches, on loopback.",
    )
    devices: tuple[SshAccess, ...] = Field(description="SSH access of each switch.")
    servers: tuple[ServerAccess, ...] = Field(
        default=(), description="SSH access of each server that measures."
    )
    _place: ConnectionsFile = PrivateAttr(ConnectionsFile())  # no field: it is not part of the file

    @property
    def file_name(self) -> str:
        """File of the connections, for errors."""
        return self._place.name

    @property
    def hosts(self) -> dict[str, str]:
        """Host and port of each switch and server, by name."""
        return {each.name: each.endpoint for each in (*self.devices, *self.servers)}

    @property
    def of_lab(self) -> bool:
        """Whether they lead to a lab: emulated switches, or a twin, on this machine."""
        virtual = bool(self.speed_note) and all(each.on_loopback for each in self.devices)
        return self.emulated or virtual

    def read_from(self, path: Path) -> Self:
        """Return the same connections with another file."""
        copy = self.model_copy()
        copy._place = ConnectionsFile(str(path))  # noqa: SLF001 - of this very class
        return copy

    def lacks(self, name: str) -> Problem:
        """Return the problem of a switch without an entry, with an example entry."""
        return Problem(
            "", f"no entry for {name}", f"add under devices: {_entry(name)}", self.file_name
        )

    def lacks_server(self, name: str) -> Problem:
        """Return the problem of a server without an entry, with an example entry."""
        entry = _entry(name, "rdma_device: DEVICE", "gid_index: NUMBER")
        return Problem("", f"no entry for {name}", f"add under servers: {entry}", self.file_name)

    @model_validator(mode="after")
    def _scaled_on_loopback(self) -> Self:
        far = [each for each in self.devices if self.time_scale != 1 and not each.on_loopback]
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


def _entry(name: str, *more: str) -> str:
    """Example entry for the file, with placeholders."""
    parts = (f"name: {name}", "host: ADDRESS", "user: USER", "credential: REFERENCE", *more)
    return f"- {{{', '.join(parts)}}}"


def connections_schema() -> str:
    """Return the JSON Schema of a connections file."""
    return schema_of(Connections, "connections")


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
