"""The journal of a rollout: what is about to be done is on disk before it is done."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from rocefort.errors import ServiceFailed
from rocefort.models.rollout import Event, Phase
from rocefort.rollout.lock import locked


class JournalFailed(ServiceFailed):
    """An event could not be made durable: whoever hears this acts no further."""


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
            raise JournalFailed(
                f"the journal cannot be written: {error}", how="nothing is done without it"
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
    """Open a journal for its owner alone; raises ServiceFailed, Refused where another has it."""
    with locked(path.with_name(path.name + ".lock")), closing(_opened(path)) as connection:
        yield Journal(connection, plan_digest)


def _opened(path: Path) -> sqlite3.Connection:
    try:
        # before SQLite writes to it, because its side files take over the mode
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
        path.chmod(0o600)
        connection = sqlite3.connect(path)
    except OSError as error:
        raise ServiceFailed(f"cannot be opened: {error.strerror}", where=str(path)) from None
    except sqlite3.Error as error:
        raise ServiceFailed(f"cannot be opened: {error}", where=str(path)) from None
    try:
        connection.execute("pragma journal_mode=wal")
        connection.execute("pragma synchronous=full")
        connection.execute(SCHEMA)
    except sqlite3.Error as error:
        connection.close()
        raise ServiceFailed(f"is not a journal: {error}", where=str(path)) from None
    return connection
