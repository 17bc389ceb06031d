"""One row of the command table: a command of a view, and its effect on a configuration.

Sources, by the names of their sections: CR is the command reference of CloudEngine 5800 to 9800,
V300R023C00; CG its configuration guide. FIELD marks lines from published configurations of real
switches, for which no vendor page was found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property

from rocefort.base.errors import BadInput
from rocefort.base.repository import HARDWARE
from rocefort.dialects.syntax_families import FAMILY_FILE
from rocefort.dialects.vrp.commands.format import FormatNode, parse_format
from rocefort.models.hardware.hardware import Fact, Family, Range, SyntaxFamily, ValueSet

# Reader of a line into a part. Returns None, the part of the opened view, or False: not modelled.
Reader = Callable[..., object]

ANY = frozenset(SyntaxFamily)
NO_FAMILY: frozenset[SyntaxFamily] = frozenset()  # older texts have it; it is read, never accepted
V200 = frozenset({SyntaxFamily.V200})
G1 = frozenset({SyntaxFamily.V300_G1})
G2 = frozenset({SyntaxFamily.V300_G2})
V300 = G1 | G2
OFFSET = V200 | G2  # the families that set xoff and an xon offset

QUEUES, ANY_NUMBER = "pfc_queues", "0-4294967295"
PORT = r"\d*GE\d.*"  # physical Ethernet
MEMBER = rf"{PORT}|Eth-Trunk\d+"
# Beginnings of lines that only an interface with a routing table has, and only a switched one.
ROUTED = (
    *("ip address", "ipv6", "undo ipv6", "ospf", "ospfv3", "isis", "pim", "igmp"),
    *("dhcp select", "dhcp relay", "vrrp", "vrrp6"),
)
SWITCHED = (
    "port default",
    "port trunk",
    "port hybrid",
    "port link-type",
    "stp",
    "mac-vlan",
    "qinq",
)
SYSTEM = "system"
OTHER_TABLE = "vpn-instance"  # a view of another routing table: its peers are not those outside
Tokens = tuple[str, ...]
# `<xoff_kbytes>`, a field of Family: a range, a few values to choose from, or one number.
FACT = re.compile(r"(?P<open>[<{:])(?P<name>[a-z]+(?:_[a-z]+)+)(?P<close>[>}])")


@dataclass(frozen=True)
class LostLines:
    """Other lines that a switch deletes with a command, with or without an owner.

    `lines` are their beginnings; `*` matches any word. They are in the view of the command; with
    `below` also in all views below, except other routing tables, which have peers of their own;
    with `views` in the views of the system whose line begins so, if they have the line `beside`.
    `on`: `set` is a line that was not there before, `undo` its removal. `lasting`: the line is
    still valid after the command, so that it can be set again.
    """

    lines: tuple[str, ...]
    source: str
    on: str = "both"  # set, undo or both
    below: bool = False
    views: str = ""
    beside: str = ""
    lasting: bool = False
    confirmed: bool = True

    def patterns(self, params: Mapping[str, str], *, gone: bool = True) -> tuple[Tokens, ...]:
        """Return the words with which the lines begin; none with an argument that is missing.

        gone: whether the command removed a line of its own; without, only those that name it.
        """
        named = ((line, filled(line, params)) for line in self.lines)
        return tuple(
            tuple(text.split())
            for line, text in named
            if "{" not in text and (gone or text != line)
        )

    def goes_with(self, *, undone: bool) -> bool:
        """Whether the lines go when the command is undone, or set."""
        return self.on in ("both", "undo" if undone else "set")


@dataclass(frozen=True)
class Spelling:
    """Other forms of a row's lines with the same meaning.

    lender: beginning of a line that names another holder of such lines, whose line holds here, too:
    to repeat it changes nothing, and to state `otherwise` changes nothing where it has none.
    number: the argument that only orders the lines. size: words of a form whose sizes, times the
    number of a field of Family, are those of the form without the last of these words.
    """

    source: str
    lender: str = ""
    otherwise: str = ""
    number: str = ""
    size: tuple[str, str] | None = None


@dataclass(frozen=True)
class Row:
    """One command of one view.

    `undo` lists the reference's undo formats where they are not the key with an optional value; a
    trailing `*` removes every line whose key begins so. `on_set` and `on_undo` are commands that
    the switch runs automatically (`view: command`); `losses` are lines that it deletes besides the
    command's own, and besides those of a view that is undone. `default` is the setting without a
    line, and `equal` are other forms of one; `layer` 2 or 3 limits a port's mode. A name of the
    family's data is replaced by its range, `<xoff_kbytes>`, its values or its number. `needs` are
    beginnings of lines of this view or one around it, and one must exist. A patch undoes a line by
    the first undo format that matches its key or all of it, `*` last.

    `sets` maps a line to a Device, from the model that its view fills: fields, each with an
    argument of the line or a constant, and rows by their keys (parse/bindings.py):

        mtu={46-9600}                           enabled=no
        drr[{0-7}].weight={1-100}               vlans+={numbers}

    If there are several, the first that matches the line counts. `reads` reads forms that `sets`
    cannot express; `sets` then names the fields. A line of a row without both is kept and reported
    as not modelled. `instead` is the alternative on families that do not have the command.
    """

    view: str
    format: str
    source: str = ""
    sets: tuple[str, ...] = ()
    reads: Reader | None = None
    undo: tuple[str, ...] = ()
    no_undo: bool = False  # another form of the command reverts it
    opens: str = ""
    families: frozenset[SyntaxFamily] = ANY
    instead: str = ""
    kind: str = "set"  # set: line per key; list: line of ranges; each: line per number; pairs;
    # ports: line per port of a list; versions: line of words; action: no line
    default: str = ""
    equal: Spelling | None = None
    on: str = ""  # names of interfaces that have the command
    layer: int = 0
    service: bool = False  # like the rows of a layer: not on a member of an Eth-Trunk
    transient: bool = False  # the line exists only while its view is not empty
    on_set: tuple[str, ...] = ()
    on_undo: tuple[str, ...] = ()
    losses: tuple[LostLines, ...] = ()
    guard: str = ""  # a line of the same view that must be removed first
    needs: tuple[str, ...] = ()
    held_by: tuple[str, ...] = ()  # beginnings of lines in any view to remove first; `*`: a word
    written: str = ""  # the format with the names of the families' data, for reading lines
    rank: int = 0
    block: int = 0  # rows of one block are sorted by their second word first (BGP peers)

    @cached_property
    def nodes(self) -> tuple[FormatNode, ...]:
        """Return the parsed format."""
        return parse_format(self.format)

    @cached_property
    def undo_nodes(self) -> tuple[tuple[tuple[FormatNode, ...], bool], ...]:
        """Return each parsed undo format, and whether it removes all lines that begin so."""
        whole = self.kind in ("list", "each")
        derived = self.format if whole else self.format.replace("( ", "[ ( ").replace(" )", " ) ]")
        return tuple(
            (parse_format(text.removesuffix(" *")), text.endswith(" *"))
            for text in self.undo or (derived,)
        )

    @cached_property
    def name(self) -> str:
        """Return the command's words before its first value: `local-user .. privilege level`."""
        words: list[str] = []
        for node in self.nodes:
            if node.kind == "value":
                break
            words.append(node.text if node.kind == "word" else "..")
        return " ".join(words)

    @cached_property
    def first_words(self) -> frozenset[str]:
        """Return words with which a line of this row can begin."""
        return frozenset(_first_words(self.nodes))

    @cached_property
    def literals(self) -> frozenset[str]:
        """Return words that every line of this row has."""
        return frozenset(node.text for node in self.nodes if node.kind == "word")


