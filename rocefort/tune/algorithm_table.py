"""HEPS's Table 2 in the simulator: DCQCN, HPCC and DCTCP between servers on different leaves.

Zeng et al., Network 2025, 5(4), 53, doi 10.3390/network5040053. The published figures are those of
the reference `heps-paper`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_args

from rocefort.base.documents.read import document_of
from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput
from rocefort.models.network.network import Server
from rocefort.rdma.publications import Publication, load_reference
from rocefort.rdma.rdma_plan import Program
from rocefort.tune.compare_model import AlgorithmFigures, AlgorithmRow, AlgorithmTable
from rocefort.tune.fabric_search import (
    HEADERS,
    FabricSearch,
    fabric_ground,
    fabric_search,
    roce_payload,
)
from rocefort.tune.model import ConfidenceInterval, Measures, Settings, Simulation
from rocefort.tune.run import EvaluatorOf
from rocefort.tune.scenario import Control, Scenario
from rocefort.tune.search.jobs import Base
from rocefort.tune.search.paired import interval_of
from rocefort.tune.simulator.simulate import NOT_MODELLED

REFERENCE = "heps-paper"
ALGORITHMS: tuple[Control, ...] = ("dcqcn", "hpcc", "dctcp")
SENDERS = 4
MESSAGE_BYTES = 2  # of ib_write_lat
LONG: dict[str, Any] = {"duration_ms": 10, "measure_from_ms": 1}
START_SPREAD_US = 100
CONFIDENCE = 0.95
ASSUMPTIONS = (
    "alone: one sender, as perftest; its flow has no end, and bandwidth is its payload",
    (
        f"loaded: {SENDERS} senders to one receiver, as one flow alone shows no congestion control "
        "(the paper does not state the load)"
    ),
    (
        f"latency alone: half of a round trip of {MESSAGE_BYTES} bytes; loaded: this and the mean "
        "wait in the queues of its path"
    ),
    (
        "DCQCN has the fabric's ECN and NIC profile; DCTCP and HPCC are those of the HPCC "
        "simulator; PFC is the fabric's"
    ),
)
MISSING = (
    "NICs: a message's way through PCIe, caches and doorbells: most of a published latency",
    "latency of a switch's pipeline",
    (
        "how a ConnectX-5 runs HPCC and DCTCP: NVIDIA documents DCQCN for ConnectX-4 and later "
        "(DOCA 3.4, DCQCN CC Parameters); HPCC is in the firmware notes of ConnectX-6 Dx "
        "(22.35.1012), and not in those of ConnectX-5 (16.35.1012); DCTCP is in neither"
    ),
    *NOT_MODELLED,
)
Published = Callable[[AlgorithmRow], float]
Ours = Callable[[AlgorithmFigures], ConfidenceInterval]


def controls_of(names: Sequence[str]) -> tuple[Control, ...]:
    """Return algorithms by their names; raises BadInput."""
    known: tuple[str, ...] = get_args(Control)
    for name in names:
        if name not in known:
            what = f"no congestion control {name!r}"
            raise BadInput(what, where="--algorithms", how=nearest(name, known))
    if not names:
        raise BadInput("no algorithm is named", where="--algorithms", how="name one")
    return tuple(cast("Control", name) for name in dict.fromkeys(names))


def algorithm_table(
    fabric: Path,
    controls: Sequence[Control],
    seeds: tuple[int, ...],
    evaluator_of: EvaluatorOf,
) -> AlgorithmTable:
    """Return Table 2 from simulations of a fabric; raises BadInput."""
    own = fabric_search(fabric, None, nic=False)
    senders, receiver = _servers(own)
    bases = tuple(
        base for control in controls for base in _situations(own, control, senders, receiver)
    )
    evaluator = evaluator_of(bases)
    (results,) = evaluator.evaluate([Settings()], seeds, "simulate the algorithms")
    publication = load_reference(REFERENCE)
    rows = tuple(
        _row(control, publication, results[3 * n : 3 * n + 3], receiver.flow_gbps)
        for n, control in enumerate(controls)
    )
    today = own.references[0]
    return AlgorithmTable(
        publication=f"{publication.source}, Table 2",
        fabric=own.name,
        ecn=f"{today.name}: {today.source}" if today.source else today.name,
        senders=tuple(server.name for server in senders),
        receiver=receiver.name,
        seeds=seeds,
        rows=rows,
        order=tuple(_order(rows)),
        assumptions=ASSUMPTIONS,
        not_modelled=MISSING,
        simulated=evaluator.simulated,
        reused=evaluator.reused,
    )


def _servers(own: FabricSearch) -> tuple[tuple[Server, ...], Server]:
    """Return senders, and the receiver on another leaf: the first of the fastest servers."""
    servers = [server for server in own.derived.network.servers or () if server.roce]
    fastest = max(server.flow_gbps for server in servers)
    fast = [server for server in servers if server.flow_gbps == fastest]
    receiver = fast[0]
    leaf = receiver.port.device
    senders = tuple(server for server in fast if server.port.device != leaf)[:SENDERS]
    if len(senders) < SENDERS:
        what = (
            f"{SENDERS} servers of {fastest} Gb/s on other leaves than {receiver.name} are needed"
        )
        raise BadInput(what, file=str(own.file), how="name a fabric that has them: --fabric heps")
    return senders, receiver


def _situations(
    own: FabricSearch, control: Control, senders: Sequence[Server], receiver: Server
) -> Iterator[Base]:
    """Yield the scenarios of an algorithm: one sender, a small message, several senders."""
    if control == "dcqcn" and own.congestion_control is None:
        what = "the fabric's NICs have no DCQCN"
        raise BadInput(what, file=str(own.file), how="set congestion_control, or leave dcqcn out")
    payload = roce_payload(own.derived.fabric.mtu)
    settings = own.references[0].settings
    for names, keys in (
        (senders[:1], LONG),
        (senders[:1], {"flows": {"bytes": MESSAGE_BYTES}}),
        (senders, {**LONG, "flows": {"start_spread_us": START_SPREAD_US}}),
    ):
        flows = {
            "pattern": "between",
            "senders": [server.name for server in names],
            "receivers": [receiver.name],
        }
        scenario = Scenario.model_validate(
            {
                "scenario": "heps",
                "congestion_control": control,
                "port_gbps": receiver.flow_gbps,
                "packet_bytes": payload + HEADERS,
                "header_bytes": HEADERS,
                "topology": {"kind": "fabric", "fabric": str(own.file)},
                **keys,
                "flows": flows | keys.get("flows", {}),
            }
        )
        kept = settings if control == "dcqcn" else settings.like(ecn=None)
        scenario = kept.applied(scenario)
        document = document_of("scenario: heps\n", str(own.file))
        ground = fabric_ground(scenario, document, own.derived.network, own.file)
        yield Base(scenario, own.congestion_control if control == "dcqcn" else None, ground)


def _row(
    control: Control, publication: Publication, results: Sequence[Simulation], gbps: int
) -> AlgorithmRow:
    alone, message, loaded = results
    trip = [_one_way(run) for run in message.runs]
    waits = [run.flows.queue_kbytes * 8 / gbps for run in loaded.runs]
    published = {
        figure.program: figure.value
        for figure in publication.figures
        if figure.conditions.get("congestion_control", "").lower() == control
    }
    return AlgorithmRow(
        control=control,
        published_gbps=published.get(Program.WRITE_BW),
        published_us=published.get(Program.WRITE_LAT),
        alone=AlgorithmFigures(
            gbps=_interval([run.goodput_gbps for run in alone.runs]), latency_us=_interval(trip)
        ),
        loaded=AlgorithmFigures(
            gbps=_interval([run.goodput_gbps for run in loaded.runs]),
            latency_us=_interval([a + b for a, b in zip(trip, waits, strict=True)]),
        ),
    )


def _one_way(run: Measures) -> float:
    """Return half of the round trip of a message, us."""
    return run.completion_us.mean / 2 if run.completion_us else 0


def _interval(values: Sequence[float]) -> ConfidenceInterval:
    return interval_of(values, CONFIDENCE)


def _order(rows: Sequence[AlgorithmRow]) -> Iterator[str]:
    """Yield the order of the algorithms by bandwidth and by latency: published, and ours."""
    known = [row for row in rows if row.published_gbps and row.published_us]
    situations: tuple[tuple[str, Callable[[AlgorithmRow], AlgorithmFigures]], ...] = (
        ("alone", lambda row: row.alone),
        ("loaded", lambda row: row.loaded),
    )
    measures: tuple[tuple[str, Published, Ours, bool], ...] = (
        ("bandwidth, highest first", lambda r: r.published_gbps or 0, lambda f: f.gbps, True),
        ("latency, lowest first", lambda r: r.published_us or 0, lambda f: f.latency_us, False),
    )
    for measure, published, ours, falling in measures if len(known) > 1 else ():
        order = sorted(known, key=published, reverse=falling)
        parts = [
            _ranked(word, order, {row.control: ours(of(row)) for row in known}, falling=falling)
            for word, of in situations
        ]
        names = ", ".join(row.control.upper() for row in order)
        yield f"{measure}: published {names}; here {'; '.join(parts)}"


def _ranked(
    situation: str,
    published: Sequence[AlgorithmRow],
    ours: Mapping[str, ConfidenceInterval],
    *,
    falling: bool,
) -> str:
    """Return our order as text; algorithms are equal if all their intervals overlap."""
    names = sorted(ours, key=lambda name: ours[name].mean, reverse=falling)
    groups: list[list[str]] = []
    for name in names:
        if groups and all(_overlap(ours[name], ours[other]) for other in groups[-1]):
            groups[-1].append(name)
        else:
            groups.append([name])
    text = ", ".join(" = ".join(name.upper() for name in group) for group in groups)
    theirs = [row.control for row in published]
    if len(groups) == len(names) and names in (theirs, theirs[::-1]):
        text += " (the same)" if names == theirs else " (reversed)"
    return f"{situation} {text}"


def _overlap(one: ConfidenceInterval, other: ConfidenceInterval) -> bool:
    return one.low <= other.high and other.low <= one.high
