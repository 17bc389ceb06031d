"""Steps that lock the switches of a site for one controller."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rocefort.fleet.connections import Connections, load_connections
from rocefort.rollout.journal.lock import one_controller


@contextmanager
def holding(access: Connections) -> Iterator[None]:
    """Hold the locks of all reached switches; raises Refused with the holder's name."""
    with one_controller(f"{device.host}:{device.port}" for device in access.devices):
        yield


def refuse_second_controller(sealed: Path, connections: Path) -> None:
    """Raise Refused if another controller is running, before slow modules are loaded.

    A caller that is not refused here takes the lock a moment later, or is refused then. Without a
    plan at `sealed` there is no check here: the reader of the plan reports the missing file first.
    """
    if not sealed.exists():
        return
    with holding(load_connections(connections)):
        pass
