"""NAPALM getters of a CloudEngine, with their results in the dictionaries that NAPALM documents.

Getters that NAPALM does not have (`get_pfc` ..) return rows as dictionaries. A display not in its
documented form raises UnreadableError, a ValueError with the command and the line. A line that is
no row of its table is left out: `unread` and a warning in the log name it.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from ipaddress import IPv4Network
from typing import Any, Protocol, TypeVar

from napalm.base import constants
from napalm.base.exceptions import CommandErrorException
from napalm.base.helpers import mac

from napalm_cloudengine import pinging
from napalm_cloudengine.dialogue import LOG, NOTHING_CHANGED, Dialogue
from napalm_cloudengine.displays import hardware, lldp, lossless, routing, system
from napalm_cloudengine.displays.interface_fields import read_interfaces, read_ports
from napalm_cloudengine.displays.interfaces import BRIEF, read_names
from napalm_cloudengine.displays.interfaces import COMMAND as INTERFACES
from napalm_cloudengine.displays.lines import DisplayAnswer, UnreadLine
from napalm_cloudengine.displays.lldp import Neighbor
from napalm_cloudengine.displays.routing import BgpPeerRow, BgpTable
from napalm_cloudengine.displays.system import SoftwareVersion
from napalm_cloudengine.displays.table import Row
from napalm_cloudengine.masking import mask_secrets
from napalm_cloudengine.text import lines_of, why_not_typed

# Fields of `display interface` that each shape needs.
INTERFACE_FIELDS = (
    *("protocol", "description", "mac", "mtu", "frame_bytes", "speed", "bandwidth"),
    *("system_time", "physical_up_at", "physical_down_at"),
)
_COUNTERS = {
    f"{way}_{name}": f"{way}_{field}"
    for way in ("tx", "rx")
    for name, field in (
        ("errors", "errors"),
        ("discards", "discards"),
        ("octets", "octets"),
        ("unicast_packets", "unicast"),
        ("multicast_packets", "multicast"),
        ("broadcast_packets", "broadcast"),
    )
}
COUNTER_FIELDS = tuple(_COUNTERS.values())
_MBITS = {"G": 1000.0, "M": 1.0, "K": 0.001, "": 1.0}
_MAC = re.compile(r"[0-9A-Fa-f]{4}(?:-[0-9A-Fa-f]{4}){2}(?!\S)", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII)


def napalm_facts(
    hostname: str, version: SoftwareVersion, serial: str, interfaces: list[str]
) -> dict[str, Any]:
    """Return NAPALM's get_facts; a switch has no domain, so `fqdn` is its name."""
    return {
        "uptime": version.uptime_s,
        "vendor": "Huawei",
        "os_version": version.os_version,
        "serial_number": serial,
        "model": version.model,
        "hostname": hostname,
        "fqdn": hostname,
        "interface_list": interfaces,
    }


def napalm_neighbors(table: BgpTable) -> dict[str, dict[str, Any]]:
    """Return NAPALM's get_bgp_neighbors, for the public instance and IPv4.

    The table of a CloudEngine has no router id and description of a peer (""), and no count of
    accepted or sent prefixes (-1).
    """
    peers = {peer.address: _peer(peer, table.local_as) for peer in table.peers}
    return {"global": {"router_id": table.router_id, "peers": peers}}


def _peer(peer: BgpPeerRow, local_as: int) -> dict[str, Any]:
    up = peer.state == "Established"
    received = peer.prefixes_received if up else -1
    return {
        "local_as": local_as,
        "remote_as": peer.remote_as,
        "remote_id": "",
        "is_up": up,
        "is_enabled": "Admin" not in peer.state,
        "description": "",
        "uptime": peer.uptime_s if up else -1,
        "address_family": {
            "ipv4": {
                "received_prefixes": received,
                "accepted_prefixes": -1,
                "sent_prefixes": -1,
            }
        },
    }


