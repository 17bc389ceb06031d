"""Records of the labs on this machine; a record is written before its lab is created."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep
from typing import IO, Literal

from pydantic import ValidationError

from rocefort.base.errors import BadInput, Refused, ServiceFailed
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
