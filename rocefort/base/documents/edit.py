"""Edit a YAML file in place: its lists and scalars, and keep every other byte.

Insertions are at the marks of PyYAML's nodes. A new item has the style of a neighbour: block or
flow, indentation, quotes, blank lines. Comments are not copied. Files must be accepted by
`documents.read`: no aliases, no tags.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from rocefort.base.documents.read import YamlPath, read_text
from rocefort.base.documents.yaml_text import (
    data_of,
    double,
    double_key,
    entry_lines,
    scalar_or_flow,
    single,
)
from rocefort.base.errors import BadInput, Refused
from rocefort.base.repository import refuse_shipped

Item = Mapping[str, object]
BOM = "\ufeff"
QUOTES = ("'", '"')


@dataclass(frozen=True, slots=True)
class Insertion:
    """Text to insert before the character at an offset; several at one offset keep their order.

    cut: number of characters that it replaces.
    """

    at: int
    text: str
    cut: int = 0


def spliced(text: str, insertions: Sequence[Insertion]) -> str:
    """Return the text with all insertions."""
    out, last = [], 0
    for insertion in sorted(insertions, key=lambda one: one.at):
        out += [text[last : insertion.at], insertion.text]
        last = insertion.at + insertion.cut
    return "".join([*out, text[last:]])


def appended(
    text: str, lists: Mapping[str, Sequence[Item]], like: Mapping[str, int], beside: str
) -> list[Insertion]:
    """Return insertions that append items to top-level lists of a document.

    like: by list, the index of the item whose style new ones have; by default the last. beside: the
    list after which a new list is inserted.
    """
    source = _Source(text)
    insertions = (
        insertion
        for key, items in lists.items()
        if items
        for insertion in source.append(key, items, like.get(key, -1), beside)
    )
    return source.in_file(insertions)


def without(text: str, items: Mapping[YamlPath, Collection[int]]) -> list[Insertion]:
    """Return cuts of list items, by the list's path and their indexes; comments above them stay."""
    source = _Source(text)
    cuts = (cut for path, indexes in items.items() if indexes for cut in source.cut(path, indexes))
    return source.in_file(cuts)


def with_values(text: str, values: Mapping[YamlPath, str]) -> list[Insertion]:
    """Return replacements of scalars by text, in the quotes that they have."""
    source = _Source(text)
    return source.in_file(source.replace(path, value) for path, value in values.items())


def with_scalars(text: str, path: YamlPath, values: Sequence[int | str]) -> list[Insertion]:
    """Return insertions that append numbers or names to a list, which may be absent."""
    source = _Source(text)
    return source.in_file([source.extend(path, [str(value) for value in values])])


def with_entry(text: str, path: YamlPath, value: object) -> str:
    """Return the text with a value at a path of keys; mappings that are absent are added."""
    source = _Source(text)
    return spliced(text, source.in_file([source.set(path, value)]))


def line_comments(text: str, path: YamlPath) -> dict[YamlPath, str]:
    """Return comments behind the keys and values of a block below a path, by the rest of theirs."""
    source = _Source(text)
    return dict(source.line_comments(source.at(path)[1], ()))


def with_line_comments(text: str, comments: Mapping[YamlPath, str]) -> str:
    """Return the text with comments at the end of lines that have none.

    The second and later keys of a mapping in braces are named in theirs.
    """
    source = _Source(text)
    return spliced(text, source.in_file(source.comment_lines(comments)))


def comments_above(text: str, paths: Sequence[YamlPath]) -> list[str]:
    """Return comments directly above block items; `without` keeps them."""
    source = _Source(text)
    return [line for path in paths for line in source.comments_above(path)]


