"""Mutation script: it flips one operator at a time, and a sample is repeatable."""

from __future__ import annotations

import random
from collections.abc import Callable
from types import ModuleType

import pytest
from scripts import script

SOURCE = "def f(a, b, c):\n    return a < b <= c and (a == b or c in a)\n"


@pytest.fixture(scope="module")
def mutate() -> ModuleType:
    return script("mutate")


def test_every_operator_is_flipped_alone(mutate: ModuleType) -> None:
    mutants_found = list(mutate.mutants("f.py", SOURCE))
    texts = {
        mutate.mutated(SOURCE, mutant.number).splitlines()[1].strip() for mutant in mutants_found
    }
    assert texts == {
        "return a <= b <= c and (a == b or c in a)",
        "return a < b < c and (a == b or c in a)",
        "return a < b <= c or (a == b or c in a)",
        "return a < b <= c and (a != b or c in a)",
        "return a < b <= c and (a == b and c in a)",
        "return a < b <= c and (a == b or c not in a)",
    }
    assert min(map(str, mutants_found)) == "f.py:2: a < b <= c  ->  a < b < c"


def test_a_sample_is_the_same_every_time(mutate: ModuleType) -> None:
    mutants_found = list(mutate.mutants("f.py", SOURCE * 9))
    assert len(mutants_found) == 54
    some = mutate.sample(mutants_found, 5, 1)
    assert len(some) == 5
    assert some == mutate.sample(mutants_found, 5, 1)
    assert some != mutate.sample(mutants_found, 5, 2)
    grown = list(mutate.mutants("e.py", "x = a < b\n")) + list(mutate.mutants("f.py", SOURCE * 9))
    assert (
        len(set(mutate.sample(grown, 5, 1)) & set(some)) >= 4
    )  # a new mutant replaces at most one
    assert (
        mutate.sample(mutants_found, None, 1)
        == mutate.sample(mutants_found, 99, 1)
        == mutants_found
    )


@pytest.mark.thorough
@pytest.mark.soak
def test_the_tests_of_the_rules_notice_what_is_flipped(
    mutate: ModuleType, effort: str, record_property: Callable[[str, object], None]
) -> None:
    """Some mutants are equivalent to the original: one of the small sample may survive."""
    mutants_found = list(mutate.all_mutants())
    size, seed = (40, random.randrange(10_000)) if effort == "soak" else (8, 1)
    chosen = mutate.sample(mutants_found, size, seed)
    survivors = mutate.run(chosen, mutate.tests_of(()), jobs=2, limit=3600)
    survived = "; ".join(map(str, survivors)) or "none survived"
    record_property(
        "figure",
        f"mutants of the rules (seed {seed}): {size - len(survivors)} of {size} killed; {survived}",
    )
    assert len(survivors) <= size // 8
