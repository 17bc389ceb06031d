"""Templates of a site, which precede the shipped ones: their sandbox, and the source of each line.

A review renders the templates of a pull request, so they run in Jinja2's sandbox and get less than
a shipped template: no method of a model, few filters, no random value. The number of steps, their
work, the length of a text and of a value are limited. So is the processor time, for what is not
counted, such as a property of a model.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import wraps
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from itertools import islice
from typing import Any

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    PrefixLoader,
    Template,
    TemplateNotFound,
    TemplateSyntaxError,
    Undefined,
    nodes,
    pass_environment,
)
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension
from jinja2.filters import make_attrgetter
from jinja2.lexer import Token, TokenStream
from jinja2.meta import find_referenced_templates
from jinja2.nodes import EvalContext
from jinja2.runtime import BlockReference, Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment, safe_range
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

from rocefort.documents.suggest import nearest
from rocefort.errors import BadInput
from rocefort.models.base import Frozen
from rocefort.models.hardware.hardware import SITE_TEMPLATES, SiteTemplates
from rocefort.paths import TEMPLATES
from rocefort.templating import text_templates

SHIPPED = "shipped"  # prefix of the shipped templates: {% extends "shipped/ce8851.j2" %}
FOLDER = TEMPLATES / "vrp"
# A spine with 120 leaves has 1,752 lines of 48,000 characters, and takes 534 steps.
MOST_STEPS = 200_000  # loops, calls and includes of one text
MOST_WORK = 5_000_000  # items that filters, comparisons and slices of one text read
CHARACTERS = 100  # are the work of one item
MOST_S = 20.0  # of the processor, for one text
LONGEST_TEXT = 4_000_000  # characters
LONGEST_VALUE = 10_000  # characters or items of a value that a template computes
BIGGEST_NUMBER = 2**64
MARK = re.compile("\x01([^\x01\x02]*):([0-9]+)\x02")  # template and line, before the line's text

EXTEND = f'the shipped template of the same name: {{% extends "{SHIPPED}/NAME.j2" %}}'
OBJECT = re.compile(r"'[\w.]*\.(\w+) object'")  # in Jinja2's sentence on an undefined name

FILTERS = (
    *("abs", "capitalize", "count", "d", "default", "dictsort", "first", "groupby", "int"),
    *("items", "join", "last", "length", "list", "lower", "map", "max", "min", "reject"),
    *("rejectattr", "replace", "reverse", "select", "selectattr", "sort", "string", "sum"),
    *("trim", "unique", "upper"),
)
STRING_METHODS = frozenset(
    (
        *("count", "endswith", "find", "isdecimal", "isdigit", "lower", "lstrip", "partition"),
        *("removeprefix", "removesuffix", "rpartition", "rsplit", "rstrip", "split"),
        *("startswith", "strip", "upper"),
    )
)
SORTING_FILTERS = frozenset(("dictsort", "groupby", "sort", "unique"))
ITEM_FILTERS = frozenset(("map", "reject", "rejectattr", "select", "selectattr"))
TEXT_FILTERS = frozenset(("capitalize", "lower", "string", "trim", "upper"))
ADDRESSES = (IPv4Address, IPv4Network, IPv6Address, IPv6Network)
WRITTEN = (str, int, float, type(None), Undefined, *ADDRESSES)  # an undefined name: see CALLED
PASSED = (Context, Environment, EvalContext)  # by Jinja2 to some filters, before the value
JINJA_VARIABLES = frozenset(("_block_vars", "_loop_vars"))
MAPPING_METHODS = frozenset(("get", "items", "keys", "values"))
CALLED = (BlockReference, Macro, LoopContext, Undefined)  # an undefined name has its own error

# Steps, characters and work so far, with those of the texts within the text; its last moment.
_steps: ContextVar[list[int]] = ContextVar("steps")
_until: ContextVar[float] = ContextVar("until")


class Lines(str):
    """Lines that a template wrote: each value in them has passed the check."""

    __slots__ = ()


class ArgumentError(ValueError):
    """A value that would become several arguments, or none."""

    HOW = "use single blanks and no control characters in descriptions, no blanks in names"

    def __init__(self, value: object) -> None:
        self.value = value
        super().__init__(f"{value!r} cannot stand in a configuration line")


def _step() -> None:
    steps = _steps.get()
    steps[0] += 1
    if steps[0] > MOST_STEPS:
        raise SecurityError(f"more than {MOST_STEPS} loops, calls and includes")
    if time.thread_time() > _until.get():
        raise SecurityError(f"more than {MOST_S:.0f} s of work")


def _work(items: int) -> None:
    """Count work before it is done."""
    if (steps := _steps.get(None)) is None:  # Jinja2 computes a constant as it compiles
        return
    steps[2] += items
    if steps[2] > MOST_WORK:
        raise SecurityError(f"filters and comparisons of more than {MOST_WORK} items")


def _counted(items: Iterable[object]) -> Iterator[object]:
    for item in items:
        _step()
        yield item


def _single(value: Any) -> Any:  # noqa: ANN401 - any value of a template
    """Return a value that has a short text; a list's can be long, as its items can be one list."""
    has_text = isinstance(value, Frozen) and type(value).__str__ is not Frozen.__str__
    if not isinstance(value, WRITTEN) and not has_text:
        raise SecurityError(f"`{type(value).__name__}` is no text, number or address")
    return value


