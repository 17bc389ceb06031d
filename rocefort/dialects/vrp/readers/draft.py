"""A Device under construction: parts that are filled line by line and record the lines."""

from __future__ import annotations

from collections.abc import Hashable, Set
from dataclasses import dataclass, field


class BadArgumentError(ValueError):
    """A known command with an argument that no Device can have; `how` is the cure."""

    def __init__(self, what: str, how: str = "") -> None:
        self.how = how
        super().__init__(what)


NOT_MODELLED = False  # a reader's result for a line with more content than a Device can have


@dataclass(slots=True)
class Log:
    """The line that is being read, and the lines that touched each path of the Device."""

    number: int = 0
    marks: list[tuple[str, int]] = field(default_factory=list)
    first: dict[str, int] = field(default_factory=dict)  # first line of a path

    def mark(self, path: str) -> None:
        """Record that the current line sets a path."""
        self.marks.append((path, self.number))
        self.first.setdefault(path, self.number)

    def lines_in(self, paths: Set[str]) -> set[int]:
        """Return all lines that touched one of the places, given by path, or a part of it."""
        return {
            number
            for path, number in self.marks
            if path in paths
            or any(path[:at] in paths for at, sign in enumerate(path) if sign in ".[")
        }


@dataclass(slots=True)
class Part:
    """One model of the Device under construction; `path` as in parse.Parsed.lines."""

    log: Log
    path: str = ""
    fields: dict[str, object] = field(default_factory=dict)
    parts: dict[str, Part] = field(default_factory=dict)
    rows: dict[str, dict[Hashable, Part]] = field(default_factory=dict)
    values: dict[str, dict[object, None]] = field(default_factory=dict)  # sets, in order read
    facts: set[str] = field(default_factory=set)  # without a field; they restrict other lines

    def below(self, name: str) -> str:
        """Return the path of a field of this part."""
        return f"{self.path}.{name}" if self.path else name

    def set(self, name: str, value: object) -> None:
        """Set a field; another value on an earlier line is a contradiction."""
        path = self.below(name)
        earlier = self.fields.setdefault(name, value)
        if earlier != value:
            raise BadArgumentError(
                f"{path} is {value} here and {earlier} on line {self.log.first[path]}",
                "keep one of the two lines",
            )
        self.log.mark(path)

    def part(self, name: str) -> Part:
        """Return the nested model of a field, created when first named."""
        path = self.below(name)
        self.log.mark(path)
        return self.parts.setdefault(name, Part(self.log, path))

    def row(self, collection: str, key: Hashable, **named: object) -> Part:
        """Return the row of a collection, created with its naming fields when first named."""
        path = f"{self.below(collection)}[{key}]"
        self.log.mark(path)
        rows = self.rows.setdefault(collection, {})
        if key not in rows:
            rows[key] = Part(self.log, path, fields=dict(named))
        return rows[key]

    def add(self, collection: str, value: object) -> None:
        """Add a plain value to a collection; duplicates are merged."""
        self.log.mark(f"{self.below(collection)}[{value}]")
        self.values.setdefault(collection, {})[value] = None

    def take(self, collection: str, value: object) -> None:
        """Remove a plain value from a collection."""
        self.log.mark(f"{self.below(collection)}[{value}]")
        self.values.setdefault(collection, {}).pop(value, None)

    def content(self) -> dict[str, object]:
        """Return everything read, as the input of the pydantic model."""
        content = self.fields.copy()
        for name, part in self.parts.items():
            content[name] = part.content()
        for name, rows in self.rows.items():
            content[name] = tuple([row.content() for row in rows.values()])
        for name, values in self.values.items():
            content[name] = tuple(values)
        return content
