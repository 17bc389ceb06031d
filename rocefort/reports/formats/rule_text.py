"""Documentation of rules for reports, and all rules as one page of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from textwrap import fill

from rocefort.models.base import Frozen
from rocefort.models.finding import Report, Severity, family_of
from rocefort.models.wording import count_of, listing
from rocefort.reports.blocks import Block, Note, Section, Table, TableColumn


class RuleText(Frozen):
    """Documentation of a rule.

    explanation: why it is required. example: a message of its findings. source: standard, paper or
    vendor document. file: its module in the repository. needs: facts without which it is not
    judged. commands: those that run it. selectable: `--select` and `--ignore` name it. waivable: a
    waiver in the fabric accepts a finding of it.
    """

    id: str
    title: str
    severity: Severity
    explanation: str = ""
    example: str = ""
    fix: str = ""
    source: str = ""
    file: str = ""
    family: str = ""
    needs: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    selectable: bool = False
    waivable: bool = False

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """Explanation, example and fix, each paragraph in one line."""
        sections = (("Example", self.example), ("Fix", self.fix))
        told = (f"{name}: {text}" for name, text in sections if text)
        return tuple(" ".join(t.split()) for t in (*self.explanation.split("\n\n"), *told) if t)


class RulesOutput(Frozen):
    """Rules with their documentation."""

    rules: tuple[RuleText, ...]


def rules_report(found: RulesOutput) -> Iterator[Block]:
    """Show one section a family, one row a rule."""
    for family, members in groupby(found.rules, lambda rule: family_of(rule.id)):
        rules = tuple(members)
        rows = tuple((rule.id, rule.severity.value, rule.title) for rule in rules)
        heads = (TableColumn(), TableColumn(), TableColumn(wraps=True))
        yield Section(f"{family}: {rules[0].family}", (Table(heads, rows),))
    yield Section("", (Note(f"{count_of(len(found.rules), 'rule')}; `rocefort explain ID`"),))


def explanations_report(found: RulesOutput) -> Iterator[Block]:
    """Show all words of each rule."""
    for rule in found.rules:
        yield Note(f"{rule.id} ({rule.severity.value}): {rule.title}")
        for paragraph in (*rule.paragraphs, *_facts(rule)):
            yield Section("", (Note(paragraph),))


def _facts(rule: RuleText) -> Iterator[str]:
    yield f"Source: {rule.source}"
    yield f"File: {rule.file}"
    yield f"Family: {family_of(rule.id)}, {rule.family}"
    yield f"Needs: {', '.join(rule.needs) or 'the text alone'}"
    yield f"Run by: {listing(f'`rocefort {name}`' for name in rule.commands)}"
    if rule.selectable:
        command = f"rocefort {rule.commands[0]}"
        yield f"Alone: `{command} --select {rule.id}`; without it: `{command} --ignore {rule.id}`"
    if rule.waivable:
        yield (
            "To accept a finding, write in fabric.yaml: "
            f"`waivers: [{{rule: {rule.id}, device: NAME, why: REASON, until: YYYY-MM-DD}}]`"
        )
    else:
        yield "A finding cannot be waived."


def rules_of(report: Report, rules: Sequence[RuleText]) -> tuple[RuleText, ...]:
    """Words of every rule that ran or spoke, in the report's order; its id where none are given."""
    known = {rule.id: rule for rule in rules}
    found = (*report.findings, *(w.finding for w in report.waived))
    spoke = (*(f.rule for f in found), *(n.rule for n in report.not_judged))
    ids = dict.fromkeys((*report.rules, *spoke))
    worst: dict[str, Severity] = {}
    order = list(Severity)
    for finding in found:
        before = worst.get(finding.rule, Severity.INFO)
        worst[finding.rule] = min(before, finding.severity, key=order.index)
    return tuple(
        known.get(name) or RuleText(id=name, title=name, severity=worst.get(name, Severity.INFO))
        for name in ids
    )


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
        for (family, name), members in groupby(
            rules, lambda rule: (family_of(rule.id), rule.family)
        )
        for part in (f"## {family}: {name}", *map(_section, members))
    ]
    return "\n\n".join((HEAD.rstrip(), "## All rules", "\n".join(table), *sections)) + "\n"


def _section(rule: RuleText) -> str:
    words = (fill(text, WIDTH, break_on_hyphens=False) for text in rule.paragraphs)
    facts = "\n".join(_fact_rows(rule))
    return "\n\n".join((f"### {rule.id}", f"**{rule.title}.**", *words, facts))


def _fact_rows(rule: RuleText) -> Iterator[str]:
    yield f"- Severity: {rule.severity}"
    yield f"- Source: {rule.source}"
    yield f"- File: [{rule.file}](../../{rule.file})"
    yield f"- Needs: {', '.join(rule.needs) or 'the text alone'}"
