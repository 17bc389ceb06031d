"""`display dcb`, `display dcb pfc-profile`, `display dcb pfc` and `display dcb pfc buffer`.

Samples: V300R023C00 command reference, DCB; V200's columns of thresholds: AI Fabric best practice
(EDOC1100155250). How the queues of a profile with several are written is not confirmed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocefort.dialects.vrp.interpret import Lines
from rocefort.lab.checking import MAX_PFC_PROFILES
from rocefort.lab.show.asked import NO_INTERFACE, behind_of, interface_of
from rocefort.lab.switch import EmulatedSwitch
from rocefort.models.hardware import SyntaxFamily
from rocefort.models.lossless import BUILT_IN_QUEUE

PFC_RULE = "-" * 89
PFC_HEAD = (
    "Interface         Queue         Received(Frames)        ReceivedRate(pps)     DeadlockNum\n"
    "                             Transmitted(Frames)     TransmittedRate(pps)     RecoveryNum"
)
XON = "Xon:        PFC backpressure stop threshold"
XOFF = "Xoff:       PFC backpressure threshold"
HDRM = "Hdrm:       Headroom buffer threshold"
GUARANTEED = "Guaranteed: PFC guaranteed buffer threshold"
ACTUAL = (
    "The actual PFC backpressure stop threshold is the higher value between the value of\n"
    "{} and the difference between the value of xoff and the value of xon-offset."
)
G1_HEAD = "Interface      Queue            Xon           Xoff"
G2_HEAD = "Interface      Queue    Guaranteed     Xon-Lowest  Xon-Offset       Xoff        Hdrm"
V200_HEAD = "Interface      Queue    Guaranteed            Xon  Xon-Offset       Xoff        Hdrm"
G2_LEGEND = (
    HDRM,
    GUARANTEED,
    "B:bytes   \tK:kilobytes   \tD:dynamic alpha",
    ACTUAL.format("xon-lowest") + " ",
)
# AI Fabric best practice, EDOC1100155250 f1a44286; where its lines break is not confirmed.
V200_LEGEND = (
    HDRM,
    GUARANTEED,
    ACTUAL.format("xon"),
    "C:cells   B:bytes   K:kilobytes   M:megabytes   D:dynamic alpha",
)
# Defaults, V300R023C00: G1 xon 100, xoff 125 kbytes; G2 alpha 3, offset 6 kbytes, headroom 256.
UNITS = {"kbytes": "K", "mbytes": "M", "cells": "C", "bytes": "B"}


def dcb(switch: EmulatedSwitch) -> str:
    """`display dcb`: every port with PFC on; in automatic mode it is shown as negotiated."""
    rule = "-" * 79
    rows = []
    for name, text in _enabled(switch.running):
        words = text.split()
        profile = words[3] if len(words) > 3 and words[3] != "mode" else "default"
        state = "SUCCEED(A)" if text.endswith("mode auto") else "ENABLE(M)"
        rows.append(f"{name:<17} {profile:<12} {state:<11} {'-':<11} {'-':<10} -")
    head = "Interface         PFC Name     PFC Status  ETS Name    ETS Status App-Profile"
    return "\n".join(["M:Manual;    A:Auto", rule, head, rule, *rows, rule])


def _enabled(config: Lines) -> Iterator[tuple[str, str]]:
    for line in config:
        if line.text.startswith("interface "):
            for child in line.children:
                if child.text.startswith("dcb pfc enable"):
                    yield line.text.removeprefix("interface "), child.text


def profiles(switch: EmulatedSwitch) -> str:
    """`display dcb pfc-profile`: `default` is there without a line."""
    rule = "-" * 79
    found = {"default": (BUILT_IN_QUEUE,)} | dict(_profiles(switch.running))
    rows = [
        row
        for name, queues in found.items()
        for row in (f"{name:<37} {' '.join(map(str, queues))}".rstrip(), rule)
    ]
    head = "PFC-profile Name                      Priority"
    top = [f"PFC-Profile Maximum: {MAX_PFC_PROFILES}", f"Total: {len(found)}"]
    return "\n".join([*top, rule, head, rule, *rows])


def _profiles(config: Lines) -> Iterator[tuple[str, tuple[int, ...]]]:
    for line in config:
        words = line.text.split()
        if words[:2] == ["dcb", "pfc"] and (len(words) == 2 or len(words) == 3):
            queues = {BUILT_IN_QUEUE}
            for text in (child.text.split() for child in line.children):
                if text[0] == "priority" and all(word.isdecimal() for word in text[1:]):
                    queues |= set(map(int, text[1:]))
                if text[:2] == ["undo", "priority"]:
                    queues -= set(map(int, text[2:]))
            yield (words[2] if len(words) == 3 else "default"), tuple(sorted(queues))


def pfc(switch: EmulatedSwitch, interface: str | None = None) -> str:
    """`display dcb pfc [interface X]`: two lines for each lossless queue of a port."""
    if interface is not None and interface_of(switch, interface) is None:
        return NO_INTERFACE
    rows = [
        f"{state.interface:<17} {state.queue:>5} {state.received:>23} {state.received_pps:>24} "
        f"{state.deadlocks:>15}\n"
        f"{'':24}{state.sent:>23} {state.sent_pps:>24} {state.recoveries:>15}"
        for state in behind_of(switch).pfc(switch.name)
        if interface in (None, state.interface)
    ]
    return "\n".join([PFC_RULE, PFC_HEAD, PFC_RULE, *rows, PFC_RULE])


def buffers(switch: EmulatedSwitch, interface: str | None = None) -> str:
    """`display dcb pfc buffer [interface X]`: thresholds as they run, in the family's columns."""
    if interface is not None and interface_of(switch, interface) is None:
        return NO_INTERFACE
    wanted = {
        (state.interface, state.queue)
        for state in behind_of(switch).pfc(switch.name)
        if interface in (None, state.interface)
    }
    rows = [_threshold(switch, name, queue) for name, queue in sorted(wanted, key=_place(switch))]
    if switch.family is SyntaxFamily.V300_G1:
        rule = "-" * 50
        top = [XON, XOFF, "K:kilobytes   D:dynamic alpha", rule, G1_HEAD, rule]
    else:
        v200 = switch.family is SyntaxFamily.V200
        rule = "-" * 84
        legend = V200_LEGEND if v200 else G2_LEGEND
        top = [XON, XOFF, *legend, rule, V200_HEAD if v200 else G2_HEAD, rule]
    return "\n".join([*top, *rows, rule])


