"""The journal: durable, one controller at a time, refusing what it cannot write or trust."""

from __future__ import annotations

import errno
import fcntl
import os
import platform
import random
import re
import shutil
import sqlite3
import tempfile
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import settings
from planned import make_event

from rocefort.base.errors import Refused, RocefortError, ServiceFailed
from rocefort.rollout.journal import runs as status_module
from rocefort.rollout.journal.events import ActPhase, Event
from rocefort.rollout.journal.journal import (
    DAMAGED,
    FORMAT,
    JournalFailed,
    open_journal,
    restore_head,
)
from rocefort.rollout.journal.lock import holder, locked
from rocefort.rollout.journal.runs import contents_of, status
from rocefort.rollout.operator import user

EVENT = make_event("canary", "leaf08", "load", ActPhase.INTENT, "two lines\nin one")
THEN = make_event("canary", "leaf08", "load", ActPhase.FAILED, "no", 3, part=1, of=3)


def written(path: Path, count: int = 4) -> str:
    """Write some events; returns the head."""
    with open_journal(path, "one") as journal:
        for number in range(count):
            journal.append(make_event("canary", f"leaf{number}", "load", ActPhase.INTENT))
        return journal.head


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as other, other:
        other.execute(statement)


def refused(path: Path) -> str:
    """Return the reason for refusing a journal, which does not change."""
    before = path.read_bytes()
    with pytest.raises(Refused) as caught, open_journal(path, "one"):
        pass
    assert path.read_bytes() == before
    return str(caught.value)


def test_events_come_back_in_order_and_by_plan(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with open_journal(path, "one") as journal:
        journal.append(EVENT)
        journal.append(THEN)
    with open_journal(path, "two") as journal:
        journal.append(THEN)
    with open_journal(path, "one") as journal:
        assert journal.events() == [EVENT, THEN]


def test_a_second_controller_is_refused_and_told_by_whom(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with open_journal(path, "one"), pytest.raises(Refused) as caught, open_journal(path, "one"):
        pass
    assert re.sub(r"since \S+ \S+ UTC", "since then", str(caught.value)) == (
        f"{path}.lock: another controller (process {os.getpid()} of {user()} on "
        f"{platform.node()}, since then) "
        "applies a plan; wait for it to end"
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
        journal.append(EVENT)
        modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
    assert set(modes) == {
        "journal", "journal.head", "journal.lock", "journal-wal", "journal-shm",
    }  # fmt: skip
    assert set(modes.values()) == {0o600}


def test_an_event_that_cannot_be_written_is_an_error_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with open_journal(path, "one") as journal:
        change(path, "drop table entry")
        with pytest.raises(JournalFailed) as caught:
            journal.append(EVENT)
    assert str(caught.value) == (
        "the journal cannot be written: no such table: entry; check its disk; "
        "nothing is done without it"
    )


def test_a_head_that_cannot_be_written_is_one_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_file: int, _record: bytes, _at: int) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with open_journal(tmp_path / "journal", "one") as journal:
        with monkeypatch.context() as patched:
            patched.setattr(os, "pwrite", full)
            with pytest.raises(JournalFailed, match="No space left on device"):
                journal.append(EVENT)
        journal.append(THEN)  # no row is written twice, and the chain continues
        assert journal.events() == [EVENT, THEN]
    with open_journal(tmp_path / "journal", "one") as journal:
        assert journal.events() == [EVENT, THEN]


def test_a_journal_that_cannot_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.mkdir()
    with pytest.raises(ServiceFailed) as caught, open_journal(path, "one"):
        pass
    assert str(caught.value) == f"{path}: cannot be opened: Is a directory"


def test_a_lock_file_goes_with_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path):
        holder_text = f"process {os.getpid()} of {user()} on {platform.node()}, since 20"
        assert path.read_text().startswith(holder_text)
        assert holder(path) == path.read_text()
    assert not path.exists()


def test_a_lock_on_a_file_that_its_holder_has_just_removed_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, lock, late = tmp_path / "lock", fcntl.flock, [True, False]

    def removed(handle: int, operation: int) -> None:
        if late.pop(0) if late else always:
            path.unlink()
        lock(handle, operation)

    always = False
    monkeypatch.setattr(fcntl, "flock", removed)
    with locked(path):
        assert holder(path) == path.read_text() != ""
    always = True
    with pytest.raises(Refused, match="another controller just ended; try again"), locked(path):
        pass


# --- damage ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "wrong"),
    [
        ("update entry set device = 'leaf9' where id = 2", "row 2 was changed"),
        ("update entry set phase = 'done' where id = 4", "row 4 was changed"),
        ("update entry set phase = 'dome' where id = 2", "row 2 was changed"),
        ("update entry set code = 'x' where id = 3", "row 3 was changed"),
        ("update entry set data = '{' where id = 1", "row 1 was changed"),
        ("update entry set detail = x'ff' where id = 1", "row 1 was changed"),
        ("delete from entry where id = 3", "row 3 is missing"),
        (
            "delete from entry where id = 4",
            "its last rows are missing: 4 were written, 3 remain",
        ),
        ("delete from entry", "its last rows are missing: 4 were written, 0 remain"),
        ("drop table entry", "no such table: entry"),
    ],
)
def test_a_changed_journal_is_refused_and_can_still_be_looked_at(
    tmp_path: Path, statement: str, wrong: str
) -> None:
    path = tmp_path / "journal"
    written(path)
    change(path, statement)
    assert refused(path) == f"{path}: is damaged: {wrong}; {DAMAGED}"
    assert (status(path).damage, contents_of(path).damage) == (wrong, wrong)
    row = re.fullmatch(r"row (\d) was changed", wrong)
    assert row is None or len(status(path).entries) == int(row[1]) - 1


