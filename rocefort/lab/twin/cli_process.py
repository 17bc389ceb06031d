"""Files and process state of a lab's command lines."""

from __future__ import annotations

from pathlib import Path

from rocefort.lab.twin.registry import LabRecord, Registry
from rocefort.lab.twin.teardown import processes_of


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
