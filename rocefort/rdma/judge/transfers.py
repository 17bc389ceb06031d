"""Ratios of transfers, as LANL prints them: files, windows, round trips and duration.

A ratio is of the medians over repetitions. No rate is judged: the ratios of a run are compared with
those of a publication, or of another run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean, median

from rocefort.rdma.rdma_plan import Program
from rocefort.rdma.results import DerivedVerdict, Measurement, Point

# Subjects of verdicts, by which `paper` finds them.
MANY_FILES = "many files against one"
WINDOWS = "tuned window against that of the LAN"
FALL = "round trip at which throughput falls"
FALL_FROM = "that round trip against the one before"
OVER_TIME = "rate by duration"
TOOLS = "tools"
FALLEN = 0.5  # of the rate at the round trip before; assumed
DURATIONS_S = (1, 2, 5, 10, 20, 60)

Curve = Mapping[float, float]  # Gb/s by round trip, ms


def transfer_verdicts(measurements: Iterable[Measurement]) -> Iterator[DerivedVerdict]:
    """Yield the ratios of a run's transfers; none without transfers."""
    measured = [m for m in measurements if m.run.transfer is not None and m.value is not None]
    if not measured:
        return
    yield from _tools(measured)
    yield from _files(measured)
    yield from _windows(measured)
    yield from _over_time(measured)


def _verdict(subject: str, sentence: str, value: float) -> DerivedVerdict:
    return DerivedVerdict(subject=subject, ok=None, sentence=sentence, value=value)


def _median(measured: Iterable[Measurement]) -> float:
    return median(m.value or 0.0 for m in measured)


def _tools(measured: Sequence[Measurement]) -> Iterator[DerivedVerdict]:
    """Yield the rate of each tool with one file, beside that of memory (iperf)."""
    by_tool: dict[Program, list[Measurement]] = defaultdict(list)
    for each in measured:
        job = each.run.transfer
        if job and job.files < 2 and job.window_bytes is None:
            by_tool[each.run.program].append(each)
    memory = by_tool.pop(Program.IPERF, None)
    for program, own in by_tool.items():
        rate, beside = _median(own), ""
        if memory:
            beside = f", {rate / _median(memory):.2f} of iperf's {_median(memory):.3g}"
        sentence = f"{program}: one file at {rate:.3g} Gb/s{beside}"
        yield _verdict(f"{TOOLS}: {program}", sentence, rate)


def _files(measured: Sequence[Measurement]) -> Iterator[DerivedVerdict]:
    by_files: dict[Program, dict[int, list[Measurement]]] = defaultdict(dict)
    for each in measured:
        if each.run.transfer and each.run.transfer.files:
            of_program = by_files[each.run.program]
            of_program.setdefault(each.run.transfer.files, []).append(each)
    for program, groups in by_files.items():
        if 1 in groups and len(groups) > 1:
            many = max(groups)
            one_rate, many_rate = _median(groups[1]), _median(groups[many])
            ratio = many_rate / one_rate
            sentence = (
                f"{program}: {many} files at {many_rate:.3g} Gb/s, one of the same bytes at "
                f"{one_rate:.3g}: {ratio:.2f} x"
            )
            yield _verdict(f"{MANY_FILES}: {program}", sentence, ratio)


def _windows(measured: Sequence[Measurement]) -> Iterator[DerivedVerdict]:
    """Yield the effect of the window at the longest round trip, and the fall with the short one."""
    rates: dict[int, dict[float, list[Measurement]]] = defaultdict(dict)
    for each in measured:
        job = each.run.transfer
        if job and job.window_bytes is not None and job.round_trip_ms is not None:
            rates[job.window_bytes].setdefault(job.round_trip_ms, []).append(each)
    if len(rates) < 2:
        return
    short, long = min(rates), max(rates)
    curves: dict[int, Curve] = {
        window: {trip: _median(own) for trip, own in sorted(by_trip.items())}
        for window, by_trip in rates.items()
    }
    for window in (short, long):
        points = ", ".join(f"{rate:.3g} at {trip:g} ms" for trip, rate in curves[window].items())
        sentence = f"with a window of {window} bytes, Gb/s: {points}"
        yield DerivedVerdict(subject=f"window of {window} bytes", ok=None, sentence=sentence)
    both = curves[short].keys() & curves[long].keys()
    if both:
        trip = max(both)
        ratio = curves[long][trip] / curves[short][trip]
        sentence = f"at {trip:g} ms a window of {long} bytes gives {ratio:.2f} x that of {short}"
        yield _verdict(WINDOWS, sentence, ratio)
    yield from _fall(curves[short])


def _fall(curve: Curve) -> Iterator[DerivedVerdict]:
    """Yield the first round trip at which the rate is at most FALLEN of that before."""
    for (before, rate), (trip, lower) in pairwise(curve.items()):
        if lower <= FALLEN * rate:
            sentence = f"throughput falls at {trip:g} ms, from {rate:.3g} to {lower:.3g} Gb/s"
            yield _verdict(FALL, sentence, trip * 1000)
            ratio = trip / before
            yield _verdict(FALL_FROM, f"{trip:g} ms are {ratio:g} x the {before:g} before", ratio)
            return


def _over_time(measured: Sequence[Measurement]) -> Iterator[DerivedVerdict]:
    """Yield the rate of the first seconds of the transfer from memory, for several durations."""
    first = next((m for m in measured if len(m.series) > 1), None)
    if first is None:
        return
    for seconds in DURATIONS_S:
        if (rate := _mean_until(first.series, seconds)) is not None:
            sentence = f"{first.run.label}: {rate:.3g} Gb/s over the first {seconds} s"
            yield _verdict(f"{OVER_TIME}: {seconds} s", sentence, rate)


def _mean_until(series: Sequence[Point], seconds: int) -> float | None:
    """Mean of the intervals, all of one second, up to a time; None: the run was shorter."""
    within = [point.gbps for point in series if point.at_s <= seconds + 0.5]
    return fmean(within) if len(within) >= seconds else None
