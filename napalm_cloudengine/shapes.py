"""Conversion of parsed displays to the dictionaries that NAPALM documents for its getters."""

import re
from collections.abc import Iterable
from datetime import datetime
from ipaddress import IPv4Network
from typing import Any

from napalm.base.helpers import mac

from napalm_cloudengine.displays.bgp import BgpPeerRow, BgpTable
from napalm_cloudengine.displays.lldp import Neighbor
from napalm_cloudengine.displays.system import SoftwareVersion
from napalm_cloudengine.displays.table import Row
from napalm_cloudengine.text import lines_of

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
