"""A HEPS lab for each test: ten emulated switches and twelve servers over real SSH."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rocefort.design.derive import Derived
from rocefort.models.change import Plan
from rocefort.models.rollout import Applied, Event
from rocefort.steps.changing import apply_plan, make_plan, running_of
from rocefort.steps.judging import subject_of_derived
from rocefort.steps.rehearsal import Rehearsal, rehearse

EditHeps = Callable[..., Path]


@pytest.fixture
def lab(heps: Derived, tmp_path: Path) -> Iterator[Rehearsal]:
    """Switches that run HEPS as it is in the inventory."""
    subject = subject_of_derived(heps)
    with rehearse(subject.network, subject.texts, tmp_path / "lab") as running:
        yield running


@pytest.fixture
def raised(edit_heps: EditHeps) -> Path:
    """HEPS with another threshold: the change that is rolled out."""
    return edit_heps(("xoff_kbytes: 600", "xoff_kbytes: 640"))


@pytest.fixture
def described(edit_heps: EditHeps) -> Path:
    """HEPS with other words on one port of leaf07 and one of leaf08: two waves."""
    return edit_heps(
        *(
            (f"  - name: readout0{n}\n", f"  - name: readout0{n}\n    description: detector {n}\n")
            for n in (3, 4)
        )
    )


@pytest.fixture
def plan_of(lab: Rehearsal) -> Callable[[Path], Plan]:
    """Seal a plan against what the lab runs."""
    return lambda fabric: make_plan(
        fabric, lab.connections, running_of(fabric, lab.connections, None)
    )


@pytest.fixture
def apply_to(lab: Rehearsal, tmp_path: Path) -> Callable[[Plan], tuple[Applied, list[Event]]]:
    """Apply a plan to the lab; gives how it ended and every event."""

    def apply(plan: Plan) -> tuple[Applied, list[Event]]:
        events: list[Event] = []
        return apply_plan(plan, lab.connections, tmp_path / "journal", [events.append]), events

    return apply
