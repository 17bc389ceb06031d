"""Lines of a file that has problems, each with a mark below the value: `12 |   vlan: 5000`.

A line that may contain a secret is never shown, and neither is one with keys of no model.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from unicodedata import combining, east_asian_width

from rocefort.base.documents.secret_lines import (
    below_secret,
    has_own_keys,
    may_be_secret,
    of_users,
    repeats_line,
    without_unknown_keys,
)
from rocefort.base.documents.suggest import NEAR_ONE
from rocefort.base.errors import Problem

MOST = 10  # excerpts of one error
MOST_TEXTS = 64  # that are kept
NARROWEST = 20  # characters of a line that are shown on any terminal
TAB = "    "
CUT = ".."
TOKEN = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"\\]|\\.)*"|[^\s,\]}](?:\S|\s++)*?(?=\s*(?:[,\]}]|\s\#|:\s|:$|\s=\s|$))"""
)

_texts: OrderedDict[str, str] = OrderedDict()


def remember_text(file: str, text: str) -> None:
    """Keep the text of a file that was read, for excerpts."""
    _texts[file] = text
    _texts.move_to_end(file)
    if len(_texts) > MOST_TEXTS:
        _texts.popitem(last=False)


def remember_name(file: str, shown: str) -> None:
    """Keep another name for a file: errors name a file of a git revision `REV:PATH`."""
    if file in _texts:
        remember_text(shown, _texts[file])


def sentences_with_excerpts(problems: Sequence[Problem], width: int) -> str:
    """Return the text of an error: each problem in one line, then its excerpt.

    width: of the terminal.
    """
    out: list[str] = []
    shown = 0
    for problem in problems:
        text = _texts.get(problem.file) if shown < MOST else None
        rows = text.split("\n") if text else []
        shows = 0 < problem.line <= len(rows) and has_own_keys(rows, problem.line)
        lines = excerpt(text or "", problem.line, problem.column, width) if shows else []
        shown += bool(lines)
        out += [str(problem), *lines]
    if shown == MOST < len(problems):
        out.append(f"{len(problems)} problems; the first {MOST} with their lines")
    return "\n".join(out)


def masked(problem: Problem) -> Problem:
    """Return a problem without words of a line that may continue a secret above it."""
    lines = _texts.get(problem.file, "").split("\n")
    if not 0 < problem.line <= len(lines):
        return problem
    if of_users(lines, problem.line):
        return _without_user(problem, lines[problem.line - 1])
    if not below_secret(lines, problem.line):
        return problem
    subject, removed = without_unknown_keys(problem.subject)
    if not repeats_line(f"{problem.what} {problem.how}", lines[problem.line - 1], removed):
        return replace(problem, subject=subject)
    what, how = "a line that may be a part of the secret above it", "write a reference, env:NAME"
    return replace(problem, subject=subject, what=what, how=how)


def _without_user(problem: Problem, row: str) -> Problem:
    """Return a problem of a line of users without words that may be a password."""
    subject, removed = without_unknown_keys(problem.subject)
    what, how = problem.what, problem.how
    if not removed and how.startswith(NEAR_ONE):
        return problem  # a value that is near a valid one is no password
    if repeats_line(what, row, removed, whole=True):
        what = "a user that may have a password here; it is set on the switches"
    if repeats_line(how, row, removed, whole=True) or what != problem.what:
        how = "write the keys of a user, such as `name: NAME` and `level: 3`"
    return replace(problem, subject=subject, what=what, how=how)


def excerpt(text: str, line: int, column: int, width: int) -> list[str]:
    """Return a line of a text with its number, and a mark below the value at a column.

    Returns [] if there is no such line, or if it may contain a secret. width: of the terminal.
    """
    lines = text.removeprefix("\ufeff").split("\n")
    if not (0 < line <= len(lines) and column > 0) or may_be_secret(lines, line):
        return []
    row = lines[line - 1].rstrip()
    column = min(column, len(row) + 1)
    token = TOKEN.match(row, column - 1)
    before, marked = _plain(row[: column - 1]), _plain(token[0] if token else "")
    after = _plain(row[column - 1 + len(token[0] if token else "") :])
    gutter = " " * len(str(line))
    before, marked, after = _fitted(before, marked, after, max(width - len(gutter) - 5, NARROWEST))
    mark = " " * _columns(before) + "^" * max(1, _columns(marked))
    return [f"  {line} | {before}{marked}{after}", f"  {gutter} | {mark}"]


def _fitted(before: str, marked: str, after: str, width: int) -> tuple[str, str, str]:
    """Cut the parts of a line to a width around the marked part."""
    if _columns(before + marked + after) <= width:
        return before, marked, after
    marked = _head(marked, width // 2)
    room = width - _columns(marked)
    if _columns(before) > room // 2:
        before = CUT + _head(before[::-1], room // 2 - len(CUT))[::-1]
    room -= _columns(before)
    return before, marked, after if _columns(after) <= room else _head(after, room - 2) + CUT


def _head(text: str, width: int) -> str:
    """Return the first characters of a text that fit into a width."""
    used, out = 0, []
    for character in text:
        used += _columns(character)
        if used > width:
            break
        out.append(character)
    return "".join(out)


def _plain(text: str) -> str:
    """Return a text without characters that move the cursor of a terminal."""
    spaced = text.replace("\t", TAB).replace("\u00a0", " ")
    return "".join(one if one.isprintable() else "\ufffd" for one in spaced)


def _columns(text: str) -> int:
    """Return the columns that a text takes on a terminal."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)
