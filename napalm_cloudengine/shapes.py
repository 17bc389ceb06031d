"""What was parsed, in the dictionaries that NAPALM documents for its getters."""

from typing import Any

from napalm_cloudengine.parse import BgpPeer, BgpTable, Version


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
