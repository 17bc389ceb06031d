"""Reduction of two configurations to the rows that annet needs: changed rows and related ones.

The cost of a patch is the number of rows that annet matches against its rulebook, and most rows of
most changes stay. With fewer rows, the changes of many switches are also equal, and computed once.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Container, Iterable, Iterator
from typing import Any

ConfigRows = OrderedDict[str, Any]
FrozenRows = tuple[tuple[str, Any], ...]
INTERFACE, PROCESS = "interface ", "bgp "


def reduced(was: ConfigRows, will: ConfigRows) -> tuple[ConfigRows, ConfigRows]:
    """Return two configurations without their common rows, as far as no rule reads these.

    A rule of the rulebook reads rows that share their first word, so those are kept or dropped
    together. Rules that read more are in the table (`patch/rulebook/table.py`): a changed PFC
    profile depends on the ports that apply it, also those that change in another line. Each
    interface is independent, and so are peers and groups of a BGP process. Where interfaces are
    added and others removed, the unchanged ones keep their first line, which gives the positions of
    the others.
    """
    changed = _changed_keys(was, will)
    replaced = come_and_go(
        *([row for row in rows if row.startswith(INTERFACE)] for rows in (was, will))
    )
    port_lines = _port_lines(changed)
    both = [
        OrderedDict(_rows(rows, other, changed, port_lines, replaced))
        for rows, other in ((was, will), (will, was))
    ]
    return both[0], both[1]


def come_and_go(before: Iterable[str], after: Iterable[str]) -> bool:
    """Whether some are only before and others only after."""
    old, new = set(before), set(after)
    return not (old <= new or new <= old)


def _rows(
    rows: ConfigRows,
    other: ConfigRows,
    changed: set[str],
    port_lines: tuple[str, ...],
    keep_heads: bool,
) -> Iterator[tuple[str, ConfigRows]]:
    words = {first_word(row) for row in changed}
    for row, below in rows.items():
        if row in changed and row in other and row.startswith(PROCESS):
            yield row, _rows_without(below, _unchanged_peers(below, other[row]))
        elif not row.startswith(INTERFACE):
            if first_word(row) in words:
                yield row, below
        elif row in changed:
            yield row, _lines(below, other.get(row, OrderedDict()), port_lines)
        else:
            lines = _lines(below, below, port_lines) if port_lines else OrderedDict()
            if lines or keep_heads:
                yield row, lines


def _lines(below: ConfigRows, other: ConfigRows, port_lines: tuple[str, ...]) -> ConfigRows:
    """Return an interface's rows whose first word has a change, and those a function reads."""
    words = {first_word(row) for row in _changed_keys(below, other)}
    return OrderedDict(
        (row, lower)
        for row, lower in below.items()
        if first_word(row) in words or row.startswith(port_lines)
    )


def _unchanged_peers(below: ConfigRows, other: ConfigRows) -> set[str]:
    """Return peers and groups of a BGP process with only unchanged rows, in every family."""
    own, theirs = _by_speaker(below), _by_speaker(other)
    return {name for name, rows in own.items() if name and rows == theirs.get(name)}


def _rows_without(below: ConfigRows, alike: Container[str]) -> ConfigRows:
    """Return rows of a BGP process without those of some peers and groups."""
    return OrderedDict(
        (row, OrderedDict((r, rest) for r, rest in lower.items() if speaker(r) not in alike))
        for row, lower in below.items()
        if speaker(row) not in alike
    )


def _by_speaker(below: ConfigRows) -> dict[str, list[tuple[str, str]]]:
    """Return rows of each peer and group with their address family."""
    by_speaker: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row, lower in below.items():
        by_speaker[speaker(row)].append(("", row))
        for inner in lower:
            by_speaker[speaker(inner)].append((row, inner))
    return by_speaker


def speaker(row: str) -> str:
    """Return the peer or group of a row of a BGP process; empty: none."""
    from rocefort.dialects.vrp.patch.rulebook.rules import PEERS  # noqa: PLC0415 - it imports annet

    words = row.removeprefix("undo ").split(" ", 2)
    return words[1] if words[0] in PEERS.formats and words[1:] else ""


def _port_lines(changed: Iterable[str]) -> tuple[str, ...]:
    """Return beginnings of the lines of ports that are relevant to the changes."""
    from rocefort.dialects.vrp.patch.rulebook.rules import PORT_LINES  # noqa: PLC0415 - it imports annet

    words = {first_word(row) for row in changed}
    return tuple(line for word, line in PORT_LINES.items() if word in words)


def _changed_keys(was: ConfigRows, will: ConfigRows) -> set[str]:
    """Return rows that differ, or have another order among rows with the same first word."""
    changed = {row for row in {**was, **will} if was.get(row) != will.get(row)}
    stay = [[row for row in rows if row not in changed] for rows in (was, will)]
    if stay[0] == stay[1]:  # the usual case
        return changed
    orders = [_by_word(rows) for rows in stay]
    moved = (w for w in orders[0] if orders[0][w] != orders[1].get(w))
    return changed.union(*(orders[0][word] for word in moved))


def _by_word(rows: Iterable[str]) -> dict[str, list[str]]:
    words: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        words[first_word(row)].append(row)
    return words


def first_word(row: str) -> str:
    """Return the word by which rules of the rulebook group rows."""
    from rocefort.dialects.vrp.patch.rulebook.rules import SAME_WORD  # noqa: PLC0415 - it imports annet

    word = row.removeprefix("undo ").partition(" ")[0]
    return SAME_WORD.get(word, word)


def frozen(rows: ConfigRows) -> FrozenRows:
    """Return rows as a key of a cache."""
    return tuple((row, frozen(below)) for row, below in rows.items())


def mutable_rows(rows: FrozenRows) -> ConfigRows:
    """Return the rows of a key."""
    return OrderedDict((row, mutable_rows(below)) for row, below in rows)
