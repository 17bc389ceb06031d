"""Step of `rdma judge`: judge outputs that a person kept in files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rocefort.base.documents.read import read_text
from rocefort.base.errors import BadInput, Problem
from rocefort.rdma.judge.kept_output import KeptEnds, judge_output, program_of
from rocefort.rdma.rdma_plan import Program
from rocefort.rdma.results import Expectation, JudgedOutput, JudgedOutputs

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
