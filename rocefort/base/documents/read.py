"""Read YAML or TOML as data with the position of every value.

It uses the events of PyYAML's C parser. The composer resolves aliases and drops tags before they
can be refused, and an alias bomb of 300 bytes has millions of leaves.
"""

from __future__ import annotations

import logging
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import yaml

from napalm_cloudengine import regular_file
from rocefort.base.documents.secret_lines import sounds_secret
from rocefort.base.documents.syntax_errors import NO_BREAK, cause_of, masked, remember_text
from rocefort.base.errors import BadInput, Problem
from rocefort.models.network.network import Position

LOG = logging.getLogger(__name__)

YamlPath = tuple[str | int, ...]
Mark = tuple[int, int]  # line and column, 1-based
LARGEST_BYTES = 16 * 1024 * 1024  # a 5,000-switch fabric takes about 3 MB
DEEPEST = 32  # a fabric nests 6 deep
LONGEST_KEY = 60  # characters of a key that an error shows
SMALL = 64 * 1024  # characters: the content of files of hardware or profiles is cached

# YAML 1.2 core schema; 1.1's `no`, `012`, `1:30` stay text.
_WORDS: dict[str, object] = dict.fromkeys(("", "~", "null", "Null", "NULL"))
_WORDS |= dict.fromkeys(("true", "True", "TRUE"), True)
_WORDS |= dict.fromkeys(("false", "False", "FALSE"), False)
# (Numbers of absurd length stay text, too: Python refuses to read them.)
_INTEGER = re.compile(r"[-+]?\d{1,40}|0x[0-9a-fA-F]{1,40}|0o[0-7]{1,40}")
_FLOAT = re.compile(r"[-+]?(\.\d{1,40}|\d{1,40}(\.\d{0,40})?)([eE][-+]?\d{1,4})?")


@dataclass(frozen=True)
class Document:
    """Immutable data of one YAML file; `values` and `keys` are positions by YAML path.

    Files with the same text share its data: hardware and profiles are mostly equal on both sides of
    a review. written: the path that the author wrote, by the path of a value that follows from it.
    """

    file: str
    data: object
    values: Mapping[YamlPath, Mark]
    keys: Mapping[YamlPath, Mark]
    written: Mapping[YamlPath, YamlPath] = field(default_factory=dict)

    def source(self, path: YamlPath) -> YamlPath:
        """Return the path that the author wrote, of a path that may follow from it."""
        for length in range(len(path), 0, -1) if self.written else ():
            if (start := self.written.get(path[:length])) is not None:
                return (*start, *path[length:])
        return path

    def at(self, path: YamlPath) -> Position:
        """Return the position of the value at a path, or of the nearest one that encloses it."""
        path = self.source(path)
        while path and path not in self.values:
            path = path[:-1]
        return Position(self.file, *self.values.get(path, (1, 1)))

    def key_at(self, path: YamlPath) -> Position:
        """Return the position of the key (or list item) at a path."""
        mark = self.keys.get(self.source(path))
        return Position(self.file, *mark) if mark else self.at(path)

    def problem(self, path: YamlPath, what: str, how: str = "", *, of_key: bool = False) -> Problem:
        """Return a problem of the value at a path, or of its key."""
        at = self.key_at(path) if of_key else self.at(path)
        return masked(Problem(path_text(self.source(path)), what, how, at.file, at.line, at.column))


