"""Switch states of a lab: on disk, and at the start with equal lines stored once.

with Store(state_dir / "switches.db") as store:
        store.restore(switch, Pool())             # as it was when the lab ended or was killed
        store.keep(switch)                        # after each change

One SQLite file in WAL mode, one transaction a change: a lab that is killed at any instant leaves
the state before or after it. Candidates and locks belong to sessions, which end with the lab. Times
are stored as wall clock. So a trial continues while no lab runs, and may expire meanwhile.
"""

from __future__ import annotations

import fcntl
import json
import re
import sqlite3
import sys
from collections.abc import Iterable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.dialects.vrp.interpreter.interpreter import Lines
from rocefort.dialects.vrp.text.config_tree import ConfigLine
from rocefort.dialects.vrp.unowned_lines import whole_tree
from rocefort.emulator.switch.switch import SYSTEM_USER, CommitPoint, EmulatedSwitch, Trial


@dataclass
class Pool:
    """Lines and blocks of lines seen so far; free it once all switches have started."""

    _lines: dict[ConfigLine, ConfigLine] = field(default_factory=dict)
    _blocks: dict[Lines, Lines] = field(default_factory=dict)

    def share(self, lines: Lines) -> Lines:
        """Return the same lines, with equal parts replaced by earlier objects."""
        own = tuple(self._line(line) for line in lines)
        return self._blocks.setdefault(own, own)

    def _line(self, line: ConfigLine) -> ConfigLine:
        # The line number in the file has no meaning on a switch.
        shared = ConfigLine(sys.intern(line.text), 0, self.share(line.children))
        return self._lines.setdefault(shared, shared)


def start(switch: EmulatedSwitch, pool: Pool, *, whole: bool) -> None:
    """Parse the start-up text once; whole: include lines that match no known command."""
    lines = whole_tree(switch.startup, switch.family) if whole else switch.running
    switch.running = switch.saved = pool.share(lines)
    switch.startup = ""


FORM = 1  # version of the tables; another one is refused
TABLES = """
CREATE TABLE IF NOT EXISTS trees (digest TEXT PRIMARY KEY, tree TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS switches (name TEXT PRIMARY KEY, state TEXT NOT NULL) STRICT;
"""
DIGEST = re.compile(r'"([0-9a-f]{64})"')


def lock_file(path: Path) -> Path:
    """File that a running lab locks, and writes its process number to when it is ready."""
    return path.with_suffix(".lock")


@dataclass
class Store:
    """State of the switches of one lab. Raises ServiceFailed and BadInput on opening."""

    path: Path
    _database: sqlite3.Connection = field(init=False)
    _opened: ExitStack = field(default_factory=ExitStack)
    _stored: dict[str, tuple[object, ...]] = field(default_factory=dict)
    _written: dict[str, dict[Lines, str]] = field(default_factory=dict)  # digests

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.touch(mode=0o600)  # it holds configurations, and so ciphers
            with ExitStack() as opened:
                self._lock(opened)
                self._database = opened.enter_context(
                    closing(
                        sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
                    )
                )
                self._open()
                self._opened = opened.pop_all()
        except sqlite3.DatabaseError as error:
            how = "delete the file to start again"
            raise ServiceFailed(
                f"not a state file of a lab: {error}", file=str(self.path), how=how
            ) from None
        except OSError as error:
            raise ServiceFailed(str(error), where="lab", how="choose another folder") from error
        return self

    def _lock(self, opened: ExitStack) -> None:
        """Allow one lab a folder; the kernel frees the lock of a lab that was killed."""
        file = opened.enter_context(lock_file(self.path).open("ab"))
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            how = "end it (`rocefort lab stop`), or choose another folder"
            raise ServiceFailed("another lab runs there", file=str(self.path), how=how) from None
        file.truncate(0)  # the process of a lab that was killed

    def _open(self) -> None:
        # In WAL mode NORMAL loses nothing when the process dies. When this machine loses power, the
        # last change may be lost, but is never partly there.
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=NORMAL")
        form = self._database.execute("PRAGMA user_version").fetchone()[0]
        if form not in (0, FORM):
            raise BadInput(
                f"state of a lab in form {form}; this Rocefort reads form {FORM}",
                file=str(self.path),
                how="delete the file to start again",
            )
        self._database.executescript(TABLES)
        used = {
            digest
            for (state,) in self._database.execute("SELECT state FROM switches")
            for digest in DIGEST.findall(state)
        }
        stored = [row[0] for row in self._database.execute("SELECT digest FROM trees")]
        unused = [(digest,) for digest in stored if digest not in used]
        self._database.executemany("DELETE FROM trees WHERE digest = ?", unused)
        self._database.execute(f"PRAGMA user_version={FORM}")

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def has_state(self, name: str) -> bool:
        """Whether the store has a switch of this name."""
        rows = self._database.execute("SELECT 1 FROM switches WHERE name = ?", (name,))
        return rows.fetchone() is not None

    def restore(self, switch: EmulatedSwitch, pool: Pool) -> bool:
        """Load the state of a new switch; false without one. An expired trial is rolled back."""
        rows = self._database.execute("SELECT state FROM switches WHERE name = ?", (switch.name,))
        row = rows.fetchone()
        if row is None:
            return False
        try:
            self._fill(switch, json.loads(row[0]), _Trees(self._database, pool))
        except (LookupError, ValueError, TypeError) as error:
            raise BadInput(
                f"the state of {switch.name} cannot be read: {error!r}",
                file=str(self.path),
                how="delete the file to start again",
            ) from None
        if switch.dies_with(switch.trial_session):
            switch.end_trial(SYSTEM_USER)  # its session ended with the lab
        switch.tick()
        self.keep(switch)
        return True

    def _fill(self, switch: EmulatedSwitch, state: dict[str, Any], trees: _Trees) -> None:
        switch.running, switch.saved = trees[state["running"]], trees[state["saved"]]
        switch.points = tuple(_point(point, trees) for point in state["points"])
        switch.changed_at = datetime.fromisoformat(state["changed_at"])
        switch.last_session = state["last_session"]
        switch.day0_address = state.get("day0_address", "")
        # The switch does not restart with the lab: only its command line was unavailable.
        switch.booted = _on_clock(switch, state["booted"])
        if trial := state["trial"]:
            deadline = _on_clock(switch, trial["deadline"])
            switch.trial = Trial(**trial | {"before": trees[trial["before"]], "deadline": deadline})

    def keep(self, switch: EmulatedSwitch) -> None:
        """Write changes since the last call; nothing if there are none."""
        now = (switch.running, switch.saved, switch.points, switch.trial, switch.last_session)
        before = self._stored.get(switch.name)
        if before is not None and all(a is b for a, b in zip(now, before, strict=True)):
            return
        written = self._written.get(switch.name, {})
        digests = {
            tree: written.get(tree) or sha256(_text(tree).encode()).hexdigest()
            for tree in _trees(switch)
        }
        fresh = [(digest, _text(tree)) for tree, digest in digests.items() if tree not in written]
        state = json.dumps(_state(switch, digests))
        try:
            with self._database:
                self._database.execute("BEGIN IMMEDIATE")
                self._database.executemany("INSERT OR IGNORE INTO trees VALUES (?, ?)", fresh)
                self._database.execute("REPLACE INTO switches VALUES (?, ?)", (switch.name, state))
        except sqlite3.DatabaseError as error:
            how = "make room there, or choose another folder"
            raise ServiceFailed(f"{switch.name}: {error}", file=str(self.path), how=how) from error
        self._stored[switch.name], self._written[switch.name] = now, digests


