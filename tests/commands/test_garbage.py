"""How often the collector looks: a review hardly ever, but only in a process of its own."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from rocefort.garbage import ALLOCATIONS_BETWEEN, ALLOCATIONS_OF_A_REVIEW, collect_hardly


@pytest.fixture
def thresholds() -> Iterator[None]:
    """The collector's own thresholds again, whatever a test does to them."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("thresholds")
@pytest.mark.parametrize(
    ("before", "after"),
    [(ALLOCATIONS_BETWEEN, ALLOCATIONS_OF_A_REVIEW), (700, 700)],
    ids=["a command's own process", "another program"],
)
def test_only_a_process_of_its_own_collects_hardly(before: int, after: int) -> None:
    gc.set_threshold(before, 50, 50)
    collect_hardly()
    assert gc.get_threshold()[0] == after