def napalm_interface(row: Row) -> dict[str, Any]:
    """Return one entry of NAPALM's get_interfaces, from INTERFACE_FIELDS; -1: not printed."""
    address = _MAC.match(row.get("mac", ""))
    speed = re.match(r"(\d+)(G?)", row.get("speed", "")) or re.match(
        r"(\d+)([GMK]?)", row.get("bandwidth", "")
    )
    return {
        "is_up": row["state"].startswith("UP") and row.get("protocol", "").split()[:1] == ["UP"],
        "is_enabled": not row["state"].startswith("Administratively"),
        "description": row.get("description", ""),
        "last_flapped": _flapped_s(row),
        "speed": float(speed[1]) * _MBITS[speed[2]] if speed else -1.0,
        "mtu": row.get("mtu", row.get("frame_bytes", -1)),
        "mac_address": mac(address[0]) if address else "",
    }


def _flapped_s(row: Row) -> float:
    """Return seconds since the last change of the physical state; -1.0 without a change."""
    now = _TIME.match(row.get("system_time", ""))
    texts = (row.get(name, "") for name in ("physical_up_at", "physical_down_at"))
    changes = [match[0] for text in texts if (match := _TIME.match(text))]
    if not now or not changes:
        return -1.0
    return (datetime.fromisoformat(now[0]) - datetime.fromisoformat(max(changes))).total_seconds()


def napalm_counters(row: Row) -> dict[str, int]:
    """Return one entry of NAPALM's get_interfaces_counters; -1 for a number not printed."""
    return {name: -1 if row.get(field) is None else row[field] for name, field in _COUNTERS.items()}


def napalm_addresses(config: str) -> dict[str, dict[str, dict[str, dict[str, int]]]]:
    """Return NAPALM's get_interfaces_ip of a configuration.

    Addresses without length are omitted.
    """
    shape: dict[str, dict[str, dict[str, dict[str, int]]]] = {}
    name = ""
    for line in lines_of(config):
        if not line.startswith(" "):
            name = line.removeprefix("interface ").strip() if line[:10] == "interface " else ""
        elif name and (read := _address(line.split())):
            family, address, length = read
            shape.setdefault(name, {}).setdefault(family, {})[address] = {"prefix_length": length}
    return shape


def _address(words: list[str]) -> tuple[str, str, int] | None:
    match words:
        case ["ip", "address", address, mask, *_] if address[0].isdigit():
            return "ipv4", address, IPv4Network(f"0.0.0.0/{mask}").prefixlen
        case ["ipv6", "address", address, *rest]:
            address, slash, length = address.partition("/")
            length = length if slash else (rest or [""])[0]
            return ("ipv6", address, int(length)) if length.isdecimal() else None
    return None


def napalm_lldp(neighbors: Iterable[Neighbor]) -> dict[str, list[dict[str, str]]]:
    """Return NAPALM's get_lldp_neighbors."""
    shape: dict[str, list[dict[str, str]]] = {}
    for neighbor in neighbors:
        heard = {"hostname": neighbor.device, "port": neighbor.port}
        shape.setdefault(neighbor.local, []).append(heard)
    return shape


def napalm_lldp_detail(neighbors: Iterable[Neighbor]) -> dict[str, list[dict[str, Any]]]:
    """Return NAPALM's get_lldp_neighbors_detail; a CloudEngine shows no parent interface ("")."""
    shape: dict[str, list[dict[str, Any]]] = {}
    for neighbor in neighbors:
        entry = {
            "parent_interface": "",
            "remote_port": neighbor.text("port_id"),
            "remote_port_description": neighbor.text("port_description"),
            "remote_chassis_id": neighbor.text("chassis_id"),
            "remote_system_name": neighbor.text("system_name"),
            "remote_system_description": neighbor.text("system_description"),
            "remote_system_capab": neighbor.text("capabilities").split(),
            "remote_system_enable_capab": neighbor.text("enabled_capabilities").split(),
        }
        shape.setdefault(neighbor.local, []).append(entry)
    return shape


def napalm_fans(rows: Iterable[Row]) -> dict[str, dict[str, bool]]:
    """Return the fans of NAPALM's get_environment, by slot and fan: `1/FAN1`."""
    return {f"{r['slot']}/{r['fan']}": {"status": r["status"].lower() == "normal"} for r in rows}


