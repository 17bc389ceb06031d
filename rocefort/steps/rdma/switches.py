"""Counters of the switches around RDMA tests: PFC frames, drops, marks; nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from napalm.base.exceptions import CommandErrorException, ConnectionException
from nornir.core import Nornir
from nornir.core.task import Task

from rocefort.dialects.choose import dialect_of
from rocefort.errors import RocefortError
from rocefort.fleet.inventory import NEW_SESSION
from rocefort.fleet.runner import on_hosts
from rocefort.models.network import Network
from rocefort.models.observed import Topic
from rocefort.models.rdma_counters import SwitchCounters

EXPECTED = (RocefortError, OSError, ConnectionException)

T = TypeVar("T")


def leaves_and_spines(network: Network, servers: Sequence[str]) -> tuple[str, ...]:
    """Switches that traffic between these servers may pass."""
    leaves = {s.port.device for s in network.servers or () if s.name in servers}
    met = {
        end.device
        for link in network.links or ()
        for here, end in ((link.a, link.b), (link.b, link.a))
        if here.device in leaves
    }
    across = met if len(leaves) > 1 else set()
    return tuple(node.name for node in network.nodes if node.name in leaves | across)


def read_switches(
    nornir: Nornir, network: Network, switches: Sequence[str]
) -> tuple[SwitchCounters, ...]:
    """Read switches at once; what one does not tell is None in its counters."""

    def read(task: Task) -> SwitchCounters:
        name = task.host.name
        try:
            driver = task.host.get_connection(NEW_SESSION, task.nornir.config)
            try:
                return _counters(driver, network, name)
            finally:
                task.host.close_connection(NEW_SESSION)
        except EXPECTED:
            return SwitchCounters(device=name)

    return tuple(on_hosts(nornir, switches, read).values())


def _counters(driver: Any, network: Network, name: str) -> SwitchCounters:  # noqa: ANN401 - NAPALM's
    dialect = dialect_of(network.by_name[name])
    ports = [p.end.interface for p in network.roce_ports if p.end.device == name]

    return SwitchCounters(
        device=name,
        pfc=_told(lambda: dialect.read_topic(driver, Topic.PFC_COUNTERS, name)),
        queues=_told(lambda: dialect.read_topic(driver, Topic.QUEUES, name, ports)),
        marked=_told(lambda: tuple(dialect.ecn_marks(driver, name))),
    )


def _told(read: Callable[[], T]) -> T | None:
    """What a reading gives; None where the release does not know it, or shows it otherwise."""
    try:
        return read()
    except (CommandErrorException, RocefortError):
        return None
