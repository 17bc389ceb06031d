"""Reader of selected fields of `display interface`, by the definition of its blocks."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from napalm_cloudengine.displays.interfaces import BLOCKS, PORT_V300
from napalm_cloudengine.displays.lines import (
    DisplayAnswer,
    PrintedLine,
    Rows,
    TableCell,
    UnreadableError,
    UnreadLine,
)
from napalm_cloudengine.displays.table import Row

_STATE = " current state"
_FIRST = re.compile(
    # a run of blanks is one step, so that the time is linear
    r"(?!Description:)(\S+) current state ?: ?((?:[^ \t\n]|[ \t]++)+?)[ \t]*+"
    r"(?:\(ifindex: (\d+)\)[ \t]*+)?$",
    re.ASCII | re.MULTILINE,
)
_STAMP = re.compile(r"\d{4}-\d\d-\d\d ", re.ASCII)
_MESSAGE = re.compile(rf"{_STAMP.pattern}|Info:|(?<![^\n]).*%%\d\d", re.ASCII)  # log messages, too
_SECTION = re.compile(r" +(Input|Output) ?:")
_VALUES = {"d": r"(\d+)", "?": r"(\d+|--)", "*": r"[ ]?(.*)", "": r"([^,\n]*)"}
_IN_FIRST = ("name", "state", "ifindex")
_ABOVE = ("protocol", "protocol_up_at", "description")
_PHYSICAL = re.compile(r"\d+GE\d", re.ASCII)
# Fields that a port with its own frames must show, for health checks.
HEALTH = ("rx_errors", "crc", "rx_discards", "tx_discards", "rx_pauses", "tx_pauses")
_PORT_FIELDS = ("mtu", "frame_bytes", "speed", *HEALTH)


@dataclass(frozen=True, slots=True)
class _Counter:
    """Position of a counter: section, title, whether the title follows it and begins a line."""

    section: str
    title: str
    behind: bool
    first: bool


@dataclass(frozen=True, slots=True)
class _Label:
    """Pattern of a field other than a counter. below: its line is below the description."""

    name: str
    pattern: re.Pattern[str]
    below: bool
    number: bool


@dataclass(frozen=True, slots=True)
class _FieldPatterns:
    """Patterns of some fields. quick: for counters that begin a line, as in the documented form."""

    labelled: tuple[_Label, ...]
    fields: dict[tuple[str, str], str]  # section and title -> field
    least: int  # minimum number of counters of a port
    quick: re.Pattern[str] | None
    titled: re.Pattern[str] | None
    behind: re.Pattern[str] | None

    def read(self, text: str) -> Row:
        """Read the fields in the lines of an interface; None for a counter that has `--`."""
        row: Row = {}
        below = text.find("\nDescription:")
        below = text.find("\n", below + 1) if below >= 0 else 0
        for label in self.labelled:
            if match := label.pattern.search(text, below if label.below else 0):
                row[label.name] = int(match[1]) if label.number else match[1].strip(" \t")
        counters = _counters_by_title(self.quick.findall(text)) if self.quick else {}
        if len(counters.keys() & self.fields.keys()) < self.least and self.titled:
            counters = _counters_by_title(self.titled.findall(text))
        if self.behind:
            counters = (
                _counters_by_title((h, t, v) for h, v, t in self.behind.findall(text)) | counters
            )
        for key, value in counters.items():
            if key in self.fields:
                row[self.fields[key]] = None if value == "--" else int(value)
        return row


def read_interfaces(shown: DisplayAnswer, fields: Collection[str]) -> list[Row]:
    """Read every interface: its name, its state, and those of the given fields that it shows.

    Raises UnreadableError without an interface, for one that occurs twice, and for a line before
    the first that is not a message.
    """
    return [row for row, _ in _numbered(shown, fields, _MESSAGE)]


def read_ports(shown: DisplayAnswer) -> Rows[Row]:
    """Read every interface for health checks; speed and counters of physical ports only.

    A port without its speed or one of its counters is not read. Raises UnreadableError where that
    is the last interface, because the answer may be cut off there, or where nothing else was read;
    and for a message before the first.
    """
    rows, unread = [], list[UnreadLine]()
    reading = list(_numbered(shown, _PORT_FIELDS, _STAMP))
    for row, offset in reading:
        physical = _PHYSICAL.match(row["name"])
        lacking = [name for name in ("speed", *HEALTH) if physical and name not in row]
        if lacking:
            error = _missing(shown, offset, row["name"], lacking[0])
            if row is reading[-1][0]:
                raise error
            unread.append(
                UnreadLine(shown.command, error.line, row["name"], error.what, row["name"])
            )
        else:
            hidden = () if physical else HEALTH
            rows.append({name: row[name] for name in row if name not in hidden})
    if unread and not any(_PHYSICAL.match(row["name"]) for row in rows):
        raise shown.wrong(unread[0].line, unread[0].why)
    return Rows(rows, unread)


def _missing(shown: DisplayAnswer, offset: int, interface: str, name: str) -> UnreadableError:
    if name in HEALTH:
        counter = next(c for c in _counters()[name] if not c.behind)
        what = f"{interface} shows no {counter.title!r} of its {counter.section.lower()}"
    else:
        what = f"{interface} shows no {name}"
    return _wrong(shown, offset, what)


def _wrong(shown: DisplayAnswer, offset: int, what: str) -> UnreadableError:
    return shown.wrong(shown.text.count("\n", 0, offset) + 1, what)


def _numbered(
    shown: DisplayAnswer, fields: Collection[str], above: re.Pattern[str]
) -> Iterator[tuple[Row, int]]:
    """Yield interfaces and their offsets in the text; above: lines allowed before the first."""
    reader = _reader(frozenset(fields))
    heads = list(_heads(shown.text))
    begins = [*(head.start() for head in heads), len(shown.text)]
    for number, line in enumerate(shown.text[: begins[0]].split("\n"), 1):
        if line.strip() and not above.match(line):
            raise shown.wrong(number, f"{line.rstrip()!r} belongs to no interface")
    if not heads:
        raise shown.wrong(1, "no interface at all")
    names = set()
    for head, end in zip(heads, begins[1:], strict=True):
        name, state, index = head.groups()
        if name in names:
            raise _wrong(shown, head.start(), f"{name} is shown twice")
        names.add(name)
        row: Row = {"name": name, "state": state}
        if "ifindex" in fields:
            row["ifindex"] = int(index) if index else None
        yield row | reader.read(shown.text[head.end() : end]), head.start()


def _heads(text: str) -> Iterator[re.Match[str]]:
    """Yield first lines of interfaces, without testing every other line."""
    end = 0
    while (offset := text.find(_STATE, end)) >= 0:
        head = _FIRST.match(text, text.rfind("\n", 0, offset) + 1)
        end = head.end() if head else offset + len(_STATE)
        if head:
            yield head


def _counters_by_title(cells: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str], str]:
    """Return the first counter of each section and title; cells: heading, title, value."""
    counters: dict[tuple[str, str], str] = {}
    section = ""
    for heading, title, value in cells:
        section = heading or section
        counters.setdefault((section, title), value)
    return counters


@lru_cache(maxsize=16)
def _reader(fields: frozenset[str]) -> _FieldPatterns:
    counters = {name: group for name, group in _counters().items() if name in fields}
    every = [counter for group in counters.values() for counter in group]
    titles = [counter for counter in every if not counter.behind]
    behind = {counter.title for counter in every if counter.behind}
    heading = r"\n[ \t]+(Input|Output)[ \t]*:"
    any_title = "|".join(sorted({re.escape(counter.title) for counter in titles}))
    cell = rf"[ \t]*({any_title}):[ \t]*(\d+|--)(?=[ \t]*(?:,|$))"
    quick = titles and all(any(p.first for p in group) for group in counters.values())
    return _FieldPatterns(
        labelled=tuple(_labels_of_fields(fields)),
        fields={(p.section, p.title): name for name, group in counters.items() for p in group},
        least=len(counters),
        quick=_compiled(rf"{heading}|\n{cell}") if quick else None,
        titled=_compiled(rf"{heading}|[\n,]{cell}") if titles else None,
        behind=_compiled(rf"{heading}|(?<![\d.])(\d+) ({'|'.join(behind)})(?![\w/])")
        if behind and not quick
        else None,
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII | re.MULTILINE)


@lru_cache(maxsize=1)
def _counters() -> dict[str, list[_Counter]]:
    """Return the positions of each counter in all blocks."""
    counters: dict[str, list[_Counter]] = {}
    for block in BLOCKS:
        section = ""
        for text, line in zip(block.text.split("\n"), block.lines, strict=True):
            if heading := _SECTION.match(text):
                section = heading[1]
            elif not text.startswith("      ") or not section:
                section = section if not text else ""
                continue
            for number, cell in enumerate(line.cells):
                after = line.text_after(number)
                title = "" if heading else _label(cell).rstrip(" :")
                counter = _Counter(
                    section,
                    title or after.strip(" ,").split(",")[0],
                    behind=not title,
                    first=not number and block is PORT_V300,
                )
                counters.setdefault(cell.name, []).append(counter)
    return counters


def _labels_of_fields(fields: frozenset[str]) -> Iterator[_Label]:
    """Yield each field other than a counter, once for every label that it has."""
    lines = list(dict.fromkeys(line for block in BLOCKS for line in block.lines))
    seen = set()
    for line in lines:
        for number, cell in enumerate(line.cells):
            pattern = _label_pattern(line, number, lines)
            if cell.name not in fields or cell.name in (*_counters(), *_IN_FIRST):
                continue
            if (cell.name, pattern) not in seen:
                below = cell.name not in _ABOVE
                yield _Label(cell.name, _compiled(pattern), below, cell.kind == "d")
            seen.add((cell.name, pattern))


def _label_pattern(line: PrintedLine, number: int, lines: list[PrintedLine]) -> str:
    """Return a pattern of a field: the words before it, and its line where others have them."""
    cell = line.cells[number]
    label, value = _label(cell), _VALUES[cell.kind]
    if not number and "," not in cell.before:
        return rf"\n[ \t]*{_words(label)}{value}"
    alike = {other.name for each in lines for other in each.cells if _label(other) == label}
    if label and alike == {cell.name}:
        return _words(label) + value
    start = rf"\n[ \t]*{_words(line.cells[0].before.strip())}[^\n]*?"
    if label:
        return start + _words(label) + value
    return f"{start} {value}{re.escape(line.text_after(number))}"


def _label(cell: TableCell) -> str:
    return cell.before.rpartition(",")[2].strip()


def _words(label: str) -> str:
    """Return a pattern of a label, with any blanks and an optional blank before its colon."""
    text = r"[ \t]+".join(re.escape(word) for word in label.rstrip(" :").split())
    return text + (r"[ \t]*:[ \t]*" if label.endswith(":") else r"[ \t]*")