def replace_file(path: Path, before: str, after: str) -> None:
    """Replace a file with `after` atomically; a link stays, and its target changes.

    Raises Refused for a file that Rocefort ships, and if the file no longer contains `before`;
    BadInput if it cannot be written.
    """
    refuse_shipped(path)
    target, part = path.resolve(), ""
    try:
        if read_text(target) != before:
            what = "another program changed the file in the meantime"
            raise Refused(what, file=str(path), how="nothing was written; try again")
        with tempfile.NamedTemporaryFile(
            "wb", dir=target.parent, prefix=f".{target.name}.", delete=False
        ) as file:
            part = file.name
            file.write(after.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        Path(part).chmod(target.stat().st_mode & 0o7777)
        Path(part).replace(target)
    except OSError as error:
        if part:
            Path(part).unlink(missing_ok=True)
        raise BadInput(f"cannot be written: {error.strerror}", file=str(path)) from None


class _Source:
    """Document with its top-level nodes, by key."""

    def __init__(self, text: str) -> None:
        """Compose the text; it can raise PyYAML's errors, so check it by `documents.read` first."""
        self.bom = len(text) - len(text.removeprefix(BOM))  # marks do not count it
        self.text = text = text[self.bom :]
        root = yaml.compose(text, Loader=yaml.CSafeLoader)
        if not isinstance(root, yaml.MappingNode):
            raise TypeError("not a mapping; documents.read refuses it")
        self.root = root
        self.top: dict[str, yaml.Node] = {key.value: value for key, value in root.value}
        self.flow = _is_flow(root)
        self.newline = "\r\n" if "\r\n" in text else "\n"

    def append(
        self, key: str, items: Sequence[Item], like: int, beside: str
    ) -> Iterator[Insertion]:
        """Yield insertions that append items to the list `key`."""
        node = self.top.get(key)
        if node is None:
            yield self._new_list(key, items, self.top[beside])
        elif not node.value:
            yield Insertion(_offset(node.start_mark) + 1, ", ".join(map(self._generic, items)))
        elif _is_flow(node):
            yield from self._to_flow(node, [self._flow(node.value[like], item) for item in items])
        else:
            yield self._to_block(node, items, node.value[like])

    def in_file(self, insertions: Iterable[Insertion]) -> list[Insertion]:
        """Return insertions at offsets of the file."""
        return [Insertion(one.at + self.bom, one.text, one.cut) for one in insertions]

    def replace(self, path: YamlPath, value: str) -> Insertion:
        """Return the replacement of a scalar."""
        _, node = self.at(path)
        start, end = _offset(node.start_mark), _end(node, self.text)
        style = node.style if isinstance(node, yaml.ScalarNode) else None
        quoted = {"'": single, '"': double}.get(style or "", self._generic)(value)
        return Insertion(start, quoted, end - start)

    def set(self, path: YamlPath, value: object) -> Insertion:
        """Return the insertion of an entry of a mapping, or the replacement of its value."""
        key, node, rest, braces = None, self.root, list(path), False
        while rest and isinstance(node, yaml.MappingNode):
            braces = _is_flow(node)
            pair = next((pair for pair in node.value if pair[0].value == rest[0]), None)
            if pair is None:
                break
            (key, node), rest = pair, rest[1:]
        if rest and isinstance(node, yaml.MappingNode):
            for part in reversed(rest[1:]):
                value = {part: value}
            if _is_flow(node):
                comma = ", " if node.value else ""
                at = _end(node.value[-1][1], self.text) if comma else _offset(node.start_mark) + 1
                name = double(str(rest[0])) if self.flow else double_key(str(rest[0]))
                return Insertion(at, f"{comma}{name}: {self._generic(value)}")
            column = node.start_mark.column
            at = self._offset_after(node, column - 1)
            return self._lines_at(at, list(entry_lines(str(rest[0]), value, column)))
        for part in reversed(rest):  # of a key without a value
            value = {part: value}
        if key is None or braces or isinstance(value, str | int | float) or _is_flow(node):
            start, end = _offset(node.start_mark), _end(node, self.text)
            return Insertion(start, self._generic(value), end - start)
        start, end = _end(key, self.text), _end(node, self.text)
        first, *lines = entry_lines(key.value, value, key.start_mark.column)
        text = self.newline.join([first[first.rindex(key.value) + len(key.value) :], *lines])
        return Insertion(start, text, max(0, end - start))

    def extend(self, path: YamlPath, scalars: Sequence[str]) -> Insertion:
        """Return the insertion of plain scalars at the end of a list, or of a new list."""
        _, parent = self.at(path[:-1])
        node = next((value for key, value in parent.value if key.value == path[-1]), None)
        words = ", ".join(scalars)
        if node is None:
            if _is_flow(parent):
                key = self._generic(path[-1])
                return Insertion(_end(parent.value[-1][1], self.text), f", {key}: [{words}]")
            column = parent.start_mark.column
            at = self._offset_after(parent, column - 1)
            return self._lines_at(at, [f"{' ' * column}{path[-1]}: [{words}]"])
        if not node.value:
            return Insertion(_offset(node.start_mark) + 1, words)
        if _is_flow(node):
            return Insertion(_end(node.value[-1], self.text), f", {words}")
        dash = node.start_mark.column
        lines = [f"{' ' * dash}- {scalar}" for scalar in scalars]
        return self._lines_at(self._offset_after(node, dash), lines)

    def cut(self, path: YamlPath, indexes: Collection[int]) -> Iterator[Insertion]:
        """Yield cuts of items of a list; a block list without items is written as `[]`."""
        key, node = self.at(path)
        items = range(len(node.value))
        spans_of = self._flow_spans if _is_flow(node) else self._block_spans
        spans = [span for run in _runs(indexes) for span in spans_of(node, run)]
        if not _is_flow(node) and key is not None and not set(items) - set(indexes):
            yield Insertion(self.text.index(":", _end(key, self.text)) + 1, " []")
        yield from (Insertion(start, "", end - start) for start, end in spans)

    def comments_above(self, path: YamlPath) -> Iterator[str]:
        """Yield the comments directly above a block item, from the nearest."""
        _, node = self.at(path[:-1])
        if not _is_flow(node):
            end = self._dash_line(node, node.value[path[-1]])
            while (line := self._line_before(end) or "").startswith("#"):
                yield line
                end = self.text.rfind("\n", 0, end - 1) + 1

    def line_comments(self, node: yaml.Node, path: YamlPath) -> Iterator[tuple[YamlPath, str]]:
        """Yield comments at the end of lines of a block mapping, by the path below it."""
        if isinstance(node, yaml.MappingNode) and not _is_flow(node):
            for key, value in node.value:
                rest = self._after_value(key, value)[1]
                if rest.startswith("#"):
                    yield (*path, key.value), rest
                yield from self.line_comments(value, (*path, key.value))

    def comment_lines(self, comments: Mapping[YamlPath, str]) -> Iterator[Insertion]:
        """Yield insertions of comments at the end of lines, those of one line together."""
        lines: dict[int, list[str]] = {}
        for path, comment in comments.items():
            key, value = self.at(path)
            if key is None:
                continue
            at, rest = self._after_value(key, value)
            if "#" not in rest:
                end = len(self.text[: self._line_end(at)].rstrip())
                start = self.text.rfind("\n", 0, _offset(key.start_mark)) + 1
                first = not self.text[start : _offset(key.start_mark)].strip()
                words = comment.lstrip("# ")
                lines.setdefault(end, []).append(words if first else f"{path[-1]} {words}")
        yield from (Insertion(at, f"  # {'; '.join(words)}") for at, words in lines.items())

    def _after_value(self, key: yaml.Node, value: yaml.Node) -> tuple[int, str]:
        """Offset behind a value, or the colon of a block, and the rest of that line."""
        block = isinstance(value, yaml.CollectionNode) and not _is_flow(value)
        at = self.text.index(":", _end(key, self.text)) + 1 if block else _end(value, self.text)
        return at, self.text[at : self._line_end(at)].strip()

    def at(self, path: YamlPath) -> tuple[yaml.Node | None, yaml.Node]:
        """Key and value at a path."""
        key, node = None, self.root
        for part in path:
            if isinstance(part, int):
                key, node = None, node.value[part]
            else:
                key, node = next(pair for pair in node.value if pair[0].value == part)
        return key, node

    def _flow_spans(self, node: yaml.Node, run: range) -> Iterator[tuple[int, int]]:
        """Yield characters of consecutive items in brackets with one of their commas."""
        items = node.value
        first, last = items[run[0]], items[run[-1]]
        start, end = _offset(first.start_mark), _end(last, self.text)
        before = _end(items[run[0] - 1], self.text) if run[0] else start
        more = run[-1] + 1 < len(items)
        after = _offset(items[run[-1] + 1].start_mark) if more else end
        if "#" in self.text[before:after]:
            yield from (self._item_span(items[index]) for index in run)
        elif run[0]:
            yield before, end
        else:
            yield start, after

    def _item_span(self, item: yaml.Node) -> tuple[int, int]:
        """Characters of an item in brackets with its comma; the whole line if it has no more."""
        start, end = _offset(item.start_mark), _end(item, self.text)
        comma = re.compile(r"\s*,").match(self.text, end)
        end = comma.end() if comma else end
        line, line_end = self.text.rfind("\n", 0, start) + 1, self._line_end(end)
        if (self.text[line:start] + self.text[end:line_end]).strip():
            return start, end
        return line, line_end

    def _block_spans(self, node: yaml.Node, run: range) -> list[tuple[int, int]]:
        """Lines of consecutive items, with the blank lines before them, or after the first."""
        spans: list[tuple[int, int]] = []
        for index in run:
            start = self._dash_line(node, node.value[index])
            end = self._offset_after(node.value[index], node.start_mark.column)
            while index and self._line_before(start) == "":
                start = self.text.rfind("\n", 0, start - 1) + 1
            spans.append((start, end))
        start, end = spans.pop()
        if not run[0] and run[-1] + 1 < len(node.value):
            while end < len(self.text) and not self.text[end : self._line_end(end)].strip():
                end = self._line_end(end)
        while spans and spans[-1][1] == start:
            start, _ = spans.pop()
        if end == len(self.text) and not self.text.endswith("\n"):
            start = len(self.text[:start].removesuffix("\n").removesuffix("\r"))
        return [*spans, (start, end)]

    def _line_before(self, at: int) -> str | None:
        """Line that ends at an offset, without its blanks; None at the begin."""
        return self.text[self.text.rfind("\n", 0, at - 1) + 1 : at].strip() if at else None

    def _dash_line(self, node: yaml.Node, item: yaml.Node) -> int:
        """Offset of the line with an item's dash."""
        start = self.text.rfind("\n", 0, _offset(item.start_mark)) + 1
        column = node.start_mark.column
        while self.text[start : start + column + 1].strip(" ") != "-":
            start = self.text.rfind("\n", 0, start - 1) + 1
        return start

    def _new_list(self, key: str, items: Sequence[Item], beside: yaml.Node) -> Insertion:
        if self.flow:
            content = ", ".join(map(self._generic, items))
            return Insertion(_end(beside, self.text), f', "{key}": [{content}]')
        lines = ["", f"{key}:"]
        for item in items:
            pairs = [f"{name}: {scalar_or_flow(value)}" for name, value in item.items()]
            lines += [f"  {'  ' if index else '- '}{pair}" for index, pair in enumerate(pairs)]
        return self._lines_at(self._offset_after(beside, 0), lines)

    def _to_block(self, node: yaml.Node, items: Sequence[Item], like: yaml.Node) -> Insertion:
        dash = node.start_mark.column
        lines: list[str] = []
        for item in items:
            lines += ([""] if self._spaced(node) else []) + list(self._block(like, item, dash))
        return self._lines_at(self._offset_after(node, dash), lines)

    def _lines_at(self, at: int, lines: Sequence[str]) -> Insertion:
        """Insert whole lines at the begin of a line, or at the end of a file without a newline."""
        if at and self.text[at - 1] != "\n":
            return Insertion(at, "".join(self.newline + line for line in lines))
        return Insertion(at, "".join(line + self.newline for line in lines))

    def _offset_after(self, node: yaml.Node, indent: int) -> int:
        """Offset of the line after a node, its comment, and comments with more indentation."""
        at = self._line_end(_end(node, self.text))
        while at < len(self.text):
            end = self._line_end(at)
            line = self.text[at:end]
            stripped = line.lstrip(" ")
            if not stripped.startswith("#") or len(line) - len(stripped) <= indent:
                break
            at = end
        return at

    def _line_end(self, at: int) -> int:
        newline = self.text.find("\n", at)
        return len(self.text) if newline < 0 else newline + 1

    def _spaced(self, node: yaml.Node) -> bool:
        """Whether there is a blank line before the last item."""
        if len(node.value) < 2:
            return False
        before, last = node.value[-2:]
        gap = self.text[_end(before, self.text) : _offset(last.start_mark)].split("\n")
        return any(not line.strip() for line in gap[1:-1])

    def _block(self, like: yaml.Node, item: Item, dash: int) -> Iterator[str]:
        """Yield lines of one item after a dash in column `dash`, in the style of `like`."""
        if _is_flow(like):
            yield " " * dash + "- " + self._flow(like, item)
            return
        column = like.start_mark.column
        lead = " " * dash + "-" + " " * (column - dash - 1)
        for key, value in item.items():
            pair = self._pair(like, key, value)
            first, *rest = pair.split("\n")
            yield lead + first
            yield from rest  # a copied block keeps its indentation
            lead = " " * column

    def _flow(self, like: yaml.Node, item: Item) -> str:
        if not _is_flow(like) or not like.value:
            return self._generic(item)
        begin = self.text[_offset(like.start_mark) : _offset(like.value[0][0].start_mark)]
        end = self.text[_end(like.value[-1][1], self.text) : _offset(like.end_mark)]
        pairs = ", ".join(self._pair(like, key, value) for key, value in item.items())
        begin, end = (
            part if part.strip(" ") in "{}" else part.strip()[:1] for part in (begin, end)
        )
        return f"{begin}{pairs}{end if end.endswith('}') else '}'}"

    def _pair(self, like: yaml.Node, key: str, value: object) -> str:
        """Return `key: value`, copied from the neighbour if equal, else with its quotes."""
        for own, node in like.value:
            if own.value == key:
                name = self.text[_offset(own.start_mark) : _offset(own.end_mark)]
                gap = self.text[_offset(own.end_mark) : _offset(node.start_mark)]
                return self._value(name, gap, node, value)
        name = double(key) if self.flow else key
        return f"{name}: {self._generic(value)}"

    def _generic(self, value: object) -> str:
        """Return a value without a neighbour; a document that is JSON stays JSON."""
        return json.dumps(value, ensure_ascii=False) if self.flow else scalar_or_flow(value)

    def _value(self, name: str, gap: str, node: yaml.Node, value: object) -> str:
        on_line = gap if gap.strip() == ":" and "\n" not in gap and gap != ":" else ": "
        copied = self.text[_offset(node.start_mark) : _end(node, self.text)]
        if "#" not in gap + copied and data_of(copied, node.start_mark.column) == value:
            block = gap.replace("\r", "") if isinstance(node, yaml.CollectionNode) else on_line
            return name + block + copied.replace("\r", "")
        if isinstance(node, yaml.ScalarNode) and isinstance(value, str) and node.style in QUOTES:
            return name + on_line + (single(value) if node.style == "'" else double(value))
        return name + on_line + self._generic(value)

    def _to_flow(self, node: yaml.Node, items: Sequence[str]) -> Iterator[Insertion]:
        last = node.value[-1]
        end = _end(last, self.text)
        line_end = self._line_end(end)
        rest = self.text[end:line_end]
        own_line = re.fullmatch(r"[^\S\r\n]*(?:(,)[^\S\r\n]*)?(#.*)?\r?\n", rest)
        if own_line is None or last.start_mark.line == node.start_mark.line:
            yield Insertion(end, "".join(f", {item}" for item in items))
            return
        indent, comma = " " * last.start_mark.column, own_line[1]
        if not comma:
            yield Insertion(end, ",")
        lines = [f"{indent}{item}," for item in items]
        lines[-1] = lines[-1] if comma else lines[-1].removesuffix(",")
        yield Insertion(line_end, "".join(line + self.newline for line in lines))


def _runs(indexes: Collection[int]) -> Iterator[range]:
    """Yield ranges of consecutive indexes."""
    ordered = sorted(set(indexes))
    first = 0
    for place in range(1, len(ordered) + 1):
        if place == len(ordered) or ordered[place] != ordered[place - 1] + 1:
            yield range(ordered[first], ordered[place - 1] + 1)
            first = place


def _is_flow(node: yaml.Node) -> bool:
    """Whether a list or a mapping is in brackets."""
    return isinstance(node, yaml.CollectionNode) and bool(node.flow_style)


def _offset(mark: yaml.Mark) -> int:
    index: int = mark.index
    return index


def _end(node: yaml.Node, text: str) -> int:
    """Offset after the last character of a node; the end mark of a block is after comments."""
    if isinstance(node, yaml.ScalarNode):
        end = _offset(node.end_mark)
        return len(text[:end].rstrip()) if node.style in ("|", ">") else end
    if _is_flow(node) or not node.value:
        return _offset(node.end_mark)
    last = node.value[-1]
    if isinstance(last, tuple):
        key, value = last
        return max(_offset(key.end_mark), _end(value, text))
    return _end(last, text)
