"""Settings that servers must have: rows of `rocefort show FABRIC profiles`.

NIC settings have the names of the manufacturer, system settings those of Linux.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rocefort.models.device.priorities import host_priority
from rocefort.models.fabric.hosts import HostProfile
from rocefort.models.fabric.nic import Adapter, Hosts, NicProfile
from rocefort.models.network.network import LosslessIntent, Network

COLUMNS = ("profile", "parameter", "value", "note", "setting", "source")
Row = tuple[str | None, str | None, int | str, str | None, str, str | None]


class _Setting(NamedTuple):
    """Required value of a NIC setting, by its key in profiles."""

    key: str
    value: int | str
    note: str | None
    source: str | None


def profile_rows(network: Network) -> Iterator[Row]:
    """Return one row per setting: of each NIC profile that servers use, then of the host profile.

    If no server names a NIC profile, the settings have Rocefort's own names.
    """
    hosts = network.hosts
    if hosts is None:
        return
    if network.lossless is not None:
        yield from _of_nics(network, hosts, network.lossless)
    if hosts.tuning is not None:
        yield from _of_tuning(hosts.tuning_name, hosts.tuning)


def _of_nics(network: Network, hosts: Hosts, lossless: LosslessIntent) -> Iterator[Row]:
    settings = [*_of_lossless(network, hosts, lossless), *_of_congestion(hosts)]
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


def _of_tuning(name: str | None, tuning: HostProfile) -> Iterator[Row]:
    """Return the settings of a host profile; settings that it omits stay unchanged on servers."""
    required: list[tuple[str, str, int | str | None]] = [
        *(("sysctl", key, value) for key, value in tuning.sysctl.items()),
        ("ring_rx", "ethtool -G rx", tuning.ring_rx),
        ("ring_tx", "ethtool -G tx", tuning.ring_tx),
        ("governor", "cpufreq/scaling_governor", tuning.governor),
        ("interrupts", "irq/smp_affinity_list", tuning.interrupts),
    ]
    for key, parameter, value in required:
        if value is not None:
            note = None if tuning.is_confirmed(key) else "unconfirmed"
            setting = f"{key}.{parameter}" if key == "sysctl" else key
            source = tuning.source_of(key) or f"host profile {name}"
            yield name, parameter, value, note, setting, source


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