def test_no_flipped_byte_is_an_error_of_ours(tmp_path: Path) -> None:
    """`status` reports the damage, and a resume is refused."""
    path = tmp_path / "journal"
    with open_journal(path, "one") as journal:
        for event in (begun("apply"), EVENT, THEN, begun("resume"), ENDED):
            journal.append(event)
    whole, chance, seen = path.read_bytes(), random.Random(17), 0
    used = [at for at, byte in enumerate(whole) if byte]
    phases = [found.start() + 1 for found in re.finditer(b"intent|failed", whole)]
    for at in (*phases, *chance.choices(used, k=settings().max_examples)):
        flipped = whole[at] ^ (1 << chance.randrange(8))
        path.write_bytes(whole[:at] + bytes([flipped]) + whole[at + 1 :])
        with suppress(RocefortError):
            found = contents_of(path)
            seen += bool(found.damage)
            status(path).history("one")
        with suppress(Refused, ServiceFailed), open_journal(path, "one"):
            pass
    assert seen > 1


def test_a_schema_that_is_no_text_is_damage(tmp_path: Path) -> None:
    """SQLite's message quotes it, and Python cannot decode that."""
    path = tmp_path / "journal"
    written(path)
    whole = path.read_bytes()
    at = whole.index(b"tableentryentry") + len("tableentr")
    path.write_bytes(whole[:at] + b"\xff" + whole[at + 1 :])
    with pytest.raises(ServiceFailed) as caught, open_journal(path, "one"):
        pass
    assert str(caught.value) == f"{path}: is not a journal: malformed database schema"
    assert (status(path).damage, contents_of(path).damage) == ("malformed database schema",) * 2


def begun(act: str) -> Event:
    return make_event("", "", act, ActPhase.INTENT, process=1, host="h", tool="t")


ENDED = make_event("", "", "end", ActPhase.DONE, ended="finished")


def test_an_older_copy_in_its_place_is_noticed(tmp_path: Path) -> None:
    path, copy = tmp_path / "journal", tmp_path / "copy"
    written(path)
    shutil.copyfile(path, copy)
    written(path)
    shutil.copyfile(copy, path)
    assert "its last rows are missing: 8 were written, 4 remain" in refused(path)


def test_another_journal_in_its_place_is_noticed(tmp_path: Path) -> None:
    path, other = tmp_path / "journal", tmp_path / "other"
    written(path)
    with open_journal(other, "two") as journal:
        for _ in range(6):
            journal.append(EVENT)
    shutil.copyfile(other, path)
    assert "its head file belongs to another journal" in refused(path)


@pytest.mark.parametrize("lost", [True, False])
def test_a_head_that_is_lost_or_emptied_is_noticed_by_whoever_looks(
    tmp_path: Path, lost: bool
) -> None:
    path, head = tmp_path / "journal", tmp_path / "journal.head"
    wrong = "its head file is lost, or empty"
    written(path)
    head.unlink() if lost else head.write_bytes(b"")
    assert status(path).damage == wrong
    assert refused(path) == (
        f"{path}: is damaged: {wrong}; without it nothing shows whether its last rows are "
        "missing; restore it with the newest link, which the last run printed: `rocefort history "
        f"--journal {path} --restore-head LINK`; otherwise inspect the switches, then "
        "plan again from their running configuration, under another name"
    )
    assert status(path).damage == wrong


