"""Status of a rollout from its journal alone, without a lock and without writing a file.

SQLite may write to the side files of a database that it only reads. So a copy is read, in memory
if there is /dev/shm. The file does not change while a controller runs, which only appends to the
log. A copy made while a controller ended has a damaged chain, and is made again.
"""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from napalm_cloudengine import regular_file
from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.rollout.journal.events import Event
from rocefort.rollout.journal.hash_chain import (
    COLUMNS,
    FIRST,
    HEAD_BYTES,
    Row,
    damage,
    head_content,
    sound_rows,
)
from rocefort.rollout.journal.history import RunHistory, history_of
from rocefort.rollout.journal.journal import FORMAT, Connection, event_of_row
from rocefort.rollout.journal.run_directory import RunDirectory

TRIES = 3
# Errors of the copy's disk; they do not mean damage.
OF_THE_DISK = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN)
# Directories for the copy, of mode 0700: in memory, or the one for temporary files.
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
    """Content of a journal. `damage`: reason why it cannot be trusted.

    entries: the rows before the first changed one.
    head: the newest link of its chain; a copy of it elsewhere reveals a forged journal.
    """

    entries: tuple[JournalEntry, ...]
    head: str
    damage: str = ""

    def history(self, plan_digest: str) -> RunHistory:
        """History of the last run of a plan."""
        return history_of(entry.event for entry in self.entries if entry.plan == plan_digest)


def status(path: Path) -> JournalReading:
    """Read a journal, also a damaged one.

    Raises BadInput for a missing journal, ServiceFailed if no copy of it can be written.
    """
    if not path.is_file():
        raise BadInput("no such journal", file=str(path), how="`rocefort apply` creates it")
    for _ in range(TRIES):
        reading = _journal_reading(path)
        if not reading.damage:
            break
    return reading


def _journal_reading(path: Path) -> JournalReading:
    head, file = FIRST, RunDirectory.of_journal(path).head
    try:
        with suppress(FileNotFoundError):
            head = head_content(
                regular_file.read_bytes(file)[:HEAD_BYTES]
            )  # first: rows may only be more
        rows = _rows(path)
    except sqlite3.Error as error:
        return JournalReading((), "", str(error))
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", file=str(path)) from None
    entries = tuple(_entry(row) for row in rows[: sound_rows(rows)])
    link = str(rows[-1][-1]) if rows else ""
    return JournalReading(entries, link, damage(_up_to(rows, head), head))


def _up_to(rows: list[Row], head: tuple[int, str]) -> list[Row]:
    """Rows without those written after the head was read: a controller may be running."""
    return rows if head == FIRST else rows[: head[0] + 1]


def _rows(path: Path) -> list[Row]:
    content, log = regular_file.read_bytes(path), b""
    with suppress(FileNotFoundError):
        log = path.with_name(path.name + "-wal").read_bytes()
    troubles = []
    for parent in PLACES:
        try:
            with tempfile.TemporaryDirectory(prefix="rocefort-status-", dir=parent) as folder:
                copy = Path(folder) / "journal"
                copy.write_bytes(content)
                if log:
                    copy.with_name("journal-wal").write_bytes(log)
                return _rows_of(copy)
        except OSError as error:  # read-only, full, or missing
            troubles.append(f"{parent or 'the temporary directory'} ({error.strerror})")
        except sqlite3.OperationalError as error:
            code = getattr(error, "sqlite_errorcode", 0)  # an error of Python's own has none
            if code & 0xFF not in OF_THE_DISK:
                raise
            troubles.append(f"{parent or 'the temporary directory'} ({error})")
    how = "set TMPDIR to a directory in which you may write"
    what = f"is read from a copy, which can be written neither to {' nor to '.join(troubles)}"
    raise ServiceFailed(what, file=str(path), how=how)


def _rows_of(copy: Path) -> list[Row]:
    with closing(sqlite3.connect(copy, factory=Connection)) as connection:
        (version,) = connection.execute("pragma user_version").fetchone()
        if version != FORMAT:
            raise sqlite3.DatabaseError(f"format {version}, this Rocefort reads {FORMAT}")
        order = f"select {COLUMNS}, hash from entry order by id"  # noqa: S608
        return connection.execute(order).fetchall()


def _entry(row: Row) -> JournalEntry:
    number, at, plan, *columns, _ = row
    return JournalEntry(int(str(number)), str(at), str(plan), event_of_row(columns))
