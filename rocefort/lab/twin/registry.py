"""Labs on this machine: their records, their background processes, and their removal.

The lab's id alone finds them, in the names of namespaces and in the environment of processes: a lab
that was killed during its start needs no list of what it had created.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep
from typing import IO, Literal

from pydantic import ValidationError

from rocefort.base.errors import BadInput, Refused, ServiceFailed
from rocefort.lab.twin.namespaces import NETNS, ip_batch, is_marked, marked, restore_neighbour_limit
from rocefort.lab.twin.topology import TwinTopology
from rocefort.models.base import Frozen, check_name

ROOT = Path("/run/rocefort")  # removed by a reboot, as namespaces are
LONGEST_LAB = 32
# If a process is killed while it starts a child, the child has its lock until it executes its
# program: 0.2 s were seen on a busy machine.
CHILD_S = 2.0
Status = Literal["starting", "up", "changing"]


class LabRecord(Frozen):
    """One lab. id: in the names of its namespaces and directories; bfd: whether its peers run it.

    guests: servers that QEMU runs, from an image (its directory), by TCG or KVM.

    A lab that is not `up`, and whose lock is free, was left behind by a process that died.
    """

    name: str
    id: str
    fabric: str
    status: Status
    started: datetime
    bfd: bool = False
    frr: str = ""
    lacks: tuple[str, ...] = ()
    guests: tuple[str, ...] = ()
    image: str = ""
    accel: str = ""


class Registry:
    """Records under a directory; only what is in a record is ever touched."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self._labs = root / "labs"

    def names(self) -> tuple[str, ...]:
        """Return the names of all labs, whole or left behind."""
        return tuple(sorted(path.stem for path in self._labs.glob("*.json")))

    def directory(self, lab: str) -> Path:
        """Return the folder of a lab's files, by its id: sockets need short paths."""
        return self.root / "run" / lab

    def find(self, name: str) -> LabRecord:
        """Return the record of a lab. Raises BadInput with the known labs if there is none."""
        try:
            text = self._path(name).read_text(encoding="utf-8")
            return LabRecord.model_validate_json(text)
        except FileNotFoundError:
            names = ", ".join(self.names())
            how = f"there are: {names}" if names else "`rocefort lab up FABRIC` starts one"
            raise BadInput(f"no lab is called {name!r}", how=how) from None
        except ValidationError as error:
            what = f"cannot be read: {error.errors()[0]['msg']}"
            raise ServiceFailed(what, where=str(self._path(name))) from error

    def begin(
        self, name: str, fabric: str, *, bfd: bool, frr: str, lacks: tuple[str, ...]
    ) -> LabRecord:
        """Record a new lab; the caller holds its lock."""
        record = LabRecord(
            name=name,
            id=secrets.token_hex(3),
            fabric=fabric,
            status="starting",
            started=datetime.now(UTC),
            bfd=bfd,
            frr=frr,
            lacks=lacks,
        )
        self.save(record)
        return record

    def save(self, record: LabRecord) -> None:
        """Write a record whole or not at all."""
        write_whole(self._path(record.name), record.model_dump_json(indent=1))

    def forget(self, record: LabRecord) -> None:
        """Remove a record, after all parts of its lab."""
        self._path(record.name).unlink(missing_ok=True)
        (self._labs / f"{record.name}.lock").unlink(missing_ok=True)
        for path in (self.root / "run", self._labs, self.root):
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()

    def topology(self, record: LabRecord) -> TwinTopology:
        """Return the topology of a lab. Raises ServiceFailed if the lab was never whole."""
        path = self.directory(record.id) / "topology.json"
        try:
            return TwinTopology.model_validate_json(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValidationError):
            how = f"`rocefort lab down {record.name}` removes it"
            raise ServiceFailed(f"lab {record.name} never came up whole", how=how) from None

    def save_topology(self, record: LabRecord, topology: TwinTopology) -> None:
        """Write the topology of a lab."""
        write_whole(self.directory(record.id) / "topology.json", topology.model_dump_json())

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Lock a lab for one process. Raises Refused if another process works on it."""
        self._path(name)
        self._labs.mkdir(parents=True, exist_ok=True)
        path = self._labs / f"{name}.lock"
        with path.open("a+", encoding="ascii") as file:
            until = monotonic() + CHILD_S
            while not _flocked(file):
                holder = path.read_text(encoding="ascii").strip()
                if not holder or Path("/proc", holder).exists() or monotonic() > until:
                    what = f"process {holder or 'unknown'} is at work on lab {name}"
                    raise Refused(what, how="wait for it, or end it")
                sleep(0.01)
            if not path.exists() or not path.samefile(f"/proc/self/fd/{file.fileno()}"):
                raise Refused(f"lab {name} was removed just now", how="try again")
            path.write_text(str(os.getpid()), encoding="ascii")
            try:
                yield
            finally:
                if not self._path(name).exists():
                    path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        try:
            check_name(name)
        except ValueError as error:
            raise BadInput(str(error), where="--name") from None
        if len(name) > LONGEST_LAB:
            what = f"a lab's name of {len(name)} characters"
            raise BadInput(what, where="--name", how=f"use at most {LONGEST_LAB}")
        return self._labs / f"{name}.json"


def _flocked(file: IO[str]) -> bool:
    """Lock a file; False if another process has it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader gets the old text or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)


