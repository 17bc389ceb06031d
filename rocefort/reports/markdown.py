"""A Report as Markdown for a comment on a pull request: grouped, folded, and never too long."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rocefort.models.finding import Report, Severity, Where
from rocefort.models.wording import counted
from rocefort.reports.wording import (
    device_ports,
    file_lines,
    grouped,
    severity_counts,
    summary,
    verdict,
)

LIMIT = 60_000  # characters; a comment on GitHub holds 65,536
MOST = 40  # places of one message
CUT_RESERVE = 600  # for the sentence about the cut, and the tags that end a section
# What could be markup, a mention or the number of an issue, and what could begin a list.
ESCAPED = re.compile(r"[\\*_\[\]()!~|$^{}<>&@#`]|^[-+=]|(?<=\d)\.(?=\s)")
HEADINGS = {Severity.ERROR: "Errors", Severity.WARNING: "Warnings", Severity.INFO: "Info"}


@dataclass(frozen=True, slots=True)
class _Block:
    """What is shown whole or not at all; verdicts: how many findings it tells."""

    text: str
    verdicts: int = 0


@dataclass(frozen=True, slots=True)
class _Section:
    head: str
    blocks: tuple[_Block, ...]
    foot: str


def as_markdown(
    report: Report, titles: Mapping[str, str] | None = None, *, limit: int = LIMIT
) -> str:
    """The report in GitHub's Markdown, of at most `limit` characters (at least 2,000).

    Grouped as in the terminal: by rule and severity, then by sentence, with all places. Errors and
    warnings are open, the rest is folded. Where it would be too long, it says how much is left
    out. titles: a rule's title by its id. ValueError for a smaller limit.
    """
    if limit < 2000:
        raise ValueError(f"a limit of {limit} characters leaves no room; give 2000 or more")
    head = f"### Rocefort: {plain(report.network)}: {verdict(report)}\n\n{summary(report)}\n"
    return _fitted(head, tuple(_sections(report, titles or {})), limit)


def _sections(report: Report, titles: Mapping[str, str]) -> Iterator[_Section]:
    for severity, count in severity_counts(report).items():
        found = [f for f in report.findings if f.severity is severity]
        blocks = []
        for rule, same_rule in grouped(found, lambda f: f.rule).items():
            blocks.append(_heading(rule, titles))
            for (message, hint), alike in grouped(same_rule, lambda f: (f.message, f.hint)).items():
                fix = f"fix: {hint}" if hint else ""
                blocks.append(_entry(message, [f.where for f in alike], fix))
        if severity is Severity.INFO:
            yield from _folded(f"{count} info", blocks)
        elif blocks:
            yield _Section(f"\n#### {HEADINGS[severity]}\n", tuple(blocks), "")
    yield from _waived(report, titles)
    blocks = []
    for rule, entries in grouped(report.not_judged, lambda n: n.rule).items():
        blocks.append(_heading(rule, titles))
        for reason, same in grouped(entries, lambda n: n.reason).items():
            blocks.append(_entry(reason, [n.where for n in same]))
    yield from _folded(f"{len(report.not_judged)} not judged, which is no pass", blocks)


def _waived(report: Report, titles: Mapping[str, str]) -> Iterator[_Section]:
    """What a waiver covers, with the reason and the day that it ends."""
    blocks = []
    for rule, entries in grouped(report.waived, lambda w: w.finding.rule).items():
        blocks.append(_heading(rule, titles))
        alike = grouped(entries, lambda w: (w.finding.message, w.why, w.until))
        for (message, why, until), same in alike.items():
            wheres = [w.finding.where for w in same]
            blocks.append(_entry(message, wheres, f"until {until}: {why}"))
    yield from _folded(f"{len(report.waived)} waived", blocks)


def _folded(head: str, blocks: Sequence[_Block]) -> Iterator[_Section]:
    if blocks:
        opening = f"\n<details><summary>{head}</summary>\n"
        yield _Section(opening, tuple(blocks), "\n</details>\n")


def _heading(rule: str, titles: Mapping[str, str]) -> _Block:
    title = f" {plain(titles[rule])}" if rule in titles else ""
    return _Block(f"\n**{plain(rule)}**{title}\n\n")


def _entry(message: str, wheres: Sequence[Where], note: str = "") -> _Block:
    lines = [f"- {prose(message)}"]
    if named := device_ports(wheres):
        lines.append(f"  at: {plain(_some(named))}")
    sources = [f"{file}:{_some(map(str, lines))}" for file, lines in file_lines(wheres).items()]
    if sources:
        lines.append(f"  in: {plain('; '.join(sources))}")
    if note:
        lines.append(f"  {prose(note)}")
    return _Block("<br>\n".join(lines) + "\n", len(wheres))


def _some(words: Iterable[str]) -> str:
    listed = list(words)
    more = len(listed) - MOST
    return ", ".join(listed[:MOST]) + (f" and {more} more" if more > 0 else "")


def _fitted(head: str, sections: Sequence[_Section], limit: int) -> str:
    """The sections as far as they fit, each ended, and a sentence where something is left out."""
    text, left_out = head, 0
    for section in sections:
        body, full = "", left_out > 0
        for block in section.blocks:
            room = limit - CUT_RESERVE - len(text) - len(section.head) - len(section.foot)
            full = full or len(body) + len(block.text) > room
            body += "" if full else block.text
            left_out += block.verdicts if full else 0
        if body:
            text += section.head + body + section.foot
    if left_out:
        text += (
            f"\n**Cut here: {counted(left_out, 'verdict')} more would make this comment too "
            "long.** All of them: `rocefort check`.\n"
        )
    return text


def plain(text: str) -> str:
    """Text of one line without any markup."""
    return entities(" ".join(text.split()))


def fenced(lines: Sequence[str]) -> str:
    """Lines as they are, between fences that none of them can close."""
    fence = "```"
    while any(fence in line for line in lines):
        fence += "`"
    return "\n".join([fence, *lines, fence, ""])


def entities(text: str) -> str:
    """What GitHub would interpret, written as character references."""
    return ESCAPED.sub(lambda match: f"&#{ord(match[0])};", text)


def prose(text: str) -> str:
    """A sentence in which `commands` stay code: pairs of backquotes do, all else is plain."""
    parts = " ".join(text.split()).split("`")
    if len(parts) % 2 == 0:
        return entities("`".join(parts))
    return "".join(
        f"<code>{entities(part)}</code>" if number % 2 else entities(part)
        for number, part in enumerate(parts)
    )
