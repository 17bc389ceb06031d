"""PFC: ports, profiles, counters and thresholds.

Later rows of a port may omit the port's name: this is confirmed only for
`display dcb pfc deadlock trigger status`. The form of a profile with several queues is not
confirmed.
"""

import re
from typing import Any

from napalm_cloudengine.displays.shown import DisplayAnswer, Rows
from napalm_cloudengine.displays.table import DisplayTable, Form, Row

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
_RULE = "-" * 84
_ROW = "{interface:<14i} {queue:>5d} {guaranteed:>13} "
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
{_RULE}
Interface      Queue    Guaranteed     Xon-Lowest  Xon-Offset       Xoff        Hdrm
{_RULE}""",
            row=_ROW + "{xon_lowest:>14} {xon_offset:>11} {xoff:>10} {hdrm:>11}",
            foot=_RULE,
        ),
        "v200": Form(
            source="AI Fabric best practice, EDOC1100155250 (f1a44286)",
            confirmed=False,  # its words are; where lines break, and widths, are those of V300
            head=f"""\
{_LEGEND}{_HEADROOM}\
The actual PFC backpressure stop threshold is the higher value between the value of
xon and the difference between the value of xoff and the value of xon-offset.
C:cells   B:bytes   K:kilobytes   M:megabytes   D:dynamic alpha
{_RULE}
Interface      Queue    Guaranteed            Xon  Xon-Offset       Xoff        Hdrm
{_RULE}""",
            row=_ROW + "{xon:>14} {xon_offset:>11} {xoff:>10} {hdrm:>11}",
            foot=_RULE,
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
