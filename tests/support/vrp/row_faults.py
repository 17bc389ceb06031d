"""Faults in saved texts: one row of the command catalogue dropped, changed, swapped or added.

The emulated switch loads each faulty text, so that a fault is one that a switch can have saved.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property

from rocefort.base.errors import BadInput
from rocefort.dialects.vrp.commands.catalogue import rows_with
from rocefort.dialects.vrp.commands.command import Row
from rocefort.dialects.vrp.commands.format import FormatNode, words_of
from rocefort.dialects.vrp.commands.match import identify, readings
from rocefort.dialects.vrp.commands.parameters import takes
from rocefort.dialects.vrp.interpreter.execute import view_kind
from rocefort.dialects.vrp.interpreter.interpreter import VrpRefusal, apply_line, replay
from rocefort.dialects.vrp.parse.parser import places_in
from rocefort.dialects.vrp.text.config_tree import ConfigLine, parse_tree, tree_text
from rocefort.models.hardware.hardware import SyntaxFamily

Lines = tuple[ConfigLine, ...]
Path = tuple[str, ...]  # the views of a line, and the line
OPERATIONS = ("drop", "change", "swap", "add")
SCOPES = ("place", "switch")
TRIES = 12  # lines drawn for one fault until the switch accepts one
# The first pattern that matches a row's view and format names its area.
AREAS = (
    ("bgp", r"bgp.*|route-policy .*|system (bgp|route-policy|ip ip-prefix).*"),
    ("routes", r"system ip route-static.*|.*vpn-instance.*"),
    ("ecn", r"drop-profile .*|ai-.*|system (drop-profile|qos ecn|ai-service).*|interface qos wred.*"),
    ("ecn", r"interface .*\becn\b.*"),
    ("lossless", r"dcb-pfc .*|.* dcb .*|.* qos buffer .*|system (low-latency|qos hpc).*"),
    ("queues", r"diffserv .*|system diffserv.*|interface (trust|qos) .*"),
    ("filters", r"acl.*|traffic-.*|system (acl|traffic).*|interface traffic-.*"),
    ("vlan", r"vlan .*|system (vlan|stp).*|interface (port (link|default|trunk)|stp|portswitch).*"),
    ("trunks", r"interface (eth-trunk|mode|lacp|least|dfs|peer-link).*|system (dfs|interface <eth).*"),
    ("interfaces", r"interface .*|system (interface|port|bfd|load-balance|monitor-link|lldp).*|bfd .*"),
    ("management", r".*"),
)  # fmt: skip


def area_of(row: Row) -> str:
    """Return the area of a row, as the measure reports it."""
    text = f"{row.view} {row.written or row.format}"
    return next(area for area, pattern in AREAS if re.fullmatch(pattern, text))


@dataclass(frozen=True)
class Fault:
    """Faulty texts of one or two switches; lines: numbers at which a finding is right."""

    row: str
    area: str
    operation: str
    scope: str
    what: str
    texts: Mapping[str, str]
    lines: Mapping[str, Set[int]]
    interfaces: Set[str] = frozenset()
    has_effect: bool = True  # False: the switch saves the same configuration


@dataclass(frozen=True)
class Switch:
    """One switch with its saved text as a tree, and the row of each line."""

    name: str
    family: SyntaxFamily
    tree: Lines

    @classmethod
    def of(cls, name: str, family: SyntaxFamily, text: str) -> Switch:
        """Load a text as the switch does at its start; raises its first refusal."""
        tree, refusals = replay(parse_tree(text), family)
        if refusals:
            raise refusals[0]
        return cls(name, family, tree)

    @cached_property
    def text(self) -> str:
        """Saved text of the switch."""
        return tree_text(self.tree)

    @cached_property
    def paths(self) -> Mapping[str, list[Path]]:
        """Lines by key of their row."""
        lines: dict[str, list[Path]] = {}
        for path in _paths(self.tree):
            if key := self.key_of(path):
                lines.setdefault(key, []).append(path)
        return lines

    def key_of(self, path: Path) -> str:
        """Key of a line's row; empty for a line of no row."""
        kind = view_kind(path[:-1], self.family)
        row = identify(kind, path[-1].removeprefix("undo "), self.family).row
        return key_of(row) if row else ""

    def views_of(self, kind: str) -> list[Path]:
        """Views of a kind that the text opens; the system view is ()."""
        if kind == "system":
            return [()]
        return [path for path in _paths(self.tree) if view_kind(path, self.family) == kind]


