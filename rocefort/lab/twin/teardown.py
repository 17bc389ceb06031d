"""Removal of a lab in any state: processes, namespaces, files, its record.

The lab's id alone finds them, in the names of namespaces and in the environment of processes: a lab
that was killed during its start needs no list of what it had created.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from rocefort.base.errors import ServiceFailed
from rocefort.lab.twin.namespaces import NETNS, ip_batch, is_marked, restore_neighbour_limit
from rocefort.lab.twin.registry import LabRecord, Registry

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
