"""Convert the output of one run to one measurement, for every program."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocefort.fleet.ssh_exec import CommandResult
from rocefort.models.wording import line_notes
from rocefort.rdma.judge.expectations import measurement, not_measured, run_measurement
from rocefort.rdma.parse.bandwidth_series import read_series
from rocefort.rdma.parse.causes import cause_of, remarks
from rocefort.rdma.parse.fio import read_fio
from rocefort.rdma.parse.iperf import read_iperf
from rocefort.rdma.parse.mpi import MpiTable, outside_tables, read_imb, read_osu
from rocefort.rdma.parse.outcome import Outcome
from rocefort.rdma.parse.perftest import PerftestOutcome, judge, require_title
from rocefort.rdma.parse.result_row import TableError, split_report
from rocefort.rdma.parse.text_table import read_table, title_and_notes
from rocefort.rdma.plan.command_lines import mpi_largest
from rocefort.rdma.rdma_plan import Program, RdmaRun
from rocefort.rdma.results import Expectation, Figures, Measurement, Point

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
    return run_measurement(run, Figures(gbps=tcp.received_gbps), sentence)


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
    if run.program is Program.OSU:
        table = read_osu(client.stdout, mpi_largest(planned) if planned else None)
    else:
        tables = read_imb(client.stdout, from_one_byte=bool(planned))
        table = _of_all_ranks(tables, len(run.ranks))
    _ended_well(client)
    if planned and table.collective != planned:
        raise TableError(Outcome.OPTION_MISMATCH, f"{table.collective}, not {planned}")
    least, most = table.rows[0], table.rows[-1]
    sentence = (
        f"{table.collective} {least.average_us:.2f} us of {least.size_bytes} bytes, "
        f"{most.average_us:.2f} us of {most.size_bytes}"
    )
    figures = Figures(latency_us=least.average_us)
    return run_measurement(run, figures, sentence).model_copy(update={"sizes": table.rows})


def _of_all_ranks(tables: tuple[MpiTable, ...], ranks: int) -> MpiTable:
    """Return the one table of all processes; ranks: their number, 0 without a plan."""
    ranks = ranks or max(table.processes or 0 for table in tables)
    whole = [table for table in tables if table.processes == ranks]
    if len(whole) != 1:
        raise TableError(Outcome.MISSING_ROW, f"no one table of {ranks} processes")
    return whole[0]


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
