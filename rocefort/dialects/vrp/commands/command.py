"""One row of the command table: a command of a view, and what it does to a configuration.

Sources, by the names of their sections: CR is the command reference of CloudEngine 5800 to 9800,
V300R023C00; CG its configuration guide. FIELD marks lines read from published configurations of
real switches, for which no vendor page was found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property

from rocefort.dialects.vrp.commands.format import FormatNode, parse_format
from rocefort.errors import BadInput
from rocefort.models.hardware.hardware import Fact, Family, Range, SyntaxFamily, ValueSet
from rocefort.paths import HARDWARE
from rocefort.syntax_families import FAMILY_FILE

# What reads a line into a part: None, the part of the view that it opens, or False: not modelled.
Reader = Callable[..., object]

ANY = frozenset(SyntaxFamily)
NO_FAMILY: frozenset[SyntaxFamily] = frozenset()  # older texts have it; it is read, never taken
V200 = frozenset({SyntaxFamily.V200})
G1 = frozenset({SyntaxFamily.V300_G1})
G2 = frozenset({SyntaxFamily.V300_G2})
V300 = G1 | G2
OFFSET = V200 | G2  # the families that set xoff and an xon offset

QUEUES, ANY_NUMBER = "pfc_queues", "0-4294967295"
PORT = r"\d*GE\d.*"  # physical Ethernet
MEMBER = rf"{PORT}|Eth-Trunk\d+"
SYSTEM = "system"
# `<xoff_kbytes>`, a field of Family: a range, a few values to choose from, or one number.
FACT = re.compile(r"(?P<open>[<{:])(?P<name>[a-z]+(?:_[a-z]+)+)(?P<close>[>}])")


@dataclass(frozen=True)
class Row:
    """One command of one view.

    `undo` holds the reference's undo formats where they are not the key with an optional value;
    a trailing `*` removes every line whose key begins so. `on_set` and `on_undo` are commands that
    the switch carries out by itself (`view: command`); `drops` are lines that go with an undo, in
    all views below. `default` is what holds without a line; `layer` 2 or 3 limits a port's mode.
    A name of the family's data stands for its range, `<xoff_kbytes>`, its values or its number.
    `needs` are beginnings of lines of this view or one around it, one of which must stand.
    A patch undoes a line by the first undo format that fits its key or all of it, `*` last.

    `sets` is what a line says about a Device, from the model that its view fills: fields, each with
    an argument of the line or a constant, and rows by their keys (parse/bindings.py):

        mtu={46-9600}                           enabled=no
        drr[{0-7}].weight={1-100}               vlans+={numbers}

    Of several, the first counts that the line fits. `reads` reads what this cannot say; `sets` then
    names the fields. A line of a row without both is kept and reported as not modelled. `instead`
    is how to say it on the families that do not have the command.
    """

    view: str
    format: str
    source: str = ""
    sets: tuple[str, ...] = ()
    reads: Reader | None = None
    undo: tuple[str, ...] = ()
    no_undo: bool = False  # the command is taken back by another form of itself
    opens: str = ""
    families: frozenset[SyntaxFamily] = ANY
    instead: str = ""
    kind: str = "set"  # set: a line a key; list: a line of ranges; each: a line a number; pairs;
    # ports: a line a port of a list; versions: a line of words; action: no line
    default: str = ""
    on: str = ""  # interface names that have the command
    layer: int = 0
    service: bool = False  # beside the rows of a layer: what no member of an Eth-Trunk may have
    transient: bool = False  # the line stands only while its view holds something
    on_set: tuple[str, ...] = ()
    on_undo: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    guard: str = ""  # a line of the same view that must go first
    needs: tuple[str, ...] = ()
    held_by: tuple[str, ...] = ()  # beginnings of lines in any view that must go first; `*`: a word
    written: str = ""  # the format before the families' data stood in it, by which lines are read
    rank: int = 0
    block: int = 0  # rows of one block are sorted by their second word first (BGP peers)

    @cached_property
    def nodes(self) -> tuple[FormatNode, ...]:
        """The format, read."""
        return parse_format(self.format)

    @cached_property
    def undo_nodes(self) -> tuple[tuple[tuple[FormatNode, ...], bool], ...]:
        """Each undo format, read, and whether it removes all lines that begin so."""
        whole = self.kind in ("list", "each")
        derived = self.format if whole else self.format.replace("( ", "[ ( ").replace(" )", " ) ]")
        return tuple(
            (parse_format(text.removesuffix(" *")), text.endswith(" *"))
            for text in self.undo or (derived,)
        )

    @cached_property
    def name(self) -> str:
        """The command by its words up to its first value: `local-user .. privilege level`."""
        words: list[str] = []
        for node in self.nodes:
            if node.kind == "value":
                break
            words.append(node.text if node.kind == "word" else "..")
        return " ".join(words)

    @cached_property
    def first_words(self) -> frozenset[str]:
        """Words with which a line of this row can begin."""
        return frozenset(_first_words(self.nodes))

    @cached_property
    def literals(self) -> frozenset[str]:
        """Words that every line of this row has."""
        return frozenset(node.text for node in self.nodes if node.kind == "word")


def with_ranges(row: Row, families: Mapping[str, Family]) -> tuple[Row, ...]:
    """A row once for each set of families with equal ranges, which stand in the place of names.

    Raises BadInput for a family without such a range.
    """
    if not row.families:
        any_number = FACT.sub(rf"\g<open>{ANY_NUMBER}\g<close>", row.format)
        return (replace(row, format=any_number, written=row.format),)
    found: dict[Row, set[SyntaxFamily]] = {}
    for name in sorted(row.families):
        found.setdefault(_of_family(row, name, families), set()).add(name)
    return tuple(replace(each, families=frozenset(names)) for each, names in found.items())


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
            limits = ANY_NUMBER  # a switch refuses nothing of which no source says that it does
        else:
            limits = f"{fact.low}-{fact.high}"
        return f"{match['open']}{limits}{match['close']}"

    values = {each.name: getattr(row, each.name) for each in fields(row) if each.name != "sets"}
    texts = {k: FACT.sub(literal, v) for k, v in values.items() if isinstance(v, str)}
    several = {
        k: tuple(FACT.sub(literal, text) for text in v)
        for k, v in values.items()
        if isinstance(v, tuple)
    }
    texts["written"] = row.format
    return replace(row, **texts, **several, families=frozenset())  # type: ignore[arg-type]  # fields of Row


def _first_words(nodes: tuple[FormatNode, ...]) -> set[str]:
    first = nodes[0]
    if first.kind == "word":
        return {first.text}
    return {word for branch in first.branches for word in _first_words(branch)}


Entry = str | Row


def command(text: str, *sets: str, **fields: object) -> Row:
    """A row whose view and source its group fills in."""
    row = Row("", text, sets=sets)
    return replace(row, **fields)  # type: ignore[arg-type]  # the fields of Row, by name


def wider(text: str, *sets: str) -> Row:
    """A row for what other releases may have saved: it is read, and no emulated switch takes it."""
    return command(text, *sets, families=NO_FAMILY)


def group(view: str, source: str, *entries: Entry, together: bool = False) -> tuple[Row, ...]:
    """Rows of one view from one section of a source; plain strings are plain commands."""
    rows = (Row("", entry) if isinstance(entry, str) else entry for entry in entries)
    return tuple(replace(row, view=view, source=source, block=int(together)) for row in rows)
