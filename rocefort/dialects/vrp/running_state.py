"""State of a running CloudEngine: readings of its driver as the models of live checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network
from typing import Any, Protocol, TypeVar

from napalm_cloudengine.displays.lines import UnreadLine
from napalm_cloudengine.displays.routing import IN_FIB
from napalm_cloudengine.displays.system import CpuUsage, MemoryUsage
from napalm_cloudengine.masking import mask_secrets
from napalm_cloudengine.text import lines_of
from rocefort.base.clock import utc_now
from rocefort.base.errors import DeviceFailed
from rocefort.dialects.vrp.text.names import interface_name
from rocefort.models.device.interface import kind_of
from rocefort.models.network.observed import (
    AiEcnSeen,
    CpuSeen,
    FactsSeen,
    MarkedSeen,
    MemorySeen,
    NeighbourSeen,
    PeerSeen,
    PfcCountersSeen,
    PfcPortSeen,
    PfcProfileSeen,
    PortCounters,
    PortSeen,
    QueueSeen,
    RouteSeen,
    StateTopic,
    ThresholdSeen,
    UnreadSeen,
)

Row = dict[str, Any]
T = TypeVar("T")
COLUMNS = ("guaranteed", "xon", "xon_lowest", "xon_offset", "xoff", "hdrm")  # of thresholds
COUNTERS = tuple(PortCounters.model_fields)
# Switches of a fabric show the same routes: 2,000 with 8 hops are read in 4 ms; without, in 41 ms.
_network, _hop = lru_cache(1 << 14)(IPv4Network), lru_cache(1 << 14)(IPv4Address)
SIZE = re.compile(r"(\d+)\(([BCDKM])\)", re.ASCII)
HOW = "its form is not the documented one: run the command by hand, and report what it shows"


class StateDriver(Protocol):
    """The part of napalm_cloudengine that a reading uses; no method changes a switch."""

    unread: dict[str, tuple[UnreadLine, ...]]

    def get_facts(self) -> dict[str, Any]: ...  # noqa: D102 - NAPALM's
    def get_bgp_neighbors(self) -> dict[str, dict[str, Any]]: ...  # noqa: D102
    def get_lldp_neighbors(self) -> dict[str, list[dict[str, str]]]: ...  # noqa: D102
    def get_config(self, retrieve: str, *, sanitized: bool) -> dict[str, str]: ...  # noqa: D102
    def get_ports(self) -> list[Row]: ...  # noqa: D102
    def get_pfc(self, retrieve: str) -> dict[str, list[Row]]: ...  # noqa: D102
    def get_queues(self, interface: str) -> list[Row]: ...  # noqa: D102
    def get_routes(self) -> list[Row]: ...  # noqa: D102
    def get_ai_ecn(self) -> list[Row]: ...  # noqa: D102
    def get_ecn_marks(self) -> list[Row]: ...  # noqa: D102
    def get_clock(self) -> datetime: ...  # noqa: D102
    def get_free_flash(self) -> int: ...  # noqa: D102
    def get_cpu(self) -> CpuUsage: ...  # noqa: D102
    def get_memory(self) -> MemoryUsage: ...  # noqa: D102
    def cli(self, commands: list[str]) -> dict[str, str]: ...  # noqa: D102


def read_topic(
    driver: StateDriver,
    topic: StateTopic,
    device: str,
    ports: Iterable[str] = (),
    now: Callable[[], datetime] = utc_now,
) -> object:
    """Read a topic of a switch, in the type of its field of DeviceSeen.

    ports: those whose queues are read, because no command shows the queues of a whole switch.
    Raises DeviceFailed for an answer that cannot be read, and the driver's errors.
    """
    reading = _TopicReader(driver, device, ports, now)
    driver.unread.clear()
    readers: dict[StateTopic, Callable[[], object]] = {
        StateTopic.FACTS: reading.facts,
        StateTopic.PEERS: reading.peers,
        StateTopic.ROUTES: reading.routes,
        StateTopic.NEIGHBOURS: reading.neighbours,
        StateTopic.PORTS: reading.ports_seen,
        StateTopic.PFC_PORTS: reading.pfc_ports,
        StateTopic.PFC_PROFILES: reading.pfc_profiles,
        StateTopic.PFC_COUNTERS: reading.pfc_counters,
        StateTopic.THRESHOLDS: reading.thresholds,
        StateTopic.QUEUES: reading.queues,
        StateTopic.AI_ECN: reading.ai_ecn,
        StateTopic.ECN_MARKS: reading.ecn_marks,
        StateTopic.CLOCK: reading.clock,
        StateTopic.DISK: driver.get_free_flash,
        StateTopic.CPU: reading.cpu,
        StateTopic.MEMORY: reading.memory,
        StateTopic.SAVED: reading.saved,
    }
    return _read(readers[topic], device)


def unread_lines(driver: StateDriver) -> tuple[UnreadSeen, ...]:
    """Return lines of the last reading that are no rows."""
    return tuple(
        UnreadSeen(
            command=each.command, line=each.line, why=mask_secrets(each.why), key=_name_in(each.key)
        )
        for lines in driver.unread.values()
        for each in lines
    )


def _read(read: Callable[[], T], device: str) -> T:
    try:
        return read()
    except ValueError as error:  # UnreadableError, or an invalid value
        raise DeviceFailed(" ".join(str(error).splitlines()), where=device, how=HOW) from None


class _TopicReader:
    """One switch, and the readers of its topics."""

    def __init__(
        self, driver: StateDriver, device: str, ports: Iterable[str], now: Callable[[], datetime]
    ) -> None:
        self.driver, self.device, self.ports, self.now = driver, device, ports, now

    def facts(self) -> FactsSeen:
        """Read NAPALM's facts."""
        facts = self.driver.get_facts()
        return FactsSeen(
            hostname=facts["hostname"],
            hardware=facts["model"],
            software=facts["os_version"],
            serial=facts["serial_number"],
        )

    def peers(self) -> tuple[PeerSeen, ...]:
        """Read IPv4 peers of the public instance."""
        neighbors = self.driver.get_bgp_neighbors().get("global", {"peers": {}})["peers"]
        return tuple(
            PeerSeen(
                address=address,
                asn=peer["remote_as"],
                established=peer["is_up"],
                prefixes=_received(peer),
            )
            for address, peer in neighbors.items()
        )

    def routes(self) -> tuple[RouteSeen, ...]:
        """Read the public routing table, with the next hops that are in the FIB."""
        return tuple(
            RouteSeen(
                prefix=_network(row["prefix"]),
                protocol=row["protocol"],
                next_hops=tuple(
                    sorted(_hop(hop["next_hop"]) for hop in row["hops"] if IN_FIB in hop["flags"])
                ),
            )
            for row in self.driver.get_routes()
        )

    def neighbours(self) -> tuple[NeighbourSeen, ...]:
        """Read LLDP neighbours; a port ID that is not an interface's name stays unchanged."""
        return tuple(
            NeighbourSeen(
                local=_name_in(local),
                device=neighbour["hostname"],
                port=_name_in(neighbour["port"]),
            )
            for local, heard in self.driver.get_lldp_neighbors().items()
            for neighbour in heard
        )

    def ports_seen(self) -> tuple[PortSeen, ...]:
        """Read every interface."""
        return tuple(map(_port, self.driver.get_ports()))

    def pfc_ports(self) -> tuple[PfcPortSeen, ...]:
        """Read the ports with PFC enabled, and their profiles."""
        return tuple(
            PfcPortSeen(
                interface=_name_in(row["interface"]),
                profile=row["profile"],
                enabled=row["status"].startswith(("ENABLE", "SUCCEED")),
                state=row["status"],
            )
            for row in self.driver.get_pfc("ports")["ports"]
        )

    def pfc_profiles(self) -> tuple[PfcProfileSeen, ...]:
        """Read PFC profiles and their queues."""
        return tuple(PfcProfileSeen(**row) for row in self.driver.get_pfc("profiles")["profiles"])

    def pfc_counters(self) -> tuple[PfcCountersSeen, ...]:
        """Read PFC frames and deadlocks of every lossless queue."""
        rows = self.driver.get_pfc("counters")["counters"]
        return tuple(
            PfcCountersSeen(**row | {"interface": _name_in(row["interface"])}) for row in rows
        )

    def thresholds(self) -> tuple[ThresholdSeen, ...]:
        """Read PFC thresholds of every lossless queue."""
        return tuple(map(_threshold, self.driver.get_pfc("thresholds")["thresholds"]))

    def queues(self) -> tuple[QueueSeen, ...]:
        """Read queues of the requested ports."""
        return tuple(
            QueueSeen(
                interface=port,
                queue=row["queue"],
                dropped_packets=row["dropped_packets"],
                dropped_bytes=row["dropped_bytes"],
                passed_packets=row["passed_packets"],
                passed_bytes=row["passed_bytes"],
            )
            for port in dict.fromkeys(self.ports)
            for row in self.driver.get_queues(port)
        )

    def ai_ecn(self) -> tuple[AiEcnSeen, ...]:
        """Read the mode and the active model of each queue."""
        return tuple(
            AiEcnSeen(
                interface=_name_in(row["interface"]),
                queue=row["queue"],
                mode=row["mode"],
                model=row["model"],
            )
            for row in self.driver.get_ai_ecn()
        )

    def ecn_marks(self) -> tuple[MarkedSeen, ...]:
        """Read the packets that each port marked."""
        return tuple(
            MarkedSeen(interface=_name_in(row["interface"]), marked_packets=row["marked_packets"])
            for row in self.driver.get_ecn_marks()
        )

    def cpu(self) -> CpuSeen:
        """Read the load of the CPU."""
        usage = self.driver.get_cpu()
        return CpuSeen(
            five_seconds=usage.five_seconds,
            one_minute=usage.one_minute,
            five_minutes=usage.five_minutes,
        )

    def memory(self) -> MemorySeen:
        """Read the memory."""
        usage = self.driver.get_memory()
        return MemorySeen(total_kbytes=usage.total_kbytes, used_kbytes=usage.used_kbytes)

    def clock(self) -> float:
        """Return seconds ahead of this machine.

        The switch shows whole seconds, so half a one is added.
        """
        before = self.now()
        shown = self.driver.get_clock()
        middle = before + (self.now() - before) / 2
        return (shown - middle).total_seconds() + 0.5

    def saved(self) -> bool:
        """Whether the running and the startup configuration are equal.

        Masked secrets are not compared.
        """
        running, startup = (
            self.driver.get_config(retrieve=kind, sanitized=True)[kind]
            for kind in ("running", "startup")
        )
        return _lines(running) == _lines(startup)


