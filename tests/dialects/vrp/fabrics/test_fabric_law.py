"""Laws 1, 2 and 4 on any valid fabric: texts contain the derived values, and patches lead there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from canonical import canonical
from efforts import tries
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from refused_nodes import family_of, lacks_pool

from rocefort.dialects.network_text import read_back, render_all, render_node
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.dialects.vrp.text.config_tree import parse_tree, tree_text
from rocefort.dialects.vrp.text.secret_forms import as_saved, masked_text
from rocefort.models.hardware.hardware import SyntaxFamily
from rocefort.models.network.network import Network, Node

Data = dict[str, Any]
NetworkOf = Callable[[Data], Network]
Strategy = Callable[..., st.SearchStrategy[Any]]
MeaningOf = Callable[[str, Sequence[str], SyntaxFamily], frozenset[tuple[str, ...]]]

UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)  # to shrink a whole fabric takes minutes


def saved(text: str, family: SyntaxFamily) -> str:
    """Return the saved form of an entered text: lines of lists joined, and defaults dropped."""
    return tree_text(canonical(parse_tree(as_saved(text)), family))


def same_lines(one: str, other: str) -> bool:
    """Whether two texts have the same lines in the same views; sections may be in any order."""
    line_sets = [
        {(*path, line.text) for top in parse_tree(text) for path, line in top.walk()}
        for text in (one, other)
    ]
    return line_sets[0] == line_sets[1]


def one_of_each(network: Network) -> list[Node]:
    """A switch of each syntax family in each role: the emulated switch takes its time."""
    return list({(node.role, node.syntax): node for node in network.nodes}.values())


def own_words(node: Node, text: str) -> tuple[str, str]:
    """Return the saved form of a text, and of the text of its parsed Device: equal by law 1."""
    family = family_of(node)
    running = saved(text, family)
    read = parse(running, node.name)
    assert read.unmodelled == ()
    again = render_node(node.model_copy(update={"device": read.device}))
    return masked_text(running), masked_text(saved(again, family))


@pytest.mark.soak
@settings(max_examples=tries(12), phases=UNSHRUNK)
@given(data=st.data())
def test_law_1_text_says_the_device_and_the_device_says_the_text(
    random_fabrics: Strategy, network_of: NetworkOf, data: st.DataObject
) -> None:
    network = network_of(data.draw(random_fabrics()))
    texts = render_all(network)
    assert read_back(network, texts) == network
    for node in network.nodes:
        parsed = parse(texts[node.name], node.name)
        assert parsed.device == node.device
        assert parsed.unmodelled == ()
        again = node.model_copy(update={"device": parsed.device})
        assert render_node(again) == texts[node.name]
    for node in one_of_each(network):
        assert same_lines(*own_words(node, texts[node.name]))


def shuffled(value: Any, random: Any) -> Any:
    """Return the same YAML in another order, except in ranges: from a port to a port."""
    if isinstance(value, dict):
        keys = random.sample(sorted(value), len(value))
        return {k: value[k] if k == "ports" else shuffled(value[k], random) for k in keys}
    if isinstance(value, list):
        return [shuffled(item, random) for item in random.sample(value, len(value))]
    return value


@pytest.mark.soak
@settings(max_examples=tries(12), phases=UNSHRUNK)
@given(data=st.data(), random=st.randoms(use_true_random=False))
def test_law_2_the_order_of_the_yaml_gives_no_other_byte(
    random_fabrics: Strategy, network_of: NetworkOf, data: st.DataObject, random: Any
) -> None:
    fabric = data.draw(random_fabrics())
    assert render_all(network_of(shuffled(fabric, random))) == render_all(network_of(fabric))


@pytest.mark.soak
@settings(max_examples=tries(4), phases=UNSHRUNK)
@given(data=st.data())
def test_law_4_a_patch_leads_from_any_fabric_to_any_other_of_its_switches_and_back(
    meaning: MeaningOf,
    random_fabrics: Strategy,
    random_switch_sets: Strategy,
    network_of: NetworkOf,
    data: st.DataObject,
) -> None:
    switches = data.draw(random_switch_sets(3, 4))
    old, new = (network_of(data.draw(random_fabrics(switches))) for _ in range(2))
    before, after = render_all(old), render_all(new)
    for node in old.nodes:
        a, b, family = before[node.name], after[node.name], family_of(node)
        if lacks_pool(node) or lacks_pool(new.by_name[node.name]):
            continue
        patch = make_patch(a, b, family)
        assert meaning(a, patch.commands, family) == meaning(b, (), family)
        assert meaning(b, patch.reverse, family) == meaning(a, (), family)
