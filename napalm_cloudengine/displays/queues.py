"""Statistics of the egress queues of a port, and ECN marks by port."""

from napalm_cloudengine.displays.shown import DisplayAnswer, Rows
from napalm_cloudengine.displays.table import DisplayTable, Form, Row

_RULE = " " + "-" * 94
_TITLES = (
    " Queue   CIR/PIR              Passed     Pass Rate"
    "             Dropped     Drop Rate  Drop Time"
)
# A rate that cannot be collected is a hyphen (table 1). CIR and PIR: kbit/s, or a share with `%`.
_ROW = f"""\
 {{queue:>5d}} {{cir:>9}} {{passed_packets:>19d}} {{passed_pps:>13?}} \
{{dropped_packets:>19d}} {{dropped_pps:>13?}} {{drop_time:>10*}}
 {{pir:>15}} {{passed_bytes:>19d}} {{passed_bps:>13?}} {{dropped_bytes:>19d}} {{dropped_bps:>13?}}
{_RULE}"""
STATISTICS = DisplayTable(
    "display qos queue statistics interface {}",
    {
        "": Form(
            source='configuration guide V300R023C00, "Example for Configuring Queue Shaping"',
            head=f"""\
{_TITLES}
        (% or kbps)   (Packets/Bytes)    (pps/bps)      (Packets/Bytes)    (pps/bps)
{_RULE}""",
            row=_ROW,
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
{_RULE}
{_TITLES}
     (% or kbps)     (Packets/Bytes)     (pps/bps)     (Packets/Bytes)     (pps/bps)
{_RULE}""",
            row=_ROW,
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
