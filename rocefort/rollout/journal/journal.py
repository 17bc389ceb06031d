"""Journal of a rollout: every act is on disk before it begins, in a chain of hashes.

An SQLite file (write-ahead log, synchronous=FULL) with one writer. Each row has the SHA-256 of
itself and of the row before. The newest one, the head, is also in a file beside the journal, so
that lost rows show. Requests of other processes are in a separate table, outside the chain: the
controller adds each to the chain as a row, in one transaction.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol

from rocefort.base.errors import BadInput, Refused, ServiceFailed
from rocefort.models.fabric.approvals import WaveApproval
from rocefort.models.wording import count_of
from rocefort.rollout.journal.events import Event, OperatorRequest, event_of, own_values, step_of
from rocefort.rollout.journal.lock import locked
from rocefort.rollout.journal.run_directory import RunDirectory

Row = tuple[object, ...]  # columns of an entry, without its hash
COLUMNS = "id, at, plan, wave, device, act, phase, detail, code, data"
FIRST = (0, "0" * 64)  # number and link before the first row
HEADLESS = "its head file is lost, or empty"
HEAD_BYTES = 84  # a number of 18 digits, a blank, 64 digits of the link, a line end


def row_link(before: str, row: Row) -> str:
    """Return the link of a row: SHA-256 over the link before it and its own columns."""
    text = json.dumps([before, *row], separators=(",", ":"), ensure_ascii=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


def sound_rows(rows: Sequence[Row]) -> int:
    """Number of unchanged rows, each with its link, before the first changed one."""
    before = FIRST[1]
    for number, (*row, link) in enumerate(rows):
        if row[0] != number + 1 or link != row_link(before, tuple(row)):
            return number
        before = link
    return len(rows)


def damage(rows: Sequence[Row], head: tuple[int, str]) -> str:
    """Damage of rows that each end with their link; empty if there is none.

    head: content of the head file. It may be one row behind: a controller can die between the two
    writes.
    """
    number, before = FIRST
    links = [before]
    for *row, link in rows:
        number += 1
        if row[0] != number:
            return f"row {number} is missing"
        before = row_link(before, tuple(row))
        if link != before:
            return f"row {number} was changed"
        links.append(before)
    head_number, link = head
    if head == FIRST and number > 1:
        return HEADLESS
    if head_number > number:
        return f"its last rows are missing: {head_number} were written, {number} remain"
    if links[head_number] != link or number - head_number > 1:
        return "its head file belongs to another journal"
    return ""


class ChainHead:
    """File with the newest link, one short record that is overwritten in place."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
            self._file = os.open(path, flags, 0o600)
            path.chmod(0o600)
        except OSError as error:
            raise ServiceFailed(f"cannot be opened: {error.strerror}", file=str(path)) from None
        self.fresh = os.fstat(self._file).st_size == 0
        self.link = FIRST[1]
        if not self.fresh:
            self.link = self.read()[1]

    def read(self) -> tuple[int, str]:
        """Return number and link of the file; those before the first row if it is empty."""
        return head_content(os.pread(self._file, HEAD_BYTES, 0))

    def move(self, number: int, link: str) -> None:
        """Make a newer link durable; raises OSError."""
        os.pwrite(self._file, f"{number:018d} {link}\n".encode(), 0)
        os.fdatasync(self._file)
        self.link, self.fresh = link, False

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def head_content(record: bytes) -> tuple[int, str]:
    """Number and link of a head file; unreadable content matches no journal."""
    if not record:
        return FIRST
    words = record.decode("ascii", "replace").split()
    if len(words) == 2 and words[0].isdecimal():
        return int(words[0]), words[1]
    return 0, "unreadable"


FORMAT: Final = 3
SCHEMA = """
create table entry (id integer primary key, at text not null, plan text not null,
  wave text not null, device text not null, act text not null, phase text not null,
  detail text not null, code integer not null, data text not null, hash text not null);
create view event as select id, at, plan, wave, device, act, phase, detail from entry
  where act not in ('apply', 'resume', 'end');
create table request (id integer primary key, at text not null, plan text not null,
  kind text not null, by text not null, wave text not null, data text not null, taken integer);
"""
DAMAGED = (
    "a damaged journal cannot be used for a rollout; `rocefort status` shows its content; "
    "inspect the switches, then plan again from their running configuration, under another name"
)
# Its rows may be sound but the last ones missing: a wrong act could follow.
WITHOUT_HEAD = (
    "without it nothing shows whether its last rows are missing; restore it with the newest link, "
    "which the last run printed: `rocefort history --journal {} --restore-head LINK`; otherwise "
    "inspect the switches, then plan again from their running configuration, under another name"
)


