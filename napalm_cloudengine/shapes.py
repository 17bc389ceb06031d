"""What was parsed, in the dictionaries that NAPALM documents for its getters."""

from collections.abc import Iterable, Mapping
from typing import Any

from napalm.base.helpers import mac

from napalm_cloudengine.displays.lldp import Neighbor
from napalm_cloudengine.parse import BgpPeer, BgpTable, Version
from napalm_cloudengine.parse_interfaces import Interface


def napalm_facts(
    hostname: str, version: Version, serial: str, interfaces: list[str]
) -> dict[str, Any]:
    """NAPALM's get_facts; a switch knows no domain, so `fqdn` is its name."""
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
    """NAPALM's get_bgp_neighbors, for the public instance and IPv4.

    The table of a CloudEngine has no peer's router id and description (""), and no count of
    accepted or sent prefixes (-1).
    """
    peers = {peer.address: _peer(peer, table.local_as) for peer in table.peers}
    return {"global": {"router_id": table.router_id, "peers": peers}}


def _peer(peer: BgpPeer, local_as: int) -> dict[str, Any]:
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


def napalm_interface(interface: Interface) -> dict[str, Any]:
    """One of NAPALM's get_interfaces."""
    return {
        "is_up": interface.up,
        "is_enabled": interface.enabled,
        "description": interface.description,
        "last_flapped": interface.flapped_s,
        "speed": interface.speed_mbits,
        "mtu": interface.mtu,
        "mac_address": mac(interface.mac) if interface.mac else "",
    }


def napalm_counters(interface: Interface) -> dict[str, int]:
    """One of NAPALM's get_interfaces_counters."""
    shape: dict[str, int] = {}
    for way, counted in (("tx", interface.sent), ("rx", interface.received)):
        shape |= {
            f"{way}_errors": counted.errors,
            f"{way}_discards": counted.discards,
            f"{way}_octets": counted.octets,
            f"{way}_unicast_packets": counted.unicast,
            f"{way}_multicast_packets": counted.multicast,
            f"{way}_broadcast_packets": counted.broadcast,
        }
    return shape


def napalm_addresses(
    found: Mapping[str, Mapping[str, list[tuple[str, int]]]],
) -> dict[str, dict[str, dict[str, dict[str, int]]]]:
    """NAPALM's get_interfaces_ip."""
    return {
        name: {
            family: {address: {"prefix_length": length} for address, length in listed}
            for family, listed in families.items()
        }
        for name, families in found.items()
    }


def napalm_lldp(neighbors: Iterable[Neighbor]) -> dict[str, list[dict[str, str]]]:
    """NAPALM's get_lldp_neighbors."""
    shape: dict[str, list[dict[str, str]]] = {}
    for neighbor in neighbors:
        heard = {"hostname": neighbor.device, "port": neighbor.port}
        shape.setdefault(neighbor.local, []).append(heard)
    return shape


def napalm_lldp_detail(neighbors: Iterable[Neighbor]) -> dict[str, list[dict[str, Any]]]:
    """NAPALM's get_lldp_neighbors_detail; a CloudEngine shows no parent interface ("")."""
    shape: dict[str, list[dict[str, Any]]] = {}
    for neighbor in neighbors:
        said = {
            "parent_interface": "",
            "remote_port": neighbor.text("port_id"),
            "remote_port_description": neighbor.text("port_description"),
            "remote_chassis_id": neighbor.text("chassis_id"),
            "remote_system_name": neighbor.text("system_name"),
            "remote_system_description": neighbor.text("system_description"),
            "remote_system_capab": neighbor.text("capabilities").split(),
            "remote_system_enable_capab": neighbor.text("enabled_capabilities").split(),
        }
        shape.setdefault(neighbor.local, []).append(said)
    return shape
