"""The states through which a fabric grows, each judged by the routing engine: nothing is lost.

One spine after the other, then all leaves: isolated (configured, no cable to what is there),
cabled (what is there knows nothing of it yet), sessions up (it announces nothing), taking traffic.
A switch is kept from traffic by a first node of its export policy that denies every route.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from rocefort.dialects.choose import dialect_of
from rocefort.dialects.texts import read_back, render_all, render_node
from rocefort.models.bgp import PolicyNode
from rocefort.models.device import Device
from rocefort.models.growth import Stage, Staged
from rocefort.models.network import Link, Network, Node, Role
from rocefort.models.reachability import Pair, Reachability
from rocefort.models.routing import SessionStatus
from rocefort.models.wording import counted
from rocefort.validators.bandwidth import widths
from rocefort.validators.routing import analyse
from rocefort.validators.server_classes import reachability_of

DRAIN_NODE = 1  # of a route-policy; those of a fabric begin at 10
ISOLATED, CABLED, SESSIONS, TRAFFIC = "isolated", "cabled", "sessions up", "taking traffic"


@dataclass(frozen=True)
class Step:
    """One part of a growth: the Networks without and with its switches."""

    before: Network
    after: Network
    new: tuple[str, ...]
    title: str


@dataclass(frozen=True)
class _Judge:
    """What must hold in every state: the pairs of servers that there were in the beginning."""

    start: Reachability

    def stage(self, network: Network, title: str, spines: int, serving: Sequence[Node]) -> Stage:
        """Solve a state; spines: those that take traffic; serving: leaves that do."""
        solution = analyse(network)
        now = reachability_of(solution.trips)
        inside = {leaf.name for leaf in serving}
        found = widths(solution, inside)
        lost = sum(self._was(pair) for pair in now.lost_pairs())
        up = sum(session.status is SessionStatus.ESTABLISHED for session in solution.sessions)
        least = spines * min((leaf.links_per_pair or 1 for leaf in serving), default=1)
        wrong = [f"{counted(lost, 'server pair')} lost"] if lost else []
        if found and found[0] < least:
            wrong.append(f"ECMP width {found[0]} where {least} must be")
        return Stage(
            title=title,
            sessions=(up, len(solution.sessions)),
            in_service=(spines, len(serving)),
            widths=found,
            pairs=(now.delivered, now.pairs),
            lost=lost,
            wrong=tuple(wrong),
        )

    def _was(self, pair: Pair) -> bool:
        return self.start.servers.issuperset(pair) and self.start.delivers(*pair)


def staged(steps: Sequence[Step]) -> Staged:
    """Every state of a growth, judged; raises Refused where the routing engine refuses one."""
    first = _from_text(steps[0].before)
    judge = _Judge(reachability_of(analyse(first).trips))
    serving = first.role(Role.LEAF)
    spines = len(first.role(Role.SPINE))
    stages = [judge.stage(first, "as it is", spines, serving)]
    for step in steps:
        stages += _states(judge, step)
    drain, lift = _commands(steps[0])
    return Staged(fabric=first.name, stages=tuple(stages), drain=drain, lift=lift)


def _states(judge: _Judge, step: Step) -> Iterator[Stage]:
    old, final = step.before, _from_text(step.after)
    drained = _from_text(kept_from_traffic(step.after, step.new))
    old_devices = {node.name: node.device for node in old.nodes}
    waiting = drained.model_copy(
        update={
            "nodes": tuple(
                node.model_copy(update={"device": old_devices.get(node.name, node.device)})
                for node in drained.nodes
            )
        }
    )
    apart = [link for link in final.links or () if not _joins_old_and_new(link, step.new)]
    isolated = waiting.model_copy(update={"links": tuple(apart)})
    spines, leaves = len(old.role(Role.SPINE)), old.role(Role.LEAF)
    for state, word in ((isolated, ISOLATED), (waiting, CABLED), (drained, SESSIONS)):
        yield judge.stage(state, f"{step.title} {word}", spines, leaves)
    all_spines, all_leaves = len(final.role(Role.SPINE)), final.role(Role.LEAF)
    yield judge.stage(final, f"{step.title} {TRAFFIC}", all_spines, all_leaves)


def _joins_old_and_new(link: Link, new: Sequence[str]) -> bool:
    return (link.a.device in new) != (link.b.device in new)


def _from_text(network: Network) -> Network:
    """The Network with every Device as its text says it."""
    return read_back(network, render_all(network))


def kept_from_traffic(network: Network, names: Collection[str]) -> Network:
    """The network with some switches announcing nothing."""
    nodes = (
        node.model_copy(update={"device": _drained(node.device)}) if node.name in names else node
        for node in network.nodes
    )
    return network.model_copy(update={"nodes": tuple(nodes)})


def _drained(device: Device) -> Device:
    """A switch that announces nothing: each of its export policies denies first."""
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


def _commands(step: Step) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What keeps the first new switch from traffic, and what lets it come."""
    name = step.new[0]
    node = step.after.by_name[name]
    apart = kept_from_traffic(step.after, [name]).by_name[name]
    if node.family is None:
        return (), ()
    texts = render_node(node), render_node(apart)
    patch = dialect_of(node).patch(*texts, node.family)
    return patch.commands, patch.reverse
