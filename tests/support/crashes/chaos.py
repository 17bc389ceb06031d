"""A `rocefort` whose machine fails at an instant: `python chaos.py`, then a JSON line per call.

The server imports all that a rollout needs once, and forks a process for each call, so that limits,
clock and streams are that process's own. A failure begins before a journal row or before a line to
a switch, by its number, and stays.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from threading import Lock
from typing import Any

from napalm_cloudengine.transport import CloudEngineSSH
from rocefort import tasks
from rocefort.rollout.journal.journal import SqliteJournal

IMPORTED = (
    *("rocefort.rollout.operate_commands", "rocefort.rollout.apply.operate"),
    *("rocefort.rollout.apply.apply", "rocefort.rollout.plan.base_policy", "keyring", "rich"),
)
NOWHERE = "/nonexistent/nowhere"
DAY_S = 86_400
ROW, LINE = "row", "line"
SECRET = "emulated-only"  # opens the emulated switches and servers


@dataclass(frozen=True)
class Call:
    """Command line, its outputs, and the failure with its instant."""

    words: tuple[str, ...]
    out: str
    err: str
    journal: str
    kind: str = ""  # of KINDS; empty: nothing fails
    unit: str = ROW
    number: int = 0


@dataclass(frozen=True)
class Ended:
    """Result of a call with its numbers of rows and lines. struck: the failure began."""

    code: int
    rows: int
    lines: int
    struck: bool


class Instant:
    """Counter of rows and lines that begins the failure."""

    def __init__(self, call: Call, counts: Path) -> None:
        self.call, self.counts = call, counts
        self.seen = {ROW: 0, LINE: 0}
        self.struck = False
        self.lock = Lock()

    def come(self, unit: str) -> None:
        with self.lock:
            self.seen[unit] += 1
            due = bool(self.call.kind) and unit == self.call.unit
            due = due and not self.struck and self.seen[unit] == self.call.number
            self.struck = self.struck or due
        if due:
            KINDS[self.call.kind](self.call)

    def install(self) -> None:
        append, exchange = SqliteJournal.append, CloudEngineSSH.exchange

        def counted_append(journal: SqliteJournal, *given: Any) -> None:
            self.come(ROW)
            append(journal, *given)

        def counted_exchange(ssh: CloudEngineSSH, *given: Any, **named: Any) -> Any:
            self.come(LINE)
            return exchange(ssh, *given, **named)

        SqliteJournal.append = counted_append  # type: ignore[method-assign, assignment]
        CloudEngineSSH.exchange = counted_exchange  # type: ignore[method-assign, assignment]


def lose(call: Call, *numbers: int) -> None:
    """Redirect streams to a closed reader, or onto a full disk."""
    for number in numbers:
        if call.number % 2:
            reader, lost = os.pipe()
            os.close(reader)
        else:
            lost = os.open("/dev/full", os.O_WRONLY)
        os.dup2(lost, number)
        os.close(lost)


def no_temporary_folder(_: Call) -> None:
    """Make the temporary folder unusable, in which a defect would store its traceback."""
    os.environ["TMPDIR"] = NOWHERE
    tempfile.tempdir = NOWHERE
    raise RuntimeError(f"no luck with {SECRET}")


def full_disk(call: Call) -> None:
    """Limit the size of files to the present size of the journal."""
    sizes = [Path(call.journal + end).stat().st_size for end in ("-wal", "") if
             Path(call.journal + end).is_file()]  # fmt: skip
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (max(sizes, default=0), hard))


def no_descriptors(_: Call) -> None:
    """Prevent the opening of files and sessions; open ones stay."""
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, free))


def no_memory(_: Call) -> None:
    raise MemoryError


def jump(seconds: int) -> None:
    """Set the clock of this machine."""
    real = time.time
    time.time = lambda: real() + seconds

    class Jumped(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + timedelta(seconds=seconds)

    for name, module in list(sys.modules.items()):
        if name.startswith("rocefort") and getattr(module, "datetime", None) is datetime:
            module.datetime = Jumped  # type: ignore[attr-defined]


KINDS: dict[str, Callable[[Call], None]] = {
    "standard output": lambda call: lose(call, 1),
    "standard error": lambda call: lose(call, 2),
    "both outputs": lambda call: lose(call, 1, 2),
    "temporary folder": no_temporary_folder,
    "disk": full_disk,
    "descriptors": no_descriptors,
    "memory": no_memory,
    "clock": lambda call: jump(DAY_S if call.number % 2 else -DAY_S),
}


def serve() -> None:
    """Answer calls until standard input ends."""
    for name in IMPORTED:
        with suppress(ImportError):  # keyring is an extra
            importlib.import_module(name)
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        call = Call(**{**request, "words": tuple(request["words"])})
        counts = Path(call.out + ".counts")
        process = os.fork()
        if process == 0:
            live(call, counts)
        _, status = os.waitpid(process, 0)
        rows, lines, struck = json.loads(counts.read_text())
        ended = Ended(os.waitstatus_to_exitcode(status), rows, lines, struck)
        sys.stdout.write(json.dumps(asdict(ended)) + "\n")
        sys.stdout.flush()


def live(call: Call, counts: Path) -> None:
    """Run one call in this process; never returns."""
    for number, file in ((1, call.out), (2, call.err)):
        opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    instant = Instant(call, counts)
    instant.install()
    saved_output = os.open(counts, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    sys.argv = ["rocefort", *call.words]
    code: object = 0
    try:
        tasks.app()
    except SystemExit as ended:
        code = ended.code
    summary = json.dumps([instant.seen[ROW], instant.seen[LINE], instant.struck])
    os.write(saved_output, summary.encode())
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(int(str(code or 0)))


if __name__ == "__main__":
    serve()
