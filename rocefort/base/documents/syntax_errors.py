"""Causes of YAML's syntax errors: where the mistake is, what it is, and its fix.

The parser names the place where it stops, often lines behind the mistake: an open quote ends
at the end of the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml
from yaml._yaml import Mark as CMark

from rocefort.base.documents.secret_lines import sounds_secret

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
    context = _place(error.context_mark)
    place = _place(error.problem_mark) or context or (1, 1)
    lines = [*text.split("\n"), ""]
    return (
        _of_quotes(text, error, context, place)
        or _of_white_space(lines, place)
        or _of_tokens(error, lines, context, place)
        or _of_indentation(error, lines, place)
        or SyntaxProblem(*place, f"not YAML: {error.problem}", "fix the syntax")
    )


def _place(mark: yaml.Mark | CMark | None) -> tuple[int, int] | None:
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
            first, end = _place(event.start_mark), _place(event.end_mark)
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
