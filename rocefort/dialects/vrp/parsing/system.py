"""Commands of the system view that open no other: name, VLANs, management."""

from __future__ import annotations

import re

from rocefort.dialects.vrp.names import interface_name, split_ports
from rocefort.dialects.vrp.parsing import arguments
from rocefort.dialects.vrp.parsing.commands import UNMODELLED, Match, View, command, flag, setting
from rocefort.dialects.vrp.parsing.parts import Part
from rocefort.models.breakout import SPLIT_TYPE

setting("system", r"sysname (\S+)", "name")
flag("system", "lldp enable", "lldp")
flag("system", "undo lldp enable", "lldp", value=False)
flag("system", "bfd", "bfd")
flag("system", "undo bfd", "bfd", value=False)


PORT = r"\d+GE ?\d+/\d+/\d+"


@command("system", rf"port split dimension interface ({PORT}(?: (?:to )?{PORT})*) split-type (\S+)")
def _port_split(device: Part, match: Match) -> View | None:
    """Split single ports and ranges; a range that runs over cards is not modelled."""
    ports = split_ports(match[1].split())
    if not ports or not re.fullmatch(SPLIT_TYPE, match[2], re.ASCII):
        return UNMODELLED
    for port in ports:
        device.row("splits", port, port=port).set("type", match[2])
    return None


@command("system", r"vlan batch (\d+(?: to \d+)?(?: \d+(?: to \d+)?)*)")
def _vlan_batch(device: Part, match: Match) -> None:
    for vlan in arguments.vlans(match[1]):
        device.add("vlans", vlan)


@command("system", r"vlan (\d+)")
def _vlan(device: Part, match: Match) -> View:
    """Read a VLAN with settings of its own, which are not modelled."""
    device.add("vlans", arguments.vlan(match[1]))
    return View("vlan", device)


@command(
    "system", r"ntp unicast-server (\d\S*)(?: vpn-instance (\S+))?(?: source-interface (\S+))?"
)
def _ntp(device: Part, match: Match) -> View | None:
    """Read a server; two in different tables, or of different sources, are more than a Device."""
    given = {"ntp_vrf": match[2], "ntp_source": match[3] and interface_name(match[3])}
    if any(device.fields.get(name, value) != value for name, value in given.items()):
        return UNMODELLED
    for name, value in given.items():
        device.set(name, value)
    device.add("ntp_servers", arguments.address(match[1]))
    return None


# -- users ---------------------------------------------------------------------------------------


@command("system", "aaa")
def _aaa(device: Part, _match: Match) -> View:
    return View("aaa", device)


@command("aaa", r"local-user (\S+) service-type (\S.*)")
def _user_services(device: Part, match: Match) -> None:
    user = device.row("users", match[1], name=match[1])
    for service in match[2].split():
        user.add("service_types", service)


@command("aaa", r"local-user (\S+) user-group (\S+)")
def _user_group_of(device: Part, match: Match) -> None:
    device.row("users", match[1], name=match[1]).set("group", match[2])


@command("aaa", r"user-group (\S+)")
def _user_group(device: Part, match: Match) -> View:
    return View("user-group", device.row("user_groups", match[1], name=match[1]))


@command(
    "user-group", r"task-group (\S+) ((?:read|read-write|debug)(?: (?:read|read-write|debug))*)"
)
def _grant(group: Part, match: Match) -> None:
    row = group.row("grants", match[1], name=match[1])
    for right in match[2].split():
        row.add("rights", right)


@command("aaa", r"local-user (\S+) (?:privilege )?level (\d+)")
def _user_level(device: Part, match: Match) -> None:
    level = arguments.number(0, 15, "level")(match[2])
    device.row("users", match[1], name=match[1]).set("level", level)


@command("system", "telnet (ipv6 )?server disable")
def _telnet(device: Part, match: Match) -> None:
    device.add("telnet_off", "ipv6" if match[1] else "ipv4")


# -- SSH -----------------------------------------------------------------------------------------


@command("system", "stelnet (?:ipv4 )?server enable")  # newer releases name the family
def _stelnet(device: Part, _match: Match) -> None:
    device.part("ssh").set("stelnet", value=True)


@command("system", r"ssh server-source -i (\S.*)")
def _ssh_source(device: Part, match: Match) -> View | None:
    """Read the one source interface; a switch may have more, a Device may not."""
    name = interface_name(match[1])
    ssh = device.part("ssh")
    if name is None or ssh.fields.get("source_interface", name) != name:
        return UNMODELLED
    ssh.set("source_interface", name)
    return None


def _ssh_user(device: Part, name: str) -> Part:
    return device.part("ssh").row("users", name, name=name)


@command("system", r"ssh user (\S+)")
def _ssh_user_alone(device: Part, match: Match) -> None:
    _ssh_user(device, match[1])


@command("system", r"ssh user (\S+) authentication-type (\S+)")
def _ssh_authentication(device: Part, match: Match) -> None:
    _ssh_user(device, match[1]).set("authentication", match[2])


@command("system", r"ssh user (\S+) service-type (\S.*)")
def _ssh_services(device: Part, match: Match) -> None:
    user = _ssh_user(device, match[1])
    for service in match[2].split():
        user.add("service_types", service)


# -- terminal lines ------------------------------------------------------------------------------

setting("vty", r"authentication-mode (\S+)", "authentication")
setting("vty", r"protocol inbound (\S+)", "protocol")


@command("system", r"user-interface vty (\d+)(?: (\d+))?")
def _vty(device: Part, match: Match) -> View:
    first = arguments.whole(match[1])
    row = device.row("vty", first, first=first)
    row.set("last", arguments.whole(match[2]) if match[2] else first)
    return View("vty", row)
