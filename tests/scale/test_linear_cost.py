"""The cost of each step grows with the number of switches, not with its square: calls counted."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest

from rocefort.design.derive import Derived, derive_loaded
from rocefort.design.load import Loaded, load_catalogue
from rocefort.dialects.vrp.texts import read_back, render_all
from rocefort.documents.read import Document, read_document
from rocefort.documents.validate import validate
from rocefort.models.fabric import Fabric
from rocefort.paths import INVENTORY
from rocefort.validators import check

SMALL, TIMES = 24, 4
HEPS = read_document(INVENTORY / "heps" / "fabric.yaml")


@cache
def loaded(leaves: int) -> Loaded:
    """HEPS with so many 25G leaves, two servers each."""
    assert isinstance(HEPS.data, dict)
    data: dict[str, Any] = dict(HEPS.data)
    data["capacity"] = {**data["capacity"], "leaves": SMALL * TIMES}
    data["pools"] = {**data["pools"], "links": "10.2.0.0/16"}
    numbers = range(1, leaves + 1)
    data["leaves"] = [{**data["leaves"][7], "id": n, "name": f"leaf{n:02}"} for n in numbers]
    data["servers"] = [
        {"name": f"r{n}-{p}", "leaf": f"leaf{n:02}", "port": f"25GE1/0/{p}", "segment": "beamline"}
        for n in numbers
        for p in (1, 2)
    ]
    data["rollout"] = {"canary": "leaf01"}
    document = Document(HEPS.file, data, HEPS.values, HEPS.keys)
    return Loaded(validate(Fabric, document), document)


def derived(leaves: int) -> Derived:
    return derive_loaded(loaded(leaves), load_catalogue())


def calls(step: Callable[[], object]) -> int:
    """Function calls of a step; the same in every run, unlike its time."""
    profile = cProfile.Profile()
    profile.runcall(step)
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]  # the stub lacks it


STEPS: dict[str, Callable[[Derived], object]] = {
    "derive": lambda d: derived(len(d.fabric.leaves)),
    "check": lambda d: check(d.network, d.sources),
    "render": lambda d: render_all(d.network),
    "parse back": lambda d: read_back(d.network, render_all(d.network)),
}


@pytest.mark.parametrize("name", STEPS)
def test_four_times_the_leaves_cost_about_four_times_as_much(name: str) -> None:
    step = STEPS[name]
    step(derived(SMALL * TIMES))  # what is read and compiled once is no part of the growth
    small, large = (calls(partial(step, derived(n))) for n in (SMALL, SMALL * TIMES))
    assert large <= 1.05 * TIMES * small, f"{name}: {small} calls, then {large}"
