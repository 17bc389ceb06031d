"""Comparison of a switch's own diff with the planned change, by meaning, not by form.

A switch prints the changes of its candidate as lines with `+` or `-` below their views. Applied to
the running text, they give the future text. The difference in meaning between the two must equal
the plan. For a secret, a switch shows only that it changes: that change must be planned, by its
reference and version, and no other secret may change.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from napalm_cloudengine.masking import MASK
from napalm_cloudengine.text import lines_of, words_of
from rocefort.base.errors import BadInput
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.text.config_tree import ConfigLine, is_noise, parse_tree, tree_text
from rocefort.dialects.vrp.text.secret_forms import masked_text
from rocefort.models.change.compare import compare
from rocefort.models.change.edits import Edit
from rocefort.models.change.plan import Change
from rocefort.models.device.device import without_defaults
from rocefort.models.device.secret import PLACEHOLDER, is_reference
from rocefort.models.hardware.hardware import Family

Lines = tuple[ConfigLine, ...]
Path = tuple[str, ...]
HEADING = "Building configuration"
TOP = 2  # indentation of lines in the system view
SECRET = re.compile(r"(?:cipher|simple) " + re.escape(MASK), re.ASCII)
# In a row's value, as in an Edit: `password=env:BGP version 2`, `password=encrypted`.
PASSWORD = re.compile(
    r"(?<=password=)(?:[a-z]+:\S+?(?: version \d+)?|encrypted|readable)(?=[,)]|$)", re.ASCII
)
UNSAID = "planned, but not in the switch's diff"
UNPLANNED = "not planned"
ABSENT = "the diff removes a line that is not running"


@dataclass(frozen=True, slots=True)
class CompareLine:
    """One line that a switch adds (`+`) or removes (`-`), with its views."""

    sign: str
    path: Path
    text: str

    def __str__(self) -> str:
        return f"{self.sign} {masked_text(' / '.join((*self.path, self.text)))}"


@dataclass(frozen=True, slots=True)
class _DiffRow:
    sign: str  # a blank: only a view of other lines
    indent: int
    text: str


def changed_lines(device_diff: str, *, shifted: bool = False) -> tuple[CompareLine, ...]:
    """Return lines that a switch would change, each with its views.

    shifted: in an unchanged view, removed lines are one blank further left, as in the reference's
    sample.
    """
    changes: list[CompareLine] = []
    views: list[_DiffRow] = []
    stays = False  # whether only parts of the section change
    for row in _rows(device_diff):
        if row.text == "#" and row.sign == " " and row.indent <= TOP:
            views = []  # deeper ones only separate parts of a view
            continue
        if is_noise(row.text):
            continue
        if not views:
            stays = row.sign == " "
        if shifted and stays and row.sign == "-":
            row = replace(row, indent=row.indent + 1)  # noqa: PLW2901 - the same row, in place
        while views and views[-1].indent >= row.indent:
            views.pop()
        if row.sign != " ":
            changes.append(CompareLine(row.sign, tuple(view.text for view in views), row.text))
        views.append(row)
    return tuple(changes)


def _rows(text: str) -> Iterator[_DiffRow]:
    """Yield lines by sign, indentation and words; the sign's column counts as one blank."""
    for raw in lines_of(text):
        line = raw.rstrip()
        if not line or line.strip() == HEADING:
            continue
        sign = line[0] if line[0] in "+-" else " "
        rest = f" {line[1:]}" if sign != " " else line
        yield _DiffRow(sign, len(rest) - len(rest.lstrip(" ")), " ".join(words_of(rest)))


def same_change(
    planned: Change, device_diff: str, running_text: str, family: Family
) -> tuple[str, ...]:
    """Return differences between a planned change and a switch's diff, as sentences.

    None: the same. running_text: the switch's running configuration. No sentence shows a secret.
    """
    readings = dict.fromkeys(
        changed_lines(device_diff, shifted=shifted) for shifted in (False, True)
    )
    candidates = [tuple(_differences(planned, lines, running_text, family)) for lines in readings]
    return min(candidates, key=lambda sentences: (ABSENT in " ".join(sentences), len(sentences)))


