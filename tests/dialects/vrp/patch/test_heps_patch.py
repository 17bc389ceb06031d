"""Law 4 on HEPS: any switch can be made into any other of its syntax family, and back."""

from __future__ import annotations

from itertools import combinations

from canonical import canonical

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.network_text import render_all
from rocefort.dialects.vrp.interpreter.interpreter import apply_lines
from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.dialects.vrp.text.config_tree import parse_tree


def test_a_patch_makes_any_switch_of_heps_into_any_other_of_its_family(
    heps: DerivedNetwork,
) -> None:
    texts = render_all(heps.network)
    families = {n.name: n.family.syntax for n in heps.network.nodes if n.family}
    trees = {name: canonical(parse_tree(texts[name]), families[name]) for name in texts}
    judged = 0
    for one, other in combinations(texts, 2):
        family = families[one]
        if family is not families[other]:
            continue
        patch = make_patch(texts[one], texts[other], family)
        for start, commands, end in (
            (one, patch.commands, other),
            (other, patch.reverse, one),
        ):
            result = apply_lines(trees[start], commands, family)
            assert canonical(result, family) == trees[end], f"{start} to {end}"
            judged += 1
    assert judged == 42
