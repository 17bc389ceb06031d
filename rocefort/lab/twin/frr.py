"""FRR daemons of one switch: files, start, and the check of their texts."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Self

from rocefort.base.errors import ServiceFailed
from rocefort.dialects.frr import DAEMONS
from rocefort.lab.twin.namespaces import run
from rocefort.lab.twin.requirements import FRR

END = b"\0\0\0"  # of an answer; one byte follows, 0 if the command was accepted
LIMIT_S = 60.0
TAKEN = 0


class DaemonSession:
    """A session with one daemon; where: its name, for errors."""

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
        """Return the answer to a command. Raises ServiceFailed if the daemon refuses it."""
        text, status = self._say(command)
        if status != TAKEN:
            message = text.strip().splitlines()
            what = f"refused `{command}`: {message[0] if message else f'status {status}'}"
            raise ServiceFailed(what, where=self.where)
        return text

    def read(self, command: str) -> Any:  # noqa: ANN401 - JSON
        """Return the answer to a command that ends in `json`."""
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
        received = bytearray()
        while len(received) < len(END) + 1 or received[-4:-1] != END:
            part = self._socket.recv(1 << 16)
            if not part:
                raise ServiceFailed("closed its command line: it has died", where=self.where)
            received += part
        return received[:-4].decode(errors="replace"), received[-1]


USER = "frr"  # user of the daemons: root does not work
DESCRIPTORS = 1024  # a bgpd allocates memory for each possible one
PATIENCE_S = 20.0  # until a daemon ends
# FRR starts with the lines that it understands, and reports the others in its log only.
BAD_LINE = re.compile(
    r"(?:^|(?<=:))[^:A-Z]*(?P<what>[A-Z][^:]*) on config line (?P<line>\d+): (?P<text>.*)"
)


@dataclass(frozen=True)
class Daemons:
    """Daemons of a switch; directory: of their files and sockets, lab: the lab's id."""

    lab: str
    switch: str
    directory: Path

    def prepare(self) -> None:
        """Create the directory, owned by the daemons' user."""
        self.directory.mkdir(parents=True, exist_ok=True)
        shutil.chown(self.directory, USER, USER)

    def start(self, texts: Iterable[tuple[str, str]]) -> None:
        """Start daemons, in the namespace of the calling thread, zebra first.

        Raises ServiceFailed if one does not start, or does not understand a line.
        """
        text_of = dict(texts)
        names = [name for name in DAEMONS if name in text_of]
        for name in names:
            self._start(name, text_of[name])
        for name in names:
            self._await(name)
            self._check_log(name, text_of[name].splitlines())

    def _start(self, name: str, text: str) -> None:
        config, log = self.directory / f"{name}.conf", self.directory / f"{name}.log"
        config.write_text(text, encoding="utf-8")
        shutil.chown(config, USER, USER)
        options = ["-d", "-f", config, "-i", self.directory / f"{name}.pid"]
        options += ["-z", self.directory / "zserv.api", "--vty_socket", self.directory, "-P", "0"]
        options += ["--log", f"file:{log}", "--log-level", "warnings"]
        options += ["--limit-fds", str(DESCRIPTORS)]
        if name == "bfdd":
            options.remove("-z")
            options.remove(self.directory / "zserv.api")
            options += ["--bfdctl", self.directory / "bfdd.sock"]
            options += ["-z", self.directory / "zserv.api"]
        run(self.lab, [str(FRR / name), *map(str, options)], where=f"{self.switch} {name}")

    def _await(self, name: str) -> None:
        """Wait until a daemon answers: then it has read its text, and its log is written."""
        until = monotonic() + PATIENCE_S
        while (refusal := self._refusal(name)) is not None:
            if monotonic() > until or not self.running(name):
                raise refusal
            sleep(0.01)

    def _refusal(self, name: str) -> ServiceFailed | None:
        try:
            with self.vty(name) as vty:
                vty.ask("show version")
        except ServiceFailed as error:
            return error
        return None

    def _check_log(self, name: str, lines: list[str]) -> None:
        log = self.directory / f"{name}.log"
        log_text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        if match := BAD_LINE.search(log_text):
            number = int(match["line"])
            line = lines[number - 1].strip() if number <= len(lines) else match["text"]
            what = f"does not understand `{line}`: {match['what'].rpartition('] ')[2]}"
            raise ServiceFailed(what, where=f"{self.switch} {name}")

    def vty(self, name: str) -> DaemonSession:
        """Open the command line of a daemon. Raises ServiceFailed if it does not run."""
        return DaemonSession(self.directory / f"{name}.vty", f"{self.switch} {name}")

    def stop(self, name: str) -> None:
        """End a daemon, which first removes its routes from the kernel."""
        path = self.directory / f"{name}.pid"
        until = monotonic() + PATIENCE_S
        if self.running(name):
            os.kill(int(path.read_text(encoding="ascii")), signal.SIGTERM)
        while self.running(name):
            if monotonic() > until:
                raise ServiceFailed(
                    f"does not end within {PATIENCE_S:.0f} s", where=f"{self.switch} {name}"
                )
            sleep(0.02)
        path.unlink(missing_ok=True)

    def running(self, name: str) -> bool:
        """Whether a daemon that was started still runs."""
        try:
            pid = int((self.directory / f"{name}.pid").read_text(encoding="ascii"))
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            return False
        words = stat.rpartition(") ")
        return words[0].endswith(f"({name}") and words[2][0] not in "ZX"  # zombie, dead
