"""Texts of a whole Network, written and read back: the verified text is the shipped text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rocefort.base.errors import BadInput, Problem
from rocefort.base.progress import tracked
from rocefort.dialects import overrides
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.data import ParsedConfig
from rocefort.dialects.dialect import Dialect
from rocefort.models.device.device import Device
from rocefort.models.hardware.hardware import Family
from rocefort.models.network.network import Network, Node, Position, TextLine


def render_node(node: Node) -> str:
    """Return the text of one switch; raises BadInput where its hardware is not known."""
    if node.family is None or node.hardware is None:
        raise BadInput("its syntax family is not known", where=node.name, how="name its hardware")
    return dialect_of(node).render(node.device, node.family, node.hardware)


def render_all(network: Network) -> dict[str, str]:
    """Return the text of every switch, by name."""
    return {node.name: render_node(node) for node in tracked(network.nodes, "render")}


def read_back(network: Network, texts: Mapping[str, str]) -> Network:
    """Return the Network with Devices parsed from their texts; raises BadInput if they differ.

    A difference is a fault of a template or of the parser, and nothing may ship with it. Templates
    of the site may add lines that no model has; they are the `unmodelled` of the switch.
    """
    nodes: list[Node] = []
    problems: list[Problem] = []
    for node in tracked(network.nodes, "read back"):
        parsed = _read(node, texts[node.name], problems)
        if parsed is not None:
            lines = with_commands(parsed.unmodelled, dialect_of(node), node.family)
            nodes.append(node.model_copy(update={"device": parsed.device, "unmodelled": lines}))
    if problems:
        raise BadInput(problems=overrides.joined(problems))
    return network.model_copy(update={"nodes": tuple(nodes)})


def _read(node: Node, text: str, problems: list[Problem]) -> ParsedConfig | None:
    """Parse the text of a switch; add its problems to the list."""
    own, file = overrides.has_templates(node), f"{node.name}.cfg"
    try:
        parsed = dialect_of(node).parse(text, file)
    except BadInput as error:
        if not own:
            raise
        problems += overrides.placed(node, error.problems, template_lines(node))
        return None
    acts = own and any(dialect_of(node).actions(text, ()))
    if parsed.device == node.device and not parsed.unmodelled and not acts:
        return parsed
    if own:
        problems += overrides.problems_of(node, parsed, text, template_lines(node))
    else:
        line = parsed.unmodelled[0].shown_text if parsed.unmodelled else "a value differs"
        problems.append(Problem(node.name, f"its text gives another Device ({line})", "report it"))
    return parsed


def template_lines(node: Node) -> Mapping[int, Position]:
    """Return the position in the site's templates by line of a switch's text."""
    if node.family is None or node.hardware is None:
        return {}
    return dialect_of(node).template_lines(node.device, node.family, node.hardware)


def template_sources(network: Network) -> dict[str, Position]:
    """Return rows of Sources: positions of the lines that templates of the site add."""
    return {
        f"{node.name}/unmodelled[{line.line}]": lines[line.line]
        for node in network.nodes
        if node.unmodelled and overrides.has_templates(node)
        for lines in (template_lines(node),)
        for line in node.unmodelled
        if line.line in lines
    }


def with_commands(
    lines: Iterable[TextLine], dialect: Dialect, family: Family | None = None
) -> tuple[TextLine, ...]:
    """Return lines, each with its command if that is known; family: of their switch."""
    return tuple(replace(line, command=dialect.command_of(line, family)) for line in lines)


def in_one_spelling(devices: Sequence[tuple[Dialect, Device, Family | None]]) -> list[Device]:
    """Return Devices without differences in spelling alone; their family may not be known."""
    dialects = dict.fromkeys(dialect for dialect, *_ in devices)
    spelled = {
        dialect: iter(
            dialect.in_one_spelling(
                [(device, family) for each, device, family in devices if each is dialect]
            )
        )
        for dialect in dialects
    }
    return [next(spelled[dialect]) for dialect, *_ in devices]
