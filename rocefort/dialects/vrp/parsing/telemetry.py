"""Commands of telemetry: sensor groups, collectors, subscriptions."""

from __future__ import annotations

from rocefort.dialects.vrp.names import interface_name
from rocefort.dialects.vrp.parsing import arguments
from rocefort.dialects.vrp.parsing.commands import UNMODELLED, Match, View, command
from rocefort.dialects.vrp.parsing.parts import Part

port = arguments.number(1, 65535, "port")
interval = arguments.number(0, 1800000, "sample-interval")


@command("system", "telemetry")
def _telemetry(device: Part, _match: Match) -> View:
    return View("telemetry", device.part("telemetry"))


@command("telemetry", r"sensor-group (\S+)")
def _sensor_group(telemetry: Part, match: Match) -> View:
    return View("sensor-group", telemetry.row("sensor_groups", match[1], name=match[1]))


@command("sensor-group", r"sensor-path (\S+)")
def _sensor_path(group: Part, match: Match) -> None:
    group.add("paths", match[1])


@command("telemetry", r"destination-group (\S+)")
def _destination_group(telemetry: Part, match: Match) -> View:
    return View("destination-group", telemetry.row("destination_groups", match[1], name=match[1]))


@command(
    "destination-group",
    r"ipv4-address (\d\S*) port (\d+)(?: vpn-instance (\S+))?"
    r"(?: protocol (?:((?i:grpc))( no-tls)?|((?i:udp))))?",
)
def _collector(group: Part, match: Match) -> None:
    address, number = arguments.address(match[1]), port(match[2])
    row = group.row("collectors", f"{address}:{number}", address=address, port=number)
    row.set("vrf", match[3])
    row.set("protocol", (match[4] or match[6] or "").lower() or None)
    row.set("tls", not match[5])


@command("telemetry", r"subscription (\S+)")
def _subscription(telemetry: Part, match: Match) -> View:
    return View("subscription", telemetry.row("subscriptions", match[1], name=match[1]))


@command("subscription", r"local-source-interface (\S+)")
def _source(subscription: Part, match: Match) -> View | None:
    name = interface_name(match[1])
    if name is None:
        return UNMODELLED
    subscription.set("source_interface", name)
    return None


@command("subscription", r"sensor-group (\S+)(?: sample-interval (\d+))?")
def _sampling(subscription: Part, match: Match) -> None:
    row = subscription.row("samplings", match[1], group=match[1])
    row.set("interval_ms", interval(match[2]) if match[2] else None)


@command("subscription", r"destination-group (\S+)")
def _destination(subscription: Part, match: Match) -> None:
    subscription.add("destinations", match[1])
