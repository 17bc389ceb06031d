"""Waves of a plan: a canary leaf, leaves rack by rack, one spine at a time, no whole group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from rocefort.models.change.plan import Gate, Wave
from rocefort.models.keyed import natural
from rocefort.models.network.network import Network, Role

GateFor = Callable[[Sequence[str]], Gate]  # devices of a wave -> the gate that covers them


@dataclass(frozen=True, slots=True)
class RedundancyGroup:
    """Switches that back each other up: at most `most` of them may be down together."""

    what: str  # `server a`, `segment storage`, `the exits`
    members: frozenset[str]
    most: int = 1

    def allows(self, devices: Collection[str]) -> bool:
        """Whether switches may be down together."""
        return len(self.members.intersection(devices)) <= self.most


def groups_of(network: Network) -> tuple[RedundancyGroup, ...]:
    """Groups of leaves that back each other up.

    The leaves of one server, border leaves, and leaves of one segment. Half of a segment's leaves,
    rounded down, may be down together.
    """
    segments: defaultdict[str, set[str]] = defaultdict(set)
    for segment in network.segments or ():
        segments[segment.name].add(segment.leaf)
    servers = (
        RedundancyGroup(f"server {server.name}", frozenset(leaves))
        for server in network.servers or ()
        if len(leaves := {port.device for port in server.ports}) > 1
    )
    borders = frozenset(exit_.leaf for exit_ in network.exits or ())
    return (
        *servers,
        *([RedundancyGroup("the exits", borders)] if len(borders) > 1 else []),
        *(
            RedundancyGroup(f"segment {name}", frozenset(leaves), len(leaves) // 2)
            for name, leaves in sorted(segments.items(), key=lambda item: natural(item[0]))
            if len(leaves) > 1
        ),
    )


def make_waves(
    network: Network, changed: Iterable[str], canary: str, max_unavailable: int, gate_for: GateFor
) -> tuple[Wave, ...]:
    """Return the waves: one leaf, the other leaves rack by rack, one spine at a time.

    Only changed switches are in a wave. canary: the leaf that goes first; if it does not change,
    the first changed leaf. A wave of leaves takes whole racks, if `max_unavailable` and the groups
    allow it.
    """
    names = set(changed)
    leaves = [node for node in network.role(Role.LEAF) if node.name in names]
    spines = [node.name for node in network.role(Role.SPINE) if node.name in names]
    first = next((node for node in leaves if node.name == canary), leaves[0] if leaves else None)
    rest = [node for node in leaves if node is not first]
    racks: defaultdict[str, list[str]] = defaultdict(list)
    for leaf in rest:
        racks[f"rack {leaf.rack}" if leaf.rack else leaf.name].append(leaf.name)
    batches = list(_batches(list(racks.values()), max_unavailable, groups_of(network)))
    parts = [("canary", [first.name])] if first else []
    parts += [(f"leaves {i} of {len(batches)}", batch) for i, batch in enumerate(batches, 1)]
    parts += [(f"spine {i} of {len(spines)}", [name]) for i, name in enumerate(spines, 1)]
    return tuple(
        Wave(name=name, devices=tuple(devices), gate=gate_for(devices)) for name, devices in parts
    )


def _batches(
    racks: Iterable[Sequence[str]], most: int, groups: Sequence[RedundancyGroup]
) -> Iterator[list[str]]:
    """Racks packed into waves in their order; one that does not fit begins a new wave."""
    batch: list[str] = []
    for rack in racks:
        if batch and not _together([*batch, *rack], most, groups):
            yield batch
            batch = []
        for leaf in rack:
            if batch and not _together([*batch, leaf], most, groups):
                yield batch
                batch = []
            batch.append(leaf)
    if batch:
        yield batch


def _together(devices: Sequence[str], most: int, groups: Iterable[RedundancyGroup]) -> bool:
    return len(devices) <= most and all(group.allows(devices) for group in groups)
