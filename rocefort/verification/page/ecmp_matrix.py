"""The ECMP matrix of the report page, leaf by leaf, or by groups of leaves that fare alike."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from rocefort.models.wording import count_of, listing
from rocefort.reports.wording import name_ranges
from rocefort.verification.page.paths import Paths, widths_between

MOST_LEAVES = 120  # with a row of their own
MOST_GROUPS = 40
MOST_NAMES = 3  # of a group, as ranges
NOWHERE = 255  # in place of a width: there is none, as from a leaf to itself

Row = Sequence[int | None]


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A row, and column, of the matrix: one leaf, or leaves that fare alike."""

    name: str
    leaves: int
    first: str  # leaf


@dataclass(frozen=True, slots=True)
class Matrix:
    """Widths from each row to each column; words: the whole of it in a sentence."""

    lines: tuple[MatrixRow, ...]
    widths: tuple[tuple[int | None, ...], ...]
    words: str
    note: str = ""

    @property
    def uniform(self) -> bool:
        """Whether all pairs have one width, so that the sentence has all of it."""
        return len({width for row in self.widths for width in row if width is not None}) < 2

    def as_json_value(self) -> dict[str, object]:
        """For the script."""
        lines = [[line.name, line.leaves, line.first] for line in self.lines]
        return {"lines": lines, "widths": self.widths}


def matrix_of(paths: Paths | None) -> Matrix | None:
    """The matrix; None where next hops are not known, or nothing is between leaves."""
    if paths is None or len(paths.leaves) < 2:
        return None
    rows = widths_between(paths)
    names = [paths.nodes[leaf] for leaf in paths.leaves]
    words = _words(rows)
    if len(names) <= MOST_LEAVES:
        lines = tuple(MatrixRow(name, 1, name) for name in names)
        return Matrix(lines, tuple(map(tuple, rows)), words)
    groups = equal_rows(rows)
    shown = groups
    if len(groups) > MOST_GROUPS:
        worst = sorted(groups, key=lambda group: (_least(rows[group[0]]), group))
        shown = sorted(worst[:MOST_GROUPS])
    widths = tuple(tuple(_between(rows, a, b) for b in shown) for a in shown)
    return Matrix(
        tuple(_line([names[leaf] for leaf in group]) for group in shown),
        widths,
        words,
        _note(len(groups), len(shown)),
    )


def _note(groups: int, shown: int) -> str:
    told = f"Leaves that fare alike share a row: {count_of(groups, 'group')}."
    return told if shown == groups else f"{told} Shown are the {shown} with the least width."


def _line(names: Sequence[str]) -> MatrixRow:
    parts = list(name_ranges(names))
    more = f" and {len(parts) - MOST_NAMES} ranges more" if len(parts) > MOST_NAMES else ""
    return MatrixRow(", ".join(parts[:MOST_NAMES]) + more, len(names), names[0])


def _words(rows: Sequence[Row]) -> str:
    """`every leaf reaches every other with width 8`, or how many pairs have which width."""
    count = Counter(width for row in rows for width in row)
    count.pop(None, None)
    if not count:
        return "No leaf announces a prefix that another does not."
    if len(count) == 1:
        (width,) = count
        return f"Every leaf reaches every other with width {width}." if width else "No routes."
    told = (f"{count[width]:,} with width {width}" for width in sorted(count, key=_number))
    return f"Of {count.total():,} ordered pairs of leaves {listing(told)}."


def _number(width: int | None) -> int:
    return NOWHERE if width is None else width


def _least(row: Row) -> int:
    return min(map(_number, row))


def _between(rows: Sequence[Row], a: Sequence[int], b: Sequence[int]) -> int | None:
    """Width from leaves that fare alike to others; among themselves, from the first to the next."""
    if a is not b:
        return rows[a[0]][b[0]]
    return rows[a[0]][a[1]] if len(a) > 1 else None


def equal_rows(rows: Sequence[Row]) -> list[list[int]]:
    """Leaves that have the same width to and from every other leaf, and among themselves.

    Compared one by one only where the sorted widths of row and column are equal.
    """
    ways = [bytes(min(_number(width), NOWHERE) for width in row) for row in rows]
    back = [bytes(column) for column in zip(*ways, strict=True)]
    likely: defaultdict[tuple[bytes, bytes], list[list[int]]] = defaultdict(list)
    for leaf, (row, column) in enumerate(zip(ways, back, strict=True)):
        groups = likely[bytes(sorted(row)), bytes(sorted(column))]
        for group in groups:
            if all(_same(lines, leaf, group[0]) for lines in (ways, back)):
                group.append(leaf)
                break
        else:
            groups.append([leaf])
    return sorted(group for groups in likely.values() for group in groups)


def _same(lines: Sequence[bytes], a: int, b: int) -> bool:
    """Whether two lines are equal but for where they cross each other and themselves."""
    low, high = sorted((a, b))
    one, other = lines[a], lines[b]
    return (
        lines[a][b] == lines[b][a]
        and one[:low] == other[:low]
        and one[low + 1 : high] == other[low + 1 : high]
        and one[high + 1 :] == other[high + 1 :]
    )
