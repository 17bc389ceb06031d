"""Samples of VRP commands, as the vendor's texts write them, and what a switch does with each.

The data are tests/dialects/samples/*.yaml, in groups of one view and one source. Keys of a sample:

    line      the command, typed in the view; it is saved as written, or as in `saved`
    families  the switches that have it (default: every family)
    others    `open` if no source states that the other families refuse it
    before    configuration before the command
    saved     the whole configuration after the line, in its order, if more than the line changes
    also      other lines that are accepted and saved as written; `46..9600` is both ends of a
              range, and the numbers beyond them are refused; `x{80}` is a text of 80 characters
    becomes   typed line: the line that is saved
    over      lines that replace it
    beside    lines that may be in the view together with it
    default   lines that leave no line, with or without the sample's line before
    undo      lines that remove it; `left` is the whole configuration after, if more changes
    keeps     lines that change nothing after it
    refused   lines that are refused after it
    never     lines that are refused without it
    needs     line of `before` without which it is refused
    elsewhere views that refuse it; `;` separates the lines that lead there
    also_in   other views that accept it
    below     a line of the view that it opens
    not_below lines that this view refuses
    opaque    true if this view is kept word for word
    reads     `kept` if the Device has no field for it; `nothing` for a view that is empty;
              `unwritten` if the renderer writes no such line for the family
    written   lines that are written in place of the saved one, with the same meaning
    by_family more of `also`, `becomes`, `undo` and `refused` for single families
    source    of this sample, if it differs from the group's; NONE: no source was found

A line of `default` or `undo` in a saved text states the default.

The samples come from texts of the vendor and of real switches, not from the command table. CR and CG
are the command reference and the configuration guide of V300R023C00, by page. They are of V300, and
are used for V200 if the source names no text of V200.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from canonical import EMPTY_PORT, canonical
from random_values import TEMPLATES

from rocefort.base.errors import BadInput
from rocefort.dialects.data import ParsedConfig
from rocefort.dialects.vrp.interpreter.interpreter import (
    Lines,
    View,
    VrpRefusal,
    apply_line,
    replay,
)
from rocefort.dialects.vrp.interpreter.saved_lines import joined_lines
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.render import render
from rocefort.dialects.vrp.text.config_tree import parse_tree, tree_text
from rocefort.dialects.vrp.text.secret_forms import masked_text
from rocefort.models.device.secret import PLACEHOLDER
from rocefort.models.hardware.hardware import SyntaxFamily

FOLDER = Path(__file__).parents[2] / "dialects" / "samples"
RANGE = re.compile(r"(\d+)\.\.(\d+)")
UNKNOWN = "frobnicate"  # no command of any view
LENGTH = re.compile(r"x\{(\d+)\}")
KEPT, NOTHING, UNWRITTEN, OPEN = "kept", "nothing", "unwritten", "open"
Paths = frozenset[tuple[str, ...]]


@dataclass(frozen=True)
class Sample:
    """One command of one view, and its effect on a switch."""

    view: tuple[str, ...]
    line: str
    source: str
    families: frozenset[SyntaxFamily] = frozenset(SyntaxFamily)
    before: str = ""
    saved: str | None = None
    also: tuple[str, ...] = ()
    becomes: tuple[tuple[str, str], ...] = ()
    over: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    default: tuple[str, ...] = ()
    undo: tuple[str, ...] = ()
    left: str | None = None
    keeps: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    also_in: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    not_below: tuple[str, ...] = ()
    opaque: bool = False
    reads: str = ""
    written: tuple[str, ...] = ()
    others: str = ""
    by_family: tuple[tuple[SyntaxFamily, tuple[tuple[str, Any], ...]], ...] = ()

    def __str__(self) -> str:
        return "; ".join((*self.view, self.line))

    def of(self, family: SyntaxFamily) -> Sample:
        """Return the sample of one family."""
        more = dict(self.by_family).get(family, ())
        fields: dict[str, Any] = {key: (*getattr(self, key), *lines) for key, lines in more}
        return replace(self, **fields)

    def typed(self) -> Iterator[str]:
        """Lines that the sample types in its view; a switch accepts each."""
        yield self.line
        yield from (line for text in self.also for line in within(text))
        yield from (line for line, _ in self.becomes)
        yield from (*self.over, *self.beside, *self.default)


def samples_in(path: Path) -> Iterator[Sample]:
    """Yield the samples of a file; each has the keys of its group, and its own."""
    for group in yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader):
        shared = {key: value for key, value in group.items() if key != "samples"}
        for own in group["samples"]:
            yield _sample({**shared, **own})


def _sample(values: Mapping[str, Any]) -> Sample:
    fields = {key: _value(key, value) for key, value in values.items()}
    return Sample(**{"view": (), **fields})


def _value(key: str, value: Any) -> Any:
    if key == "view":
        return _steps(value)
    if key == "families":
        return frozenset(map(SyntaxFamily, value))
    if key == "becomes":
        return tuple(value.items())
    if key == "by_family":
        return tuple(
            (SyntaxFamily(name), tuple((key, _value(key, more)) for key, more in fields.items()))
            for name, fields in value.items()
        )
    if key in ("line", "source", "before", "saved", "left", "reads", "others", "opaque"):
        return value
    return tuple(value) if isinstance(value, list) else (value,)


@cache
def samples() -> tuple[Sample, ...]:
    """Return all samples."""
    return tuple(one for path in sorted(FOLDER.glob("*.yaml")) for one in samples_in(path))


def within(text: str) -> tuple[str, ...]:
    """Return a line, or the lines with the ends of its ranges."""
    ends = {text: text}
    for match in RANGE.finditer(text):
        ends = {key.replace(match[0], end, 1): "" for key in ends for end in match.groups()}
    return tuple(LENGTH.sub(lambda match: "x" * int(match[1]), line) for line in ends)


def beyond(text: str) -> Iterator[str]:
    """Return lines with one number out of its range."""
    for match in RANGE.finditer(text):
        for number in (int(match[1]) - 1, int(match[2]) + 1):
            if number >= 0:
                line = f"{text[: match.start()]}{number}{text[match.end() :]}"
                yield from within(line)


def complaints(sample: Sample) -> Iterator[str]:
    """List differences between the interpreter and a sample, on every family."""
    for family in SyntaxFamily:
        if family in sample.families:
            yield from (f"{family}: {text}" for text in _Judge(sample.of(family), family).judge())
        elif sample.others != OPEN and _is_taken(sample, family):
            yield f"{family}: takes `{sample}`"


def unread(sample: Sample) -> Iterator[str]:
    """List saved lines of a sample that the reader loses, or wrongly reads, on every family."""
    for family in sorted(sample.families):
        yield from (f"{family}: {text}" for text in _Judge(sample.of(family), family).unread())


def _steps(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";")) if text else ()


def _is_taken(sample: Sample, family: SyntaxFamily) -> bool:
    config, _ = replay(parse_tree(sample.before), family)
    try:
        config, view = _typed(config, (), sample.view, family)
        _typed(config, view, (sample.line,), family)
    except VrpRefusal:
        return False
    return True


def _typed(
    config: Lines, view: View, lines: Iterable[str], family: SyntaxFamily
) -> tuple[Lines, View]:
    for line in lines:
        applied = apply_line(config, view, line, family)
        config, view = applied.config, applied.view
    return config, view


def _paths(config: Lines) -> Paths:
    return frozenset(_in_order(config))


def _in_order(config: Lines) -> tuple[tuple[str, ...], ...]:
    """Return every line with its views; an empty physical port exists with or without its line."""
    return tuple(
        (*path, line.text)
        for top in joined_lines(config)
        for path, line in top.walk()
        if line.children or not EMPTY_PORT.fullmatch(line.text)
    )


def _shown(paths: Iterable[tuple[str, ...]]) -> str:
    return " | ".join(sorted(" / ".join(path) for path in paths)) or "nothing"


class _Judge:
    """One sample on a switch of one family."""

    def __init__(self, sample: Sample, family: SyntaxFamily) -> None:
        self.sample = sample
        self.family = family

    def judge(self) -> Iterator[str]:
        """Yield differences between the interpreter and the sample."""
        sample = self.sample
        try:
            base, view = self.base(sample.view)
            config, inner = self.type(base, view, sample.line)
        except VrpRefusal as refusal:
            yield f"refuses {refusal.line!r}: {refusal.message}"
            return
        if (inner != view) != bool(sample.below):
            yield f"`{sample.line}` leads to {inner}"
            return
        saved = self.expected(base, view, sample.line)
        if sample.saved is not None:
            saved = self.replayed(sample.saved)
        yield from self.same(sample.line, config, saved)
        if sample.saved is not None and _in_order(config) != _in_order(parse_tree(sample.saved)):
            yield f"saves in another order: {' | '.join(path[-1] for path in _in_order(config))}"
        yield from self.others(base, view)
        yield from self.later(base, config, view, saved)
        if sample.below:
            yield from self.inside(config, inner)
        out_of_range = [line for text in sample.also for line in beyond(text)]
        for state, lines in ((config, sample.refused), (base, sample.never)):
            for line in (*lines, *out_of_range):
                if self.takes(state, view, line):
                    yield f"takes `{line}`"
        yield from self.in_views()
        yield from self.without_needs()

    def others(self, base: Lines, view: View) -> Iterator[str]:
        """Judge other lines in place of the sample's."""
        for line in (one for text in self.sample.also for one in within(text)):
            yield from self.after(base, view, line, self.expected(base, view, line))
        for line, becomes in self.sample.becomes:
            yield from self.after(base, view, line, self.expected(base, view, becomes))
        for line in self.sample.default:
            yield from self.after(base, view, line, _paths(base))

    def later(self, base: Lines, config: Lines, view: View, saved: Paths) -> Iterator[str]:
        """Judge lines after the sample's."""
        sample = self.sample
        remaining = _paths(base) if sample.left is None else self.replayed(sample.left)
        for line in sample.over:
            yield from self.after(config, view, line, self.expected(base, view, line))
        for line in sample.beside:
            yield from self.after(config, view, line, saved | {(*view, line)})
        for line in sample.default:
            yield from self.after(config, view, line, _paths(base))
        for line in sample.undo:
            yield from self.after(config, view, line, remaining)
        for line in sample.keeps:
            yield from self.after(config, view, line, saved)

    def inside(self, config: Lines, view: View) -> Iterator[str]:
        """Judge lines of the view that the sample opens."""
        for line in filter(None, self.sample.below):
            yield from self.after(config, view, line, self.expected(config, view, line))
        for line in (*self.sample.not_below, UNKNOWN):
            if self.takes(config, view, line) and not self.sample.opaque:
                yield f"takes `{line}` below"

    def in_views(self) -> Iterator[str]:
        """Judge the same line in other views."""
        for other in self.sample.also_in:
            base, view = self.base(_steps(other))
            line = self.sample.line
            yield from self.after(base, view, line, self.expected(base, view, line))
        for other in self.sample.elsewhere:
            base, view = self.base(_steps(other))
            if self.takes(base, view, self.sample.line):
                yield f"takes `{self.sample.line}` in {other}"

    def without_needs(self) -> Iterator[str]:
        """Judge the same line without the lines that it needs."""
        for needed in self.sample.needs:
            lines = self.sample.before.splitlines()
            shortened = "\n".join(line for line in lines if line.strip() != needed)
            if len(shortened.splitlines()) == len(lines):
                yield f"has no `{needed}` before"
            base, view = self.base(self.sample.view, shortened)
            if self.takes(base, view, self.sample.line):
                yield f"takes `{self.sample.line}` without `{needed}`"

    def base(self, view: tuple[str, ...], before: str | None = None) -> tuple[Lines, View]:
        """Return the configuration before, and the view that is entered in it."""
        text = self.sample.before if before is None else before
        config, refusals = replay(parse_tree(text), self.family)
        if refusals and before is None:
            raise refusals[0]
        return _typed(config, (), view, self.family)

    def type(self, config: Lines, view: View, line: str) -> tuple[Lines, View]:
        applied = apply_line(config, view, line, self.family)
        return applied.config, applied.view

    def takes(self, config: Lines, view: View, line: str) -> bool:
        try:
            self.type(config, view, line)
        except VrpRefusal:
            return False
        return True

    def replayed(self, text: str) -> Paths:
        """Return the lines of a text, typed without change."""
        return _paths(parse_tree(text))

    def expected(self, base: Lines, view: View, line: str) -> Paths:
        """Return the lines before, the views around a line, and the line."""
        around = {view[:depth] for depth in range(1, len(view) + 1)}
        return _paths(base) | around | {(*view, line)}

    def after(self, config: Lines, view: View, line: str, expected: Paths) -> Iterator[str]:
        """Yield faults of the configuration after a line."""
        try:
            config, _ = self.type(config, view, line)
        except VrpRefusal as refusal:
            yield f"refuses {line!r}: {refusal.message}"
        else:
            yield from self.same(line, config, expected)

    def same(self, line: str, config: Lines, expected: Paths) -> Iterator[str]:
        paths = _paths(config)
        if paths != expected:
            yield (
                f"after `{line}` there is also {_shown(paths - expected)}; "
                f"missing is {_shown(expected - paths)}"
            )

    def unread(self) -> Iterator[str]:
        """Yield lines that the reader does not read as in the sample."""
        base, view = self.base(self.sample.view)
        config, inner = self.type(base, view, self.sample.line)
        yield from self.view_unread(config, inner)
        yield from self.nothing_read(base, view)
        lines = {tuple(map(masked_text, path)) for path in _paths(config) - _paths(base)}
        parsed = _parsed(tree_text(config))
        unmodelled = _kept(parsed)
        try:
            text = render(parsed.device, self.family, TEMPLATES[self.family])
        except BadInput as problem:
            if self.sample.reads != UNWRITTEN:
                yield f"cannot be written again: {problem}"
            return
        written = _paths(parse_tree(masked_text(PLACEHOLDER.sub("removed", text))))
        around = {path[:depth] for path in lines for depth in range(1, len(path))}
        for path in sorted(lines - around):
            if (path in unmodelled) != (self.sample.reads == KEPT):
                yield f"{'keeps' if path in unmodelled else 'reads'} {_shown({path})}"
                continue
            again = {(*path[:-1], *_steps(line)) for line in self.sample.written} or {path}
            if (again <= unmodelled | written) == (self.sample.reads == NOTHING):
                yield f"{'has' if path in written else 'loses'} {_shown(again)}"

    def view_unread(self, config: Lines, view: View) -> Iterator[str]:
        """Yield faults in reading the view that the line opens, with lines below it."""
        for line in filter(None, self.sample.below):
            config, _ = self.type(config, view, line)
        if any(self.sample.below):
            is_kept = tuple(map(masked_text, view)) in _kept(_parsed(tree_text(config)))
            if is_kept != (self.sample.reads == KEPT):
                yield f"{'keeps' if is_kept else 'reads'} {_shown({view})} with lines below it"

    def nothing_read(self, base: Lines, view: View) -> Iterator[str]:
        """Judge lines that leave no line; one in a saved text states the default."""
        around = tree_text(base)
        around += "".join(f"{' ' * depth}{line}\n" for depth, line in enumerate(view))
        without = _parsed(around)
        for line in (*self.sample.default, *self.sample.undo):
            parsed = _parsed(f"{around}{' ' * len(view)}{line}\n")
            if parsed.device != without.device and self.saved(parsed) != self.saved(without):
                yield f"reads something from `{line}`"
            is_kept = (*view, line) in _kept(parsed)
            if line in self.sample.default and is_kept != (self.sample.reads == KEPT):
                yield f"{'keeps' if is_kept else 'reads'} `{line}`"

    def saved(self, parsed: ParsedConfig) -> Lines:
        """Return the text that a switch saves for the parsed one; a stated default leaves no line."""
        text = render(parsed.device, self.family, TEMPLATES[self.family])
        return canonical(parse_tree(text), self.family)


def _parsed(text: str) -> ParsedConfig:
    has_name = re.search(r"^sysname ", text, re.MULTILINE)
    return parse(text if has_name else f"sysname a\n{text}", "a.cfg")


def _kept(parsed: ParsedConfig) -> Paths:
    return frozenset((*line.path, line.text) for line in parsed.unmodelled)
