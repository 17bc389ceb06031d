"""Causes of YAML's syntax errors, and the lines of a file that has problems, with marks.

A line that may contain a secret is never shown, and neither is one with keys of no model.

The parser names the place where it stops, often lines behind the mistake: an open quote ends
at the end of the file.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from unicodedata import combining, east_asian_width

import yaml
from yaml._yaml import Mark as CMark

from rocefort.base.documents.secret_lines import (
    below_secret,
    has_own_keys,
    may_be_secret,
    of_users,
    repeats_line,
    sounds_secret,
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


NO_BREAK_SPACE = "\u00a0"
NO_BREAK = ("a no-break space (U+00A0) where YAML needs a space", "replace it by a space")
CONFLICT = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)  # git's marks of both ends
GLUED = re.compile(r" *-\w")
PAIR = re.compile(r":(?:\s|$)")  # end of a key


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """Mistake in a YAML text; line and column are 1-based."""

    line: int
    column: int
    what: str
    how: str


def cause_of(text: str, error: yaml.MarkedYAMLError) -> SyntaxProblem:
    """Return the mistake that made the parser stop."""
    if conflict := CONFLICT.search(text):
        line = text.count("\n", 0, conflict.start()) + 1
        what, how = "an unresolved merge conflict", "resolve it, then remove its marks"
        return SyntaxProblem(line, 1, what, how)
    context = _line_and_column(error.context_mark)
    place = _line_and_column(error.problem_mark) or context or (1, 1)
    lines = [*text.split("\n"), ""]
    return (
        _of_quotes(text, error, context, place)
        or _of_white_space(lines, place)
        or _of_tokens(error, lines, context, place)
        or _of_indentation(error, lines, place)
        or SyntaxProblem(*place, f"not YAML: {error.problem}", "fix the syntax")
    )


def _line_and_column(mark: yaml.Mark | CMark | None) -> tuple[int, int] | None:
    return (mark.line + 1, mark.column + 1) if mark else None


def _of_quotes(
    text: str,
    error: yaml.MarkedYAMLError,
    context: tuple[int, int] | None,
    place: tuple[int, int],
) -> SyntaxProblem | None:
    what, how = "the quote that opens here is not closed", "close it on the same line"
    if error.context == "while scanning a quoted scalar" and context:
        return SyntaxProblem(*context, what, how)
    if error.problem == "found unknown escape character":
        what = "a backslash in double quotes that begins no known escape"
        return SyntaxProblem(*place, what, "use single quotes")
    opened = _quoted_over_lines(text, place[0])
    return SyntaxProblem(*opened, what, how) if opened else None


def _quoted_over_lines(text: str, line: int) -> tuple[int, int] | None:
    """Place of a quoted text that begins before a line and ends on it: its own end is missing."""
    loader = yaml.CSafeLoader(text)
    last: tuple[int, int] | None = None
    try:
        while (event := loader.get_event()) is not None:
            first, end = _line_and_column(event.start_mark), _line_and_column(event.end_mark)
            quoted = isinstance(event, yaml.ScalarEvent) and event.style in ("'", '"')
            last = first if quoted and first and end and first[0] < line == end[0] else None
    except yaml.MarkedYAMLError:
        return last
    finally:
        loader.dispose()
    return None


def _of_white_space(lines: list[str], place: tuple[int, int]) -> SyntaxProblem | None:
    """Return a no-break space on the line of an error or the one above, or a tab before it."""
    line, column = place
    for number in (line - 1, line):
        if number > 0 and (at := lines[number - 1].find(NO_BREAK_SPACE)) >= 0:
            return SyntaxProblem(number, at + 1, *NO_BREAK)
    before = lines[line - 1][:column]
    if "\t" in before and not before.strip():
        how = "indent with spaces"
        return SyntaxProblem(line, before.index("\t") + 1, "a tab in the indentation", how)
    return None


def _of_tokens(
    error: yaml.MarkedYAMLError,
    lines: list[str],
    context: tuple[int, int] | None,
    place: tuple[int, int],
) -> SyntaxProblem | None:
    problem = error.problem or ""
    line, column = place
    if "could not find expected ':'" in problem and context:
        return _no_colon(lines, context)
    if "{{" in lines[line - 1]:
        at = lines[line - 1].index("{{") + 1
        what = "`{{` begins a mapping, and nothing fills in placeholders here"
        return SyntaxProblem(line, at, what, "write the value itself")
    if "cannot start any token" in problem:
        character = lines[line - 1][column - 1 : column]
        what = f"a value cannot begin with {character!r}"
        return SyntaxProblem(line, column, what, "put it in quotes")
    for bracket, end in ("[]", "{}"):
        if f"expected ',' or '{end}'" in problem and context:
            if context[0] == line:
                what, how = f"a `,` or `{end}` is missing", f"write it, or close the `{bracket}`"
                return SyntaxProblem(line, column, what, how)
            what = f"the `{bracket}` that opens here is not closed"
            return SyntaxProblem(*context, what, f"close it with `{end}`")
    return None


def _no_colon(lines: list[str], place: tuple[int, int]) -> SyntaxProblem:
    line = lines[place[0] - 1].strip()
    what = f"no `: ` after the key{'' if sounds_secret(line) else f' in {line!r}'}"
    return SyntaxProblem(*place, what, "write `key: value`, with a space after the colon")


def _of_indentation(
    error: yaml.MarkedYAMLError, lines: list[str], place: tuple[int, int]
) -> SyntaxProblem | None:
    line, column = place
    before = next((n for n in range(line - 1, 0, -1) if _code(lines[n - 1])), 0)
    first = _indent(lines[line - 1]) + 1
    if error.problem == "mapping values are not allowed in this context":
        return _of_a_second_colon(lines, place, before)
    if before and GLUED.match(lines[before - 1]):
        at = _indent(lines[before - 1]) + 1
        return SyntaxProblem(before, at, "no space after the `-` of a list item", "write `- `")
    if error.problem == "did not find expected key" and not _fits(lines[: line - 1], column):
        what = "the indentation of this line fits no line above"
        return SyntaxProblem(line, first, what, "align it with the keys it belongs to")
    if error.problem == "did not find expected '-' indicator" and column == first:
        what = "this line is neither an item of the list above nor a key of its last item"
        return SyntaxProblem(line, first, what, "begin it with `- `, or align it with those keys")
    return None


def _of_a_second_colon(lines: list[str], place: tuple[int, int], before: int) -> SyntaxProblem:
    """Return the mistake before a `: ` that ends no key; before: number of the line above."""
    line, column = place
    if PAIR.search(lines[line - 1][: column - 1]):
        what = "a second `: ` in one line"
        return SyntaxProblem(line, column, what, "put the value in quotes")
    if before and not PAIR.search(lines[before - 1]):
        return _no_colon(lines, (before, _indent(lines[before - 1]) + 1))
    what = f"this line is indented below line {before}, whose key has a value already"
    how = "align it with the keys it belongs to"
    return SyntaxProblem(line, _indent(lines[line - 1]) + 1, what, how)


def _fits(above: list[str], column: int) -> bool:
    """Whether a line above, of the same or an outer mapping, begins in the same column."""
    for line in filter(_code, reversed(above)):
        if _indent(line) + 1 <= column:
            return _indent(line) + 1 == column
    return False


def _code(line: str) -> str:
    return "" if line.lstrip().startswith("#") else line.strip()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
