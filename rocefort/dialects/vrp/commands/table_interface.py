"""The commands of VLANs, routing tables and interfaces, in the order of their saved lines."""

from __future__ import annotations

from dataclasses import replace

from rocefort.dialects.vrp.commands.command import (
    G1,
    G2,
    MEMBER,
    OFFSET,
    PORT,
    ROUTED,
    V200,
    LostLines,
    Row,
    command,
    group,
    wider,
)
from rocefort.dialects.vrp.readers import line_readers
from rocefort.models.device.interface import DEFAULT_VLAN, ETHERNET_MTU

UNIT = "{ kbytes | mbytes }"
STATIC = f"xon static <kbytes:xoff_kbytes> {UNIT} xoff static <kbytes:xoff_kbytes> {UNIT}"

GROUPS: tuple[tuple[Row, ...], ...] = (
    group(
        "vlan",
        "CR VLAN_Configuration_Commands",
        command("description ( <text:80> )", undo=("description",)),
        command("name ( <name> )", undo=("name",)),
    ),
    group(
        "vpn-instance",
        "CR IPv4_L3VPN_Configuration_Commands, `ipv4-family`; saved: CG Service and Management "
        "Isolation Configuration",
        command(
            "ipv4-family [ unicast ]",
            "ipv4=yes",
            opens="opaque",
            losses=(
                LostLines(
                    ("ip address",),
                    "the addresses of all interfaces that are bound to the VPN instance",
                    on="undo",
                    views="interface *",
                    beside="ip binding vpn-instance {view}",
                ),
                LostLines(
                    ("ipv4-family vpn-instance {view}",),
                    "configurations that are related to the VPN instance in the BGP view",
                    on="undo",
                    views="bgp *",
                ),
            ),
        ),
    ),
    group(
        "interface",
        "CR Interface_Basic_Configuration_Commands; VLAN_Configuration_Commands",
        command("description ( <text:242> )", "description={text}", undo=("description",)),
        command(
            "portswitch",
            "routed=no",
            "undo? routed=yes",
            default="portswitch",
            on=MEMBER,
            service=True,
        ),
        command("shutdown", "enabled=no", "undo? enabled=yes"),
        command(
            "mtu ( <46-9600> )",
            "mtu={46-9600}",
            default=f"mtu {ETHERNET_MTU}",
            undo=("mtu",),
            on=rf"{MEMBER}|Vlanif\d+|MEth.*",
            service=True,
        ),
        wider("mtu ( <1-65535> )", "mtu={1-65535}"),
        command("jumboframe enable ( <1518-9500> )", on=MEMBER, default="jumboframe enable 9216"),
        command(
            "eth-trunk ( <0-511> )",
            "eth_trunk",
            reads=line_readers.member,
            undo=("eth-trunk",),
            on=PORT,
            needs=("interface Eth-Trunk{0-511}",),
        ),
    ),
    group(
        "interface",
        "CR IPv4_L3VPN_Configuration_Commands, `ip binding vpn-instance`",
        command(
            "ip binding vpn-instance ( <name> )",
            "vrf={name}",
            layer=3,
            undo=("ip binding vpn-instance ( <name> )",),
            losses=(
                LostLines(
                    (*ROUTED, "arp"),
                    "the layer-3 features of the interface are deleted, such as the IP address and "
                    "the routing protocol; IPv6: NE40E V800R012C10, `ip binding vpn-instance`",
                    lasting=True,
                ),
            ),
            needs=("ip vpn-instance {name}",),
        ),
    ),
    group(
        "interface",
        "CR IPv4_Basic_Configuration_Commands",
        command(
            "ip address ( <ip> <mask> )",
            "addresses[]",
            reads=line_readers.address,
            layer=3,
            undo=("ip address *", "ip address ( <ip> <mask> )"),
        ),
        command(
            "ip address <ip> <mask> sub",
            "addresses[]",
            reads=line_readers.secondary_address,
            layer=3,
        ),
        command("mac-address ( <other> )", on=r"Vlanif\d+", undo=("mac-address",)),
    ),
    group(
        "interface",
        "CR VLAN; STP; Eth-Trunk_Configuration_Commands (layer-2 views only)",
        command(
            "port link-type ( { access | trunk | hybrid | dot1q-tunnel } )",
            "link_type={word}",
            layer=2,
            on=MEMBER,
            default="port link-type access",
            undo=("port link-type",),
            losses=(
                LostLines(
                    ("port default vlan", "port trunk", "port hybrid", "undo port trunk"),
                    "the VLAN configuration of the interface is deleted with another link type",
                ),
            ),
        ),
        command(
            "port default vlan ( <1-4094> )",
            "access_vlan={1-4094}",
            layer=2,
            on=MEMBER,
            default=f"port default vlan {DEFAULT_VLAN}",
        ),
        command(
            "port trunk pvid vlan ( <1-4094> )",
            layer=2,
            on=MEMBER,
            default=f"port trunk pvid vlan {DEFAULT_VLAN}",
        ),
        command(
            "port trunk allow-pass vlan ( <numbers:1-4094> )",
            "trunk_vlans+={numbers}",
            kind="list",
            default=str(DEFAULT_VLAN),
            layer=2,
            on=MEMBER,
        ),
        command(
            "stp edged-port ( { enable | disable } )",
            "enable? edge=yes",
            layer=2,
            on=MEMBER,
            undo=("stp edged-port",),
        ),
        command(
            "mode ( { lacp-static | lacp-dynamic | manual load-balance } )",
            "bond.mode",
            reads=line_readers.bond("mode"),
            on=r"Eth-Trunk\d+",
            undo=("mode",),
            default="mode manual load-balance",
        ),
        command(
            "lacp timeout ( { fast | slow } )",
            "bond.lacp_timeout",
            reads=line_readers.bond("lacp_timeout"),
            on=r"Eth-Trunk\d+",
            undo=("lacp timeout",),
            default="lacp timeout slow",
        ),
        command(
            "lacp timeout ( fast user-defined <3-90> )",
            on=r"Eth-Trunk\d+",
            undo=("lacp timeout",),
        ),
        command(
            "least active-linknumber ( <1-256> )",
            "bond.minimum_links",
            reads=line_readers.bond("minimum_links"),
            on=r"Eth-Trunk\d+",
            undo=("least active-linknumber",),
            default="least active-linknumber 1",
        ),
        command("dfs-group <1-1> m-lag ( <1-2048> )", on=r"Eth-Trunk\d+"),
        command("peer-link ( <1-1> )", on=r"Eth-Trunk\d+"),
        command("lldp tlv-enable dcbx", on=PORT),
        command("flow-control", "flow_control=yes", "undo? flow_control=no", on=PORT),
    ),
    group(
        "interface",
        "CR Ethernet_Interface_Configuration_Commands, `negotiation disable`, `fec mode`; CG "
        "Configuring_FEC: autonegotiation that comes back takes the FEC mode away",
        command(
            "negotiation disable",
            "autonegotiation=no",
            "undo? autonegotiation=yes",
            on=rf"{PORT}|MEth.*",
            losses=(LostLines(("fec mode",), "CG Configuring_FEC", on="undo", lasting=True),),
        ),
        command("fec mode ( { none | base-r | rs } )", "fec={word}", on=PORT),
        command("port mode ( <other> )", on=PORT, undo=("port mode ( [ <other> ] )",)),
    ),
    group(
        "interface",
        "CR VLAN; STP; Eth-Trunk_Configuration_Commands",
        command(
            "storm suppression { broadcast | multicast | unknown-unicast } ( <text> )",
            layer=2,
            on=MEMBER,
        ),
    ),
    group(
        "interface",
        "CR Priority_Mapping_Configuration_Commands, `trust`: not on routed ports",
        command("trust ( dscp )", "trust_dscp=yes", layer=2, on=MEMBER, undo=("trust",)),
        command("trust ( 8021p { inner | outer } )", layer=2, on=MEMBER, undo=("trust",)),
        command(
            "trust upstream ( <name> )",
            "domain={name}",
            on=MEMBER,
            undo=("trust upstream",),
            service=True,
        ),
        command("qos phb marking { dscp enable | 8021p { disable | enable } }", on=MEMBER),
    ),
    group(
        "interface",
        "CR Congestion_Avoidance_and_Congestion_Management_Configuration_Commands",
        command(
            "qos { pq | drr | lpq } ( <numbers:0-7> )",
            "drr[]",
            reads=line_readers.schedulers,
            kind="list",
            on=PORT,
        ),
        replace(
            wider("qos { pq | drr } <numbers:0-7> { pq | drr } <numbers:0-7>", "drr[]"),
            reads=line_readers.schedulers,
        ),
        command(
            "qos queue <0-7> drr weight ( <1-100> )",
            "drr[{0-7}].weight={1-100}",
            on=PORT,
            undo=("qos queue <0-7> drr weight",),
            default="qos queue {0-7} drr weight 1",
        ),
        command(
            "qos queue <0-7> wred ( <name> )",
            "markings[{0-7}].profile={name}",
            on=PORT,
            undo=("qos queue <0-7> wred",),
            needs=("drop-profile {name}",),
        ),
        command(
            "qos queue <0-7> ecn",
            "markings[{0-7}].ecn=yes",
            on=PORT,
            needs=("qos queue {0-7} wred",),
        ),
        command(
            "qos buffer queue <0-7> shared-threshold ( <text> )",
            on=PORT,
            undo=("qos buffer queue <0-7> [ shared-threshold ] *",),
        ),
    ),
    group(
        "interface",
        "CR DCB_Configuration_Commands (members only, not Eth-Trunk)",
        command(
            "dcb pfc enable ( [ <name> ] [ mode { auto | manual } ] )",
            "pfc.profile={name|default} pfc.mode={word|manual}",
            on=PORT,
        ),
        command(
            f"dcb pfc buffer <pfc_queues> ( {STATIC} )",
            "thresholds[]",
            reads=line_readers.threshold_pair,
            families=G1,
            on=PORT,
            undo=(f"dcb pfc buffer <pfc_queues> ( {STATIC} )",),
        ),
        command(
            "dcb pfc buffer <pfc_queues> ( xon dynamic <0-10> xoff dynamic <0-10> )",
            "other_thresholds[]",
            reads=line_readers.threshold_shares,
            families=G1,
            on=PORT,
            undo=("dcb pfc buffer <pfc_queues> ( xon dynamic <0-10> xoff dynamic <0-10> )",),
        ),
        *(
            command(
                "dcb pfc buffer <pfc_queues> xoff "
                f"( {{ static <kbytes:xoff_kbytes> [ {units} ] | dynamic <1-12> }} "
                "[ xon offset <kbytes:xoff_kbytes> [ kbytes | mbytes ] ] )",
                "thresholds[] other_thresholds[]",
                reads=line_readers.threshold_offset,
                families=families,
                on=PORT,
            )
            # FIELD: a CE6863 and 100GE switches with V200 save cells and shares, both without xon
            for families, units in ((G2, "kbytes | mbytes"), (V200, "kbytes | mbytes | cells"))
        ),
        command(
            "dcb pfc buffer <pfc_queues> guaranteed ( { <640-25600> [ bytes ] | <1-25> kbytes } )",
            families=OFFSET,
            on=PORT,
        ),
        command(
            "dcb pfc buffer <pfc_queues> hdrm ( <kbytes:headroom_kbytes> [ kbytes ] )",
            "thresholds[{pfc_queues}].headroom_kbytes={kbytes}",
            families=G2,
            on=PORT,
            undo=(
                "dcb pfc buffer <pfc_queues> hdrm ( [ <kbytes:headroom_kbytes> [ kbytes ] ] )",
                "dcb pfc buffer [ <pfc_queues> ] *",
            ),
        ),
        command(
            "port pfc-deadlock trigger ( { error-down | turn-off } )",
            on=PORT,
            default="port pfc-deadlock trigger turn-off",
        ),
    ),
)