def key_of(row: Row) -> str:
    """Return a text that identifies a row on all families."""
    return f"{row.view}: {row.written or row.format}"


def rows_of(family: SyntaxFamily) -> dict[str, Row]:
    """Return the rows of a family that leave a line, by key."""
    rows = (row for view in rows_with(family).values() for row in view)
    return {key_of(row): row for row in rows if row.kind != "action" and row.view != "opaque"}


@dataclass
class FaultMaker:
    """Maker of faults in the texts of one fabric."""

    switches: Sequence[Switch]
    rng: random.Random
    values: dict[str, set[str]] = field(default_factory=dict)  # by kind of parameter

    def __post_init__(self) -> None:
        for switch in self.switches:
            for path in _paths(switch.tree):
                kind = view_kind(path[:-1], switch.family)
                for _, reading in readings(kind, words_of(path[-1]), switch.family):
                    for name, value in reading.params:
                        self.values.setdefault(name.partition(":")[0], set()).add(value)

    def fault(self, key: str) -> Fault | None:
        """One fault of a row: an operation and a scope drawn from those that are possible."""
        having = [each for each in self.switches if key in rows_of(each.family)]
        self.rng.shuffle(having)
        wishes = [(operation, scope) for operation in OPERATIONS for scope in SCOPES]
        self.rng.shuffle(wishes)
        for operation, scope in wishes:
            for switch in having:
                if fault := self._fault(switch, key, operation, scope):
                    return fault
        return None

    def _fault(self, switch: Switch, key: str, operation: str, scope: str) -> Fault | None:
        makers: Mapping[str, Callable[[Switch, str, str], Iterator[dict[str, Lines]]]] = {
            "drop": self._dropped,
            "change": self._changed,
            "swap": self._swapped,
            "add": self._added,
        }
        for trees in makers[operation](switch, key, scope):
            if fault := self._finished(switch, key, (operation, scope), trees):
                return fault
        return None

    def _dropped(self, switch: Switch, key: str, scope: str) -> Iterator[dict[str, Lines]]:
        paths = switch.paths.get(key, [])
        if paths:
            chosen = [self.rng.choice(paths)] if scope == "place" else paths
            yield {switch.name: _edited(switch.tree, dict.fromkeys(chosen))}

    def _changed(self, switch: Switch, key: str, scope: str) -> Iterator[dict[str, Lines]]:
        paths = switch.paths.get(key, [])
        for _ in range(TRIES if paths else 0):
            chosen = self.rng.choice(paths)
            line = self.varied(rows_of(switch.family)[key], chosen[-1])
            if line is None:
                continue
            every = [chosen] if scope == "place" else [p for p in paths if p[-1] == chosen[-1]]
            yield {switch.name: _edited(switch.tree, dict.fromkeys(every, line))}

    def _swapped(self, switch: Switch, key: str, scope: str) -> Iterator[dict[str, Lines]]:
        """Two lines of a row with other words: of two views, or of two switches."""
        own = switch.paths.get(key, [])
        for _ in range(TRIES if own else 0):
            if scope == "place":
                a, b = self.rng.choice(own), self.rng.choice(own)
                if a[-1] != b[-1]:
                    yield {switch.name: _edited(switch.tree, {a: b[-1], b: a[-1]})}
            else:
                other = self.rng.choice(self.switches)
                theirs = other.paths.get(key, [])
                if other is switch or not theirs or other.family != switch.family:
                    continue
                a, b = self.rng.choice(own), self.rng.choice(theirs)
                if a[-1] != b[-1]:
                    yield {
                        switch.name: _edited(switch.tree, {a: b[-1]}),
                        other.name: _edited(other.tree, {b: a[-1]}),
                    }

    def _added(self, switch: Switch, key: str, scope: str) -> Iterator[dict[str, Lines]]:
        row = rows_of(switch.family)[key]
        views = switch.views_of(row.view)
        for _ in range(TRIES if views else 0):
            line = self._line(row)
            if line is None:
                continue
            chosen = [self.rng.choice(views)] if scope == "place" else views
            tree, accepted = switch.tree, 0
            for view in chosen:
                try:
                    tree = apply_line(tree, view, line, switch.family).config
                    accepted += 1
                except VrpRefusal:
                    continue
            if accepted and tree != switch.tree:
                yield {switch.name: tree}

    def varied(self, row: Row, line: str) -> str | None:
        """Another line of a row: one argument or one keyword differs."""
        undo = "undo " if line.startswith("undo ") else ""
        tokens = words_of(line.removeprefix("undo "))
        kept = [r for own, r in readings(row.view, tokens, _family(row)) if own == row]
        if undo or not kept:
            return line.removeprefix("undo ") if undo else None
        old = list(kept[0].params)
        changed = self.rng.randrange(len(old)) if old and self.rng.random() < 0.75 else None
        taken = iter(range(len(old)))

        def value(name: str) -> str | None:
            index = next(taken, None)
            if index is None or index == changed or old[index][0] != name:
                return self._value(name, old[index][1] if index is not None else "")
            return old[index][1]

        text = self._words(row.nodes, value)
        return text if text != line else None

    def _line(self, row: Row) -> str | None:
        return self._words(row.nodes, lambda name: self._value(name, ""))

    def _words(self, nodes: Sequence[FormatNode], value: Callable[[str], str | None]) -> str | None:
        words: list[str] = []
        for node in nodes:
            if node.kind in ("word", "implied"):
                part: str | None = node.text
            elif node.kind == "param":
                part = value(node.text)
            elif node.kind in ("optional", "several") and self.rng.random() < 0.4:
                part = ""
            else:
                part = self._words(self.rng.choice(node.branches), value)
            if part is None:
                return None
            words.append(part)
        return " ".join(filter(None, words))

    def _value(self, name: str, old: str) -> str | None:
        """A value of a parameter: another one of the texts, or one near to the old one."""
        kind = name.partition(":")[0]
        same = sorted(self.values.get(kind, set()) - {old})
        if same and self.rng.random() < 0.7:
            return self.rng.choice(same)
        drawn = self._new_value(kind, name, old)
        tokens = words_of(drawn)
        fits = any(used == len(tokens) for used, _ in takes(name, tokens))
        return drawn if fits else None

    def _new_value(self, kind: str, name: str, old: str) -> str:
        limits = re.search(r"(\d+)-(\d+)$", name)
        if limits:
            low, high = int(limits[1]), int(limits[2])
            near = [int(old) + 1, int(old) - 1, int(old) * 2, int(old) // 2] if _digits(old) else []
            near = [each for each in near if low <= each <= high and str(each) != old]
            drawn = [self.rng.randint(low, high), low, high]
            return str(self.rng.choice(near * 2 + drawn))
        if _digits(old):
            return str(int(old) + 1)
        if old and (last := re.search(r"\d+(?=\D*$)", old)):
            number = str(int(last[0]) + self.rng.choice([1, 2]))
            return old[: last.start()] + number + old[last.end() :]
        return NEW_VALUES.get(kind, "other")

    def _finished(
        self, switch: Switch, key: str, how: tuple[str, str], trees: Mapping[str, Lines]
    ) -> Fault | None:
        """The fault of edited trees, if each switch can save its tree."""
        texts: dict[str, str] = {}
        lines: dict[str, Set[int]] = {}
        what: list[str] = []
        interfaces: set[str] = set()
        by_name = {each.name: each for each in self.switches}
        row = rows_of(switch.family)[key]
        for name, tree in trees.items():
            before = by_name[name]
            after, refusals = replay(parse_tree(tree_text(tree)), before.family)
            if refusals:
                return None
            texts[name] = tree_text(after)
            old, new = dict(_numbered(before.tree)), dict(_numbered(after))
            gone, come = old.keys() - new.keys(), new.keys() - old.keys()
            lines[name] = _right_lines(gone, come, new) | _field_lines(row, texts[name])
            marks = [f"-{path[-1]}" for path in old if path in gone]
            marks += [f"+{path[-1]}" for path in new if path in come]
            what.append(f"{name}: {'; '.join(marks[:6])}")
            words = {word for path in gone | come for word in path[0].split()[1:2]}
            interfaces |= words if key.startswith("interface") else set()
        same = all(texts[name] == by_name[name].text for name in texts)
        shown = " | ".join(what)
        return Fault(key, area_of(row), *how, shown, texts, lines, interfaces, not same)


NEW_VALUES = {
    "ip": "10.99.0.1",
    "mask": "255.255.255.0",
    "peer": "10.99.0.1",
    "asn": "65001",
    "interface": "100GE1/0/3",
    "snmp-versions": "v2c v3",
    "acl-matches": "ip",
    "cipher": "Example-12345",
}


def _digits(text: str) -> bool:
    return text.isdecimal()


def _family(row: Row) -> SyntaxFamily:
    return min(row.families)


def _paths(tree: Lines, views: Path = ()) -> Iterator[Path]:
    for line in tree:
        path = (*views, line.text)
        yield path
        yield from _paths(line.children, path)


def _numbered(tree: Lines) -> Iterator[tuple[Path, int]]:
    """Paths of all lines with their numbers in the saved text."""
    for top in parse_tree(tree_text(tree)):
        for path, line in top.walk():
            yield (*path, line.text), line.number


def _right_lines(gone: Set[Path], come: Set[Path], new: Mapping[Path, int]) -> Set[int]:
    """Numbers of new lines, the views of changed lines, and lines that share a name with them.

    A rule on a line that is gone names the line of its view, of the same command, or of the
    sysname.
    """
    lines = {new[path] for path in come}
    touched = gone | come
    views = {path[:depth] for path in touched for depth in range(1, len(path))}
    lines |= {number for path, number in new.items() if path in views}
    tops = {path[0].split()[0] for path in touched if len(path) == 1}
    names = {word for path in touched for word in path[-1].split()[1:] if _names(word)}
    names |= {f"Vlanif{word}" for word in names if word.isdecimal()}  # the gateway of a VLAN
    for path, number in new.items():
        words = path[-1].split()
        beside = path[:-1] in views
        of_command = len(path) == 1 and words[0] in {*tops, "sysname"}
        if beside or of_command or names.intersection(words):
            lines.add(number)
    return frozenset(lines)


FIELD = re.compile(r"(?:^|[\s?])([a-z_]+)(?=[.\[+=])")
MANY_LINES = {"interfaces", "bgp"}  # fields with lines of many rows


def _field_lines(row: Row, text: str) -> Set[int]:
    """Lines of the field of the Device that a row of the system view sets, such as `ssh`."""
    fields = {match[1] for sets in row.sets for match in FIELD.finditer(sets)} - MANY_LINES
    if row.view != "system" or not fields:
        return frozenset()
    try:
        places = places_in(text, "faulty.cfg")
    except BadInput:
        return frozenset()
    roots = ((re.split(r"[.\[]", path, maxsplit=1)[0], line) for path, line in places.items())
    return frozenset(line for root, line in roots if root in fields)


def _names(word: str) -> bool:
    """Whether a word is a name or an address, not a keyword or a small number."""
    return bool(re.search(r"[A-Z]|\d\.\d|/|\d{3}", word))


def _edited(tree: Lines, edits: Mapping[Path, str | None], views: Path = ()) -> Lines:
    lines: list[ConfigLine] = []
    for line in tree:
        path = (*views, line.text)
        text = edits.get(path, line.text)
        if text is not None:
            lines.append(ConfigLine(text, 0, _edited(line.children, edits, path)))
    return tuple(lines)