def napalm_power(rows: Iterable[Row]) -> dict[str, dict[str, Any]]:
    """Return the power supplies of NAPALM's get_environment; output and capacity in watts."""
    return {
        f"{row['slot']}/{row['name']}": {
            "status": row["state"] == "Supply",
            "output": _number(row["actual"]),
            "capacity": _number(row["rated"]),
        }
        for row in rows
    }


def napalm_temperatures(rows: Iterable[Row]) -> dict[str, dict[str, Any]]:
    """Return the sensors of NAPALM's get_environment, by slot and name: `1/CPU`."""
    return {f"{row['slot']}/{row['name']}": _sensor(row) for row in rows}


def _sensor(row: Row) -> dict[str, Any]:
    celsius, major, fatal = (_number(row[name]) for name in ("celsius", "major", "fatal"))
    return {
        "is_alert": 0 <= major <= celsius,
        "is_critical": 0 <= fatal <= celsius,
        "temperature": celsius,
    }


def _number(text: str) -> float:
    """Return a number; -1.0 for a hyphen."""
    return -1.0 if text.strip("-") == "" else float(text)


# The longest silence in the reply to a `ping` is the time of one lost packet.
_PING_MARGIN_S = 5.0
_ACT_UNKNOWN = "its effect, if it does more than read, is unknown"


class _Reading(Protocol):
    @property
    def unread(self) -> Sequence[UnreadLine]: ...


R = TypeVar("R", bound=_Reading)


