"""Limits of what a template of a site computes: steps, work, characters, processor time.

A text of a template is bounded by what it reads, not by its number of steps alone: a filter and a
comparison count the items of their values before they read them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from itertools import islice
from typing import Any, cast

from jinja2 import Environment, TemplateSyntaxError, Undefined, nodes, pass_environment
from jinja2.exceptions import SecurityError
from jinja2.filters import make_attrgetter
from jinja2.nodes import EvalContext
from jinja2.runtime import Context
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

from rocefort.models.base import Frozen

# A spine with 120 leaves has 1,752 lines of 48,000 characters, and takes 534 steps.
MOST_STEPS = 200_000  # loops, calls and includes of one text
MOST_WORK = 2_000_000  # items that filters, comparisons and slices of one text read
CHARACTERS = 100  # are the work of one item
PER_FILTER = 10  # items: the work of calling a filter, which `map` does for each item
MOST_S = 20.0  # of the processor, for one text
LONGEST_TEXT = 4_000_000  # characters
LONGEST_VALUE = 10_000  # characters or items of a value that a template computes
BIGGEST_NUMBER = 2**64
SORTING_FILTERS = frozenset(("dictsort", "groupby", "sort", "unique"))
ITEM_FILTERS = frozenset(("map", "reject", "rejectattr", "select", "selectattr"))
TEXT_FILTERS = frozenset(("capitalize", "lower", "string", "trim", "upper"))
ADDRESSES = (IPv4Address, IPv4Network, IPv6Address, IPv6Network)
WRITTEN = (str, int, float, type(None), Undefined, *ADDRESSES)  # an undefined name: see CALLED
PASSED = (Context, Environment, EvalContext)  # by Jinja2 to some filters, before the value

# Steps, characters and work so far, with those of the texts within the text; its last moment.
_steps: ContextVar[list[int]] = ContextVar("steps")
_until: ContextVar[float] = ContextVar("until")


def count_step() -> None:
    """Count a loop, a call or an include."""
    steps = _steps.get()
    steps[0] += 1
    if steps[0] > MOST_STEPS:
        raise SecurityError(f"more than {MOST_STEPS} loops, calls and includes")
    if time.thread_time() > _until.get():
        raise SecurityError(f"more than {MOST_S:.0f} s of work")


def count_work(items: int) -> None:
    """Count work before it is done."""
    if (steps := _steps.get(None)) is None:  # Jinja2 computes a constant as it compiles
        return
    steps[2] += items
    if steps[2] > MOST_WORK:
        raise SecurityError(f"filters and comparisons of more than {MOST_WORK} items")


def counted(items: Iterable[object]) -> Iterator[object]:
    """Iterate over items; each is a step."""
    for item in items:
        count_step()
        yield item


def single(value: Any) -> Any:  # noqa: ANN401 - any value of a template
    """Return a value that has a short text; a list's can be long, as its items can be one list."""
    has_text = isinstance(value, Frozen) and type(value).__str__ is not Frozen.__str__
    if not isinstance(value, WRITTEN) and not has_text:
        raise SecurityError(f"`{type(value).__name__}` is no text, number or address")
    return value


def weighed(value: Any) -> Any:  # noqa: ANN401 - any value of a template
    """Return a value whose items, with those of its items, are within the limit."""
    count_work(_size(value))
    return value


def _size(value: Any) -> int:  # noqa: ANN401 - any value of a template
    """Return the work of reading a value once; SecurityError for one above the limit."""
    items, number, characters = [value], 0, 0
    while items:
        item = items.pop()
        if isinstance(item, Namespace):
            raise SecurityError("a namespace within another value")
        if isinstance(item, str):
            characters += len(item)
        elif isinstance(item, (list, tuple, dict)):
            number += len(item)
            if number <= LONGEST_VALUE:
                items += (*item, *item.values()) if isinstance(item, dict) else item
        if number > LONGEST_VALUE or characters > LONGEST_TEXT:
            raise SecurityError(f"a value of more than {LONGEST_VALUE} characters or items")
    return 1 + number + characters // CHARACTERS


def length_of(value: Any) -> int:  # noqa: ANN401 - any value of a template
    """Return the number of items of a value, or of its characters; 1 for one without any."""
    return len(value) if isinstance(value, (str, list, tuple, Mapping)) else 1


def _listed(value: Any) -> Any:  # noqa: ANN401 - any value of a template
    """Return the items of an iterator, to be weighed."""
    return list(islice(value, LONGEST_VALUE + 1)) if isinstance(value, (Iterator, range)) else value


@pass_environment
def join(
    environment: Environment,
    value: Iterable[object],
    d: object = "",
    attribute: str | int | None = None,
) -> str:
    """Join as Jinja2 does, up to the limit."""
    items = value if attribute is None else map(make_attrgetter(environment, attribute), value)
    between = str(single(d))
    texts, length = [], -len(between)
    for item in items:
        texts.append(str(single(item)))
        length += len(between) + len(texts[-1])
        if length > LONGEST_VALUE:
            break
    if length > LONGEST_VALUE:
        raise SecurityError(f"a value of more than {LONGEST_VALUE} characters or items")
    return between.join(texts)


