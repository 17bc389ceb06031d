"""Commands of the interface view, but for PFC."""

from __future__ import annotations

import re

from rocefort.dialects.vrp.names import interface_name
from rocefort.dialects.vrp.parsing import arguments
from rocefort.dialects.vrp.parsing.commands import UNMODELLED, Match, View, command, flag, setting
from rocefort.dialects.vrp.parsing.parts import BadArgumentError, Part

setting("interface", r"description (.+)", "description")
flag("interface", "undo portswitch", "routed")
flag("interface", "portswitch", "routed", value=False)
flag("interface", "shutdown", "enabled", value=False)
flag("interface", "undo shutdown", "enabled")
setting("interface", r"mtu (\d+)", "mtu", arguments.number(1, 65535, "MTU"))
setting("interface", r"port link-type (access|trunk)", "link_type")
setting("interface", r"port default vlan (\d+)", "access_vlan", arguments.vlan)
flag("interface", "stp edged-port enable", "edge")
flag("interface", "trust dscp", "trust_dscp")
flag("interface", "negotiation disable", "autonegotiation", value=False)
flag("interface", "undo negotiation disable", "autonegotiation")
setting("interface", r"fec mode (none|base-r|rs)", "fec")
flag("interface", "flow-control", "flow_control")
flag("interface", "undo flow-control", "flow_control", value=False)


@command("system", r"interface (\S.*)")
def _interface(device: Part, match: Match) -> View:
    """Open an interface; subinterfaces and ranges are not modelled."""
    name = interface_name(match[1])
    if name is None:
        return UNMODELLED
    return View("interface", device.row("interfaces", name, name=name))


@command("interface", r"ip address (\d\S*) (\d\S*)( sub)?")
def _address(port: Part, match: Match) -> View | None:
    """Read the primary address first, then the others; one without a primary has no meaning."""
    address = arguments.interface_address(match[1], match[2])
    primary = next(iter(port.values.get("addresses", {})), None)
    if match[3]:
        if primary is None:
            return UNMODELLED
    elif primary not in (None, address):
        line = port.log.first[f"{port.below('addresses')}[{primary}]"]
        raise BadArgumentError(
            f"a second primary address {address}; {primary} is on line {line}", "write `sub`"
        )
    port.add("addresses", address)
    return None


setting("interface", r"ip binding vpn-instance (\S+)", "vrf")


@command("interface", r"port trunk allow-pass vlan (\d+(?: to \d+)?(?: \d+(?: to \d+)?)*)")
def _trunk(port: Part, match: Match) -> None:
    for vlan in arguments.vlans(match[1]):
        port.add("trunk_vlans", vlan)


setting("interface", r"trust upstream (\S+)", "domain")


# -- scheduling: every queue has strict priority but those of `qos drr` ---------------------------

QUEUES = r"\d(?: to \d)?(?: \d(?: to \d)?)*"
STRICT, BY_WEIGHT = "pq", "drr"  # facts of a queue's row


@command("interface", rf"qos (?:pq|drr) {QUEUES}(?: (?:pq|drr) {QUEUES})*")
def _schedulers(port: Part, match: Match) -> None:
    for word, some in re.findall(rf"(pq|drr) ({QUEUES})", match[0]):
        for queue in arguments.queues(some):
            row = port.row("drr", queue, queue=queue)
            row.facts.add(word)
            if len(row.facts) > 1:
                raise BadArgumentError(
                    f"queue {queue} is under both `qos pq` and `qos drr`", "keep one of the two"
                )


@command("interface", r"qos queue (\d) drr weight (\d+)")
def _weight(port: Part, match: Match) -> None:
    queue = arguments.queue(match[1])
    row = port.row("drr", queue, queue=queue)
    row.set("weight", arguments.number(1, 100, "weight")(match[2]))
