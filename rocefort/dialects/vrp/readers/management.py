"""Readers of lines of management with more content than fields and their values."""

from __future__ import annotations

import re

from rocefort.dialects.vrp.readers import arguments
from rocefort.dialects.vrp.readers.arguments import NOT_MODELLED, Part
from rocefort.dialects.vrp.text.names import interface_name

SOURCE = re.compile(r"(?P<match>any|(?P<ip>\d\S*) (?P<wildcard>\d\S*))", re.ASCII)
NTP_SOURCE = re.compile(r"source-interface (?P<interface>\S+)", re.ASCII)
Read = bool | None


def basic_rule(acl: Part, index: str, action: str, text: str | None) -> Read:
    """Read a rule by source; one with more matches, or with gaps in its wildcard, is no network."""
    source = None
    if text is not None:
        match = SOURCE.fullmatch(text.removeprefix("source "))
        if match is None or not text.startswith("source "):
            return NOT_MODELLED
        if match["ip"]:
            length = arguments.wildcard_length(match["wildcard"])
            if length is None:
                return NOT_MODELLED
            source = arguments.network(match["ip"], str(length))
    number = arguments.number(0, 4294967294, "rule")(index)
    row = acl.row("rules", number, index=number)
    row.set("action", action)
    row.set("source", source)
    return None


def idle_timeout(vty: Part, minutes: str, seconds: str | None) -> None:
    """Read minutes and seconds; if both are zero, a session never ends."""
    whole = arguments.number(0, 35791, "idle-timeout")(minutes) * 60
    vty.set("idle_timeout_s", whole + arguments.number(0, 59, "seconds")(seconds or "0"))


def ntp_server(device: Part, ip: str, text: str | None) -> Read:
    """Read a server of the public table."""
    return ntp_server_of_table(device, ip, None, text)


def ntp_server_of_table(device: Part, ip: str, vrf: str | None, text: str | None) -> Read:
    """Read a server; a Device cannot have two in different tables, or of different sources."""
    match = NTP_SOURCE.fullmatch(text or "")
    if text and match is None:
        return NOT_MODELLED
    given = {"ntp_vrf": vrf, "ntp_source": match and interface_name(match["interface"])}
    if any(device.fields.get(name, value) != value for name, value in given.items()):
        return NOT_MODELLED
    for name, value in given.items():
        device.set(name, value)
    device.add("ntp_servers", arguments.address(ip))
    return None


def loghost(device: Part, ip: str, text: str | None) -> Read:
    """Read a host of the public table."""
    return loghost_of_table(device, ip, None, text)


def loghost_of_table(device: Part, ip: str, vrf: str | None, text: str | None) -> Read:
    """Read a host; a Device cannot have two in different tables."""
    syslog = device.part("syslog")
    if text or syslog.fields.get("vrf", vrf) != vrf:
        return NOT_MODELLED
    syslog.set("vrf", vrf)
    syslog.add("hosts", arguments.address(ip))
    return None


def ssh_source(device: Part, interface: str | None) -> Read:
    """Read the one source interface of SSH; a switch may have more, a Device may not."""
    return _one_source(device.part("ssh"), interface)


def snmp_source(device: Part, interface: str) -> Read:
    """Read the one source interface of SNMP; a switch may have more, a Device may not."""
    return _one_source(device.part("snmp"), interface)


def _one_source(part: Part, interface: str | None) -> Read:
    name = interface_name(interface or "")
    if name is None or part.fields.get("source_interface", name) != name:
        return NOT_MODELLED
    part.set("source_interface", name)
    return None


def collector(
    group: Part, ip: str, port: str, vrf: str | None, protocol: str | None, no_tls: str | None
) -> None:
    """Read a destination of telemetry."""
    address, number = arguments.address(ip), arguments.number(1, 65535, "port")(port)
    row = group.row("collectors", f"{address}:{number}", address=address, port=number)
    row.set("vrf", vrf)
    row.set("protocol", protocol and protocol.casefold())
    row.set("tls", no_tls is None)


def rights(group: Part, name: str, *some: str | None) -> None:
    """Read the rights of a user group on the commands of a task."""
    row = group.row("grants", name, name=name)
    for right in filter(None, some):
        row.add("rights", right)
