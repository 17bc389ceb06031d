"""annet's rules of a syntax family: one for each row of the command catalogue.

annet compiles a rulebook from text with a regular expression for each rule. Among several rules
that match a line it takes the one with the most equal characters. Here the catalogue identifies the
row of a line, so exactly one rule matches; a line without a row is its own key.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from annet.rulebook import common

from rocefort.dialects.vrp.commands.catalogue import OPAQUE_VIEW, SYSTEM
from rocefort.dialects.vrp.commands.command import Row
from rocefort.dialects.vrp.commands.format import FormatNode, words_of
from rocefort.dialects.vrp.commands.parameters import Tokens
from rocefort.dialects.vrp.commands.syntax import Syntax, rows_with
from rocefort.dialects.vrp.patch.marks import unmarked
from rocefort.dialects.vrp.patch.rulebook import logic
from rocefort.dialects.vrp.patch.rulebook.commands import UNDO, ViewCommands
from rocefort.dialects.vrp.patch.rulebook.table import BY_KIND, HANDLERS, Handler

Compiled = dict[str, OrderedDict[str, Any]]  # annet's form: {"local": .., "global": ..}
UNKNOWN = "~"


@dataclass(frozen=True)
class PatchRule:
    """Lines of a view that annet compares with each other, and the function that patches them."""

    view: str
    name: str
    rows: tuple[Row, ...]
    handler: Handler | None = None

    @property
    def function(self) -> Callable[..., Iterator[logic.Command]]:
        """Return the function that annet calls with the lines of a key."""
        if self.handler:
            return self.handler.function
        return BY_KIND.get(self.rows[0].kind, logic.single_line) if self.rows else logic.single_line

    @property
    def views(self) -> frozenset[str]:
        """Return views that the lines open."""
        return frozenset(row.opens for row in self.rows if row.opens)


def rules_of(view: str, family: Syntax) -> tuple[PatchRule, ...]:
    """Return the rules of a view: one for rows of the same key, or of the same function."""
    rules: dict[str, tuple[Handler | None, list[Row]]] = {}
    for row in rows_with(family).get(view, ()):
        handler = next((entry for entry in HANDLERS if entry.covers(row)), None)
        name = handler.name(row) if handler else key_format(row.nodes)
        rules.setdefault(name, (handler, []))[1].append(row)
    return tuple(PatchRule(view, name, tuple(rows), each) for name, (each, rows) in rules.items())


def key_format(nodes: Sequence[FormatNode]) -> str:
    """Return a format without its value: lines with equal keys have equal ones."""
    return " ".join(_words(nodes))


def _words(nodes: Sequence[FormatNode]) -> Iterator[str]:
    brackets = {"group": ("{", "}"), "optional": ("[", "]")}
    for node in nodes:
        if node.kind in brackets:
            begin, end = brackets[node.kind]
            yield f"{begin} {' | '.join(key_format(branch) for branch in node.branches)} {end}"
        elif node.kind != "value":
            yield f"<{node.text}>" if node.kind == "param" else node.text


def rulebook(family: Syntax) -> Compiled:
    """Return the rules of all views of a family, with those of the views that their lines open."""
    views: dict[str, OrderedDict[str, Any]] = {
        name: OrderedDict()
        for view, rows in rows_with(family).items()
        for name in (view, *(row.opens for row in rows))
    }
    opened: list[tuple[dict[str, Any], frozenset[str]]] = []
    for view, local in views.items():
        finder = RuleFinder(view, family)
        for rule in finder.rules:
            entry = _compiled(rule, LineMatcher(finder, rule), finder.commands)
            local[logic.rule_name(view, rule.name)] = entry
            opened.append((entry, rule.views))
    for entry, names in opened:
        below = [views[name] for name in sorted(names)]
        local = below[0] if len(below) == 1 else OrderedDict(r for b in below for r in b.items())
        entry["children"] = {"local": local, "global": OrderedDict()}
    unknown = _compiled(
        PatchRule(UNKNOWN, UNKNOWN, ()), AnyLineMatcher(), ViewCommands(OPAQUE_VIEW, family)
    )
    return {"local": views[SYSTEM], "global": OrderedDict({UNKNOWN: unknown})}


def _compiled(
    rule: PatchRule, matcher: LineMatcher | AnyLineMatcher, commands: ViewCommands
) -> dict[str, Any]:
    attrs: dict[str, Any] = {
        "logic": _logic(rule, commands),
        "diff_logic": (rule.handler and rule.handler.diff) or common.default_diff,
        "regexp": matcher,
        "parent": bool(rule.views),
        "context": {},
        "multiline": False,
        "ignore_case": False,
    }
    return {"type": "normal", "rule": "", "attrs": attrs, "children": None}


def _logic(rule: PatchRule, commands: ViewCommands) -> Callable[..., Iterator[logic.Command]]:
    """Return a rule's function with its arguments: a closure, which annet does not copy."""
    owner = rule.handler.owner if rule.handler else None

    def judge(**change: object) -> Iterator[logic.Command]:
        return rule.function(commands=commands, owner=owner, **change)

    return judge


@dataclass(frozen=True, slots=True)
class LineKey:
    """Key of a line, in place of a match of a regular expression."""

    key: Tokens

    def groups(self) -> Tokens:
        """Return the key."""
        return self.key


class RuleFinder:
    """Finder of a line's rule in a view, and of its key."""

    def __init__(self, view: str, family: Syntax) -> None:
        self.commands = ViewCommands(view, family)
        self.rules = rules_of(view, family)
        self._by_rank = {row.rank: rule for rule in self.rules for row in rule.rows}
        # annet calls every rule for each line: a patch of 1,000 takes 31 ms; without, 46 ms.
        self.find = lru_cache(maxsize=16384)(self._find)

    def _find(self, text: str) -> tuple[PatchRule | None, LineKey]:
        text = unmarked(text)
        identity = self.commands.identity(text)
        if identity.row is None:
            return None, LineKey((text,))
        rule = self._by_rank[identity.row.rank]
        if rule.handler and rule.handler.owner is not None:
            return rule, LineKey((words_of(text.removeprefix(UNDO))[rule.handler.owner],))
        return rule, LineKey(() if rule.handler and rule.handler.whole_view else identity.key)


class LineMatcher:
    """Matches the lines of a rule, in place of its regular expression."""

    pattern = ""  # annet takes the most similar of several rules; here one matches

    def __init__(self, finder: RuleFinder, rule: PatchRule) -> None:
        self._finder, self._rule = finder, rule

    def match(self, text: str) -> LineKey | None:
        """Return the key of a line of this rule; None for a line of another."""
        rule, key = self._finder.find(text)
        return key if rule is self._rule else None

    def __deepcopy__(self, _: object) -> LineMatcher:
        return self


class AnyLineMatcher:
    """Matches any line, which is its own key: for lines without a row."""

    pattern = ""

    def match(self, text: str) -> LineKey:
        """Return the line."""
        return LineKey((text,))

    def __deepcopy__(self, _: object) -> AnyLineMatcher:
        return self
