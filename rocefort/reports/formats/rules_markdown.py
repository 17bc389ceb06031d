"""All rules as one page of Markdown: docs/reference/rules.md, kept equal by a test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from textwrap import fill

from rocefort.reports.formats.rule_text import RuleText

WIDTH = 96  # columns of the documentation
HEAD = """\
# Rules

`make golden` writes this page from the code in `validators/rules/`; each rule names its file.
`rocefort explain ID` prints one rule, `rocefort check --select PFC,BUF001` runs some. A waiver in
the fabric accepts the finding of a rule at one place until a date. A rule is *not judged* where
information that it needs is missing; it never passes then.

- `rocefort check` runs all rules that are not in this list.
- `rocefort health` runs LIV: the reported state of the switches.
- `rocefort host check` runs HST101 and later: the reported settings of the servers.
- `rocefort verify`, `review` and `expand` run CHG, and the rules of other families from 101 on: the
  answers of a routing engine, the effect of failures, and the effect of a change.
"""


def rule_page(
    rules: Sequence[RuleText],
) -> str:
    """The page: every id with its title, then every rule in full, in the order given."""
    table = [f"- [{rule.id}](#{rule.id.lower()}) {rule.title}" for rule in rules]
    sections = [
        part
        for (family, name), members in groupby(rules, lambda rule: (rule.id[:3], rule.family))
        for part in (f"## {family}: {name}", *map(_section, members))
    ]
    return "\n\n".join((HEAD.rstrip(), "## All rules", "\n".join(table), *sections)) + "\n"


def _section(rule: RuleText) -> str:
    words = (fill(text, WIDTH, break_on_hyphens=False) for text in rule.paragraphs)
    facts = "\n".join(_facts(rule))
    return "\n\n".join((f"### {rule.id}", f"**{rule.title}.**", *words, facts))


def _facts(rule: RuleText) -> Iterator[str]:
    yield f"- Severity: {rule.severity}"
    yield f"- Source: {rule.source}"
    yield f"- File: [{rule.file}](../../{rule.file})"
    yield f"- Needs: {', '.join(rule.needs) or 'the text alone'}"