def _differences(
    planned: Change, lines: tuple[CompareLine, ...], running_text: str, family: Family
) -> Iterator[str]:
    running = parse_tree(running_text)
    absent = [line for line in lines if line.sign == "-" and not _has(running, line)]
    if absent:
        yield from (f"{ABSENT}: {line}" for line in absent)
        return
    before, after = running_text, tree_text(_changed_tree(running, lines))
    try:
        old, new = (parse(text, planned.device) for text in (before, after))
    except BadInput as error:
        yield f"the resulting configuration cannot be read: {error.problem.what}"
        return
    device = compare(without_defaults(old.device, family), without_defaults(new.device, family))
    yield from _edits(planned.edits, device)
    yield from _secrets(planned, lines)
    known, would = (
        Counter((*line.path, line.text) for line in parsed.unmodelled) for parsed in (old, new)
    )
    changed = {f"- {' / '.join(path)}" for path in known - would}
    changed |= {f"+ {' / '.join(path)}" for path in would - known}
    expected = (*planned.unjudged, *planned.unowned)
    yield from (f"{UNPLANNED}: {line}" for line in sorted(changed.difference(expected)))
    yield from (f"{UNSAID}: {line}" for line in expected if line not in changed)


def _edits(planned: Iterable[Edit], device: Iterable[Edit]) -> Iterator[str]:
    mine = {key: edit for edit in planned if (key := _without_secrets(edit)) is not None}
    its = {key: edit for edit in device if (key := _without_secrets(edit)) is not None}
    for key, edit in mine.items():
        if key not in its:
            yield f"{UNSAID}: {_edit_text(edit)}"
    for key, edit in its.items():
        if key not in mine:
            yield f"{UNPLANNED}: {_edit_text(edit)}"


def _without_secrets(edit: Edit) -> tuple[str, str | None, str | None] | None:
    """Return path and values, `secret` for every secret; None where only a secret changes."""
    is_secret = edit.path.endswith(".password")
    values = edit.before_text, edit.after_text
    before, after = (_blank(value, whole=is_secret) for value in values)
    if before == after and values != (None, None):
        return None
    return edit.path, before, after


def _blank(value: str | None, *, whole: bool) -> str | None:
    if value is None:
        return None
    return "secret" if whole else PASSWORD.sub("secret", value)


def _edit_text(edit: Edit) -> str:
    before, after = (
        masked_text(value) if value else "nothing" for value in (edit.before_text, edit.after_text)
    )
    return f"{edit.path}: {before} -> {after}"


def _secrets(planned: Change, lines: Iterable[CompareLine]) -> Iterator[str]:
    """Yield secrets that are set and not planned, or planned and not set; by their lines."""
    mine = {
        _masked_path(path, text): text
        for path, text in _typed(planned.patch)
        if any(map(is_reference, PLACEHOLDER.findall(text)))
    }
    its = {
        _masked_path(line.path, masked_text(line.text))
        for line in lines
        if line.sign == "+" and MASK in masked_text(line.text)
    }
    for position, text in mine.items():
        if position not in its:
            stated = ", ".join(PLACEHOLDER.findall(text))
            yield f"{UNSAID}: + {' / '.join(position)} ({stated})"
    for position in its:
        if position not in mine:
            yield f"{UNPLANNED}: + {' / '.join(position)}"


def _masked_path(path: Path, text: str) -> Path:
    """Return a line's views and words with a mask for its secret, typed or saved."""
    return (*path, SECRET.sub(MASK, PLACEHOLDER.sub(MASK, text)))


def _typed(patch: Iterable[str]) -> Iterator[tuple[Path, str]]:
    """Yield lines of a patch with the views in which they are typed."""
    views: list[str] = []
    for raw in patch:
        depth = len(raw) - len(raw.lstrip(" "))
        text = raw.strip()
        del views[depth:]
        if text != "quit":
            yield tuple(views), text
            views.append(text)


def _has(lines: Lines, line: CompareLine) -> bool:
    for text in (*line.path, line.text):
        inner = next((each for each in lines if each.text == text), None)
        if inner is None:
            return False
        lines = inner.children
    return True


def _changed_tree(tree: Lines, lines: Iterable[CompareLine]) -> Lines:
    """Return the tree without the removed lines, with the added ones."""
    ordered = sorted(lines, key=lambda line: line.sign == "+")
    for line in ordered:
        tree = (
            _with_line(tree, line.path, line.text)
            if line.sign == "+"
            else _without_line(tree, line)
        )
    return tree


def _without_line(tree: Lines, line: CompareLine, depth: int = 0) -> Lines:
    """Return the tree without a line; lines below it are removed, too, or were removed before."""
    if depth == len(line.path):
        return tuple(each for each in tree if each.text != line.text)
    return tuple(
        replace(each, children=_without_line(each.children, line, depth + 1))
        if each.text == line.path[depth]
        else each
        for each in tree
    )


def _with_line(tree: Lines, path: Path, text: str) -> Lines:
    head = path[0] if path else text
    index = next((i for i, each in enumerate(tree) if each.text == head), None)
    if index is None:
        tree, index = (*tree, ConfigLine(head)), len(tree)
    if not path:
        return tree
    inner = _with_line(tree[index].children, path[1:], text)
    return (*tree[:index], replace(tree[index], children=inner), *tree[index + 1 :])
