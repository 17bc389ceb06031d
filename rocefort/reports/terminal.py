"""A Report as text for a terminal: what is wrong, where, how to mend it, what is not known."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import click

from rocefort.models.finding import Finding, Report, Where
from rocefort.reports.wording import device_ports, file_lines, grouped, name_ranges, summary

WIDTH = 80
INDENT = "    "
BULLET = "  - "
MOST = 40  # places of one message that a terminal shows
SEVERAL = 3  # rules that stand in one heading, without their titles


@dataclass(frozen=True, slots=True)
class Style:
    """How a line looks on a terminal that shows colours, in the words of `click.style`."""

    fg: str | None = None
    bold: bool | None = None
    dim: bool | None = None


PLAIN = Style()
FAILED, PASSED = Style("red", bold=True), Style("green", bold=True)
STYLES = {
    "error": FAILED,
    "warning": Style("yellow"),
    "info": Style("cyan"),
    "waived": Style(dim=True),
    "not judged": Style("magenta"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output."""

    text: str
    style: Style = PLAIN

    @property
    def coloured(self) -> str:
        """The line between the terminal's codes for its style."""
        if self.style == PLAIN:
            return self.text
        return click.style(self.text, **asdict(self.style))


def as_text(
    report: Report,
    titles: Mapping[str, str] | None = None,
    *,
    width: int = WIDTH,
    colour: bool = False,
) -> str:
    """The report as text in lines of at most `width` columns, plain or in a terminal's colours.

    Findings are grouped by rule and severity, and those that say the same by what they say, with
    all their places. titles: a rule's title by its id. A word longer than a line is not broken.
    """
    lines = _lines(report, titles or {}, width)
    return "".join(f"{line.coloured if colour else line.text}\n" for line in lines)


def _lines(report: Report, titles: Mapping[str, str], width: int) -> Iterator[Line]:
    for (rule, severity), findings in grouped(
        report.findings, lambda f: (f.rule, f.severity)
    ).items():
        yield from _heading(severity.value, rule, titles, width)
        for (wheres, hint), messages in _told_together(findings).items():
            first = INDENT if len(messages) == 1 else BULLET
            for message in messages:
                yield from _wrapped(message, width, first, INDENT)
            yield from _places(wheres, width)
            if hint:
                yield from _wrapped(f"fix: {hint}", width, INDENT * 2, INDENT * 2 + "     ")
        yield Line("")
    yield from _waived(report, titles, width)
    for rules, told in _unjudged_alike(report).items():
        yield from _heading("not judged", ", ".join(rules), titles, width)
        for reason, wheres in told:
            yield from _wrapped(reason, width, INDENT)
            yield from _unjudged(wheres, width)
        yield Line("")
    yield from _summary(report, width)


def _told_together(findings: Sequence[Finding]) -> dict[tuple[tuple[Where, ...], str], list[str]]:
    """Messages by the places and the remedy that they share: those are said once."""
    together: dict[tuple[tuple[Where, ...], str], list[str]] = {}
    for (message, hint), alike in grouped(findings, lambda f: (f.message, f.hint)).items():
        together.setdefault((tuple(f.where for f in alike), hint), []).append(message)
    return together


_Untold = tuple[str, tuple[Where, ...]]  # the reason, and all its places


def _unjudged_alike(report: Report) -> dict[tuple[str, ...], dict[_Untold, None]]:
    """Reasons with their places by the rules that give them: a silent server is told once."""
    told = {
        key: (key[1], tuple(n.where for n in same))
        for key, same in grouped(report.not_judged, lambda n: (n.rule, n.reason)).items()
    }
    alike = grouped(told, lambda key: told[key])
    blocks: dict[tuple[str, ...], dict[_Untold, None]] = {}
    for (rule, _), one in told.items():
        rules = tuple(name for name, _ in alike[one])
        blocks.setdefault(rules if len(rules) >= SEVERAL else (rule,), {})[one] = None
    return blocks


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
    text = f"{report.network}: {summary(report)}{' -- failed' if report.failed else ''}"
    style = FAILED if report.failed else PASSED
    for line in _wrapped(text, width, ""):
        yield Line(line.text, style)
