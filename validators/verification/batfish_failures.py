"""Study of failures by a Batfish service: one fork of the snapshot a failure, without failed parts.

A fork takes a second for a dozen switches and 20 for a hundred, so that a sample is the default.
Server pairs are traced only if one question reports a path that no longer delivers: most failures
in a Clos lose none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rocefort.dialects.eos import EosNames
from rocefort.models.finding import Finding
from rocefort.models.network.network import End, Network, Sources
from rocefort.validators.batfish.snapshot import host_name
from rocefort.validators.failures.impact import difference
from rocefort.validators.failures.study import SEED, chosen_failures, sampled
from rocefort.validators.routing_results import Failure, FailureEffect, FailureStudy
from rocefort.validators.rules.verification.engine_difference import EngineDifference

DEFAULT = "single:8"
CIRCLES = "not judged: Batfish does not model buffers"


@dataclass(frozen=True)
class BatfishFailureScope:
    """Failures of a scope, and the number of all possible ones."""

    scope: str
    failures: tuple[Failure, ...]
    population: int


def choose(singles: Sequence[Failure], scope: str) -> BatfishFailureScope:
    """Failures of a scope. Raises as `chosen_failures` does."""
    failures, population = chosen_failures(singles, scope)
    return BatfishFailureScope(scope, tuple(failures), population)


def cabled_failures(network: Network) -> tuple[Failure, ...]:
    """Each cable between switches, then each switch, if the embedded engine has no answer."""
    links = [Failure(links=((link.a, link.b),)) for link in network.links or ()]
    return (*links, *(Failure(nodes=(node.name,)) for node in network.nodes))


def deactivated(failure: Failure) -> tuple[tuple[str, ...], tuple[End, ...]]:
    """Parts that a fork lacks, in Batfish's names: switches, and both ends of each cable."""
    ends = (end for link in failure.links for end in link)
    ports = tuple(
        End(device=host_name(end.device), interface=EosNames.to_eos(end.interface)) for end in ends
    )
    return tuple(map(host_name, failure.nodes)), ports


def fork_name(number: int) -> str:
    """Name of a fork on the service, by the number of its failure."""
    return f"failure-{number}"


def study_of(chosen: BatfishFailureScope, effects: Iterable[FailureEffect]) -> FailureStudy:
    """Study in the form of the embedded engine's."""
    return FailureStudy(
        scope=chosen.scope,
        population=chosen.population,
        seed=SEED if sampled(chosen.scope) else None,
        circles=CIRCLES,
        effects=tuple(effects),
    )


def without_own(network: Network, failure: Failure, hosts: Sequence[str]) -> list[str]:
    """Hosts that are not on a failed switch."""
    dead = {
        host_name(server.name)
        for server in network.servers or ()
        if server.port.device in failure.nodes
    }
    return [host for host in hosts if host not in dead]


def disagreeing(
    ours: FailureStudy, theirs: FailureStudy, names: tuple[str, str], sources: Sources
) -> tuple[int, tuple[Finding, ...]]:
    """Number of failures that both studied, and one finding if some differ, with their number."""
    mine = {effect.failure: effect for effect in ours.effects}
    both = [(mine[e.failure], e) for e in theirs.effects if e.failure in mine]
    differences = [example for pair in both if (example := difference(*pair, names))]
    if not differences:
        return len(both), ()
    device, sentence = differences[0]
    more = f" (and after {len(differences) - 1} other failures)" if differences[1:] else ""
    apart = EngineDifference(
        sources.where(device, "bgp"), f"the engines disagree: {sentence}{more}"
    )
    return len(both), (apart.finding,)
