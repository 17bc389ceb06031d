"""Where the command lines of a lab keep their files, and whether they run."""

from __future__ import annotations

from pathlib import Path

from rocefort.lab.twin.registry import LabRecord, Registry
from rocefort.lab.twin.teardown import processes_of


def lines_directory(registry: Registry, record: LabRecord) -> Path:
    """Keys, known hosts, connections and deeds of a lab's command lines; root's alone."""
    return registry.directory(record.id) / "cli"


def log_file(registry: Registry, record: LabRecord) -> Path:
    """What the process of the command lines complains of."""
    return lines_directory(registry, record) / "cli.log"


def network_file(registry: Registry, record: LabRecord) -> Path:
    """The fabric as it was when the lab came up or grew; `devices_directory` is newer."""
    return lines_directory(registry, record) / "network.json"


def devices_directory(registry: Registry, record: LabRecord) -> Path:
    """What each switch runs that was told something since."""
    return lines_directory(registry, record) / "devices"


def grow_file(registry: Registry, record: LabRecord) -> Path:
    """The fabric that a lab has grown into: the command lines take it up, and remove the file."""
    return lines_directory(registry, record) / "grow.json"


def grown_file(registry: Registry, record: LabRecord) -> Path:
    """What they say of it: empty where they stand, or what went wrong."""
    return lines_directory(registry, record) / "grown.txt"


def pid_file(registry: Registry, record: LabRecord) -> Path:
    """Number of that process, once it listens."""
    return lines_directory(registry, record) / "cli.pid"


def connections_of(registry: Registry, record: LabRecord) -> Path | None:
    """The connections file, where a lab has command lines."""
    file = lines_directory(registry, record) / "connections.yaml"
    return file if file.exists() else None


def lines_run(registry: Registry, record: LabRecord) -> bool:
    """Whether the process of the command lines is alive."""
    file = pid_file(registry, record)
    return file.exists() and int(file.read_text("ascii")) in set(processes_of(record.id))
