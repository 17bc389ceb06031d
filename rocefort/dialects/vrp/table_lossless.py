"""The commands of PFC, of priority mapping, of drop profiles and of AI ECN, as they are saved."""

from __future__ import annotations

from rocefort.dialects.vrp.row import G1, G2, OFFSET, V200, Row, command, group

PHB = "{ be | af1 | af2 | af3 | af4 | ef | cs6 | cs7 }"
COLOUR = "{ green | yellow | red }"
AI_MODELS = "{ ai_ecn_centralizedstorage | ai_ecn_hpc | ai_ecn_distributedfilestorage }"


def _limits(smallest: int, largest: int, cells: int) -> str:
    """Thresholds of a drop profile: ranges in bytes and in cells of the chip group."""
    size, cell = f"<{smallest}-{largest}>", f"<1-{cells}>"
    return (
        f"{{ buffer-size low-limit {size} high-limit {size} "
        f"| buffer-size cell low-limit {cell} high-limit {cell} "
        "| low-limit <0-100> high-limit <0-100> } discard-percentage <1-100>"
    )


LIMITS = (  # the ranges of V200 are not confirmed: those of G2
    (G1, _limits(128, 16_000_000, 125_000)),
    (OFFSET, _limits(320, 34_078_720, 106_496)),
)

GROUPS: tuple[tuple[Row, ...], ...] = (
    group(
        "dcb-pfc",
        "CR DCB_Configuration_Commands, `priority`: additive, queue 3 on by default. Its undo may "
        "name no queue; whether queue 3 is then on or off is nowhere said, so that is not taken",
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
            "priority <0-7> deadlock-detect ( time <1-1000> deadlock-recovery time <0-1000> )",
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
        *(
            command(
                f"color {colour} ( {limits} )",
                families=families,
                undo=(f"color {colour}",),
                default=f"color {colour} low-limit 100 high-limit 100 discard-percentage 100",
            )
            for colour in ("green", "red", "yellow")
            for families, limits in LIMITS
        ),
        *(command(f"ecn ( {limits} )", families=f, undo=("ecn",)) for f, limits in LIMITS),
    ),
    group("ai-service", "CR AI_ECN_Configuration_Commands", command("ai-ecn", opens="ai-ecn")),
    group("ai-ecn", "CR AI_ECN_Configuration_Commands", "ai-ecn enable"),
    group(
        "ai-ecn",
        "CR AI_ECN_Configuration_Commands, `assign queue`",
        command(f"assign queue <0-5> ( [ model {AI_MODELS} ] )", families=G1),
        command(f"assign queue <0-7> ( [ model {AI_MODELS} ] )", families=OFFSET),
    ),
)
