"""Errors of a command on standard output, in the format that was requested for its result."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from rocefort.base import json_output
from rocefort.base.errors import ExitCode, Problem
from rocefort.base.internal_errors import masked

if TYPE_CHECKING:
    from rocefort.reports.problem_results import ProblemsOutput

FORMATS = frozenset({"json", "sarif", "junit", "markdown"})


def write_problems(problems: Sequence[Problem], code: ExitCode) -> None:
    """Write problems as data to standard output, if data was requested and none is written yet.

    Secrets are masked. A failed write is ignored: the text is on standard error.
    """
    if json_output.request.form not in FORMATS or json_output.request.written:
        return
    from rocefort.reports.problem_results import ProblemOutput, ProblemsOutput

    found = ProblemsOutput(
        exit_code=code,
        problems=tuple(
            ProblemOutput(
                file=masked(each.file),
                line=each.line,
                column=each.column,
                subject=masked(each.subject),
                what=masked(each.what),
                how=masked(each.how),
            )
            for each in problems
        ),
    )
    with suppress(OSError):
        click.echo(_text_of(found, json_output.request.form))


def write_usage_error(ended: SystemExit) -> None:
    """Write the error of a command line, which Typer has printed as text, as data."""
    error = ended.__context__
    message = getattr(error, "format_message", None)
    if message is not None:
        write_problems((Problem("", message().strip()),), ExitCode.BAD_INPUT)


def _text_of(found: ProblemsOutput, form: str) -> str:
    if form == "sarif":
        from rocefort.reports.formats.ci_reports import problems_sarif

        return problems_sarif(found).rstrip()
    if form == "junit":
        from rocefort.reports.formats.ci_reports import problems_junit

        return problems_junit(found).rstrip()
    if form == "markdown":
        from rocefort.reports.blocks import Items, Section
        from rocefort.reports.writers.markdown import markdown_of

        lines = tuple(str(Problem(**dict(each))) for each in found.problems)
        return markdown_of(Section("Rocefort: no result", (Items(lines),))).rstrip()
    return json_output.json_text(found)
