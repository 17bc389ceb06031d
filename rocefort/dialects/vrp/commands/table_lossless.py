"""The commands of PFC, of priority mapping, of drop profiles and of AI ECN, in saved order."""

from __future__ import annotations

from rocefort.dialects.vrp.commands.command import (
    G1,
    G2,
    OFFSET,
    V200,
    Row,
    Spelling,
    command,
    group,
    wider,
)
from rocefort.dialects.vrp.readers import line_readers
from rocefort.models.device.lossless_queue import BUILT_IN_QUEUE, DROPS_WHEN_FULL

FULL = (
    f"low-limit {DROPS_WHEN_FULL.low} high-limit {DROPS_WHEN_FULL.high} "
    f"discard-percentage {DROPS_WHEN_FULL.percent}"
)
PHB = "{ be | af1 | af2 | af3 | af4 | ef | cs6 | cs7 }"
COLOUR = "{ green | yellow | red }"
AI_MODELS = "{ ai_ecn_centralizedstorage | ai_ecn_hpc | ai_ecn_distributedfilestorage }"

CELLS = Spelling(
    "CR `ecn (drop profile view)`, `color`: the same limits in bytes and in cells of the buffer",
    size=("buffer-size cell", "cell_bytes"),
)
LIMITS = (
    "{ buffer-size low-limit <ecn_bytes> high-limit <ecn_bytes> "
    "| buffer-size cell low-limit <ecn_cells> high-limit <ecn_cells> "
    "| low-limit <0-100> high-limit <0-100> } discard-percentage <1-100>"
)

GROUPS: tuple[tuple[Row, ...], ...] = (
    group(
        "dcb-pfc",
        "CR DCB_Configuration_Commands, `priority`: additive, queue 3 on by default. Its undo may "
        "name no queue; no source states whether queue 3 is then on or off, so this is refused",
        command(
            "priority <numbers:pfc_queues>",
            "queues+={numbers}",
            "undo? queues-={numbers}",
            kind="each",
            default=str(BUILT_IN_QUEUE),
            guard="priority {number} ",
        ),
        command(
            "priority <pfc_queues> deadlock-detect ( time <deadlock_detect_time> )",
            "timers[{pfc_queues}].detect_time={deadlock_detect_time}",
            instead="give detect_ms for the whole switch",
            families=G2,
            default="priority {pfc_queues} deadlock-detect time {deadlock_default_time}",
            undo=(
                "priority <pfc_queues> deadlock-detect ( time <deadlock_detect_time> )",
                "priority <pfc_queues> deadlock-detect",
            ),
        ),
        command(
            "priority <pfc_queues> deadlock-recovery ( time <deadlock_recovery_time> )",
            "timers[{pfc_queues}].recovery_time={deadlock_recovery_time}",
            instead="give recovery_ms for the whole switch",
            families=G2,
            default="priority {pfc_queues} deadlock-recovery time {deadlock_default_time}",
            undo=(
                "priority <pfc_queues> deadlock-recovery ( time <deadlock_recovery_time> )",
                "priority <pfc_queues> deadlock-recovery",
            ),
        ),
        *(
            command(
                f"priority <pfc_queues> {act} ( threshold <1-300> )",
                *sets,
                undo=(f"priority <pfc_queues> {act} ( threshold <1-300> )",),
            )
            for act, sets in (
                ("turn-off", ("turn_off[{pfc_queues}].deadlocks={1-300}",)),
                ("error-down", ()),
            )
        ),
        wider(
            "priority <pfc_queues> turn-off ( threshold <0-4294967295> )",
            "turn_off[{pfc_queues}].deadlocks={0-4294967295}",
        ),
    ),
    group(
        "dcb-pfc",
        "FIELD, CE6865 and 100GE switches: both timers on one line in V200",
        command(
            "priority <pfc_queues> deadlock-detect ( time <deadlock_detect_time> "
            "deadlock-recovery time <deadlock_recovery_time> )",
            "timers[{pfc_queues}].detect_time={deadlock_detect_time} "
            "timers[{pfc_queues}].recovery_time={deadlock_recovery_time}",
            families=V200,
            undo=(
                (
                    "priority <pfc_queues> deadlock-detect ( time <deadlock_detect_time> "
                    "deadlock-recovery time <deadlock_recovery_time> )"
                ),
                "priority <pfc_queues> deadlock-detect",
            ),
        ),
    ),
    group(
        "diffserv",
        "CR Priority_Mapping_Configuration_Commands",
        command(
            f"8021p-inbound <0-7> ( phb {PHB} [ {COLOUR} ] )",
            "dot1p[{0-7}].phb={word} dot1p[{0-7}].colour={word:2|green}",
            undo=("8021p-inbound [ <0-7> ] *",),
        ),
        command(
            f"8021p-outbound {PHB} {COLOUR} ( map <0-7> )",
            undo=(f"8021p-outbound [ {PHB} {COLOUR} ] *",),
        ),
        command(
            f"ip-dscp-inbound <0-63> ( phb {PHB} [ {COLOUR} ] )",
            "dscp[{0-63}].phb={word} dscp[{0-63}].colour={word:2|green}",
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
                f"color {colour} ( {LIMITS} )",
                "colours[]",
                reads=line_readers.colour(colour),
                undo=(f"color {colour}",),
                default=f"color {colour} {FULL}",
                equal=CELLS,
            )
            for colour in ("green", "red", "yellow")
        ),
        command(f"ecn ( {LIMITS} )", "ecn", reads=line_readers.ecn, undo=("ecn",), equal=CELLS),
    ),
    group(
        "ai-service",
        "CR AI_ECN_Configuration_Commands",
        command("ai-ecn", "ai_ecn", opens="ai-ecn"),
    ),
    group("ai-ecn", "CR AI_ECN_Configuration_Commands", command("ai-ecn enable", "enabled=yes")),
    group(
        "ai-ecn",
        "CR AI_ECN_Configuration_Commands, `assign queue`",
        command(
            f"assign queue <0-5> ( [ model {AI_MODELS} ] )",
            "queues[{0-5}].model={word}",
            families=G1,
        ),
        command(
            f"assign queue <0-7> ( [ model {AI_MODELS} ] )",
            "queues[{0-7}].model={word}",
            families=OFFSET,
        ),
    ),
)
