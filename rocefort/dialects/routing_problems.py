"""What no other system routes as the switch does: references to nothing, empty ranges, sources."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.errors import Problem
from rocefort.models.bgp import Bgp, BgpPeer
from rocefort.models.device import Device
from rocefort.models.subnets import Subnets

DEFINE = "define it, or remove the reference"


def missing(where: str, what: str) -> Problem:
    """A reference to what is not there."""
    return Problem(where, f"{what} does not exist", DEFINE)


def range_problems(device: Device) -> Iterator[Problem]:
    """Entries of prefix lists that no route is in."""
    for item in device.prefix_lists:
        for entry in item.entries:
            low, high = entry.lengths
            if high < max(low, entry.prefix.prefixlen):
                where = f"{device.name} ip-prefix {item.name} index {entry.index}"
                what = f"no route is in {entry.prefix} and at most /{high} long"
                yield Problem(where, what, "use length <= greater-equal <= less-equal")


def list_problems(device: Device) -> Iterator[Problem]:
    """Prefix lists that route-policies name and that are not there."""
    # What VRP does with a missing list depends on `route-policy nonexistent-config-check`.
    known = {item.name for item in device.prefix_lists}
    for policy in device.route_policies:
        for node in policy.nodes:
            if node.match_prefix_list is not None and node.match_prefix_list not in known:
                where = f"{device.name} route-policy {policy.name} node {node.node}"
                yield missing(where, f"ip-prefix {node.match_prefix_list}")


def session_problems(device: Device, bgp: Bgp, peer: BgpPeer) -> Iterator[Problem]:
    """A source beside the link of a session, and route-policies of it that are not there."""
    where, settings = f"{device.name} peer {peer.address}", bgp.settings(peer)
    source = settings.source_interface and Subnets(device).other_source(peer.address, settings)
    if source:
        how = "let it start from the link, or leave the line out"
        yield Problem(where, f"its session starts from {source}, not from the link", how)
    known = {item.name for item in device.route_policies}
    for name in (settings.import_policy, settings.export_policy):
        if name is not None and name not in known:
            yield missing(where, f"route-policy {name}")
