"""Text of TinyOS as lines with their views, and the effect of commands on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rocefort.base.errors import BadInput

END = "end"
VIEWS = ("interface ", "bgp ")
COMMANDS = ("hostname ", "vlan ", *VIEWS)
INSIDE = ("description ", "mtu ", "address ", "routed", "disabled", "neighbor ")

Tree = dict[str, list[str]]  # top lines in their order, each with the lines of its view


def tree_of(text: str) -> Tree:
    """Return the lines of a text; an indented line is in the view of the last unindented one."""
    tree: Tree = {}
    view: list[str] = []
    for raw in text.splitlines():
        line = " ".join(raw.split())
        if line in ("", END):
            continue
        if raw.startswith(" "):
            view.append(line)
        else:
            view = tree.setdefault(line, [])
    return tree


def text_of(tree: Tree) -> str:
    """Return the text that a switch saves."""
    rows = (
        row for line, inside in tree.items() for row in (line, *(f" {each}" for each in inside))
    )
    return "\n".join([*rows, END, ""])


def commands_between(old: Tree, new: Tree) -> Iterator[str]:
    """Yield commands from one tree to the other: removals first, whole views at once."""
    yield from (f"no {line}" for line in old if line not in new)
    for line, inside in new.items():
        before = old.get(line, [])
        if line in old and before == inside:
            continue
        yield line
        if line.startswith(VIEWS):
            same = next(
                (n for n, pair in enumerate(zip(before, inside, strict=False)) if len({*pair}) > 1),
                min(len(before), len(inside)),
            )
            yield from (f" no {each}" for each in reversed(before[same:]))
            yield from (f" {each}" for each in inside[same:])
            yield " exit"


def applied(tree: Tree, commands: Iterable[str]) -> Tree:
    """Return the tree after commands; raises BadInput for an unknown command."""
    after = {line: list(inside) for line, inside in tree.items()}
    view = ""
    for raw in commands:
        line = raw.strip()
        word = line.removeprefix("no ")
        if line == "exit":
            view = ""
        elif word.startswith(INSIDE if view else COMMANDS):
            rows = after[view] if view else after
            if line == word:
                view = _added(rows, line) or view
            elif word not in rows:
                raise BadInput("there is no such line", where=line)
            else:
                _gone(rows, word)
        else:
            raise BadInput("unknown command", where=line)
    return after


def _added(rows: Tree | list[str], line: str) -> str:
    """Add a line where it is missing; returns the view that it opens."""
    if isinstance(rows, list):
        rows += [] if line in rows else [line]
        return ""
    rows.setdefault(line, [])
    return line if line.startswith(VIEWS) else ""


def _gone(rows: Tree | list[str], line: str) -> None:
    if isinstance(rows, list):
        rows.remove(line)
    else:
        del rows[line]
