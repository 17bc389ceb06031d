"""All rules as one page of Markdown: docs/rules.md is written by it and kept equal by a test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from textwrap import fill

from rocefort.reports.formats.rule_text import RuleText

WIDTH = 96  # columns of the documentation
HEAD = """\
# Rules

Written from the code by `make golden`; the rules themselves are in `validators/`.
`rocefort explain ID` prints one, `rocefort check --select PFC,BUF001` runs some, and a waiver in
the fabric accepts what one finds at a place until a day. What a rule needs and a text alone does
not tell makes it *not judged* where it is missing, never passed. The rules LIV are those of
`rocefort health`: they judge what the switches say of themselves. HST101 and on are those of
`rocefort host check`: they judge what the servers say. CHG, and those of the other families from
101 on, are of `rocefort verify`, `review` and `expand`: they judge what a routing engine answers,
what failures cost, and what a change does.
"""


def rule_page(
    rules: Sequence[RuleText], families: Mapping[str, str], needs: Mapping[str, Sequence[str]]
) -> str:
    """The page: every id with its title, then every rule in full, in the order given.

    families: the name of each family by its three letters; needs: what a rule needs, by its id.
    """
    table = [f"- [{rule.id}](#{rule.id.lower()}) {rule.title}" for rule in rules]
    sections = [
        part
        for family, members in groupby(rules, lambda rule: rule.id[:3])
        for part in (
            f"## {family}: {families[family]}",
            *(_section(rule, needs[rule.id]) for rule in members),
        )
    ]
    return "\n\n".join((HEAD.rstrip(), "\n".join(table), *sections)) + "\n"


def _section(rule: RuleText, needs: Sequence[str]) -> str:
    words = (fill(text, WIDTH, break_on_hyphens=False) for text in rule.paragraphs)
    facts = "\n".join(_facts(rule, needs))
    return "\n\n".join((f"### {rule.id}", f"**{rule.title}.**", *words, facts))


def _facts(rule: RuleText, needs: Sequence[str]) -> Iterator[str]:
    yield f"- Severity: {rule.severity}"
    yield f"- Source: {rule.source}"
    yield f"- Needs: {', '.join(needs) or 'the text alone'}"
