"""A Report as text for a terminal: what is wrong, where, how to mend it, what is not known."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from rocefort.models.finding import Finding, NotJudged, Report, Severity, Where
from rocefort.reports.wording import port_ranges

if TYPE_CHECKING:
    from rich.text import Text

WIDTH = 80
INDENT = "    "
MOST = 40  # places of one message that a terminal shows
STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan", "not judged": "magenta"}

K = TypeVar("K", bound=Hashable)
V = TypeVar("V", Finding, NotJudged)


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
    for (rule, severity), findings in _grouped(
        report.findings, lambda f: (f.rule, f.severity)
    ).items():
        yield from _heading(severity.value, rule, titles, width)
        for (message, hint), alike in _grouped(findings, lambda f: (f.message, f.hint)).items():
            yield from _wrapped(message, width, INDENT)
            yield from _places((f.where for f in alike), width)
            if hint:
                yield from _wrapped(f"fix: {hint}", width, INDENT * 2, INDENT * 2 + "     ")
        yield Line("")
    for rule, entries in _grouped(report.not_judged, lambda n: n.rule).items():
        yield from _heading("not judged", rule, titles, width)
        for reason, same in _grouped(entries, lambda n: n.reason).items():
            yield from _wrapped(reason, width, INDENT)
            yield from _places((n.where for n in same), width)
        yield Line("")
    yield from _summary(report, width)


def _grouped(items: Iterable[V], key: Callable[[V], K]) -> dict[K, list[V]]:
    groups: dict[K, list[V]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return groups


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


def _places(wheres: Iterable[Where], width: int) -> Iterator[Line]:
    """All places of one message: devices with their ports, then lines by file."""
    devices: dict[str, list[str]] = defaultdict(list)
    files: dict[str, list[int]] = defaultdict(list)
    for where in wheres:
        if where.device:
            devices[where.device] += [where.interface] if where.interface else []
        if where.file and where.line is not None and where.line not in files[where.file]:
            files[where.file].append(where.line)
    named = _some([" ".join((device, *port_ranges(ports))) for device, ports in devices.items()])
    sources = [f"{file}:{_some(list(map(str, lines)))}" for file, lines in files.items()]
    for prefix, text in (("at: ", named), ("in: ", "; ".join(sources))):
        if text:
            yield from _wrapped(prefix + text, width, INDENT * 2, INDENT * 2 + "    ")


def _some(words: list[str]) -> str:
    """All words, or the first of very many and how many more there are."""
    shown = ", ".join(words[:MOST])
    more = len(words) - MOST
    return f"{shown} and {more} more (all of them: --format json)" if more > 0 else shown


def _summary(report: Report, width: int) -> Iterator[Line]:
    counts = [(sum(f.severity is s for f in report.findings), s.value) for s in Severity]
    words = [f"{n} {word}{'s' if n != 1 and word != 'info' else ''}" for n, word in counts]
    text = (
        f"{report.network}: {len(report.rules)} rules, {', '.join(words)}, "
        f"{len(report.not_judged)} not judged{' -- failed' if report.failed else ''}"
    )
    style = STYLES["error"] if report.failed else "bold green"
    for line in _wrapped(text, width, ""):
        yield Line(line.text, style)
