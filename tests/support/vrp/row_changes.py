"""Mutations of the command table: one change of a row at a time, to see which sample detects it.

A change applies to all of `rocefort.dialects.vrp` except patches, because all rows come from the
mapping of `rows_by_view`. A change is of one field of a row. A field without an entry in `CHANGES` is
emptied, a flag is inverted, and of several texts one is left out.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, cast

import pytest
from command_samples import Sample, complaints, samples, unread

from rocefort.base.errors import RocefortError
from rocefort.dialects.vrp.commands.catalogue import rows_by_view
from rocefort.dialects.vrp.commands.command import ANY, ANY_NUMBER, V200, Row
from rocefort.dialects.vrp.commands.format import parse_format, words_of
from rocefort.dialects.vrp.commands.match import readings
from rocefort.dialects.vrp.interpreter.execute import view_kind
from rocefort.dialects.vrp.render import environment

PACKAGE = "rocefort.dialects.vrp"
INDEPENDENT = (rows_by_view, parse_format, environment)  # caches that no change touches
PATCHING = (f"{PACKAGE}.patch", f"{PACKAGE}.rulebook")  # not used here; annet may be set up once
# Golden texts test the place of a row and the order of saved lines. `source` and `instead` are for
# users; `written` is the format.
UNCHANGED = ("view", "source", "instead", "written", "rank", "block", "equal")
BRACKETS = {"{": "}", "[": "]", "(": ")"}
TYPED = ("ip", "mask", "asn", "interface", "ports", "split-type", "snmp-versions", "acl-matches")
BOUNDS = re.compile(r"(?P<head><(?:\w+:)?)(?P<low>\d+)-(?P<high>\d+)>")
LONGEST = re.compile(r"<text:(\d+)>")
OTHER_KINDS = {"set": ("action",), "list": ("set", "each"), "each": ("set", "list")}
Values = Iterator[tuple[Any, str]]  # another value of a field, and its description


@dataclass(frozen=True)
class Change:
    """One changed row of a view; None instead of the row leaves it out."""

    view: str
    place: int
    row: Row | None
    field: str
    what: str

    @property
    def before(self) -> Row:
        return rows_by_view()[self.view][self.place]

    def __str__(self) -> str:
        names = " ".join(sorted(self.before.families)) if self.before.families != ANY else "any"
        return f"{self.view} | {self.before.format} | {names} | {self.field}: {self.what}"


def changes() -> Iterator[Change]:
    """Yield every change of every row."""
    for view, rows in rows_by_view().items():
        for place, row in enumerate(rows):
            for field in fields(Row):
                if field.name in UNCHANGED or not row.families:  # no sample has what is only read
                    continue
                for value, what in CHANGES.get(field.name, _plain(field.name))(row):
                    changed = replace(row, **{field.name: value})
                    if field.name == "format":
                        changed = replace(changed, written="")
                    gone = field.name == "families" and not value
                    yield Change(view, place, None if gone else changed, field.name, what)


def noticed(change: Change) -> str:
    """Return the sample that fails with a change; empty if all pass.

    Tried are samples with a line that begins as a line of the row. Reading and writing are tried on
    samples with lines that the row can read.
    """
    by_row = samples_by_row()[id(change.before)]
    words = change.before.first_words | (change.row.first_words if change.row else set())
    others = (one for one in samples() if one not in by_row and words & first_words(one))
    with in_force(change):
        for judge, candidates in ((complaints, by_row), (unread, by_row), (complaints, others)):
            for sample in candidates:
                if _fails(judge, sample):
                    return str(sample)
    return ""


@contextmanager
def in_force(change: Change) -> Iterator[None]:
    """Install the command table with one row changed."""
    rows = list(rows_by_view()[change.view])
    rows[change.place : change.place + 1] = [change.row] if change.row else []
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(cast("dict[str, Any]", rows_by_view()), change.view, tuple(rows))
            _forget()
            yield
    finally:
        _forget()


def _forget() -> None:
    """Clear the package's caches of rows, except those of patches."""
    for name, module in list(sys.modules.items()):
        if name.startswith(PACKAGE) and not name.startswith(PATCHING):
            for value in vars(module).values():
                if hasattr(value, "cache_clear") and value not in INDEPENDENT:
                    value.cache_clear()


def _fails(judge: Callable[[Sample], Iterator[str]], sample: Sample) -> bool:
    try:
        return any(True for _ in judge(sample))
    except (
        ValueError,
        LookupError,
        TypeError,
        RecursionError,
        RocefortError,
    ):  # a row that cannot be carried out
        return True


def rows_of_sample(sample: Sample, *, all_lines: bool = False) -> Iterator[tuple[Row, str]]:
    """Return rows that can read typed lines of a sample, or all of its lines, with the family."""
    for family in sorted(sample.families):
        one = sample.of(family)
        kind = view_kind(tuple(x for x in sample.view if not x.startswith("undo ")), family)
        for line in (*one.typed(), *((*one.undo, *one.keeps, *one.refused) if all_lines else ())):
            tokens = words_of(line.removeprefix("undo "))
            yield from ((row, family) for row, _ in readings(kind, tokens, family) if tokens)


