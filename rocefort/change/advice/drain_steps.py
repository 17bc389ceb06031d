"""Drain a switch before a change: the steps, and the remaining capacity."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from rocefort.base.errors import Refused
from rocefort.change.effects.drain import (
    RemainingCapacity,
    Uplinks,
    drain_commands,
    remaining_capacity,
    uplinks_without,
    with_drained,
)
from rocefort.change.results import AdviceStep, FabricDifference
from rocefort.dialects.words import in_words, line
from rocefort.models.fabric.topology import ServerIntent
from rocefort.models.network.network import Network, Node, Server, SwitchRole
from rocefort.models.wording import listing
from rocefort.reports.wording import group_items, name_ranges
from rocefort.validators.routing.engine import Solution, analyse
from rocefort.validators.routing_results import Reachability

MOST_JUDGED = 4  # drains that the routing engine solves: each costs as much as a verification
MOST_NAMED = 12
PLAN_REFUSES = "`plan` refuses names that the fabric does not have"


@dataclass(eq=False)
class DrainStudy:
    """Both sides of a change, switches and servers by their names at the head.

    renames, server_renames: see `renames.py`.

    intents: servers of the fabric's YAML, for their owners. file: the fabric's path from the top.
    """

    before: Network
    after: Network
    change: FabricDifference
    intents: Mapping[str, ServerIntent]
    renames: Mapping[str, str]
    server_renames: Mapping[str, str]
    file: str
    canary: str = ""
    solved: Solution | None = None  # the base, where it was verified
    retired: Collection[tuple[SwitchRole, int]] = ()  # ids that are never reused
    _solved: int = 0  # number of runs of the engine by `drained`

    @cached_property
    def servers_on(self) -> Mapping[str, list[Server]]:
        """Servers of the base by their leaf."""
        return group_items(self.before.servers or (), lambda server: server.port.device)

    @cached_property
    def start(self) -> Reachability:
        """Reachability matrix of the base; raises Refused as the routing engine does."""
        return (self.solved or analyse(self.before)).state.reachability

    def drained(self, names: Collection[str]) -> RemainingCapacity | None:
        """Remaining capacity with some switches drained; None after MOST_JUDGED runs."""
        if self._solved >= MOST_JUDGED:
            return None
        self._solved += 1
        return remaining_capacity(analyse(with_drained(self.before, names)), self.start)


def names_of(names: Iterable[str]) -> str:
    """Short form of names: `leaf01 to leaf08 and leaf12`, at most MOST_NAMED items."""
    runs = list(name_ranges(names))
    more = len(runs) - MOST_NAMED
    return listing([*runs[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])])


def left_while(sight: DrainStudy, spine: str, *, gone: Collection[str]) -> Iterator[str]:
    """Remaining uplinks of leaves while a spine is drained; gone: spines already removed."""
    uplinks = uplinks_without(sight.before, spine, gone)
    leaves = [name for name, each in uplinks.items() if each.links != each.links_left]
    for each, same in group_items(leaves, uplinks.__getitem__).items():
        who = names_of(same)
        keep = "keeps" if len(same) == 1 else "keep"
        if not each.links_left:
            yield f"While {spine} is drained, {who} {keep} no uplink: it cannot be drained."
            continue
        was, now = each.gbps, each.gbps_left
        speed = f"{was} -> {now} Gb/s" if was is not None and now is not None else "speed not known"
        alike = " each" if len(same) > 1 else ""
        links = f"{each.links_left} of {each.links} uplinks ({speed}{alike})"
        against = _against_policy(each, sight.before.oversubscription)
        yield f"While {spine} is drained, {who} {keep} {links}{against}"
    yield from _drain_impact(sight, spine, gone)


def _against_policy(uplinks: Uplinks, limit: float | None) -> str:
    load, now = uplinks.load_gbps, uplinks.gbps_left
    if not now or not load:
        return "."
    allowed = f"; the policy allows {limit:g}" if limit else ""
    over = " It is exceeded." if uplinks.exceeds(limit) else ""
    return f", so {load / now:.2f} Gb/s of servers for each Gb/s of uplinks{allowed}.{over}"


def _drain_impact(sight: DrainStudy, spine: str, gone: Collection[str]) -> Iterator[str]:
    """ECMP width and lost pairs during the drain, by the routing engine."""
    try:
        remaining = sight.drained([*gone, spine])
    except Refused as error:
        yield f"Routing during the drain is not judged: {error}"
        return
    if remaining is None:
        yield f"The routing engine judged {MOST_JUDGED} other drains, and not this one."
    else:
        yield f"By the routing engine, meanwhile: {remaining}."


def drain_steps(node: Node) -> Iterator[AdviceStep]:
    """Steps that withdraw a switch's routes and wait until its traffic has ended."""
    commands, back = drain_commands(node)
    if node.family is not None:
        commands, back = typed(node, commands), typed(node, back)
    yield AdviceStep(
        text=f"Drain {node.name}: it announces nothing, and its neighbours send nothing through "
        "it; it keeps its own routes, so what is under way still arrives.",
        on=node.name,
        commands=commands,
        back=back,
    )
    yield AdviceStep(
        text=in_words(
            "Wait until it carries nothing: no prefixes from it at its neighbours "
            "(«state of BGP peers», PrefRcv 0), and its ports idle.",
            node,
        ),
        on=node.name,
        commands=(line(node, "ports in brief"),),
    )


def typed(node: Node, commands: Iterable[str]) -> tuple[str, ...]:
    """Commands as typed on a switch, from configuration mode to commit."""
    entered = (command.rstrip() for command in commands)
    return (line(node, "configure"), *entered, line(node, "commit"), line(node, "leave"))


def drain_unconfirmed(node: Node) -> tuple[str, ...]:
    """Unconfirmed behaviour of a drain for a switch's release."""
    return (
        in_words(
            f"That {node.software or 'its release'} withdraws routes as soon as a route-policy "
            "changes: an older command reference of data centre switches states it "
            "(«delay of new policies», 0 s by default). If PrefRcv stays above 0, type "
            f"«all routes announced again» on {node.name}.",
            node,
        ),
        (
            "Whether packets of a flow overtake each other when it moves to another spine: no "
            "source states it; expect a short loss for RDMA."
        ),
    )


def connections_step(names: Iterable[str]) -> AdviceStep:
    """Step that takes removed switches and servers out of the connections file."""
    return AdviceStep(text=f"Take {names_of(names)} out of the connections file: {PLAN_REFUSES}.")


def apply_steps(sight: DrainStudy, what: str) -> AdviceStep:
    """Step that plans and applies the change."""
    fabric = sight.file
    return AdviceStep(
        text=what,
        commands=(
            f"rocefort plan {fabric} --connections FILE --out change.plan.json",
            "rocefort apply change.plan.json --connections FILE",
        ),
    )


def windows(sight: DrainStudy, servers: Iterable[Server]) -> Iterator[str]:
    """Owners to ask, one sentence for each owner and maintenance window."""
    by_owner = group_items(servers, lambda server: owner_of(sight, server.name))
    for (owner, window), same in by_owner.items():
        names = names_of(server.name for server in same)
        yield f"{names}: owner {owner or 'not known'}, maintenance {window or 'not known'}"


def owner_of(sight: DrainStudy, server: str) -> tuple[str | None, str | None]:
    """Owner and maintenance window of a server."""
    intent = sight.intents.get(server)
    return (intent.owner, intent.maintenance) if intent else (None, None)