def _weighed(value: Any) -> Any:  # noqa: ANN401 - any value of a template
    """Return a value whose items, with those of its items, are within the limit."""
    _work(_size(value))
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


def _length(value: Any) -> int:  # noqa: ANN401 - any value of a template
    return len(value) if isinstance(value, (str, list, tuple, Mapping)) else 1


def _listed(value: Any) -> Any:  # noqa: ANN401 - any value of a template
    """Return the items of an iterator, to be weighed."""
    return list(islice(value, LONGEST_VALUE + 1)) if isinstance(value, (Iterator, range)) else value


@pass_environment
def _join(
    environment: Environment,
    value: Iterable[object],
    d: object = "",
    attribute: str | int | None = None,
) -> str:
    """Join as Jinja2 does, up to the limit."""
    items = value if attribute is None else map(make_attrgetter(environment, attribute), value)
    between = str(_single(d))
    texts, length = [], -len(between)
    for item in items:
        texts.append(str(_single(item)))
        length += len(between) + len(texts[-1])
        if length > LONGEST_VALUE:
            break
    if length > LONGEST_VALUE:
        raise SecurityError(f"a value of more than {LONGEST_VALUE} characters or items")
    return between.join(texts)


def _replace(value: object, old: object, new: object, count: int = -1) -> str:
    """Replace as Jinja2 does, up to the limit."""
    text, before, after = (str(_single(each)) for each in (value, old, new))
    if text.count(before) * len(after) > LONGEST_VALUE:
        raise SecurityError(f"a value of more than {LONGEST_VALUE} characters or items")
    return text.replace(before, after, count)


def _checked(value: Any) -> Any:  # noqa: ANN401 - any value of a template
    if isinstance(value, int) and abs(value) > BIGGEST_NUMBER:
        raise SecurityError(f"a number above {BIGGEST_NUMBER}")
    if isinstance(value, (str, list, tuple)) and len(value) > LONGEST_VALUE:
        raise SecurityError(f"a value of more than {LONGEST_VALUE} characters or items")
    return value


def _checked_filter(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)  # with the marks by which Jinja2 passes its context
    def checked(*values: object, **options: object) -> object:
        listed = [_listed(value) for value in values]
        read = [value for value in listed if not isinstance(value, PASSED)]
        first, *others = map(_size, read)
        rest = sum(others) + sum(map(_size, options.values()))
        number = _length(read[0])
        if name in SORTING_FILTERS:
            first *= number.bit_length()
        elif name == "sum":  # of lists: each sum is copied
            first *= number
        elif name in ITEM_FILTERS:
            rest *= number
        _work(first + rest)
        if name in TEXT_FILTERS:
            _single(listed[0])
        return _checked(function(*listed, **options))

    return checked


def _concat(parts: Iterable[str]) -> str:
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