@cache
def first_words(sample: Sample) -> frozenset[str]:
    """Return the first words of the lines of a sample."""
    lines = (*sample.before.splitlines(), *sample.view, *sample.typed(), *sample.undo)
    return frozenset(line.strip().removeprefix("undo ").partition(" ")[0] for line in lines)


@cache
def samples_by_row() -> Mapping[int, Sequence[Sample]]:
    """Return samples with lines that a row of the unchanged table can read, by row identity."""
    samples_of: dict[int, list[Sample]] = defaultdict(list)
    for sample in samples():
        for number in {id(row) for row, _ in rows_of_sample(sample, all_lines=True)}:
            samples_of[number].append(sample)
    return samples_of


# -- changes of each field ------------------------------------------------------------------------


def _plain(name: str) -> Callable[[Row], Values]:
    def values(row: Row) -> Values:
        value = getattr(row, name)
        if isinstance(value, bool):
            yield not value, f"now {not value}"
        elif isinstance(value, tuple):
            for index, text in enumerate(value):
                yield (*value[:index], *value[index + 1 :]), f"without {text!r}"
                if isinstance(text, str):
                    other = text.replace(" ", "x ", 1) if " " in text else f"{text}x"
                    yield (*value[:index], other, *value[index + 1 :]), f"{other!r}"
        elif value:
            text_of_value = value if isinstance(value, str) else value.__name__
            yield "" if isinstance(value, str) else None, f"without {text_of_value!r}"

    return values


def _formats(row: Row) -> Values:
    yield from _words(row.format)
    yield from _optionals(row.format)
    yield from _value_brackets(row.format)
    if not (row.families == V200 and ANY_NUMBER in row.format):  # no source gives a range
        yield from _bounds(row.format)
    yield from _parameters(row.format)


def _words(text: str) -> Iterator[tuple[str, str]]:
    tokens = text.split()
    for index, token in enumerate(tokens):
        if token in "{}[]()|*" or token.startswith("<"):
            continue
        yield _with(tokens, index, f"{token}x"), f"`{token}x` for `{token}`"
        if token.startswith("+"):
            yield _with(tokens, index, token[1:]), f"`{token[1:]}` must be typed"


def _optionals(text: str) -> Iterator[tuple[str, str]]:
    tokens = text.split()
    for start, end in _pairs(tokens, "["):
        inner = " ".join(tokens[start + 1 : end])
        must = [*tokens[:start], "{", *tokens[start + 1 : end], "}", *tokens[end + 1 :]]
        yield " ".join(must), f"`{inner}` must be typed"
        yield " ".join([*tokens[:start], *tokens[end + 1 :]]), f"without `{inner}`"


def _value_brackets(text: str) -> Iterator[tuple[str, str]]:
    """Yield other words as key and as value."""
    elements = _elements(text)
    values = [index for index, element in enumerate(elements) if element.startswith("( ")]
    for index in values:
        inner = _elements(elements[index][2:-2])
        before, after = elements[:index], elements[index + 1 :]
        yield " ".join([*before, *inner, *after]), f"`{' '.join(inner)}` is key"
        if len(inner) > 1:
            moved = [*before, inner[0], "(", *inner[1:], ")", *after]
            yield " ".join(moved), f"`{inner[0]}` is key"
        if index > 1 and not before[-1].startswith("( "):
            moved = [*before[:-1], "(", before[-1], *inner, ")", *after]
            yield " ".join(moved), f"`{before[-1]}` is value"
    if not values and len(elements) > 1:
        moved = [*elements[:-1], "(", elements[-1], ")"]
        yield " ".join(moved), f"`{elements[-1]}` is value"


def _bounds(text: str) -> Iterator[tuple[str, str]]:
    for match in BOUNDS.finditer(text):
        low, high = int(match["low"]), int(match["high"])
        for a, b in ((low - 1, high), (low + 1, high), (low, high - 1), (low, high + 1)):
            if 0 <= a <= b:
                other = f"{match['head']}{a}-{b}>"
                yield f"{text[: match.start()]}{other}{text[match.end() :]}", _told(match, other)
    for match in LONGEST.finditer(text):
        for length in (int(match[1]) - 1, int(match[1]) + 1):
            other = f"<text:{length}>"
            yield f"{text[: match.start()]}{other}{text[match.end() :]}", _told(match, other)


def _told(match: re.Match[str], other: str) -> str:
    nth = match.string[: match.start()].count(match[0]) + 1
    return f"`{other}` for `{match[0]}`" + (f", number {nth}" if nth > 1 else "")


def _parameters(text: str) -> Iterator[tuple[str, str]]:
    tokens = text.split()
    for index, token in enumerate(tokens):
        if not token.startswith("<"):
            continue
        name = token[1:-1].partition(":")[0]
        other = "<other>" if name in TYPED or name == "text" else "<text>"
        if other != token and name not in ("kbytes", "numbers"):
            nth = tokens[:index].count(token) + 1
            yield _with(tokens, index, other), f"`{other}` for `{token}`, number {nth}"


