"""`{% once VALUES %}`: a part of a template that is written once for switches that share it."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from jinja2 import Environment, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser

MOST_KEPT = 4096  # texts; a fabric has a few dozen


class Once(Extension):
    """Keeps the text of its body by place, family and VALUES, so it may depend on nothing else.

    Ports and management read the same on hundreds of switches: only the first is rendered.
    """

    tags = {"once"}  # noqa: RUF012 - as Jinja2 declares it

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.kept: dict[Hashable, str] = {}

    def parse(self, parser: Parser) -> nodes.Node:
        """Turn the tag into a call of `text` with its body as the caller."""
        line = next(parser.stream).lineno
        values = parser.parse_tuple(explicit_parentheses=True)
        body = parser.parse_statements(("name:endonce",), drop_needle=True)
        place = nodes.Const((parser.name, line))
        call = self.call_method("text", [place, nodes.Name("family", "load"), values], lineno=line)
        return nodes.CallBlock(call, [], [], body).set_lineno(line)

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