def _name_in(text: str) -> str:
    return interface_name(text) or text


def _received(peer: Row) -> int | None:
    count = peer["address_family"]["ipv4"]["received_prefixes"]
    return None if count < 0 else int(count)


def _lines(text: str) -> list[str]:
    """Return lines of a configuration without the heading with the time of the last change."""
    return [line.rstrip() for line in lines_of(text) if not line.startswith("!")]


def _port(row: Row) -> PortSeen:
    state, speed = row["state"], row.get("speed", "")
    physical = kind_of(row["name"]) == "ethernet"
    return PortSeen(
        name=_name_in(row["name"]),  # a sub-interface is outside the model
        state=state,
        up=state.upper().startswith("UP"),
        shut=state.lower().startswith("administratively"),
        mtu=row.get("mtu"),
        frame_bytes=row.get("frame_bytes"),
        speed_mbps=int(speed) if speed.isdecimal() else None,
        counters=PortCounters(**{name: row[name] for name in COUNTERS}) if physical else None,
    )


def _threshold(row: Row) -> ThresholdSeen:
    """Return a threshold; with an offset, xon = max(xoff - offset, Xon-Lowest), on V200 of Xon."""
    shown = {name: row[name] for name in COLUMNS if name in row}
    kbytes = {name: _kbytes(size) for name, size in shown.items()}
    xoff, xon = kbytes["xoff"], kbytes.get("xon")
    if "xon_offset" in shown:
        floor, offset = "xon" if "xon" in shown else "xon_lowest", kbytes["xon_offset"]
        least = 0 if shown[floor] == "-" else kbytes[floor]
        xon = None
        if xoff is not None and offset is not None and least is not None:
            xon = max(xoff - offset, least)
    titles = {name: name.title().replace("_", "-") for name in shown}
    return ThresholdSeen(
        interface=_name_in(row["interface"]),
        queue=row["queue"],
        xoff_kbytes=xoff,
        xon_kbytes=xon,
        headroom_kbytes=kbytes.get("hdrm"),
        dynamic=shown["xoff"].endswith("(D)"),
        text=", ".join(f"{titles[name]} {size}" for name, size in shown.items()),
    )


def _kbytes(size: str) -> int | None:
    """Return whole kbytes; None for a dynamic alpha (D), cells (C), whose size differs, and `-`."""
    match = SIZE.fullmatch(size)
    if match is None:
        return None
    value = int(match[1])
    if match[2] == "B":
        return value // 1024
    return {"K": value, "M": value * 1024}.get(match[2])
