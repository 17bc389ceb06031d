"""The journal: durable, one controller at a time, refusing what it cannot write."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from pathlib import Path

import pytest

from rocefort.errors import Refused, ServiceFailed
from rocefort.models.rollout import Event, Phase
from rocefort.rollout.journal import JournalFailed, open_journal
from rocefort.rollout.lock import locked

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


def test_all_its_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.touch(mode=0o644)
    with open_journal(path, "one") as journal:
        journal(EVENT)
        modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
    assert set(modes) == {"journal", "journal.lock", "journal-wal", "journal-shm"}
    assert set(modes.values()) == {0o600}


def test_an_event_that_cannot_be_written_is_an_error_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with open_journal(path, "one") as journal:
        with sqlite3.connect(path) as other:
            other.execute("drop table event")
        other.close()
        with pytest.raises(JournalFailed) as caught:
            journal(EVENT)
    assert str(caught.value) == (
        "the journal cannot be written: no such table: event; nothing is done without it"
    )


def test_a_journal_that_cannot_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.mkdir()
    with pytest.raises(ServiceFailed) as caught, open_journal(path, "one"):
        pass
    assert str(caught.value) == f"{path}: cannot be opened: Is a directory"


def test_a_lock_file_goes_with_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path):
        assert path.read_text() == str(os.getpid())
    assert not path.exists()


def test_a_lock_on_a_file_that_its_holder_has_just_removed_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, lock = tmp_path / "lock", fcntl.flock

    def late(handle: int, operation: int) -> None:
        path.unlink()
        lock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with pytest.raises(Refused, match="another controller has just ended; try again"), locked(path):
        pass
