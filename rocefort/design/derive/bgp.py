"""Derive the routing of a Device: BGP with its group, peers and announced prefixes."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network

from rocefort.design import allocation
from rocefort.design.derive import exits
from rocefort.design.derive.switch_context import Scope
from rocefort.models.device.routing import (
    Bgp,
    BgpGroup,
    BgpPeer,
    PolicyNode,
    PrefixEntry,
    PrefixList,
    RoutePolicy,
)
from rocefort.models.fabric.topology import Leaf, Switch

LOCAL = "LOCAL"  # prefix list of a leaf: its own prefixes
FABRIC = "FABRIC"  # prefix list of a spine: whole pools, so that growth does not change it
EXPORT = "EXPORT"
# Indexes of prefix list entries; a segment's is its VLAN, 2 to 4094.
OWN, SPINES, LEAVES = 1, 1, 4095


def bgp(scope: Scope) -> Bgp:
    """BGP process: one group for the other role, one peer for each link."""
    routing, switch, context = scope.fabric.routing, scope.switch, scope.context
    leaf, group = isinstance(switch, Leaf), _group(switch)
    scope.note("bgp", *scope.path, "id")
    scope.note("bgp.maximum_paths", "routing", "maximum_paths")
    _note_group(scope, f"bgp.groups[{group}]")
    if routing.authentication:
        scope.note(f"bgp.groups[{group}].password", "routing", "authentication")
    # AS paths to the outside differ between border leaves; spines and leaves use all of them.
    if relaxed := (leaf and context.spines_differ) or bool(context.exits):
        scope.note("bgp.as_path_relax", "routing")
    loopback = allocation.loopback(scope.fabric, switch)
    return Bgp(
        asn=allocation.asn(scope.fabric, switch),
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
            *_fabric_peers(scope),
            *exits.peers(scope),
        ),
        networks=(
            IPv4Network(loopback),
            *(g.network for _, g in scope.gateways),
            *exits.networks(scope),
        ),
        maximum_paths=routing.maximum_paths,
        as_path_relax=relaxed,
    )


def _group(switch: Switch) -> str:
    """Name of the group of the other role."""
    return "SPINE" if isinstance(switch, Leaf) else "LEAF"


def _note_group(scope: Scope, group: str) -> None:
    """Note the sources of a group's timers, each with its own line."""
    scope.note(group, "routing")
    for timer in ("keepalive_s", "hold_s", "bfd"):
        scope.note(f"{group}.{timer}", "routing", timer)
    scope.note(f"{group}.bfd_enabled", "routing", "bfd")
    for part in ("min_tx_ms", "min_rx_ms", "multiplier"):
        scope.note(f"{group}.bfd.{part}", "routing", "bfd", part)


def _fabric_peers(scope: Scope) -> Iterator[BgpPeer]:
    """Yield the peers at the far ends of its links; they are copies of one, for speed."""
    one = BgpPeer(address=IPv4Address(0), group=_group(scope.switch), active=True)
    for joint in scope.joints:
        _, far = joint.ends(scope.switch)
        address, text = allocation.host(int(far.address))
        scope.note(f"bgp.peers[{text}]", *joint.path)
        yield one.like(
            address=address,
            asn=allocation.asn(scope.fabric, far.switch),
            description=far.switch.name,
            password=joint.authentication.stated if joint.authentication else None,
        )


def announced_prefixes(scope: Scope) -> PrefixList:
    """Prefix list of announcements: a leaf's own prefixes, or on a spine whole pools."""
    scope.note("prefix_lists", "pools")
    if isinstance(scope.switch, Leaf):
        own = IPv4Network(allocation.loopback(scope.fabric, scope.switch))
        rows = [PrefixEntry(index=OWN, prefix=own)]
        for segment, gateway in scope.gateways:
            rows.append(PrefixEntry(index=segment.vlan or 0, prefix=gateway.network))
        rows += exits.passed_on(scope)
        return PrefixList(name=LOCAL, entries=tuple(rows))
    pools = scope.fabric.pools
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
        for segment in scope.fabric.segments
        if segment.vlan
    ]
    return PrefixList(name=FABRIC, entries=(*entries, *exits.passed_on(scope)))


def export_policy(switch: Switch) -> RoutePolicy:
    """Route-policy of the group, with the switch's one prefix list."""
    listed = LOCAL if isinstance(switch, Leaf) else FABRIC
    return RoutePolicy(name=EXPORT, nodes=(PolicyNode(node=10, match_prefix_list=listed),))
