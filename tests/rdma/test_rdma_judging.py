"""Verdicts on runs by the fabric's expectations, on spreads of pairs, and on their history."""

from __future__ import annotations

import random
from datetime import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rocefort.models.fabric.rdma import Rdma, is_within
from rocefort.rdma.judge.measurement import (
    expectation,
    judged_measurement,
    measurement,
    not_measured,
    spreads,
    switch_latency,
    total,
)
from rocefort.rdma.judge.regression import regression
from rocefort.rdma.parse.outcome import MessageSizeRow, Outcome
from rocefort.rdma.parse.perftest import PerftestOutcome
from rocefort.rdma.rdma_plan import Program, RdmaRun, Round
from rocefort.rdma.results import Figures, Measurement, MeasurementVerdict

RDMA = Rdma(line_rate_fraction=0.92, latency_us=3.72, latency_tolerance=0.25)
LINE = "line rate of a"


def run(client: object = "a", server: object = "b", **more: object) -> RdmaRun:
    values: dict[str, object] = {
        "id": "001.01", "program": Program.WRITE_BW, "client": client, "server": server,
        "size_bytes": 65536, "switches": 3, "reach_gbps": 100, "reach_why": LINE,
    }  # fmt: skip
    return RdmaRun.model_validate(values | more)


def latency(**more: object) -> RdmaRun:
    values = {"program": Program.WRITE_LAT, "size_bytes": 2, "reach_gbps": None, "reach_why": ""}
    return run(**(values | more))


def gave(of: RdmaRun, value: float, rdma: Rdma = RDMA, note: str = "") -> Measurement:
    lat = of.program.measures_latency
    figures = Figures(latency_us=value) if lat else Figures(gbps=value)
    return judged_measurement(of, figures, expectation(of, rdma, note))


@pytest.mark.parametrize(
    ("of", "value", "verdict", "sentence"),
    [
        (run(), 92.1, "passed", "a -> b ib_write_bw: 92.10 Gb/s, at least 92.00 expected: line rate of a"),
        (run(), 91.9, "too-slow", "a -> b ib_write_bw: 91.90 Gb/s, at least 92.00 expected: line rate of a"),
        (run(reach_gbps=50), 46.0, "passed", "a -> b ib_write_bw: 46.00 Gb/s, at least 46.00 expected: line rate of a"),
        (run(reach_gbps=None, reach_why="TCP is the load here"), 1.0, "not-judged", "a -> b ib_write_bw: 1.00 Gb/s; not judged: TCP is the load here"),
        (run(every_s=1), 1.0, "not-judged", "a -> b ib_write_bw: 1.00 Gb/s; not judged: line rate of a"),
        (latency(), 4.65, "passed", "a -> b ib_write_lat: 4.65 us on average, at most 4.65 expected: across the spines"),
        (latency(), 4.66, "too-slow", "a -> b ib_write_lat: 4.66 us on average, at most 4.65 expected: across the spines"),
        (latency(switches=1), 2.0, "not-judged", "a -> b ib_write_lat: 2.00 us on average; not judged: rdma.same_leaf_latency_us is not given"),
        (latency(size_bytes=8192), 9.0, "not-judged", "a -> b ib_write_lat: 9.00 us on average; not judged: only small messages of perftest are judged, up to 64 bytes"),
    ],
)  # fmt: skip
def test_a_run_against_its_expectation(
    of: RdmaRun, value: float, verdict: str, sentence: str
) -> None:
    found = gave(of, value)
    assert (found.verdict.value, found.sentence, found.value) == (verdict, sentence, value)


def test_a_leaf_s_own_latency_is_judged_where_it_is_given() -> None:
    rdma = RDMA.model_copy(update={"same_leaf_latency_us": 2.0})
    assert gave(latency(switches=1), 2.5, rdma).verdict is MeasurementVerdict.PASSED
    assert gave(latency(switches=1), 2.6, rdma).verdict is MeasurementVerdict.TOO_SLOW


