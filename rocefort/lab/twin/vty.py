"""The command line of an FRR daemon over its socket: 0.2 ms a question, where vtysh takes 40."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

from rocefort.errors import ServiceFailed

END = b"\0\0\0"  # of an answer; one byte follows, 0 where the command was taken
LIMIT_S = 60.0
TAKEN = 0


class Vty:
    """A session with one daemon; where: who it is, for errors."""

    def __init__(self, path: Path, where: str) -> None:
        self.where = where
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(LIMIT_S)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            raise ServiceFailed(f"does not answer: {error.strerror}", where=where) from error
        try:
            self._say("enable")
        except ServiceFailed:
            self._socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, command: str) -> str:
        """Answer to a command. Raises ServiceFailed where the daemon refuses it."""
        text, status = self._say(command)
        if status != TAKEN:
            said = text.strip().splitlines()
            what = f"refused `{command}`: {said[0] if said else f'status {status}'}"
            raise ServiceFailed(what, where=self.where)
        return text

    def read(self, command: str) -> Any:  # noqa: ANN401 - JSON
        """Answer to a command that ends in `json`."""
        return json.loads(self.ask(command) or "{}")

    def configure(self, lines: Iterable[str]) -> None:
        """Enter lines in configuration mode; each is checked."""
        self.ask("configure terminal")
        for line in lines:
            self.ask(line)
        self.ask("end")

    def _say(self, command: str) -> tuple[str, int]:
        try:
            self._socket.sendall(command.encode() + b"\0")
            return self._answer()
        except OSError as error:
            what = f"stopped answering at `{command}`: {error.strerror or error}"
            raise ServiceFailed(what, where=self.where) from error

    def _answer(self) -> tuple[str, int]:
        kept = bytearray()
        while len(kept) < len(END) + 1 or kept[-4:-1] != END:
            part = self._socket.recv(1 << 16)
            if not part:
                raise ServiceFailed("closed its command line: it has died", where=self.where)
            kept += part
        return kept[:-4].decode(errors="replace"), kept[-1]
