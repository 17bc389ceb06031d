"""Rows of tables that `rocefort show` and the page share: bonds, queues, exits, server settings.

NIC settings have the names of the manufacturer, system settings those of Linux.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rocefort.models.device.interface import MANUAL, Interface, trunk_number
from rocefort.models.device.lossless_queue import host_priority
from rocefort.models.fabric.hosts import Adapter, HostProfile, Hosts, NicProfile
from rocefort.models.network.exits import Exit, PrefixRange
from rocefort.models.network.network import End, LosslessIntent, Network, Node
from rocefort.models.units import KBYTE
from rocefort.validators.facts.roce_ports import lossless_queues
from rocefort.validators.rules.lossless.ecn_margin import limits_of

BOND_COLUMNS = (
    "device",
    "eth_trunk",
    "server",
    "speed_gbps",
    "mode",
    "lacp_timeout",
    "minimum_links",
    "members",
)


class BondRow(NamedTuple):
    """Eth-Trunk as its switch configures it, and the server at its other end, if known."""

    device: str
    eth_trunk: str
    server: str | None
    speed_gbps: int | None  # sum of all members; None: unknown for one of them
    mode: str
    lacp_timeout: str | None  # None: no LACP
    minimum_links: int
    members: str


def bond_rows(network: Network, nodes: Iterable[Node]) -> Iterator[BondRow]:
    """Return the Eth-Trunks of the switches, in order."""
    owners = {server.port: server.name for server in network.servers or ()}
    for node in nodes:
        for interface in node.device.interfaces:
            number = trunk_number(interface.name)
            if number is not None:
                members = node.device.members.get(number, ())
                end = End(device=node.name, interface=interface.name)
                yield _bond_row(node, interface, members, owners.get(end))


def _bond_row(
    node: Node, trunk: Interface, members: tuple[Interface, ...], server: str | None
) -> BondRow:
    speeds = [node.speed_gbps(member.name) for member in members]
    known = [speed for speed in speeds if speed is not None]
    return BondRow(
        node.name,
        trunk.name,
        server,
        sum(known) if len(known) == len(speeds) else None,
        trunk.bond.mode,
        None if trunk.bond.mode == MANUAL else trunk.bond.lacp_timeout,
        trunk.bond.minimum_links,
        " ".join(member.name for member in members),
    )


LOSSLESS_COLUMNS = (
    "device",
    "profile",
    "queue",
    "ports",
    "xoff_kbytes",
    "xon_kbytes",
    "headroom_kbytes",
    "pool_kbytes",
    "ecn",
)


class LosslessRow(NamedTuple):
    """Lossless queue of a switch, on ports with equal values; profile None: no intent is known."""

    device: str
    profile: str | None
    queue: int
    ports: int
    xoff_kbytes: int | None
    xon_kbytes: int | None
    headroom_kbytes: int | None
    pool_kbytes: int | None
    ecn: str | None


def lossless_rows(network: Network, nodes: Iterable[Node]) -> Iterator[LosslessRow]:
    """Yield the lossless queues of the switches, ports with equal values once."""
    for node in nodes:
        intent = network.lossless_of(node.name)
        for queue in lossless_queues(network, node.name):
            pfc = (port for port in node.device.interfaces if port.pfc)
            alike = Counter(_queue_values(node, port, queue) for port in pfc)
            for (xoff, xon, headroom, ecn), ports in alike.items():
                yield LosslessRow(
                    node.name,
                    intent.profile if intent else None,
                    queue,
                    ports,
                    xoff,
                    xon,
                    headroom,
                    node.device.pfc.headroom_pool_kbytes,
                    ecn,
                )


def _queue_values(
    node: Node, port: Interface, queue: int
) -> tuple[int | None, int | None, int | None, str | None]:
    """Return xoff, xon and headroom of a port's queue, and its ECN in words."""
    sizes = next((row for row in port.thresholds if row.queue == queue), None)
    known = (sizes.xoff_kbytes, sizes.xon_kbytes, sizes.headroom_kbytes) if sizes else (None,) * 3
    ai_ecn, marking = node.device.ai_ecn, {row.queue: row for row in port.markings}.get(queue)
    model = next((row for row in ai_ecn.queues if row.queue == queue), None)
    if ai_ecn.enabled and model is not None:
        return *known, f"AI-ECN {model.model or 'of the default model'}"
    limits = limits_of(node, marking) if marking is not None and marking.ecn else None
    if limits is None:
        return *known, None
    low, high, unit = limits.low, limits.high, str(limits.unit)
    if unit == "bytes" and low % KBYTE == high % KBYTE == 0:
        low, high, unit = low // KBYTE, high // KBYTE, "KB"
    return *known, f"{low} to {high} {unit}, {limits.percent} %"


EXIT_COLUMNS = (
    "exit",
    "leaf",
    "port",
    "address",
    "peer",
    "asn",
    "default_route",
    "accepts",
    "announces",
    "lossless",
)


def exit_rows(network: Network) -> Iterator[tuple[str | int | None, ...]]:
    """Return all exits in the order of the intent; nothing if they are unknown."""
    for exit_ in network.exits or ():
        yield _exit_row(exit_)


def _exit_row(exit_: Exit) -> tuple[str | int | None, ...]:
    return (
        exit_.name,
        exit_.leaf,
        exit_.port,
        str(exit_.address),
        str(exit_.peer),
        exit_.asn,
        exit_.default,
        ", ".join(map(_range, exit_.accepts)) or None,
        ", ".join(map(str, exit_.announces)) or None,
        "yes" if exit_.lossless else "no",
    )


def _range(accepted: PrefixRange) -> str:
    """Return a prefix with the length limit of its subnets."""
    more = accepted.longest > accepted.prefix.prefixlen
    return f"{accepted.prefix} to /{accepted.longest}" if more else str(accepted.prefix)


PROFILE_COLUMNS = ("profile", "parameter", "value", "note", "setting", "source")
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
            yield _setting_row(name, adapter, setting)


def _of_lossless(network: Network, hosts: Hosts, intent: LosslessIntent) -> Iterator[_Setting]:
    source = f"lossless profile {intent.profile}"
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
        ("qdisc", "tc qdisc", tuning.qdisc),
    ]
    for key, parameter, value in required:
        if value is not None:
            note = None if tuning.is_confirmed(key) else "unconfirmed"
            setting = f"{key}.{parameter}" if key == "sysctl" else key
            source = tuning.source_of(key) or f"host profile {name}"
            yield name, parameter, value, note, setting, source
    for key, text in tuning.recorded.items():
        source = tuning.source_of("recorded") or f"host profile {name}"
        yield name, None, text, "recorded, not set", f"recorded.{key}", source


def _setting_row(name: str | None, adapter: Adapter | None, setting: _Setting) -> Row:
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
