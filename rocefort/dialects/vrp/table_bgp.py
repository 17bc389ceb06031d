"""The commands of BGP and of route policies, in the order of their saved lines."""

from __future__ import annotations

from rocefort.dialects.vrp.row import Row, command, group

AF4 = "ipv4-family unicast"


def setting(text: str, **fields: object) -> Row:
    """A setting of a BGP peer or group: there must be one (its AS number or group makes it)."""
    return command(text, needs=("peer {peer} as-number", "group {peer}"), **fields)


GROUPS: tuple[tuple[Row, ...], ...] = (
    group(
        "bgp",
        "CR BGP_Configuration_Commands (BGP view)",
        command("router-id ( <ip> )", undo=("router-id",)),
        command(
            "private-4-byte-as ( { enable | disable } )",
            default="private-4-byte-as enable",
            no_undo=True,
        ),
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
            needs=("group {name}",),
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
            "peer <peer> password ( { cipher <cipher> | simple <other> } )",
            undo=("peer <peer> password",),
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
        command(
            "peer <ip> group ( <name> )",
            undo=("peer <ip> group ( <name> )",),
            needs=("group {name}",),
        ),
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
)