@pytest.mark.parametrize("lost", [True, False])
def test_a_lost_head_is_written_anew_by_the_newest_link_that_was_kept(
    tmp_path: Path, lost: bool
) -> None:
    path, head = tmp_path / "journal", tmp_path / "journal.head"
    newest = written(path)
    before = head.read_bytes()
    head.unlink() if lost else head.write_bytes(b"")
    assert restore_head(path, newest) == 4
    assert (head.read_bytes(), head.stat().st_mode & 0o777) == (before, 0o600)
    with open_journal(path, "one") as journal:
        assert len(journal.events()) == 4


def test_a_lost_head_is_written_by_no_other_link_and_by_none_of_a_changed_chain(
    tmp_path: Path,
) -> None:
    """An older journal without head would look complete: its own newest link proves nothing."""
    path, head = tmp_path / "journal", tmp_path / "journal.head"
    older = written(path, 3)
    newest = written(path, 1)

    def why(link: str) -> str:
        with pytest.raises(Refused) as caught:
            restore_head(path, link)
        return str(caught.value)

    assert why(newest) == f"{path}: has its head; continue without --restore-head"
    head.unlink()
    assert why(older) == (
        f"{path}: 1 row came after that link, and perhaps more that are missing; "
        "give the newest printed link; if the run was killed and printed none, inspect the "
        "switches, then plan again"
    )
    change(path, "delete from entry where id = 4")
    assert why(newest) == (
        f"{path}: no row has that link: the last rows are missing, or the link is of another journal; "
        "inspect the switches, then plan again"
    )
    change(path, "update entry set device = 'leaf9' where id = 2")
    assert why(older) == f"{path}: is damaged: row 2 was changed; {DAMAGED}"
    assert status(path).damage == "row 2 was changed"
    assert head.read_bytes() == b""


def test_no_head_is_written_while_a_controller_is_at_work(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    newest = written(path)
    with open_journal(path, "one"):
        (tmp_path / "journal.head").unlink()
        with pytest.raises(Refused, match=r"another controller .* applies a plan"):
            restore_head(path, newest)


def killed(path: Path, directory: Path) -> Path:
    """Files that a killed controller leaves behind: copies made while it runs."""
    directory.mkdir()
    with open_journal(path, "one") as journal:
        for _ in range(3):
            journal.append(EVENT)
        for name in ("journal", "journal-wal", "journal.head"):
            shutil.copyfile(path.with_name(name), directory / name)
    return directory / "journal"


def test_a_lost_log_of_a_killed_controller_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    written(path)
    copy = killed(path, tmp_path / "left")
    assert len(status(copy).entries) == 7
    copy.with_name("journal-wal").unlink()
    assert "its last rows are missing: 7 were written, 4 remain" in refused(copy)


def test_every_byte_of_a_row_counts(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    written(path)
    whole = path.read_bytes()
    at = whole.index(b"leaf2")
    for offset in range(at, at + 5):
        path.write_bytes(whole[:offset] + bytes([whole[offset] ^ 1]) + whole[offset + 1 :])
        assert "row 3 was changed" in refused(path)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises((Refused, ServiceFailed), match="malformed"), open_journal(path, "one"):
        pass


def test_a_head_one_row_behind_is_a_controller_that_died_between_the_two(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    written(path, 3)
    head = (tmp_path / "journal.head").read_bytes()
    newest = written(path, 1)
    (tmp_path / "journal.head").write_bytes(head)
    with open_journal(path, "one") as journal:
        assert len(journal.events()) == 4
        assert journal.head == newest
    assert (tmp_path / "journal.head").read_bytes() != head


@pytest.mark.parametrize(
    ("version", "age"), [(FORMAT + 1, "a newer"), (FORMAT - 1, "an older"), (0, "an older")]
)
def test_a_journal_of_another_format_is_refused(tmp_path: Path, version: int, age: str) -> None:
    path = tmp_path / "journal"
    written(path)
    change(path, f"pragma user_version = {version}")
    assert refused(path) == (
        f"{path}: was written by {age} Rocefort (format {version}, this one writes {FORMAT}); continue"
        " with that version, or begin a new journal when no trial is pending"
    )


def test_a_status_needs_no_temporary_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal"
    with open_journal(path, "one") as journal:
        journal.append(make_event("w", "leaf01", "load", ActPhase.INTENT))
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
        assert [entry.number for entry in status(path).entries] == [1]
        monkeypatch.setattr(status_module, "PLACES", (str(tmp_path / "full"), None))
        with pytest.raises(ServiceFailed) as caught:
            status(path)
    assert str(caught.value) == (
        f"{path}: is read from a copy, which can be written neither to {tmp_path}/full (No such file "
        "or directory) nor to the temporary directory (No such file or directory); set TMPDIR to a "
        "directory in which you may write"
    )
