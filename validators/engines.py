"""Which engine verifies: embedded, Batfish, or both against each other."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from rocefort.models.finding import Report
from rocefort.models.network import Network, Sources
from rocefort.models.routing import RoutingState
from rocefort.validators import batfish
from rocefort.validators.agreement import ENGINES_DISAGREE, disagreements
from rocefort.validators.routing import Solution, analyse
from rocefort.validators.verification import verify
from rocefort.validators.waivers import sort_out


class Engine(StrEnum):
    """Who is asked. `auto`: both where a Batfish service answers, else embedded, and said so."""

    AUTO = "auto"
    EMBEDDED = "embedded"
    BATFISH = "batfish"
    BOTH = "both"


@dataclass(frozen=True)
class Verified:
    """A verification: what was found, by whom, and who was not asked."""

    report: Report
    state: RoutingState
    engines: tuple[str, ...]
    note: str = ""


def run(network: Network, sources: Sources, engine: Engine, host: str, port: int) -> Verified:
    """Verify a network whose Devices were parsed from text.

    Raises ServiceFailed where Batfish is asked for and does not answer, Refused where an engine
    that is asked does not model what it is shown.
    """
    if engine is Engine.BATFISH:
        state = batfish.ask(network, host, port)
        return Verified(verify(network, state, sources), state, (state.engine,))
    solution = analyse(network, sources)
    report = verify(network, solution.state, sources, solution)
    if engine is Engine.EMBEDDED:
        return Verified(report, solution.state, (solution.state.engine,))
    if engine is Engine.AUTO and not batfish.reachable(host, port):
        note = f"Batfish not run: no service at {host}:{port}"
        return Verified(report, solution.state, (solution.state.engine,), note)
    other = batfish.ask(network, host, port)
    return Verified(
        report.joined(compared(network, solution, other, sources)),
        solution.state,
        (solution.state.engine, other.engine),
    )


def compared(
    network: Network,
    solution: Solution,
    other: RoutingState,
    sources: Sources,
    today: date | None = None,
) -> Report:
    """Where two engines differ; `today` as in `verify`."""
    report = Report(
        network=network.name,
        rules=(ENGINES_DISAGREE,),
        findings=disagreements(solution, other, sources),
    )
    return sort_out(report, network, sources, today)