class _LineMarks(Extension):
    """Adds template and line before each piece of text, to find the source of a written line."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        """Mark the text between the tags, after the lexer has removed blanks."""
        for token in stream:
            if token.type != "data":
                yield token
                continue
            pieces = token.value.splitlines(keepends=True)
            marked = (
                f"\x01{stream.name}:{token.lineno + number}\x02{piece}"
                for number, piece in enumerate(pieces)
            )
            yield Token(token.lineno, token.type, "".join(marked))


class SiteEnvironment(ImmutableSandboxedEnvironment):
    """Sandbox of a site's templates and of the shipped ones that they extend."""

    loader: BaseLoader
    intercepted_binops = frozenset(("+", "*", "**", "%"))
    concat = staticmethod(_concat)

    def _generate(
        self,
        source: nodes.Template,
        name: str | None,
        filename: str | None,
        defer_init: bool = False,
    ) -> str:
        limited = _Limits(name).visit(source)
        return super()._generate(limited, name, filename, defer_init=defer_init)

    def _load_template(self, name: str, globals: Any) -> Template:  # noqa: A002, ANN401
        if _steps.get(None) is not None:  # an include within a text
            _step()
        return super()._load_template(name, globals)

    def is_safe_callable(self, obj: Any) -> bool:  # noqa: ANN401 - any value of a template
        """Allow blocks, macros, loops, `range`, and methods that only read text and mappings."""
        owner, name = getattr(obj, "__self__", None), getattr(obj, "__name__", "")
        return (
            isinstance(obj, CALLED)
            or any(obj is known for known in self.globals.values())
            or (isinstance(owner, str) and name in STRING_METHODS)
            or (isinstance(owner, Mapping) and name in MAPPING_METHODS)
            or (isinstance(owner, LoopContext) and name in ("cycle", "changed"))
        )

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ANN401
        """Add, multiply and divide numbers, and join short values."""
        if operator != "+" and not (isinstance(left, int) and isinstance(right, int)):
            raise SecurityError(f"`{operator}` is for whole numbers")
        if operator == "**":
            raise SecurityError("`**` is not supported")
        for value in (left, right):
            _work(_length(value))
        return _checked(super().call_binop(context, operator, left, right))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401, N805 - Jinja2's signature
        """Call a block, a macro or a reading method; the former give lines of templates."""
        _step()
        if not __self.is_safe_callable(__obj):
            name = getattr(__obj, "__name__", type(__obj).__name__)
            raise SecurityError(f"`{name}` cannot be called in a template of a site")
        _work(_length(getattr(__obj, "__self__", None)))
        # Jinja2 passes all variables by `_block_vars` and `_loop_vars`, and removes them there.
        named = (value for name, value in kwargs.items() if name not in JINJA_VARIABLES)
        for argument in (*args, *named):
            _weighed(argument)
        value = super().call(__context, __obj, *args, **kwargs)
        return Lines(value) if isinstance(__obj, (BlockReference, Macro)) else value


class _SiteLoader(BaseLoader):
    """The site's templates by name, with the file names of errors."""

    def __init__(self, own: SiteTemplates) -> None:
        self._own = dict(own)

    def get_source(
        self,
        environment: Environment,  # noqa: ARG002 - Jinja2's signature
        template: str,
    ) -> tuple[str, str, None]:
        """Return text and file of a template."""
        if template not in self._own:
            raise TemplateNotFound(template)
        return self._own[template], file_of(template), None

    def list_templates(self) -> list[str]:
        """Return the site's templates."""
        return sorted(self._own)


def file_of(name: str) -> str:
    """Return the file of a template, from the site's root; of a shipped one, from Rocefort's."""
    return f"{SITE_TEMPLATES}/{name.removeprefix(f'{SHIPPED}/')}"


def site_environment(
    own: SiteTemplates, guard: Callable[[object], str], filters: Mapping[str, Callable[..., Any]]
) -> SiteEnvironment:
    """Return the environment of a site's templates; raises BadInput for those that no one uses.

    guard: the check of each value. filters: those of the shipped templates.
    """
    environment = text_templates(FOLDER, lambda value: guard(_single(value)), SiteEnvironment)
    shipped = FileSystemLoader(FOLDER)
    environment.loader = ChoiceLoader([PrefixLoader({SHIPPED: shipped}), _SiteLoader(own), shipped])
    environment.add_extension(_LineMarks)
    environment.globals = {"range": safe_range, "namespace": Namespace}
    known = {**environment.filters, "join": _join, "replace": _replace}
    allowed = {name: _checked_filter(name, known[name]) for name in FILTERS}
    environment.filters = {**allowed, "counted": _counted, "weighed": _weighed, **filters}
    free_text = filters["free_text"]
    environment.filters["free_text"] = lambda value: free_text(_single(value))
    _refuse_unused(environment, own, shipped.list_templates())
    return environment


