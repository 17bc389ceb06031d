"""The commands of BGP and of route policies, in the order of their saved lines."""

from __future__ import annotations

from rocefort.dialects.vrp.commands.command import (
    V300,
    LostLines,
    Row,
    Spelling,
    command,
    group,
    wider,
)
from rocefort.dialects.vrp.readers import line_readers
from rocefort.models.device.routing import HOLD_S, KEEPALIVE_S, Bfd

AF4 = "ipv4-family unicast"
TIMERS = f"keepalive {KEEPALIVE_S} hold {HOLD_S}"
INTERVALS = (
    f"min-tx-interval {Bfd().min_tx_ms} min-rx-interval {Bfd().min_rx_ms} "
    f"detect-multiplier {Bfd().multiplier}"
)


def setting(text: str, *fields_of: str, **fields: object) -> Row:
    """Return a setting of a BGP peer or group, which must exist (by its AS number or group)."""
    needs = ("peer {peer} as-number", "group {peer}")
    return command(text, *of_peer(*fields_of), needs=needs, **fields)


def of_group(otherwise: str = "") -> Spelling:
    """Return the spelling of a setting that members take from their group, with its default."""
    source = "CR `peer group`: members have the settings of the group, unless they have their own"
    return Spelling(source, lender="peer {peer} group", otherwise=otherwise)


def of_peer(*fields: str) -> tuple[str, ...]:
    """Return fields of a peer, which has an address, and of a group, which has a name."""
    if not fields:
        return ()
    return tuple(
        " ".join(f"{rows}[{{peer}}].{field}" for field in fields) for rows in ("peers", "groups")
    )


PATHS = (  # of the process, and of its IPv4 family
    command(
        "maximum load-balancing ( <1-128> [ ecmp-nexthop-changed ] )",
        "!ecmp-nexthop-changed? maximum_paths={1-128}",
        undo=("maximum load-balancing",),
        default="maximum load-balancing 1",
    ),
    wider("maximum load-balancing ( <0-4294967295> )", "maximum_paths={0-4294967295}"),
)

