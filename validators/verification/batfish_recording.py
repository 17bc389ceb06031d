"""Recordings of a Batfish service's real answers, also after failures, and their replay.

A fork has only the rows of the routes question by which it differs from the whole snapshot: 26
failures of ten switches are then as large as the whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import TypeVar

from pydantic import Field, ValidationError

from napalm_cloudengine import regular_file
from rocefort.base.errors import BadInput
from rocefort.models.base import Frozen
from rocefort.models.network.network import Network
from rocefort.validators.batfish.access import Service
from rocefort.validators.batfish.batfish_engine import (
    HOST,
    PORT,
    BatfishAnswers,
    BatfishSession,
    RouteRow,
    gate,
    interpret,
    open_session,
    put_questions,
    route_rows,
    routes_of,
)
from rocefort.validators.batfish.snapshot import snapshot_digest, snapshot_files
from rocefort.validators.routing_results import Failure, Reachability, RoutingState
from rocefort.validators.verification.batfish_session import deactivated, fork_name

# All; with -k and a file's stem, one. docs/how-to/batfish.md
RECORD_COMMAND = "ROCEFORT_BATFISH=HOST:PORT ROCEFORT_RECORD=1 pytest -m batfish"
Kept = TypeVar("Kept", bound=Frozen)


class Recording(Frozen):
    """Recorded verification: digest of the snapshot, date, and the service's answers."""

    network: str
    snapshot_sha256: str
    recorded: str  # date, UTC
    milliseconds: dict[str, int] = Field(default_factory=dict)  # wall clock, by question
    answers: BatfishAnswers


