"""Parts of a template that need not be written a second time.

`{% once VALUES %}` keeps every text of its body: ports and management read the same on hundreds of
switches. `{% each ROW in ROWS %}` is a loop that keeps the last text of each key: most ports and
peers are as they were when their switch was last written, before the change that is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Protocol
from weakref import ReferenceType, ref

from jinja2 import Environment, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser

MOST_KEPT = 16384  # texts; of ports and peers those of a few switches


class Row(Protocol):
    """A row of a collection of a Device."""

    @property
    def key(self) -> Hashable:
        """What it is known by there."""


class Once(Extension):
    """Keeps the text of its body by place, family and VALUES, so it may depend on nothing else."""

    tags = {"once"}  # noqa: RUF012 - as Jinja2 declares it

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.kept: dict[Hashable, str] = {}

    def parse(self, parser: Parser) -> nodes.Node:
        """Turn the tag into a call of `text` with its body as the caller."""
        line = next(parser.stream).lineno
        return _call(self, parser, line, parser.parse_tuple(explicit_parentheses=True), "endonce")

    def text(
        self, place: tuple[str, int], family: str, values: Hashable, caller: Callable[[], str]
    ) -> str:
        """Text of the body for these values."""
        key = place, family, values
        found = self.kept.get(key)
        if found is None:
            if len(self.kept) >= MOST_KEPT:
                self.kept.clear()
            found = self.kept[key] = caller()
        return found


class Each(Extension):
    """Keeps the last text of its body by place, family and the key of a row of the Device.

    The body may depend on nothing but the row and the family. Rows are not kept alive by it: what
    nobody holds any more is not written again.
    """

    tags = {"each"}  # noqa: RUF012 - as Jinja2 declares it

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.kept: dict[Hashable, tuple[ReferenceType[Row], str]] = {}

    def parse(self, parser: Parser) -> nodes.Node:
        """Turn the tag into a call of `text` with its body as the caller, by a row."""
        line = next(parser.stream).lineno
        row = nodes.Name(parser.stream.expect("name").value, "param")
        parser.stream.expect("name:in")
        return _call(self, parser, line, parser.parse_expression(), "endeach", row)

    def text(
        self,
        place: tuple[str, int],
        family: str,
        rows: Iterable[Row],
        caller: Callable[[Row], str],
    ) -> str:
        """Text of the body for all rows, one after the other."""
        found: list[str] = []
        for row in rows:
            key = place, family, row.key
            kept = self.kept.get(key)
            known, text = (kept[0](), kept[1]) if kept else (None, "")
            if known is not row and known != row:
                if len(self.kept) >= MOST_KEPT:
                    self.kept.clear()
                text = caller(row)
                self.kept[key] = ref(row), text
            found.append(text)
        return "".join(found)


def _call(
    tag: Extension, parser: Parser, line: int, values: nodes.Expr, end: str, *given: nodes.Name
) -> nodes.Node:
    body = parser.parse_statements((f"name:{end}",), drop_needle=True)
    place = nodes.Const((parser.name, line))
    call = tag.call_method("text", [place, nodes.Name("family", "load"), values], lineno=line)
    return nodes.CallBlock(call, list(given), [], body).set_lineno(line)
