"""Results of commands on labs, for programs."""

from __future__ import annotations

from rocefort.models.base import Frozen
from rocefort.models.results.twin import LabStatus


class Labs(Frozen):
    """Labs on this machine."""

    labs: tuple[LabStatus, ...]


class FaultKind(Frozen):
    """Fault that a lab can inject, and its effect."""

    name: str
    effect: str


class FaultKinds(Frozen):
    """Faults that a lab can inject."""

    faults: tuple[FaultKind, ...]


class RepairedFaults(Frozen):
    """Faults of a lab that were repaired."""

    repaired: tuple[str, ...]


class LabGrowth(Frozen):
    """Nodes that a running lab got; cables: their number."""

    lab: str
    switches: tuple[str, ...]
    servers: tuple[str, ...]
    cables: int


class LabAccess(Frozen):
    """SSH access of an emulated switch or server."""

    name: str
    host: str
    port: int
    user: str


class LabAccesses(Frozen):
    """Command lines of a lab that runs; connections: file for the other commands."""

    connections: str
    accesses: tuple[LabAccess, ...]
    notes: tuple[str, ...]


class GuestImage(Frozen):
    """Image of the guests; packages: their number."""

    kernel: str
    packages: int