def _undos(row: Row) -> Values:
    """Yield forms of the undo; a form that follows from the format becomes that of the bare key."""
    if not row.undo:
        key = _key(row.format)
        if key != row.format and row.kind == "set":
            yield (key,), "without a value"
        return
    for index, form in enumerate(row.undo):
        others = (*row.undo[:index], *row.undo[index + 1 :])
        if others:
            yield others, f"without `{form}`"
        for other, what in (*_starred(row, form), *_words(form), *_unwrapped(form)):
            yield (*row.undo[:index], other, *row.undo[index + 1 :]), f"of `{form}` {what}"


def _starred(row: Row, form: str) -> Iterator[tuple[str, str]]:
    """Return the form with or without a `*`, if more of the key follows it."""
    whole = form.removesuffix(" *")
    keys = (_key(each.format) for each in rows_by_view()[row.view] if each.families)
    if form != whole:
        yield whole, f"`{whole}`"
    elif any(BOUNDS.sub("<>", key).startswith(f"{BOUNDS.sub('<>', form)} ") for key in keys):
        yield f"{form} *", f"`{form} *`"


def _unwrapped(form: str) -> Iterator[tuple[str, str]]:
    for other, what in _value_brackets(form):
        if what.endswith("is key"):
            yield other, what


def _bindings(row: Row) -> Values:
    """Yield other fields of a Device, and other arguments; a reading function takes precedence."""
    if row.reads is not None or not row.sets:
        return
    yield (), "none"
    for index, binding in enumerate(row.sets):
        others = row.sets[:index], row.sets[index + 1 :]
        # No sample states which lines of `undo` a switch saves.
        # tests/dialects/vrp/commands/test_typed_forms.py and test_parse.py test their reading.
        if len(row.sets) > 1 and not binding.startswith("undo? "):
            yield (*others[0], *others[1]), f"without {binding!r}"
        for match in re.finditer(r"(\w+)(\+?=)", binding):
            wrong = f"{binding[: match.start()]}{match[1]}x{match[2]}{binding[match.end() :]}"
            yield (*others[0], wrong, *others[1]), wrong
        if "=yes" in binding or "=no" in binding:
            turned = re.sub("=(yes|no)", lambda m: "=no" if m[1] == "yes" else "=yes", binding)
            yield (*others[0], turned, *others[1]), turned


def _kinds(row: Row) -> Values:
    if row.transient:  # it leaves no line as it is
        return
    for kind in OTHER_KINDS.get(row.kind, ("set",)):
        yield kind, kind


def _defaults(row: Row) -> Values:
    if row.default:
        yield "", "none"
        head, _, last = row.default.rpartition(" ")
        other = str(int(last) + 1) if last.isdecimal() else f"{last}x"
        yield f"{head} {other}".strip(), f"{other} for {last}"


def _families(row: Row) -> Values:
    for family in sorted(row.families):
        yield row.families - {family}, f"without {family}"
    for family in sorted(ANY - row.families):
        yield row.families | {family}, f"with {family}"


def _opens(row: Row) -> Values:
    if row.opens:
        yield "", "no view"
    if row.opens != "opaque":
        yield "opaque", "opaque"


def _is_of_ports(row: Row) -> bool:
    return row.view == "interface" and bool(re.fullmatch(row.on or ".*", "100GE1/0/1"))


def _layers(row: Row) -> Values:
    for layer in {0, 2, 3} - {row.layer}:
        if row.view == "interface":
            yield layer, str(layer)


def _where(name: str, matters: Callable[[Row], bool]) -> Callable[[Row], Values]:
    def values(row: Row) -> Values:
        if matters(row):
            yield from _plain(name)(row)

    return values


CHANGES: dict[str, Callable[[Row], Values]] = {
    "format": _formats,
    "undo": _undos,
    "kind": _kinds,
    "default": _defaults,
    "families": _families,
    "sets": _bindings,
    "opens": _opens,
    "layer": _layers,
    "on": _where("on", lambda row: row.layer != 2),  # layer 2 is of ports and Eth-Trunks only
    "service": _where("service", lambda row: not row.layer and _is_of_ports(row)),
    "transient": _where("transient", lambda row: bool(row.opens)),
}


# -- formats --------------------------------------------------------------------------------------


def _with(tokens: list[str], index: int, other: str) -> str:
    return " ".join([*tokens[:index], other, *tokens[index + 1 :]])


def _pairs(tokens: list[str], opening: str) -> Iterator[tuple[int, int]]:
    """Yield the positions of opening and closing brackets."""
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token in BRACKETS:
            opened.append(index)
        elif token in BRACKETS.values():
            start = opened.pop()
            if tokens[start] == opening:
                yield start, index


def _key(text: str) -> str:
    return " ".join(element for element in _elements(text) if not element.startswith("( "))


def _elements(text: str) -> list[str]:
    """Yield the words, parameters and bracketed groups of a format in order."""
    elements: list[str] = []
    depth = 0
    for token in text.split():
        if depth:
            elements[-1] += f" {token}"
        else:
            elements.append(token)
        depth += (token in BRACKETS) - (token in BRACKETS.values())
    return elements
