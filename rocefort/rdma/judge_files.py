"""Step of `rdma judge`: judge outputs that a person kept in files, without their plan.

Standard error may be in the same text (`2>&1`), and the exit code may be lost. A text with a
complete result is then taken as that of a run that ended well, like a text that names no cause.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rocefort.base.documents.read import read_text
from rocefort.base.errors import BadInput, Problem
from rocefort.fleet.ssh_exec import TIMEOUT_EXIT, CommandResult
from rocefort.rdma.judge.measurement import lines_around, measurement, read_run
from rocefort.rdma.parse.causes import cause_of
from rocefort.rdma.parse.outcome import MessageSizeRow, TableError
from rocefort.rdma.parse.perftest import judge, judge_client
from rocefort.rdma.parse.perftest_tables import TITLE, notes_without_table
from rocefort.rdma.rdma_plan import Program, RdmaRun
from rocefort.rdma.results import Expectation, JudgedOutput, JudgedOutputs, SizeFigures

VERBS = {"RDMA_Write": "write", "RDMA_Read": "read", "Send": "send"}
PERFTEST = re.compile(r"\bib_(?:write|read|send)_(?:bw|lat)\b")
# Line that only the output of one program has; fio and iperf3 also print for people.
FORMS: Mapping[Program, re.Pattern[str]] = {
    Program.OSU: re.compile(r"^# OSU MPI ", re.MULTILINE),
    Program.IMB: re.compile(r"^#.*Intel\(R\) MPI Benchmarks|^# Benchmarking ", re.MULTILINE),
    Program.FIO: re.compile(r'"fio version"|^fio-\d', re.MULTILINE),
    Program.IPERF3: re.compile(r'"iperf |"iperf3 |^Connecting to host |^iperf3', re.MULTILINE),
    Program.IPERF: re.compile(
        r"^Client connecting to .* TCP port|^\[ *\d+\] .*bits/sec$", re.MULTILINE
    ),
    Program.LFTP: re.compile(r"^\d+ bytes transferred( in |$)", re.MULTILINE),
    Program.RSYNC: re.compile(r"^sent [\d,]+ bytes  received |^rsync: ", re.MULTILINE),
    Program.HPNSCP: re.compile(r"^OpenSSH_\S*hpn", re.MULTILINE),
    Program.SCP: re.compile(r"^(debug1: )?Transferred: sent |^scp: ", re.MULTILINE),
    Program.BBCP: re.compile(r" copied at effectively |^bbcp: ", re.MULTILINE),
    Program.WDT: re.compile(r"Total\s+sender\s+time\s+=|\bwdt>\s", re.MULTILINE),
}


@dataclass(frozen=True)
class KeptEnds:
    """Outputs of a run. stderr None: in the same text, or lost; exit_code None: lost."""

    name: str
    text: str
    stderr: str | None = None
    exit_code: int | None = None
    server: str | None = None


def program_of(text: str) -> Program | None:
    """Return the program that printed a text, by its title, its form, or its name."""
    title = next(filter(None, map(TITLE.fullmatch, text.splitlines())), None)
    if title:
        kind = "lat" if title["kind"] == "Latency" else "bw"
        return Program(f"ib_{VERBS[title['verb']]}_{kind}")
    form = next((program for program, form in FORMS.items() if form.search(text)), None)
    name = PERFTEST.search(text)
    return form or (Program(name[0]) if name else None)


def judge_output(program: Program, kept: KeptEnds, expected: Expectation) -> JudgedOutput:
    """Judge one output as `rdma run` judges it.

    Of a run over several sizes (`-a`), the rate of the largest counts, and the latency of the
    smallest.
    """
    run = RdmaRun(id=kept.name, program=program, client=kept.name)
    client = _result(program, kept)
    server = None
    if kept.server is not None:
        server = _result(program, KeptEnds(kept.name, kept.server))
    rows: tuple[MessageSizeRow, ...] = ()
    if program.is_perftest:
        judged = judge(program, client, server) if server else judge_client(program, client)
        rows = judged.rows
        one = rows[:1] if program.measures_latency else rows[-1:]
        made = measurement(run, replace(judged, rows=one), expected)
    else:
        made = read_run(run, client, server, expected)
    return JudgedOutput(
        file=kept.name,
        program=program,
        outcome=made.outcome,
        verdict=made.verdict,
        sentence=made.sentence,
        figures=made.figures,
        sizes=made.sizes,
        rows=tuple(SizeFigures(size_bytes=row.size_bytes, figures=row.figures) for row in rows),
        notes=made.notes,
    )


def _result(program: Program, kept: KeptEnds) -> CommandResult:
    """Return what a shell would have returned."""
    try:
        lines, whole = lines_around(program, kept.text), True
    except TableError:
        lines, whole = notes_without_table(kept.text), False
    stderr = "\n".join(lines) if kept.stderr is None else kept.stderr
    late = kept.exit_code == TIMEOUT_EXIT
    ended = CommandResult(kept.text, stderr, kept.exit_code, timed_out=late)
    if kept.exit_code is not None:
        return ended
    failed = replace(ended, exit_code=1)
    return failed if not whole and cause_of(failed) else replace(ended, exit_code=0)


STDIN = Path("-")


@dataclass(frozen=True)
class JudgeRequest:
    """Files of outputs, and what else is kept of a single one of them."""

    files: Sequence[Path]
    program: Program | None = None
    server: Path | None = None
    stderr: Path | None = None
    exit_code: int | None = None
    min_gbps: float | None = None
    max_latency_us: float | None = None


def judge_files(request: JudgeRequest) -> JudgedOutputs:
    """Judge every file; raises BadInput with all files that name no program."""
    _check_single(request)
    texts = [(str(file), _text(file)) for file in request.files]
    programs = [request.program or program_of(text) for _, text in texts]
    unknown = [name for (name, _), program in zip(texts, programs, strict=True) if program is None]
    if unknown:
        raise BadInput(problems=[_unknown(name) for name in unknown])
    server = None if request.server is None else _text(request.server)
    stderr = None if request.stderr is None else _text(request.stderr)
    return JudgedOutputs(
        outputs=tuple(
            _judge_kept(program, KeptEnds(name, text, stderr, request.exit_code, server), request)
            for (name, text), program in zip(texts, programs, strict=True)
            if program is not None
        )
    )


def _judge_kept(program: Program, kept: KeptEnds, request: JudgeRequest) -> JudgedOutput:
    latency = program.measures_latency
    bound = request.max_latency_us if latency else request.min_gbps
    option = "--max-latency" if latency else "--min-gbps"
    expected = Expectation(
        min_gbps=request.min_gbps,
        max_latency_us=request.max_latency_us,
        speed_judged=bound is not None,
        reason=option if bound is not None else f"{option} is not given",
    )
    return judge_output(program, kept, expected)


def _check_single(request: JudgeRequest) -> None:
    """Raise BadInput for options of one output where several are given."""
    if len(request.files) < 2:
        return
    of_one = {
        "--server": request.server,
        "--stderr": request.stderr,
        "--exit-code": request.exit_code,
    }
    problems = [
        Problem(option, "belongs to one output, and several are given", "judge that file alone")
        for option, value in of_one.items()
        if value is not None
    ]
    if problems:
        raise BadInput(problems=problems)


def _text(file: Path) -> str:
    if file != STDIN:
        return read_text(file)
    try:
        return sys.stdin.read()
    except UnicodeDecodeError:
        raise BadInput("not UTF-8", where="standard input", how="save it as UTF-8") from None


def _unknown(name: str) -> Problem:
    return Problem(
        "",
        "no output of a measuring program is recognized",
        "name its program with --program, such as ib_write_bw",
        file=name,
    )