@dataclass
class _Trees:
    """Trees by digest, each read once for a switch."""

    database: sqlite3.Connection
    pool: Pool
    read: dict[str, Lines] = field(default_factory=dict)

    def __getitem__(self, digest: str) -> Lines:
        if digest not in self.read:
            rows = self.database.execute("SELECT tree FROM trees WHERE digest = ?", (digest,))
            self.read[digest] = self.pool.share(_lines(json.loads(rows.fetchone()[0])))
        return self.read[digest]


def _lines(tree: list[Any]) -> Lines:
    return tuple(ConfigLine(text, 0, _lines(children)) for text, children in tree)


def _plain(lines: Lines) -> list[Any]:
    return [[line.text, _plain(line.children)] for line in lines]


def _text(tree: Lines) -> str:
    return json.dumps(_plain(tree), separators=(",", ":"))


def _trees(switch: EmulatedSwitch) -> Iterable[Lines]:
    yield from (switch.running, switch.saved)
    for point in switch.points:
        yield from (point.before, point.after)
    if switch.trial:
        yield switch.trial.before


def _point(stored: dict[str, Any], trees: _Trees) -> CommitPoint:
    before, after = trees[stored["before"]], trees[stored["after"]]
    at = datetime.fromisoformat(stored["at"])
    return CommitPoint(**stored | {"before": before, "after": after, "at": at})


def _row(value: CommitPoint | Trial, **instead: object) -> dict[str, object]:
    """Return the fields of a row; `instead` replaces some of them."""
    own = {
        field_.name: getattr(value, field_.name)
        for field_ in fields(value)
        if field_.name not in instead
    }
    return own | instead


def _state(switch: EmulatedSwitch, digests: dict[Lines, str]) -> dict[str, Any]:
    trial = switch.trial
    return {
        "running": digests[switch.running],
        "saved": digests[switch.saved],
        "points": [
            _row(p, before=digests[p.before], after=digests[p.after], at=p.at.isoformat())
            for p in switch.points
        ],
        "trial": trial
        and _row(trial, before=digests[trial.before], deadline=_as_wall(switch, trial.deadline)),
        "changed_at": switch.changed_at.isoformat(),
        "booted": _as_wall(switch, switch.booted),
        "last_session": switch.last_session,
        "day0_address": switch.day0_address,
    }


def _as_wall(switch: EmulatedSwitch, at: float) -> str:
    return (switch.now() + timedelta(seconds=at - switch.clock())).isoformat()


def _on_clock(switch: EmulatedSwitch, at: str) -> float:
    away = datetime.fromisoformat(at) - switch.now()
    return switch.clock() + away.total_seconds()


def lose_power(switch: EmulatedSwitch) -> None:
    """Apply a power loss: the saved configuration runs, a trial and its timer are gone.

    Rollback points stay: they are files on a switch's flash. Not confirmed: how the switch prints
    them.
    """
    switch.candidates.clear()
    switch.lock = None
    switch.trial = None
    switch.running = switch.saved
    switch.booted = switch.changed = switch.clock()
    switch.changed_at = switch.now()
