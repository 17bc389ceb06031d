"""External peers of exits, as additional switches, so that both engines verify exits alike.

The far end of an exit with BGP becomes a switch that announces the prefixes of the intent. Like an
unknown peer it also announces a default route, and probes that no policy may accept. The policies
of the text then decide which routes are accepted and announced.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Interface, IPv4Network

from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.device.routing import DEFAULT_ROUTE, Bgp, BgpPeer, StaticRoute
from rocefort.models.network.exits import Exit
from rocefort.models.network.network import End, Link, Network, Node

# RFC 5737: prefixes for documentation, which no site routes.
PROBES = tuple(IPv4Network(f"{prefix}.0/24") for prefix in ("203.0.113", "198.51.100"))


def outside_name(exit_: Exit) -> str:
    """Name of the switch that represents the far end of an exit."""
    return f"outside-{exit_.name}"


def with_outside(network: Network) -> Network:
    """Network with a switch behind each exit that has BGP; unchanged without such an exit."""
    exits = [
        exit_
        for exit_ in network.exits or ()
        if exit_.asn is not None
        and exit_.leaf in network.by_name
        and outside_name(exit_) not in network.by_name
    ]
    if not exits:
        return network
    links = network.links
    if links is not None:
        links = (*links, *(_cable(exit_) for exit_ in exits))
    nodes = (Node(device=_device(exit_, network)) for exit_ in exits)
    return network.model_copy(update={"nodes": (*network.nodes, *nodes), "links": links})


def probes(exit_: Exit, network: Network) -> tuple[IPv4Network, ...]:
    """Routes that an exit must not accept: foreign ones, and halves of the fabric's segments."""
    own = (other.announces for other in network.exits or ())
    halves = {next(p.subnets(1)) for prefixes in own for p in prefixes if p.prefixlen < 32}
    candidates = (*PROBES, *sorted(halves))
    return tuple(p for p in candidates if not any(p.overlaps(a.prefix) for a in exit_.accepts))


def offered_prefixes(exit_: Exit, network: Network) -> tuple[IPv4Network, ...]:
    """All prefixes that the far end of an exit announces."""
    accepted = tuple(accepted.prefix for accepted in exit_.accepts)
    return (DEFAULT_ROUTE, *accepted, *probes(exit_, network))


def _cable(exit_: Exit) -> Link:
    here = End(device=exit_.leaf, interface=exit_.port)
    return Link(
        a=here, b=End(device=outside_name(exit_), interface=exit_.port), cable_m=exit_.cable_m
    )


def _device(exit_: Exit, network: Network) -> Device:
    prefixes = tuple(dict.fromkeys(offered_prefixes(exit_, network)))
    there = IPv4Interface((int(exit_.peer), exit_.address.network.prefixlen))
    port = Interface(name=exit_.port, routed=True, addresses=(there,))
    return Device(
        name=outside_name(exit_),
        interfaces=(port,),
        static_routes=tuple(StaticRoute(prefix=prefix) for prefix in prefixes),
        bgp=Bgp(asn=exit_.asn or 0, peers=tuple(_peers(exit_, network)), networks=prefixes),
    )


def _peers(exit_: Exit, network: Network) -> Iterator[BgpPeer]:
    """Peer entries for the border leaf on the external switch, with the leaf's password."""
    bgp = network.by_name[exit_.leaf].device.bgp
    if bgp is None:
        return
    peer = next((p for p in bgp.peers if p.address == exit_.peer), None)
    password = bgp.settings(peer).password if peer else None
    yield BgpPeer(address=exit_.address.ip, asn=bgp.asn, password=password, active=True)
