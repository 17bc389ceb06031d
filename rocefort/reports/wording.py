"""Wording that several reports share: counts, causes, names, ports and lines."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

from rocefort.models.finding import NotJudged, Report, Severity, Where
from rocefort.models.wording import count_of, ranges

CAUSES_NAMED = 2  # causes of results that were not judged, in a summary
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def group_items(items: Iterable[V], key: Callable[[V], K]) -> dict[K, list[V]]:
    """Return items by key; keys and items keep their order."""
    groups: dict[K, list[V]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return groups


def severity_counts(report: Report) -> dict[Severity, int]:
    """Return the number of findings of each severity, the worst first."""
    return {s: sum(f.severity is s for f in report.findings) for s in Severity}


def summary(report: Report) -> str:
    """`21 rules, 1 error, 2 warnings, 0 info, 40 not judged: ..`, with the waived, if any."""
    counts = severity_counts(report)
    words = [f"{n} info" if s is Severity.INFO else count_of(n, s) for s, n in counts.items()]
    if report.waived:
        words.append(f"{len(report.waived)} waived")
    return ", ".join([count_of(len(report.rules), "rule"), *words, unjudged_by_cause(report)])


def unjudged(report: Report) -> str:
    """`40 not judged`: also if there is none, because it is no pass."""
    return f"{len(report.not_judged):,} not judged"


def unjudged_by_cause(report: Report) -> str:
    """`40 not judged: 24 because .., 10 because .., 6 for 2 other causes`."""
    causes = by_cause(report.not_judged)
    if len(causes) < 2:
        return " because ".join((unjudged(report), *causes))
    named = list(causes)[:CAUSES_NAMED]
    parts = [because(len(causes[cause]), cause) for cause in named]
    if others := len(causes) - len(named):
        rest = len(report.not_judged) - sum(len(causes[cause]) for cause in named)
        parts.append(f"{rest} for {count_of(others, 'other cause')}")
    return f"{unjudged(report)}: {', '.join(parts)}"


def because(count: int, cause: str) -> str:
    """`24 because facts of v200 are unconfirmed`."""
    return f"{count:,} because {cause}"


def by_cause(entries: Iterable[NotJudged]) -> dict[str, list[NotJudged]]:
    """Results that were not judged by their cause, the most frequent cause first."""
    groups = group_items(entries, lambda entry: entry.cause)
    return dict(sorted(groups.items(), key=lambda group: -len(group[1])))


def verdict(report: Report) -> str:
    """Return `failed`, or that no error was found: results that are not judged have not passed."""
    return "failed" if report.failed else "no errors found"


def device_ports(wheres: Iterable[Where]) -> list[str]:
    """`leaf01 100GE1/0/1-3`: each device once with its ports, in order."""
    devices: dict[str, list[str]] = defaultdict(list)
    for where in wheres:
        if where.device:
            devices[where.device] += [where.interface] if where.interface else []
    return [" ".join((device, *port_ranges(ports))) for device, ports in devices.items()]


def file_lines(wheres: Iterable[Where]) -> dict[str, list[int]]:
    """Return the lines of each file, once and in order of appearance."""
    files: dict[str, list[int]] = defaultdict(list)
    for where in wheres:
        if where.file and where.line is not None and where.line not in files[where.file]:
            files[where.file].append(where.line)
    return files


def intent_lines(wheres: Iterable[Where]) -> dict[str, list[int]]:
    """Return the lines of each fabric file that intend what is judged."""
    lines = (where.intent for where in wheres if where.intent)
    return file_lines(Where(file=line.file, line=line.line) for line in lines)


def port_ranges(names: Iterable[str]) -> Iterator[str]:
    """`100GE1/0/1-3,7` instead of four names; other names as they are."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for name in dict.fromkeys(names):
        match = re.fullmatch(r"(\d+GE\d+/\d+/)(\d+)", name)
        if match:
            numbers[match[1]].append(int(match[2]))
        else:
            yield name
    for head, found in numbers.items():
        yield head + ",".join(ranges(found))


def name_ranges(names: Iterable[str]) -> Iterator[str]:
    """`leaf01 to leaf08` instead of eight names; neighbours are those whose last number follows."""
    run: list[str] = []
    for name in names:
        if run and not _follows(run[-1], name):
            yield from _ends(run)
            run = []
        run.append(name)
    yield from _ends(run)


def _follows(before: str, name: str) -> bool:
    head, number = _numbered(before)
    return number is not None and _numbered(name) == (head, number + 1)


def _numbered(name: str) -> tuple[str, int | None]:
    match = re.fullmatch(r"(.*?)([0-9]{1,9})", name)
    return (match[1], int(match[2])) if match else (name, None)


def _ends(run: list[str]) -> Iterator[str]:
    if len(run) > 2:
        yield f"{run[0]} to {run[-1]}"
    else:
        yield from run


UNITS = ((2**20, "MiB"), (2**10, "KiB"))


def four_digits(value: float) -> str:
    """Return a measured value with four digits and no exponent: `1,024`, `3.72`."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def bytes_words(size: int | None) -> str:
    """Return a number of bytes as text: `64 KiB`."""
    if size is None:
        return ""
    for unit, name in UNITS:
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"