def record(network: Network, path: Path, host: str = HOST, port: int = PORT) -> RoutingState:
    """Verify as `ask` does, and keep the answers in a file. Raises as `ask` does."""
    with open_session(snapshot_files(network), Service(host, port)) as asking:
        gate(asking)
        answers = put_questions(asking, network)
    milliseconds: Counter[str] = Counter()
    for timing in asking.session.timings:
        milliseconds[timing.question] += round(1000 * timing.seconds)
    state = interpret(network, answers)  # raises before invalid answers are kept
    recording = Recording(
        network=network.name,
        snapshot_sha256=snapshot_digest(snapshot_files(network)),
        recorded=datetime.now(UTC).date().isoformat(),
        milliseconds=dict(milliseconds),
        answers=answers,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(recording.model_dump_json() + "\n", encoding="utf-8")
    return state


def replay(network: Network, path: Path) -> RoutingState:
    """Recorded answers of the service about exactly this snapshot.

    Raises BadInput if there is no recording, or if it is of another snapshot: a recorded answer
    is never used for a fabric that has changed since.
    """
    recording = load(path)
    check_snapshot(network, recording.snapshot_sha256, recording.recorded, path)
    return interpret(network, recording.answers)


def check_snapshot(network: Network, sha256: str, recorded: str, path: Path) -> None:
    """Raise BadInput if the recording in a file is not of this network's snapshot."""
    if (digest := snapshot_digest(snapshot_files(network))) != sha256:
        raise BadInput(
            f"recorded for snapshot {sha256[:12]}, this network gives "
            f"{digest[:12]}: its text or the translation has changed since {recorded}",
            file=str(path),
            how=f"record it again with a running service: {RECORD_COMMAND} -k {path.stem}",
        )


def load(path: Path) -> Recording:
    """Read a recording. Raises BadInput if it is missing or invalid."""
    return read_recording(Recording, path)


def read_recording(kind: type[Kept], path: Path) -> Kept:
    """Read a recording of a kind. Raises BadInput if it is missing or invalid."""
    how = f"record it with a running service: {RECORD_COMMAND} -k {path.stem}"
    try:
        return kind.model_validate_json(regular_file.read_bytes(path))
    except OSError as error:
        what = f"no recording: {error.strerror}"
        raise BadInput(what, file=str(path), how=how) from error
    except ValidationError as error:
        first = error.errors()[0]
        what = " ".join(["not a recording:", *map(str, first["loc"]), first["msg"]])
        raise BadInput(what, file=str(path), how=how) from error


Table = dict[str, dict[IPv4Address, tuple[IPv4Network, ...]]]  # rows by node and next hop


class Fork(Frozen):
    """Difference of BGP routes between the whole snapshot and a fork."""

    failure: Failure
    gone: Table = Field(default_factory=dict)
    come: Table = Field(default_factory=dict)


class Forks(Frozen):
    """BGP routes of the service for a snapshot, and after its failures."""

    network: str
    forked_sha256: str  # of the whole snapshot
    recorded: str  # date, UTC
    version: str
    milliseconds: dict[str, int] = Field(default_factory=dict)  # wall clock, by question
    whole: Table
    forks: tuple[Fork, ...]

    @cached_property
    def by_failure(self) -> dict[Failure, Fork]:
        """Forks by failure."""
        return {fork.failure: fork for fork in self.forks}

    def after(self, network: Network, failure: Failure) -> RoutingState | None:
        """Routes after a failure, or of the whole snapshot for none; None if not recorded.

        The state has no sessions and no reachability.
        """
        rows = set(rows_of(self.whole))
        if failure != Failure():
            fork = self.by_failure.get(failure)
            if fork is None:
                return None
            rows = rows.difference(rows_of(fork.gone)).union(rows_of(fork.come))
        return RoutingState(
            engine="batfish",
            sessions=(),
            routes=routes_of(network, tuple(rows)),
            reachability=Reachability(),
        )


def ask_forks(network: Network, failures: Sequence[Failure], service: Service) -> Forks:
    """Request routes, whole and after each failure. Raises as `batfish.ask` does."""
    files = snapshot_files(network)
    with open_session(files, service) as asking:
        gate(asking)
        whole = frozenset(route_rows(asking))
        forks = tuple(_forks(asking, failures, whole))
    milliseconds: Counter[str] = Counter()
    for timing in asking.session.timings:
        milliseconds[timing.question.partition(",")[0]] += round(1000 * timing.seconds)
    return Forks(
        network=network.name,
        forked_sha256=snapshot_digest(files),
        recorded=datetime.now(UTC).date().isoformat(),
        version=asking.version,
        milliseconds=dict(milliseconds),
        whole=table_of(whole),
        forks=forks,
    )


def _forks(
    asking: BatfishSession, failures: Sequence[Failure], whole: frozenset[RouteRow]
) -> Iterator[Fork]:
    for number, failure in enumerate(failures):
        name = fork_name(number)
        asking.speaker.fork(asking.session, name, *deactivated(failure))
        rows = frozenset(route_rows(asking, name))
        asking.speaker.forget(asking.session, name)
        yield Fork(failure=failure, gone=table_of(whole - rows), come=table_of(rows - whole))


def record_forks(
    network: Network, failures: Sequence[Failure], path: Path, service: Service
) -> Forks:
    """Request routes as `ask_forks` does, and keep them in a file. Raises as it does."""
    forks = ask_forks(network, failures, service)
    for failure in (Failure(), *failures):  # raises before invalid answers are kept
        forks.after(network, failure)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(forks.model_dump_json() + "\n", encoding="utf-8")
    return forks


def replay_forks(network: Network, path: Path) -> Forks:
    """Recorded routes of exactly this snapshot. Raises BadInput as `replay` does."""
    forks = read_recording(Forks, path)
    check_snapshot(network, forks.forked_sha256, forks.recorded, path)
    return forks


def table_of(rows: Iterable[RouteRow]) -> Table:
    """Rows in the recorded form, sorted."""
    table: defaultdict[str, defaultdict[IPv4Address, list[IPv4Network]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in sorted(rows, key=lambda row: (row.node, row.next_hop, row.prefix)):
        table[row.node][row.next_hop].append(row.prefix)
    return {
        node: {hop: tuple(prefixes) for hop, prefixes in hops.items()}
        for node, hops in table.items()
    }


def rows_of(table: Table) -> Iterator[RouteRow]:
    """Rows of a recorded table."""
    for node, hops in table.items():
        for hop, prefixes in hops.items():
            for prefix in prefixes:
                yield RouteRow(node=node, prefix=prefix, next_hop=hop)