PATIENCE_S = 20.0


def namespace(lab: str, node: str) -> str:
    """Return the name of a node's namespace, by the lab's id."""
    return f"rf-{lab}-{node}"


def namespaces_of(lab: str) -> list[str]:
    """Return the namespaces of a lab."""
    return sorted(path.name for path in NETNS.glob(f"rf-{lab}-*"))


def reap(registry: Registry, record: LabRecord) -> None:
    """Remove a lab; the caller holds its lock. Raises ServiceFailed if something remains."""
    end_processes(record.id)
    remove_namespaces(record.id, namespaces_of(record.id))
    shutil.rmtree(registry.directory(record.id), ignore_errors=True)
    if remaining := namespaces_of(record.id):
        what = f"{len(remaining)} namespaces cannot be removed, {remaining[0]} the first"
        raise ServiceFailed(what, where=record.name, how="see what holds them: ip netns pids")
    registry.forget(record)
    if not registry.names():
        restore_neighbour_limit(registry.root)


def remove_namespaces(lab: str, names: list[str]) -> None:
    """Remove namespaces, also incomplete ones, with all their links."""
    if names:
        ip_batch(lab, [f"netns del {name}" for name in names])


def end_processes(lab: str, only: set[str] | None = None) -> None:
    """Kill the processes of a lab until none is left; only: those in these namespaces.

    A process that is just starting another is killed first, and then the other.
    """
    until = time.monotonic() + PATIENCE_S
    while pids := list(processes_of(lab, only)):
        for pid in pids:
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > until:
            what = f"process {pids[0]} does not end"
            raise ServiceFailed(what, how="see what it waits for: cat /proc/PID/stack")
        time.sleep(0.01)


def processes_of(lab: str, only: set[str] | None = None) -> Iterator[int]:
    """Yield processes that a lab has started, or that are in one of its namespaces."""
    names = only if only is not None else set(namespaces_of(lab))
    inodes = {stat.st_ino for name in names if (stat := _stat(NETNS / name)) is not None}
    for path in Path("/proc").iterdir():
        if path.name.isdecimal() and int(path.name) != os.getpid():
            inside = _stat(path / "ns/net")
            if (inside is not None and inside.st_ino in inodes) or (
                only is None and is_marked(int(path.name), lab)
            ):
                yield int(path.name)


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None  # the process has ended meanwhile


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


def lines_directory(registry: Registry, record: LabRecord) -> Path:
    """Return the folder of keys, known hosts, connections and audit log, for root only."""
    return registry.directory(record.id) / "cli"


def log_file(registry: Registry, record: LabRecord) -> Path:
    """Return the error log of the command-line process."""
    return lines_directory(registry, record) / "cli.log"


def network_file(registry: Registry, record: LabRecord) -> Path:
    """Return the file of the fabric at the lab's start or growth; `devices_directory` is newer."""
    return lines_directory(registry, record) / "network.json"


def devices_directory(registry: Registry, record: LabRecord) -> Path:
    """Return the folder of Devices whose configuration changed since the start."""
    return lines_directory(registry, record) / "devices"


def grow_file(registry: Registry, record: LabRecord) -> Path:
    """Return the file of a grown fabric: the command lines read it, and remove the file."""
    return lines_directory(registry, record) / "grow.json"


def grown_file(registry: Registry, record: LabRecord) -> Path:
    """Return the file with the result of a growth: empty on success, else the error."""
    return lines_directory(registry, record) / "grown.txt"


def pid_file(registry: Registry, record: LabRecord) -> Path:
    """Return the file with the process id, written once the process listens."""
    return lines_directory(registry, record) / "cli.pid"


def connections_of(registry: Registry, record: LabRecord) -> Path | None:
    """Return the connections file, if a lab has command lines."""
    file = lines_directory(registry, record) / "connections.yaml"
    return file if file.exists() else None


def lines_run(registry: Registry, record: LabRecord) -> bool:
    """Whether the process of the command lines is alive."""
    file = pid_file(registry, record)
    return file.exists() and int(file.read_text("ascii")) in set(processes_of(record.id))
