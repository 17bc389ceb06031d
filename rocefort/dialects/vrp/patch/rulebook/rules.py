"""annet's rules of a syntax family: one for each row of the catalogue, some by a function.

`logic.single_line` patches all other lines: a new line overwrites the line of its key, and a
removed line is undone by the undo format of its row. `BY_KIND` has the functions of rows that list
several values in a line.

annet compiles a rulebook from text with a regular expression for each rule. Among several rules
that match a line it takes the one with the most equal characters. Here the catalogue identifies the
row of a line, so exactly one rule matches; a line without a row is its own key.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from annet.rulebook import common

from rocefort.dialects.vrp.commands.catalogue import OPAQUE_VIEW, Syntax, rows_with
from rocefort.dialects.vrp.commands.command import SYSTEM, Row
from rocefort.dialects.vrp.commands.format import FormatNode, words_of
from rocefort.dialects.vrp.commands.parameters import Tokens
from rocefort.dialects.vrp.patch.rulebook import logic
from rocefort.dialects.vrp.patch.rulebook.commands import UNDO, ViewCommands, unmarked

Function = Callable[..., Iterator[logic.Command]]


@dataclass(frozen=True)
class Handler:
    """Rows of a view, by the beginnings of their formats, and the function for their lines.

    The function receives the lines of one key; with `owner` all lines of one owner, whose name is
    that word of the line (from 0); with `whole_view` all lines of the view. port_line: beginning of
    the lines of ports that it also reads.
    """

    view: str
    formats: tuple[str, ...]
    function: Function
    owner: int | None = None
    whole_view: bool = False
    port_line: str = ""
    diff: Callable[..., Any] | None = None  # computes the differences instead of annet's default

    def covers(self, row: Row) -> bool:
        """Whether a row is one of them."""
        return row.view == self.view and self._beginning(row) is not None

    def name(self, row: Row) -> str:
        """Return the rule name of a row: one for all rows whose lines are patched together."""
        together = self.whole_view or self.owner is not None
        return self.formats[0] if together else self._beginning(row) or ""

    def _beginning(self, row: Row) -> str | None:
        return next(
            (each for each in self.formats if f"{row.format} ".startswith(f"{each} ")), None
        )


HANDLERS: tuple[Handler, ...] = (
    Handler(SYSTEM, ("port split dimension",), logic.undo_then_set),
    Handler(SYSTEM, ("dcb pfc [ <name> ]",), logic.profile, port_line="dcb pfc enable"),
    Handler(SYSTEM, ("qos buffer headroom-pool",), logic.pool),
    Handler(SYSTEM, ("diffserv domain", "drop-profile"), logic.named_view),
    Handler(SYSTEM, ("aaa", "netconf", "telemetry", "user-interface"), logic.permanent_view),
    Handler(SYSTEM, ("interface",), logic.interface, diff=logic.interface_diff),
    Handler(SYSTEM, ("bgp",), logic.undo_then_set, diff=logic.bgp_diff),
    Handler(SYSTEM, ("route-policy",), logic.replace),
    Handler(SYSTEM, ("ip route-static",), logic.replace),
    Handler(SYSTEM, ("ssh user",), logic.owned_lines, owner=2),
    Handler(SYSTEM, ("snmp-agent usm-user v3",), logic.owned_lines, owner=3),
    Handler("aaa", ("local-user",), logic.owned_lines, owner=1),
    Handler("dcb-pfc", ("priority",), logic.queue),
    Handler("interface", ("ip binding vpn-instance",), logic.undo_then_set),
    Handler("interface", ("eth-trunk",), logic.undo_then_set),
    Handler("interface", ("negotiation disable", "fec mode"), logic.fec, whole_view=True),
    Handler("interface", ("trust",), logic.trust, whole_view=True),
    Handler("interface", ("dcb pfc enable",), logic.applied_profile),
    Handler("interface", ("traffic-policy",), logic.undo_then_set),
    Handler("interface", ("qos { pq | drr | lpq }",), partial(logic.number_list, runs=1)),
    Handler("bgp", ("peer", "group"), logic.peer, owner=1),
    Handler("bgp", ("ipv4-family",), logic.permanent_view),
    Handler("bgp-af", ("peer",), logic.family_peer, owner=1),
    Handler("acl", ("rule",), logic.replace),
    Handler("acl-advanced", ("rule",), logic.replace),
)
# First words of lines that a function reads together: `reduced` keeps or drops them together.
SAME_WORD: Mapping[str, str] = {
    beginning.split()[0]: entry.formats[0].split()[0]
    for entry in HANDLERS
    for beginning in entry.formats
    if entry.whole_view
}
PORT_LINES: Mapping[str, str] = {
    entry.formats[0].split()[0]: entry.port_line for entry in HANDLERS if entry.port_line
}
PEERS = next(entry for entry in HANDLERS if entry.function is logic.peer)

BY_KIND: Mapping[str, Function] = {"list": logic.number_list, "versions": logic.snmp_versions}


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
