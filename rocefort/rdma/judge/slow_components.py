"""Find the smallest set of leaves, spines, cables or servers that explains the slow pairs.

An element is a suspect if a slow pair may have used it and no good pair certainly used it. A pair
certainly uses both servers with their cables, and both leaves. Across the spines ECMP chooses one
of several cables and spines; these are certain only for a pair with enough QPs to use them all.
The explanations are the smallest sets of suspects with an element in the path of every slow pair.
Elements that are in the paths of the same slow pairs cannot be separated; they are named together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from rocefort.models.base import Frozen
from rocefort.models.network.network import Server
from rocefort.models.wording import count_of
from rocefort.rdma.plan.shared_links import MISSED, Wiring, miss_probability
from rocefort.rdma.results import Measurement, MeasurementVerdict

LARGEST_SET = 3
MOST_SETS = 5  # explanations in the result


class Explanation(Frozen):
    """One smallest set. Each part is one element, or several that cannot be separated."""

    parts: tuple[tuple[str, ...], ...]

    @property
    def sentence(self) -> str:
        """The set as a phrase."""
        return " and ".join(
            part[0] if len(part) == 1 else f"one of {', '.join(part)}" for part in self.parts
        )


class SlowComponents(Frozen):
    """Explanations of the slow pairs, and the slow pairs without one."""

    slow: tuple[str, ...]
    explanations: tuple[Explanation, ...]
    unexplained: tuple[str, ...]  # good pairs used every element of their path

    @property
    def sentences(self) -> tuple[str, ...]:
        """Each explanation, then each unexplained pair, as a sentence."""
        lines = [f"{self._explained} pass through {e.sentence}" for e in self.explanations[:1]]
        lines += [f"or through {e.sentence}" for e in self.explanations[1:]]
        lines += [
            f"{pair} is slow, though good pairs used every element of its path"
            for pair in self.unexplained
        ]
        return tuple(lines)

    @property
    def _explained(self) -> str:
        return count_of(len(self.slow) - len(self.unexplained), "slow pair")


@dataclass(frozen=True)
class PairComponents:
    """Elements that a pair used for certain, and elements that it may have used."""

    certain: frozenset[str]
    possible: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        """All elements that the pair may have used."""
        return self.certain | self.possible


def pair_components(wiring: Wiring, one: Server, other: Server, qps: int = 1) -> PairComponents:
    """Return the elements between two servers; qps: number of flows, each hashed separately."""
    leaves = one.port.device, other.port.device
    certain = {f"server {server.name} or its cables" for server in (one, other)}
    certain |= set(leaves)
    if leaves[0] == leaves[1]:
        return PairComponents(frozenset(certain), frozenset())
    spines = set(wiring.spines(*leaves))
    across = spines | {
        f"cable {uplink.leaf} - {uplink.spine}"
        for leaf in leaves
        for uplink in wiring.uplinks.get(leaf, ())
        if uplink.spine.device in spines
    }
    width = wiring.width(*leaves)
    if width == 1 or miss_probability(width, qps) <= MISSED:
        return PairComponents(frozenset(certain | across), frozenset())
    return PairComponents(frozenset(certain), frozenset(across))


def find_slow_components(
    measurements: Iterable[Measurement], wiring: Wiring, servers: Mapping[str, Server]
) -> SlowComponents:
    """Explain the slow pairs by elements that they share and that good pairs do not use."""
    slow: dict[str, PairComponents] = {}
    good: list[PairComponents] = []
    for each in measurements:
        run = each.run
        if len(run.servers) != 2 or each.verdict not in (
            MeasurementVerdict.PASSED,
            MeasurementVerdict.TOO_SLOW,
        ):
            continue
        components = pair_components(wiring, servers[run.client], servers[run.server], run.qps)
        if each.verdict is MeasurementVerdict.TOO_SLOW:
            slow[run.pair] = components
        else:
            good.append(components)
    return explain(slow, good)


def explain(slow: Mapping[str, PairComponents], good: Iterable[PairComponents]) -> SlowComponents:
    """Return the smallest sets that cover all slow paths; no good path certainly uses them."""
    cleared = frozenset[str]().union(*(each.certain for each in good))
    suspects = {pair: components.all - cleared for pair, components in slow.items()}
    explained = [pair for pair, elements in suspects.items() if elements]
    groups = _suspects_by_pairs({pair: suspects[pair] for pair in explained})
    return SlowComponents(
        slow=tuple(slow),
        explanations=tuple(_smallest(groups, explained)),
        unexplained=tuple(pair for pair in slow if pair not in explained),
    )


def _suspects_by_pairs(
    suspects: Mapping[str, frozenset[str]],
) -> dict[frozenset[str], tuple[str, ...]]:
    """Group suspects by the set of slow pairs whose paths contain them."""
    pairs_of: dict[str, set[str]] = {}
    for pair, elements in suspects.items():
        for element in elements:
            pairs_of.setdefault(element, set()).add(pair)
    groups: dict[frozenset[str], list[str]] = {}
    for element in sorted(pairs_of):
        groups.setdefault(frozenset(pairs_of[element]), []).append(element)
    return {pairs: tuple(elements) for pairs, elements in groups.items()}


def _smallest(
    groups: Mapping[frozenset[str], tuple[str, ...]], pairs: Sequence[str]
) -> Iterator[Explanation]:
    if not pairs:
        return
    slow = frozenset(pairs)
    best = [group for group in groups if not any(group < other for other in groups)]
    for count in range(1, LARGEST_SET + 1):
        covers = [
            chosen
            for chosen in combinations(best, count)
            if frozenset[str]().union(*chosen) == slow
        ]
        if covers:
            for chosen in covers[:MOST_SETS]:
                yield Explanation(parts=tuple(groups[group] for group in chosen))
            return
    yield Explanation(parts=tuple(groups[group] for group in _greedy(best, slow)))


def _greedy(groups: Sequence[frozenset[str]], slow: frozenset[str]) -> list[frozenset[str]]:
    """Cover more than three faults: repeatedly take the group that explains most of the rest."""
    rest, chosen = set(slow), []
    while rest:
        most = max(groups, key=lambda group: len(group & rest))
        chosen.append(most)
        rest -= most
    return chosen
