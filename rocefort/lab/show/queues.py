"""`display qos queue statistics`, `display ai-ecn calculated state`, `display qos ecn threshold`.

Samples: V300R023C00 command reference, QoS and AI ECN.
"""

from __future__ import annotations

from datetime import timedelta

from rocefort.lab.behind import AiEcnState
from rocefort.lab.show.asked import NO_INTERFACE, behind_of, interface_of
from rocefort.lab.switch import EmulatedSwitch

SLOT = "1"  # the only one of a switch with fixed ports
QUEUE_RULE = " " + "-" * 94
QUEUE_HEAD = (
    " Queue   CIR/PIR              Passed     Pass Rate"
    "             Dropped     Drop Rate  Drop Time"
)
# Units below the head: of `slot` in the command reference, of `interface` in the configuration
# guide's examples for queue shaping.
SLOT_UNITS = "     (% or kbps)     (Packets/Bytes)     (pps/bps)     (Packets/Bytes)     (pps/bps)"
PORT_UNITS = "        (% or kbps)   (Packets/Bytes)    (pps/bps)      (Packets/Bytes)    (pps/bps)"
AI_RULE = "-" * 125
AI_HEAD = (
    "AI-ECN Model Version : 1.0.1\n"
    "Mode : NN - Model inference    BBR - Heuristic inference    STATIC - Static threshold\n"
    f"{AI_RULE}\n"
    "Interface       Queue   Low-Threshold   High-Threshold   Probability   Mode"
    "                Active model       Actived time\n"
    "                               (Byte)           (Byte)           (%)\n"
    f"{AI_RULE}"
)
ECN_HEAD = (
    "* : indicates AI ECN\n"
    "[] : indicates the upper ECN threshold\n"
    "Interface       Queue     Min     Max  Probability  Queue Size\n"
    "                         (KB)    (KB)          (%)        (KB)\n"
    "--------------------------------------------------------------"
)


def statistics(switch: EmulatedSwitch, interface: str) -> str:
    """`display qos queue statistics interface X`; an interface without queues shows no rows."""
    if interface_of(switch, interface) is None:
        return NO_INTERFACE
    return "\n".join([QUEUE_HEAD, PORT_UNITS, QUEUE_RULE, *_queue_rows(switch, interface)])


def slot_statistics(switch: EmulatedSwitch, slot: str) -> str | None:
    """`display qos queue statistics slot N`: every port, each under its name; None: no slot."""
    if slot != SLOT:
        return None
    rows: list[str] = []
    for state in behind_of(switch).interfaces(switch.name):
        if queues := _queue_rows(switch, state.name):
            title = f" Queue statistics info: interface {state.name}"
            rows += [title, QUEUE_RULE, QUEUE_HEAD, SLOT_UNITS, QUEUE_RULE, *queues]
    return "\n".join(rows)


def _queue_rows(switch: EmulatedSwitch, interface: str) -> list[str]:
    rows: list[str] = []
    for state in behind_of(switch).queues(switch.name, interface):
        rows += [
            (
                f" {state.queue:>5} {0:>9} {state.passed_packets:>19} {state.passed_pps:>13} "
                f"{state.dropped_packets:>19} {state.dropped_pps:>13} {'-':>10}"
            ),
            (
                f" {state.peak_kbps:>15} {state.passed_bytes:>19} {0:>13} "
                f"{state.dropped_bytes:>19} {0:>13}"
            ),
            QUEUE_RULE,
        ]
    return rows


def ai_ecn(switch: EmulatedSwitch, interface: str | None = None) -> str:
    """`display ai-ecn calculated state [interface X]`; active since the switch started."""
    if interface is not None and interface_of(switch, interface) is None:
        return NO_INTERFACE
    up = timedelta(seconds=max(0, int(switch.clock() - switch.booted)))
    since = f"{switch.now() - up:%Y-%m-%d %H:%M:%S}"
    rows = [
        _ai_row(state, since)
        for state in behind_of(switch).ai_ecn(switch.name)
        if interface in (None, state.interface)
    ]
    return "\n".join([AI_HEAD, *rows, AI_RULE])


def _ai_row(state: AiEcnState, since: str) -> str:
    """One queue; a hyphen for what is not there while the function is abnormal."""
    works = state.mode != "-"
    low, high, percent = (
        value if works else "-" for value in (state.low_bytes, state.high_bytes, state.percent)
    )
    return (
        f"{state.interface:<15} {state.queue:>5} {low:>15} {high:>16} {percent:>13} "
        f"{state.mode:>6} {state.model:>27}   {since if works else '-'}"
    )


def ecn_threshold(switch: EmulatedSwitch, interface: str) -> str:
    """`display qos ecn threshold interface X`: those of AI-ECN; static ones are not modelled."""
    if interface_of(switch, interface) is None:
        return NO_INTERFACE
    by_ai = {s.queue: s for s in behind_of(switch).ai_ecn(switch.name) if s.interface == interface}
    rows: list[str] = []
    for state in behind_of(switch).queues(switch.name, interface):
        ai = by_ai.get(state.queue)
        low, high = (ai.low_bytes // 1024, ai.high_bytes // 1024) if ai else (0, 0)
        queue = f"{state.queue}*" if ai else str(state.queue)
        name = interface if not rows else ""
        percent = ai.percent if ai else 0
        rows.append(f"{name:<15} {queue:>5} {low:>7} {high:>7} {percent:>12} {0:>11}")
    return "\n".join([ECN_HEAD, *rows])
