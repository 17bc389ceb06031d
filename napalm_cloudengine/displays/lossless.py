"""Lossless queues: PFC, AI-ECN, and statistics of the egress queues.

Later rows of a port may omit the port's name: this is confirmed only for
`display dcb pfc deadlock trigger status`. The form of a profile with several queues is not
confirmed.
"""

import re
from typing import Any

from napalm_cloudengine.displays.lines import DisplayAnswer, Rows
from napalm_cloudengine.displays.table import DisplayTable, Form, Row

_AI_ECN_RULE = "-" * 125
# A hyphen replaces a missing value while the function is abnormal (table 1).
STATE = DisplayTable(
    "display ai-ecn calculated state",
    {
        "": Form(
            source='command reference V300R023C00, "display ai-ecn calculated state"',
            head=f"""\
AI-ECN Model Version : {{version}}
Mode : NN - Model inference    BBR - Heuristic inference    STATIC - Static threshold
{_AI_ECN_RULE}
Interface       Queue   Low-Threshold   High-Threshold   Probability   Mode                \
Active model       Actived time
                               (Byte)           (Byte)           (%)
{_AI_ECN_RULE}""",
            row="{interface:<15i} {queue:>5d} {low_bytes:>15?} {high_bytes:>16?} {percent:>13?}    "
            "{mode:<3} {model:>27}   {since:*}",
            foot=_AI_ECN_RULE,
        )
    },
    key=("interface", "queue"),
    carried=True,
    cells={
        "queue": re.compile("[0-7]"),
        "since": re.compile(r"-|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII),
    },
)


_QUEUE_RULE = " " + "-" * 94
_TITLES = (
    " Queue   CIR/PIR              Passed     Pass Rate"
    "             Dropped     Drop Rate  Drop Time"
)
# A rate that cannot be collected is a hyphen (table 1). CIR and PIR: kbit/s, or a share with `%`.
_QUEUE_ROW = f"""\
 {{queue:>5d}} {{cir:>9}} {{passed_packets:>19d}} {{passed_pps:>13?}} \
{{dropped_packets:>19d}} {{dropped_pps:>13?}} {{drop_time:>10*}}
 {{pir:>15}} {{passed_bytes:>19d}} {{passed_bps:>13?}} {{dropped_bytes:>19d}} {{dropped_bps:>13?}}
{_QUEUE_RULE}"""
STATISTICS = DisplayTable(
    "display qos queue statistics interface {}",
    {
        "": Form(
            source='configuration guide V300R023C00, "Example for Configuring Queue Shaping"',
            head=f"""\
{_TITLES}
        (% or kbps)   (Packets/Bytes)    (pps/bps)      (Packets/Bytes)    (pps/bps)
{_QUEUE_RULE}""",
            row=_QUEUE_ROW,
        )
    },
    key=("queue",),
)
OF_SLOT = DisplayTable(  # written for each port of a slot, one below the other
    "display qos queue statistics slot {}",
    {
        "": Form(
            source='command reference V300R023C00, "display qos queue statistics"',
            head=f"""\
 Queue statistics info: interface {{interface}}
{_QUEUE_RULE}
{_TITLES}
     (% or kbps)     (Packets/Bytes)     (pps/bps)     (Packets/Bytes)     (pps/bps)
{_QUEUE_RULE}""",
            row=_QUEUE_ROW,
        )
    },
)

ECN_MARKS = DisplayTable(
    "display qos ecn statistics",
    {
        "": Form(
            source='command reference V300R023C00, "display qos ecn statistics"',
            head=f"Interface          ECN-marked packets\n{'-' * 36}",
            row="{interface:<20i} {marked_packets:>9d}",
        )
    },
    key=("interface",),
)


def read_queues(shown: DisplayAnswer) -> Rows[Row]:
    """Read the queues of a port; raises UnreadableError where it shows none."""
    rows = STATISTICS.read(shown)
    if not rows:
        raise shown.wrong(1, "no queue at all")
    return rows


_REFERENCE = "command reference V300R023C00, "

PORTS = DisplayTable(
    "display dcb",
    {
        "": Form(
            source=_REFERENCE + '"display dcb"',
            head="""\
M:Manual;    A:Auto
-------------------------------------------------------------------------------
Interface         PFC Name     PFC Status  ETS Name    ETS Status App-Profile
-------------------------------------------------------------------------------""",
            row="{interface:<17i} {profile:<12} {status:<11} "
            "{ets_profile:<11} {ets_status:<10} {app_profile}",
            foot="-" * 79,
        )
    },
    cells={"status": re.compile(r"(?:ENABLE|SUCCEED|FAILED|-)(?:\([MA]\))?")},
)
PROFILES = DisplayTable(
    "display dcb pfc-profile",
    {
        "": Form(
            source=_REFERENCE + '"display dcb pfc-profile"',
            head="""\
PFC-Profile Maximum: {maximum:d}
Total: {total:d}
-------------------------------------------------------------------------------
PFC-profile Name                      Priority
-------------------------------------------------------------------------------""",
            row="""\
{name:<37} {queues:*}
-------------------------------------------------------------------------------""",
        )
    },
    blank=("queues",),
    optional=("maximum",),
    cells={"queues": re.compile(r"[\d, -]*", re.ASCII)},
)
COUNTERS = DisplayTable(
    "display dcb pfc",
    {
        "": Form(
            source=_REFERENCE + '"display dcb pfc"',
            head="""\
-----------------------------------------------------------------------------------------
Interface         Queue         Received(Frames)        ReceivedRate(pps)     DeadlockNum
                             Transmitted(Frames)     TransmittedRate(pps)     RecoveryNum
-----------------------------------------------------------------------------------------""",
            row="""\
{interface:<17i} {queue:>6d} {rx_frames:>23d} {rx_rate:>24d} {deadlocks:>15d}
                         {tx_frames:>23d} {tx_rate:>24d} {recoveries:>15d}""",
            foot="-" * 89,
        )
    },
    key=("interface", "queue"),
    carried=True,
)
_LEGEND = """\
Xon:        PFC backpressure stop threshold
Xoff:       PFC backpressure threshold
"""
_HEADROOM = """\
Hdrm:       Headroom buffer threshold
Guaranteed: PFC guaranteed buffer threshold
"""
_PFC_RULE = "-" * 84
_PFC_ROW = "{interface:<14i} {queue:>5d} {guaranteed:>13} "
_SIZE = re.compile(r"-|(?<!\d)\d+\([BCDKM]\)", re.ASCII)
THRESHOLDS = DisplayTable(
    "display dcb pfc buffer",
    {
        "v300-g1": Form(
            source=_REFERENCE + '"display dcb pfc buffer", first example',
            head=f"""\
{_LEGEND}K:kilobytes   D:dynamic alpha
--------------------------------------------------
Interface      Queue            Xon           Xoff
--------------------------------------------------""",
            row="{interface:<14i} {queue:>5d} {xon:>14} {xoff:>14}",
            foot="-" * 50,
        ),
        "v300-g2": Form(
            source=_REFERENCE + '"display dcb pfc buffer", second example',
            head=f"""\
{_LEGEND}{_HEADROOM}B:bytes   \tK:kilobytes   \tD:dynamic alpha
The actual PFC backpressure stop threshold is the higher value between the value of
xon-lowest and the difference between the value of xoff and the value of xon-offset.\x20
{_PFC_RULE}
Interface      Queue    Guaranteed     Xon-Lowest  Xon-Offset       Xoff        Hdrm
{_PFC_RULE}""",
            row=_PFC_ROW + "{xon_lowest:>14} {xon_offset:>11} {xoff:>10} {hdrm:>11}",
            foot=_PFC_RULE,
        ),
        "v200": Form(
            source="AI Fabric best practice, EDOC1100155250 (f1a44286)",
            confirmed=False,  # its words are; where lines break, and widths, are those of V300
            head=f"""\
{_LEGEND}{_HEADROOM}\
The actual PFC backpressure stop threshold is the higher value between the value of
xon and the difference between the value of xoff and the value of xon-offset.
C:cells   B:bytes   K:kilobytes   M:megabytes   D:dynamic alpha
{_PFC_RULE}
Interface      Queue    Guaranteed            Xon  Xon-Offset       Xoff        Hdrm
{_PFC_RULE}""",
            row=_PFC_ROW + "{xon:>14} {xon_offset:>11} {xoff:>10} {hdrm:>11}",
            foot=_PFC_RULE,
        ),
    },
    key=("interface", "queue"),
    carried=True,
    cells=dict.fromkeys(("guaranteed", "xon", "xon_lowest", "xon_offset", "xoff", "hdrm"), _SIZE),
    titles={
        "Interface": "interface:i",
        "Queue": "queue:d",
        "Guaranteed": "guaranteed:",
        "Xon": "xon:",
        "Xon-Lowest": "xon_lowest:",
        "Xon-Offset": "xon_offset:",
        "Xoff": "xoff:",
        "Hdrm": "hdrm:",
    },
    least=frozenset(("interface", "queue", "xoff")),
)


def read_profiles(shown: DisplayAnswer) -> Rows[Row]:
    """Read profiles with their queues as numbers; raises UnreadableError if one is missing."""
    rows = PROFILES.read(shown)
    totals, line = PROFILES.totals(shown)
    shown.require_all(line, "profiles", totals["total"], len(rows), len(rows.unread))
    queues = ([int(n) for n in re.findall(r"\d+", row["queues"])] for row in rows)
    return Rows(
        (row | {"queues": numbers} for row, numbers in zip(rows, queues, strict=True)), rows.unread
    )


def read_thresholds(shown: DisplayAnswer) -> Rows[Row]:
    """Read thresholds by the columns of the release; raises UnreadableError.

    An offset without the least xon next to it is refused: xon cannot be computed from it.
    """
    rows = THRESHOLDS.numbered(shown)
    for row, line in rows:
        if "xon_offset" in row and "xon" not in row and "xon_lowest" not in row:
            raise shown.wrong(line, "Xon-Offset is shown without Xon or Xon-Lowest")
    return Rows((row for row, _ in rows), rows.unread)


def write_profiles(rows: list[dict[str, Any]], maximum: int) -> str:
    """Write `display dcb pfc-profile` of profiles with their queues as numbers."""
    texts = [row | {"queues": " ".join(map(str, row["queues"]))} for row in rows]
    return PROFILES.write(texts, maximum=maximum, total=len(texts))
