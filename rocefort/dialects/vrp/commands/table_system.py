"""The commands of the system view, in the order in which their sections are saved."""

from __future__ import annotations

from rocefort.dialects.vrp.commands import table_packet_filters
from rocefort.dialects.vrp.commands.command import (
    G1,
    G2,
    ROUTED,
    SYSTEM,
    V200,
    V300,
    LostLines,
    Row,
    Spelling,
    command,
    group,
    wider,
)
from rocefort.dialects.vrp.readers import line_readers
from rocefort.models.device.interface import DEFAULT_VLAN

RECOVERY = "{ forwarding | discard }"
POOL = "<kbytes:headroom_pool_kbytes> { kbytes | mbytes }"
AF4 = "ipv4-family unicast"
ORDER = "the numbers order the {}; the first that matches counts"
ROUTE_VALUE = "( [ preference <1-255> ] [ description <text:150> ] )"

GROUPS: tuple[tuple[Row, ...], ...] = (
    group(
        SYSTEM, "CR First_Login", command("sysname ( <name> )", "name={name}", undo=("sysname",))
    ),
    group(
        SYSTEM,
        "CR Interface_Basic_Configuration_Commands, `port split`; its place: FIELD, CE8850 V200",
        command(
            "port split dimension interface <ports> ( split-type <split-type> )",
            "splits[{ports}].type={split-type}",
            kind="ports",
            undo=(
                "port split dimension interface <ports> ( split-type <split-type> )",
                "port split dimension interface <ports>",
            ),
        ),
    ),
    group(SYSTEM, "annet huawei.rul", command("port split refresh", families=V200, kind="action")),
    group(
        SYSTEM,
        "CR VLAN_Configuration_Commands; saved form of `vlan N`: CG VLAN_Configuration",
        command(
            "vlan batch ( <numbers:1-4094> )",
            "vlans+={numbers}",
            kind="list",
            default=str(DEFAULT_VLAN),
            losses=(
                LostLines(("vlan {number}",), "`vlan`: its view goes with the VLAN", on="undo"),
            ),
        ),
        command(
            "vlan <1-4094>",
            "vlans+={1-4094}",
            opens="vlan",
            transient=True,
            on_set=("vlan batch {1-4094}",),
            on_undo=("undo vlan batch {1-4094}",),
        ),
    ),
    group(
        SYSTEM,
        "CR STP; LLDP_Configuration_Commands",
        command("stp mode ( { mstp | rstp | stp } )", undo=("stp mode",)),
    ),
    group(
        SYSTEM,
        "CR LLDP_Configuration_Commands",
        command("lldp enable", "lldp=yes", "undo? lldp=no"),
    ),
    group(
        SYSTEM,
        "CR DCB_Configuration_Commands",
        command(
            "dcb pfc [ <name> ]",
            "pfc.profiles[{name|default}]",
            opens="dcb-pfc",
            undo=("dcb pfc <name>",),
        ),
        command("dcb pfc global disable", "interfaces[].pfc", reads=line_readers.pfc_off),
        command(
            "dcb pfc deadlock-detect timer ( <deadlock_detect_ms> )",
            "pfc.detect_ms={deadlock_detect_ms}",
            instead="give detect_time per queue",
            families=G1,
            default="dcb pfc deadlock-detect timer {deadlock_default_ms}",
            undo=(
                "dcb pfc deadlock-detect *",
                "dcb pfc deadlock-detect timer ( <deadlock_detect_ms> )",
            ),
        ),
        command(
            "dcb pfc deadlock-recovery timer ( <deadlock_recovery_ms> )",
            "pfc.recovery_ms={deadlock_recovery_ms}",
            instead="give recovery_time per queue",
            families=G1,
            default="dcb pfc deadlock-recovery timer {deadlock_default_ms}",
            undo=(
                "dcb pfc deadlock-recovery *",
                "dcb pfc deadlock-recovery timer ( <deadlock_recovery_ms> )",
            ),
        ),
        command(
            "dcb pfc deadlock-detect interval ( { <deadlock_intervals_ms> } )",
            "pfc.interval_ms={deadlock_intervals_ms}",
            families=G2,
            default="dcb pfc deadlock-detect interval {deadlock_interval_ms}",
            undo=("dcb pfc deadlock-detect interval",),
        ),
        *(
            command(
                f"dcb pfc deadlock recovery-behavior ( {RECOVERY} ) slot <1-16>",
                "pfc.recovery_behavior",
                reads=line_readers.recovery_behavior,
                families=chips,
                default=f"dcb pfc deadlock recovery-behavior {default} slot 1",
                undo=(f"dcb pfc deadlock recovery-behavior ( {RECOVERY} ) slot <1-16>",),
            )
            for chips, default in ((G1, "discard"), (G2, "forwarding"))
        ),
        command(
            "dcb pfc dscp-mapping enable slot <1-16>",
            "pfc.dscp_mapping",
            reads=line_readers.dscp_mapping,
            families=G2,
        ),
        *(
            command(
                f"qos buffer headroom-pool size ( {POOL} ) slot <1-16>",
                "pfc.headroom_pool_kbytes",
                reads=line_readers.headroom_pool,
                families=chips,
                undo=(
                    f"qos buffer headroom-pool size ( {POOL} ) slot <1-16>",
                    "qos buffer headroom-pool +size slot <1-16>",
                ),
                held_by=held_by,
            )
            for chips, held_by in ((G1, ()), (G2, ("dcb pfc enable",)))
        ),
    ),
    group(
        SYSTEM,
        "CR CLI-based_Device_Login_Configuration_Commands; saved by a CE8850 with V200R002C50",
        command("telnet server disable", "telnet_off+=ipv4"),
        command("telnet ipv6 server disable", "telnet_off+=ipv6"),
    ),
    group(SYSTEM, "V200 AI Fabric guide", command("low-latency fabric", families=V200)),
    group(
        SYSTEM,
        "FIELD, CE6865 with V200: the share of the buffer for lossless queues",
        command("qos buffer lossless-pool percent ( <1-100> ) slot <1-16>", families=V200),
    ),
    group(
        SYSTEM,
        "CR Ethernet_Interface_Configuration_Commands, `port mode` (system view); 100GE: FIELD",
        "port mode <other> interface <text>",
    ),
    group(
        SYSTEM,
        "CR Priority_Mapping_Configuration_Commands",
        command("diffserv domain default", "domains[default]", opens="diffserv", transient=True),
        command("diffserv domain <name>", "domains[{name}]", opens="diffserv"),
    ),
    group(
        SYSTEM,
        "CR BFD_Configuration_Commands",
        command(
            "bfd",
            "bfd=yes",
            "undo? bfd=no",
            opens="bfd",
            losses=(
                LostLines(
                    ("bfd *",),
                    "`bfd`: the process is deleted, which sessions need",
                    on="undo",
                    confirmed=False,
                ),
            ),
        ),
    ),
    group(
        SYSTEM,
        "CR Congestion_Avoidance_and_Congestion_Management_Configuration_Commands",
        command(
            "drop-profile default", "drop_profiles[default]", opens="drop-profile", transient=True
        ),
        command("drop-profile <name>", "drop_profiles[{name}]", opens="drop-profile"),
        command("qos ecn enable", "ecn_enabled=yes", instead="leave it out", families=G1),
        command("qos hpc enhanced", families=G1),
    ),
    group(
        SYSTEM,
        "CR AI_ECN_Configuration_Commands; V200 form not confirmed",
        command("ai-service", ".", opens="ai-service"),
    ),
    *table_packet_filters.SECTIONS,
    group(SYSTEM, "CR AAA_Configuration_Commands", command("aaa", ".", opens="aaa", no_undo=True)),
    group(
        SYSTEM,
        "CR IPv4_L3VPN_Configuration_Commands; its interfaces lose their addresses with it",
        command(
            "ip vpn-instance <name>",
            "vrfs[{name}]",
            opens="vpn-instance",
            losses=(
                LostLines(
                    (*ROUTED, "arp"),
                    "as with `undo ip binding vpn-instance`",
                    on="undo",
                    views="interface *",
                    beside="ip binding vpn-instance {name}",
                    lasting=True,
                ),
                LostLines(
                    ("ip binding vpn-instance {name}",),
                    "all the configurations of the VPN instance are deleted",
                    on="undo",
                    views="interface *",
                ),
                LostLines(
                    ("ip route-static vpn-instance {name}",),
                    "all the configurations of the VPN instance are deleted",
                    on="undo",
                ),
                LostLines(
                    ("ipv6 route-static vpn-instance {name}",),
                    "as for routes of IPv4",
                    on="undo",
                    confirmed=False,
                ),
                LostLines(
                    ("ipv4-family vpn-instance {name}", "ipv6-family vpn-instance {name}"),
                    "the configurations of the VPN instance in the BGP view are deleted",
                    on="undo",
                    views="bgp *",
                ),
            ),
        ),
    ),
    group(
        SYSTEM,
        "CR Interface_Basic_Configuration_Commands",
        command(
            "interface <eth-trunk>", "interfaces[{eth-trunk}]", opens="interface"
        ),  # saved before its members
        command("interface <interface>", "interfaces[{interface}]", opens="interface"),
    ),
    group(
        SYSTEM,
        "CR BGP_Configuration_Commands; the family is always there: CG BGP_Configuration",
        command(
            "bgp ( <asn> )",
            "bgp.asn={asn}",
            opens="bgp",
            # "By default, an AS number must be specified in the undo bgp command" (CR, `bgp`)
            undo=("bgp ( <asn> )",),
            on_set=(f"{{self}}: {AF4}",),
        ),
    ),
    group(
        SYSTEM,
        "CR Routing_Policy_Configuration_Commands",
        command(
            "route-policy <name> ( { permit | deny } ) node <0-65535>",
            "route_policies[{name}].nodes[{0-65535}].action={word}",
            opens="route-policy",
            undo=("route-policy <name> [ node <0-65535> ] *",),
            equal=Spelling(f"CR `route-policy`: {ORDER.format('nodes')}", number="0-65535"),
        ),
        command(
            "ip ip-prefix <name> index <1-4294967295> ( { permit | deny } <ip> <0-32> "
            "[ greater-equal <0-32> ] [ less-equal <0-32> ] )",
            "prefix_lists[].entries[]",
            reads=line_readers.prefix,
            undo=("ip ip-prefix <name> [ index <1-4294967295> ] *",),
            equal=Spelling(f"CR `ip ip-prefix`: {ORDER.format('entries')}", number="1-4294967295"),
        ),
    ),
    group(
        SYSTEM,
        "CR Static_Route_Configuration_Commands; without a next hop the undo takes them all",
        command(
            f"ip route-static <ip> <mask> <other> [ <ip> ] {ROUTE_VALUE}",
            "static_routes[]",
            reads=line_readers.static_route,
            undo=("ip route-static <ip> <mask> [ <other> ] [ <ip> ] *",),
        ),
        command(
            f"ip route-static vpn-instance <name> <ip> <mask> <other> [ <ip> ] {ROUTE_VALUE}",
            "static_routes[].vrf",
            reads=line_readers.static_route_of_table,
            undo=("ip route-static vpn-instance <name> <ip> <mask> [ <other> ] [ <ip> ] *",),
            needs=("ip vpn-instance {name}",),
        ),
    ),
    group(
        SYSTEM,
        "CR SSH; NETCONF_Configuration_Commands",
        # newer releases name the family
        command("stelnet [ { ipv4 | ipv6 } ] server enable", "!ipv6? ssh.stelnet=yes"),
        command("snetconf [ { ipv4 | ipv6 } ] server enable", "!ipv6? netconf.server=yes"),
        command("netconf", "netconf", opens="netconf", transient=True, no_undo=True),
        command(
            "ssh server-source { -i <interface> | all-interface }",
            "ssh.source_interface",
            reads=line_readers.ssh_source,
        ),
        command(
            "ssh server dh-exchange min-len ( <other> )", undo=("ssh server dh-exchange min-len",)
        ),
        command("ssh server <name> ( <text> )", undo=("ssh server <name> ( [ <text> ] )",)),
        command("ssh user <name>", "ssh.users[{name}]", undo=("ssh user <name> *",)),
        command(
            "ssh user <name> authentication-type ( <other> )",
            "ssh.users[{name}].authentication={other}",
            undo=("ssh user <name> authentication-type",),
        ),
        command(
            "ssh user <name> service-type ( <text> )",
            "ssh.users[{name}].service_types+={text}",
            undo=("ssh user <name> service-type",),
        ),
    ),
    group(
        SYSTEM,
        "CR VTY user interface",
        command(
            "user-interface vty <0-20> <0-20>",
            "vty[{0-20}].last={0-20:2}",
            opens="vty",
            no_undo=True,
        ),
        wider("user-interface vty <0-999>", "vty[{0-999}].last={0-999}"),
        wider("user-interface vty <0-999> <0-999>", "vty[{0-999}].last={0-999:2}"),
        command("user-interface console <0-0>", opens="vty", no_undo=True),
    ),
    group(
        SYSTEM,
        "CR NTP; Information_Management; SNMP_Configuration_Commands",
        command(
            "ntp unicast-server <ip> ( [ <text> ] )",
            "ntp_servers[] ntp_source",
            reads=line_readers.ntp_server,
            undo=("ntp unicast-server <ip>",),
        ),
        command(
            "ntp unicast-server <ip> vpn-instance <name> ( [ <text> ] )",
            "ntp_servers[] ntp_source ntp_vrf",
            reads=line_readers.ntp_server_of_table,
            undo=("ntp unicast-server <ip> vpn-instance <name>",),
        ),
        "ntp authentication enable",
        command(
            "ntp authentication-keyid <1-4294967295> ( <text> )",
            undo=("ntp authentication-keyid <1-4294967295>",),
        ),
        "ntp trusted authentication-keyid <1-4294967295>",
        "ntp server disable",
        "info-center enable",
        # before the hosts: CR `display configuration commit`, vrpcfg.cfg
        command(
            "info-center loghost source ( <interface> )",
            "syslog.source_interface={interface}",
            undo=("info-center loghost source",),
        ),
        command(
            "info-center loghost <ip> ( [ <text> ] )",
            "syslog.hosts[]",
            reads=line_readers.loghost,
            undo=("info-center loghost <ip>",),
        ),
        command(
            "info-center loghost <ip> vpn-instance <name> ( [ <text> ] )",
            "syslog.hosts[] syslog.vrf",
            reads=line_readers.loghost_of_table,
            undo=("info-center loghost <ip> vpn-instance <name>",),
        ),
        command("snmp-agent", "snmp.enabled=yes"),
        command(
            "snmp-agent sys-info version ( <snmp-versions> )",
            "snmp.versions+={snmp-versions}",
            kind="versions",
            families=V200,
        ),
        command(
            "snmp-agent sys-info version ( <snmp-versions> ) [ disable ]",
            "!disable? snmp.versions+={snmp-versions}",
            kind="versions",
            families=V300,
            no_undo=True,
        ),
        command(
            "snmp-agent mib-view { included | excluded } <name> <other>",
            "included? snmp.views[{name}].subtrees+={other}",
            undo=("snmp-agent mib-view [ { included | excluded } ] <name> [ <other> ] *",),
        ),
        command(
            "snmp-agent group v3 <name> privacy "
            "( [ read-view <name> ] [ write-view <name> ] [ notify-view <name> ] )",
            "snmp.groups[{name}].read_view={name:2} snmp.groups[{name}].write_view={name:3} "
            "snmp.groups[{name}].notify_view={name:4}",
            undo=("snmp-agent group v3 <name> privacy",),
        ),
        command(
            "snmp-agent usm-user v3 <name>",
            "snmp.users[{name}]",
            undo=("snmp-agent usm-user v3 <name> *",),
        ),
        command(
            "snmp-agent usm-user v3 <name> group ( <name> )", "snmp.users[{name}].group={name:2}"
        ),
        "snmp-agent usm-user v3 <name> { authentication-mode | privacy-mode } ( <text> )",
        command("snmp-agent trap source ( <interface> )", undo=("snmp-agent trap source",)),
        command(
            "snmp-agent protocol source-interface <interface>",
            "snmp.source_interface",
            reads=line_readers.snmp_source,
        ),
        "snmp-agent <text>",  # what is not modelled
        command("telemetry", "telemetry", opens="telemetry", transient=True, no_undo=True),
        command("dcb ets-profile <name>", opens="opaque"),
        command("dfs-group <1-1>", opens="opaque"),
        command("load-balance ecmp", opens="opaque"),
        command("monitor-link group <1-24>", opens="opaque"),
        command("stp v-stp enable"),
    ),
)
