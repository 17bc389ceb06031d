"""Help pages of commands and groups: usage, options with words for values, and examples.

Plain text without rich, so that `--help` prints at once.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, TypeAlias, TypedDict

from typer.core import TyperCommand, TyperGroup

from rocefort.base.command_line.values import propose

# Classes of Click, or Typer's own copies of them.
Context: TypeAlias = Any
Parameter: TypeAlias = Any
Formatter: TypeAlias = Any
WIDEST = 100  # columns of a help page on a wide terminal
COMMON_OPTIONS = frozenset(
    {"quiet", "verbose", "log_file", "color", "site_rules"}
)  # also after a command


class Topic(StrEnum):
    """Heading of commands in `rocefort --help`, in this order."""

    SITE = "Set up a site"
    DESIGN = "Design a fabric"
    VERIFY = "Verify a design"
    CHANGE = "Prepare a change"
    OPERATE = "Operate the switches"
    MEASURE = "Measure and simulate RDMA traffic"
    LAB = "Rehearse in a lab"


class _PlainHelp:
    """Help of a command or a group; the first base, before Typer's class."""

    params: list[Parameter]
    epilog: str | None

    def __init__(self, *arguments: object, **settings: object) -> None:
        super().__init__(*arguments, **settings)
        for each in self.params:
            if each.param_type_name == "argument" and each.metavar is None:
                each.metavar = each.name.rstrip("_").upper()

    def get_params(self, ctx: Context) -> list[Parameter]:
        """Return the parameters, with the common options of the root after a command."""
        own: list[Parameter] = super().get_params(ctx)  # type: ignore[misc]
        if ctx.parent is None:
            return own
        root = ctx.find_root().command.params
        return [*own, *(_copied(each) for each in root if each.name in COMMON_OPTIONS)]

    def get_short_help_str(self, limit: int = 0) -> str:  # noqa: ARG002 - Click's
        """Return the whole first sentence."""
        return str(super().get_short_help_str(limit=WIDEST * WIDEST))  # type: ignore[misc]

    def make_context(self, *arguments: Any, **extra: Any) -> Context:  # noqa: ANN401 - Click's
        """Parse; an error of a name proposes the nearest one."""
        try:
            return super().make_context(*arguments, **extra)  # type: ignore[misc]
        except Exception as error:
            propose(error)
            raise

    def collect_usage_pieces(self, ctx: Context) -> list[str]:  # noqa: ARG002 - Click's
        """Return the words of the usage line."""
        arguments = [each for each in self.params if each.param_type_name == "argument"]
        return ["[OPTIONS]", *map(_usage, arguments)]

    def format_help(self, ctx: Context, formatter: Formatter) -> None:
        """Write the page."""
        self.format_usage(ctx, formatter)  # type: ignore[attr-defined]
        self.format_help_text(ctx, formatter)  # type: ignore[attr-defined]
        self.format_options(ctx, formatter)
        self.format_epilog(ctx, formatter)

    def format_options(self, ctx: Context, formatter: Formatter) -> None:
        """Write arguments, options, and the options that every command has."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for each in self.get_params(ctx):
            if record := described(each, ctx):
                sections.setdefault(_section(each, ctx), []).append(record)
        for title in ("Arguments", "Options", "Common options"):
            if title in sections:
                with formatter.section(title):
                    formatter.write_dl(sections[title])

    def format_epilog(self, ctx: Context, formatter: Formatter) -> None:  # noqa: ARG002 - Click's
        """Write the examples; a long one continues as a shell reads it."""
        if self.epilog:
            with formatter.section("Examples"):
                for example in self.epilog.splitlines():
                    for line in _continued(example, formatter.width):
                        formatter.write(f"  {line}\n")


class HelpedCommand(_PlainHelp, TyperCommand):
    """Command with a plain help page."""


class HelpedGroup(_PlainHelp, TyperGroup):
    """Group with a plain help page, and its commands by topic."""

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        """Return the words of the usage line."""
        return [*super().collect_usage_pieces(ctx), "COMMAND [ARGS]..."]

    def format_help(self, ctx: Context, formatter: Formatter) -> None:
        """Write the page: commands before options."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        self.format_commands(ctx, formatter)
        self.format_options(ctx, formatter)
        self.format_epilog(ctx, formatter)

    def format_options(self, ctx: Context, formatter: Formatter) -> None:
        """Write the options without the commands."""
        _PlainHelp.format_options(self, ctx, formatter)

    def format_commands(self, ctx: Context, formatter: Formatter) -> None:  # noqa: ARG002 - Click's
        """Write the commands with whole summaries, by topic."""
        column = max(map(len, self.commands))
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            topic = command.rich_help_panel  # type: ignore[attr-defined]
            title = topic if isinstance(topic, str) else "Commands"
            row = name.ljust(column), command.get_short_help_str()
            sections.setdefault(title, []).append(row)
        for title in (*filter(sections.__contains__, Topic), *sections):
            if rows := sections.pop(title, None):
                with formatter.section(title):
                    formatter.write_dl(rows)


