"""Measurement of one run from its output, judged by the expected bandwidth and latency."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import median

from rocefort.fleet.ssh_exec import CommandResult
from rocefort.models.fabric.rdma import Rdma
from rocefort.models.network.beamlines import ExpectedRate
from rocefort.models.wording import line_notes, listing
from rocefort.rdma.parse.benchmarks import (
    MpiTable,
    outside_tables,
    read_fio,
    read_imb,
    read_iperf,
    read_osu,
)
from rocefort.rdma.parse.causes import cause_of, remarks
from rocefort.rdma.parse.outcome import MEANING, MessageSizeRow, Outcome, TableError, split_report
from rocefort.rdma.parse.perftest import PerftestOutcome, judge, read_series, require_title
from rocefort.rdma.parse.perftest_tables import read_table, title_and_notes
from rocefort.rdma.parse.transfers import read_transfer, require_window
from rocefort.rdma.plan.command_lines import mpi_sizes
from rocefort.rdma.plan.site import DIRECT, FAR, NEAR, PLACES
from rocefort.rdma.rdma_plan import LARGE_BYTES, Program, RdmaRun, Round
from rocefort.rdma.results import (
    DerivedVerdict,
    Expectation,
    Figures,
    Measurement,
    MeasurementVerdict,
    Point,
)

SMALL_BYTES = 64  # largest message that an expected latency applies to
LEAST_PAIRS = 3  # for a spread
MOST_TOGETHER = 1.05  # of the shared capacity; the averages cover slightly different times
SWITCH_LATENCY = "switch latency"  # subject of verdicts on it


def expectation(run: RdmaRun, rdma: Rdma, note: str = "") -> Expectation:
    """Return the rate or latency that a run must reach.

    Rate, for large messages: a fraction of the rate that the fabric guarantees the run. Latency,
    for small messages only: by the number of switches in the path. note: the reason if speed is
    not judged on these servers.
    """
    if run.program.measures_latency:
        most, why = _latency(run, rdma)
        bound = None if most is None else most * (1 + rdma.latency_tolerance)
        reason = note or why
        return Expectation(
            min_gbps=None,
            max_latency_us=bound,
            speed_judged=not note and bound is not None,
            reason=reason,
        )
    least = None if run.reach_gbps is None else run.reach_gbps * rdma.line_rate_fraction
    why = f"messages under {LARGE_BYTES} bytes fill no port" if run.is_small else run.reach_why
    return Expectation(
        min_gbps=least,
        max_latency_us=None,
        speed_judged=not note and least is not None and run.every_s is None and not run.is_small,
        reason=note or why or "no expected speed is known",
    )


def _latency(run: RdmaRun, rdma: Rdma) -> tuple[float | None, str]:
    if not run.program.is_perftest or (run.size_bytes or 0) > SMALL_BYTES:
        return None, f"only small messages of perftest are judged, up to {SMALL_BYTES} bytes"
    if run.switches in (FAR, DIRECT):
        return rdma.latency_us, PLACES[run.switches]
    if run.switches == NEAR and rdma.same_leaf_latency_us is not None:
        return rdma.same_leaf_latency_us, PLACES[NEAR]
    return None, "rdma.same_leaf_latency_us is not given"


def measurement(run: RdmaRun, judgement: PerftestOutcome, expected: Expectation) -> Measurement:
    """Return the measurement of one perftest run, with verdict and sentence."""
    if judgement.outcome is not Outcome.MEASURED or not judgement.rows:
        return not_measured(run, judgement.outcome, judgement.sentence)
    if other := _another_run(run, judgement.rows):
        sentence = f"{Outcome.OPTION_MISMATCH}: {MEANING[Outcome.OPTION_MISMATCH]} ({other})"
        return not_measured(run, Outcome.OPTION_MISMATCH, sentence)
    judged = judged_measurement(run, judgement.rows[-1].figures, expected)
    return judged.model_copy(update={"notes": judgement.notes})


def _another_run(run: RdmaRun, rows: Sequence[MessageSizeRow]) -> str:
    """Describe sizes or message counts that differ from the requested ones; empty: none differ."""
    sizes = [row.size_bytes for row in rows]
    if run.size_bytes is not None and sizes != [run.size_bytes]:
        return f"{', '.join(map(str, sizes))} bytes, {run.size_bytes} asked for"
    counts = [row.figures.iterations for row in rows]
    # A bandwidth test prints the messages of all QPs together.
    planned = None if run.iterations is None else run.iterations * run.qps
    if planned is not None and counts != [planned] * len(rows):
        return f"{', '.join(map(str, counts))} messages, {planned} asked for"
    return ""


def not_measured(run: RdmaRun, outcome: Outcome, sentence: str = "") -> Measurement:
    """Return the measurement of a run without figures; its sentence names the cause."""
    return Measurement(
        run=run,
        outcome=outcome.value,
        sentence=f"{run.pair} {run.program}: {sentence or MEANING[outcome]}",
        verdict=MeasurementVerdict.NOT_MEASURED,
    )


def judged_measurement(run: RdmaRun, figures: Figures, expected: Expectation) -> Measurement:
    """Return the measurement of a run, its figures compared with the expected ones."""
    rate = not run.program.measures_latency
    value = (figures.gbps if rate else figures.latency_us) or 0.0
    unit = f"{value:.2f} Gb/s" if rate else f"{value:.2f} us on average"
    bound = expected.min_gbps if rate else expected.max_latency_us
    if not expected.speed_judged or bound is None:
        verdict, sentence = MeasurementVerdict.NOT_JUDGED, f"{unit}; not judged: {expected.reason}"
    else:
        holds = value >= bound if rate else value <= bound
        verdict = MeasurementVerdict.PASSED if holds else MeasurementVerdict.TOO_SLOW
        word = "at least" if rate else "at most"
        sentence = f"{unit}, {word} {bound:.2f} expected: {expected.reason}"
    return run_measurement(run, figures, sentence, verdict)


def run_measurement(
    run: RdmaRun,
    figures: Figures,
    sentence: str,
    verdict: MeasurementVerdict = MeasurementVerdict.NOT_JUDGED,
) -> Measurement:
    """Return a measurement with these figures and this sentence."""
    return Measurement(
        run=run,
        outcome=Outcome.MEASURED.value,
        sentence=f"{run.pair} {run.program}: {sentence}",
        figures=figures,
        verdict=verdict,
    )


# --- over several runs ----------------------------------------------------------------------------


def spreads(measurements: Iterable[Measurement], rdma: Rdma) -> Iterator[DerivedVerdict]:
    """Yield the spread of pairs of one kind: fastest minus slowest, as a fraction of the median.

    Pairs are of one kind if program, size, path (within a leaf or across) and guaranteed rate are
    equal.
    """
    kinds: dict[tuple[object, ...], list[Measurement]] = defaultdict(list)
    for each in measurements:
        if each.value is not None and len(each.run.servers) == 2:
            run = each.run
            kinds[run.program, run.size_bytes, run.switches, run.reach_gbps].append(each)
    for alike in kinds.values():
        if len({each.run.pair for each in alike}) >= LEAST_PAIRS:
            yield _spread(alike, rdma.spread)


def _spread(alike: Sequence[Measurement], most: float | None) -> DerivedVerdict:
    repeated: dict[str, list[float]] = defaultdict(list)
    for each in alike:
        repeated[each.run.pair].append(each.value or 0.0)
    values = {pair: median(numbers) for pair, numbers in repeated.items()}
    low, high = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    middle = median(values.values())
    fraction = (values[high] - values[low]) / middle
    run = alike[0].run
    unit = "us" if run.program.measures_latency else "Gb/s"
    bound = "no bound is given" if most is None else f"at most {most:.0%} expected"
    span = f"{low} {values[low]:.2f}, {high} {values[high]:.2f}" if fraction else "all alike"
    return DerivedVerdict(
        subject=_sized(run),
        ok=None if most is None else fraction <= most,
        sentence=f"{len(values)} pairs of {_kind(run)} differ by {fraction:.1%} of their median "
        f"{middle:.2f} {unit} ({span}), {bound}",
    )


def _kind(run: RdmaRun) -> str:
    """Describe a kind of pairs: `ib_write_bw, 65536 bytes, across the spines, up to 50 Gb/s`."""
    path = "" if run.switches is None else f", {PLACES[run.switches]}"
    reach = "" if run.reach_gbps is None else f", up to {run.reach_gbps:.4g} Gb/s"
    return f"{_sized(run)}{path}{reach},"


def _sized(run: RdmaRun) -> str:
    return run.program + ("" if run.size_bytes is None else f", {run.size_bytes} bytes")


def total(each: Round, measurements: Iterable[Measurement], rdma: Rdma) -> DerivedVerdict | None:
    """Compare the sum of runs that share a port with its capacity; None: they share no port."""
    if each.total_gbps is None:
        return None
    ids = {run.id for run in each.runs}
    mine = [m for m in measurements if m.run.id in ids]
    values = [m.value for m in mine if m.value is not None]
    if len(values) < len(ids):
        lacking = len(ids) - len(values)
        sentence = (
            f"{each.note}: {lacking} of {len(ids)} runs were not measured, so no sum is judged"
        )
        return DerivedVerdict(subject=each.note, ok=None, sentence=sentence)
    sum_gbps, least = sum(values), each.total_gbps * rdma.line_rate_fraction
    if sum_gbps > MOST_TOGETHER * each.total_gbps:
        sentence = (
            f"{each.note}: {sum_gbps:.2f} Gb/s together is more than the {each.total_gbps:g} Gb/s "
            "that they share: they did not all send at the same time, so no sum is judged"
        )
        return DerivedVerdict(subject=each.note, ok=None, sentence=sentence)
    sentence = f"{each.note}: {sum_gbps:.2f} Gb/s together, at least {least:.2f} expected"
    return DerivedVerdict(subject=each.note, ok=sum_gbps >= least, sentence=sentence)


def beamline_rates(
    rounds: Sequence[Round], measurements: Iterable[Measurement], note: str = ""
) -> Iterator[DerivedVerdict]:
    """Compare what came through from each beamline with its expected rate.

    The sentence is of the worst round that lacks some of it, or else of the round with most of it.
    note: the reason if speed is not judged on these servers.
    """
    by_run = {each.run.id: each for each in measurements}
    same: dict[ExpectedRate, list[Round]] = defaultdict(list)
    for each in rounds:
        if each.expected is not None:
            same[each.expected].append(each)
    for rate, group in same.items():
        title = _rate_title(rate)
        sums = [(_together(each, by_run), each) for each in group]
        known = [(value, each) for value, each in sums if value is not None]
        if not known:
            sentence = f"{title}: not measured, so its rate is not judged"
            yield DerivedVerdict(subject=title, ok=None, sentence=sentence)
            continue
        parts = [(value, each.expected_gbps or 0.0, each) for value, each in known]
        most = max(part for _, part, _ in parts)
        slow = [one for one in parts if one[0] < one[1]]
        shown = slow or [one for one in parts if one[1] == most]
        value, _, each = min(shown, key=lambda one: one[0] / one[1])
        yield _beamline_verdict(title, rate, each, value, note or _no_evidence(rate, each))


def rate_titles(rounds: Iterable[Round]) -> set[str]:
    """Return the subjects of the verdicts on expected rates of beamlines."""
    return {_rate_title(each.expected) for each in rounds if each.expected is not None}


def _rate_title(rate: ExpectedRate) -> str:
    return f"{rate.beamline} to {listing(rate.to)}"


def _together(each: Round, by_run: Mapping[str, Measurement]) -> float | None:
    """Sum of all runs of a round, Gb/s; None: one lacks, or they did not send at one time."""
    values = [by_run[run.id].value if run.id in by_run else None for run in each.runs]
    known = [value for value in values if value is not None]
    most = MOST_TOGETHER * each.total_gbps if each.total_gbps is not None else math.inf
    return sum(known) if len(known) == len(values) and sum(known) <= most else None


def _no_evidence(rate: ExpectedRate, each: Round) -> str:
    """Return why a round shows nothing about a rate; empty: it does."""
    limits = [run.limit_gbps for run in each.runs if run.limit_gbps is not None]
    if len(limits) == len(each.runs) and sum(limits) < (each.expected_gbps or 0):
        return f"the senders are limited to {sum(limits):g} Gb/s together"
    measured_s = min(run.least_s for run in each.runs) / 2  # perftest's margin at both ends
    if rate.burst_ms is not None and measured_s * 1000 < rate.burst_ms:
        return f"a burst lasts {rate.burst_ms / 1000:g} s, and {measured_s:g} s are measured"
    return ""


def _beamline_verdict(
    title: str, rate: ExpectedRate, each: Round, value: float, why_not: str
) -> DerivedVerdict:
    least = each.expected_gbps or 0.0
    part = f", of {rate.gbps:.2f} in all" if least < rate.gbps else ""
    bursts = ""
    if rate.burst_ms is not None:
        bursts = f" in bursts of {rate.burst_ms:g} ms, {rate.average_gbps:.2f} on average"
    sentence = f"{title}: {value:.2f} Gb/s in round {each.number} ({each.note}), at least"
    sentence += f" {least:.2f} expected{part}: its detectors at peak{bursts}"
    if why_not:
        return DerivedVerdict(subject=title, ok=None, sentence=f"{sentence}; not judged: {why_not}")
    return DerivedVerdict(subject=title, ok=value >= least, sentence=sentence, value=value)


def switch_latency(
    measurements: Iterable[Measurement], propagation_us: float = 0.0
) -> tuple[tuple[int, float, int], ...]:
    """Latency of one switch by subtraction (REDIGO's method): size, us, number of runs used.

    Latency across the spines minus latency within a leaf is that of two switches and the fabric
    cables between them. The propagation delay of these cables is subtracted. Each switch stores or
    cuts through a frame, so large messages add their serialisation: use the smallest sizes.
    """
    near: dict[int, list[float]] = defaultdict(list)
    far: dict[int, list[float]] = defaultdict(list)
    for each in measurements:
        size, value = each.run.size_bytes, each.value
        if not each.run.program.measures_latency or size is None or value is None:
            continue
        if each.run.switches in (NEAR, FAR):
            (near if each.run.switches == NEAR else far)[size].append(value)
    return tuple(
        (size, (median(far[size]) - median(near[size]) - propagation_us) / (FAR - NEAR), count)
        for size in sorted(near.keys() & far.keys())
        if (count := len(near[size]) + len(far[size]))
    )


NO_COMMAND = 127
# Exit codes of a run with `--run_infinitely`: normal end, `timeout`, SIGKILL and SIGTERM.
ENDED = (0, 124, 137, 143)
LEAST_OF_SERIES = 0.5  # fraction of a run's duration; its start and its end take seconds


def read_run(
    run: RdmaRun,
    client: CommandResult,
    server: CommandResult | None,
    expected: Expectation,
) -> Measurement:
    """Judge the outputs of both ends; figures only if neither end shows a fault.

    server: None if the program has no server, or if the server was ended because its client had
    failed.
    """
    if run.every_s is not None:
        return _over_time(run, client, server)
    if run.program.is_perftest:
        return measurement(run, judge(run.program, client, server), expected)
    try:
        if run.program.moves_data:
            return _transfer(run, client, server)
        result = READERS[run.program](run, client)
        lines = (*remarks(client.stderr), *lines_around(run.program, client.stdout))
        return result.model_copy(update={"notes": line_notes(lines)})
    except TableError as flaw:
        return _failed_measurement(run, _how_it_ended(client) or (flaw.outcome, flaw.line))


def lines_around(program: Program, text: str) -> tuple[str, ...]:
    """Return the lines outside the report or the tables of a program.

    Raises TableError without a complete one.
    """
    if program.is_perftest:
        return read_table(text).notes
    if program in (Program.OSU, Program.IMB):
        return outside_tables(text)
    if program.moves_data:
        read_transfer(program, text)
        return ()
    return split_report(text)[1]


def _failed_measurement(run: RdmaRun, failure: tuple[Outcome, str]) -> Measurement:
    sentence = PerftestOutcome(failure[0], "client", failure[1]).sentence
    if not run.program.is_perftest:
        sentence = sentence.replace("perftest", run.program.value)  # texts of `MEANING` contain it
    return not_measured(run, failure[0], sentence)


def _how_it_ended(result: CommandResult) -> tuple[Outcome, str] | None:
    """Return the failure shown by stderr and exit code, which precedes that of the report."""
    if cause := cause_of(result):
        return cause
    if result.timed_out:
        return Outcome.TIMED_OUT, ""
    if result.exit_code is None:
        return Outcome.KILLED, ""
    if result.exit_code == NO_COMMAND:
        return Outcome.NO_PROGRAM, result.stderr.strip()[:100]
    return None


def _ended_well(client: CommandResult) -> None:
    """Raise TableError if the program failed, even if its report is good."""
    if failure := _how_it_ended(client):
        raise TableError(*failure)
    if client.exit_code:
        raise TableError(Outcome.EXIT_CODE, f"exit code {client.exit_code}")


def _iperf3(run: RdmaRun, client: CommandResult) -> Measurement:
    tcp = read_iperf(client.stdout)
    _ended_well(client)
    resent = "" if tcp.retransmits is None else f", {tcp.retransmits} segments resent"
    sentence = f"{tcp.received_gbps:.2f} Gb/s of TCP over {tcp.streams} streams{resent}"
    figures = Figures(
        gbps=tcp.received_gbps,
        cpu_percent=tcp.cpu_percent,
        server_cpu_percent=tcp.server_cpu_percent,
    )
    return run_measurement(run, figures, sentence)


def _fio(run: RdmaRun, client: CommandResult) -> Measurement:
    jobs = read_fio(client.stdout)
    _ended_well(client)
    operations = sum(job.iops for job in jobs)
    figures = Figures(
        gbps=sum(job.gbps for job in jobs),
        iops=operations,
        latency_us=sum(job.mean_us * job.iops for job in jobs) / operations,
        p99_us=max((job.p99_us for job in jobs if job.p99_us is not None), default=None),
        p999_us=max((job.p999_us for job in jobs if job.p999_us is not None), default=None),
    )
    sentence = f"{figures.iops:.0f} operations a second, {figures.latency_us:.2f} us on average"
    return run_measurement(run, figures, sentence)


def _mpi(run: RdmaRun, client: CommandResult) -> Measurement:
    planned = run.collective  # empty: an output without a plan
    sizes = mpi_sizes(run) if planned else ()
    if run.program is Program.OSU:
        table = read_osu(client.stdout, sizes)
    else:
        tables = read_imb(client.stdout, sizes)
        table = _of_all_ranks(tables, len(run.ranks) * run.processes_per_server)
    _ended_well(client)
    if planned and table.collective != planned:
        raise TableError(Outcome.OPTION_MISMATCH, f"{table.collective}, not {planned}")
    rows = tuple(row for row in table.rows if row.size_bytes or not run.sizes)  # IMB adds 0 bytes
    least, most = rows[0], rows[-1]
    sentence = (
        f"{table.collective} {least.average_us:.2f} us of {least.size_bytes} bytes, "
        f"{most.average_us:.2f} us of {most.size_bytes}"
    )
    figures = Figures(latency_us=least.average_us)
    return run_measurement(run, figures, sentence).model_copy(update={"sizes": rows})


def _of_all_ranks(tables: tuple[MpiTable, ...], ranks: int) -> MpiTable:
    """Return the one table of all processes; ranks: their number, 0 without a plan."""
    ranks = ranks or max(table.processes or 0 for table in tables)
    whole = [table for table in tables if table.processes == ranks]
    if len(whole) != 1:
        raise TableError(Outcome.MISSING_ROW, f"no one table of {ranks} processes")
    return whole[0]


def _transfer(run: RdmaRun, client: CommandResult, server: CommandResult | None) -> Measurement:
    done = read_transfer(run.program, f"{client.stdout}\n{client.stderr}")
    _ended_well(client)
    require_window(server.stdout if server else "", "the server has")
    own = f"recorded: Rocefort does not run {run.program}" if run.program.is_only_read else ""
    text = "; ".join(filter(None, (done.text, run.detail, done.note, own)))
    result = run_measurement(run, Figures(gbps=done.gbps), text)
    return result.model_copy(update={"series": done.series})


def _over_time(run: RdmaRun, client: CommandResult, server: CommandResult | None) -> Measurement:
    """Judge a run with `--run_infinitely`: it ends by its deadline, which is no failure."""
    for end in (client, server):
        cause = cause_of(end) if end is not None else None
        if cause and cause[0] not in (Outcome.KILLED, Outcome.PEER_LOST):
            return _failed_measurement(run, cause)
    if client.exit_code not in (None, *ENDED):
        return _failed_measurement(run, (Outcome.EXIT_CODE, f"exit code {client.exit_code}"))
    try:
        title, lines = title_and_notes(client.stdout)
        require_title(run.program, title)
        notes = line_notes((*remarks(client.stderr), *lines))
        series = read_series(client.stdout, run.every_s or 1)
        _is_whole(run, series)
    except TableError as flaw:
        return _failed_measurement(run, (flaw.outcome, flaw.line))
    mean = sum(point.gbps for point in series) / len(series)
    result = run_measurement(run, Figures(gbps=mean), f"{mean:.2f} Gb/s over {len(series)} rows")
    return result.model_copy(update={"series": series, "notes": notes})


def _is_whole(run: RdmaRun, series: Sequence[Point]) -> None:
    """Raise TableError if the rows cover too little of the run, or hold only zeros."""
    last_s = series[-1].at_s
    if run.duration_s is not None and last_s < LEAST_OF_SERIES * run.duration_s:
        raise TableError(Outcome.MISSING_ROW, f"rows of {last_s:g} s, of {run.duration_s} s")
    if not any(point.gbps for point in series):
        raise TableError(Outcome.ZERO_BANDWIDTH, f"{len(series)} rows of zeros")


READERS: dict[Program, Callable[[RdmaRun, CommandResult], Measurement]] = {
    Program.IPERF3: _iperf3,
    Program.FIO: _fio,
    Program.OSU: _mpi,
    Program.IMB: _mpi,
}