class StateReader(Dialogue):
    """Getters of the driver.

    `unread`: by command, the lines of its last answer that no getter read.
    """

    def get_config(
        self,
        retrieve: str = "all",
        full: bool = False,
        sanitized: bool = False,
        format: str = "text",  # noqa: A002  # the signature is NAPALM's
    ) -> dict[str, str]:
        """Return texts by kind: running, startup, and candidate (running and pending lines merged).

        The candidate is "" while nothing is loaded. ValueError on an unknown kind or format.
        """
        kinds = ("running", "candidate", "startup")
        if retrieve not in ("all", *kinds) or format != "text" or full:
            raise ValueError(
                f"get_config(retrieve={retrieve!r}, full={full}, format={format!r}): "
                f"retrieve one of all, {', '.join(kinds)}; full and other formats do not exist"
            )
        commands = {"running": "display current-configuration"}
        commands["startup"] = "display saved-configuration"
        if self._loaded:
            commands["candidate"] = "display configuration candidate merge"
        texts = dict.fromkeys(("running", "candidate", "startup"), "")
        for kind, command in commands.items():
            if retrieve in ("all", kind):
                if kind == "candidate":
                    self._system_view()  # the user view does not have that command
                text = self._configuration(command, NOTHING_CHANGED)
                texts[kind] = mask_secrets(text) if sanitized else text
        return texts

    def get_facts(self) -> dict[str, Any]:
        """Return NAPALM's facts; `serial_number` is "" without `display device esn`."""
        if not self._connected().prompt.uncommitted:
            self._user_view()  # its prompt is the bare host name
        version = system.read_version(self._display_answer(system.VERSION_COMMAND))
        interfaces = self._read(BRIEF.command, read_names)
        esn = self._ask(system.SERIAL_COMMAND)  # optional: not every CLI has it
        serial = system.read_serial(DisplayAnswer(system.SERIAL_COMMAND, esn.text))
        return napalm_facts(self._connected().base_prompt, version, serial, interfaces)

    def get_bgp_neighbors(self) -> dict[str, dict[str, Any]]:
        """Return IPv4 peers of the public instance in NAPALM's shape.

        The table has no router id and description of a peer (""), and no count of accepted or sent
        prefixes (-1).
        """
        return napalm_neighbors(self._read(routing.PEERS.command, routing.read_peers))

    def get_interfaces(self) -> dict[str, dict[str, Any]]:
        """Return NAPALM's interfaces; a value that the switch does not print is "" or -1."""
        rows = read_interfaces(self._display_answer(INTERFACES), INTERFACE_FIELDS)
        return {row["name"]: napalm_interface(row) for row in rows}

    def get_interfaces_counters(self) -> dict[str, dict[str, int]]:
        """Return NAPALM's counters; a number that the switch does not print is -1."""
        rows = read_interfaces(self._display_answer(INTERFACES), COUNTER_FIELDS)
        return {row["name"]: napalm_counters(row) for row in rows}

    def get_ports(self) -> list[Row]:
        """Return every interface for health checks: NAPALM's counters lack CRC errors and pauses.

        `state` as the switch prints it, `mtu` and `frame_bytes`; for physical ports `speed`,
        errors, discards and pauses, None for a counter that the port does not have.
        """
        return self._read(INTERFACES, read_ports)

    def get_interfaces_ip(self) -> dict[str, dict[str, dict[str, dict[str, int]]]]:
        """Return addresses in the running configuration (none learnt by DHCP), by interface."""
        return napalm_addresses(self._running(NOTHING_CHANGED))

    def get_lldp_neighbors(self) -> dict[str, list[dict[str, str]]]:
        """Return the LLDP neighbours of each port."""
        return napalm_lldp(self._read(lldp.BRIEF.command, lldp.read_brief))

    def get_lldp_neighbors_detail(self, interface: str = "") -> dict[str, list[dict[str, Any]]]:
        """Return the LLDP data of all neighbours; with `interface`, only those of that port.

        ValueError when `interface` is not one word.
        """
        command = lldp.DETAIL_COMMAND
        if interface:
            command += f" interface {pinging.one_word(interface)}"
        return napalm_lldp_detail(self._read(command, lldp.read_detail))

    def get_pfc(self, retrieve: str = "all") -> dict[str, list[Row]]:
        """Return PFC ports, profiles, counters and thresholds; retrieve: "all", or one of them.

        A threshold is as printed, `600(K)`; its columns are those of the family. ValueError on an
        unknown part.
        """
        parts = {
            "ports": (lossless.PORTS, lossless.PORTS.read),
            "profiles": (lossless.PROFILES, lossless.read_profiles),
            "counters": (lossless.COUNTERS, lossless.COUNTERS.read),
            "thresholds": (lossless.THRESHOLDS, lossless.read_thresholds),
        }
        if retrieve not in ("all", *parts):
            raise ValueError(f"get_pfc({retrieve!r}): retrieve one of all, {', '.join(parts)}")
        return {
            part: self._read(table.command, read)
            for part, (table, read) in parts.items()
            if retrieve in ("all", part)
        }

    def get_routes(self) -> list[Row]:
        """Return the public routing table: prefixes with `protocol` and `hops`."""
        return self._read(routing.ROUTES.command, routing.read_routes)

    def get_clock(self) -> datetime:
        """Return the time of the switch, with its offset from UTC."""
        return system.read_clock(self._display_answer(system.CLOCK_COMMAND))

    def get_free_flash(self) -> int:
        """Return the free kbytes of the file system that `dir` lists in the initial user view.

        Raises CommandErrorException in a view without `dir`.
        """
        return system.read_free_kbytes(self._display_answer(system.FILES.command))

    def get_cpu(self) -> system.CpuUsage:
        """Return the load of the CPU; its command differs by release.

        Raises CommandErrorException where the switch has neither command.
        """
        first, *others = system.CPU_COMMANDS
        try:
            return system.read_cpu(self._display_answer(first))
        except CommandErrorException:
            return system.read_cpu(self._display_answer(*others))

    def get_memory(self) -> system.MemoryUsage:
        """Return the memory of the switch."""
        return system.read_memory(self._display_answer(system.MEMORY_COMMAND))

    def get_environment(self) -> dict[str, Any]:
        """Return NAPALM's environment; a display that the switch does not have leaves a part empty.

        CPU: percent over 5 s; memory: bytes; `output` and `capacity` in watts, -1.0 if not shown. A
        temperature is an alert from its major threshold on, and critical from its fatal one on.
        """
        memory = self.get_memory()
        return {
            "fans": napalm_fans(self._optional(hardware.read_fans, hardware.FANS.command)),
            "temperature": napalm_temperatures(
                self._optional(hardware.read_temperatures, *hardware.TEMPERATURE_COMMANDS)
            ),
            "power": napalm_power(self._optional(hardware.read_power, hardware.POWER.command)),
            "cpu": {0: {"%usage": float(self.get_cpu().five_seconds)}},
            "memory": {
                "available_ram": memory.total_kbytes * 1024,
                "used_ram": memory.used_kbytes * 1024,
            },
        }

    def _optional(self, read: Callable[[DisplayAnswer], list[Row]], *commands: str) -> list[Row]:
        """Return the rows of the first command that the switch has; none without one."""
        for command in commands:
            try:
                return read(self._display_answer(command))
            except CommandErrorException:
                continue
        return []

    def get_ai_ecn(self) -> list[Row]:
        """Return AI-ECN of each queue of a port; a threshold that is shown as `-` is None."""
        return self._read(lossless.STATE.command, lossless.STATE.read)

    def get_ecn_marks(self) -> list[Row]:
        """Return ECN-marked packets of each port since its counters were cleared."""
        return self._read(lossless.ECN_MARKS.command, lossless.ECN_MARKS.read)

    def get_queues(self, interface: str) -> list[Row]:
        """Return passed and dropped packets of the egress queues of a port.

        ValueError when `interface` is not one word.
        """
        command = lossless.STATISTICS.command.format(pinging.one_word(interface))
        return self._read(command, lossless.read_queues)

    def ping(  # noqa: PLR0913, PLR0917  # the signature is NAPALM's
        self,
        destination: str,
        source: str = constants.PING_SOURCE,
        ttl: int = constants.PING_TTL,
        timeout: int = constants.PING_TIMEOUT,
        size: int = constants.PING_SIZE,
        count: int = constants.PING_COUNT,
        vrf: str = constants.PING_VRF,
        source_interface: str = constants.PING_SOURCE_INTERFACE,
    ) -> dict[str, Any]:
        """Ping an address from the switch, as NAPALM's dictionary: `success` or `error`."""
        echo = pinging.PingRequest(
            destination, source, ttl, timeout, size, count, vrf, source_interface
        )
        try:
            command = pinging.command(echo)
        except ValueError as error:
            return {"error": str(error)}
        reply = self._ask(command, timeout_s=max(self.timeout, timeout + _PING_MARGIN_S))
        if reply.errors or reply.refused:
            return {"error": reply.refused or reply.message}
        return pinging.result(reply.text, echo)

    def _read(self, command: str, read: Callable[[DisplayAnswer], R]) -> R:
        """Return the rows of a display; its other lines are noted in `unread` and the log."""
        self.unread.pop(command, None)
        rows = read(self._display_answer(command))
        if rows.unread:
            self.unread[command] = tuple(rows.unread)
        for line in rows.unread:
            LOG.warning("%s: not read: %s", self.name, mask_secrets(str(line)))
        return rows

    def _display_answer(self, command: str) -> DisplayAnswer:
        return DisplayAnswer(command, self._display(command))

    def cli(self, commands: list[str], encoding: str = "text") -> dict[str, str]:
        """Return the reply to each command; CommandErrorException on the first that is refused.

        TypeError for a value other than a list (each letter of a text would be sent), ValueError
        for a command of several lines; both before anything is sent.
        """
        if not isinstance(commands, list | tuple):
            raise TypeError(f"cli: give a list of commands, not a {type(commands).__name__}")
        if encoding != "text":
            raise ValueError(f"cli(encoding={encoding!r}): a CloudEngine answers in text only")
        for command in commands:
            if why := why_not_typed(command):
                raise ValueError(f"cli: {mask_secrets(command)!r} {why}; nothing was sent")
        return {command: self._said_to(command) for command in commands}

    def _said_to(self, command: str) -> str:
        """Return the reply to any command; repeat it if in doubt only if the command reads."""
        if "display".startswith(command.split(" ", 1)[0]) and command:
            return self._display(command)
        reply = self._run(command, _ACT_UNKNOWN)
        if reply.doubt:
            why = "other output was mixed with the reply"
            raise self._lost(command, why, _ACT_UNKNOWN, reply.last)
        return self._accepted(command, reply)
