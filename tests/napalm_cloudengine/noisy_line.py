"""An emulated switch on a line without SSH, with other output between its bytes.

The driver is the real one, from NAPALM's calls down to the bytes of a channel; only paramiko is
left out. Time is a number: a pause on the line takes no real time.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

import napalm_cloudengine.dialogue
from napalm_cloudengine import CloudEngineDriver
from napalm_cloudengine.transport import CloudEngineSSH
from rocefort.emulator.cli.session import CliSession
from rocefort.emulator.cli.terminal import Terminal
from rocefort.emulator.switch.switch import EmulatedSwitch

TIMEOUT_S = 10  # longest silence in the driver's settings
Noise = Mapping[int, Sequence["bytes | float"]]  # by offset: bytes, or seconds of a pause


class _Input:
    """Wait for input of the client."""

    def __await__(self) -> Generator[None, bytes, bytes]:
        return (yield)


@dataclass
class NoisyLine:
    """The driver's view of a paramiko channel, and the terminal's view of an asyncssh process."""

    switch: EmulatedSwitch
    noise: Noise
    echoes: bool = True  # a terminal without echo is not a CloudEngine; the driver supports one
    now: float = 0.0
    printed: bytearray = field(default_factory=bytearray)  # by the switch itself
    closed: bool = False
    eof_received: bool = False
    command: None = None
    _timeout_s: float = 0.0
    _coming: deque[bytes | float] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.stdin = self.stdout = self.channel = self
        self.session = CliSession(self.switch, "netops")
        kind = Terminal if self.echoes else Mute
        self._run = kind(self, self.session).run()  # type: ignore[arg-type]  # what it uses
        self._run.send(None)

    # --- the switch's end -------------------------------------------------------------------

    async def read(self, _count: int) -> bytes:
        return await _Input()

    def write(self, data: bytes) -> None:
        start = len(self.printed)
        self.printed += data
        for at in sorted(at for at in self.noise if start <= at < len(self.printed)):
            self._coming.append(data[: at - start])
            self._coming.extend(self.noise[at])
            data, start = data[at - start :], at
        self._coming.append(data)

    # --- the driver's end -------------------------------------------------------------------

    def get_transport(self) -> NoisyLine:
        return self

    def is_active(self) -> bool:
        return not self.closed

    def settimeout(self, seconds: float) -> None:
        self._timeout_s = seconds

    def sendall(self, data: bytes) -> None:
        if self.closed:
            raise OSError("Socket is closed")
        self._run.send(data)

    def recv(self, _count: int) -> bytes:
        data, left_s = b"", self._timeout_s
        while self._coming:
            coming = self._coming[0]
            if isinstance(coming, bytes):
                data += coming
            elif data:
                return data
            elif coming >= left_s:
                self._coming[0] = coming - left_s
                break
            else:
                left_s -= coming
                self.now += coming
            self._coming.popleft()
        if not data:
            self.now += left_s
            raise TimeoutError
        return data

    def hang_up(self) -> None:
        if not self.closed:
            self.closed = True
            self._run.close()
            self.session.close()


class Mute(Terminal):
    """A terminal that echoes only the end of a typed line."""

    def _take_plain(self) -> None:
        printed = len(self.unsent)
        super()._take_plain()
        del self.unsent[printed:]

    def _edit(self, byte: int) -> None:
        printed = len(self.unsent)
        super()._edit(byte)
        del self.unsent[printed:]


class PipedSSH(CloudEngineSSH):
    """The driver's connection, on an existing line."""

    line: NoisyLine

    def establish_connection(self, width: int = 511, height: int = 1000) -> None:  # noqa: ARG002
        self.remote_conn: Any = self.line
        self.remote_conn_pre = None

    def disconnect(self) -> None:
        self.line.hang_up()
        super().disconnect()


def driver_of(line: NoisyLine, monkeypatch: pytest.MonkeyPatch) -> CloudEngineDriver:
    """Return a driver that connects to this line; its sleeps pass as time on the line."""

    def sleep(seconds: float) -> None:
        line.now += seconds

    connection = type("PipedSSH", (PipedSSH,), {"line": line})
    monkeypatch.setattr(napalm_cloudengine.dialogue, "CloudEngineSSH", connection)
    monkeypatch.setattr(time, "sleep", sleep)
    options = {"name": "leaf01", "ssh_known_hosts": __file__}
    return CloudEngineDriver("192.0.2.1", "netops", "canary-Pa55word", TIMEOUT_S, options)
