"""AI-ECN: the thresholds that a switch computes for each queue of a port."""

import re

from napalm_cloudengine.displays.table import DisplayTable, Form

_RULE = "-" * 125
# A hyphen replaces a missing value while the function is abnormal (table 1).
STATE = DisplayTable(
    "display ai-ecn calculated state",
    {
        "": Form(
            source='command reference V300R023C00, "display ai-ecn calculated state"',
            head=f"""\
AI-ECN Model Version : {{version}}
Mode : NN - Model inference    BBR - Heuristic inference    STATIC - Static threshold
{_RULE}
Interface       Queue   Low-Threshold   High-Threshold   Probability   Mode                \
Active model       Actived time
                               (Byte)           (Byte)           (%)
{_RULE}""",
            row="{interface:<15i} {queue:>5d} {low_bytes:>15?} {high_bytes:>16?} {percent:>13?}    "
            "{mode:<3} {model:>27}   {since:*}",
            foot=_RULE,
        )
    },
    key=("interface", "queue"),
    carried=True,
    cells={
        "queue": re.compile("[0-7]"),
        "since": re.compile(r"-|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII),
    },
)
