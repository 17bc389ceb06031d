"""State of `display qos queue statistics`, `display ai-ecn calculated state`, `.. ecn threshold`.

Forms of the first two: `napalm_cloudengine/displays/`; the sample of `display qos ecn threshold`:
V300R023C00 command reference, QoS.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any

from napalm_cloudengine.displays import queues as displays
from napalm_cloudengine.displays.ai_ecn import STATE
from rocefort.emulator.show.context import NO_INTERFACE, interface_of, state_source_of
from rocefort.emulator.switch.state_source import AiEcnState
from rocefort.emulator.switch.switch import EmulatedSwitch

SLOT = "1"  # the only one of a switch with fixed ports
MODEL_VERSION = "1.0.1"  # of the sample
ECN_HEAD = (
    "* : indicates AI ECN\n"
    "[] : indicates the upper ECN threshold\n"
    "Interface       Queue     Min     Max  Probability  Queue Size\n"
    "                         (KB)    (KB)          (%)        (KB)\n"
    "--------------------------------------------------------------"
)


def statistics(switch: EmulatedSwitch, interface: str) -> str:
    """`display qos queue statistics interface X`; no rows for an interface without queues."""
    if interface_of(switch, interface) is None:
        return NO_INTERFACE
    return displays.STATISTICS.write(_queue_rows(switch, interface))


def slot_statistics(switch: EmulatedSwitch, slot: str) -> str | None:
    """`display qos queue statistics slot N`: every port under its name; None: no such slot."""
    if slot != SLOT:
        return None
    blocks = (
        (state.name, _queue_rows(switch, state.name))
        for state in state_source_of(switch).interfaces(switch.name)
    )
    return "\n".join(displays.OF_SLOT.write(rows, interface=name) for name, rows in blocks if rows)


def _queue_rows(switch: EmulatedSwitch, interface: str) -> list[dict[str, Any]]:
    nothing = {"cir": 0, "drop_time": "-", "passed_bps": 0, "dropped_bps": 0}
    states = state_source_of(switch).queues(switch.name, interface)
    return [{**asdict(state), **nothing, "pir": state.peak_kbps} for state in states]


def ai_ecn(switch: EmulatedSwitch, interface: str | None = None) -> str:
    """`display ai-ecn calculated state [interface X]`; active since the switch started."""
    if interface is not None and interface_of(switch, interface) is None:
        return NO_INTERFACE
    up = timedelta(seconds=max(0, int(switch.clock() - switch.booted)))
    since = f"{switch.now() - up:%Y-%m-%d %H:%M:%S}"
    rows = [
        _ai_row(state, since)
        for state in state_source_of(switch).ai_ecn(switch.name)
        if interface in (None, state.interface)
    ]
    return STATE.write(rows, version=MODEL_VERSION)


def _ai_row(state: AiEcnState, since: str) -> dict[str, Any]:
    """Return one queue; no values while the function is abnormal."""
    if state.mode != "-":
        return asdict(state) | {"since": since}
    missing = dict.fromkeys(("low_bytes", "high_bytes", "percent"))
    return asdict(state) | missing | {"since": "-"}


def ecn_threshold(switch: EmulatedSwitch, interface: str) -> str:
    """`display qos ecn threshold interface X`: those of AI-ECN; static ones are not modelled."""
    if interface_of(switch, interface) is None:
        return NO_INTERFACE
    by_ai = {
        s.queue: s for s in state_source_of(switch).ai_ecn(switch.name) if s.interface == interface
    }
    rows: list[str] = []
    for state in state_source_of(switch).queues(switch.name, interface):
        ai = by_ai.get(state.queue)
        low, high = (ai.low_bytes // 1024, ai.high_bytes // 1024) if ai else (0, 0)
        queue = f"{state.queue}*" if ai else str(state.queue)
        name = interface if not rows else ""
        percent = ai.percent if ai else 0
        rows.append(f"{name:<15} {queue:>5} {low:>7} {high:>7} {percent:>12} {0:>11}")
    return "\n".join([ECN_HEAD, *rows])
