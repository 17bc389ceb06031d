"""Effect of a saved line on a Device, by the matching row of the command table."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from ipaddress import IPv4Address
from typing import Any, Literal, get_args, get_origin

from rocefort.dialects.vrp.commands.catalogue import rows_by_view
from rocefort.dialects.vrp.commands.command import QUEUES, Row
from rocefort.dialects.vrp.parse.bindings import (
    SHAPES,
    UNDO,
    WORD,
    Assignment,
    BoundValue,
    FieldBinding,
    FieldStep,
    Pattern,
    bindings_of,
    models_of_views,
    pattern_of,
)
from rocefort.dialects.vrp.readers import arguments
from rocefort.dialects.vrp.readers.arguments import NOT_MODELLED, BadArgumentError, Log, Part
from rocefort.dialects.vrp.text.names import (
    interface_name,
    is_address,
    snmp_version_words,
    split_ports,
)
from rocefort.models.device import lossless_queue
from rocefort.models.hardware.media import SPLIT_TYPE

RANGE = re.compile(r"(\d+)-(\d+)")


@dataclass(frozen=True, slots=True)
class View:
    """A view that a line opens: the commands that apply below it, and the part that they fill."""

    kind: str
    part: Part


NOWHERE = Part(Log())
UNMODELLED = View("unmodelled", NOWHERE)  # the line and all lines below it are kept and reported
NO_COMMANDS = View("leaf", NOWHERE)  # below a line that opens no view


@dataclass(frozen=True, slots=True)
class Readable:
    """A row as lines of its view are read."""

    row: Row
    pattern: Pattern
    bindings: tuple[FieldBinding, ...]


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A change of a field of a part, or of a part in it: set, take or add a value."""

    steps: tuple[tuple[str, str, Hashable], ...]  # name, key's field, key
    field: str  # empty: the row exists, without a value
    change: str  # set, add or take
    value: Any


@dataclass(frozen=True, slots=True)
class ParsedLine:
    """Effect of a line of a view: its row, with its field changes or its reader's arguments."""

    row: Row
    changes: tuple[FieldChange, ...] = ()
    arguments: tuple[str | None, ...] = ()


def read(view: View, line: str) -> View:
    """Fill the part of the view by a line; raises BadArgumentError."""
    parsed = _line(view.kind, line)
    if parsed is None:
        return UNMODELLED
    if parsed.row.reads is not None:
        opened = parsed.row.reads(view.part, *parsed.arguments)
        if opened is NOT_MODELLED:
            return UNMODELLED
    else:
        opened = _fill(view.part, parsed.changes)
    if not parsed.row.opens:
        return NO_COMMANDS
    part = opened if isinstance(opened, Part) else view.part
    for name, default in _defaults(parsed.row.opens):
        part.values.setdefault(name, dict.fromkeys(default))
    return View(parsed.row.opens, part)


def _fill(part: Part, changes: tuple[FieldChange, ...]) -> Part:
    """Apply a field change; return the part that contains the first field."""
    first: Part | None = None
    for each in changes:
        at = part
        for name, key_field, key in each.steps:
            at = at.row(name, key, **{key_field: key}) if key_field else at.part(name)
        first = first or at
        if not each.field:
            continue
        if each.change == "set":
            at.set(each.field, each.value)
        else:
            change = at.add if each.change == "add" else at.take
            for value in each.value:
                change(each.field, value)
    return first or part


@cache
def _defaults(kind: str) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return initial content of a view's collections: queue 3 of a PFC profile."""
    return tuple(
        (readable.bindings[0].assignments[0].field, (int(readable.row.default),))
        for rows in _readable(kind).values()
        for readable in rows
        if readable.row.kind == "each" and readable.row.default and readable.bindings
    )


@cache
def _readable(kind: str) -> Mapping[str, Sequence[Readable]]:
    """Return rows of a view by a line's first word, the most specific first."""
    by_word: dict[str, list[Readable]] = defaultdict(list)
    modelled = kind in models_of_views()
    for row in rows_by_view().get(kind, ()):
        bindings = bindings_of(row) if modelled and not row.reads else ()
        pattern = pattern_of(
            row.written or row.format,
            any_order=row.kind == "pairs",
            any_word=_takes_any_word(bindings),
        )
        readable = Readable(row, pattern, bindings)
        for word in pattern.first:
            by_word[word].append(readable)
    for some in by_word.values():
        some.sort(key=lambda each: -each.pattern.words)
    return by_word


def _takes_any_word(bindings: Sequence[FieldBinding]) -> bool:
    """Whether a choice fills a field of any word: other saved words are read, too."""
    values = (a.value for binding in bindings for a in binding.assignments)
    return any(value.argument == WORD and value.type is str for value in values)


# -- one line --------------------------------------------------------------------------------------


