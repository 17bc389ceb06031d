"""Packets between gateways: from each switch to every segment of the others, by every path.

A network without known servers still has gateways. A packet to each subnet, and to each part of it
that any table routes apart, has to end at the gateway of its own switch.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Network

from rocefort.models.device.device import Device
from rocefort.models.device.interface import kind_of
from rocefort.validators.routing.forwarding import Forwarder, PacketOrigins, PathEnd
from rocefort.validators.routing.underlay import DevicePlace, Underlay


@dataclass(frozen=True)
class Gateway:
    """Gateway of a segment: the only interface with its subnet."""

    device: str
    interface: str
    subnet: IPv4Network


@dataclass(frozen=True)
class LostSegment:
    """Segment that a switch does not reach by every path, with the end of one lost branch."""

    source: str
    gateway: Gateway
    end: PathEnd


@dataclass(frozen=True)
class GatewayJourneys:
    """Packets from every switch with a gateway to the segments of the others."""

    underlay: Underlay
    forwarder: Forwarder

    @cached_property
    def gateways(self) -> tuple[Gateway, ...]:
        """Gateways that are up, on switches with a cable to another one.

        A subnet on several switches is left out, and so is one between its switch and a router.
        """
        owners: defaultdict[IPv4Network, list[tuple[str, str]]] = defaultdict(list)
        for name in dict.fromkeys(device for device, _ in self.underlay.far):
            device = self.underlay.network.by_name[name].device
            for subnet, interface in self.underlay.connected[name].items():
                if kind_of(interface) == "vlanif" and not _leads_out(device, subnet):
                    owners[subnet].append((name, interface))
        own = ((*ports[0], subnet) for subnet, ports in owners.items() if len(ports) == 1)
        return tuple(sorted((Gateway(*each) for each in own), key=_order))

    @cached_property
    def by_device(self) -> Counter[str]:
        """Number of gateways of each switch that has any; packets start there."""
        return Counter(gateway.device for gateway in self.gateways)

    @property
    def pairs(self) -> int:
        """Number of ordered pairs of segments on different switches."""
        return sum(self.by_device.total() * own - own * own for own in self.by_device.values())

    @property
    def delivered(self) -> int:
        """Number of pairs whose packets are delivered by every path."""
        return self.pairs - sum(self.by_device[lost.source] for lost in self.lost)

    @cached_property
    def lost(self) -> tuple[LostSegment, ...]:
        """Segments that a switch with a gateway does not reach by every path."""
        starts = PacketOrigins(tuple(self.by_device))
        return tuple(lost for gateway in self.gateways for lost in self._lost_to(gateway, starts))

    def _lost_to(self, gateway: Gateway, starts: PacketOrigins) -> Iterator[LostSegment]:
        """Sources that miss an address of a subnet, in their order, each with the first one."""
        lost: dict[str, LostSegment] = {}
        for address in self.forwarder.prefixes.parts(gateway.subnet):
            for ends, devices in self.forwarder.by_ends(starts, address):
                wrong = [end for end in ends if end.port != (gateway.device, gateway.interface)]
                if not wrong:
                    continue
                end = min(map(_cause, wrong), key=lambda end: end.reason)
                for source in devices:
                    if source != gateway.device:
                        lost.setdefault(source, LostSegment(source, gateway, end))
        yield from (lost[name] for name in starts.devices if name in lost)


def _order(gateway: Gateway) -> tuple[str, IPv4Network]:
    return gateway.device, gateway.subnet


def _leads_out(device: Device, subnet: IPv4Network) -> bool:
    """Whether a subnet that BGP does not announce has another router: a peer or a next hop."""
    if device.bgp is not None and subnet in device.bgp.networks:
        return False
    hops = [route.next_hop for route in device.static_routes if route.next_hop]
    peers = [peer.address for peer in device.bgp.peers] if device.bgp else []
    return any(address in subnet for address in (*hops, *peers))


def _cause(end: PathEnd) -> PathEnd:
    """Reason of an end at another switch or port, or without a route."""
    if end.port is not None:
        place = DevicePlace(end.port[0], f"interfaces[{end.port[1]}]", end.port[1])
        return PathEnd(f"packets end at {' '.join(end.port)}", place)
    return end
