"""Draining: a switch that announces nothing, as a change of its own, and what is left meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from rocefort.models.change import Drained
from rocefort.models.device import Device
from rocefort.models.network import Network, Node
from rocefort.models.reachability import Reachability
from rocefort.models.wording import counted
from rocefort.rollout.plan import Sides
from rocefort.rollout.stages import DRAIN_NODE, kept_from_traffic
from rocefort.validators.bandwidth import widths
from rocefort.validators.routing import Solution, analyse
from rocefort.validators.server_classes import reachability_of


def can_drain(device: Device) -> bool:
    """Whether every peer has an export policy, and none a node in the drain's place.

    Such a node would be one that is there already: somebody drained the switch by hand.
    """
    bgp = device.bgp
    if bgp is None or not bgp.peers:
        return False
    nodes = {policy.name: {node.node for node in policy.nodes} for policy in device.route_policies}
    settings = [bgp.settings(peer) for peer in bgp.peers]
    imports = {each.import_policy for each in settings}
    exports = {each.export_policy for each in settings}
    return all(
        name is not None and name not in imports and DRAIN_NODE not in nodes.get(name, {DRAIN_NODE})
        for name in exports
    )


def silent(device: Device) -> Device:
    """The Device with a first node of each export policy that denies every route."""
    alone = Network(name="", origin="fabric", nodes=(Node(device=device),))
    return kept_from_traffic(alone, [device.name]).nodes[0].device


def drained_change(sides: Sides, meanwhile: str) -> Drained:
    """The three changes of a switch that is drained for the one that is asked for."""
    change = sides.whole
    old, new = silent(sides.running), silent(sides.intended)
    inner = sides.change(old, new)
    return Drained(
        device=change.device,
        drain=sides.change(sides.running, old),
        change=inner.model_copy(
            update={
                "conditions": change.conditions,
                "service_affecting": change.service_affecting,
            }
        ),
        lift=sides.change(new, sides.intended),
        meanwhile=meanwhile,
    )


@dataclass(frozen=True)
class Left:
    """What the routing engine finds of a fabric without some spine."""

    widths: tuple[int, int] | None
    lost: int  # pairs of servers that were delivered before

    @property
    def least(self) -> int:
        """Fewest paths between two leaves; of a single leaf there is nothing to be lost."""
        return self.widths[0] if self.widths else 1

    def __str__(self) -> str:
        found = "-".join(map(str, dict.fromkeys(self.widths or ())))
        width = f"ECMP width {found}" if found else "no path between leaves to count"
        pairs = counted(self.lost, "server pair") if self.lost else "no server pair"
        return f"{width}, {pairs} lost"


@dataclass(frozen=True)
class Passage:
    """A rollout on its way: what each switch runs, and runs in the end.

    running: Devices by switch, before. done: those that run what is intended by now.
    """

    network: Network
    running: Mapping[str, Device]

    def at(self, done: frozenset[str]) -> Network:
        """The fabric between two waves."""
        return self.network.model_copy(
            update={
                "nodes": tuple(
                    node
                    if node.name in done or node.name not in self.running
                    else node.model_copy(update={"device": self.running[node.name]})
                    for node in self.network.nodes
                )
            }
        )

    @cached_property
    def before(self) -> Solution:
        """Routing as it runs; raises Refused for what the engine does not model."""
        return analyse(self.at(frozenset()))

    @cached_property
    def _delivered(self) -> Reachability:
        return reachability_of(self.before.trips)

    def without(self, spine: str, done: frozenset[str]) -> Left:
        """What is left while a spine is drained; raises Refused as `analyse` does."""
        solution = analyse(kept_from_traffic(self.at(done), [spine]))
        lost = sum(
            self._delivered.delivers(*pair)
            for pair in reachability_of(solution.trips).lost_pairs()
            if self._delivered.servers.issuperset(pair)
        )
        return Left(widths(solution), lost)
