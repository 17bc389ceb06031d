"""ECN before PFC: the three grades with published figures, and the messages of ECN002."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from rocefort.models.device.lossless_queue import AiEcn, AiEcnQueue
from rocefort.validators.facts.ecn_grades import (
    Congestion,
    Grade,
    Thresholds,
    dynamic,
    dynamic_kmin_limit,
    grades,
    grown_bytes,
    single_egress,
    static_xoff_limit,
    strict,
    strict_kmin_limit,
)

Change = Callable[[Any], Any]
XOFF = 600_000  # of HEPS, with a KB of 1000 bytes


def test_dcqcn_static_figures() -> None:
    """SIGCOMM 2015: 32 ports of 40 Gb/s, 12 MB, 8 classes, 22.4 KB in flight: 24.475 KB."""
    limit = static_xoff_limit(12_000_000, 32, 8, 22_400)
    assert limit == 24_475
    assert strict_kmin_limit(24_475, 32) == Fraction(24_475, 32)  # 0.765 KB; they print 0.85


def test_dcqcn_dynamic_figures() -> None:
    """The same switch with beta 8: 21.756 KB."""
    assert round(float(dynamic_kmin_limit(12_000_000, 32, 8, 22_400, 8))) == 21_756


@pytest.mark.parametrize(("egresses", "limit"), [(32, 18_750), (48, 12_500)])
def test_heps_is_strict_only_with_a_small_kmin(egresses: int, limit: int) -> None:
    assert strict_kmin_limit(XOFF, egresses) == limit
    assert strict(Thresholds(limit - 1, 400_000, XOFF), egresses)
    assert not strict(Thresholds(limit, 400_000, XOFF), egresses)


def test_single_egress_needs_both_thresholds_below_xoff() -> None:
    assert single_egress(Thresholds(XOFF - 1, XOFF - 1, XOFF))
    assert not single_egress(Thresholds(XOFF - 1, XOFF, XOFF))
    assert not single_egress(Thresholds(XOFF, XOFF - 1, XOFF))


def test_dynamic_counts_what_arrives_in_one_loop() -> None:
    """8 senders of 100 Gb/s into 100 Gb/s: 700 Gb/s x 10 us are 875,000 bytes."""
    congestion = Congestion(8, 100, 100, Fraction(10))
    assert grown_bytes(congestion) == 875_000
    assert grown_bytes(Congestion(2, 25, 100, Fraction(10))) == 0
    kmin = 8 * XOFF - 875_000
    assert dynamic(Thresholds(kmin, kmin, XOFF), congestion)
    assert not dynamic(Thresholds(kmin + 1, kmin, XOFF), congestion)


def test_all_grades_that_hold() -> None:
    short, long = (Congestion(8, 100, 100, Fraction(t)) for t in (10, 1000))
    low, high, beyond = (Thresholds(k, 2 * k, XOFF) for k in (10_000, 200_000, 700_000))
    assert grades(low, 32, [short]) == (Grade.STRICT, Grade.SINGLE_EGRESS, Grade.DYNAMIC)
    assert grades(high, 32, [short]) == (Grade.SINGLE_EGRESS, Grade.DYNAMIC)
    assert grades(high, 32, [short, long]) == (Grade.SINGLE_EGRESS,)
    assert grades(beyond, 32, [short]) == (Grade.DYNAMIC,)
    assert grades(beyond, 32, [long]) == (Grade.NONE,)
    assert grades(beyond, 32, []) == (Grade.NONE,)  # nothing is known of no traffic


SPINES = [
    f"not judged spine0{n}: AI-ECN (ai_ecn_hpc) chooses Kmin and Kmax; marks can come first for any "
    "traffic only while Kmin is below 300 KB (xoff 600 KB over 2 lossless ports)"
    for n in (1, 2)
]
LEAF02 = (
    "not judged leaf02: AI-ECN (ai_ecn_hpc) chooses Kmin and Kmax; marks can come first for any "
    "traffic only while Kmin is below 200 KB (xoff 600 KB over 3 lossless ports)"
)


def _ai_ecn(small: Any, queue: int, model: str | None, *, enabled: bool = True) -> Any:
    rows = (AiEcnQueue(queue=queue, model=model),)
    return small.device("leaf01", ai_ecn=AiEcn(enabled=enabled, queues=rows))


def _each_port(small: Any, **update: Any) -> Any:
    for port in ("100GE1/0/1", "100GE1/0/31", "100GE1/0/32"):
        small = small.port("leaf01", port, **update)
    return small


ECN002: list[tuple[Change, list[str]]] = [
    (lambda s: s, [LEAF02.replace("02", "01"), LEAF02, *SPINES]),
    (lambda s: _ai_ecn(s, 3, "ai_ecn_hpc"), [LEAF02, *SPINES]),  # ECN001 reports it
    (lambda s: _ai_ecn(s, 4, "ai_ecn_hpc", enabled=False), [LEAF02, *SPINES]),
    (  # the smallest xoff of a switch counts
        lambda s: _ai_ecn(s, 4, None).row("leaf01", "100GE1/0/31", xoff_kbytes=500),
        [
            "not judged leaf01: AI-ECN (its default model) chooses Kmin and Kmax; marks can come "
            "first for any traffic only while Kmin is below 166.7 KB (xoff 500 KB over "
            "3 lossless ports)",
            LEAF02,
            *SPINES,
        ],
    ),
    (  # a threshold of another queue, or of a port without PFC, is none
        lambda s: s.row("leaf01", "100GE1/0/31", xoff_kbytes=500, queue=3).port(
            "leaf01", "100GE1/0/32", pfc=None
        ),
        [
            "not judged leaf01: AI-ECN (ai_ecn_hpc) chooses Kmin and Kmax; marks can come first for "
            "any traffic only while Kmin is below 300 KB (xoff 600 KB over 2 lossless ports)",
            LEAF02,
            *SPINES,
        ],
    ),
    (
        lambda s: _each_port(s, thresholds=()),
        ["not judged leaf01: AI-ECN (ai_ecn_hpc) chooses Kmin and Kmax", LEAF02, *SPINES],
    ),
    (
        lambda s: s.change(lossless=None).pausing(),
        [
            "not judged fabric: which queue is lossless is not known: most switches pause none; "
            "`display dcb pfc-profile` lists them"
        ],
    ),
]


@pytest.mark.parametrize(("change", "says"), ECN002)
def test_ecn002_marks_before_pauses(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("ECN002") == says
