"""State that `display dcb`, `display dcb pfc`, `.. pfc-profile` and `.. pfc buffer` show.

Their forms, with sources: `napalm_cloudengine/displays/pfc.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from napalm_cloudengine.displays import pfc as displays
from rocefort.dialects.vrp.commands.syntax import family_of
from rocefort.dialects.vrp.interpreter.interpreter import Lines
from rocefort.emulator.show.context import NO_INTERFACE, interface_of, state_source_of
from rocefort.emulator.switch.commit_checks import MAX_PFC_PROFILES, profile_lines, profile_queues
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.device.lossless import BUILT_IN_PROFILE, BUILT_IN_QUEUE
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
