"""The commands of users, of terminal lines, of NETCONF and of telemetry, as they are saved."""

from __future__ import annotations

from rocefort.dialects.vrp.row import V200, V300, Row, command, group

RIGHTS = "{ read | read-write | debug }"
PROTOCOL = "[ protocol { grpc | udp } [ no-tls ] ]"

GROUPS: tuple[tuple[Row, ...], ...] = (
    group(
        "aaa",
        "CR AAA_Configuration_Commands",
        command("local-user <name> password ( <text> )", undo=("local-user <name> *",)),
        command(
            "local-user <name> service-type ( <text> )", undo=("local-user <name> service-type",)
        ),
        command(
            "local-user <name> privilege level ( <0-3> )",
            families=V300,
            undo=("local-user <name> privilege level",),
        ),
        command(
            "local-user <name> level ( <0-3> )", families=V200, undo=("local-user <name> level",)
        ),
        command("local-user <name> user-group ( <other> )", undo=("local-user <name> user-group",)),
        command(
            "local-user <name> state ( { block | active } )", undo=("local-user <name> state",)
        ),
        command("task-group <name>", opens="opaque"),
        command("user-group <name>", opens="user-group"),
    ),
    group(
        "vty",
        "CR VTY user interface",
        command("authentication-mode ( { aaa | password } )", undo=("authentication-mode",)),
        command("protocol inbound ( { all | ssh | telnet } )", undo=("protocol inbound",)),
        command("idle-timeout ( <0-35791> [ <0-59> ] )", undo=("idle-timeout",)),
        command("acl ( <other> ) { inbound | outbound }", undo=("acl { inbound | outbound }",)),
        command("user privilege level ( <0-3> )", undo=("user privilege level",)),
    ),
    group("netconf", "CR NETCONF_Configuration_Commands", "protocol inbound ssh port 830"),
    group(
        "user-group",
        "CR AAA_Configuration_Commands, `task-group` (user group view)",
        command(
            f"task-group <name> ( {RIGHTS} [ {RIGHTS} ] [ {RIGHTS} ] )",
            undo=("task-group <name>",),
        ),
    ),
    group(
        "telemetry",
        "CR Telemetry_Configuration_Commands; CG static subscription",
        command("sensor-group <name>", opens="sensor-group"),
        command("destination-group <name>", opens="destination-group"),
        command("subscription <name>", opens="subscription"),
    ),
    group(
        "sensor-group",
        "CR Telemetry_Configuration_Commands, `sensor-path`",
        "sensor-path <other>",
    ),
    group(
        "destination-group",
        "CR Telemetry_Configuration_Commands, `ipv4-address port`",
        f"ipv4-address <ip> port <1-65535> ( [ vpn-instance <name> ] {PROTOCOL} )",
    ),
    group(
        "subscription",
        "CR Telemetry_Configuration_Commands (subscription view)",
        command(
            "local-source-interface ( <interface> )",
            undo=("local-source-interface [ ( <interface> ) ]",),
        ),
        "sensor-group <name> ( [ sample-interval <0-1800000> ] )",
        "destination-group <name>",
    ),
)