def test_a_note_says_why_speed_is_not_judged() -> None:
    found = gave(run(), 0.5, note="the servers are emulated")
    assert found.verdict is MeasurementVerdict.NOT_JUDGED
    assert found.sentence.endswith("0.50 Gb/s; not judged: the servers are emulated")


def test_rows_become_figures_and_failures_never_do() -> None:
    expected = expectation(run(), RDMA)
    row = MessageSizeRow(65536, Figures(gbps=93.0, mpps=0.177, iterations=100))
    good = measurement(run(), PerftestOutcome(Outcome.MEASURED, rows=(row,)), expected)
    assert good.figures == Figures(gbps=93.0, mpps=0.177, iterations=100)
    times = MessageSizeRow(2, Figures(latency_us=3.7, p99_us=4.0, p999_us=6.0, iterations=10_000))
    small = measurement(latency(), PerftestOutcome(Outcome.MEASURED, rows=(times,)), expected)
    assert small.figures is not None
    assert (small.figures.p99_us, small.figures.p999_us, small.value) == (4.0, 6.0, 3.7)
    bad = measurement(
        run(), PerftestOutcome(Outcome.ZERO_ITERATIONS, "client", "65536 0"), expected
    )
    assert (bad.figures, bad.value, bad.verdict) == (None, None, MeasurementVerdict.NOT_MEASURED)
    assert bad.outcome == "zero-iterations"
    assert "UDP 4791 is blocked" in bad.sentence


def test_spread_between_pairs_of_one_kind() -> None:
    rdma = RDMA.model_copy(update={"spread": 0.05})
    values = {"b": 93.0, "c": 92.5, "d": 85.0}
    measured = [gave(run("a", server), value) for server, value in values.items()]
    (found,) = spreads([*measured, gave(run("a", "e", reach_gbps=25), 23)], rdma)
    assert (found.ok, found.sentence) == (
        False,
        "3 pairs of ib_write_bw, 65536 bytes, across the spines, up to 100 Gb/s, differ by 8.6% of their median 92.50 Gb/s (a -> d 85.00, a -> b 93.00),"
        " at most 5% expected",
    )
    (told,) = spreads(measured, RDMA)
    assert told.ok is None
    assert not list(spreads(measured[:2], rdma))


def test_many_to_one_is_judged_by_the_sum() -> None:
    runs = tuple(run(name, "z", id=f"001.0{n}") for n, name in enumerate("abcd"))
    each = Round(number=1, runs=runs, note="4 to z", total_gbps=100)
    good = [gave(of, 23.2) for of in runs]
    found = total(each, good, RDMA)
    assert found is not None
    assert (found.ok, found.sentence) == (
        True,
        "4 to z: 92.80 Gb/s together, at least 92.00 expected",
    )
    exact = total(each, [gave(of, 23.0) for of in runs], RDMA)
    assert exact is not None
    assert exact.ok is True  # 92.00 of 92.00
    lost = total(each, [*good[:3], not_measured(runs[3], Outcome.TIMED_OUT)], RDMA)
    assert lost is not None
    assert lost.ok is None
    assert lost.sentence == "4 to z: 1 of 4 runs were not measured, so no sum is judged"


def test_the_latency_of_a_switch_by_subtraction() -> None:
    near = [gave(latency(switches=1, size_bytes=size), t) for size, t in ((2, 1.9), (4, 2.0))]
    far = [gave(latency(size_bytes=size), t) for size, t in ((2, 3.7), (2, 3.9), (8, 9.0))]
    ((size, switch_us, runs),) = switch_latency([*near, *far], propagation_us=0.5)
    assert (size, runs) == (2, 3)
    assert switch_us == pytest.approx(0.7)


# --- against the past -----------------------------------------------------------------------------

GOOD = (92.1, 92.0, 92.3, 91.9, 92.2, 92.0)


