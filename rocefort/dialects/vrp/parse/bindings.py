"""Effect of a command-table row on a Device, and the patterns of its saved lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from rocefort.dialects.vrp.commands.catalogue import rows_by_view
from rocefort.dialects.vrp.commands.command import SYSTEM, Row
from rocefort.dialects.vrp.commands.format import FormatNode, parse_format
from rocefort.models.base import Frozen
from rocefort.models.device.device import Device
from rocefort.models.effect import content_of, key_field_of

NUMBER = r"\d+"
LIST = rf"{NUMBER}(?: to {NUMBER})?(?: {NUMBER}(?: to {NUMBER})?)*"
# Saved text in the place of a parameter; invalid values are refused after the match.
SHAPES = {
    "ip": r"\d\S*",
    "mask": r"\d\S*",
    "name": r"\S+",
    "other": r"\S+",
    "cipher": r"\S.*",  # a placeholder has two words, which no switch accepts
    "plain": r"\S.*",
    "peer": r"[^\s:]+",  # not IPv6
    "group": r"\S*[^\d\s]\S*",
    "asn": r"\d+(?:\.\d+)?",
    "interface": r"\S+(?: \d+(?:/\S+)?)?",  # `100GE 1/0/1`, without an address after it
    "eth-trunk": r"\S+(?: \S+)?",
    "ports": r"\S.*?",
    "split-type": r"\S+",
    "snmp-versions": r"all|v\d\w?(?: v\d\w?)*",
    "text": r"\S.*",
    "acl-matches": r"\S.*",
    "numbers": LIST,
}
NUMERIC = re.compile(r"\d+-\d+|kbytes|[a-z]+(?:_[a-z]+)+")  # the last: from the families' data
WORD = "word"  # the name of an argument that is one of several words


@dataclass(frozen=True)
class Pattern:
    """A format as an expression to read lines, with its groups' parameters, by name, in order.

    A parameter has the first part of its format as its name, `ip` or `1-4094`, and its whole text
    as its kind, `text:80`; a choice between words is `word`, and so is an optional word. The second
    of a name is `ip:2`.
    """

    expression: re.Pattern[str]
    arguments: Mapping[str, str]
    first: frozenset[str]  # words with which such a line begins
    words: int  # in every such line: of two formats, the one with more applies


@cache
def pattern_of(form: str, *, any_order: bool = False, any_word: bool = False) -> Pattern:
    """Return the pattern of a format in the notation of command.py.

    any_order: at least one of the optional parts is present. any_word: also a word outside the
    choice.
    """
    nodes = parse_format(form)
    expression = _Expression(any_order, any_word)
    text = "".join(expression.sequence(nodes))
    counted: Counter[str] = Counter()
    arguments = {}
    for kind in expression.kinds:
        name = kind.partition(":")[0]
        counted[name] += 1
        arguments[f"{name}:{counted[name]}" if counted[name] > 1 else name] = kind
    return Pattern(re.compile(text, re.ASCII), arguments, frozenset(_first(nodes)), _words(nodes))


@dataclass
class _Expression:
    """A regular expression under construction; `kinds` are those of its groups' parameters."""

    any_order: bool
    any_word: bool
    kinds: list[str] = field(default_factory=list)

    def sequence(self, nodes: tuple[FormatNode, ...]) -> Iterator[str]:
        """Yield expressions of the elements, each with the blank before it."""
        if self.any_order and all(node.kind == "optional" for node in nodes):
            some = ("".join(self.sequence(branch)) for node in nodes for branch in node.branches)
            yield f"(?:{'|'.join(some)})+"
            return
        for node in nodes:
            if node.kind == "word":
                yield f" {re.escape(node.text)}"
            elif node.kind == "implied":
                yield f"(?: {re.escape(node.text)})?"
            elif node.kind == "param":
                self.kinds.append(node.text)
                kind = node.text.partition(":")[0]
                yield f" ({NUMBER if NUMERIC.fullmatch(kind) else SHAPES[kind]})"
            elif node.kind == "value":
                yield from self.sequence(node.branches[0])
            else:
                yield self.choice(node) + ("?" if node.kind == "optional" else "")

    def choice(self, node: FormatNode) -> str:
        """Return the expression of a choice of words, which is captured, or of sequences."""
        if all(each.kind == "word" for branch in node.branches for each in branch):
            self.kinds.append(WORD)
            words = (re.escape(" ".join(each.text for each in branch)) for branch in node.branches)
            return f"(?: ({'|'.join(words) if not self.any_word else SHAPES['other']}))"
        return f"(?:{'|'.join(''.join(self.sequence(branch)) for branch in node.branches)})"


def _first(nodes: tuple[FormatNode, ...]) -> Iterator[str]:
    for node in nodes:
        if node.kind == "word":
            yield node.text
            return
        for branch in node.branches:
            yield from _first(branch)
        if node.kind != "optional":
            return


def _words(nodes: tuple[FormatNode, ...]) -> int:
    count = 0
    for node in nodes:
        if node.kind == "word":
            count += 1
        elif node.kind in ("group", "value"):
            count += min(_words(branch) for branch in node.branches)
    return count