def _place(switch: EmulatedSwitch) -> _Order:
    names = [state.name for state in behind_of(switch).interfaces(switch.name)]
    return _Order({name: index for index, name in enumerate(names)})


class _Order:
    """Sort key: ports in the order of the switch, then queues."""

    def __init__(self, places: dict[str, int]) -> None:
        self.places = places

    def __call__(self, row: tuple[str, int]) -> tuple[int, int]:
        return self.places.get(row[0], len(self.places)), row[1]


def _threshold(switch: EmulatedSwitch, name: str, queue: int) -> str:
    words = _buffer_words(switch.running, name, queue)
    if switch.family is SyntaxFamily.V300_G1:
        xon, xoff = _value(words, "xon", "100(K)"), _value(words, "xoff", "125(K)")
        return f"{name:<14} {queue:>5} {xon:>14} {xoff:>14}"
    offset = _value(words, "xon", "6(K)")
    xoff, headroom = _value(words, "xoff", "3(D)"), _value(words, "hdrm", "256(K)")
    guaranteed = _value(words, "guaranteed", "1600(B)")
    lowest = "640(B)"
    if switch.family is SyntaxFamily.V200:
        # V200's own values are in cells; what they are without a line is not known.
        guaranteed, lowest, headroom = "-", "-", _value(words, "hdrm", "-")
        offset = _value(words, "xon", "-")
    cells = f"{guaranteed:>13} {lowest:>14} {offset:>11} {xoff:>10} {headroom:>11}"
    return f"{name:<14} {queue:>5} {cells}"


def _buffer_words(config: Lines, name: str, queue: int) -> list[str]:
    """The words of all `dcb pfc buffer QUEUE ..` lines of a port, behind the queue."""
    start = f"dcb pfc buffer {queue} "
    port = next((line for line in config if line.text == f"interface {name}"), None)
    own = [child.text for child in port.children] if port else []
    return [word for text in own if text.startswith(start) for word in text[len(start) :].split()]


def _value(words: Sequence[str], name: str, default: str) -> str:
    """`xon static 550 kbytes` -> `550(K)`, `xoff dynamic 3` -> `3(D)`."""
    if name not in words:
        return default
    after = words[words.index(name) + 1 :]
    if after[:1] == ["dynamic"]:
        return f"{after[1]}(D)"
    if after[:1] in (["static"], ["offset"]):
        after = after[1:]
    unit = UNITS.get(after[1], "K") if len(after) > 1 else "K"
    return f"{after[0]}({unit})"
