"""Check of texts that templates of a site write: they may add lines, and change no value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from rocefort.base.errors import Problem
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.data import ParsedConfig
from rocefort.models.change.compare import compare
from rocefort.models.change.edits import Edit, field_of
from rocefort.models.hardware.hardware import SITE_TEMPLATES
from rocefort.models.network.network import Node, Position
from rocefort.models.wording import count_of

STATE = "state it in the fabric, and leave this line to the shipped template"
REMOVED = "leave the line out that it removes, by the block that writes it"
NO_ACTION = "write only lines that a switch saves"
ELSEWHERE = "write the line only where a switch takes it"
BY_REFERENCE = "name the secret by a reference in the fabric"

Lines = Mapping[int, Position]  # position in a template by line of the text


def has_templates(node: Node) -> bool:
    """Whether the site of a switch has templates of its own."""
    return node.hardware is not None and bool(node.hardware.site_templates)


def problems_of(node: Node, parsed: ParsedConfig, text: str, lines: Lines) -> Iterator[Problem]:
    """Yield each value that a template changes, and each line that a site cannot add."""
    edits = compare(node.device, parsed.device)
    for edit in edits:
        position = _position(parsed, edit, lines)
        yield _problem(node, position, f"{_change(edit)} on {node.name}", STATE)
    if not edits and parsed.device != node.device:
        what = f"changes the order of lines on {node.name}"
        yield _problem(node, None, what, "keep the order of the shipped template")
    rows = text.split("\n")
    for number, what in dialect_of(node).actions(text, parsed.unmodelled):
        yield _problem(node, lines.get(number), f"{what}, on {node.name}", NO_ACTION)
    refused = _refused(node, parsed, text)
    for line in parsed.unmodelled:
        position = lines.get(line.line)
        if dialect_of(node).removes(line):
            what = (
                f"`{line.shown_text}` removes a line and is no line of a saved configuration "
                f"on {node.name}"
            )
            yield _problem(node, position, what, REMOVED)
        if dialect_of(node).leaves_view(line, node.family):
            view = line.shown_path[-1]
            what = f"`{line.shown_text}` opens a view outside of `{view}` on {node.name}"
            how = "write it at the left margin, with `#` before it"
            yield _problem(node, position, what, how)
        if (*line.path, line.text) in refused:
            what = (
                f"the switch refuses `{line.shown_text}` in `{line.shown_path[-1]}` on {node.name}"
            )
            yield _problem(node, position, what, ELSEWHERE)
        if " ".join(rows[line.line - 1].split()) != line.text:
            what = f"`{line.shown_text}` contains a secret on {node.name}"
            yield _problem(node, position, what, BY_REFERENCE)


def _refused(node: Node, parsed: ParsedConfig, text: str) -> frozenset[Sequence[str]]:
    """Return lines of views that the switch has, and refuses at their place."""
    if node.family is None or not any(line.path for line in parsed.unmodelled):
        return frozenset()
    return frozenset(map(tuple, dialect_of(node).misplaced(text, node.family)))


def placed(node: Node, problems: Iterable[Problem], lines: Lines) -> Iterator[Problem]:
    """Yield problems of a rendered text (`leaf01.cfg:12`) with their lines of a template."""
    for problem in problems:
        own = problem.file == f"{node.name}.cfg"
        what = f"{problem.what}, on {node.name}"
        yield _problem(node, lines.get(problem.line) if own else None, what, problem.how)


def joined(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return one problem for each line of a template, the first, with the number of the others."""
    alike: dict[str, list[Problem]] = defaultdict(list)
    for problem in problems:
        what = "" if problem.line else field_of(problem.what.rpartition(" on ")[0])
        alike[f"{problem.where} {what}"].append(problem)
    return tuple(
        first
        if not others
        else replace(first, what=f"{first.what}, and {count_of(len(others), 'more value')}")
        for first, *others in alike.values()
    )


def _change(edit: Edit) -> str:
    if edit.after is None:
        return f"leaves out {edit.path} ({edit.before_text})"
    if edit.before is None:
        return f"adds {edit.path}: {edit.after_text}"
    return f"changes {edit.path} from {edit.before_text} to {edit.after_text}"


def _position(parsed: ParsedConfig, edit: Edit, lines: Lines) -> Position | None:
    """Return template and line of a value; None where no line states it."""
    path = edit.path if edit.after is not None else ""
    while path:
        if path in parsed.lines:
            return lines.get(parsed.lines[path])
        cut = max(path.rfind("."), path.rfind("["))
        path = path[:cut] if cut > 0 else ""
    return None


def _problem(node: Node, position: Position | None, what: str, how: str) -> Problem:
    """Return a problem at a line of a template; without one, of the templates of the site."""
    if position:
        return Problem("", what, how, position.file, position.line)
    own = node.hardware.site_templates if node.hardware else ()
    return Problem(", ".join(f"{SITE_TEMPLATES}/{name}" for name, _ in own), what, how)
