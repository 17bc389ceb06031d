"""Every hand-written change: its patch is made once, and judged by all who have an opinion (law 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from canonical import canonical
from lossless_patches import breaches
from patch_cases import BY_NAME, Case, of_whole_texts
from random_values import TEMPLATES
from second_opinion import disagreement, excepted

from rocefort.dialects.vrp.interpreter.interpreter import View, apply_line
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.patch.patch import VrpPatch, make_patch
from rocefort.dialects.vrp.render import render
from rocefort.dialects.vrp.text.config_tree import parse_tree
from rocefort.dialects.vrp.text.secret_forms import as_saved
from rocefort.models.hardware.hardware import SyntaxFamily

MeaningOf = Callable[[str, Sequence[str], SyntaxFamily], frozenset[tuple[str, ...]]]


@pytest.mark.parametrize("name", BY_NAME)
def test_every_judge_of_a_patch(name: str, meaning: MeaningOf) -> None:
    case = BY_NAME[name]
    patch = make_patch(case.before, case.after, case.family)
    assert_these_lines(case, patch)
    assert_law_4(case, patch, meaning)
    assert_nothing_is_undone_to_be_set_again(patch)
    assert_every_view_is_left(case, patch)
    assert_of_whole_texts(case, patch)
    assert_roce_is_paused(case)
    assert_hier_config_agrees(case)


def assert_these_lines(case: Case, patch: VrpPatch) -> None:
    """The reviewed lines; none of them commits, or leaves the configuration."""
    assert "\n".join(patch.commands) == case.patch.strip(), "other lines than the reviewed patch"
    assert "\n".join(patch.reverse) == case.back.strip(), "other lines than the reviewed way back"
    words = {line.split()[0] for line in (*patch.commands, *patch.reverse)}
    assert not words & {"commit", "return"}, "a patch neither commits nor ends the configuration"


def assert_law_4(case: Case, patch: VrpPatch, meaning: MeaningOf) -> None:
    """The interpreter: running + patch = intended, and the way back restores running."""
    before, after = (meaning(text, (), case.family) for text in (case.before, case.after))
    assert before != after, "the case changes nothing"
    patched = meaning(case.before, patch.commands, case.family)
    assert patched == after, "running + patch is not intended"
    restored = meaning(case.after, patch.reverse, case.family)
    assert restored == before, "the way back does not restore running"


def assert_nothing_is_undone_to_be_set_again(patch: VrpPatch) -> None:
    undone = {line.strip().removeprefix("undo ") for line in patch.commands if "undo " in line}
    entered = {line.strip() for line in patch.commands if "undo " not in line}
    assert not undone & entered, "a line is undone only to be set again"


def assert_every_view_is_left(case: Case, patch: VrpPatch) -> None:
    """Once each, and the system view never."""
    for text, commands in ((case.before, patch.commands), (case.after, patch.reverse)):
        config = canonical(parse_tree(as_saved(text)), case.family)
        view: View = ()
        for line in map(as_saved, commands):
            assert view or line != "quit", "the system view is left"
            step = apply_line(config, view, line, case.family)
            config, view = step.config, step.view
        assert view == (), f"the patch ends in view {view}"


def assert_of_whole_texts(case: Case, patch: VrpPatch) -> None:
    """Equal rows have no effect, in the vendor's texts and in ours."""
    named = (t if "sysname " in t else f"sysname case\n{t}" for t in (case.before, case.after))
    template = TEMPLATES[case.family]
    before, after = (render(parse(t, "case").device, case.family, template) for t in named)
    ways = [(before, after), (after, before)]
    short = [make_patch(*way, case.family) for way in ways]
    with of_whole_texts():
        whole = make_patch(case.before, case.after, case.family)
        assert whole == patch, "of the rows that differ there is another patch than of all rows"
        for way, found in zip(ways, short, strict=True):
            assert make_patch(*way, case.family) == found, "of our texts there is another patch"


def assert_roce_is_paused(case: Case) -> None:
    """In every candidate on the path of the patch and of the way back."""
    before, after = (f"sysname a\n{as_saved(text)}" for text in (case.before, case.after))
    for way in ((before, after), (after, before)):
        assert breaches(*way, case.family) == {}, "a line leaves RoCE unpaused"


def assert_hier_config_agrees(case: Case) -> None:
    """The same lines are removed and added, except those of a table of exceptions."""
    for way in ((case.before, case.after), (case.after, case.before)):
        apart = [path for path in disagreement(*way, case.family) if excepted(path) is None]
        assert apart == [], "hier_config sees other lines go and come"
