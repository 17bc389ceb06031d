"""Commands of management beside SSH: NETCONF, ACLs of the terminal lines, syslog, SNMP."""

from __future__ import annotations

from rocefort.dialects.vrp.names import interface_name, snmp_version_words
from rocefort.dialects.vrp.parsing import arguments
from rocefort.dialects.vrp.parsing.commands import UNMODELLED, Match, View, command, setting
from rocefort.dialects.vrp.parsing.parts import Part

# -- NETCONF: the newer releases of V300 name the address family ---------------------------------


@command("system", "snetconf (?:ipv4 )?server enable")
def _snetconf(device: Part, _match: Match) -> None:
    device.part("netconf").set("server", value=True)


@command("system", "netconf")
def _netconf(device: Part, _match: Match) -> View:
    return View("netconf", device.part("netconf"))


@command("netconf", "protocol inbound ssh (?:ipv4 )?port 830")
def _port_830(netconf: Part, _match: Match) -> None:
    netconf.set("port_830", value=True)


# -- ACLs by source address ----------------------------------------------------------------------

acl_number = arguments.number(2000, 2999, "basic ACL")


@command("system", r"acl (?:number )?(2\d{3})")
def _acl(device: Part, match: Match) -> View:
    number = acl_number(match[1])
    return View("acl", device.row("acls", number, number=number))


@command("acl", r"rule (\d+) (permit|deny)(?: source (?:any|(\d\S*) (\d\S*)))?")
def _rule(acl: Part, match: Match) -> View | None:
    """Read a rule by source; a wildcard with gaps is no network and stays unmodelled."""
    length = None
    if match[3]:
        length = arguments.wildcard_length(match[4])
        if length is None:
            return UNMODELLED
    source = arguments.network(match[3], str(length)) if match[3] else None
    index = arguments.number(0, 4294967294, "rule")(match[1])
    row = acl.row("rules", index, index=index)
    row.set("action", match[2])
    row.set("source", source)
    return None


setting("vty", r"acl (2\d{3}) inbound", "acl", acl_number)


@command("vty", r"idle-timeout (\d+)(?: (\d+))?")
def _idle_timeout(vty: Part, match: Match) -> None:
    minutes = arguments.number(0, 35791, "idle-timeout")(match[1])
    vty.set("idle_timeout_s", minutes * 60 + arguments.number(0, 59, "seconds")(match[2] or "0"))


# -- syslog --------------------------------------------------------------------------------------


@command("system", r"info-center loghost (\d\S*)(?: vpn-instance (\S+))?")
def _loghost(device: Part, match: Match) -> View | None:
    """Read a host; two in different tables are more than a Device says."""
    syslog = device.part("syslog")
    if syslog.fields.get("vrf", match[2]) != match[2]:
        return UNMODELLED
    syslog.set("vrf", match[2])
    syslog.add("hosts", arguments.address(match[1]))
    return None


@command("system", r"info-center loghost source (\S.*)")
def _loghost_source(device: Part, match: Match) -> View | None:
    name = interface_name(match[1])
    if name is None:
        return UNMODELLED
    device.part("syslog").set("source_interface", name)
    return None


# -- SNMP: the lines of a user's keys stay unmodelled, for they are secrets of the switch ---------


@command("system", "snmp-agent")
def _snmp(device: Part, _match: Match) -> None:
    device.part("snmp").set("enabled", value=True)


@command("system", r"snmp-agent protocol source-interface (\S.*)")
def _snmp_source(device: Part, match: Match) -> View | None:
    """Read the one source interface; a switch may have more, a Device may not."""
    name = interface_name(match[1])
    snmp = device.part("snmp")
    if name is None or snmp.fields.get("source_interface", name) != name:
        return UNMODELLED
    snmp.set("source_interface", name)
    return None


@command("system", r"snmp-agent sys-info version (all|(?:v1|v2c|v3)(?: (?:v1|v2c|v3))*)")
def _snmp_versions(device: Part, match: Match) -> None:
    for version in snmp_version_words(match[1]):
        device.part("snmp").add("versions", version)


@command("system", r"snmp-agent mib-view included (\S+) (\S+)")
def _snmp_view(device: Part, match: Match) -> None:
    device.part("snmp").row("views", match[1], name=match[1]).add("subtrees", match[2])


@command(
    "system",
    r"snmp-agent group v3 (\S+) privacy"
    r"(?: read-view (\S+))?(?: write-view (\S+))?(?: notify-view (\S+))?",
)
def _snmp_group(device: Part, match: Match) -> None:
    row = device.part("snmp").row("groups", match[1], name=match[1])
    for place, name in enumerate(("read_view", "write_view", "notify_view"), 2):
        row.set(name, match[place])


@command("system", r"snmp-agent usm-user v3 (\S+)(?: group (\S+))?")
def _snmp_user(device: Part, match: Match) -> None:
    row = device.part("snmp").row("users", match[1], name=match[1])
    if match[2]:
        row.set("group", match[2])
