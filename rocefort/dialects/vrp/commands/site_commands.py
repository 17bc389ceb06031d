"""Commands that a site adds to the command table: their check, and their rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from napalm_cloudengine.text import why_not_sent
from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, Problem
from rocefort.dialects.vrp.commands.catalogue import (
    MOST_SITES,
    OPAQUE_VIEW,
    PROMPTS,
    SYSTEM,
    SiteSyntax,
    Syntax,
    rows_by_view,
)
from rocefort.dialects.vrp.commands.command import Row
from rocefort.dialects.vrp.commands.format import FormatNode, overlap, parse_format
from rocefort.dialects.vrp.commands.parameters import PARAMS
from rocefort.models.hardware.hardware import Family
from rocefort.models.hardware.site_data import PlacedCommand, SiteCommand, SiteFamily
from rocefort.models.wording import listing

FIRST_RANK = 10**8  # after all shipped rows, before unknown lines
WORD = re.compile(r"[a-z0-9][a-z0-9./-]*")
VIEW = re.compile(r"[a-z][a-z0-9-]*")
RANGE = re.compile(r"\d{1,10}-\d{1,10}")
LIMITED = {"kbytes": "1-64", "numbers": "1-64"}  # parameters with a range, and an example
OTHER_PARAMS = {"text": re.compile(r"\d{1,4}")}  # with a length
SECRETS = ("cipher", "plain")
USABLE = tuple(
    f"<{name}>" for name in ("name", "text", "ip", "mask", "interface", "peer", "group", "asn")
)
UNDO, QUIT = "undo", "quit"
# First words of commands of the user view alone (V300R023C00, Basic Configuration Commands).
USER_VIEW = ("copy", "debugging", "delete", "display", "format", "ping", "reset", "startup")


@lru_cache(maxsize=MOST_SITES)
def syntax_of(family: Family) -> Syntax:
    """Return the syntax of a family with the commands of its site.

    Raises BadInput with all problems of these commands.
    """
    if not isinstance(family, SiteFamily):
        return family.syntax
    _check(family.commands)
    rows = [
        _row(placed.command, number, family)
        for number, placed in enumerate(family.commands)
        if _has(placed.command, family)
    ]
    first = tuple(
        _beginning(parse_format(placed.command.format))
        for placed in family.commands
        if placed.command.order == "first" and _has(placed.command, family)
    )
    return SiteSyntax(family.syntax, tuple(rows), first)


def command_of_row(row: Row, family: Family) -> SiteCommand | None:
    """Return the command of a site that a row is of; None for a shipped row."""
    if not isinstance(family, SiteFamily) or row.rank < FIRST_RANK:
        return None
    return family.commands[row.rank - FIRST_RANK].command


def _has(command: SiteCommand, family: Family) -> bool:
    return not command.families or family.name in command.families


def _row(command: SiteCommand, number: int, family: Family) -> Row:
    return Row(
        command.view,
        command.format,
        command.source,
        undo=command.undo,
        opens=command.opens or "",
        families=frozenset({family.syntax}),
        written=command.format,
        rank=FIRST_RANK + number,
    )


def _beginning(nodes: tuple[FormatNode, ...]) -> str:
    """Return the words before the first parameter or group."""
    words: list[str] = []
    for node in nodes:
        if node.kind != "word":
            break
        words.append(node.text)
    return " ".join(words)


@lru_cache(maxsize=MOST_SITES)  # all families of a site have the same commands; no error is cached
def _check(commands: tuple[PlacedCommand, ...]) -> None:
    if problems := tuple(_problems(commands)):
        raise BadInput(problems=problems)


def _problems(commands: tuple[PlacedCommand, ...]) -> Iterator[Problem]:
    """Yield problems of each command alone; without any, those with other commands."""
    shipped = {*rows_by_view(), *PROMPTS, OPAQUE_VIEW}
    views = sorted(rows_by_view())
    views += [placed.command.opens for placed in commands if placed.command.opens]
    alone = [
        Problem(placed.where(key), what, how)
        for placed in commands
        for key, what, how in (
            *_problems_of_views(placed.command, views, shipped),
            *_problems_of_format(placed.command.format),
            *_problems_of_undo(placed.command),
        )
    ]
    yield from alone
    if not alone:
        yield from filter(None, map(_problem_with_shipped, commands))
        yield from _problems_with_each_other(commands)


Wrong = Iterator[tuple[str, str, str]]  # key, problem, fix


def _problems_of_views(command: SiteCommand, views: list[str], shipped: set[str]) -> Wrong:
    if command.view not in views:
        yield "view", f"no view {command.view!r}", nearest(command.view, views)
    if command.opens is not None and command.opens in shipped:
        yield "opens", f"Rocefort has a view {command.opens!r}", "use another name"
    elif command.opens is not None and not VIEW.fullmatch(command.opens):
        how = "use small letters, digits and hyphens"
        yield "opens", f"{command.opens!r} is no name of a view", how
    if command.order == "first" and command.view != SYSTEM:
        how = f"leave it out: it is for lines of the view {SYSTEM}"
        yield "order", f"`first` in the view {command.view}", how


def _problems_of_format(text: str, key: str = "format") -> Wrong:
    try:
        nodes = parse_format(text)
    except ValueError:
        yield key, f"brackets do not pair in `{text}`", "close each of { [ ( in its order"
        return
    if not nodes or nodes[0].kind != "word":
        yield (
            key,
            f"`{text.strip()}` does not begin with a word",
            "begin with the command's first word",
        )
        return
    for node in _leaves(nodes):
        yield from ((key, *wrong) for wrong in _problems_of_leaf(node))
    beginning = _beginning(nodes)
    first = nodes[0].text
    if UNDO.startswith(first):
        yield key, f"`{text}` begins with `{first}`", f"leave out `{UNDO}`: give the line itself"
    elif why := _why_no_line(first, beginning):
        yield key, f"`{text}`: {why}", "add only lines that a switch saves"


def _why_no_line(first: str, beginning: str) -> str:
    """Return the reason why no saved text has a line; empty if one may have it."""
    if len(first) > 1 and QUIT.startswith(first):
        return f"'{QUIT}' leaves a view and is not configuration"
    if acting := next((word for word in USER_VIEW if word.startswith(first)), ""):
        return f"'{acting}' acts on the switch and is not configuration"
    return why_not_sent(beginning)


def _leaves(nodes: tuple[FormatNode, ...]) -> Iterator[FormatNode]:
    for node in nodes:
        if node.branches:
            for branch in node.branches:
                yield from _leaves(branch)
        else:
            yield node


def _problems_of_leaf(node: FormatNode) -> Iterator[tuple[str, str]]:
    if node.kind != "param":
        if not WORD.fullmatch(node.text):
            how = "use small letters, digits and hyphens; a value is a parameter: <name>, <1-10>"
            yield f"`{node.text}` is no word of a command", how
        return
    name, _, limits = node.text.partition(":")
    if name in SECRETS:
        yield f"`<{name}>` takes a secret", "a secret is a reference in the fabric"
    elif name in LIMITED:
        if not RANGE.fullmatch(limits):
            yield f"`<{node.text}>` has no range", f"write <{name}:{LIMITED[name]}>"
    elif name in PARAMS:
        if limits and not OTHER_PARAMS.get(name, RANGE).fullmatch(limits):
            yield f"`<{node.text}>` has a wrong limit", f"write <{name}>"
    elif not RANGE.fullmatch(node.text):
        yield f"no parameter `<{node.text}>`", f"use {listing(USABLE)}, or a range: <1-10>"
    elif (low_high := tuple(map(int, node.text.split("-")))) != tuple(sorted(low_high)):
        yield f"the range `<{node.text}>` is empty", "write the smaller number first"


def _problems_of_undo(command: SiteCommand) -> Wrong:
    if any(_problems_of_format(command.format)):
        return
    nodes = parse_format(command.format)
    for text in command.undo:
        bare = text.removesuffix(" *")
        first = next(iter(text.split()), "")
        if first and UNDO.startswith(first):
            yield "undo", f"`{text}` begins with `{first}`", f"leave out the word `{UNDO}`"
            continue
        wrong = list(_problems_of_format(bare, "undo"))
        yield from wrong
        if not wrong and not any(
            overlap(parse_format(bare), form) for form in (nodes, _without_values(nodes))
        ):
            what = f"`undo {text}` removes no line of `{command.format}`"
            yield "undo", what, "give the words of the format up to its ( ), or all of them"


def _without_values(nodes: tuple[FormatNode, ...]) -> tuple[FormatNode, ...]:
    return tuple(node for node in nodes if node.kind != "value")


def _forms(row: Row) -> tuple[tuple[FormatNode, ...], ...]:
    return (row.nodes, *(nodes for nodes, _ in row.undo_nodes))


def _problem_with_shipped(placed: PlacedCommand) -> Problem | None:
    """Return the problem of a command whose lines a shipped row reads, or opens a view by."""
    command = placed.command
    own = _forms(Row(command.view, command.format, undo=command.undo))
    openers = (row for row in rows_by_view()[SYSTEM] if row.opens and command.view != SYSTEM)
    for row in (*rows_by_view().get(command.view, ()), *openers):
        modelled = row.sets or row.reads or row.opens
        families = {family.value for family in row.families}
        others = families and command.families and families.isdisjoint(command.families)
        if others and not modelled:
            continue
        if any(overlap(one, other, shortened=True) for one in own for other in _forms(row)):
            what = f"`{command.format}` has lines of Rocefort's own command `{row.written}`"
            return Problem(placed.where("format"), what, "remove this command, or make it narrower")
    return None


def _problems_with_each_other(commands: tuple[PlacedCommand, ...]) -> Iterator[Problem]:
    forms = [_forms(Row("", each.command.format, undo=each.command.undo)) for each in commands]
    for number, second in enumerate(commands):
        for first, others in zip(commands[:number], forms, strict=False):
            if _are_together(first.command, second.command) and any(
                _overlap_shortened(one, other) for one in others for other in forms[number]
            ):
                what = f"`{second.command.format}` has lines of `{first.command.format}`"
                where = first.where("format").rpartition(": ")[0]
                yield Problem(second.where("format"), f"{what} at {where}", "keep one of them")


def _overlap_shortened(one: tuple[FormatNode, ...], other: tuple[FormatNode, ...]) -> bool:
    """Whether a line of either format, with or without full keywords, is a line of the other."""
    return overlap(one, other, shortened=True) or overlap(other, one, shortened=True)


def _are_together(one: SiteCommand, other: SiteCommand) -> bool:
    """Whether both commands are in one view of one family."""
    every = not (one.families and other.families)
    return one.view == other.view and (every or bool({*one.families} & {*other.families}))
