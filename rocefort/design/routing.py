"""Routing parts of a Device: BGP with its group and peers, and what a switch announces."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network

from rocefort.design import allocate, border
from rocefort.design.context import Context
from rocefort.design.links import Joint
from rocefort.documents.read import YamlPath
from rocefort.models.bgp import (
    Bgp,
    BgpGroup,
    BgpPeer,
    PolicyNode,
    PrefixEntry,
    PrefixList,
    RoutePolicy,
)
from rocefort.models.fabric_nodes import Leaf, Switch

LOCAL = "LOCAL"  # prefix list: what a leaf announces
FABRIC = "FABRIC"  # prefix list: what a spine announces, by pool so that it does not grow
EXPORT = "EXPORT"
# Indexes of prefix list entries; a segment's is its VLAN, 2 to 4094.
OWN, SPINES, LEAVES = 1, 1, 4095


def bgp(context: Context, path: YamlPath, switch: Switch, joints: Sequence[Joint]) -> Bgp:
    """The BGP process: one group towards the other role, one peer a link."""
    routing, leaf = context.fabric.routing, isinstance(switch, Leaf)
    group = "SPINE" if leaf else "LEAF"
    context.note(switch.name, "bgp", *path, "id")
    context.note(switch.name, "bgp.maximum_paths", "routing", "maximum_paths")
    _note_group(context, switch.name, f"bgp.groups[{group}]")
    if routing.authentication:
        context.note(switch.name, f"bgp.groups[{group}].password", "routing", "authentication")
    # Over border leaves the AS paths to the outside differ: spines share them, and leaves after.
    if relaxed := (leaf and context.spines_differ) or context.has_exits:
        context.note(switch.name, "bgp.as_path_relax", "routing")
    loopback = allocate.loopback(context.fabric, switch)
    return Bgp(
        asn=allocate.asn(context.fabric, switch),
        router_id=loopback,
        groups=(
            BgpGroup(
                name=group,
                bfd_enabled=routing.bfd is not None,
                bfd=routing.bfd,
                keepalive_s=routing.keepalive_s,
                hold_s=routing.hold_s,
                password=routing.authentication.stated if routing.authentication else None,
                active=True,
                export_policy=EXPORT,
            ),
        ),
        peers=(
            *(_peer(context, switch, joint, group) for joint in joints),
            *border.peers(context, switch),
        ),
        networks=(
            IPv4Network(loopback),
            *(g.network for _, g in context.gateways(switch)),
            *border.networks(context, switch),
        ),
        maximum_paths=routing.maximum_paths,
        as_path_relax=relaxed,
    )


def _note_group(context: Context, name: str, group: str) -> None:
    """Timers of a group of peers, each from its own line."""
    context.note(name, group, "routing")
    for timer in ("keepalive_s", "hold_s", "bfd"):
        context.note(name, f"{group}.{timer}", "routing", timer)
    context.note(name, f"{group}.bfd_enabled", "routing", "bfd")
    for part in ("min_tx_ms", "min_rx_ms", "multiplier"):
        context.note(name, f"{group}.bfd.{part}", "routing", "bfd", part)


def _peer(context: Context, switch: Switch, joint: Joint, group: str) -> BgpPeer:
    _, far = joint.ends(switch)
    address, text = allocate.host(int(far.address))
    context.note(switch.name, f"bgp.peers[{text}]", *joint.path)
    own = joint.authentication
    return context.peer(
        switch,
        address=address,
        asn=allocate.asn(context.fabric, far.switch),
        group=group,
        description=far.switch.name,
        password=own.stated if own else None,
        active=True,
    )


def announced(context: Context, switch: Switch) -> PrefixList:
    """What may leave a switch: a leaf's own prefixes; on a spine whole pools."""
    context.note(switch.name, "prefix_lists", "pools")
    if isinstance(switch, Leaf):
        own = IPv4Network(allocate.loopback(context.fabric, switch))
        rows = [PrefixEntry(index=OWN, prefix=own)]
        for segment, gateway in context.gateways(switch):
            rows.append(PrefixEntry(index=segment.vlan or 0, prefix=gateway.network))
        rows += border.passed_on(context, switch)
        return PrefixList(name=LOCAL, entries=tuple(rows))
    pools = context.fabric.pools
    entries = [
        PrefixEntry(index=index, prefix=pool, greater_equal=32, less_equal=32)
        for index, pool in ((SPINES, pools.spine_loopbacks), (LEAVES, pools.leaf_loopbacks))
    ]
    entries += [
        PrefixEntry(
            index=segment.vlan,
            prefix=segment.prefix,
            greater_equal=segment.leaf_prefix_length,
            less_equal=segment.leaf_prefix_length,
        )
        for segment in context.fabric.segments
        if segment.vlan
    ]
    return PrefixList(name=FABRIC, entries=(*entries, *border.passed_on(context, switch)))


def export_policy(switch: Switch) -> RoutePolicy:
    """The route-policy of the group: the switch's one prefix list."""
    listed = LOCAL if isinstance(switch, Leaf) else FABRIC
    return RoutePolicy(name=EXPORT, nodes=(PolicyNode(node=10, match_prefix_list=listed),))
