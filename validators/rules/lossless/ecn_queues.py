"""Queues that a switch marks by static thresholds, with these thresholds, for the ECN rules."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.models.device.drop_profile import DropLimits, QueueMarking
from rocefort.models.device.interface import Interface
from rocefort.models.hardware.hardware import Family
from rocefort.models.network.network import End, Node
from rocefort.models.units import KBYTE

WHOLE_FROM = 1000  # kbytes from which on no fraction is printed


def static_rows(node: Node) -> Iterator[tuple[Interface, QueueMarking]]:
    """Queues of ports that have ECN by a drop profile."""
    for interface in node.device.interfaces:
        for row in interface.markings:
            if row.ecn:
                yield interface, row


def limits_of(node: Node, row: QueueMarking) -> DropLimits | None:
    """Kmin, Kmax and Pmax of a queue's ECN; None where its profile has none."""
    profile = node.device.drop_profile(row.profile) if row.profile is not None else None
    return profile.ecn if profile else None


def in_bytes(limits: DropLimits, family: Family | None) -> tuple[int, int] | None:
    """Kmin and Kmax in bytes; None where the unit is not known in bytes."""
    if limits.unit == "bytes":
        return limits.low, limits.high
    if limits.unit == "cells" and family and family.cell_bytes:
        cell = family.cell_bytes.value
        return limits.low * cell, limits.high * cell
    return None  # percent of a queue whose depth changes with the load


def end_of(node: Node, interface: Interface) -> End:
    """A port as the place of a verdict."""
    return End(device=node.name, interface=interface.name)


def kb(size_bytes: float) -> str:
    """Size in kbytes as text: `7 KB`, `18.75 KB`, `19367 KB`."""
    size = size_bytes / KBYTE
    return f"{size:.0f} KB" if size >= WHOLE_FROM else f"{size:.4g} KB"
