"""NAPALM getters of tables: ARP, MAC addresses, VLANs, BGP peers and routes in detail, instances.

A value that a CloudEngine does not print is -1, "" or False, as NAPALM documents for its type;
each getter names those that it lacks. `reading.py` has the other getters.
"""

import re
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Network
from typing import Any

from napalm.base.helpers import mac

from napalm_cloudengine import pinging
from napalm_cloudengine.dialogue import NOTHING_CHANGED
from napalm_cloudengine.displays import hardware, routing, routing_details, switching
from napalm_cloudengine.displays.interfaces import BRIEF, read_names
from napalm_cloudengine.displays.routing import as_number
from napalm_cloudengine.displays.table import Row
from napalm_cloudengine.reading import StateReader
from napalm_cloudengine.text import lines_of

PUBLIC = ("default", "global", "_public_")  # names of the instance without a name
_KEPT = ("static", "blackhole")  # MAC addresses that a person entered
_PROTOCOLS = {"bgp": ("BGP", "EBGP", "IBGP"), "connected": ("DIRECT",), "isis": ("ISIS",)}
_USER = re.compile(
    r" local-user (?P<name>\S+) (?:(?:privilege )?level (?P<level>\d+)"
    r"|password(?: (?:irreversible-)?cipher)? (?P<password>\S+))",
    re.ASCII,
)
_KEY_OF = re.compile(r"ssh user (\S+) assign \S+-key (\S+)")
_KEY = re.compile(r"\S+ peer-public-key (\S+)")


def napalm_arp(rows: Iterable[Row], vrf: str = "") -> list[dict[str, Any]]:
    """Return NAPALM's get_arp_table, without entries that wait for a reply; vrf "": of all."""
    instance = "" if vrf in PUBLIC else vrf
    return [
        {
            "interface": row["interface"],
            "mac": mac(row["mac"]),
            "ip": row["address"],
            "age": -1.0,
        }
        for row in rows
        if row["mac"] != switching.INCOMPLETE and (not vrf or row.get("instance", "") == instance)
    ]