class JournalFailed(ServiceFailed):
    """Error of an event that could not be made durable: the controller stops acting."""


class EventListener(Protocol):
    """Receiver of every event, such as the progress display or the audit log."""

    def __call__(self, event: Event, /) -> None:
        """Take one event; an exception rolls the current wave back."""


class Journal(Protocol):
    """Store of one plan's events, with an interface small enough for another database."""

    def append(self, event: Event, request: OperatorRequest | None) -> None:
        """Make one event durable and mark its request as taken; raises JournalFailed."""

    def events(self) -> Sequence[Event]:
        """All events of this plan, oldest first."""

    def requests(self) -> Sequence[OperatorRequest]:
        """Open requests to the controller of this plan."""


class Connection(sqlite3.Connection):
    """A connection all of whose errors are sqlite3.Error.

    SQLite quotes a damaged schema byte for byte, and Python may be unable to decode the message.
    """

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:  # noqa: ANN401 - as its
        """Execute a statement, as sqlite3.Connection does."""
        try:
            return super().execute(sql, parameters)
        except UnicodeDecodeError:
            raise sqlite3.DatabaseError("malformed database schema") from None


class SqliteJournal:
    """Events of one plan in an SQLite file, each durable before the call returns."""

    def __init__(self, connection: sqlite3.Connection, plan_digest: str, head: ChainHead) -> None:
        self._connection = connection
        self._plan = plan_digest
        self._head = head

    @property
    def head(self) -> str:
        """Newest link of the chain; a copy elsewhere seals the journal."""
        return self._head.link

    def append(self, event: Event, request: OperatorRequest | None = None) -> None:
        """Write one event durably to the disk."""
        try:
            with transaction(self._connection):
                number, link = self._insert(event)
                if request is not None:
                    taken = "update request set taken = ? where id = ?"
                    self._connection.execute(taken, (number, request.number))
            self._head.move(number, link)
        except (sqlite3.Error, OSError) as error:
            raise JournalFailed(
                f"the journal cannot be written: {error}",
                how="check its disk; nothing is done without it",
            ) from None

    def _insert(self, event: Event) -> tuple[int, str]:
        # Read each time: after a commit with an unknown result, only the file has the last row.
        newest = "select id, hash from entry order by id desc limit 1"
        last, before = self._connection.execute(newest).fetchone() or FIRST
        row = _row(last + 1, self._plan, event)
        link = row_link(before, row)
        marks = ", ".join("?" * (len(row) + 1))
        self._connection.execute(f"insert into entry values ({marks})", (*row, link))  # noqa: S608
        return last + 1, link

    def events(self) -> list[Event]:
        """All events of this plan, oldest first."""
        rows = self._connection.execute(
            "select wave, device, act, phase, detail, code, data from entry where plan = ?"
            " order by id",
            (self._plan,),
        )
        return [event_of_row(row) for row in rows]

    def requests(self) -> list[OperatorRequest]:
        """Open requests to the controller of this plan."""
        try:
            rows = self._connection.execute(
                "select id, kind, by, plan, wave, data from request"
                " where plan = ? and taken is null order by id",
                (self._plan,),
            ).fetchall()
        except sqlite3.Error as error:
            raise JournalFailed(f"the journal cannot be read: {error}") from None
        return [
            OperatorRequest(number, kind, by, plan, wave, WaveApproval.of_json(data))
            for number, kind, by, plan, wave, data in rows
        ]


STEP = ("wave", "device", "act", "phase", "detail", "code")


def event_of_row(row: Sequence[Any]) -> Event:
    """Return the Event of wave, device, act, phase, detail, code and data."""
    *step, data = row
    return event_of({**json.loads(data), **dict(zip(STEP, step, strict=True))})


def _row(number: int, plan: str, event: Event) -> Row:
    at = datetime.now(UTC).isoformat(timespec="milliseconds")  # for people: no decision reads it
    return (number, at, plan, *step_of(event).values(), json.dumps(own_values(event)))


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """One short write, all or nothing."""
    connection.execute("begin immediate")
    try:
        yield
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise


@contextmanager
def open_journal(path: Path, plan_digest: str) -> Iterator[SqliteJournal]:
    """Open a journal, readable by its owner only; create a missing one.

    Raises ServiceFailed if the file is not a journal. Raises Refused if another controller uses it,
    if it has another format, or if it is damaged.
    """
    run = RunDirectory.of_journal(path)
    with locked(run.lock), closing(connected(path)) as connection:
        head = ChainHead(run.head)
        with closing(head):
            _prepared(connection, path, head)
            yield SqliteJournal(connection, plan_digest, head)


