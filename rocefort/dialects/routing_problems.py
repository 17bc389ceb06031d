"""Configuration that other systems route differently: missing references, empty ranges, sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rocefort.base.errors import Problem
from rocefort.models.device.device import Device, Subnets
from rocefort.models.device.routing import STATIC_PREFERENCE, Bgp, BgpPeer

DEFINE = "define it, or remove the reference"


def missing(where: str, what: str) -> Problem:
    """Return the problem of a reference to a missing object."""
    return Problem(where, f"{what} does not exist", DEFINE)


def name_problems(
    device: Device, system: str, how: str, fits: Callable[[str], object]
) -> Iterator[Problem]:
    """Yield names that are not one word of a system."""
    fields = {
        "ip-prefix": [item.name for item in device.prefix_lists],
        "route-policy": [item.name for item in device.route_policies],
        "group": [item.name for item in device.bgp.groups] if device.bgp else [],
        "vpn-instance": [item.name for item in device.vrfs],
    }
    for what, names in fields.items():
        for name in (name for name in names if not fits(name)):
            yield Problem(f"{device.name} {what} {name!r}", f"not one word of {system}", how)


def rank_problems(device: Device, distance: int, where_bgp: str) -> Iterator[Problem]:
    """Yield static routes that another system ranks differently from VRP, by its BGP distance."""
    for route in device.static_routes:
        if (route.preference or STATIC_PREFERENCE) >= distance:
            where = f"{device.name} ip route-static {route.key}"
            what = f"preference {route.preference} is not below that of BGP in {where_bgp}"
            yield Problem(where, what, f"use a preference below {distance}")


def range_problems(device: Device) -> Iterator[Problem]:
    """Yield entries of prefix lists that match no route."""
    for item in device.prefix_lists:
        for entry in item.entries:
            low, high = entry.lengths
            if high < max(low, entry.prefix.prefixlen):
                where = f"{device.name} ip-prefix {item.name} index {entry.index}"
                what = f"no route is in {entry.prefix} and at most /{high} long"
                yield Problem(where, what, "use length <= greater-equal <= less-equal")


def list_problems(device: Device) -> Iterator[Problem]:
    """Yield prefix lists that route-policies name and that are missing."""
    # VRP's handling of a missing list depends on `route-policy nonexistent-config-check`.
    names = {item.name for item in device.prefix_lists}
    for policy in device.route_policies:
        for node in policy.nodes:
            if node.match_prefix_list is not None and node.match_prefix_list not in names:
                where = f"{device.name} route-policy {policy.name} node {node.node}"
                yield missing(where, f"ip-prefix {node.match_prefix_list}")


def session_problems(device: Device, bgp: Bgp, peer: BgpPeer) -> Iterator[Problem]:
    """Yield a source outside the link of a session, and missing route-policies of it."""
    where, settings = f"{device.name} peer {peer.address}", bgp.settings(peer)
    source = settings.source_interface and Subnets(device).other_source(peer.address, settings)
    if source:
        how = "let it start from the link, or leave the line out"
        yield Problem(where, f"its session starts from {source}, not from the link", how)
    names = {item.name for item in device.route_policies}
    for name in (settings.import_policy, settings.export_policy):
        if name is not None and name not in names:
            yield missing(where, f"route-policy {name}")
