"""Law: a patch deletes no unowned line, except those that it names. The interpreter executes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

from canonical import ALWAYS_THERE, canonical
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st
from random_switches import switches
from random_values import TEMPLATES
from unowned_values import Path, unowned_lines

from rocefort.base.errors import BadInput
from rocefort.dialects.vrp.interpreter.interpreter import Lines
from rocefort.dialects.vrp.patch.patch import VrpPatch, make_patch
from rocefort.dialects.vrp.render import render
from rocefort.dialects.vrp.text.config_tree import parse_tree
from rocefort.dialects.vrp.text.secret_forms import as_saved
from rocefort.dialects.vrp.unowned_lines import apply_with, with_kept
from rocefort.models.hardware.hardware import SyntaxFamily


def lines_of(tree: Lines) -> set[Path]:
    """Return all lines, each with its views, without empty views that a text need not have."""
    return {
        (*path, line.text)
        for top in tree
        for path, line in top.walk()
        if line.children or not ALWAYS_THERE.fullmatch(line.text)
    }


def switch(text: str, kept: Sequence[Path], family: SyntaxFamily) -> Lines:
    return with_kept(canonical(parse_tree(as_saved(text)), family), kept, family)


def without(tree: Lines, paths: Set[Path], view: Path = ()) -> Lines:
    return tuple(
        replace(line, children=without(line.children, paths, (*view, line.text)))
        for line in tree
        if (*view, line.text) not in paths
    )


def remaining_lines(kept: Iterable[Path], patch: VrpPatch) -> list[Path]:
    renamed = {line.path: line.after for line in patch.taken}
    return [path for path in (renamed.get(path, path) for path in kept) if path is not None]


@settings(max_examples=tries(60))
@given(data=st.data(), family=st.sampled_from(SyntaxFamily))
def test_unowned_lines_before_equal_unowned_lines_after(
    data: st.DataObject, family: SyntaxFamily
) -> None:
    running, intended = (
        render(data.draw(switches(family)), family, TEMPLATES[family]) for _ in range(2)
    )
    kept = data.draw(unowned_lines(running))
    try:
        patch = make_patch(running, intended, family, kept)
    except BadInput as error:
        refusal = str(error)
    else:
        check(patch, (running, intended), kept, family)
        return
    assert "a line without an owner" in refusal


def check(
    patch: VrpPatch, texts: tuple[str, str], kept: Sequence[Path], family: SyntaxFamily
) -> None:
    """Run the patch and the way back; compare unowned and owned lines with those expected."""
    running, intended = texts
    judged = frozenset(kept) | {line.after for line in patch.taken if line.after}
    remaining = remaining_lines(kept, patch)
    for way, text, before, expected in (
        (patch.commands, running, kept, (intended, remaining)),
        (patch.reverse, intended, remaining, (running, kept)),
    ):
        tree = apply_with(switch(text, before, family), map(as_saved, way), family, judged)
        assert judged & lines_of(tree) == set(expected[1]), "unowned lines"
        owned = lines_of(canonical(without(tree, judged), family))
        assert owned == lines_of(canonical(parse_tree(as_saved(expected[0])), family))