def connected(path: Path, *, create: bool = True) -> sqlite3.Connection:
    """A connection that writes durably; raises ServiceFailed."""
    try:
        # before SQLite writes to it, because its side files get the same mode
        flags = os.O_RDWR | os.O_NOFOLLOW | (os.O_CREAT if create else 0)
        os.close(os.open(path, flags, 0o600))
        path.chmod(0o600)
        # Nornir's threads may write, one at a time: see rollout/controller/nornir_events.py
        connection = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, factory=Connection
        )
    except OSError as error:
        raise ServiceFailed(f"cannot be opened: {error.strerror}", file=str(path)) from None
    except sqlite3.Error as error:
        raise ServiceFailed(f"cannot be opened: {error}", file=str(path)) from None
    try:
        connection.execute("pragma journal_mode=wal")
        connection.execute("pragma synchronous=full")
        # so that the file itself does not change while it is copied: see status.py
        connection.execute("pragma wal_autocheckpoint=0")
    except sqlite3.Error as error:
        connection.close()
        raise ServiceFailed(f"is not a journal: {error}", file=str(path)) from None
    return connection


def _prepared(connection: sqlite3.Connection, path: Path, head: ChainHead) -> None:
    """Create the tables of a new journal; check those of an old one."""
    try:
        (version,) = connection.execute("pragma user_version").fetchone()
        (tables,) = connection.execute("select count(*) from sqlite_master").fetchone()
        if not tables and head.fresh:
            with transaction(connection):
                for statement in (*SCHEMA.split(";\n"), f"pragma user_version = {FORMAT}"):
                    connection.execute(statement)
            return
        if version != FORMAT:
            raise _of_another_format(path, version)
        rows, sound = _rows(connection)
    except sqlite3.Error as error:
        raise damaged(path, str(error)) from None
    if wrong := damage(rows, head.read()) or sound:
        raise damaged(path, wrong)
    if rows:
        head.move(*_newest(rows))


def _rows(connection: sqlite3.Connection) -> tuple[list[Row], str]:
    """All rows with their links, and the damage that SQLite reports; empty if none."""
    rows = connection.execute(f"select {COLUMNS}, hash from entry order by id").fetchall()  # noqa: S608
    (report,) = connection.execute("pragma integrity_check(1)").fetchone()
    return rows, "" if report == "ok" else str(report)


def _newest(rows: Sequence[Row]) -> tuple[int, str]:
    return int(str(rows[-1][0])), str(rows[-1][-1])


def damaged(path: Path, wrong: str) -> Refused:
    """Error for a damaged journal, with the cure."""
    how = WITHOUT_HEAD.format(shlex.quote(str(path))) if wrong == HEADLESS else DAMAGED
    return Refused(f"is damaged: {wrong}", file=str(path), how=how)


def restore_head(path: Path, link: str) -> int:
    """Write the lost head of a journal again; returns its number of rows.

    link: a copy of the newest link. The rows alone do not show whether the last ones are missing.
    Raises Refused for any other link, for changed rows, and if the head exists; BadInput.
    """
    if not path.is_file():
        raise BadInput("no such journal", file=str(path), how="check its name")
    run = RunDirectory.of_journal(path)
    with (
        locked(run.lock),
        closing(connected(path, create=False)) as connection,
        closing(ChainHead(run.head)) as head,
    ):
        try:
            (version,) = connection.execute("pragma user_version").fetchone()
            if version != FORMAT:
                raise _of_another_format(path, version)
            rows, sound = _rows(connection)
        except sqlite3.Error as error:
            raise damaged(path, str(error)) from None
        wrong = damage(rows, head.read()) or sound
        if not wrong:
            raise Refused("has its head", file=str(path), how="continue without --restore-head")
        if wrong != HEADLESS or sound:
            raise damaged(path, sound or wrong)
        _check_link(path, rows, link)
        head.move(*_newest(rows))
        return len(rows)


def _check_link(path: Path, rows: Sequence[Row], link: str) -> None:
    """Raise Refused for a link that is not the newest."""
    links = [str(row[-1]) for row in rows]
    if link == links[-1]:
        return
    if link not in links:
        what = "no row has that link: the last rows are missing, or the link is of another journal"
        raise Refused(what, file=str(path), how="inspect the switches, then plan again")
    after = len(links) - links.index(link) - 1
    raise Refused(
        f"{count_of(after, 'row')} came after that link, and perhaps more that are missing",
        file=str(path),
        how="give the newest printed link; if the run was killed and printed none, inspect the "
        "switches, then plan again",
    )


def _of_another_format(path: Path, version: int) -> Refused:
    age = "a newer" if version > FORMAT else "an older"
    return Refused(
        f"was written by {age} Rocefort (format {version}, this one writes {FORMAT})",
        file=str(path),
        how="continue with that version, or begin a new journal when no trial is pending",
    )