GROUPS: tuple[tuple[Row, ...], ...] = (
    group(
        "bgp",
        "CR BGP_Configuration_Commands (BGP view)",
        command("router-id ( <ip> )", "router_id={ip}", undo=("router-id",)),
        command(
            "private-4-byte-as ( { enable | disable } )",
            "enable? private_4_byte_as=yes",
            "disable? private_4_byte_as=no",
            families=V300,
            default="private-4-byte-as enable",
            no_undo=True,
        ),
        command(
            "timer keepalive ( <0-21845> ) hold ( <0-65535> ) ( [ min-holdtime <20-65535> ] )",
            undo=(
                "timer keepalive ( <0-21845> ) hold ( <0-65535> ) ( [ min-holdtime <20-65535> ] )",
                "timer keepalive hold",
            ),
        ),
        "graceful-restart",
        *PATHS,
    ),
    group(
        "bgp",
        "CR BGP_Configuration_Commands (peers and groups); lines that the switch adds for members "
        "of a group: CG Example_for_Configuring_a_BGP_RR",
        command(
            "group <name> ( { internal | external } )",
            "internal? groups[{name}].external=no",
            "external? groups[{name}].external=yes",
            undo=("group <name>",),
            on_set=(f"{AF4}: peer {{name}} enable",),
            losses=(
                LostLines(
                    ("peer {name}", "peer * group {name}"),
                    "`group`: all configurations of the group are deleted",
                    on="undo",
                    below=True,
                ),
            ),
        ),
        command(
            "peer <peer> as-number ( <asn> )",
            *of_peer("asn={asn}"),
            undo=("peer <ip>", "peer <group> as-number"),
            on_set=(f"{AF4}: peer {{peer}} enable",),
            losses=(
                LostLines(
                    ("peer {ip}",),
                    "`peer as-number`: the undo deletes those of the peer in all address families",
                    on="undo",
                    below=True,
                ),
            ),
        ),
        command(
            "peer <ip> group ( <name> )",
            "peers[{ip}].group={name}",
            undo=("peer <ip> group ( <name> )",),
            needs=("group {name}",),
            on_set=(
                "peer {ip} as-number {asn}",
                f"{AF4}: peer {{ip}} enable",
                f"{AF4}: peer {{ip}} group {{name}}",
            ),
            losses=(LostLines(("peer {ip} group {name}",), "`peer group`", on="undo", below=True),),
        ),
        setting(
            "peer <peer> description ( <text:255> )",
            "description={text}",
            undo=("peer <peer> description",),
        ),
        setting(
            "peer <peer> connect-interface ( <interface> [ <ip> ] )",
            "source_interface={interface}",
            "source_address={ip}",
            undo=("peer <peer> connect-interface",),
            equal=of_group(),
        ),
        setting("peer <peer> ignore", undo=("peer <peer> ignore",)),  # see routing_lines
        setting("peer <peer> ebgp-max-hop ( [ <1-255> ] )", undo=("peer <peer> ebgp-max-hop",)),
        setting("peer <peer> valid-ttl-hops ( [ <1-255> ] )", undo=("peer <peer> valid-ttl-hops",)),
        setting(
            "peer <peer> timer keepalive ( <0-21845> ) hold ( <0-65535> )",
            "keepalive_s={0-21845}",
            "hold_s={0-65535}",
            undo=(
                "peer <peer> timer keepalive ( <0-21845> ) hold ( <0-65535> )",
                "peer <peer> timer keepalive hold",
            ),
            equal=of_group(f"peer {{peer}} timer {TIMERS}"),
        ),
        wider(
            "peer <peer> timer keepalive ( <0-65535> ) hold ( <0-4294967295> )",
            *of_peer("keepalive_s={0-65535}", "hold_s={0-4294967295}"),
        ),
        setting(
            "peer <peer> password ( { cipher <cipher> | simple <plain> } )",
            "password",
            reads=line_readers.password,
            undo=("peer <peer> password",),
        ),
        setting(
            "peer <peer> keychain ( <name> )", "keychain={name}", undo=("peer <peer> keychain",)
        ),
        setting(
            "peer <peer> bfd ( [ min-tx-interval <3-1000> ] [ min-rx-interval <3-1000> ] "
            "[ detect-multiplier <3-50> ] )",
            "bfd",
            reads=line_readers.bfd,
            kind="pairs",
            undo=(
                "peer <peer> bfd ( [ min-tx-interval ] [ min-rx-interval ] [ detect-multiplier ] )",
            ),
            equal=of_group(f"peer {{peer}} bfd {INTERVALS}"),
        ),
        setting(
            "peer <peer> bfd enable ( [ single-hop-prefer ] )",
            "bfd_enabled=yes",
            undo=("peer <peer> bfd enable",),
            equal=of_group(),
        ),
        together=True,
    ),
    group(
        "bgp",
        "CR BGP_Configuration_Commands, `ipv4-family unicast`",
        command(AF4, ".", opens="bgp-af", no_undo=True),
    ),
    group(
        "bgp-af",
        "CR BGP_Configuration_Commands (BGP-IPv4 unicast address family view)",
        command(
            "network <ip> <mask> ( [ route-policy <name> ] )",
            "networks[]",
            reads=line_readers.network,
            undo=("network <ip> <mask>",),
        ),
        command(
            "import-route { direct | static } ( [ med <0-4294967295> ] [ route-policy <name> ] )",
            undo=("import-route { direct | static }",),
        ),
        *PATHS,
        command(
            "maximum load-balancing { ebgp | ibgp } ( <1-128> [ ecmp-nexthop-changed ] )",
            undo=("maximum load-balancing { ebgp | ibgp }",),
        ),
        command(
            "load-balancing ( { as-path-ignore | as-path-relax } )",
            "as-path-relax? as_path_relax=yes",
            undo=("load-balancing ( { as-path-ignore | as-path-relax } )",),
        ),
        command("preference ( <1-255> <1-255> <1-255> )", undo=("preference",)),
    ),
    group(
        "bgp-af",
        "CR BGP_Configuration_Commands (BGP-IPv4 unicast address family view), peers",
        setting("peer <peer> enable", "active=yes"),
        command(
            "peer <ip> group ( <name> )",
            "peers[{ip}].group={name}",
            undo=("peer <ip> group ( <name> )",),
            needs=("group {name}",),
        ),
        *(
            setting(
                f"peer <peer> route-policy ( <name> ) {way}",
                f"{way}_policy={{name}}",
                undo=(f"peer <peer> route-policy ( <name> ) {way}",),
                equal=of_group(),
            )
            for way in ("import", "export")
        ),
        setting("peer <peer> advertise-community"),
        setting("peer <peer> route-limit ( <text> )", undo=("peer <peer> route-limit",)),
        together=True,
    ),
    group(
        "route-policy",
        "CR Routing_Policy_Configuration_Commands",
        command("if-match ip-prefix ( <name> )", "match_prefix_list={name}"),
        "if-match interface <interface>",
        command("apply community ( <text> )", undo=("apply community",)),
        command("apply local-preference ( <0-4294967295> )", undo=("apply local-preference",)),
        command("apply cost ( <0-4294967295> )", undo=("apply cost",)),
        command("description ( <text:80> )", undo=("description",)),
    ),
)
