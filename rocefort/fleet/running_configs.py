"""Running configurations of the switches of a fabric, from a directory or read now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nornir.core import Nornir

from rocefort.design.derive.derive import derive
from rocefort.design.subject import running_texts
from rocefort.fleet.connections import Connections
from rocefort.fleet.nornir_session import open_fleet, require_credentials
from rocefort.fleet.switch_steps import collect_running


@contextmanager
def open_switches(fabric: Path, access: Connections) -> Iterator[tuple[Nornir, list[str]]]:
    """Open the switches of a fabric; yields them with their names."""
    network = derive(fabric).network
    names = [node.name for node in network.nodes]
    with open_fleet(network, access) as nornir:
        require_credentials(nornir, names)
        yield nornir, names


def running_of(
    fabric: Path,
    access: Connections,
    directory: Path | None,
    *,
    say: Callable[[str], None] | None = None,
) -> dict[str, str]:
    """Running text by switch, from a directory or read from the switches now.

    say: receives notes on files that are not read.
    """
    if directory is not None:
        return running_texts(directory, say)
    with open_switches(fabric, access) as (nornir, names):
        return collect_running(nornir, names)
