"""PFC rules: exact messages on faulty fabrics, and none on near misses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest

from rocefort.models.device.interface import InterfacePfc, OtherThreshold
from rocefort.models.device.lossless_queue import PfcProfile, PfcTimer, PfcTurnOff
from rocefort.models.hardware.hardware import Range
from rocefort.validators.checks import check

Change = Callable[[Any], Any]

NO_INTENT = "not judged fabric: the lossless intent is not known (queue, DSCP, timers, frame size)"
NO_FAMILY = "not judged leaf01: the syntax family is not known, so its ranges are not known either"
PORT = ("leaf01", "100GE1/0/1")
TIMERS = ("detection", "recovery")


def _profile(*queues: int, timers: tuple[PfcTimer, ...] = ()) -> tuple[PfcProfile, ...]:
    return (PfcProfile(queues=queues, timers=timers),)


def _timer(detect: int | None, recovery: int | None) -> tuple[PfcProfile, ...]:
    return _profile(4, timers=(PfcTimer(queue=4, detect_time=detect, recovery_time=recovery),))


def _seconds(small: Any) -> Any:
    """The published 10 s, on leaves that take 1.5 s and spines that take it in 1 s steps."""
    return (
        small.lossless(detect_ms=10000, recovery_ms=10000)
        .pfc("spine01", interval_ms=1000)
        .pfc("spine02", interval_ms=1000)
    )


def _long(what: str, time_ms: int) -> str:
    return (
        f"{what} is {time_ms} ms; over 1000 ms a deadlock stops a queue for long, "
        "and the unit may be wrong"
    )


LONG_INTENT = [
    "warning fabric: " + _long("the intended deadlock detection time", 10000),
    "warning fabric: " + _long("the intended deadlock recovery time", 10000),
]


def _other(unit: Literal["cells", "alpha"]) -> OtherThreshold:
    return OtherThreshold(queue=4, unit=unit, xoff=6)


PFC001: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.row(*PORT, xon_kbytes=601),
        ["error leaf01 100GE1/0/1: queue 4: xon 601 KB is above xoff 600 KB"],
    ),
    (
        lambda s: s.row(*PORT, xon_kbytes=583),
        [
            "error leaf01 100GE1/0/1: queue 4: xon 583 KB and xoff 600 KB are 17 KB apart; "
            "two frames of 9216 bytes need 18 KB"
        ],
    ),
    (
        lambda s: s.row(*PORT, xon_kbytes=600),
        [
            "error leaf01 100GE1/0/1: queue 4: xon 600 KB and xoff 600 KB are 0 KB apart; "
            "two frames of 9216 bytes need 18 KB"
        ],
    ),
    (lambda s: s.row(*PORT, xon_kbytes=582), []),  # 18 KB: 2 x 9216 bytes exactly
    (
        lambda s: s.row(*PORT, xoff_kbytes=6145),
        ["error leaf01 100GE1/0/1: queue 4: xoff 6145 KB cannot be set on v300-g1 (1 to 6144 KB)"],
    ),
    (lambda s: s.row(*PORT, xoff_kbytes=6144), []),
    (
        lambda s: s.family("leaf01", "V200"),
        ["not judged leaf01: the range of xoff on v200 is not confirmed by the vendor"],
    ),
    (  # without intent the frame size is not known, but xon above xoff is wrong all the same
        lambda s: s.row(*PORT, xon_kbytes=601).change(lossless=None),
        ["error leaf01 100GE1/0/1: queue 4: xon 601 KB is above xoff 600 KB", NO_INTENT],
    ),
    (  # nor is the distance right that is too small for a port's own frames
        lambda s: s.row(*PORT, xon_kbytes=598).change(lossless=None),
        [
            "error leaf01 100GE1/0/1: queue 4: xon 598 KB and xoff 600 KB are 2 KB apart; "
            "two frames of 1500 bytes need 3 KB",
            NO_INTENT,
        ],
    ),
    (lambda s: s.row(*PORT, xon_kbytes=597).change(lossless=None), [NO_INTENT]),
    (lambda s: s.node("leaf01", family=None), [NO_FAMILY]),
    (
        lambda s: s.port(*PORT, thresholds=(), other_thresholds=(_other("cells"),)),
        [
            "not judged leaf01 100GE1/0/1: queue 4: its xoff is in cells, which is not known in "
            "bytes"
        ],
    ),
    (
        lambda s: s.port(*PORT, thresholds=(), other_thresholds=(_other("alpha"),)),
        [
            "not judged leaf01 100GE1/0/1: queue 4: its xoff is a share of the free buffer, which "
            "is not known in bytes"
        ],
    ),
]

PFC002: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.port("leaf01", "100GE1/0/31", pfc=None),
        [
            "error leaf01 100GE1/0/31: PFC is off, and RoCE passes here; "
            "queue 4 must be paused at both ends of every cable"
        ],
    ),
    (
        lambda s: s.port(*PORT, pfc=None),
        [
            "error leaf01 100GE1/0/1: PFC is off, and RoCE passes here; "
            "queue 4 must be paused at both ends of every cable"
        ],
    ),
    (lambda s: s.port(*PORT, pfc=None).server(0, roce=False), []),  # a server without RoCE
    (
        lambda s: s.pfc("leaf01", profiles=_profile(3, 4)),
        [
            "error leaf01: PFC profile default pauses queues 3 and 4; "
            "it must pause queue 4 and no other"
        ],
    ),
    (  # no profile in the text: the built-in one, which pauses queue 3
        lambda s: s.pfc("leaf01", profiles=()),
        ["error leaf01: PFC profile default pauses queue 3; it must pause queue 4 and no other"],
    ),
    (  # a profile that no port applies may pause what it likes
        lambda s: s.pfc("leaf01", profiles=(*_profile(4), PfcProfile(name="spare", queues=(5,)))),
        [],
    ),
    (
        lambda s: s.port(*PORT, pfc=InterfacePfc(profile="roce")),
        ["error leaf01 100GE1/0/1: PFC profile roce is applied, but not defined"],
    ),
    (
        lambda s: s.family("leaf01", "G1", pfc_queues=Range(low=0, high=3, source="CR")),
        ["error leaf01: queue 4 cannot be paused on v300-g1 (queues 0 to 3)"],
    ),
    (
        lambda s: s.family("leaf01", "V200"),
        ["not judged leaf01: which queues v200 can pause is not confirmed by the vendor"],
    ),
    (  # without intent: all switches pause queue 4, so leaf01's other queue is a fault
        lambda s: s.change(lossless=None).pfc("leaf01", profiles=_profile(3, 4)),
        [
            "error leaf01: PFC profile default pauses queues 3 and 4; "
            "it must pause queue 4 and no other"
        ],
    ),
    (  # the queue of most switches is taken as meant
        lambda s: s.change(lossless=None).pfc("leaf01", profiles=_profile(3)),
        ["error leaf01: PFC profile default pauses queue 3; it must pause queue 4 and no other"],
    ),
    (
        lambda s: s.change(lossless=None).pausing(4, 5),
        [],  # both are taken, and are paused everywhere
    ),
    (
        lambda s: s.change(lossless=None).pausing(),
        [
            "not judged fabric: which queue is lossless is not known: most switches pause none; "
            "`display dcb pfc-profile` lists them"
        ],
    ),
]

PFC003: list[tuple[Change, list[str]]] = [
    (
        lambda s: s.port(*PORT, pfc=InterfacePfc(mode="auto")),
        [
            "error leaf01 100GE1/0/1: PFC mode is auto, where the neighbour decides by DCBX; "
            "it must be manual"
        ],
    ),
    (lambda s: s.port(*PORT, pfc=None), []),
    (lambda s: s, []),
]

PFC004: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.pfc("leaf01", detect_ms=10000),
        ["error leaf01: deadlock detection time 10000 ms cannot be set on v300-g1 (10 to 1500 ms)"],
    ),
    (
        lambda s: s.pfc("leaf01", recovery_ms=9),
        ["error leaf01: deadlock recovery time 9 ms cannot be set on v300-g1 (10 to 1500 ms)"],
    ),
    (  # the longest that G1 takes; settable, but not as intended, and long
        lambda s: s.pfc("leaf01", detect_ms=1500),
        [
            "warning leaf01: " + _long("deadlock detection time", 1500),
            "info leaf01: deadlock detection time is 1500 ms on v300-g1; intended 100 ms",
        ],
    ),
    (  # just not long
        lambda s: s.pfc("leaf01", detect_ms=1000).change(lossless=None),
        [NO_INTENT],
    ),
    (  # what a switch does not save is its default: 100 ms on both families
        lambda s: s.pfc("leaf01", detect_ms=None).pfc("spine01", profiles=_timer(None, 10)),
        [],
    ),
    (
        lambda s: s.pfc("leaf01", detect_ms=None).family("leaf01", "G1", deadlock_default_ms=None),
        [
            "error leaf01: deadlock detection time is not set, and the default of v300-g1 is not "
            "known; intended 100 ms"
        ],
    ),
    (  # a zero is printed, not left out
        lambda s: s.pfc("leaf01", detect_ms=0),
        ["error leaf01: deadlock detection time 0 ms cannot be set on v300-g1 (10 to 1500 ms)"],
    ),
    (
        lambda s: s.pfc("spine01", profiles=_profile(4), interval_ms=500),
        [
            *("warning spine01: " + _long(f"deadlock {t} time", 5000) for t in TIMERS),
            *(
                f"info spine01: deadlock {t} time is 5000 ms on v300-g2; intended 100 ms"
                for t in TIMERS
            ),
        ],
    ),
    (  # G2 can say 10 s, G1 has a value of its own
        _seconds,
        [
            *LONG_INTENT,
            *(
                f"info {leaf}: deadlock {timer} time is 100 ms on v300-g1; intended 10000 ms"
                for leaf in ("leaf01", "leaf02")
                for timer in TIMERS
            ),
        ],
    ),
    (
        lambda s: s.pfc("spine01", profiles=_timer(16, 10)),
        [
            "error spine01: deadlock detection time 160 ms cannot be set on v300-g2 "
            "(10 to 150 ms in intervals of 10 ms)"
        ],
    ),
    (
        lambda s: s.pfc("spine01", profiles=_timer(10, 31)),
        ["info spine01: deadlock recovery time is 310 ms on v300-g2; intended 100 ms"],
    ),
    (  # an interval that the command does not take
        lambda s: s.pfc("spine01", interval_ms=20, profiles=_timer(5, 5)),
        [
            "error spine01: the deadlock timers count intervals of 20 ms, which cannot be set on "
            "v300-g2 (10, 100, 500 or 1000 ms)",
        ],
    ),
    (lambda s: s.pfc("spine01", interval_ms=None), []),  # the default interval of 10 ms
    (
        lambda s: s.family("leaf01", "V200"),
        [
            "not judged leaf01: deadlock detection time: its unit and range on v200 are not "
            "confirmed by the vendor",
            "not judged leaf01: deadlock recovery time: its unit and range on v200 are not "
            "confirmed by the vendor",
        ],
    ),
    (lambda s: s.node("leaf01", family=None), [NO_FAMILY]),
]


PFC005: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.port("leaf01", "100GE1/0/31", flow_control=True),
        [
            "error leaf01 100GE1/0/31: 802.3x flow control is on beside PFC; its pauses stop all "
            "priorities"
        ],
    ),
    (lambda s: s.port("leaf01", "100GE1/0/31", flow_control=True, pfc=None), []),
]


def _turn_off(deadlocks: int) -> tuple[PfcProfile, ...]:
    rows = (PfcTurnOff(queue=4, deadlocks=deadlocks),)
    return tuple(profile.model_copy(update={"turn_off": rows}) for profile in _profile(4))


PFC007: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (lambda s: s.pfc("leaf01", profiles=_turn_off(30)), []),
    (
        lambda s: s.pfc("leaf01", profiles=_turn_off(20)),
        [
            "info leaf01: PFC profile default: 20 deadlocks of queue 4 within 20 s turn PFC off, "
            "by default 30 do"
        ],
    ),
]


@pytest.mark.parametrize(("change", "says"), PFC007)
def test_pfc007_keeps_pfc(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("PFC007") == says


FORWARDS = (
    "packets of a deadlocked queue are forwarded; every switch must discard them beside V300 G1 "
    "(leaf01 and leaf02)"
)
PFC008: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (lambda s: s.pfc("spine01", recovery_behavior=None), [f"error spine01: {FORWARDS}"]),
    (lambda s: s.pfc("leaf02", recovery_behavior="forwarding"), [f"error leaf02: {FORWARDS}"]),
    (
        lambda s: s.family("spine01", "V200").pfc("spine01", recovery_behavior=None),
        ["not judged spine01: what v200 does with packets of a deadlocked queue is not published"],
    ),
    (  # without a switch of G1, each keeps its default
        lambda s: (
            s.family("leaf01", "G2").family("leaf02", "G2").pfc("spine01", recovery_behavior=None)
        ),
        [],
    ),
]


@pytest.mark.parametrize(("change", "says"), PFC008)
def test_pfc008_equal_recovery(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("PFC008") == says


@pytest.mark.parametrize(("change", "says"), PFC001)
def test_pfc001_thresholds(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("PFC001") == says


@pytest.mark.parametrize(("change", "says"), PFC002)
def test_pfc002_only_lossless_queue(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("PFC002") == says


@pytest.mark.parametrize(("change", "says"), PFC003)
def test_pfc003_manual_mode(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("PFC003") == says


@pytest.mark.parametrize(("change", "says"), PFC004)
def test_pfc004_deadlock_timers(small: Any, change: Change, says: list[str]) -> None:
    assert sorted(change(small).says("PFC004")) == sorted(says)


def test_pfc002_hint_names_the_commands(small: Any) -> None:
    report = check(small.pfc("leaf01", profiles=_profile(3, 5)).network)
    (hint,) = {f.hint for f in report.findings if f.rule == "PFC002"}
    assert hint == "enter `priority 4`, `undo priority 3` and `undo priority 5` in the profile"


@pytest.mark.parametrize(("change", "says"), PFC005)
def test_pfc005_no_link_pause(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("PFC005") == says
