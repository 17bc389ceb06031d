"""Routing configuration of a switch as texts of FRR's daemons, one for each daemon."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address

from jinja2 import Environment

from rocefort.base.errors import Problem
from rocefort.base.repository import TEMPLATES
from rocefort.base.templating import text_templates
from rocefort.dialects.frr.kernel import kernel_name
from rocefort.dialects.frr.state import Features
from rocefort.dialects.routing_problems import (
    list_problems,
    missing,
    name_problems,
    range_problems,
    rank_problems,
    session_problems,
)
from rocefort.models.base import NAME
from rocefort.models.device.device import Device
from rocefort.models.device.routing import (
    STATIC_PREFERENCE,
    Bgp,
    BgpPeer,
    BgpSettings,
    PrefixEntry,
    StaticRoute,
)

# Ranks after every static route: VRP's BGP has 255, which in FRR means that a route is not used.
BGP_DISTANCE = 254
SHORTEST_BFD_MS = 50  # minimum of bgpd
NAMES = "use letters, digits, '.', '_' and '-', and no address"


@dataclass(frozen=True, slots=True)
class FrrPeer:
    """Lines of a group or a peer: in the process, and in the IPv4 family."""

    name: str
    definition: tuple[str, ...]  # in order: the lines that define it
    lines: tuple[str, ...]
    family: tuple[str, ...]


def texts_of(device: Device, features: Features, *, bfd: bool) -> Iterator[tuple[str, str]]:
    """Yield the text of each daemon that the switch runs, in the order of their start."""
    yield "zebra", _render("zebra.j2", device=device)
    static = (route for route in device.static_routes if route.vrf is None or features.vrf)
    routes = [(kernel_name(r.vrf) if r.vrf else None, _static(r)) for r in static]
    if routes:
        yield "staticd", _render("staticd.j2", device=device, routes=routes)
    if (bgp := device.bgp) is None:
        return
    running = bfd and device.bfd
    if running and any(bgp.settings(peer).bfd_enabled for peer in bgp.peers):
        yield "bfdd", _render("bfdd.j2", device=device)
    yield (
        "bgpd",
        _render(
            "bgpd.j2",
            device=device,
            bgp=bgp,
            distance=BGP_DISTANCE,
            groups=[_group(group.name, group, running) for group in bgp.groups],
            peers=[_peer(bgp, peer, running) for peer in _speaking(bgp)],
            bounds=_bounds,
        ),
    )


def peers_of(device: Device) -> Iterator[str]:
    """Yield addresses of peers whose sessions can come up: those in the IPv4 family."""
    for peer in _speaking(device.bgp) if device.bgp else ():
        if device.bgp and device.bgp.settings(peer).active:
            yield str(peer.address)


@cache
def _templates() -> Environment:
    return text_templates(TEMPLATES / "frr")


def _render(template: str, **values: object) -> str:
    return _templates().get_template(template).render(**values)


def _static(route: StaticRoute) -> str:
    hop = "Null0" if route.next_hop is None else str(route.next_hop)
    return f"ip route {route.prefix} {hop} {route.preference or STATIC_PREFERENCE}"


def _speaking(bgp: Bgp) -> Iterator[BgpPeer]:
    """Yield peers with an AS number; a CloudEngine ignores others."""
    return (peer for peer in bgp.peers if _remote_as(bgp, peer) is not None)


def _remote_as(bgp: Bgp, peer: BgpPeer) -> str | None:
    group = bgp.group_of(peer)
    if (asn := bgp.settings(peer).asn) is not None:
        return str(asn)
    return "internal" if group is not None and not group.external else None


def _group(name: str, group: BgpSettings, bfd: bool) -> FrrPeer:
    internal = not getattr(group, "external", True)
    asn = "internal" if internal else group.asn
    definition = ("peer-group", *((f"remote-as {asn}",) if asn else ()))
    return FrrPeer(name, definition, tuple(_lines(group, bfd)), tuple(_family(group)))


def _peer(bgp: Bgp, peer: BgpPeer, bfd: bool) -> FrrPeer:
    """Return a peer, without settings that its group already has."""
    group = bgp.group_of(peer)
    settings, lent = bgp.settings(peer), _group("", group, bfd) if group else None
    own = f"remote-as {_remote_as(bgp, peer)}"
    joined = (f"peer-group {peer.group}",) if group else ()
    taken = lent is not None and len(lent.definition) > 1
    inherited, heard = (set(lent.lines), set(lent.family)) if lent else (set[str](), set[str]())
    return FrrPeer(
        str(peer.address),
        joined if taken else (own, *joined),
        tuple(line for line in _lines(settings, bfd) if line not in inherited),
        tuple(line for line in _family(settings) if line not in heard),
    )


def _lines(settings: BgpSettings, bfd: bool) -> Iterator[str]:
    if settings.description:
        yield f"description {settings.description}"
    if settings.keepalive_s is not None or settings.hold_s is not None:
        yield "timers {} {}".format(*settings.timers_s)
    yield "timers connect 1"  # a lab starts at once; the switch's own is 32 s
    if bfd and settings.bfd_enabled:
        yield _bfd(settings)


def _bfd(settings: BgpSettings) -> str:
    if settings.bfd is None:
        return "bfd 3 1000 1000"
    rx, tx = (max(ms, SHORTEST_BFD_MS) for ms in (settings.bfd.min_rx_ms, settings.bfd.min_tx_ms))
    return f"bfd {settings.bfd.multiplier} {rx} {tx}"


def _family(settings: BgpSettings) -> Iterator[str]:
    if settings.active:
        yield "activate"
    if settings.import_policy:
        yield f"route-map {settings.import_policy} in"
    if settings.export_policy:
        yield f"route-map {settings.export_policy} out"


def _bounds(entry: PrefixEntry) -> str:
    """Return `ge` and `le` of one entry; FRR requires `ge` above the prefix's own length."""
    low, high, length = *entry.lengths, entry.prefix.prefixlen
    above = f" ge {low}" if low > length else ""
    return above + (f" le {high}" if high > max(low, length) or (above and high < 32) else "")


def routing_problems(device: Device) -> Iterator[Problem]:
    """Yield causes of different routing: names, references, ranks, empty ranges."""
    if not _fits(device.name):
        yield Problem(f"{device.name} sysname {device.name!r}", "not one word of FRR", NAMES)
    yield from name_problems(device, "FRR", NAMES, _fits)
    yield from list_problems(device)
    yield from range_problems(device)
    yield from rank_problems(device, BGP_DISTANCE, "the twin")
    if (bgp := device.bgp) is not None:
        for peer in bgp.peers:
            yield from _peer_problems(device, bgp, peer)


def _fits(name: str) -> bool:
    return NAME.fullmatch(name) is not None and not _is_address(name)


def _is_address(name: str) -> bool:
    try:
        IPv4Address(name)
    except ValueError:
        return False
    return True


def _peer_problems(device: Device, bgp: Bgp, peer: BgpPeer) -> Iterator[Problem]:
    where = f"{device.name} peer {peer.address}"
    group = bgp.group_of(peer)
    if peer.group is not None and group is None:
        yield missing(where, f"group {peer.group}")
    if group and group.asn and peer.asn and group.asn != peer.asn:
        what = f"AS {peer.asn} is not that of its group {group.name}, {group.asn}"
        yield Problem(where, what, "give the number in one place")
    yield from session_problems(device, bgp, peer)
