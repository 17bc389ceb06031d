"""The configuration commands of a view as formats, for abbreviations and help."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.dialects.vrp.command import Node
from rocefort.dialects.vrp.execute import TypedLine
from rocefort.dialects.vrp.interpret import Lines, View
from rocefort.dialects.vrp.semantics import Row, rows_by_view
from rocefort.models.hardware import SyntaxFamily

Nodes = tuple[Node, ...]
UNDO = Node("word", "undo")


def config_commands(config: Lines, view: View, family: SyntaxFamily) -> list[Nodes]:
    """The commands of a view and their `undo` forms."""
    formats: list[Nodes] = []
    for row in _rows(config, view, family):
        formats.append(row.nodes)
        formats += [(UNDO, *nodes) for nodes, _ in row.undo_nodes]
    return formats


def outer_commands(config: Lines, view: View, family: SyntaxFamily) -> list[Nodes]:
    """Commands of the views around that open a view, the nearest first."""
    return [
        row.nodes
        for depth in range(len(view) - 1, -1, -1)
        for row in _rows(config, view[:depth], family)
        if row.opens
    ]


def _rows(config: Lines, view: View, family: SyntaxFamily) -> Iterator[Row]:
    """The rows of the view that this family and this interface have."""
    typed = TypedLine(family, "", view)
    port = typed.port(config)
    for row in rows_by_view().get(typed.kind, ()):
        if family in row.families and (port is None or port.has(row)):
            yield row
