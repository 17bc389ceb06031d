"""How to take a switch out of traffic before it is touched, and what is left meanwhile."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from rocefort.dialects.choose import dialect_of
from rocefort.dialects.texts import render_node
from rocefort.dialects.words import in_words, line
from rocefort.errors import Refused
from rocefort.models.advice import AdviceStep
from rocefort.models.difference import Difference
from rocefort.models.fabric_nodes import ServerIntent
from rocefort.models.network import Network, Node, Role, Server
from rocefort.models.reachability import Reachability
from rocefort.models.wording import counted, listing
from rocefort.reports.wording import grouped, name_ranges
from rocefort.rollout.stages import kept_from_traffic
from rocefort.validators.bandwidth import widths
from rocefort.validators.routing import Solution, analyse
from rocefort.validators.rules.growth import uplink_gbps
from rocefort.validators.server_classes import reachability_of

MOST_JUDGED = 4  # drains that the routing engine solves: each costs as much as a verification
MOST_NAMED = 12


@dataclass(eq=False)
class Sight:
    """Both sides of a change, switches by the names of the head. `renames`: see `renames.py`.

    intents: servers as the fabric says them, for their owners. file: the fabric's, from the top.
    """

    before: Network
    after: Network
    change: Difference
    intents: Mapping[str, ServerIntent]
    renames: Mapping[str, str]
    file: str
    canary: str = ""
    solved: Solution | None = None  # the base, where it was verified
    retired: Collection[tuple[Role, int]] = ()  # ids that no other switch gets
    _solved: int = 0  # how often `drained` has asked the engine

    @cached_property
    def servers_on(self) -> Mapping[str, list[Server]]:
        """Servers of the base by their leaf."""
        return grouped(self.before.servers or (), lambda server: server.port.device)

    @cached_property
    def start(self) -> Reachability:
        """Who reaches whom at the base; raises Refused where the routing engine does."""
        return (self.solved or analyse(self.before)).state.reachability

    def drained(self, names: Collection[str]) -> Solution | None:
        """Routing with some switches drained; None where enough of them were solved."""
        if self._solved >= MOST_JUDGED:
            return None
        self._solved += 1
        return analyse(kept_from_traffic(self.before, names))


def names_of(names: Iterable[str]) -> str:
    """`leaf01 to leaf08 and leaf12`, the first few of a long list."""
    runs = list(name_ranges(names))
    more = len(runs) - MOST_NAMED
    return listing([*runs[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])])


def left_while(sight: Sight, spine: str, *, gone: Collection[str]) -> Iterator[str]:
    """What leaves keep while a spine is drained; gone: spines that left before."""
    base = _without(sight.before, gone)
    rest = _without(base, [spine])
    were, are = uplink_gbps(base), uplink_gbps(rest)
    counts, left = _counts(base), _counts(rest)
    leaves = [leaf.name for leaf in base.role(Role.LEAF) if counts[leaf.name] != left[leaf.name]]
    alike = grouped(
        leaves, lambda n: (counts[n], left[n], were.get(n), are.get(n, 0), _load(sight, n))
    )
    for (before, after, was, now, load), same in alike.items():
        who = names_of(same)
        keep = "keeps" if len(same) == 1 else "keep"
        if not after:
            yield f"While {spine} is drained, {who} {keep} no uplink: it cannot be drained."
            continue
        speed = f"{was} -> {now} Gb/s" if was is not None and now is not None else "speed not known"
        each = " each" if len(same) > 1 else ""
        text = f"While {spine} is drained, {who} {keep} {after} of {before} uplinks ({speed}{each})"
        yield text + _against_policy(sight, load, now)
    yield from _judged(sight, spine, gone)


def _without(network: Network, names: Collection[str]) -> Network:
    links = tuple(
        link for link in network.links or () if not {link.a.device, link.b.device} & {*names}
    )
    return network.model_copy(update={"links": links})


def _counts(network: Network) -> Mapping[str, int]:
    found = dict.fromkeys((node.name for node in network.nodes), 0)
    for link in network.links or ():
        for end in (link.a, link.b):
            found[end.device] += 1
    return found


def _load(sight: Sight, leaf: str) -> int:
    return sum(server.speed_gbps for server in sight.servers_on.get(leaf, ()))


def _against_policy(sight: Sight, load: int, now: int | None) -> str:
    if not now or not load:
        return "."
    limit = sight.before.oversubscription
    ratio = load / now
    allowed = f"; the policy allows {limit:g}" if limit else ""
    over = " It is exceeded." if limit and ratio > limit else ""
    return f", so {ratio:.2f} Gb/s of servers for each Gb/s of uplinks{allowed}.{over}"


def _judged(sight: Sight, spine: str, gone: Collection[str]) -> Iterator[str]:
    """ECMP width and lost pairs while it is drained, by the routing engine."""
    try:
        solution = sight.drained([*gone, spine])
        if solution is None:
            yield f"The routing engine judged {MOST_JUDGED} other drains, and not this one."
            return
        start = sight.start
    except Refused as error:
        yield f"What routing does meanwhile is not judged: {error}"
        return
    now = reachability_of(solution.trips)
    lost = sum(start.delivers(*pair) for pair in now.lost_pairs() if start.servers >= {*pair})
    found = widths(solution)
    width = f"ECMP width {'-'.join(map(str, dict.fromkeys(found)))}" if found else "no ECMP"
    pairs = f"{counted(lost, 'server pair')} lost" if lost else "no server pair lost"
    yield f"By the routing engine, meanwhile: {width}, {pairs}."


def drain_steps(node: Node) -> Iterator[AdviceStep]:
    """Let a switch announce nothing, wait until traffic has left it."""
    commands, back = drain_commands(node)
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


def drain_commands(node: Node) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Commands that drain a switch, and those that lift it; none where its syntax is not known."""
    if node.family is None:
        return (), ()
    only = Network(name="", origin="fabric", nodes=(node,))
    apart = kept_from_traffic(only, [node.name]).nodes[0]
    texts = render_node(node), render_node(apart)
    patch = dialect_of(node).patch(*texts, node.family)
    return typed(node, patch.commands), typed(node, patch.reverse)


