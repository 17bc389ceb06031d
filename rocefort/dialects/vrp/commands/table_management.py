"""The commands of users, of terminal lines, of NETCONF and of telemetry, in saved order."""

from __future__ import annotations

from rocefort.dialects.vrp.commands.command import V200, V300, LostLines, Row, command, group, wider
from rocefort.dialects.vrp.readers import line_readers

RIGHTS = "{ read | read-write | debug }"
PROTOCOL = "[ protocol { grpc | gRPC | udp } [ no-tls ] ]"  # some releases save `gRPC`

GROUPS: tuple[tuple[Row, ...], ...] = (
    group(
        "aaa",
        "CR AAA_Configuration_Commands",
        command("local-user <name> password ( <text> )", undo=("local-user <name> *",)),
        command(
            "local-user <name> service-type ( <text> )",
            "users[{name}].service_types+={text}",
            undo=("local-user <name> service-type",),
        ),
        command(
            "local-user <name> privilege level ( <0-3> )",
            "users[{name}].level={0-3}",
            families=V300,
            undo=("local-user <name> privilege level",),
        ),
        command(
            "local-user <name> level ( <0-3> )",
            "users[{name}].level={0-3}",
            families=V200,
            undo=("local-user <name> level",),
        ),
        *(  # VRP8 before V300 had 16 levels
            wider(f"local-user <name> {privilege}level ( <0-15> )", "users[{name}].level={0-15}")
            for privilege in ("", "privilege ")
        ),
        command(
            "local-user <name> user-group ( <other> )",
            "users[{name}].group={other}",
            undo=("local-user <name> user-group",),
        ),
        command(
            "local-user <name> state ( { block | active } )", undo=("local-user <name> state",)
        ),
        command("task-group <name>", opens="opaque"),
        command("user-group <name>", "user_groups[{name}]", opens="user-group"),
    ),
    group(
        "vty",
        "CR VTY user interface",
        command(
            "authentication-mode ( { aaa | password } )",
            "authentication={word}",
            undo=("authentication-mode",),
            losses=(
                LostLines(
                    ("set authentication password",),
                    "`authentication-mode`: AAA and the undo clear the password of the line",
                ),
            ),
        ),
        command(
            "protocol inbound ( { all | ssh | telnet } )",
            "protocol={word}",
            undo=("protocol inbound",),
        ),
        command(
            "idle-timeout ( <0-35791> [ <0-59> ] )",
            "idle_timeout_s",
            reads=line_readers.idle_timeout,
            undo=("idle-timeout",),
        ),
        command("acl ( <2000-2999> ) inbound", "acl={2000-2999}", undo=("acl inbound",)),
        command("acl ( <other> ) { inbound | outbound }", undo=("acl { inbound | outbound }",)),
        command("user privilege level ( <0-3> )", undo=("user privilege level",)),
        wider("user privilege level ( <0-15> )"),
    ),
    group(
        "netconf",
        "CR NETCONF_Configuration_Commands",
        command("protocol inbound ssh [ ipv4 ] port 830", "port_830=yes"),
    ),
    group(
        "user-group",
        "CR AAA_Configuration_Commands, `task-group` (user group view)",
        command(
            f"task-group <name> ( {RIGHTS} [ {RIGHTS} ] [ {RIGHTS} ] )",
            "grants[]",
            reads=line_readers.rights,
            undo=("task-group <name>",),
        ),
    ),
    group(
        "telemetry",
        "CR Telemetry_Configuration_Commands; CG static subscription",
        command("sensor-group <name>", "sensor_groups[{name}]", opens="sensor-group"),
        command(
            "destination-group <name>", "destination_groups[{name}]", opens="destination-group"
        ),
        command("subscription <name>", "subscriptions[{name}]", opens="subscription"),
    ),
    group(
        "sensor-group",
        "CR Telemetry_Configuration_Commands, `sensor-path`",
        command("sensor-path <other>", "paths+={other}"),
    ),
    group(
        "destination-group",
        "CR Telemetry_Configuration_Commands, `ipv4-address port`",
        command(
            f"ipv4-address <ip> port <1-65535> ( [ vpn-instance <name> ] {PROTOCOL} )",
            "collectors[]",
            reads=line_readers.collector,
            undo=(  # in the form of its setting: with its table and its protocol
                f"ipv4-address <ip> port <1-65535> ( vpn-instance <name> {PROTOCOL} )",
                "ipv4-address <ip> port <1-65535> ( protocol { grpc | gRPC | udp } [ no-tls ] )",
                "ipv4-address <ip> port <1-65535>",
            ),
        ),
    ),
    group(
        "subscription",
        "CR Telemetry_Configuration_Commands (subscription view)",
        command(
            "local-source-interface ( <interface> )",
            "source_interface={interface}",
            undo=("local-source-interface [ ( <interface> ) ]",),
        ),
        command(
            "sensor-group <name> ( [ sample-interval <0-1800000> ] )",
            "samplings[{name}].interval_ms={0-1800000}",
        ),
        command("destination-group <name>", "destinations+={name}"),
    ),
)
