"""What NICs must be set to, in their maker's names: rows of `rocefort show FABRIC profiles`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rocefort.models.network import LosslessIntent, Network
from rocefort.models.nic import Adapter, Hosts, NicProfile
from rocefort.models.qos import host_priority

COLUMNS = ("nic_profile", "parameter", "value", "note", "setting", "source")
Row = tuple[str | None, str | None, int | str, str | None, str, str | None]


class _Setting(NamedTuple):
    """One value that NICs must have, by the key of profiles."""

    key: str
    value: int | str
    note: str | None
    source: str | None


def profile_rows(network: Network) -> Iterator[Row]:
    """A row a setting, for each NIC profile that servers name; without any, in our own names."""
    hosts = network.hosts
    if hosts is None or network.lossless is None:
        return
    settings = [*_of_lossless(network, hosts, network.lossless), *_of_congestion(hosts)]
    nics: dict[str, NicProfile] = hosts.nics
    for name, nic in nics.items() or ((None, None),):
        adapter = hosts.adapters.get(nic.adapter) if nic and nic.adapter else None
        for setting in settings:
            yield _row(name, adapter, setting)


def _of_lossless(network: Network, hosts: Hosts, intent: LosslessIntent) -> Iterator[_Setting]:
    source = f"lossless profile {hosts.lossless}"
    mapped = ((intent.roce_dscp, intent.queue), (intent.cnp_dscp, intent.cnp_queue))
    other = [f"{dscp}:{queue}" for dscp, queue in mapped if host_priority(dscp) != queue]
    yield _Setting("trust", "dscp", None, source)
    yield _Setting("dscp2prio", ",".join(other) or "DSCP >> 3", None, source)
    yield _Setting("roce_dscp", intent.roce_dscp, None, source)
    yield _Setting("cnp_dscp", intent.cnp_dscp, None, source)
    yield _Setting("cnp_priority", intent.cnp_queue, None, source)
    yield _Setting("paused_priorities", intent.queue, None, source)
    if hosts.congestion is not None and hosts.congestion.kind != "pfc_only":
        yield _Setting("controlled_priorities", intent.queue, None, source)
    for mtu in sorted({server.mtu for server in network.servers or ()}):
        yield _Setting("mtu_bytes", mtu, None, "fabric (mtu)")


def _of_congestion(hosts: Hosts) -> Iterator[_Setting]:
    congestion = hosts.congestion
    for key, value in congestion.parameters().items() if congestion else ():
        confirmed = congestion is None or congestion.is_confirmed(key)
        source = congestion.source_of(key) if congestion else None
        own = f"congestion control profile {hosts.congestion_name}"
        yield _Setting(key, value, None if confirmed else "unconfirmed", source or own)


def _row(name: str | None, adapter: Adapter | None, setting: _Setting) -> Row:
    parameter = adapter.parameters.get(setting.key) if adapter else None
    if parameter is None:
        return name, None, setting.value, setting.note, setting.key, setting.source
    value, notes = setting.value, [setting.note] if setting.note else []
    if isinstance(value, int):
        if not parameter.takes(value):
            notes.append(f"outside {parameter.span}")
        value *= parameter.factor
    note = ", ".join(notes) or None
    return name, parameter.name, value, note, setting.key, setting.source
