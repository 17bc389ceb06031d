"""Displays of PFC, ECN, and statistics of queues.

Their forms, with sources: `napalm_cloudengine/displays/lossless.py`.

Forms of the first two: `napalm_cloudengine/displays/`; the sample of `display qos ecn threshold`:
V300R023C00 command reference, QoS.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from napalm_cloudengine.displays import lossless as displays
from napalm_cloudengine.displays.lossless import STATE
from rocefort.dialects.vrp.commands.catalogue import family_of
from rocefort.dialects.vrp.interpreter.interpreter import Lines
from rocefort.emulator.show.context import NO_INTERFACE, interface_of, state_source_of
from rocefort.emulator.switch.commit_checks import MAX_PFC_PROFILES, profile_lines, profile_queues
from rocefort.emulator.switch.state_source import AiEcnState
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.device.lossless_queue import BUILT_IN_PROFILE, BUILT_IN_QUEUE
from rocefort.models.hardware.hardware import SyntaxFamily

# Defaults, V300R023C00: G1 xon 100, xoff 125 kbytes; G2 alpha 3, offset 6 kbytes, headroom 256.
UNITS = {"kbytes": "K", "mbytes": "M", "cells": "C", "bytes": "B"}


def dcb(switch: EmulatedSwitch) -> str:
    """`display dcb`: every port with PFC on; automatic mode is shown as negotiated."""
    rows = []
    for name, text in _enabled(switch.running):
        words = text.split()
        row = {
            "interface": name,
            "profile": words[3] if len(words) > 3 and words[3] != "mode" else "default",
            "status": "SUCCEED(A)" if text.endswith("mode auto") else "ENABLE(M)",
        }
        rows.append(row | dict.fromkeys(("ets_profile", "ets_status", "app_profile")))
    return displays.PORTS.write(rows)


def _enabled(config: Lines) -> Iterator[tuple[str, str]]:
    for line in config:
        if line.text.startswith("interface "):
            for child in line.children:
                if child.text.startswith("dcb pfc enable"):
                    yield line.text.removeprefix("interface "), child.text


def profiles(switch: EmulatedSwitch) -> str:
    """`display dcb pfc-profile`: `default` exists without a line."""
    queues_by_profile = {BUILT_IN_PROFILE: [BUILT_IN_QUEUE]}
    queues_by_profile |= {
        name: profile_queues(line) for name, line in profile_lines(switch.running).items()
    }
    rows = [{"name": name, "queues": queues} for name, queues in queues_by_profile.items()]
    return displays.write_profiles(rows, MAX_PFC_PROFILES)


def pfc(switch: EmulatedSwitch, interface: str | None = None) -> str:
    """`display dcb pfc [interface X]`: two lines for each lossless queue of a port."""
    if interface is not None and interface_of(switch, interface) is None:
        return NO_INTERFACE
    states = state_source_of(switch).pfc(switch.name)
    return displays.COUNTERS.write(asdict(s) for s in states if interface in (None, s.interface))


def buffers(switch: EmulatedSwitch, interface: str | None = None) -> str:
    """`display dcb pfc buffer [interface X]`: running thresholds, in the family's columns."""
    if interface is not None and interface_of(switch, interface) is None:
        return NO_INTERFACE
    ports = {
        (state.interface, state.queue)
        for state in state_source_of(switch).pfc(switch.name)
        if interface in (None, state.interface)
    }
    names = [state.name for state in state_source_of(switch).interfaces(switch.name)]
    positions = {name: index for index, name in enumerate(names)}
    ordered = sorted(ports, key=lambda row: (positions.get(row[0], len(positions)), row[1]))
    rows = [_threshold(switch, name, queue) for name, queue in ordered]
    return displays.THRESHOLDS.write(rows, family_of(switch.family).value)


def _threshold(switch: EmulatedSwitch, name: str, queue: int) -> dict[str, Any]:
    start = f"dcb pfc buffer {queue} "
    port = next((line for line in switch.running if line.text == f"interface {name}"), None)
    own = [child.text for child in port.children] if port else []
    words = [word for text in own if text.startswith(start) for word in text[len(start) :].split()]
    row: dict[str, Any] = {"interface": name, "queue": queue}
    if family_of(switch.family) is SyntaxFamily.V300_G1:
        return row | {
            "xon": _value(words, "xon", "100(K)"),
            "xoff": _value(words, "xoff", "125(K)"),
        }
    row["xoff"] = _value(words, "xoff", "3(D)")
    if family_of(switch.family) is SyntaxFamily.V200:
        # V200's own values are in cells; its defaults are not known.
        offset, headroom = _value(words, "xon", "-"), _value(words, "hdrm", "-")
        return row | {"guaranteed": "-", "xon": "-", "xon_offset": offset, "hdrm": headroom}
    return row | {
        "guaranteed": _value(words, "guaranteed", "1600(B)"),
        "xon_lowest": "640(B)",
        "xon_offset": _value(words, "xon", "6(K)"),
        "hdrm": _value(words, "hdrm", "256(K)"),
    }


def _value(words: Sequence[str], name: str, default: str) -> str:
    """Format a value: `xon static 550 kbytes` -> `550(K)`, `xoff dynamic 3` -> `3(D)`."""
    if name not in words:
        return default
    after = words[words.index(name) + 1 :]
    if after[:1] == ["dynamic"]:
        return f"{after[1]}(D)"
    if after[:1] in (["static"], ["offset"]):
        after = after[1:]
    unit = UNITS.get(after[1], "K") if len(after) > 1 else "K"
    return f"{after[0]}({unit})"


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


def ecn_statistics(switch: EmulatedSwitch) -> str:
    """`display qos ecn statistics`: no packet passes a lossless queue, and none is marked."""
    ports = dict.fromkeys(state.interface for state in state_source_of(switch).pfc(switch.name))
    return displays.ECN_MARKS.write({"interface": port, "marked_packets": 0} for port in ports)


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
