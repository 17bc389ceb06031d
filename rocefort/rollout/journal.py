"""The journal of a rollout: what is about to be done is on disk before it is done."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Protocol

from rocefort.errors import Refused, ServiceFailed
from rocefort.models.rollout import Event, Phase


class Listener(Protocol):
    """Who hears of each event: progress, journal, audit."""

    def __call__(self, event: Event, /) -> None:
        """Take one event; an exception stops the rollout before the act."""


SCHEMA = """create table if not exists event (
  id integer primary key, at text not null, plan text not null, wave text not null,
  device text not null, act text not null, phase text not null, detail text not null)"""


class Journal:
    """Events of one plan in an SQLite file, each durable before the call returns."""

    def __init__(self, connection: sqlite3.Connection, plan_digest: str) -> None:
        self._connection = connection
        self._plan = plan_digest

    def __call__(self, event: Event, /) -> None:
        """Write one event through to the disk."""
        row = (
            datetime.now(UTC).isoformat(timespec="milliseconds"),
            self._plan,
            event.wave,
            event.device,
            event.act,
            event.phase.value,
            event.detail,
        )
        try:
            with self._connection:
                self._connection.execute(
                    "insert into event (at, plan, wave, device, act, phase, detail)"
                    " values (?, ?, ?, ?, ?, ?, ?)",
                    row,
                )
        except sqlite3.Error as error:
            raise ServiceFailed(
                f"the journal cannot be written: {error}", how="nothing further is done"
            ) from None

    def events(self) -> list[Event]:
        """All events of this plan, oldest first."""
        rows = self._connection.execute(
            "select wave, device, act, phase, detail from event where plan = ? order by id",
            (self._plan,),
        )
        return [Event(w, d, a, Phase(p), t) for w, d, a, p, t in rows]


@contextmanager
def open_journal(path: Path, plan_digest: str) -> Iterator[Journal]:
    """Open the journal with the one-controller lock; a second controller is refused."""
    with _locked(path.with_name(path.name + ".lock")):
        try:
            connection = sqlite3.connect(path, check_same_thread=False)
            connection.execute("pragma journal_mode=wal")
            connection.execute("pragma synchronous=full")
            connection.execute(SCHEMA)
            path.chmod(0o600)
        except sqlite3.Error as error:
            raise ServiceFailed(f"is not a journal: {error}", where=str(path)) from None
        try:
            yield Journal(connection, plan_digest)
        finally:
            connection.close()


@contextmanager
def _locked(path: Path) -> Iterator[IO[str]]:
    try:
        handle = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+")
    except OSError as error:
        raise ServiceFailed(f"cannot be opened: {error.strerror}", where=str(path)) from None
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(
                f"another controller (process {handle.read().strip()}) applies a plan",
                where=str(path),
                how="wait for it to end",
            ) from None
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        yield handle
