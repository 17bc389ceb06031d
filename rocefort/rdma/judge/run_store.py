"""Store of RDMA runs in one SQLite file: plans, conditions, measurements and program outputs.

A run is written when it has ended, in one transaction. Outputs are compressed. Readers and a
writer do not wait for each other (WAL).
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.rdma.judge.verdicts import GoodRuns
from rocefort.rdma.rdma_plan import RdmaPlan
from rocefort.rdma.results import MeasurementVerdict, RawEnd, RdmaResult, RunLine

SCHEMA = 1
APPLICATION = 0x526F4345  # `RoCE`, SQLite's application_id
BUSY_S = 10.0
GOOD_RUNS = 50  # the latest of one pair
LAST = "last"
HOW = (  # by a word in SQLite's message
    ("locked", f"another process has locked it for {BUSY_S:g} s: end that process, then retry"),
    ("disk is full", "free disk space there"),
    ("readonly", "the file is read-only: name another with --history"),
)
TABLES = """
CREATE TABLE runs (
  id TEXT PRIMARY KEY, fabric TEXT NOT NULL, suite TEXT NOT NULL, plan_digest TEXT NOT NULL,
  began TEXT NOT NULL, passed INTEGER NOT NULL, complete INTEGER NOT NULL, result BLOB NOT NULL
);
CREATE INDEX runs_by_time ON runs (fabric, began);
CREATE TABLE measurements (
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, number INTEGER NOT NULL,
  program TEXT NOT NULL, pair TEXT NOT NULL, size INTEGER, value REAL, outcome TEXT NOT NULL,
  verdict TEXT NOT NULL, shape TEXT NOT NULL, PRIMARY KEY (run, number)
);
CREATE INDEX measurements_by_key ON measurements (program, pair, size);
CREATE TABLE outputs (
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, measurement TEXT NOT NULL,
  side TEXT NOT NULL, raw BLOB NOT NULL, PRIMARY KEY (run, measurement, side)
);
"""


@dataclass(frozen=True)
class EarlierValue:
    """One measured value of an earlier run."""

    run: str
    began: datetime
    value: float
    good: bool


def plan_digest(plan: RdmaPlan) -> str:
    """Return a digest of a plan, without the machines and notes that vary from day to day."""
    stable = plan.model_dump(
        mode="json", exclude={"hosts": {"__all__": {"machine"}}, "notes": True}
    )
    return hashlib.sha256(json.dumps(stable, sort_keys=True).encode()).hexdigest()[:16]


class RdmaHistory:
    """An open history file; see `open_history`."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._db = connection
        self.path = path
        self._comparable: dict[str, bool] = {}

    def keep(self, result: RdmaResult, raw: Sequence[RawEnd]) -> None:
        """Store a run that has ended; raises ServiceFailed, and then stores nothing of it."""
        row = (
            result.id,
            result.plan.fabric,
            result.plan.suite.value,
            plan_digest(result.plan),
            result.began.isoformat(),
            result.passed,
            result.complete,
            _packed(result.model_dump_json()),
        )
        with self._failing("cannot be written"), self._db:
            self._db.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
            self._db.executemany(
                "INSERT INTO measurements VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _rows(result)
            )
            self._db.executemany(
                "INSERT INTO outputs VALUES (?, ?, ?, ?)",
                ((result.id, end.run, end.side, _packed(end.model_dump_json())) for end in raw),
            )

    def runs(self, fabric: str = "") -> tuple[RunLine, ...]:
        """List all runs, the latest first."""
        query = (
            "SELECT r.id, r.fabric, r.suite, r.began, r.passed, r.complete, count(m.number), "
            "count(m.value), total(m.verdict = 'passed') FROM runs r "
            "LEFT JOIN measurements m ON m.run = r.id "
            "WHERE ? IN ('', r.fabric) GROUP BY r.id ORDER BY r.began DESC, r.id DESC"
        )
        with self._failing("cannot be read"):
            rows = self._db.execute(query, (fabric,)).fetchall()
        return tuple(
            RunLine(
                id=id_,
                fabric=of,
                suite=suite,
                began=datetime.fromisoformat(began),
                measured=measured,
                runs=runs,
                passed=bool(passed),
                complete=bool(complete),
                judged=bool(judged),
            )
            for id_, of, suite, began, passed, complete, runs, measured, judged in rows
        )

    def load(self, run: str, fabric: str = "") -> RdmaResult:
        """Load one run by its id, or `last`; raises BadInput."""
        lines = self.runs(fabric)
        run_id = next((line.id for line in lines if run in (line.id, LAST)), None)
        if run_id is None:
            latest = ", ".join(line.id for line in lines[:5])
            how = f"one of the latest: {latest}; or `last`" if latest else "it holds no run"
            raise BadInput(f"no run {run!r}", file=str(self.path), how=how)
        return self._result(run_id)

    def _result(self, run_id: str) -> RdmaResult:
        with self._failing("cannot be read"):
            (blob,) = self._db.execute("SELECT result FROM runs WHERE id = ?", (run_id,)).fetchone()
        try:
            return RdmaResult.model_validate_json(zlib.decompress(blob))
        except (zlib.error, ValidationError):
            raise BadInput(
                f"run {run_id} cannot be read",
                file=str(self.path),
                how="it was damaged, or written by another version of rocefort",
            ) from None

    def outputs(self, run: str) -> tuple[RawEnd, ...]:
        """Load the outputs of a run's programs."""
        query = "SELECT raw FROM outputs WHERE run = ? ORDER BY measurement, side"
        with self._failing("cannot be read"):
            rows = self._db.execute(query, (run,)).fetchall()
        return tuple(RawEnd.model_validate_json(zlib.decompress(blob)) for (blob,) in rows)

    def good(self, result: RdmaResult) -> GoodRuns:
        """Return values of good runs before this one, of the same shape (`RdmaPlan.shapes`).

        A run is good if it was measured and is not too slow. None on emulated servers is compared.
        """
        if result.emulated:
            return {}
        values_by_key = {}
        for each in result.measurements:
            program, pair, size = each.key
            shape = result.plan.shapes.get(each.run.id, "")
            earlier = self.series(program.value, pair, size, shape)
            values = [k.value for k in earlier if k.good and k.began < result.began]
            values_by_key[program.value, pair, size, shape] = values[-GOOD_RUNS:]
        return values_by_key

    def _is_comparable(self, run: str) -> bool:
        """Whether a run can be read, and its figures are not constants of an emulator.

        The shapes of its rows do not show it if an early version stored it.
        """
        if run not in self._comparable:
            try:
                self._comparable[run] = not self._result(run).emulated
            except BadInput:
                self._comparable[run] = False
        return self._comparable[run]

    def series(
        self, program: str, pair: str, size: int | None, shape: str | None = None
    ) -> tuple[EarlierValue, ...]:
        """List all measured values of one program, pair and size, the oldest first.

        shape: lists only values of this shape, and none of an emulated run.
        """
        query = (
            "SELECT r.id, r.began, m.value, m.verdict FROM measurements m JOIN runs r "
            "ON r.id = m.run WHERE m.program = ? AND m.pair = ? AND m.size IS ? "
            "AND m.value IS NOT NULL AND (? IS NULL OR m.shape = ?) ORDER BY r.began, m.number"
        )
        with self._failing("cannot be read"):
            rows = self._db.execute(query, (program, pair, size, shape, shape)).fetchall()
        bad = (MeasurementVerdict.TOO_SLOW.value, MeasurementVerdict.NOT_MEASURED.value)
        return tuple(
            EarlierValue(id_, datetime.fromisoformat(began), value, verdict not in bad)
            for id_, began, value, verdict in rows
            if shape is None or self._is_comparable(id_)
        )

    @contextmanager
    def _failing(self, what: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _history_error(what, self.path, error) from None


def _stored_shape(result: RdmaResult, run: str) -> str:
    """Return the conditions by which values are compared; emulated ones are compared with none."""
    shape = result.plan.shapes.get(run, "")
    return f"emulated {shape}" if result.emulated else shape


def _rows(result: RdmaResult) -> Iterator[tuple[object, ...]]:
    for number, each in enumerate(result.measurements):
        program, pair, size = each.key
        shape = _stored_shape(result, each.run.id)
        judged = (each.outcome, each.verdict.value, shape)
        yield (result.id, number, program.value, pair, size, each.value, *judged)


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode(), 6)