@lru_cache(maxsize=16384)  # 1,000 lines are parsed in 8 ms; without, in 19 ms
def _line(kind: str, line: str) -> ParsedLine | None:
    """Return the effect of a line; None if no Device represents it. Raises BadArgumentError."""
    undone, words = line.startswith(f"{UNDO} "), line.removeprefix(f"{UNDO} ")
    bad: BadArgumentError | None = None
    for readable in _readable(kind).get(words.split(" ", 1)[0], ()):
        match = readable.pattern.expression.fullmatch(f" {words}")
        if match is None:
            continue
        try:
            return _parsed_line(readable, match, undone=undone)
        except BadArgumentError as error:
            bad = error  # a row of another family may accept it
    if bad is not None:
        raise bad
    return None


def _parsed_line(readable: Readable, match: re.Match[str], *, undone: bool) -> ParsedLine | None:
    if readable.row.reads is not None:
        return None if undone else ParsedLine(readable.row, arguments=match.groups())
    texts = dict(zip(readable.pattern.arguments, match.groups(), strict=True))
    for binding in readable.bindings:
        if _holds(binding, texts, undone=undone):
            changes = _LineArguments(readable, texts).field_changes(binding)
            if changes is not None:
                return ParsedLine(readable.row, changes)
    return None


def _holds(binding: FieldBinding, texts: Mapping[str, str | None], *, undone: bool) -> bool:
    if undone or binding.word == UNDO:
        return undone and binding.word == UNDO
    return not binding.word or (texts[WORD] == binding.word) is not binding.negated


class _UnmodelledValueError(Exception):
    """A value that the field of a Device does not have: the line is kept unmodelled."""


@dataclass(frozen=True)
class _LineArguments:
    """A line that matches a row, with its arguments by name."""

    readable: Readable
    texts: Mapping[str, str | None]

    def field_changes(self, binding: FieldBinding) -> tuple[FieldChange, ...] | None:
        """Return the line's changes; None if no Device represents it. Raises BadArgumentError."""
        try:
            return tuple(change for each in binding.assignments for change in self.assigned(each))
        except _UnmodelledValueError:
            return None

    def assigned(self, assignment: Assignment) -> Iterator[FieldChange]:
        """Yield one assignment, for each key of a list of keys."""
        value = self.value(assignment.value)
        if assignment.change in ("add", "take") and not isinstance(value, tuple):
            value = tuple(value.split(" ")) if isinstance(value, str) else (value,)
        for steps in self.ways(assignment.steps):
            yield FieldChange(steps, assignment.field, assignment.change, value)

    def ways(self, steps: Sequence[FieldStep]) -> Iterator[tuple[tuple[str, str, Hashable], ...]]:
        """Yield paths to the parts that a line fills."""
        if not steps:
            yield ()
            return
        step = steps[0]
        key = self.key(step.key) if step.key else None
        for item in key if isinstance(key, tuple) else (key,):
            for rest in self.ways(steps[1:]):
                yield ((step.name, step.key_field, item), *rest)

    def key(self, value: BoundValue) -> Any:  # noqa: ANN401 - of the row
        """Return the key of a row: a peer has an address, a group a name."""
        text = self.texts[value.argument] if value.argument else None
        if text is not None and value.type is IPv4Address and not is_address(text):
            raise _UnmodelledValueError
        return self.value(value)

    def value(self, value: BoundValue) -> Any:  # noqa: ANN401 - of the field
        """Return an argument in the type of its field; raises BadArgumentError."""
        text = self.texts[value.argument] if value.argument else None
        if text is None:
            return value.constant
        kind = self.readable.pattern.arguments[value.argument]
        converted = self.converted(kind, text, value.type)
        if get_origin(value.type) is Literal and converted not in get_args(value.type):
            raise _UnmodelledValueError
        return str(converted) if value.type is str and isinstance(converted, int) else converted

    def converted(self, kind: str, text: str, target: object) -> Any:  # noqa: ANN401 - same
        """Convert a text to the type of its parameter."""
        what = f"`{self.readable.row.name}`"
        name, _, limits = kind.partition(":")
        if name == "numbers":
            return tuple(arguments.listed_numbers(text, _number(limits, what), what))
        if target is IPv4Address:
            return arguments.address(text)
        if name in CONVERTERS:
            numbers = CONVERTERS[name](text)
            if not numbers:
                raise _UnmodelledValueError
            return numbers
        return text if name in SHAPES or name == WORD else _number(kind, what)(text)


def _split_type(text: str) -> str | None:
    return text if re.fullmatch(SPLIT_TYPE, text, re.ASCII) else None


# By the name of a parameter; without a result, no Device represents the value.
CONVERTERS: Mapping[str, Callable[[str], object]] = {
    "asn": arguments.asn,
    "interface": interface_name,
    "eth-trunk": interface_name,
    "ports": lambda text: split_ports(text.split()),
    "snmp-versions": snmp_version_words,
    "split-type": _split_type,
}


@cache
def _number(limits: str, what: str) -> arguments.Number:
    """Return the converter of a number in a range.

    A range that depends on the family is not checked.
    """
    if limits == QUEUES:
        return arguments.number(lossless_queue.QUEUES[0], lossless_queue.QUEUES[-1], what)
    match = RANGE.fullmatch(limits)
    return arguments.number(int(match[1]), int(match[2]), what) if match else arguments.whole
