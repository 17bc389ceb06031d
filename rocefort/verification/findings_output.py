"""Write findings in every format."""

from __future__ import annotations

import click

from rocefort.base.json_output import write_json
from rocefort.models.finding import Report
from rocefort.reports.formats.json_report import findings_output
from rocefort.reports.formats.junit import as_junit
from rocefort.reports.formats.sarif import as_sarif
from rocefort.reports.output import write_blocks
from rocefort.reports.writers.markdown import markdown_of
from rocefort.validators.checks import titles
from rocefort.verification.findings import findings_comment, findings_report
from rocefort.verification.rule_texts import rule_texts


def write_findings(report: Report, form: str, subject: str) -> None:
    """Write a report to standard output in a format by name: text, json, sarif, junit, markdown.

    subject: the file named for a finding without a line.
    """
    if form == "text":
        write_blocks(*findings_report(report, titles()))
    elif form == "json":
        write_json(findings_output(report))
    else:
        click.echo(_for_programs(report, form, subject), nl=False)


def _for_programs(report: Report, form: str, subject: str) -> str:
    if form == "sarif":
        return as_sarif(report, rule_texts(), subject=subject)
    if form == "junit":
        return as_junit(report, rule_texts())
    return markdown_of(findings_comment(report, titles()), whole="All of them: `rocefort check`.")
