"""Lines of a configuration that are added or removed, with the Device field of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from rocefort.dialects.data import ExtraLine
from rocefort.dialects.vrp.parse.parser import places_in
from rocefort.dialects.vrp.text.config_tree import ConfigLine, parse_tree

_Missing = tuple[tuple[str, ...], ConfigLine, int]  # views, line, number of the line above it


def changed_lines(before: str, after: str) -> tuple[ExtraLine, ...]:
    """Return lines missing in the first text, then lines missing in the second.

    A text is parsed only where one of its lines is missing in the other. Raises as `parse` does.
    """
    old, new = parse_tree(before), parse_tree(after)
    return (
        *_lines(tuple(_missing(new, old, (), 0)), after, added=True),
        *_lines(tuple(_missing(old, new, (), 0)), before, added=False),
    )


def _lines(lines: tuple[_Missing, ...], text: str, *, added: bool) -> Iterator[ExtraLine]:
    paths = _paths(places_in(text, "the text of a change")) if lines else {}
    for views, line, number in lines:
        first = line.children[0].number if line.children else number  # of a view without a field
        path, *others = paths.get(line.number) or paths.get(first) or paths.get(number) or [""]
        yield ExtraLine(added, views, line.text, path, tuple(others))


def _missing(
    lines: tuple[ConfigLine, ...],
    others: tuple[ConfigLine, ...],
    views: tuple[str, ...],
    opened_at: int,
) -> Iterator[_Missing]:
    """Yield lines that others lack, each with its views and the number of the line above them."""
    others_by_text: dict[str, tuple[ConfigLine, ...]] = defaultdict(tuple)
    for line in others:
        others_by_text[line.text] += line.children
    texts = {line.text for line in others}
    for line in lines:
        if line.text not in texts:
            yield views, line, opened_at
        below = others_by_text.get(line.text, ())
        if line.children and line.children != below:
            yield from _missing(line.children, below, (*views, line.text), line.number)


def _paths(lines: Mapping[str, int]) -> dict[int, list[str]]:
    """Return the paths that each line is the first to set, the most precise before the others."""
    paths: dict[int, list[str]] = {}
    for path, number in lines.items():
        own = paths.setdefault(number, [])
        own.append(path)
        if len(path) >= len(own[0]):
            own[0], own[-1] = own[-1], own[0]
    return paths
