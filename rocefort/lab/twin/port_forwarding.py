"""Forwarding of ports on loopback to SSH of a lab's guests.

    python -m rocefort.lab.twin.port_forwarding ROOT NAME PIPE

A guest's management port is not part of the fabric, but in the namespace of its server: changes in
the fabric end no session. The forwarder is a process of the lab, so that `lab down` ends it.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import Iterable
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path

from rocefort.lab.guest.qemu import MANAGEMENT
from rocefort.lab.twin.namespaces import inside
from rocefort.lab.twin.registry import (
    LabProcess,
    LabRecord,
    Registry,
    namespace,
    say_ready,
    write_whole,
)

LOOPBACK = "127.0.0.1"
SSH_PORT = 22
PATIENCE_S = 30.0  # a guest with an emulated CPU answers late
PIECE = 65536


def ports_file(directory: Path) -> Path:
    """Return the file with the port on loopback of each guest, by name."""
    return directory / "ports.json"


def pid_file(directory: Path) -> Path:
    """Return the file with the process id."""
    return directory / "forwarding.pid"


def start_forwarding(registry: Registry, record: LabRecord, directory: Path) -> dict[str, int]:
    """Start the process, and wait until it listens; returns the port of each guest."""
    log = directory / "forwarding.log"
    process = LabProcess(record.id, record.name, "port forwarding to the guests", log)
    arguments = (str(registry.root), record.name, str(directory))
    process.start("rocefort.lab.twin.port_forwarding", arguments)
    ports: dict[str, int] = json.loads(ports_file(directory).read_text(encoding="utf-8"))
    return ports


async def forward(lab: str, guests: Iterable[str], directory: Path, pipe: int) -> None:
    """Listen for all guests of a lab until the process is killed."""
    async with AsyncExitStack() as opened:
        ports = {}
        for guest in guests:
            carry = partial(_carry, namespace(lab, guest))
            server = await asyncio.start_server(carry, LOOPBACK, 0)
            await opened.enter_async_context(server)
            ports[guest] = server.sockets[0].getsockname()[1]
        write_whole(ports_file(directory), json.dumps(ports))
        pid_file(directory).write_text(str(os.getpid()), encoding="ascii")
        say_ready(pipe)
        await asyncio.Event().wait()


async def _carry(inner: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Join one connection with the guest's; end it if the guest does not answer."""
    try:
        sock = await asyncio.to_thread(_socket_in, inner)
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.get_running_loop().sock_connect(sock, (MANAGEMENT[1], SSH_PORT))
        guest_reader, guest_writer = await asyncio.open_connection(sock=sock)
    except OSError:  # also a timeout
        writer.close()
        return
    try:
        await asyncio.gather(_copy(reader, guest_writer), _copy(guest_reader, writer))
    finally:
        guest_writer.close()
        writer.close()


def _socket_in(inner: str) -> socket.socket:
    """Return a socket that stays in a namespace, whichever thread uses it."""
    (sock,) = inside([(inner, lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))])
    sock.setblocking(False)
    return sock


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):  # the other side has closed
        while piece := await source.read(PIECE):
            target.write(piece)
            await target.drain()
        target.write_eof()


def main() -> None:
    """Serve a lab's guests."""
    root, name, directory, pipe = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), sys.argv[4]
    record = Registry(root).find(name)
    asyncio.run(forward(record.id, record.guests, directory, int(pipe)))


if __name__ == "__main__":
    main()