def path_text(path: YamlPath) -> str:
    """Return a path as text: ("leaves", 0, "name") -> `leaves[0].name`."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{_plain_key(part)}" for part in path]
    return "".join(parts).removeprefix(".")


def _plain_key(key: str) -> str:
    """Return a key as it is, or as a quoted prefix if it is long or has control characters."""
    return key if key.isprintable() and len(key) <= LONGEST_KEY else f"{key[:LONGEST_KEY]!r}"


def read_document(path: Path, first: str = "fabric: NAME") -> Document:
    """Read one YAML file; raises BadInput with all its problems.

    first: the first line of such a file, for the hint on an empty file.
    """
    return document_of(read_text(path), str(path), first)


def document_of(text: str, path: str, first: str = "fabric: NAME") -> Document:
    """Read text as a YAML file; `path` is its name in errors. Raises as `read_document` does."""
    remember_text(path, text)
    try:
        data, values, keys = _small_content(text) if len(text) <= SMALL else _content(text)
    except _DocumentError as error:
        raise BadInput(problems=[refusal.problem(path) for refusal in error.refusals]) from None
    except yaml.MarkedYAMLError as error:
        cause = cause_of(text, error)
        place = (path, cause.line, cause.column)
        raise BadInput(problems=[masked(Problem("", cause.what, cause.how, *place))]) from None
    except yaml.reader.ReaderError as error:
        raise _bad_character(path, text, chr(error.character)) from None
    if not isinstance(data, dict):
        what = "the file is empty" if data is None else "the file is not a mapping"
        raise BadInput(what, how=f"begin with `{first}`", file=path, line=1, column=1)
    return Document(path, data, values, keys)


def _bad_character(path: str, text: str, character: str) -> BadInput:
    before = text[: text.index(character)]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    what = f"character {character!r} is not allowed in YAML"
    return BadInput(what, how="remove it", file=path, line=line, column=column)


def read_text(path: Path, level: int = logging.INFO) -> str:
    """Return the text of a file with its line ends; raises BadInput if it cannot be read.

    level: of the line in the log, lower for a file that is only searched.
    """
    try:
        with regular_file.open_regular(path) as file:
            content = file.read(LARGEST_BYTES + 1)
        if len(content) > LARGEST_BYTES:
            raise BadInput(
                f"the file is larger than {LARGEST_BYTES // 1024 // 1024} MB",
                file=str(path),
                how="check the path",
            )
        LOG.log(level, "read %s, %s bytes", path, len(content))
        return content.decode("utf-8")
    except FileNotFoundError:
        raise BadInput("no such file", file=str(path), how="check the path") from None
    except IsADirectoryError:
        raise BadInput("is a directory", file=str(path), how="name the file in it") from None
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        what = f"not UTF-8 (byte 0x{content[error.start]:02X})"
        raise BadInput(what, how="save it as UTF-8", file=str(path), line=line) from None
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", file=str(path)) from None


_Content = tuple[object, Mapping[YamlPath, Mark], Mapping[YamlPath, Mark]]  # data, values, keys


@dataclass(frozen=True)
class _DocumentProblem:
    """Problem of a text, without the name of its file."""

    mark: Mark
    path: YamlPath
    what: str
    how: str

    def problem(self, file: str) -> Problem:
        """Return the problem with its place in a file."""
        return masked(Problem(path_text(self.path), self.what, self.how, file, *self.mark))


class _DocumentError(Exception):
    """All problems of a text."""

    def __init__(self, refusals: Sequence[_DocumentProblem]) -> None:
        super().__init__()
        self.refusals = refusals


def _content(text: str) -> _Content:
    """Return the content of a text; raises _DocumentError, and PyYAML's own errors."""
    loader = yaml.CSafeLoader(text)
    try:
        builder = _DocumentBuilder(loader.get_event)
        data = builder.build()
    finally:
        loader.dispose()
    if builder.refusals:
        raise _DocumentError(builder.refusals)
    return data, builder.values, builder.keys


@lru_cache(maxsize=128)
def _small_content(text: str) -> _Content:
    """Return the content of a text, from a cache."""
    return _content(text)


