"""Processes of a lab that stand until it is down: they bear its mark, and say when they do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rocefort.errors import ServiceFailed
from rocefort.lab.twin.namespaces import marked

READY = "ready"


@dataclass(frozen=True)
class LabProcess:
    """One process. lab: the id that it bears; name: the lab's; what: it is, in words."""

    lab: str
    name: str
    what: str
    log: Path

    def start(self, module: str, arguments: Sequence[str]) -> None:
        """Start `python -m MODULE ARGUMENT .. PIPE`, and wait until it says `ready` on the pipe.

        Raises ServiceFailed with what it says in place of that.
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
            said = pipe.read().strip()
        if said != READY:
            how = "" if said else f"see {self.log}"
            raise ServiceFailed(said or f"{self.what} did not start", where=self.name, how=how)


def say_ready(pipe: int) -> None:
    """Say on the pipe that the process stands."""
    os.write(pipe, READY.encode())
    os.close(pipe)