def _refuse_unused(environment: SiteEnvironment, own: SiteTemplates, shipped: list[str]) -> None:
    """Raise BadInput for a file or a block that has no effect, such as one with a wrong name."""
    trees: dict[str, nodes.Template] = {}
    named: set[str | None] = set()
    for name, text in own:
        try:
            trees[name] = environment.parse(text, name, file_of(name))
        except TemplateSyntaxError as error:
            raise problem_of(error) from error
        except ValueError as error:  # a number of more digits than Python reads
            raise BadInput(str(error), file=file_of(name), how="correct the template") from error
        for extends in trees[name].find_all(nodes.Extends):
            parent = extends.template
            if isinstance(parent, nodes.Const) and not isinstance(parent.value, str):
                what = f"extends {parent.value}, which is no name"
                raise BadInput(what, how=EXTEND, file=file_of(name), line=extends.lineno)
        named |= set(find_referenced_templates(trees[name]))
    for name, tree in trees.items():
        if name not in shipped and name not in named and None not in named:
            what = "no shipped template has this name, and no template of the site names it"
            raise BadInput(what, file=file_of(name), how=nearest(name, shipped))
        blocks = _blocks(environment, tree, shipped, {name})
        for block in tree.find_all(nodes.Block) if tree.find(nodes.Extends) else ():
            if block.name not in blocks | _inner(tree):
                what = f"the extended template has no block {block.name!r}"
                how = nearest(block.name, sorted(blocks))
                raise BadInput(what, how=how, file=file_of(name), line=block.lineno)


def _inner(tree: nodes.Template) -> set[str]:
    """Return blocks inside other blocks of a template: they are written where they are."""
    outer = tree.find_all(nodes.Block)
    return {inner.name for block in outer for inner in block.find_all(nodes.Block)}


def _blocks(
    environment: SiteEnvironment, tree: nodes.Template, shipped: list[str], seen: set[str]
) -> set[str]:
    """Return the blocks of the templates that a template extends."""
    blocks: set[str] = set()
    for extends in tree.find_all(nodes.Extends):
        parent = extends.template
        # The entry of a switch computes its parent: any family.
        families = (name for name in shipped if name.startswith("family/"))
        names = {parent.value} if isinstance(parent, nodes.Const) else {*families}
        for name in names - seen:
            seen.add(name)
            try:
                text, file, _ = environment.loader.get_source(environment, name)
            except TemplateNotFound:
                continue  # reported by the rendering, with its line
            above = environment.parse(text, name, file)
            blocks |= {block.name for block in above.find_all(nodes.Block)}
            blocks |= _blocks(environment, above, shipped, seen)
    return blocks


def rendered(
    template: Callable[[], Template], values: Mapping[str, object]
) -> tuple[str, dict[int, tuple[str, int]]]:
    """Return the text of a template, and template and line of each line of the text.

    Raises BadInput with file and line for any error of a template; the guard's error passes.
    """
    token = _steps.set([0, 0, 0])
    until = _until.set(time.thread_time() + MOST_S)
    try:
        marked = template().render(values)
    except (ArgumentError, BadInput):
        raise
    except Exception as error:  # a template can raise anything: it is a program
        raise problem_of(error) from error
    finally:
        _steps.reset(token)
        _until.reset(until)
    lines: list[str] = []
    origins: dict[int, tuple[str, int]] = {}
    for raw in marked.split("\n"):
        line = MARK.sub("", raw)
        if not line.strip():
            continue  # after `{{ super() }}`: a saved text has no blank line
        lines.append(line)
        if mark := MARK.search(raw):
            origins[len(lines)] = mark[1], int(mark[2])
    return "".join(f"{line}\n" for line in lines), origins


def problem_of(error: Exception) -> BadInput:
    """Return the error of a template as one sentence with its file and line."""
    if isinstance(error, TemplateSyntaxError):
        how, file = "correct the template", file_of(error.name or "")
        return BadInput(f"{error.message}", how=how, file=file, line=error.lineno)
    what = OBJECT.sub(r"\1", str(error)) or type(error).__name__
    how = "correct the template"
    if isinstance(error, TemplateNotFound):
        what, how = f"no template {error.name!r}", "shipped ones: shipped/ce8851.j2, for example"
    elif isinstance(error, ArgumentError):
        how = error.HOW
    elif isinstance(error, RecursionError):
        what = "a template extends, includes or calls itself without end"
        how = EXTEND
    file, line = _position(error)
    return BadInput(what, how=how, file=file, line=line)


def _position(error: BaseException) -> tuple[str, int]:
    """Return file and line of the innermost template in an error's traceback; line 0: none."""
    file, line, trace = SITE_TEMPLATES, 0, error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name.startswith(f"{SITE_TEMPLATES}/"):
            file, line = name, trace.tb_lineno
        trace = trace.tb_next
    return file, line