@dataclass
class _DocumentBuilder:
    event: Callable[[], yaml.Event | None]  # returns the next one; None at the end
    values: dict[YamlPath, Mark] = field(default_factory=dict)
    keys: dict[YamlPath, Mark] = field(default_factory=dict)
    refusals: list[_DocumentProblem] = field(default_factory=list)

    def build(self) -> object:
        data: object = None
        documents = 0
        while (event := self.event()) is not None:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._refuse(event, (), "a second document", "keep one document a file")
            elif isinstance(event, yaml.NodeEvent):
                node = self._node(event, ())
                data = node if documents == 1 else data
        return data

    def _node(self, event: yaml.NodeEvent, path: YamlPath) -> object:
        mark = _mark(event)
        self.values.setdefault(path, mark)
        if len(path) > DEEPEST:
            what = f"nested more than {DEEPEST} deep"
            raise _DocumentError([_DocumentProblem(mark, (), what, "keep it flat")])
        if type(event) is yaml.ScalarEvent and not (event.anchor or event.tag):
            return _scalar(event)  # the usual case
        if isinstance(event, yaml.AliasEvent):
            what = f"alias {_shown(f'*{event.anchor}', path)}"
            self._refuse(event, path, what, "write the value out")
            return None
        if event.anchor:
            what = f"anchor {_shown(f'&{event.anchor}', path)}"
            self._refuse(event, path, what, "write the value out")
        tag = getattr(event, "tag", None)
        if tag:
            self._refuse(event, path, f"tag {_shown(tag, path)}", "remove the tag")
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        return _scalar(event) if isinstance(event, yaml.ScalarEvent) else None

    def _sequence(self, path: YamlPath) -> list[object]:
        out: list[object] = []
        while not isinstance(event := self.event(), yaml.SequenceEndEvent):
            out.append(self._node(_a_node(event), (*path, len(out))))
        return out

    def _mapping(self, path: YamlPath) -> dict[str, object]:
        out: dict[str, object] = {}
        while not isinstance(event := self.event(), yaml.MappingEndEvent):
            self._entry(_a_node(event), path, out)
        return out

    def _entry(self, event: yaml.NodeEvent, path: YamlPath, out: dict[str, object]) -> None:
        if type(event) is yaml.ScalarEvent and not (event.anchor or event.tag):
            key = event.value
            if key != key.strip():  # YAML leaves out ordinary spaces
                self._refuse(event, path, *NO_BREAK)
        else:
            self._node(event, (*path, "?"))
            self._refuse(event, path, *_key_problem(event))
            key = "?"
        here = (*path, key)
        if key in out:
            line, _ = self.keys[here]
            self._refuse(
                event,
                here,
                f"key {key!r} is there twice",
                f"remove one: the first is on line {line}",
            )
        self.keys.setdefault(here, _mark(event))
        value = self._node(_a_node(self.event()), here)
        out.setdefault(key, value)

    def _refuse(self, event: yaml.Event, path: YamlPath, what: str, how: str) -> None:
        self.refusals.append(_DocumentProblem(_mark(event), path, what, how))


def _shown(word: str, path: YamlPath) -> str:
    """Return a word of a value, or its first character where it may be a secret: `!x`, `*x`."""
    return word[0] if sounds_secret(path_text(path)) else word


def _key_problem(event: yaml.NodeEvent) -> tuple[str, str]:
    if isinstance(event, yaml.MappingStartEvent):  # `{{ name }}`
        what = "a mapping as a key: `{{` begins one, and nothing fills in placeholders here"
        return what, "write the value itself"
    return "a key that is not plain text", "use a word as the key"


def _mark(event: yaml.Event) -> Mark:
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _a_node(event: yaml.Event | None) -> yaml.NodeEvent:
    if not isinstance(event, yaml.NodeEvent):  # the parser closes every collection
        raise TypeError(f"{event!r} where a value must be")
    return event


def _scalar(event: yaml.ScalarEvent) -> object:
    text: str = event.value
    if not event.implicit[0]:  # quoted or block: always text
        return text
    if text in _WORDS:
        return _WORDS[text]
    if not (text[0].isdecimal() or text[0] in "+-."):  # not the begin of a number
        return text
    if _INTEGER.fullmatch(text):
        return int(text, 0) if text[:2] in ("0x", "0o") else int(text, 10)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


KEY = re.compile(r"""^\s*(?:\[+\s*)?["']?([\w-]+)["']?\s*(?:[.=\]]\s*|$)""", re.ASCII)
PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def read_toml(path: Path) -> Document:
    """Read one TOML file; raises BadInput with the place of a syntax error."""
    text = read_text(path)
    remember_text(str(path), text)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = PLACE.search(str(error))
        what = PLACE.sub("", str(error))
        line, column = place.groups() if place and place[1] else (text.count("\n") + 1, 1)
        what = f"not TOML: {what[:1].lower()}{what[1:]}"
        raise BadInput(
            what,
            how='write each key once: KEY = "VALUE"',
            file=str(path),
            line=int(line),
            column=int(column),
        ) from None
    except (RecursionError, ValueError):  # thousands of brackets, or of digits
        what = "nested too deep, or a number is too long"
        raise BadInput(what, file=str(path), how='write short values: KEY = "VALUE"') from None
    values: dict[YamlPath, Mark] = {}
    keys: dict[YamlPath, Mark] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = KEY.match(line)
        if match and match[1] in data and (match[1],) not in keys:
            keys[match[1],] = (number, match.start(1) + 1)
            values[match[1],] = (number, match.end() + 1)
    return Document(str(path), data, values, keys)
