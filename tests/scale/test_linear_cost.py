"""The cost of each step grows with the number of switches, not with its square: calls counted."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest
import yaml
from flow import SPINES, catalogue, fabric_text

from rocefort.base.documents.read import document_of
from rocefort.base.documents.validate import validate
from rocefort.design.derive.derive import DerivedNetwork, derive_loaded
from rocefort.design.load.documents import Catalogue, LoadedFabric
from rocefort.dialects.network_text import read_back, render_all
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.models.fabric.fabric import Fabric
from rocefort.validators.checks import check

LEAVES = {"quick": 8, "thorough": 96, "soak": 512}  # by effort; 2,048 is the most of a fabric
TIMES = 4


@cache
def loaded(leaves: int, most: int) -> LoadedFabric:
    """The bench's fabric with so many leaves of at most so many, eight servers each."""
    data: dict[str, Any] = yaml.safe_load(fabric_text(SPINES + leaves))
    data["capacity"]["leaves"] = most
    document = document_of(yaml.safe_dump(data, sort_keys=False), "large.yaml")
    return LoadedFabric(validate(Fabric, document), document)


@cache
def hardware() -> Catalogue:
    return catalogue()


def derived(leaves: int, most: int) -> DerivedNetwork:
    return derive_loaded(loaded(leaves, most), hardware())


def calls(step: Callable[[], object]) -> int:
    """Function calls of a step; the same in every run, unlike its time."""
    profile = cProfile.Profile()
    profile.runcall(step)
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]  # the stub lacks it


def parsed_back(derived: DerivedNetwork) -> object:
    parse.cache_clear()  # it remembers texts, and here it is the reading that counts
    return read_back(derived.network, render_all(derived.network))


STEPS: dict[str, Callable[[DerivedNetwork], object]] = {
    "derive": lambda d: derived(len(d.fabric.leaves), d.fabric.capacity.leaves),
    "check": lambda d: check(d.network, d.sources),
    "render": lambda d: render_all(d.network),
    "parse back": parsed_back,
}


@pytest.mark.soak
@pytest.mark.parametrize("name", STEPS)
def test_four_times_the_leaves_cost_about_four_times_as_much(
    name: str, effort: str, record_property: Callable[[str, object], None]
) -> None:
    step = STEPS[name]
    least = LEAVES[effort]
    most = least * TIMES
    step(derived(most, most))  # what is read and compiled once is no part of the growth
    small, large = (calls(partial(step, derived(n, most))) for n in (least, most))
    assert large <= 1.05 * TIMES * small, f"{name}: {small} calls, then {large}"
    figure = f"{name} of {least:,} and {most:,} leaves: {small:,} and {large:,} calls"
    record_property("figure", f"{figure}, {large / small:.2f} times")
