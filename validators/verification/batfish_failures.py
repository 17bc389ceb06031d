"""Failures asked of a Batfish service: a fork of the snapshot for each, without what has failed.

A fork costs a second for a dozen switches and 20 for a hundred, so that by default a sample is
taken. Server pairs are traced only where one question says that some path no longer delivers: most
failures in a Clos lose none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rocefort.dialects.eos import EosNames
from rocefort.models.finding import Finding
from rocefort.models.network.network import End, Network, Sources
from rocefort.models.results.routing import Failure, FailureEffect, FailureStudy
from rocefort.validators.batfish.snapshot import host_name
from rocefort.validators.failures.impact import difference
from rocefort.validators.failures.study import SEED, chosen_failures, sampled
from rocefort.validators.rules.verification.engine_comparison import EngineDifference, engines_agree

DEFAULT = "single:8"
CIRCLES = "not judged: Batfish does not model buffers"


@dataclass(frozen=True)
class BatfishFailureScope:
    """The failures to ask for, of how many, as a scope says."""

    scope: str
    failures: tuple[Failure, ...]
    population: int


def choose(singles: Sequence[Failure], scope: str) -> BatfishFailureScope:
    """Failures of a scope. Raises as `chosen_failures` does."""
    failures, population = chosen_failures(singles, scope)
    return BatfishFailureScope(scope, tuple(failures), population)


def cabled_failures(network: Network) -> tuple[Failure, ...]:
    """Each cable between switches, then each switch, where the embedded engine does not know."""
    links = [Failure(links=((link.a, link.b),)) for link in network.links or ()]
    return (*links, *(Failure(nodes=(node.name,)) for node in network.nodes))


def deactivated(failure: Failure) -> tuple[tuple[str, ...], tuple[End, ...]]:
    """What a fork is made without, in Batfish's names: switches, and both ends of each cable."""
    ends = (end for link in failure.links for end in link)
    ports = tuple(
        End(device=host_name(end.device), interface=EosNames.to_eos(end.interface)) for end in ends
    )
    return tuple(map(host_name, failure.nodes)), ports


def fork_name(number: int) -> str:
    """Name of a fork on the service: failures are told by their number."""
    return f"failure-{number}"


def study_of(chosen: BatfishFailureScope, effects: Iterable[FailureEffect]) -> FailureStudy:
    """The study in the words of the embedded engine's."""
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
    """How many failures both have studied, and one finding where they differ, with how many do."""
    mine = {effect.failure: effect for effect in ours.effects}
    both = [(mine[e.failure], e) for e in theirs.effects if e.failure in mine]
    found = [said for pair in both if (said := difference(*pair, names))]
    if not found:
        return len(both), ()
    device, sentence = found[0]
    more = f" (and after {len(found) - 1} other failures)" if found[1:] else ""
    apart = EngineDifference(
        sources.where(device, "bgp"), f"the engines disagree: {sentence}{more}"
    )
    return len(both), tuple(engines_agree(apart))
