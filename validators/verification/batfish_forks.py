"""Recording of routes after failures from a Batfish service: forks without the failed parts.

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

from pydantic import Field

from rocefort.models.base import Frozen
from rocefort.models.network.network import Network
from rocefort.validators.batfish.access import Service
from rocefort.validators.batfish.engine import (
    BatfishSession,
    RouteRow,
    gate,
    open_session,
    route_rows,
    routes_of,
)
from rocefort.validators.batfish.recording import check_snapshot, read_recording
from rocefort.validators.batfish.snapshot import snapshot_digest, snapshot_files
from rocefort.validators.routing_results import Failure, Reachability, RoutingState
from rocefort.validators.verification.batfish_failures import deactivated, fork_name

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