def replace(value: object, old: object, new: object, count: int = -1) -> str:
    """Replace as Jinja2 does, up to the limit."""
    text, before, after = (str(single(each)) for each in (value, old, new))
    if text.count(before) * len(after) > LONGEST_VALUE:
        raise SecurityError(f"a value of more than {LONGEST_VALUE} characters or items")
    return text.replace(before, after, count)


def checked(value: Any) -> Any:  # noqa: ANN401 - any value of a template
    """Return a computed value within the limits."""
    if isinstance(value, int) and abs(value) > BIGGEST_NUMBER:
        raise SecurityError(f"a number above {BIGGEST_NUMBER}")
    if isinstance(value, (str, list, tuple)) and len(value) > LONGEST_VALUE:
        raise SecurityError(f"a value of more than {LONGEST_VALUE} characters or items")
    return value


def checked_filter(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter that counts its work, and whose values are within the limits."""

    @wraps(function)  # with the marks by which Jinja2 passes its context
    def limited(*values: object, **options: object) -> object:
        listed = [_listed(value) for value in values]
        read = [value for value in listed if not isinstance(value, PASSED)]
        first, *others = map(_size, read)
        rest = sum(others) + sum(map(_size, options.values()))
        number = length_of(read[0])
        if name in SORTING_FILTERS:
            first *= number.bit_length()
        elif name == "sum":  # of lists: each sum is copied
            first *= number
        elif name in ITEM_FILTERS:
            rest *= number
        count_work(PER_FILTER + first + rest)
        if name in TEXT_FILTERS:
            single(listed[0])
        return checked(function(*listed, **options))

    return limited


def concat(parts: Iterable[str]) -> str:
    """Join the parts of a text, up to the limit."""
    texts, steps = [], _steps.get()
    for part in parts:
        steps[1] += len(part)
        if steps[1] > LONGEST_TEXT:
            raise SecurityError(f"a text of more than {LONGEST_TEXT} characters")
        texts.append(part)
    return "".join(texts)


class _Limits(NodeTransformer):
    """Loops are counted; `~` is a filter, whose result has a limit; what reads lists is weighed."""

    def __init__(self, name: str | None) -> None:
        self.name = name

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - Jinja2's name
        if node.recursive:
            raise TemplateSyntaxError("a recursive loop is not supported", node.lineno, self.name)
        node.iter = _filter(node.iter, "counted")
        return self.generic_visit(node)

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802 - Jinja2's name
        self.generic_visit(node)
        return _filter(nodes.List(node.nodes, lineno=node.lineno), "join")

    def visit_List(self, node: nodes.List) -> nodes.Node:  # noqa: N802 - Jinja2's name
        return _filter(self.generic_visit(node), "weighed")

    def visit_Dict(self, node: nodes.Dict) -> nodes.Node:  # noqa: N802 - Jinja2's name
        return _filter(self.generic_visit(node), "weighed")

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:  # noqa: N802 - Jinja2's name
        self.generic_visit(node)
        return _filter(node, "weighed") if node.ctx == "load" else node

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:  # noqa: N802 - Jinja2's name
        self.generic_visit(node)
        node.expr = _filter(node.expr, "weighed")
        for operand in node.ops:
            operand.expr = _filter(operand.expr, "weighed")
        return node

    def visit_Test(self, node: nodes.Test) -> nodes.Node:  # noqa: N802 - Jinja2's name
        self.generic_visit(node)
        if node.name not in ("defined", "undefined"):  # these take a name, not its value
            node.node = _filter(node.node, "weighed")
            node.args = [_filter(each, "weighed") for each in node.args]
        return node

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:  # noqa: N802 - Jinja2's name
        self.generic_visit(node)
        if isinstance(node.arg, nodes.Slice):
            node.node = _filter(node.node, "weighed")
        elif not isinstance(node.arg, nodes.Const):  # a tuple is read to find it in a mapping
            node.arg = _filter(node.arg, "weighed")
        return node

    def visit_Assign(self, node: nodes.Assign) -> nodes.Node:  # noqa: N802 - Jinja2's name
        self.generic_visit(node)
        if node.find(nodes.NSRef):
            node.node = _filter(node.node, "weighed")
        return node


def _filter(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def limited_tree(source: nodes.Template, name: str | None) -> nodes.Template:
    """Return the tree of a template whose loops, comparisons and slices count."""
    return cast("nodes.Template", _Limits(name).visit(source))


@contextmanager
def limited_text() -> Iterator[None]:
    """Count the steps, the characters and the work of one text from zero."""
    token = _steps.set([0, 0, 0])
    until = _until.set(time.thread_time() + MOST_S)
    try:
        yield
    finally:
        _steps.reset(token)
        _until.reset(until)


def is_counted() -> bool:
    """Whether a text is being written, and not only compiled."""
    return _steps.get(None) is not None
