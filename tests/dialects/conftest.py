"""Shared fixture of patch tests: the meaning of a configuration, from the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from canonical import ALWAYS_THERE, canonical

from rocefort.dialects.vrp.interpreter.interpreter import apply_lines
from rocefort.dialects.vrp.text.config_tree import parse_tree
from rocefort.dialects.vrp.text.secret_forms import as_saved
from rocefort.models.hardware.hardware import SyntaxFamily

Meaning = frozenset[tuple[str, ...]]
MeaningOf = Callable[[str, Sequence[str], SyntaxFamily], Meaning]


@pytest.fixture(scope="session")
def meaning() -> MeaningOf:
    """Return a text, after some commands, as the set of its lines, each with its views."""

    def meaning_of(text: str, commands: Sequence[str], family: SyntaxFamily) -> Meaning:
        saved = canonical(parse_tree(as_saved(text)), family)
        config = apply_lines(saved, map(as_saved, commands), family)
        return frozenset(
            (*path, line.text)
            for top in canonical(config, family)
            for path, line in top.walk()
            if line.children or not ALWAYS_THERE.fullmatch(line.text)
        )

    return meaning_of
