"""Texts of a whole Network, written and read back: the verified text is the shipped text."""

from __future__ import annotations

from collections.abc import Mapping

from rocefort.dialects.choose import dialect_of
from rocefort.errors import BadInput, Problem
from rocefort.models.network.network import Network, Node


def render_node(node: Node) -> str:
    """Return the text of one switch; raises BadInput where its hardware is not known."""
    if node.family is None or node.hardware is None:
        raise BadInput("its syntax family is not known", where=node.name, how="name its hardware")
    return dialect_of(node).render(node.device, node.family, node.hardware)


def render_all(network: Network) -> dict[str, str]:
    """Return the text of every switch, by name."""
    return {node.name: render_node(node) for node in network.nodes}


def read_back(network: Network, texts: Mapping[str, str]) -> Network:
    """Return the Network with Devices parsed from their texts; raises BadInput if they differ.

    A difference is a fault of a template or of the parser, and nothing may ship with it.
    """
    nodes, problems = [], []
    for node in network.nodes:
        text = texts[node.name]
        parsed = dialect_of(node).parse(text, f"{node.name}.cfg")
        if parsed.unmodelled or parsed.device != node.device:
            line = parsed.unmodelled[0].text if parsed.unmodelled else "a value differs"
            problems.append(
                Problem(node.name, f"its text gives another Device ({line})", "report it")
            )
        nodes.append(node.model_copy(update={"device": parsed.device}))
    if problems:
        raise BadInput(problems=problems)
    return network.model_copy(update={"nodes": tuple(nodes)})
