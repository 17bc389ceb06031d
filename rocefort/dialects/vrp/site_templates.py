"""Templates of a site, which precede the shipped ones: their sandbox, and the source of each line.

A review renders the templates of a pull request, so they run in Jinja2's sandbox and get less than
a shipped template: no method of a model, few filters, no random value. The number of steps, their
work, the length of a text and of a value are limited. So is the processor time, for what is not
counted, such as a property of a model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
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
)
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.meta import find_referenced_templates
from jinja2.runtime import BlockReference, Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment, safe_range
from jinja2.utils import Namespace

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput
from rocefort.base.repository import TEMPLATES
from rocefort.base.templating import text_templates
from rocefort.dialects.vrp.template_limits import (
    checked,
    checked_filter,
    concat,
    count_step,
    count_work,
    counted,
    is_counted,
    join,
    length_of,
    limited_text,
    limited_tree,
    replace,
    single,
    weighed,
)
from rocefort.models.hardware.hardware import SITE_TEMPLATES, SiteTemplates

SHIPPED = "shipped"  # prefix of the shipped templates: {% extends "shipped/ce8851.j2" %}
FOLDER = TEMPLATES / "vrp"
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
JINJA_VARIABLES = frozenset(("_block_vars", "_loop_vars"))
MAPPING_METHODS = frozenset(("get", "items", "keys", "values"))
CALLED = (BlockReference, Macro, LoopContext, Undefined)  # an undefined name has its own error


class Lines(str):
    """Lines that a template wrote: each value in them has passed the check."""

    __slots__ = ()


class ArgumentError(ValueError):
    """A value that would become several arguments, or none."""

    HOW = "use single blanks and no control characters in descriptions, no blanks in names"

    def __init__(self, value: object) -> None:
        self.value = value
        super().__init__(f"{value!r} cannot stand in a configuration line")


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
    concat = staticmethod(concat)

    def _generate(
        self,
        source: nodes.Template,
        name: str | None,
        filename: str | None,
        defer_init: bool = False,
    ) -> str:
        limited = limited_tree(source, name)
        return super()._generate(limited, name, filename, defer_init=defer_init)

    def _load_template(self, name: str, globals: Any) -> Template:  # noqa: A002, ANN401
        if is_counted():  # an include within a text
            count_step()
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
            count_work(length_of(value))
        return checked(super().call_binop(context, operator, left, right))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401, N805 - Jinja2's signature
        """Call a block, a macro or a reading method; the former give lines of templates."""
        count_step()
        if not __self.is_safe_callable(__obj):
            name = getattr(__obj, "__name__", type(__obj).__name__)
            raise SecurityError(f"`{name}` cannot be called in a template of a site")
        count_work(length_of(getattr(__obj, "__self__", None)))
        # Jinja2 passes all variables by `_block_vars` and `_loop_vars`, and removes them there.
        named = (value for name, value in kwargs.items() if name not in JINJA_VARIABLES)
        for argument in (*args, *named):
            weighed(argument)
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
    environment = text_templates(FOLDER, lambda value: guard(single(value)), SiteEnvironment)
    shipped = FileSystemLoader(FOLDER)
    environment.loader = ChoiceLoader([PrefixLoader({SHIPPED: shipped}), _SiteLoader(own), shipped])
    environment.add_extension(_LineMarks)
    environment.globals = {"range": safe_range, "namespace": Namespace}
    known = {**environment.filters, "join": join, "replace": replace}
    allowed = {name: checked_filter(name, known[name]) for name in FILTERS}
    environment.filters = {**allowed, "counted": counted, "weighed": weighed, **filters}
    free_text = filters["free_text"]
    environment.filters["free_text"] = lambda value: free_text(single(value))
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
    try:
        with limited_text():
            marked = template().render(values)
    except (ArgumentError, BadInput):
        raise
    except Exception as error:  # a template can raise anything: it is a program
        raise problem_of(error) from error
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
