"""Steps of `lab opinions`: comparison of kernels, the embedded engine and Batfish."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from napalm_cloudengine import regular_file
from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.lab.lab_report import OpinionRow
from rocefort.lab.network import (
    OpinionCounts,
    Tables,
    await_law,
    compare_tables,
    detection_s,
    running_network,
    tables_of,
)
from rocefort.lab.twin.faults import ActiveFault, break_lab, mend_lab, require_mended
from rocefort.lab.twin.twin import Twin
from rocefort.models.network.network import Network
from rocefort.validators.batfish.access import Service
from rocefort.validators.batfish.batfish_engine import ask
from rocefort.validators.batfish.snapshot import snapshot_digest, snapshot_files
from rocefort.validators.failures.study import dense, single_failures
from rocefort.validators.routing.engine import Solution, analyse
from rocefort.validators.routing.external_peers import with_outside
from rocefort.validators.routing_results import Failure, RoutingState
from rocefort.validators.verification.batfish_recording import ask_forks, replay, replay_forks

WHOLE = "whole"
DIGEST = re.compile(rb'"(snapshot|forked)_sha256":"([0-9a-f]{64})"')
HEAD = 1000  # bytes of a recording that have its digest
PATIENCE_S = 60.0  # added to the detection time of a silent peer, and BGP's time to try again
KERNEL, ENGINE, BATFISH = "kernel", "engine", "batfish"
PAIRS = ((KERNEL, ENGINE), (KERNEL, BATFISH), (ENGINE, BATFISH))


@dataclass
class Batfish:
    """Batfish's answers on a network: recorded for exactly this snapshot, or from a service."""

    recordings: dict[str, Path] = field(default_factory=dict)  # by digest of the snapshot
    forks: dict[str, Path] = field(default_factory=dict)  # after its failures, by the same digest
    service: Service | None = None

    @classmethod
    def of(cls, folder: Path | None, service: Service | None = None) -> Batfish:
        """Read all recordings under a folder. Raises BadInput if it has none."""
        paths: dict[bytes, dict[str, Path]] = {b"snapshot": {}, b"forked": {}}
        for path in sorted(folder.rglob("*.json")) if folder else ():
            with regular_file.open_regular(path) as file:
                if digest := DIGEST.search(file.read(HEAD)):
                    paths[digest[1]][digest[2].decode()] = path
        if folder and not any(paths.values()):
            how = "name a folder of recorded answers"
            raise BadInput("has no recording of Batfish", where=str(folder), how=how)
        return cls(paths[b"snapshot"], paths[b"forked"], service)

    def on(
        self, network: Network, failure: Failure | None = None
    ) -> tuple[RoutingState, str] | None:
        """Return its answers and their source; None without any."""
        if failure is not None:
            return self.after(network, failure)
        if self.recordings:
            path = self.recordings.get(snapshot_digest(snapshot_files(network)))
            if path is not None:
                return replay(network, path), f"recorded {path.stem}"
        if self.service is not None:
            at = self.service
            return ask(network, at.host, at.port, at.access), f"asked {at}"
        return None

    def after(self, network: Network, failure: Failure) -> tuple[RoutingState, str] | None:
        """Return the same for a fork of the network without the failed parts: only routes."""
        if self.forks:
            path = self.forks.get(snapshot_digest(snapshot_files(network)))
            state = None if path is None else replay_forks(network, path).after(network, failure)
            if path is not None and state is not None:
                return state, f"recorded {path.stem}"
        if self.service is not None:
            whole = with_outside(network)
            state = ask_forks(whole, [failure], self.service).after(whole, failure)
            return None if state is None else (state, f"asked {self.service}")
        return None


def opinions_of(
    twin: Twin,
    network: Network,
    batfish: Batfish,
    state: str = WHOLE,
    failure: Failure | None = None,
) -> OpinionRow:
    """Compare the kernels of a converged lab with the engines' answers for its configurations."""
    solution = analyse(network) if failure is None else dense(network, failure)
    dead = () if failure is None else failure.nodes
    tables = twin.fibs([name for name in twin.topology.by_switch if name not in dead], ["bgp"])
    other = batfish.on(network, failure)
    return row_of(twin.record.fabric, state, tables, solution, other)


def row_of(
    fabric: str,
    state: str,
    tables: Tables,
    solution: Solution,
    other: tuple[RoutingState, str] | None,
) -> OpinionRow:
    """Return every two opinions on one state. other: Batfish's answer, and its source."""
    opinions_by_pair = dict(_pairs(tables, solution, other[0] if other else None))
    first = [str(each) for opinions in opinions_by_pair.values() for each in opinions.differences]
    return OpinionRow(
        fabric=fabric,
        state=state,
        compared=max(opinions.compared for opinions in opinions_by_pair.values()),
        differing={name: len(opinions.differences) for name, opinions in opinions_by_pair.items()},
        batfish=other[1] if other else "",
        first=first[0] if first else "",
    )


def _pairs(
    tables: Tables, solution: Solution, other: RoutingState | None
) -> Iterator[tuple[str, OpinionCounts]]:
    states = {ENGINE: solution.state} | ({BATFISH: other} if other else {})
    mine = {KERNEL: tables, ENGINE: tables_of(solution.state, tables)}
    for first, second in PAIRS:
        if second in states:
            who = f"the {first}", f"the {second}"
            yield (
                f"{first}, {second}",
                compare_tables(states[second], mine[first], solution.ties, who),
            )


def lab_opinions(
    twin: Twin,
    batfish: Batfish,
    *,
    failures: bool,
    say: Callable[[str], None],
    stop: Callable[[], bool] = lambda: False,
) -> list[OpinionRow]:
    """Return opinions on a lab as it runs, and after each single failure, each fixed afterwards.

    Raises Refused if a fault is already there.
    """
    require_mended(twin.registry, twin.record)
    network = running_network(twin)
    rows = [opinions_of(twin, network, batfish)]
    if failures:
        deadline = PATIENCE_S + detection_s(twin)
        for failure in single_failures(network, analyse(network)):
            if stop():
                break
            say(f"{twin.record.name}: without {failure}")
            rows.append(after(twin, network, batfish, failure, deadline))
    return rows


def after(
    twin: Twin, network: Network, batfish: Batfish, failure: Failure, deadline_s: float
) -> OpinionRow:
    """Inject a failure as a loss of carrier, compare, and fix it in any case.

    Raises ServiceFailed if the lab is not whole again within the deadline.
    """
    try:
        broken = list(break_all(twin, failure))
        await_law(twin, network, broken, deadline_s)
        row = opinions_of(twin, network, batfish, f"without {failure}", failure)
    finally:
        mend_lab(twin.registry, twin.record.name)
    whole = await_law(twin, network, (), deadline_s)
    if not whole.holds:
        what = f"still differs after the repair: {whole.opinions.differences[0]}"
        raise ServiceFailed(what, where=twin.record.name)
    return row


def break_all(twin: Twin, failure: Failure) -> Iterator[ActiveFault]:
    """Unplug the cables and cut off the nodes of a failure."""
    places: Sequence[tuple[str, str]] = [
        *(("link-down", f"{a.device}:{a.interface}") for a, _ in failure.links),
        *(("node-down", name) for name in failure.nodes),
    ]
    for fault, where in places:
        yield break_lab(twin.registry, twin.record.name, fault, where)