def with_ranges(row: Row, families: Mapping[str, Family]) -> tuple[Row, ...]:
    """Return a row for each set of families with equal ranges, which replace the names.

    Raises BadInput for a family without such a range.
    """
    if not row.families:
        any_number = FACT.sub(rf"\g<open>{ANY_NUMBER}\g<close>", row.format)
        return (replace(row, format=any_number, written=row.format),)
    families_of: dict[Row, set[SyntaxFamily]] = {}
    for name in sorted(row.families):
        families_of.setdefault(_of_family(row, name, families), set()).add(name)
    return tuple(replace(each, families=frozenset(names)) for each, names in families_of.items())


def _of_family(row: Row, name: SyntaxFamily, families: Mapping[str, Family]) -> Row:
    def literal(match: re.Match[str]) -> str:
        fact: Range | ValueSet | Fact | None = getattr(families.get(name), match["name"], None)
        if fact is None:
            raise BadInput(
                f"no {match['name']} of {name.value}, whose switches take `{row.format}`",
                where=str(HARDWARE / FAMILY_FILE),
                how="give it, with its source",
            )
        if isinstance(fact, Fact):
            return str(fact.value)
        if isinstance(fact, ValueSet):
            return " | ".join(map(str, fact.values))
        if not fact.confirmed and match["name"] != QUEUES:
            limits = ANY_NUMBER  # without a source for a limit, an emulated switch refuses nothing
        else:
            limits = f"{fact.low}-{fact.high}"
        return f"{match['open']}{limits}{match['close']}"

    values = {each.name: getattr(row, each.name) for each in fields(row) if each.name != "sets"}
    texts = {k: FACT.sub(literal, v) for k, v in values.items() if isinstance(v, str)}
    several = {
        k: tuple(FACT.sub(literal, text) for text in v)
        for k, v in values.items()
        if isinstance(v, tuple) and k != "losses"
    }
    texts["written"] = row.format
    return replace(row, **texts, **several, families=frozenset())  # type: ignore[arg-type]  # fields of Row


def _first_words(nodes: tuple[FormatNode, ...]) -> set[str]:
    first = nodes[0]
    if first.kind == "word":
        return {first.text}
    return {word for branch in first.branches for word in _first_words(branch)}


def filled(template: str, params: Mapping[str, str]) -> str:
    """Return a template with the values of its arguments."""
    for name, value in params.items():
        template = template.replace(f"{{{name}}}", value)
    return template


def begins_with(text: str, head: Tokens) -> bool:
    """Whether a line begins with some words; `*` matches any word."""
    words = text.split()
    return len(words) >= len(head) and all(a in ("*", b) for a, b in zip(head, words, strict=False))


def begins_with_any(text: str, beginnings: Iterable[str]) -> bool:
    """Whether a line begins with the words of one of some beginnings."""
    return any(begins_with(text, tuple(beginning.split())) for beginning in beginnings)


Entry = str | Row


def command(text: str, *sets: str, **fields: object) -> Row:
    """Return a row; its group fills in the view and the source."""
    row = Row("", text, sets=sets)
    return replace(row, **fields)  # type: ignore[arg-type]  # the fields of Row, by name


def wider(text: str, *sets: str) -> Row:
    """Return a row for lines of other releases: read, but refused by every emulated switch."""
    return command(text, *sets, families=NO_FAMILY)


def group(view: str, source: str, *entries: Entry, together: bool = False) -> tuple[Row, ...]:
    """Return rows of one view from one section of a source; plain strings are plain commands."""
    rows = (Row("", entry) if isinstance(entry, str) else entry for entry in entries)
    return tuple(replace(row, view=view, source=source, block=int(together)) for row in rows)
