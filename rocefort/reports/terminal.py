"""A Report as text for a terminal: what is wrong, where, how to mend it, what is not known."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocefort.models.finding import Report, Severity, Where
from rocefort.reports.wording import device_ports, file_lines, grouped, name_ranges

if TYPE_CHECKING:
    from rich.text import Text

WIDTH = 80
INDENT = "    "
MOST = 40  # places of one message that a terminal shows
STYLES = {
    "error": "bold red",
    "warning": "yellow",
    "info": "cyan",
    "waived": "dim",
    "not judged": "magenta",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output; style is a rich style, empty for plain."""

    text: str
    style: str = ""


def as_text(report: Report, titles: Mapping[str, str] | None = None, *, width: int = WIDTH) -> str:
    """The report as plain text in lines of at most `width` columns.

    Findings are grouped by rule and severity, and those that say the same by what they say, with
    all their places. titles: a rule's title by its id. A word longer than a line is not broken.
    """
    return "".join(f"{line.text}\n" for line in _lines(report, titles or {}, width))


def as_rich(report: Report, titles: Mapping[str, str] | None = None, *, width: int = WIDTH) -> Text:
    """The same text with colours, for a rich console."""
    from rich.text import Text  # noqa: PLC0415 - only a terminal needs it

    lines = _lines(report, titles or {}, width)
    return Text("\n").join(Text(line.text, style=line.style) for line in lines)


def _lines(report: Report, titles: Mapping[str, str], width: int) -> Iterator[Line]:
    for (rule, severity), findings in grouped(
        report.findings, lambda f: (f.rule, f.severity)
    ).items():
        yield from _heading(severity.value, rule, titles, width)
        for (message, hint), alike in grouped(findings, lambda f: (f.message, f.hint)).items():
            yield from _wrapped(message, width, INDENT)
            yield from _places([f.where for f in alike], width)
            if hint:
                yield from _wrapped(f"fix: {hint}", width, INDENT * 2, INDENT * 2 + "     ")
        yield Line("")
    yield from _waived(report, titles, width)
    for rule, entries in grouped(report.not_judged, lambda n: n.rule).items():
        yield from _heading("not judged", rule, titles, width)
        for reason, same in grouped(entries, lambda n: n.reason).items():
            yield from _wrapped(reason, width, INDENT)
            yield from _unjudged([n.where for n in same], width)
        yield Line("")
    yield from _summary(report, width)


def _waived(report: Report, titles: Mapping[str, str], width: int) -> Iterator[Line]:
    """What a waiver covers: still shown, with the reason and the day that it ends."""
    for rule, entries in grouped(report.waived, lambda w: w.finding.rule).items():
        yield from _heading("waived", rule, titles, width)
        alike = grouped(entries, lambda w: (w.finding.message, w.why, w.until))
        for (message, why, until), same in alike.items():
            yield from _wrapped(message, width, INDENT)
            yield from _places([w.finding.where for w in same], width)
            yield from _listed(f"until {until}: ", why, width)
        yield Line("")


def _heading(kind: str, rule: str, titles: Mapping[str, str], width: int) -> Iterator[Line]:
    title = f"  {titles[rule]}" if rule in titles else ""
    for line in _wrapped(f"{kind.upper()} {rule}{title}", width, "", INDENT):
        yield Line(line.text, STYLES[kind])


def _wrapped(text: str, width: int, first: str, rest: str | None = None) -> Iterator[Line]:
    for line in textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    ):
        yield Line(line)


def _places(wheres: Sequence[Where], width: int) -> Iterator[Line]:
    """All places of one message: devices with their ports, then lines by file."""
    sources = [f"{file}:{_some(list(map(str, at)))}" for file, at in file_lines(wheres).items()]
    yield from _named(wheres, width)
    if sources:
        yield from _listed("in: ", "; ".join(sources), width)


def _unjudged(wheres: Sequence[Where], width: int) -> Iterator[Line]:
    """Places of what was not judged: what is missing concerns whole switches, not ten files."""
    several = len(file_lines(wheres)) > 1
    yield from _named(wheres, width) if several else _places(wheres, width)


def _named(wheres: Sequence[Where], width: int) -> Iterator[Line]:
    if named := _some(list(name_ranges(device_ports(wheres)))):
        yield from _listed("at: ", named, width)


def _listed(prefix: str, text: str, width: int) -> Iterator[Line]:
    yield from _wrapped(prefix + text, width, INDENT * 2, INDENT * 2 + "    ")


def _some(words: list[str]) -> str:
    """All words, or the first of very many and how many more there are."""
    shown = ", ".join(words[:MOST])
    more = len(words) - MOST
    return f"{shown} and {more} more (all of them: --format json)" if more > 0 else shown


def _summary(report: Report, width: int) -> Iterator[Line]:
    counts = [(sum(f.severity is s for f in report.findings), s.value) for s in Severity]
    words = [f"{n} {word}{'s' if n != 1 and word != 'info' else ''}" for n, word in counts]
    if report.waived:
        words.append(f"{len(report.waived)} waived")
    text = (
        f"{report.network}: {len(report.rules)} rules, {', '.join(words)}, "
        f"{len(report.not_judged)} not judged{' -- failed' if report.failed else ''}"
    )
    style = STYLES["error"] if report.failed else "bold green"
    for line in _wrapped(text, width, ""):
        yield Line(line.text, style)