def typed(node: Node, commands: Iterable[str]) -> tuple[str, ...]:
    """Commands as a person types them on a switch, committed."""
    entered = (command.rstrip() for command in commands)
    return (line(node, "configure"), *entered, line(node, "commit"), line(node, "leave"))


def drain_unconfirmed(node: Node) -> tuple[str, ...]:
    """What of a drain no source says for a switch's release."""
    return (
        in_words(
            f"That {node.software or 'its release'} withdraws routes as soon as a route-policy "
            "changes: an older command reference of data centre switches says so "
            "(«delay of new policies», 0 s by default). If PrefRcv stays above 0, type "
            f"«all routes announced again» on {node.name}.",
            node,
        ),
        (
            "Whether packets of a flow overtake each other when it moves to another spine: no "
            "source says; take it for a short loss to RDMA."
        ),
    )


def apply_steps(sight: Sight, what: str) -> AdviceStep:
    """Plan and apply the change."""
    fabric = sight.file
    return AdviceStep(
        text=what,
        commands=(
            f"rocefort plan {fabric} --connections FILE --out change.plan.json",
            "rocefort apply change.plan.json --connections FILE",
        ),
    )


def windows(sight: Sight, servers: Iterable[Server]) -> Iterator[str]:
    """Whom to ask, one sentence for each owner and window."""
    found = grouped(servers, lambda server: owner_of(sight, server.name))
    for (owner, window), same in found.items():
        names = names_of(server.name for server in same)
        yield f"{names}: owner {owner or 'not known'}, maintenance {window or 'not known'}"


def owner_of(sight: Sight, server: str) -> tuple[str | None, str | None]:
    """A server's owner and when they allow work."""
    intent = sight.intents.get(server)
    return (intent.owner, intent.maintenance) if intent else (None, None)
