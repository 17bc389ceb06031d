"""Saved texts in other spellings of equal meaning, from the rows of the catalogue and the families.

Each edit is drawn: a spelling that a row declares, a default that it states, and a line that a
switch saves with nothing configured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from rocefort.dialects.vrp.commands.catalogue import rows_with
from rocefort.dialects.vrp.commands.command import Row, Spelling
from rocefort.dialects.vrp.commands.match import identify, readings
from rocefort.dialects.vrp.interpreter.execute import view_kind
from rocefort.dialects.vrp.interpreter.interpreter import VrpRefusal, apply_line
from rocefort.dialects.vrp.text.config_tree import ConfigLine, parse_tree, tree_text
from rocefort.dialects.vrp.unowned_lines import with_lines
from rocefort.models.hardware.hardware import Family, SyntaxFamily

Lines = tuple[ConfigLine, ...]
Path = tuple[str, ...]


def spelled(
    text: str, family: Family, random: Random, made: set[str], *, numbers: bool = True
) -> str:
    """A text with an equal meaning; made: kinds of the edits. numbers: whether they change."""
    tree = parse_tree(text)
    if numbers:
        tree = _numbered(tree, (), family.syntax, random, made)
    tree = _in_cells(tree, (), family, made)
    added = [*_repeated(tree, family.syntax), *_defaults(tree, family.syntax)]
    for kind, path in random.sample(added, random.randint(0, len(added))):
        made.add(kind)
        tree = with_lines(tree, [path])
    present = {(*views, line.text) for top in tree for views, line in top.walk()}
    for each in family.saved_lines:
        path = tuple(each.line.split(" / "))
        if path not in present and random.random() < 0.7:
            made.add("saved line")
            tree = with_lines(tree, [path])
    return tree_text(tree)


def _row(views: Path, text: str, family: SyntaxFamily) -> Row | None:
    return identify(view_kind(views, family), text, family).row


def _numbered(
    tree: Lines, views: Path, family: SyntaxFamily, random: Random, made: set[str]
) -> Lines:
    """Give other numbers in the same order to lines whose numbers only order them."""
    last: dict[str, int] = {}
    lines = []
    for line in tree:
        row, text = _row(views, line.text, family), line.text
        if row and row.equal and row.equal.number:
            number = _argument(row, text, row.equal.number, family)
            words = text.split()
            at = len(words) - 1 - words[::-1].index(number)
            head = " ".join(w for w in words[:at] if w not in ("permit", "deny"))
            last[head] = last.get(head, 0) + random.randint(1, 9)
            text = " ".join([*words[:at], str(last[head]), *words[at + 1 :]])
            made.add("number")
        below = _numbered(line.children, (*views, line.text), family, random, made)
        lines.append(replace(line, text=text, children=below))
    return tuple(lines)


def _argument(row: Row, text: str, name: str, family: SyntaxFamily) -> str:
    tokens = tuple(text.split())
    matches = (match for own, match in readings(row.view, tokens, family) if own == row)
    return next(value for match in matches for key, value in match.params if key == name)


def _in_cells(tree: Lines, views: Path, family: Family, made: set[str]) -> Lines:
    """Write sizes in the other unit that a row declares, where it has the same size."""
    lines = []
    for line in tree:
        row, text = _row(views, line.text, family.syntax), line.text
        if row and row.equal and row.equal.size:
            text = _other_unit(text, row.equal, family)
            made |= {"size"} if text != line.text else set()
        below = _in_cells(line.children, (*views, line.text), family, made)
        lines.append(replace(line, text=text, children=below))
    return tuple(lines)


def _other_unit(text: str, spelling: Spelling, family: Family) -> str:
    assert spelling.size
    words, field = spelling.size
    fact = getattr(family, field)
    plain = words.rpartition(" ")[0]
    numbers = [int(n) for n in re.findall(r"-limit (\d+)", text)]
    if fact is None or not fact.confirmed or f" {plain} low" not in text:
        return text
    if any(number % fact.value for number in numbers):
        return text
    cells = re.sub(r"(?<=-limit )\d+", lambda m: str(int(m[0]) // fact.value), text)
    return cells.replace(plain, words)


def _repeated(tree: Lines, family: SyntaxFamily) -> Iterator[tuple[str, Path]]:
    """Yield lines that repeat at a member what its lender has, or state what holds without one."""
    for views, lines in _views(tree):
        rows = [row for row in _rows(views, family) if row.equal and row.equal.lender]
        for row in rows:
            assert row.equal
            own = [line.text for line in lines if _row(views, line.text, family) == row]
            for holder, lender in _holders(lines, row.equal):
                if any(text.startswith(f"peer {holder} ") for text in own):
                    continue
                lent = [text for text in own if text.startswith(f"peer {lender} ")]
                for text in lent:
                    repeated = text.replace(f"peer {lender} ", f"peer {holder} ", 1)
                    yield "repeated", (*views, repeated)
                if not lent and row.equal.otherwise:
                    yield "otherwise", (*views, row.equal.otherwise.format(peer=holder))


def _holders(lines: Sequence[ConfigLine], spelling: Spelling) -> list[tuple[str, str]]:
    """Each holder of a view with its lender."""
    pattern = re.escape(spelling.lender).replace(r"\{peer\}", r"(\S+)") + r" (\S+)"
    return [m.groups() for line in lines if (m := re.fullmatch(pattern, line.text))]  # type: ignore[misc]  # two groups


def _defaults(tree: Lines, family: SyntaxFamily) -> Iterator[tuple[str, Path]]:
    """Yield lines that state a default, which a switch accepts and does not save."""
    for views, lines in _views(tree):
        below = {  # a setting of a BGP process may be stated in its address family instead
            each.format
            for line in lines
            for path, inner in line.walk()
            if (each := _row((*views, *path), inner.text, family))
        }
        for row in _rows(views, family):
            line = row.default
            if not line or row.kind in ("list", "each") or "{" in line or row.format in below:
                continue
            try:
                same = apply_line(tree, views, line, family).config == tree
            except VrpRefusal:
                continue
            if same:
                yield "default", (*views, line)


def _rows(views: Path, family: SyntaxFamily) -> tuple[Row, ...]:
    return rows_with(family).get(view_kind(views, family), ())


def _views(tree: Lines) -> Iterator[tuple[Path, Lines]]:
    """Yield every view that has lines, the system view first."""
    yield (), tree
    for top in tree:
        for path, line in top.walk():
            if line.children:
                yield (*path, line.text), line.children