class DefaultGroup(HelpedGroup):
    """Group with a command for lines that name none: `facts heps` is `facts list heps`."""

    default_command = "list"

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Insert the default command before a fabric or an option of it."""
        if args[:1] not in (["-h"], ["--help"]) and not (args and args[0] in self.commands):
            args = [self.default_command, *args]
        return list(super().parse_args(ctx, args))


class Documented(TypedDict):
    """Arguments of `Typer.command`."""

    cls: type[HelpedCommand]
    rich_help_panel: str | None
    epilog: str


def documented(*examples: str, topic: Topic | None = None) -> Documented:
    """Return what a command's help page has besides its docstring and options."""
    return Documented(cls=HelpedCommand, rich_help_panel=topic, epilog="\n".join(examples))


def all_commands(group: Any, path: str = "rocefort") -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """Yield a group and all commands in it, each with its path."""
    yield path, group
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from all_commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def _continued(example: str, width: int) -> Iterator[str]:
    """Lines of a command that end in a backslash, broken before options."""
    line, *options = re.split(r" (?=--?[a-z])", example)
    for option in options:
        if len(line) + len(option) + 5 > width:  # with the indent, a blank and the backslash
            yield f"{line} \\"
            line = f"    {option}"
        else:
            line = f"{line} {option}"
    yield line


def _copied(option: Parameter) -> Parameter:
    """Return an option of the root for use after a command: its callback takes the value."""
    copied = copy.copy(option)
    copied.expose_value, copied.envvar, copied.default = False, None, None
    return copied


def _section(parameter: Parameter, ctx: Context) -> str:
    if parameter.param_type_name == "argument":
        return "Arguments"
    is_common = parameter.name in {*COMMON_OPTIONS, "help"} and ctx.parent is not None
    return "Common options" if is_common else "Options"


def _usage(argument: Parameter) -> str:
    """Return an argument of the usage line; a metavar with a blank is the whole usage."""
    name = str(argument.metavar)
    if " " in name:
        return name
    dots = "..." if argument.nargs != 1 else ""
    return f"{name}{dots}" if argument.required else f"[{name}{dots}]"


def described(parameter: Parameter, ctx: Context) -> tuple[str, str] | None:
    """Return the name column and the text of a parameter; None: it is hidden."""
    record = parameter.get_help_record(ctx)
    if record is None:
        return None
    text, _, facts = str(record[1]).partition("  [")
    choices = parameter.type_descriptor.choices if parameter.type_descriptor.is_choice else ()
    extra = [f"one of: {', '.join(map(str, choices))}"] if choices else []
    if parameter.param_type_name == "option" and parameter.multiple:
        extra.append("may be repeated")
    extra += [_range_words(facts.removesuffix("]"))] if facts else []
    text += f"  [{'; '.join(extra)}]" if extra else ""
    return _name_column(parameter), text


def _range_words(facts: str) -> str:
    """Return the facts with ranges in words: `x>=4` is "at least 4"."""
    facts = re.sub(r"(?<!\S)(\S+)<=x<=(\S+)", r"\1 to \2", facts)
    return re.sub(r"x>=(\S+)", r"at least \1", facts)


def _name_column(parameter: Parameter) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.metavar)
    short_first = sorted(parameter.opts, key=len)
    names = ", ".join(short_first)
    if all(len(name) > 2 for name in short_first):
        names = f"    {names}"
    if parameter.is_flag or parameter.count:
        return " / ".join([names, *parameter.secondary_opts])
    return f"{names} {_value_word(parameter)}"


def _value_word(option: Parameter) -> str:
    """Return the word for an option's value: its metavar, N for a number, PATH, or its name."""
    if option.metavar is not None:
        return str(option.metavar)
    kind = option.type_descriptor
    if kind.is_path:
        return "PATH"
    if kind.annotation in {int, float}:
        return "N"
    return str(max(option.opts, key=len)).lstrip("-").replace("-", "_").upper()
