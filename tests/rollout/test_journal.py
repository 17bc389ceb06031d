"""The journal: durable, one controller at a time, refusing what it cannot write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rocefort.errors import Refused, ServiceFailed
from rocefort.models.rollout import Event, Phase
from rocefort.rollout.journal import open_journal

EVENT = Event("canary", "leaf08", "load", Phase.INTENT, "two lines\nin one")


def test_events_come_back_in_order_and_by_plan(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    second = Event("canary", "leaf08", "load", Phase.DONE)
    with open_journal(path, "one") as journal:
        journal(EVENT)
        journal(second)
    with open_journal(path, "two") as journal:
        journal(second)
    with open_journal(path, "one") as journal:
        assert journal.events() == [EVENT, second]


def test_a_second_controller_is_refused_and_told_by_whom(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with open_journal(path, "one"), pytest.raises(Refused) as caught, open_journal(path, "one"):
        pass
    assert str(caught.value) == (
        f"{path}.lock: another controller (process {os.getpid()}) applies a plan; wait for it to end"
    )


def test_what_is_no_journal_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_text("something else entirely, and long enough to be no database header")
    with pytest.raises(ServiceFailed, match="is not a journal"), open_journal(path, "one"):
        pass
