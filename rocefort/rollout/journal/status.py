"""Where a rollout stands, by its journal alone: takes no lock, and writes nothing beside it.

SQLite may write to the side files of a database that it only reads. So a copy is read, in memory
where there is /dev/shm: the file stays as it is while a controller runs (it only appends to the
log), and what was copied while one ended shows in the chain, and is copied again.
"""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from rocefort.errors import BadInput, ServiceFailed
from rocefort.models.rollout.events import Event
from rocefort.models.rollout.history import RunHistory, history_of
from rocefort.rollout.journal.hash_chain import (
    COLUMNS,
    FIRST,
    HEAD_BYTES,
    Row,
    damage,
    head_content,
    sound_rows,
)
from rocefort.rollout.journal.journal import FORMAT, Connection, event_of_row
from rocefort.rollout.journal.run_directory import RunDirectory

TRIES = 3
# What SQLite reports of the copy's disk, and of no damage.
OF_THE_DISK = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN)
# Of the copy, in a directory of mode 0700: in memory, or where temporary files are.
PLACES = ("/dev/shm", None)  # noqa: S108


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One row of a journal."""

    number: int
    at: str
    plan: str
    event: Event


@dataclass(frozen=True, slots=True)
class JournalReading:
    """What a journal says. `damage`: why it cannot be trusted.

    entries: the rows up to the first that is not as it was written.
    head: the newest link of its chain; whoever keeps it elsewhere can tell a forged journal.
    """

    entries: tuple[JournalEntry, ...]
    head: str
    damage: str = ""

    def history(self, plan_digest: str) -> RunHistory:
        """Where the last run of a plan stands."""
        return history_of(entry.event for entry in self.entries if entry.plan == plan_digest)


def status(path: Path) -> JournalReading:
    """Read a journal, damaged or not.

    Raises BadInput where there is none, ServiceFailed where no copy of it can be written.
    """
    if not path.is_file():
        raise BadInput("no such journal", where=str(path), how="it is made by `rocefort apply`")
    for _ in range(TRIES):
        found = _journal_reading(path)
        if not found.damage:
            break
    return found


def _journal_reading(path: Path) -> JournalReading:
    head, file = FIRST, RunDirectory.of_journal(path).head
    try:
        with suppress(FileNotFoundError):
            head = head_content(file.read_bytes()[:HEAD_BYTES])  # first: rows may only be more
        rows = _rows(path)
    except sqlite3.Error as error:
        return JournalReading((), "", str(error))
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", where=str(path)) from None
    entries = tuple(_entry(row) for row in rows[: sound_rows(rows)])
    link = str(rows[-1][-1]) if rows else ""
    return JournalReading(entries, link, damage(_up_to(rows, head), head))


def _up_to(rows: list[Row], head: tuple[int, str]) -> list[Row]:
    """Rows without those that came after the head was read: a controller may be at work."""
    return rows if head == FIRST else rows[: head[0] + 1]


def _rows(path: Path) -> list[Row]:
    content, log = path.read_bytes(), b""
    with suppress(FileNotFoundError):
        log = path.with_name(path.name + "-wal").read_bytes()
    troubles = []
    for place in PLACES:
        try:
            with tempfile.TemporaryDirectory(prefix="rocefort-status-", dir=place) as directory:
                copy = Path(directory) / "journal"
                copy.write_bytes(content)
                if log:
                    copy.with_name("journal-wal").write_bytes(log)
                return _rows_of(copy)
        except OSError as error:  # read-only, full, or not there
            troubles.append(f"{place or 'the temporary directory'} ({error.strerror})")
        except sqlite3.OperationalError as error:
            code = getattr(error, "sqlite_errorcode", 0)  # an error of Python's own has none
            if code & 0xFF not in OF_THE_DISK:
                raise
            troubles.append(f"{place or 'the temporary directory'} ({error})")
    how = "set TMPDIR to a directory that you may write to"
    what = f"is read by a copy, which can be written neither to {' nor to '.join(troubles)}"
    raise ServiceFailed(what, where=str(path), how=how)


def _rows_of(copy: Path) -> list[Row]:
    with closing(sqlite3.connect(copy, factory=Connection)) as connection:
        (found,) = connection.execute("pragma user_version").fetchone()
        if found != FORMAT:
            raise sqlite3.DatabaseError(f"format {found}, this Rocefort reads {FORMAT}")
        order = f"select {COLUMNS}, hash from entry order by id"  # noqa: S608
        return connection.execute(order).fetchall()


def _entry(row: Row) -> JournalEntry:
    number, at, plan, *told, _ = row
    return JournalEntry(int(str(number)), str(at), str(plan), event_of_row(told))
