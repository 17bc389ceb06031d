"""Study of failures: every single failure of a cable or a switch, or pairs, and its impact.

The network is solved once, then repaired for each failure: affected BGP routes, packets that may
end elsewhere, and buffers with new dependencies. `dense` solves one failure from the start, and
tests compare the two.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Network
from itertools import combinations
from math import comb

from rocefort.base.errors import BadInput, Refused
from rocefort.base.progress import tracked
from rocefort.models.base import natural
from rocefort.models.network.network import End, Network, Sources
from rocefort.validators.failures.buffer_cycles import Buffers
from rocefort.validators.failures.impact import Cabling, RemainingCabling
from rocefort.validators.failures.lost_pairs import TablesAfterFailure, TracedPackets
from rocefort.validators.failures.routing_delta import (
    FailureBaseline,
    PrefixRoutes,
    failed_network,
    weaken,
)
from rocefort.validators.routing.engine import Solution, analyse
from rocefort.validators.routing_results import (
    Failure,
    FailureEffect,
    FailureStudy,
    PairLoss,
    WidthLoss,
)

SINGLE, PAIRS, SAMPLE = "single", "2", "sample:"
SOME = "single:"
MOST = 20_000  # failures of one study: about a minute with 8 spines and 120 leaves
SEED = 1


def single_failures(network: Network, solution: Solution) -> tuple[Failure, ...]:
    """Each cable between switches, including those of exits, then each switch."""
    cables = {
        tuple(sorted((a, b), key=lambda port: (natural(port[0]), natural(port[1]))))
        for a, b in solution.underlay.far.items()
    }
    ordered = sorted(cables, key=lambda ends: [(natural(p[0]), natural(p[1])) for p in ends])
    links = [
        Failure(links=((End(device=a[0], interface=a[1]), End(device=b[0], interface=b[1])),))
        for a, b in ordered
    ]
    names = sorted((node.name for node in network.nodes), key=natural)
    return (*links, *(Failure(nodes=(name,)) for name in names))


def count_singles(network: Network, solution: Solution) -> int:
    """Number of single failures."""
    return len(set(map(frozenset, solution.underlay.far.items()))) + len(network.nodes)


def chosen_failures(singles: Sequence[Failure], scope: str) -> tuple[list[Failure], int]:
    """Failures of a scope, and the number of all possible ones.

    single: each; single:N: N of them; 2: every pair; sample:N: N pairs.

    Raises Refused for more pairs than MOST, BadInput for an unknown scope.
    """
    pairs = comb(len(singles), 2)
    if scope == SINGLE:
        return list(singles), len(singles)
    if scope == PAIRS:
        if pairs > MOST:
            raise Refused(
                f"{len(singles)} cables and switches make {pairs:,} pairs, and {MOST:,} are the "
                "most that are studied at once",
                how=f"take some of them: --failures {SAMPLE}1000",
            )
        return [_combined_failure(*pair) for pair in combinations(singles, 2)], pairs
    kind, colon, number = scope.partition(":")
    form = f"{kind}{colon}"
    if form not in (SAMPLE, SOME) or not number.isdecimal() or not 1 <= int(number) <= MOST:
        raise BadInput(
            f"--failures {scope!r} is not one of: none, single, 2, single:N, sample:N",
            how=f"for example --failures {SAMPLE}1000; N is at most {MOST:,}",
        )
    among = len(singles) if form == SOME else pairs
    ranks = sorted(random.Random(SEED).sample(range(among), min(int(number), among)))  # noqa: S311
    if form == SOME:
        return [singles[rank] for rank in ranks], among
    return [_combined_failure(*_pair(singles, rank)) for rank in ranks], among


def sampled(scope: str) -> bool:
    """Whether a scope is a sample; reports then show the seed."""
    return scope.startswith((SAMPLE, SOME))


def _pair(singles: Sequence[Failure], rank: int) -> tuple[Failure, Failure]:
    """The pair of a rank in the order of `combinations`."""
    first, size = 0, len(singles)
    while rank >= size - 1 - first:
        rank -= size - 1 - first
        first += 1
    return singles[first], singles[first + 1 + rank]


def _combined_failure(a: Failure, b: Failure) -> Failure:
    return Failure(links=a.links + b.links, nodes=a.nodes + b.nodes)


def study(
    network: Network,
    scope: str = SINGLE,
    sources: Sources | None = None,
    solution: Solution | None = None,
) -> FailureStudy:
    """Effects of every failure of a scope; `solution` saves solving again.

    Raises as `analyse` and `chosen_failures` do.
    """
    origins = sources or Sources()
    solved = solution or analyse(network, origins)
    failures, population = chosen_failures(single_failures(network, solved), scope)
    work = PreparedSolution(network, solved, origins)
    # Single failures end with those of spines, which take longer than the others.
    studied = tracked(failures, "failures", even=scope != SINGLE and not scope.startswith(SOME))
    return FailureStudy.model_construct(
        scope=scope,
        population=population,
        seed=SEED if sampled(scope) else None,
        circles=work.circles,
        effects=tuple(work.effect(failure) for failure in studied),
    )


def dense(network: Network, failure: Failure, sources: Sources | None = None) -> Solution:
    """A solution of the network after a failure, from the start. Raises as `analyse` does."""
    return analyse(failed_network(network, failure), sources)


@dataclass(frozen=True)
class PreparedSolution:
    """Solution with indexes for the effects of failures."""

    network: Network
    solution: Solution
    sources: Sources

    @cached_property
    def base(self) -> FailureBaseline:
        """BGP tables without failures."""
        return FailureBaseline(self.solution)

    @cached_property
    def followed(self) -> TracedPackets:
        """Packet paths without failures."""
        return TracedPackets(self.base)

    @cached_property
    def buffers(self) -> Buffers:
        """Buffer dependencies without failures."""
        return Buffers(self.base)

    @cached_property
    def cabling(self) -> Cabling:
        """Cables of the network."""
        return Cabling(self.network)

    @cached_property
    def circles(self) -> str:
        """Reason why cyclic buffer dependencies are not searched; empty: they are."""
        if self.buffers.queue is None:
            return "not judged: which queue is lossless is not known"
        if self.buffers.excluded:
            return f"excluded: {self.buffers.excluded}"
        if self.buffers.circle_before:
            return f"not judged: there is one without any failure: {self.buffers.circle_before}"
        return ""

    def effect(self, failure: Failure) -> FailureEffect:
        """Effect of one failure."""
        weak = weaken(self.solution.underlay, failure)
        after = TablesAfterFailure(self.base, weak, tuple(self.base.fates(weak)))
        remaining = self.cabling.left(failure)
        widths = tuple(self._widths(after, remaining))
        at = self.solution.underlay.network.servers or ()
        return FailureEffect.model_construct(
            failure=failure,
            widths=widths,
            lost=tuple(self._lost(after, remaining)),
            cut_off=tuple(self._cut_off(after, widths)),
            own_servers=sum(server.port.device in weak.dead for server in at) if weak.dead else 0,
            bisection=remaining.bisection(failure),
            circle=self.buffers.circle(after) if self.buffers.is_judged else "",
        )

    @cached_property
    def _leaves(self) -> dict[int, str]:
        numbers = self.solution.routing.numbers
        return {numbers[name]: name for name in self.cabling.leaves if name in numbers}

    @cached_property
    def _limits(self) -> dict[str, int]:
        limits = self.solution.routing.graph.limits
        return {name: limits[number] for number, name in self._leaves.items()}

    def _widths(
        self, after: TablesAfterFailure, remaining: RemainingCabling
    ) -> Iterator[WidthLoss]:
        """Leaves with fewer paths, and their prefixes, in as few combined rows as possible."""
        groups: defaultdict[tuple[int, int, int | None, tuple[str, ...]], list[IPv4Network]]
        groups = defaultdict(list)
        towards: defaultdict[object, dict[str, None]] = defaultdict(dict)
        for prefixes, fate, rows in self._rows(after):
            origin = self._origin(fate)
            by_width: defaultdict[tuple[int, int, int | None], list[str]] = defaultdict(list)
            for leaf, was, now in rows:
                required = None
                if origin is not None and origin != leaf:
                    least = remaining.least(leaf, origin, was, self._limits[leaf])
                    required = least if now < least else None
                by_width[was, now, required].append(leaf)
            for (was, now, required), leaves in by_width.items():
                key = was, now, required, tuple(leaves)
                groups[key].extend(prefixes)
                towards[key] |= self._origins[fate.number]
        for key, own in groups.items():
            was, now, required, leaf_names = key
            yield WidthLoss.model_construct(
                leaves=leaf_names,
                prefixes=tuple(own),
                towards=tuple(towards[key]),
                was=was,
                now=now,
                expected=required,
            )

    @cached_property
    def _origins(self) -> dict[int, dict[str, None]]:
        classes = self.solution.classes
        return {number: dict.fromkeys(sorted(c.origins)) for number, c in enumerate(classes)}

    def _rows(
        self, after: TablesAfterFailure
    ) -> Iterator[tuple[tuple[IPv4Network, ...], PrefixRoutes, list[tuple[str, int, int]]]]:
        """Prefixes with equal routes, with the leaves that have fewer paths to them."""
        leaves, dead = self._leaves, after.weak.dead
        class_of = self.base.class_of
        changed = {p for local in after.weak.local.values() for p in local.changed}
        odd = self.base.foreign.keys() | {prefix for prefix in changed if prefix in class_of}
        odd_classes = {class_of[prefix] for prefix in odd}
        for fate in after.fates:
            if not fate.used and fate.number not in odd_classes:
                continue
            if fate.number >= 0 and self._unasked(fate.number, dead):
                continue
            plain = fate.prefixes
            if fate.number in odd_classes:
                plain = tuple(prefix for prefix in plain if prefix not in odd)
                for prefix in odd.intersection(fate.prefixes):
                    yield (prefix,), fate, list(self._odd_rows(prefix, fate, after))
            rows = [
                (leaves[device], was, len(edges))
                for device, edges in sorted(fate.used.items())
                if device in leaves
                and len(edges) < (was := len(fate.before.used[device]))
                and leaves[device] not in dead
            ]
            if rows and plain:
                yield plain, fate, rows

    def _odd_rows(
        self, prefix: IPv4Network, fate: PrefixRoutes, after: TablesAfterFailure
    ) -> Iterator[tuple[str, int, int]]:
        """Rows of a prefix that some device also has locally, where BGP's route is not in use."""
        under = self.solution.underlay
        for device, name in self._leaves.items():
            if name in after.weak.dead:
                continue
            was = 0
            if prefix not in under.connected[name] and prefix not in under.static[name]:
                was = len(fate.before.used[device])
            now = 0 if after.weak.has_own(name, prefix) else len(fate.uses(device))
            if now < was:
                yield name, was, now

    def _unasked(self, number: int, dead: Set[str]) -> bool:
        """Whether a class is skipped: its originators are only spines or failed devices."""
        origins = self.solution.classes[number].origins
        return origins <= self.cabling.spines or origins <= dead

    def _origin(self, fate: PrefixRoutes) -> str | None:
        """The one leaf that originates the prefixes; None where cabling gives no width."""
        if fate.number < 0 or not self.cabling.spines:
            return None
        origins = self.solution.classes[fate.number].origins
        name = next(iter(origins)) if len(origins) == 1 else None
        return name if name in self._leaf_names else None

    @cached_property
    def _leaf_names(self) -> frozenset[str]:
        return frozenset(self.cabling.leaves)

    def _cut_off(self, after: TablesAfterFailure, widths: Sequence[WidthLoss]) -> Iterator[str]:
        """Remaining leaves that had a route to another leaf, and now have none to any."""
        numbers = self.solution.routing.numbers
        candidates = {leaf for loss in widths if not loss.now for leaf in loss.leaves}
        fates = [f for f in after.fates if f.number >= 0 and self._of_leaves(f.number)]
        for leaf in sorted(candidates, key=natural):
            if not any(fate.uses(numbers[leaf]) for fate in fates):
                yield leaf

    def _of_leaves(self, number: int) -> bool:
        return not self.solution.classes[number].origins.isdisjoint(self._leaf_names)

    def _lost(self, after: TablesAfterFailure, remaining: RemainingCabling) -> Iterator[PairLoss]:
        """Lost server pairs by leaf and segment, in a fixed order."""
        losses: dict[tuple[str, str, str], PairLoss] = {}
        for lost in self.followed.lost(after):
            target = lost.target
            segment = self._segments.get((target.leaf, target.subnet), str(target.subnet))
            key = lost.source, target.leaf, segment
            expected = (
                bool(self.cabling.spines)
                and lost.source != target.leaf
                and not remaining.joined(lost.source, target.leaf)
            )
            pairs = lost.pairs + (losses[key].pairs if key in losses else 0)
            losses[key] = PairLoss(
                source=lost.source,
                destination=target.leaf,
                segment=segment,
                pairs=pairs,
                reason=lost.reason,
                expected=expected,
            )
        yield from (losses[key] for key in sorted(losses))

    @cached_property
    def _segments(self) -> dict[tuple[str, IPv4Network], str]:
        return {(s.leaf, s.prefix): s.name for s in self.network.segments or ()}