@contextmanager
def open_history(path: Path, *, make: bool = False) -> Iterator[RdmaHistory]:
    """Open a history file until the block ends; raises BadInput, ServiceFailed.

    make: create a missing file, readable only by its owner.
    """
    if not path.exists():
        if not make:
            how = "`rocefort rdma run` writes one; name it with --history"
            raise BadInput("no such history of RDMA runs", file=str(path), how=how)
        _create(path)
    try:
        connection = sqlite3.connect(path, timeout=BUSY_S)
    except sqlite3.Error as error:
        raise _history_error("cannot be opened", path, error) from None
    try:
        _prepare(connection, path, make=make)
        yield RdmaHistory(connection, path)
    finally:
        connection.close()


def _create(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    except OSError as error:
        how = "name another path with --history"
        what = f"cannot be created: {error.strerror}"
        raise ServiceFailed(what, file=str(path), how=how) from None


def _prepare(connection: sqlite3.Connection, path: Path, *, make: bool) -> None:
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if make and not tables:
            connection.execute("PRAGMA journal_mode = WAL")
            _make_tables(connection)
            application, version = APPLICATION, SCHEMA
    except sqlite3.DatabaseError as error:
        raise _history_error("cannot be opened", path, error) from None
    if application != APPLICATION:
        raise BadInput("is no history of RDMA runs", file=str(path), how="name another file")
    if version != SCHEMA:
        how = f"this rocefort reads version {SCHEMA}"
        raise BadInput(f"is a history of version {version}", file=str(path), how=how)


def _make_tables(connection: sqlite3.Connection) -> None:
    """Create all tables in one transaction; another process may do the same concurrently."""
    before, connection.isolation_level = connection.isolation_level, None
    connection.execute("BEGIN IMMEDIATE")
    try:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not tables:
            for statement in filter(str.strip, TABLES.split(";")):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {SCHEMA}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.isolation_level = before


def _history_error(what: str, path: Path, error: sqlite3.Error) -> BadInput | ServiceFailed:
    if "not a database" in str(error):
        return BadInput("is no history of RDMA runs", file=str(path), how="name another file")
    how = next(
        (how for word, how in HOW if word in str(error)), "check the disk and its permissions"
    )
    return ServiceFailed(f"{what}: {error}", file=str(path), how=how)
