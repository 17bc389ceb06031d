"""Drain of a switch as a change that stops its announcements, and the capacity left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rocefort.change.effects.switch_configs import SwitchConfigs
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.network_text import render_node
from rocefort.models.change.plan import DrainedChange
from rocefort.models.device.device import Device
from rocefort.models.device.routing import PolicyNode
from rocefort.models.network.network import Network, Node, SwitchRole
from rocefort.models.wording import count_of
from rocefort.validators.capacity.bisection import widths
from rocefort.validators.facts.links import uplink_gbps
from rocefort.validators.routing.engine import Solution, analyse
from rocefort.validators.routing.reachability_matrix import reachability_of
from rocefort.validators.routing_results import Reachability

DRAIN_NODE = 1  # node of a route-policy; a fabric's own nodes begin at 10


def can_drain(device: Device) -> bool:
    """Whether every peer has an export policy, none of them with the number of the drain node.

    A policy has that node if the switch was drained by hand.
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
    """Return a Device without announcements: each export policy denies all in its first node."""
    deny = PolicyNode(node=DRAIN_NODE, action="deny")
    bgp = device.bgp
    exports = {bgp.settings(peer).export_policy for peer in bgp.peers} if bgp else set()
    policies = tuple(
        policy.model_copy(update={"nodes": (deny, *policy.nodes)})
        if policy.name in exports
        else policy
        for policy in device.route_policies
    )
    return device.model_copy(update={"route_policies": policies})


def with_drained(network: Network, names: Collection[str]) -> Network:
    """Return the network with some switches drained."""
    nodes = (
        node.model_copy(update={"device": silent(node.device)}) if node.name in names else node
        for node in network.nodes
    )
    return network.model_copy(update={"nodes": tuple(nodes)})


def drain_commands(node: Node) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Commands that drain and undrain a switch; none if its syntax is unknown."""
    if node.family is None:
        return (), ()
    apart = node.model_copy(update={"device": silent(node.device)})
    patch = dialect_of(node).patch(render_node(node), render_node(apart), node.family)
    return patch.commands, patch.reverse


def drained_change(sides: SwitchConfigs, meanwhile: str) -> DrainedChange:
    """The three changes of a switch that is drained for its planned change."""
    change = sides.whole
    old, new = silent(sides.running), silent(sides.intended)
    inner = sides.change(old, new)
    return DrainedChange(
        device=change.device,
        drain=sides.change_before(sides.running, old),
        change=inner.model_copy(
            update={
                "conditions": change.conditions,
                "service_affecting": change.service_affecting,
            }
        ),
        lift=sides.change_after(new, sides.intended),
        meanwhile=meanwhile,
    )


@dataclass(frozen=True)
class RemainingCapacity:
    """Capacity and reachability of a fabric in one state, from the routing engine.

    widths: minimum and maximum ECMP width between leaves. lost: server pairs that were reachable
    before.
    """

    widths: tuple[int, int] | None
    lost: int
    now: Reachability

    @property
    def least(self) -> int:
        """Minimum number of paths between two leaves; a single leaf cannot lose any."""
        return self.widths[0] if self.widths else 1

    def __str__(self) -> str:
        widths = "-".join(map(str, dict.fromkeys(self.widths or ())))
        width = f"ECMP width {widths}" if widths else "no path between leaves to count"
        pairs = count_of(self.lost, "server pair") if self.lost else "no server pair"
        return f"{width}, {pairs} lost"


def remaining_capacity(
    solution: Solution, start: Reachability, among: Set[str] | None = None
) -> RemainingCapacity:
    """Remaining capacity in a state. start: reachability before; among: leaves to compare."""
    now, servers = reachability_of(solution.trips), start.servers
    lost = sum(start.delivers(*pair) for pair in now.lost_pairs() if servers.issuperset(pair))
    return RemainingCapacity(widths(solution, among), lost, now)


class Uplinks(NamedTuple):
    """Uplinks of one leaf with a spine and without it, and its server ports."""

    links: int
    links_left: int
    gbps: int | None  # None: unknown
    gbps_left: int | None
    load_gbps: int

    def exceeds(self, limit: float | None) -> bool:
        """Whether the remaining uplinks exceed an oversubscription ratio; None allows any."""
        left_gbps = self.gbps_left
        return bool(limit) and left_gbps is not None and self.load_gbps > (limit or 0) * left_gbps


def uplinks_without(network: Network, spine: str, gone: Collection[str] = ()) -> dict[str, Uplinks]:
    """Uplinks of each leaf. gone: spines removed before."""
    base = _unlinked(network, gone)
    rest = _unlinked(base, [spine])
    gbps, gbps_left = uplink_gbps(base), uplink_gbps(rest)
    links, links_left = _ends(base), _ends(rest)
    load = Counter[str]()
    for server in network.servers or ():
        load[server.port.device] += server.speed_gbps
    return {
        n: Uplinks(links[n], links_left[n], gbps.get(n), gbps_left.get(n, 0), load[n])
        for n in (leaf.name for leaf in network.role(SwitchRole.LEAF))
    }


def _unlinked(network: Network, names: Collection[str]) -> Network:
    links = tuple(
        link for link in network.links or () if not {link.a.device, link.b.device} & {*names}
    )
    return network.model_copy(update={"links": links})


def _ends(network: Network) -> Counter[str]:
    """Number of links by switch."""
    return Counter(end.device for link in network.links or () for end in (link.a, link.b))


@dataclass(frozen=True)
class ServiceDuringRollout:
    """Service of the fabric during a rollout, from what each switch runs now and in the end.

    running: Devices by switch, before. done: switches that run their target already.
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
        """Routing before the rollout; raises Refused for what the engine does not model."""
        return analyse(self.at(frozenset()))

    @cached_property
    def _delivered(self) -> Reachability:
        return reachability_of(self.before.trips)

    def without(self, spine: str, done: frozenset[str]) -> RemainingCapacity:
        """Remaining capacity while a spine is drained; raises Refused as `analyse` does."""
        drained = with_drained(self.at(done), [spine])
        return remaining_capacity(analyse(drained), self._delivered)
