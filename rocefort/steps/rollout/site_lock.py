"""Steps that keep the switches of a site to one controller."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rocefort.fleet.connections import Connections, load_connections
from rocefort.rollout.journal.lock import one_controller


@contextmanager
def holding(access: Connections) -> Iterator[None]:
    """Hold all switches that are reached; raises Refused, naming who has one."""
    with one_controller(f"{device.host}:{device.port}" for device in access.devices):
        yield


def refuse_second_controller(sealed: Path, connections: Path) -> None:
    """Raise Refused where another controller is at work: at once, before anything slow is loaded.

    Who is not refused here takes the lock for good a moment later, or is refused then. Without a
    plan at `sealed` nothing is asked here: that it is missing is told first, by who reads it.
    """
    if not sealed.exists():
        return
    with holding(load_connections(connections)):
        pass
