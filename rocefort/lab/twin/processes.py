"""Background processes of a lab, marked with its id; they report when they are ready."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rocefort.base.errors import ServiceFailed
from rocefort.lab.twin.namespaces import marked

READY = "ready"


@dataclass(frozen=True)
class LabProcess:
    """One process. lab: the id in its mark; name: the lab's; what: its description in errors."""

    lab: str
    name: str
    what: str
    log: Path

    def start(self, module: str, arguments: Sequence[str]) -> None:
        """Start `python -m MODULE ARGUMENT .. PIPE`, and wait for `ready` on the pipe.

        Raises ServiceFailed with any other text on the pipe.
        """
        reading, writing = os.pipe()
        words = ["setsid", "--fork", sys.executable, "-m", module, *arguments, str(writing)]
        try:
            with self.log.open("ab") as stream:
                subprocess.run(  # noqa: S603 - our own module
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=stream,
                    pass_fds=(writing,),
                    env=marked(self.lab),
                    check=True,
                )
        finally:
            os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as pipe:
            message = pipe.read().strip()
        if message != READY:
            how = "" if message else f"see {self.log}"
            raise ServiceFailed(message or f"{self.what} did not start", where=self.name, how=how)


def say_ready(pipe: int) -> None:
    """Report on the pipe that the process is ready."""
    os.write(pipe, READY.encode())
    os.close(pipe)
