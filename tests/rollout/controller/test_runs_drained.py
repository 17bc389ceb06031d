"""Journal rows of a drained switch, as `status` and `rollback` read them."""

from __future__ import annotations

from typing import Any

import pytest
from planned import make_event

from rocefort.rollout.journal.events import Act, ActPhase
from rocefort.rollout.journal.runs import JournalContents, Run, TimedEvent


@pytest.mark.parametrize(
    ("act", "detail", "told", "confirmed"),
    [
        (Act.CONFIRM, "", {}, True),
        (Act.ABORT, "was confirmed", {}, True),
        (Act.ABORT, "", {}, False),
        (Act.CONFIRM, "drain", {"part": 0, "of": 3, "back": False}, False),
        (Act.CONFIRM, "change while drained", {"part": 1, "of": 3, "back": False}, False),
        (Act.CONFIRM, "end of the drain", {"part": 2, "of": 3, "back": False}, True),
        (Act.CONFIRM, "drain undone", {"part": 0, "of": 3, "back": True}, False),
        (Act.ABORT, "was confirmed", {"part": 1, "of": 3, "back": False}, False),
    ],
)
def test_only_what_reached_the_end_of_its_way_can_be_taken_back(
    act: Act, detail: str, told: dict[str, Any], confirmed: bool
) -> None:
    event = make_event("spine 1 of 1", "spine01", act, ActPhase.DONE, detail, **told)
    run = Run("p", events=(TimedEvent("2026-01-01T00:00:00", event),))
    assert (JournalContents("j", (run,)).confirmed == {"spine01"}) is confirmed