HERE = "."  # a view that fills the same part as its outer view
UNDO = "undo"  # as a word, it begins the line
CHANGES = {"=": "set", "+=": "add", "-=": "take", None: ""}
BOOLEANS = {"yes": True, "no": False}
BINDING = re.compile(r"(?:(?P<negated>!?)(?P<word>\S+)\? )?(?P<assignments>.+)")
ASSIGNMENT = re.compile(r"(?P<path>[^=+]+?)(?:(?P<sign>[-+]?=)(?P<value>.+))?")
KEY = re.compile(r"\[[^][]+\]")
STEP = re.compile(r"(?<!\w)(?P<name>\w+)(?:\[(?P<key>[^][]+)\])?(?:\.|$)")


@dataclass(frozen=True, slots=True)
class BoundValue:
    """An argument of the line, by name, or a constant, which also replaces an omitted argument."""

    argument: str
    constant: object
    type: object  # of the field


@dataclass(frozen=True, slots=True)
class FieldStep:
    """A step to a nested field: a nested model, or a row of a collection by its key."""

    name: str
    key: BoundValue | None
    key_field: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """A line's value for one field; without a value, the line creates the last row."""

    steps: tuple[FieldStep, ...]
    field: str
    change: str  # set, add or take
    value: BoundValue


@dataclass(frozen=True, slots=True)
class FieldBinding:
    """Assignments; `word`: only where the line's choice is that word, or, negated, is not.

    A binding of the word `undo` applies to the undo of the command, where a switch saves it.
    """

    word: str
    negated: bool
    assignments: tuple[Assignment, ...]


@cache
def models_of_views() -> Mapping[str, type[Frozen]]:
    """Return the model that the commands of each view fill."""
    models: dict[str, type[Frozen]] = {SYSTEM: Device}
    openers = [row for rows in rows_by_view().values() for row in rows if row.opens and row.sets]
    while some := [row for row in openers if row.view in models and row.opens not in models]:
        for row in some:
            models[row.opens] = _opened_model(models[row.view], row.sets[0])
    return models


def bindings_of(row: Row) -> tuple[FieldBinding, ...]:
    """Return a row's bindings, by the model of its view; raises TypeError for an unknown field."""
    return tuple(_binding(models_of_views()[row.view], text) for text in row.sets)


def fields_of(row: Row) -> Iterator[str]:
    """Yield Device fields that a row fills, relative to its view: `drr[].weight`, `vlans[]`."""
    for match in _assignments_of(row):
        rows = "[]" if CHANGES[match["sign"]] in ("add", "take") else ""
        yield KEY.sub("[]", match["path"]) + rows


def opened_by(row: Row) -> str:
    """Return the field that an opened view fills, relative to its own: `interfaces[]`, or empty."""
    for match in _assignments_of(row):
        path = KEY.sub("[]", match["path"])
        return path.rpartition(".")[0] if match["sign"] else path
    return ""


def _assignments_of(row: Row) -> Iterator[re.Match[str]]:
    for binding in row.sets:
        for assignment in binding.split("? ")[-1].split(" "):
            if assignment != HERE:
                yield _matched(ASSIGNMENT, assignment)


def _opened_model(model: type[Frozen], binding: str) -> type[Frozen]:
    """Return the model that contains the first field of a binding."""
    first = binding.rsplit("? ", maxsplit=1)[-1].split(" ", maxsplit=1)[0]
    for match in STEP.finditer(first.partition("=")[0] if first != HERE else ""):
        inner = _field_type(model, match["name"])
        model = inner if isinstance(inner, type) and issubclass(inner, Frozen) else model
    return model


def _binding(model: type[Frozen], text: str) -> FieldBinding:
    match = _matched(BINDING, text)
    some = () if match["assignments"] == HERE else match["assignments"].split(" ")
    return FieldBinding(
        match["word"] or "",
        bool(match["negated"]),
        tuple(_assignment(model, assignment) for assignment in some),
    )


def _assignment(model: type[Frozen], text: str) -> Assignment:
    match = _matched(ASSIGNMENT, text)
    names = list(STEP.finditer(match["path"]))
    field = names.pop()["name"] if match["sign"] else ""
    steps = []
    for step in names:
        inner = _field_type(model, step["name"])
        if not isinstance(inner, type) or not issubclass(inner, Frozen):
            raise TypeError(f"{text!r}: {step['name']} holds no fields")
        model, key, key_field = inner, None, ""
        if step["key"]:
            key_field = key_field_of(model)
            key = _value(step["key"], _field_type(model, key_field))
        steps.append(FieldStep(step["name"], key, key_field))
    value = _value(match["value"] or "", _field_type(model, field) if field else None)
    return Assignment(tuple(steps), field, CHANGES[match["sign"]], value)


def _matched(expression: re.Pattern[str], text: str) -> re.Match[str]:
    match = expression.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no binding; see rocefort/dialects/vrp/commands/command.py")
    return match


def _field_type(model: type[Frozen], name: str) -> object:
    """Return the type of a field, or of the rows of a collection."""
    if name not in model.model_fields:
        raise TypeError(f"{model.__name__} has no field {name}")
    return content_of(model.model_fields[name].annotation)[0]


def _value(text: str, kind: object) -> BoundValue:
    argument, constant = "", text
    if text.startswith("{"):
        argument, _, constant = text[1:-1].partition("|")
    return BoundValue(argument, BOOLEANS.get(constant, constant or None), kind)