def napalm_mac_addresses(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return NAPALM's get_mac_address_table; vlan -1: an entry of a bridge domain."""
    return [
        {
            "mac": mac(row["mac"]),
            "interface": "" if row["interface"] == "-" else row["interface"],
            "vlan": int(vlan) if (vlan := row["where"].partition("/")[0]).isdecimal() else -1,
            "static": row["kind"] in _KEPT,
            "active": True,
            "moves": -1,
            "last_move": -1.0,
        }
        for row in rows
    ]


def napalm_users(config: str) -> dict[str, dict[str, Any]]:
    """Return NAPALM's get_users of a configuration: the password as it is saved, keys as hex."""
    users: dict[str, dict[str, Any]] = {}
    keys: dict[str, str] = {}
    owners: list[tuple[str, str]] = []
    view = key = ""
    for line in lines_of(config):
        if not line.startswith(" "):
            view, key = line.strip(), match[1] if (match := _KEY.match(line)) else ""
        if match := _KEY_OF.match(line):
            owners.append((match[1], match[2]))
        elif key and re.fullmatch(r"\s[0-9A-Fa-f\s]+", line):
            keys[key] = keys.get(key, "") + re.sub(r"\s", "", line)
        elif view == "aaa" and (match := _USER.match(line)):
            user = users.setdefault(match["name"], {"level": 0, "password": "", "sshkeys": []})
            if match["level"]:
                user["level"] = int(match["level"])
            else:
                user["password"] = match["password"]
    for name, key in owners:
        if name in users and key in keys:
            users[name]["sshkeys"].append(keys[key])
    return users


def napalm_optics(rows: Iterable[Row]) -> dict[str, dict[str, Any]]:
    """Return NAPALM's get_optics; only `instant` is printed, and the others are 0.0."""
    return {row["interface"]: {"physical_channels": {"channel": _channels(row)}} for row in rows}


def _channels(row: Row) -> list[dict[str, Any]]:
    names = {"input_power": "rx_power", "output_power": "tx_power", "laser_bias_current": "bias"}
    lanes = max(len(row[field]) for field in names.values())
    return [
        {
            "index": lane,
            "state": {
                name: {
                    "instant": row[field][lane] if lane < len(row[field]) else 0.0,
                    **dict.fromkeys(("avg", "min", "max"), 0.0),
                }
                for name, field in names.items()
            },
        }
        for lane in range(lanes)
    ]


def napalm_peer_details(
    rows: Iterable[Row], local_as: int, router_id: str
) -> dict[str, dict[int, list[dict[str, Any]]]]:
    """Return NAPALM's get_bgp_neighbors_detail of the public instance, by AS."""
    peers: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        asn = as_number(row["remote_as"])
        peers.setdefault(asn, []).append(_peer_details(row, asn, local_as, router_id))
    return {"global": peers}


def _peer_details(row: Row, asn: int, local_as: int, router_id: str) -> dict[str, Any]:
    return {
        "up": row["state"] == "Established",
        "local_as": local_as,
        "remote_as": asn,
        "router_id": router_id,
        "local_address": "",
        "routing_table": "global",
        "local_address_configured": False,
        "local_port": row.get("local_port", -1),
        "remote_address": row["address"],
        "remote_port": row.get("remote_port", -1),
        "multihop": row["multihop"],
        "multipath": False,
        "remove_private_as": False,
        "import_policy": row.get("import_policy", ""),
        "export_policy": row.get("export_policy", ""),
        "input_messages": row.get("input_total", -1),
        "output_messages": row.get("output_total", -1),
        "input_updates": row.get("input_updates", -1),
        "output_updates": row.get("output_updates", -1),
        "messages_queued_out": -1,
        "connection_state": row["state"],
        "previous_connection_state": row.get("last_state", ""),
        "last_event": row.get("event", ""),
        "suppress_4byte_as": False,
        "local_as_prepend": False,
        "holdtime": row.get("used_hold", -1),
        "configured_holdtime": row.get("hold", -1),
        "keepalive": row.get("used_keepalive", -1),
        "configured_keepalive": row.get("keepalive", -1),
        "active_prefix_count": row.get("active", -1),
        "received_prefix_count": row.get("received", -1),
        "accepted_prefix_count": -1,
        "suppressed_prefix_count": -1,
        "advertised_prefix_count": row.get("advertised", -1),
        "flap_count": row.get("ups", -1),
    }


def napalm_routes(
    rows: Iterable[Row], protocol: str, peers: Mapping[str, int], local_as: int
) -> dict[str, list[dict[str, Any]]]:
    """Return NAPALM's get_route_to; peers: AS by address. protocol "": all.

    `BGP`, `EBGP` and `IBGP` are BGP, and `connected` is Direct. A CloudEngine prints no reason why
    a route is inactive, and no attributes of a path here: `remote_as` is that of its peer.
    """
    names = _PROTOCOLS.get(protocol.lower(), (protocol.upper(),))
    routes: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if protocol and row["protocol"].upper().partition("-")[0] not in names:
            continue
        active = "Active" in row["state"].split()
        neighbour = row.get("neighbour", "")
        attributes = {}
        if row["protocol"].upper() in _PROTOCOLS["bgp"]:
            attributes = {
                "local_as": local_as,
                "remote_as": peers.get(neighbour, -1),
                "peer_id": neighbour,
                "metric": row.get("cost", -1),
            }
        routes.setdefault(row["destination"], []).append(
            {
                "protocol": row["protocol"],
                "current_active": active,
                "last_active": active,
                "age": routing_details.seconds_of(row["age"]),
                "next_hop": row["next_hop"],
                "outgoing_interface": row["interface"],
                "selected_next_hop": active,
                "preference": row["preference"],
                "inactive_reason": "",
                "routing_table": "global",
                "protocol_attributes": attributes,
            }
        )
    return routes


def napalm_instances(rows: Iterable[Row], interfaces: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return NAPALM's get_network_instances; `default` has the interfaces of no VPN instance."""
    instances = {
        row["name"]: _instance(row["name"], "L3VRF", row["distinguisher"], row["interfaces"])
        for row in rows
    }
    bound = {name for row in instances.values() for name in row["interfaces"]["interface"]}
    free = [name for name in interfaces if name not in bound]
    return {"default": _instance("default", "DEFAULT_INSTANCE", "", free), **instances}


def _instance(
    name: str, kind: str, distinguisher: str, interfaces: Iterable[str]
) -> dict[str, Any]:
    return {
        "name": name,
        "type": kind,
        "state": {"route_distinguisher": distinguisher},
        "interfaces": {"interface": {each: {} for each in interfaces}},
    }


class NetworkReader(StateReader):
    """Getters of tables."""

    def get_arp_table(self, vrf: str = "") -> list[dict[str, Any]]:
        """Return the ARP table of all instances, or of one; entries without a reply are left out.

        A CloudEngine prints the remaining lifetime of an entry, not its age: `age` is -1.0.
        ValueError when `vrf` is not one word.
        """
        command = switching.ARP.command
        if vrf and vrf not in PUBLIC:
            command += f" vpn-instance {pinging.one_word(vrf)}"
        return napalm_arp(self._read(command, switching.read_arp), vrf)

    def get_mac_address_table(self) -> list[dict[str, Any]]:
        """Return the MAC address table; moves of an entry are not printed (-1)."""
        rows = self._read(switching.MAC_ADDRESSES.command, switching.read_mac_addresses)
        return napalm_mac_addresses(rows)

    def get_vlans(self) -> dict[str, dict[str, Any]]:
        """Return VLANs by number with their descriptions and ports, tagged and untagged.

        A release that lists no ports of all VLANs is asked for each VLAN.
        """
        rows = self._read(switching.VLANS.command, switching.read_vlans)
        for row in rows:
            if row["ports"] is None:
                command = switching.VLAN_COMMAND.format(row["vlan"])
                of_one = self._read(command, switching.read_vlans)
                row["ports"] = next((x["ports"] for x in of_one if x["vlan"] == row["vlan"]), [])
        return {
            str(row["vlan"]): {"name": row["name"], "interfaces": row["ports"] or []}
            for row in rows
        }

    def get_users(self) -> dict[str, dict[str, Any]]:
        """Return local users of the running configuration, with passwords as it has them."""
        return napalm_users(self._running(NOTHING_CHANGED))

    def get_optics(self) -> dict[str, dict[str, Any]]:
        """Return power and bias current of optical modules, by lane; a missing value is 0.0."""
        return napalm_optics(self._read(hardware.OPTICS_COMMAND, hardware.read_optics))

    def get_bgp_neighbors_detail(
        self, neighbor_address: str = ""
    ) -> dict[str, dict[int, list[dict[str, Any]]]]:
        """Return IPv4 peers of the public instance in detail; with an address, only that peer.

        The display has no local address, and no count of accepted and suppressed prefixes.
        ValueError when `neighbor_address` is not one word.
        """
        command = routing_details.PEERS_COMMAND
        if neighbor_address:
            address = pinging.one_word(neighbor_address)
            command = routing_details.PEER_COMMAND.format(address)
        rows = self._read(command, routing_details.read_peer_details)
        table = self._read(routing.PEERS.command, routing.read_peers)
        return napalm_peer_details(rows, table.local_as, table.router_id)

    def get_route_to(
        self, destination: str = "", protocol: str = "", longer: bool = False
    ) -> dict[str, list[dict[str, Any]]]:
        """Return IPv4 routes of the public instance to a prefix, by the switch's own match.

        longer: also of longer prefixes. An address without length is one of a host. ValueError for
        a destination that is no IPv4 prefix.
        """
        try:
            prefix = IPv4Network(destination, strict=False)
        except ValueError as error:
            raise ValueError(f"get_route_to({destination!r}): {error}") from None
        more = routing_details.LONGER if longer else ""
        address, length = prefix.network_address, prefix.prefixlen
        command = routing_details.ROUTE_COMMAND.format(address, length, more)
        rows = self._read(command, routing_details.read_route_details)
        table = self._read(routing.PEERS.command, routing.read_peers)
        peers = {peer.address: peer.remote_as for peer in table.peers}
        return napalm_routes(rows, protocol, peers, table.local_as)

    def get_network_instances(self, name: str = "") -> dict[str, dict[str, Any]]:
        """Return VPN instances and `default`, which has all other interfaces; or one by its name.

        A route distinguisher that is not configured is "". The result is empty for an unknown name.
        """
        rows = self._read(routing_details.INSTANCES_COMMAND, routing_details.read_instances)
        instances = napalm_instances(rows, self._read(BRIEF.command, read_names))
        return {key: value for key, value in instances.items() if name in ("", key)}
