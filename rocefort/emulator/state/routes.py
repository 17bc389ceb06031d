"""The public routing table of an emulated switch: connected, static and learned routes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from rocefort.emulator.switch.state_source import InterfaceState, RouteState
from rocefort.models.device.device import Device
from rocefort.models.device.static_routes import NULL, STATIC_PREFERENCE

LOOP = "InLoopBack0"
SELF = "127.0.0.1"
BGP_PREFERENCE = 255  # `preference`, V300R023C00: 255 for external, internal and local routes
# Routes of every switch (samples of `display ip routing-table`).
OWN = ("127.0.0.0/8", "127.0.0.1/32", "127.255.255.255/32", "255.255.255.255/32")


@dataclass(frozen=True, slots=True)
class BgpRoute:
    """A prefix that BGP learned, with all its next hops."""

    prefix: IPv4Network
    next_hops: tuple[IPv4Address, ...]
    external: bool = True


def table_of(
    device: Device, states: Sequence[InterfaceState], learned: Sequence[BgpRoute]
) -> list[RouteState]:
    """Return all routes in use, sorted by prefix: for one prefix the lowest preference wins."""
    up = {state.name for state in states if state.protocol == "up"}
    public = [i for i in device.interfaces if i.vrf is None and i.name in up]
    subnets = {address.network: i.name for i in public for address in i.addresses}
    table: dict[IPv4Network, RouteState] = {}
    for route in (
        *(route for i in public for a in i.addresses for route in _direct(a, i.name)),
        *(RouteState(IPv4Network(prefix), "Direct", 0, ((SELF, LOOP),)) for prefix in OWN),
        *_static(device, subnets),
        *_learned_routes(learned, subnets),
    ):
        other = table.get(route.prefix)
        if other is None or route.preference < other.preference:
            table[route.prefix] = route
        elif route.preference == other.preference and route.protocol == other.protocol == "Static":
            hops = (*other.hops, *route.hops)
            table[route.prefix] = RouteState(route.prefix, "Static", route.preference, hops)
    return [table[prefix] for prefix in sorted(table)]


def _direct(address: IPv4Interface, name: str) -> Iterator[RouteState]:
    network = address.network
    if network.prefixlen < 32:
        yield RouteState(network, "Direct", 0, ((str(address.ip), name),))
        if network.prefixlen < 31:
            last = IPv4Network(network.broadcast_address)
            yield RouteState(last, "Direct", 0, ((SELF, name),))
    yield RouteState(IPv4Network(address.ip), "Direct", 0, ((SELF, name),))


def _static(device: Device, subnets: Mapping[IPv4Network, str]) -> Iterator[RouteState]:
    for route in device.static_routes:
        out = NULL if route.next_hop is None else _towards(subnets, route.next_hop)
        if route.vrf is None and out is not None:
            hop = "0.0.0.0" if route.next_hop is None else str(route.next_hop)  # noqa: S104 - a row
            preference = route.preference or STATIC_PREFERENCE
            yield RouteState(route.prefix, "Static", preference, ((hop, out),))


def _learned_routes(
    learned: Sequence[BgpRoute], subnets: Mapping[IPv4Network, str]
) -> Iterator[RouteState]:
    for route in learned:
        hops = ((hop, _towards(subnets, hop)) for hop in route.next_hops)
        usable = tuple((str(hop), out) for hop, out in hops if out is not None)
        if usable:
            yield RouteState(
                route.prefix, "EBGP" if route.external else "IBGP", BGP_PREFERENCE, usable
            )


def _towards(subnets: Mapping[IPv4Network, str], hop: IPv4Address) -> str | None:
    """Return the interface of the longest connected subnet that holds a next hop."""
    for length in range(32, -1, -1):
        interface = subnets.get(IPv4Network((hop, length), strict=False))
        if interface is not None:
            return interface
    return None
