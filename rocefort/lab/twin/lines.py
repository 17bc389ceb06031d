"""Where the command lines of a lab keep their files, and whether they run."""

from __future__ import annotations

from pathlib import Path

from rocefort.lab.twin.reap import processes_of
from rocefort.lab.twin.registry import Record, Registry


def lines_directory(registry: Registry, record: Record) -> Path:
    """Keys, known hosts, connections and deeds of a lab's command lines; root's alone."""
    return registry.directory(record.id) / "cli"


def log_file(registry: Registry, record: Record) -> Path:
    """What the process of the command lines complains of."""
    return lines_directory(registry, record) / "cli.log"


def pid_file(registry: Registry, record: Record) -> Path:
    """Number of that process, once it listens."""
    return lines_directory(registry, record) / "cli.pid"


def connections_of(registry: Registry, record: Record) -> Path | None:
    """The connections file, where a lab has command lines."""
    file = lines_directory(registry, record) / "connections.yaml"
    return file if file.exists() else None


def lines_run(registry: Registry, record: Record) -> bool:
    """Whether the process of the command lines is alive."""
    file = pid_file(registry, record)
    return file.exists() and int(file.read_text("ascii")) in set(processes_of(record.id))