@pytest.mark.parametrize(
    ("good", "fresh", "slower", "sentence"),
    [
        (GOOD[:4], (80.0,), None, "not judged: 4 good runs, 5 are needed"),
        (GOOD, (), None, "not judged: nothing was measured"),
        (GOOD, (80.0,), True, "80.00, 13.1% slower than 92.05: a regression (81.3 scaled MADs on the slow side, more than 5 count; 1 fresh against 6 good runs)"),
        (GOOD, (91.0,), False, "91.00, 1.1% slower than 92.05: no regression (7.1 scaled MADs on the slow side, more than 5 count; 1 fresh against 6 good runs)"),
        (GOOD, (95.0,), False, "95.00, 3.2% faster than 92.05: no regression (-19.9 scaled MADs on the slow side, more than 5 count; 1 fresh against 6 good runs)"),
        ((92.0,) * 5, (85.0,), True, "85.00, 7.6% slower than 92.00: a regression (all good runs agree; 1 fresh against 5 good runs)"),
        ((*GOOD, 92.4, 91.8), (80.0, 81.0, 80.5), True, "80.50, 12.5% slower than 92.05: a regression (rank-sum test, exact, p = 0.0061; 3 fresh against 8 good runs)"),
    ],
)  # fmt: skip
def test_a_fresh_figure_against_good_runs(
    good: tuple[float, ...], fresh: tuple[float, ...], slower: bool | None, sentence: str
) -> None:
    found = regression(good, fresh, higher_is_better=True)
    assert (found.slower, found.sentence) == (slower, sentence)


def test_latency_grows_where_bandwidth_falls() -> None:
    times = (3.7, 3.72, 3.71, 3.73, 3.7)
    assert regression(times, (4.6,), higher_is_better=False).slower is True
    assert regression(times, (3.0,), higher_is_better=False).slower is False


def test_a_long_history_is_drawn_from_and_gives_the_same_verdict_again() -> None:
    chance = random.Random(1)
    good = [chance.gauss(92, 1) for _ in range(40)]
    slow = [chance.gauss(85, 1) for _ in range(6)]
    first = regression(good, slow, higher_is_better=True)
    assert first.slower is True
    assert "10000 draws" in first.sentence
    assert regression(good, slow, higher_is_better=True) == first


@pytest.mark.parametrize(
    ("noise", "good_runs", "most"),
    [(0.01, 5, 4), (0.03, 5, 40), (0.03, 8, 15), (0.03, 12, 5), (0.03, 20, 2)],
)
def test_how_often_noise_alone_is_called_a_regression(
    noise: float, good_runs: int, most: int
) -> None:
    """The rates for 1000 single values are those in the module's docstring."""
    chance = random.Random(4791)

    def draw() -> float:
        return 92 * (1 + chance.gauss(0, noise))

    alarms = [
        regression([draw() for _ in range(good_runs)], [draw()], higher_is_better=True).slower
        for _ in range(1000)
    ]
    assert alarms.count(True) <= most


@given(
    st.lists(st.floats(90, 94), min_size=5, max_size=9),
    st.lists(st.floats(90, 94), min_size=1, max_size=4),
)
def test_good_runs_are_never_a_regression_of_themselves(
    good: list[float], more: list[float]
) -> None:
    assert regression(good, good[:1], higher_is_better=True).slower is not True or (
        good[0] < 0.97 * sorted(good)[len(good) // 2]
    )
    usual = regression(good, [max(good)] * len(more), higher_is_better=True)
    assert usual.slower is False


# --- when -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "at", "within"),
    [
        ("22:00-05:30", "23:59", True),
        ("22:00-05:30", "05:29", True),
        ("22:00-05:30", "05:30", False),
        ("22:00-05:30", "12:00", False),
        ("09:00-17:00", "09:00", True),
        ("09:00-17:00", "17:00", False),
    ],
)
def test_time_window(window: str, at: str, within: bool) -> None:
    assert is_within(window, time.fromisoformat(at)) == within


@pytest.mark.parametrize(
    ("window", "said"),
    [
        ("22-5", "'22-5' is not a time window; write two times of day, as 22:00-05:30"),
        ("24:00-05:00", "'24:00-05:00' is not a time window"),
        ("05:00-05:00", "'05:00-05:00' begins when it ends; leave it out where any time will do"),
    ],
)
def test_what_is_no_window(window: str, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Rdma.model_validate(RDMA.model_dump() | {"window": window})
