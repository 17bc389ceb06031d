"""The commands of the views below the system view, in the order of their saved lines."""

from __future__ import annotations

from rocefort.dialects.vrp.row import G1, G2, MEMBER, OFFSET, PORT, V200, V300, Row, command, group

PHB = "{ be | af1 | af2 | af3 | af4 | ef | cs6 | cs7 }"
COLOUR = "{ green | yellow | red }"
UNIT = "{ kbytes | mbytes }"
AI_MODELS = "{ ai_ecn_centralizedstorage | ai_ecn_hpc | ai_ecn_distributedfilestorage }"
AF4 = "ipv4-family unicast"


def setting(text: str, **fields: object) -> Row:
    """A setting of a BGP peer or group: there must be one (its AS number or group makes it)."""
    return command(text, needs=("peer {peer} as-number", "group {peer}"), **fields)


GROUPS: tuple[tuple[Row, ...], ...] = (
    group(
        "vlan",
        "CR VLAN_Configuration_Commands",
        command("description ( <text:80> )", undo=("description",)),
        command("name ( <name> )", undo=("name",)),
    ),
    group(
        "dcb-pfc",
        "CR DCB_Configuration_Commands, `priority`: additive, queue 3 on by default",
        command(
            "priority <numbers:0-5>",
            kind="each",
            default="3",
            guard="priority {number} ",
            families=G1,
        ),
        command(
            "priority <numbers:0-7>",
            kind="each",
            default="3",
            guard="priority {number} ",
            families=OFFSET,
        ),
        command(
            "priority <0-7> deadlock-detect ( time <1-15> )",
            families=G2,
            default="priority {0-7} deadlock-detect time 10",
        ),
        command(
            "priority <0-7> deadlock-recovery ( time <0-31> )",
            families=G2,
            default="priority {0-7} deadlock-recovery time 10",
        ),
        command(
            "priority <0-5> turn-off ( threshold <1-300> )",
            families=G1,
            undo=("priority <0-5> turn-off ( threshold <1-300> )",),
        ),
        command(
            "priority <0-5> error-down ( threshold <1-300> )",
            families=G1,
            undo=("priority <0-5> error-down ( threshold <1-300> )",),
        ),
        command(
            "priority <0-7> turn-off ( threshold <1-300> )",
            families=OFFSET,
            undo=("priority <0-7> turn-off ( threshold <1-300> )",),
        ),
        command(
            "priority <0-7> error-down ( threshold <1-300> )",
            families=OFFSET,
            undo=("priority <0-7> error-down ( threshold <1-300> )",),
        ),
    ),
    group(
        "dcb-pfc",
        "FIELD, CE6865 and 100GE switches: both timers on one line in V200",
        command(
            "priority <0-7> deadlock-detect ( time <1-1000> deadlock-recovery time <1-1000> )",
            families=V200,
        ),
    ),
    group(
        "diffserv",
        "CR Priority_Mapping_Configuration_Commands",
        command(
            f"8021p-inbound <0-7> ( phb {PHB} [ {COLOUR} ] )", undo=("8021p-inbound [ <0-7> ] *",)
        ),
        command(
            f"8021p-outbound {PHB} {COLOUR} ( map <0-7> )",
            undo=(f"8021p-outbound [ {PHB} {COLOUR} ] *",),
        ),
        command(
            f"ip-dscp-inbound <0-63> ( phb {PHB} [ {COLOUR} ] )",
            undo=("ip-dscp-inbound [ <0-63> ] *",),
        ),
        command(
            f"ip-dscp-outbound {PHB} {COLOUR} ( map <0-63> )",
            undo=(f"ip-dscp-outbound [ {PHB} {COLOUR} ] *",),
        ),
    ),
    group(
        "drop-profile",
        "CR Congestion_Avoidance_and_Congestion_Management_Configuration_Commands",
        command(f"color {COLOUR} ( <text> )", undo=(f"color {COLOUR}",)),
        command("ecn ( <text> )", undo=("ecn",)),
    ),
    group("ai-service", "CR AI_ECN_Configuration_Commands", command("ai-ecn", opens="ai-ecn")),
    group("ai-ecn", "CR AI_ECN_Configuration_Commands", "ai-ecn enable"),
    group(
        "ai-ecn",
        "CR AI_ECN_Configuration_Commands, `assign queue`",
        command(f"assign queue <0-5> ( [ model {AI_MODELS} ] )", families=G1),
        command(f"assign queue <0-7> ( [ model {AI_MODELS} ] )", families=OFFSET),
    ),
    group(
        "acl",
        "CR ACL_Configuration_Commands",
        command(
            "rule <0-4294967294> ( { permit | deny } [ <text> ] )", undo=("rule <0-4294967294>",)
        ),
        command("description ( <text> )", undo=("description",)),
        command("step ( <1-20> )", undo=("step",), default="step 5"),
    ),
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
        command("user-group <name>", opens="opaque"),
    ),
    group(
        "interface",
        "CR Interface_Basic_Configuration_Commands; VLAN_Configuration_Commands",
        command("description ( <text:242> )", undo=("description",)),
        command("portswitch", default="portswitch", on=MEMBER),
        "shutdown",
        command(
            "mtu ( <46-9600> )", default="mtu 1500", undo=("mtu",), on=rf"{MEMBER}|Vlanif\d+|MEth.*"
        ),
        command("jumboframe enable ( <1518-9500> )", on=MEMBER, default="jumboframe enable 9216"),
        command("eth-trunk ( <0-511> )", undo=("eth-trunk",), on=PORT),
    ),
    group(
        "interface",
        "CR IPv4_Basic_Configuration_Commands",
        command(
            "ip address ( <ip> <mask> )",
            layer=3,
            undo=("ip address *", "ip address ( <ip> <mask> )"),
        ),
        command("ip address <ip> <mask> sub", layer=3),
        command("mac-address ( <other> )", on=r"Vlanif\d+", undo=("mac-address",)),
    ),
    group(
        "interface",
        "CR VLAN; STP; Eth-Trunk_Configuration_Commands (layer-2 views only)",
        command(
            "port link-type ( { access | trunk | hybrid | dot1q-tunnel } )",
            layer=2,
            on=MEMBER,
            default="port link-type access",
            undo=("port link-type",),
        ),
        command(
            "port default vlan ( <1-4094> )", layer=2, on=MEMBER, default="port default vlan 1"
        ),
        command(
            "port trunk pvid vlan ( <1-4094> )",
            layer=2,
            on=MEMBER,
            default="port trunk pvid vlan 1",
        ),
        command(
            "port trunk allow-pass vlan ( <numbers:1-4094> )",
            kind="list",
            default="1",
            layer=2,
            on=MEMBER,
        ),
        command(
            "stp edged-port ( { enable | disable } )", layer=2, on=MEMBER, undo=("stp edged-port",)
        ),
        command(
            "mode ( { lacp-static | lacp-dynamic | manual load-balance } )",
            on=r"Eth-Trunk\d+",
            undo=("mode",),
        ),
        command(
            "lacp timeout ( { fast [ user-defined <3-90> ] | slow } )",
            on=r"Eth-Trunk\d+",
            undo=("lacp timeout",),
            default="lacp timeout slow",
        ),
        command(
            "least active-linknumber ( <1-64> )",
            on=r"Eth-Trunk\d+",
            undo=("least active-linknumber",),
        ),
        command("dfs-group <1-1> m-lag ( <1-2048> )", on=r"Eth-Trunk\d+"),
        command("peer-link ( <1-1> )", on=r"Eth-Trunk\d+"),
        command("lldp tlv-enable dcbx", on=PORT),
        command("flow-control", on=PORT),
        command(
            "storm suppression { broadcast | multicast | unknown-unicast } ( <text> )", on=MEMBER
        ),
        command("traffic-policy <name> { inbound | outbound }"),
    ),
    group(
        "interface",
        "CR Priority_Mapping_Configuration_Commands, `trust`: not on routed ports",
        command(
            "trust ( { dscp | 8021p { inner | outer } } )", layer=2, on=MEMBER, undo=("trust",)
        ),
        command("trust upstream ( <name> )", on=MEMBER, undo=("trust upstream",)),
        "qos phb marking { dscp enable | 8021p { disable | enable } }",
    ),
    group(
        "interface",
        "CR Congestion_Avoidance_and_Congestion_Management_Configuration_Commands",
        command("qos { pq | drr | lpq } ( <numbers:0-7> )", kind="list", on=PORT),
        command(
            "qos queue <0-7> drr weight ( <1-100> )",
            on=PORT,
            undo=("qos queue <0-7> drr weight",),
            default="qos queue {0-7} drr weight 1",
        ),
        command("qos queue <0-7> wred ( <name> )", on=PORT, undo=("qos queue <0-7> wred",)),
        command("qos queue <0-7> ecn", on=PORT),
        command(
            "qos buffer queue <0-7> shared-threshold ( <text> )",
            on=PORT,
            undo=("qos buffer queue <0-7> [ shared-threshold ] *",),
        ),
    ),
    group(
        "interface",
        "CR DCB_Configuration_Commands (members only, not Eth-Trunk)",
        command("dcb pfc enable ( [ <name> ] [ mode { auto | manual } ] )", on=PORT),
        command(
            f"dcb pfc buffer <0-5> ( xon static <1-6144> {UNIT} xoff static <1-6144> {UNIT} )",
            families=G1,
            on=PORT,
            undo=(
                f"dcb pfc buffer <0-5> ( xon static <1-6144> {UNIT} xoff static <1-6144> {UNIT} )",
            ),
        ),
        command(
            "dcb pfc buffer <0-5> ( xon dynamic <0-10> xoff dynamic <0-10> )",
            families=G1,
            on=PORT,
            undo=("dcb pfc buffer <0-5> ( xon dynamic <0-10> xoff dynamic <0-10> )",),
        ),
        command(
            "dcb pfc buffer <0-7> xoff ( { static <1-30720> [ kbytes | mbytes ] | dynamic <1-12> } "
            "[ xon offset <1-30720> [ kbytes | mbytes ] ] )",
            families=OFFSET,
            on=PORT,
        ),
        command(
            "dcb pfc buffer <0-7> guaranteed ( <1-25600> [ bytes | kbytes ] )",
            families=OFFSET,
            on=PORT,
        ),
        command(
            "dcb pfc buffer <0-7> hdrm ( <16-30720> [ kbytes ] )",
            families=OFFSET,
            on=PORT,
            undo=(
                "dcb pfc buffer <0-7> hdrm ( [ <16-30720> [ kbytes ] ] )",
                "dcb pfc buffer [ <0-7> ] *",
            ),
        ),
        command(
            "port pfc-deadlock trigger ( { error-down | turn-off } )",
            on=PORT,
            default="port pfc-deadlock trigger turn-off",
        ),
    ),
    group(
        "bgp",
        "CR BGP_Configuration_Commands (BGP view)",
        command("router-id ( <ip> )", undo=("router-id",)),
        command("timer keepalive ( <0-21845> ) hold ( <0-65535> ) ( [ min-holdtime <20-65535> ] )"),
        "graceful-restart",
        command(
            "maximum load-balancing ( <1-128> [ ecmp-nexthop-changed ] )",
            undo=("maximum load-balancing",),
            default="maximum load-balancing 1",
        ),
    ),
    group(
        "bgp",
        "CR BGP_Configuration_Commands (peers and groups); lines that the switch adds for members "
        "of a group: CG Example_for_Configuring_a_BGP_RR",
        command(
            "group <name> ( { internal | external } )",
            undo=("group <name>",),
            on_set=(f"{AF4}: peer {{name}} enable",),
            drops=("peer {name}", "peer * group {name}"),
        ),
        command(
            "peer <peer> as-number ( <asn> )",
            undo=("peer <ip>", "peer <group> as-number"),
            on_set=(f"{AF4}: peer {{peer}} enable",),
            drops=("peer {ip}",),
        ),
        command(
            "peer <ip> group ( <name> )",
            undo=("peer <ip> group ( <name> )",),
            on_set=(
                "peer {ip} as-number {asn}",
                f"{AF4}: peer {{ip}} enable",
                f"{AF4}: peer {{ip}} group {{name}}",
            ),
            on_undo=(f"{AF4}: undo peer {{ip}} group {{name}}",),
        ),
        setting("peer <peer> description ( <text:80> )", undo=("peer <peer> description",)),
        setting(
            "peer <peer> connect-interface ( <text> )", undo=("peer <peer> connect-interface",)
        ),
        setting("peer <peer> ebgp-max-hop ( [ <1-255> ] )", undo=("peer <peer> ebgp-max-hop",)),
        setting("peer <peer> valid-ttl-hops ( [ <1-255> ] )", undo=("peer <peer> valid-ttl-hops",)),
        setting("peer <peer> timer keepalive ( <0-21845> ) hold ( <0-65535> )"),
        setting(
            "peer <peer> password ( { cipher | simple } <other> )", undo=("peer <peer> password",)
        ),
        setting("peer <peer> keychain ( <name> )", undo=("peer <peer> keychain",)),
        setting(
            "peer <peer> bfd ( [ min-tx-interval <3-1000> ] [ min-rx-interval <3-1000> ] "
            "[ detect-multiplier <3-50> ] )",
            kind="pairs",
            undo=(
                "peer <peer> bfd ( [ min-tx-interval ] [ min-rx-interval ] [ detect-multiplier ] )",
            ),
        ),
        setting(
            "peer <peer> bfd enable ( [ single-hop-prefer ] )", undo=("peer <peer> bfd enable",)
        ),
        together=True,
    ),
    group(
        "bgp",
        "CR BGP_Configuration_Commands, `ipv4-family unicast`",
        command(AF4, opens="bgp-af"),
    ),
    group(
        "bgp-af",
        "CR BGP_Configuration_Commands (BGP-IPv4 unicast address family view)",
        command("network <ip> <mask> ( [ route-policy <name> ] )", undo=("network <ip> <mask>",)),
        command(
            "import-route { direct | static } ( [ med <0-4294967295> ] [ route-policy <name> ] )",
            undo=("import-route { direct | static }",),
        ),
        command(
            "maximum load-balancing ( <1-128> [ ecmp-nexthop-changed ] )",
            undo=("maximum load-balancing",),
            default="maximum load-balancing 1",
        ),
        command(
            "maximum load-balancing { ebgp | ibgp } ( <1-128> [ ecmp-nexthop-changed ] )",
            undo=("maximum load-balancing { ebgp | ibgp }",),
        ),
        command(
            "load-balancing ( { as-path-ignore | as-path-relax } )",
            undo=("load-balancing ( { as-path-ignore | as-path-relax } )",),
        ),
        command("preference ( <1-255> <1-255> <1-255> )", undo=("preference",)),
    ),
    group(
        "bgp-af",
        "CR BGP_Configuration_Commands (BGP-IPv4 unicast address family view), peers",
        setting("peer <peer> enable"),
        command("peer <ip> group ( <name> )", undo=("peer <ip> group ( <name> )",)),
        setting(
            "peer <peer> route-policy ( <name> ) { import | export }",
            undo=("peer <peer> route-policy ( <name> ) { import | export }",),
        ),
        setting("peer <peer> advertise-community"),
        setting("peer <peer> route-limit ( <text> )", undo=("peer <peer> route-limit",)),
        together=True,
    ),
    group(
        "route-policy",
        "CR Routing_Policy_Configuration_Commands",
        "if-match ip-prefix ( <name> )",
        "if-match interface <interface>",
        command("apply community ( <text> )", undo=("apply community",)),
        command("apply local-preference ( <0-4294967295> )", undo=("apply local-preference",)),
        command("apply cost ( <0-4294967295> )", undo=("apply cost",)),
        command("description ( <text:80> )", undo=("description",)),
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
)
