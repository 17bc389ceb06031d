"""Trace of a flow between two ends, over every equal path of the embedded engine's tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from itertools import islice
from typing import Literal

from rocefort.models.device.packet_filters import Flow
from rocefort.models.network.exits import Exit
from rocefort.models.network.network import Sources
from rocefort.validators.routing.engine import Solution
from rocefort.validators.routing.external_peers import outside_name
from rocefort.validators.routing.forwarding import IN, OUT, Attachment, PathEnd, Step
from rocefort.validators.routing.underlay import DevicePlace, Port
from rocefort.validators.routing_results import Endpoint, FilterDecision, Hop, Trace, TracePath

MOST_PATHS = 256
DIRECTIONS: Mapping[str, Literal["inbound", "outbound"]] = {IN: "inbound", OUT: "outbound"}


def trace(
    solution: Solution,
    ends: tuple[Endpoint, Endpoint],
    flow: Flow,
    sources: Sources,
    down: tuple[str, ...] = (),
) -> Trace:
    """Every path of a flow, up to MOST_PATHS; down: failed parts of the solution, in words."""
    source, destination = ends
    tracer = _Tracer(solution, source, destination, flow, sources)
    some = list(islice(tracer.paths(), MOST_PATHS + 1))
    return Trace(
        source=source,
        destination=destination,
        flow=flow,
        down=down,
        paths=tuple(some[:MOST_PATHS]),
        whole=len(some) <= MOST_PATHS,
    )


@dataclass(frozen=True)
class _Tracer:
    """Trace of one flow through the tables."""

    solution: Solution
    source: Endpoint
    destination: Endpoint
    flow: Flow
    sources: Sources

    def paths(self) -> Iterator[TracePath]:
        """Every path, in order of next hops."""
        here, there = self._attached(self.source), self._attached(self.destination)
        if here is None:
            yield from self._entering()
            return
        first = Hop(device=here.port[0], enters=here.port[1], vlan=here.vlan)
        if here.down:
            yield self._ended((), here.down)
        elif there and there.down:
            yield self._ended((first,), there.down)
        elif there and here.beside(there):
            yield self._switched(first, here, there)
        elif here.no_gateway:
            yield self._ended((first,), here.no_gateway)
        else:
            judged = tuple(self._decisions(here, IN))
            first = first.model_copy(update={"gateway": here.svi, "judged": judged})
            if stop := self._denied(judged, here):
                yield self._ended((first,), stop)
            else:
                yield from self._on((), first)

    def _entering(self) -> Iterator[TracePath]:
        """Paths from a switch itself, or from outside through every exit that is up."""
        for device in self.source.devices:
            yield from self._on((), Hop(device=device))
        exits = [] if self.source.devices else list(self._exits.values())
        ways = [e for e in exits if (e.leaf, e.port) in self.solution.underlay.up]
        for exit_ in ways:
            yield from self._on((), Hop(device=exit_.leaf, enters=exit_.port))
        if exits and not ways:
            yield TracePath(hops=(), delivered=False, reason="no exit of the fabric is up")

    def _attached(self, end: Endpoint) -> Attachment | None:
        return self.solution.trips.attachments.get(end.name) if end.server else None

    def _switched(self, first: Hop, here: Attachment, there: Attachment) -> TracePath:
        if stop := here.switched(there):
            return self._ended((first,), stop)
        hop = first.model_copy(update={"by": "switched", "leaves": there.port[1]})
        return TracePath(hops=(hop,), delivered=True)

    @cached_property
    def _steps(self) -> list[Step]:
        forwarder = self.solution.trips.forwarder
        return forwarder.steps(forwarder.matching(self.destination.address))

    @cached_property
    def _exits(self) -> Mapping[str, Exit]:
        exits = self.solution.underlay.network.exits or ()
        return {outside_name(exit_): exit_ for exit_ in exits}

    def _on(self, before: tuple[Hop, ...], hop: Hop) -> Iterator[TracePath]:
        """Continue from a switch that packets have entered."""
        device, under = hop.device, self.solution.underlay
        if before and device in self._exits and not self.destination.devices:
            yield TracePath(hops=before, delivered=True, leaves_by=self._exits[device].name)
            return
        if any(device == seen.device for seen in before):
            names = [*(seen.device for seen in before), device]
            loop = " - ".join(names[names.index(device) :])
            yield self._ended(before, PathEnd(f"packets loop: {loop}", DevicePlace(device, "bgp")))
            return
        owners = () if self.destination.server else under.owners.get(self.destination.address, ())
        if any(device == name for name, _ in owners):
            yield TracePath(hops=(*before, hop), delivered=True)  # its own address
            return
        for prefix, own, learned in self._steps:
            if device in own:
                if port := under.connected[device].get(prefix):
                    yield self._arrived(
                        before,
                        hop.model_copy(update={"by": "connected", "prefix": prefix}),
                        (device, port),
                    )
                else:
                    yield from self._static(before, hop, prefix)
                return
            if hops := learned.get(device):
                route = {"by": "bgp", "prefix": prefix, "next_hops": hops}
                for next_hop in hops:
                    yield from self._out(before, hop.model_copy(update=route), next_hop)
                return
        subnet = self.destination.address
        yield self._ended(
            (*before, hop),
            PathEnd(f"{device} has no route to {subnet}", DevicePlace(device, "bgp")),
        )

    def _static(
        self, before: tuple[Hop, ...], hop: Hop, prefix: IPv4Network
    ) -> Iterator[TracePath]:
        under, device = self.solution.underlay, hop.device
        hops = under.static[device][prefix]
        addresses = tuple(h for h in hops if h is not None)
        hop = hop.model_copy(update={"by": "static", "prefix": prefix, "next_hops": addresses})
        peers = {e.peer: e for e in self._exits.values() if e.leaf == device}
        for next_hop in hops:
            if next_hop is None:
                stop = PathEnd(
                    f"{device} drops {prefix} (NULL0)", DevicePlace(device, "static_routes")
                )
                yield self._ended((*before, hop), stop)
            elif next_hop in peers and not self.destination.devices:
                last = self._towards(hop, next_hop)
                yield TracePath(
                    hops=(*before, last), delivered=True, leaves_by=peers[next_hop].name
                )
            elif next_hop not in under.owners:
                what = f"{device} sends {prefix} to {next_hop}, which no device has"
                yield self._ended(
                    (*before, hop), PathEnd(what, DevicePlace(device, "static_routes"))
                )
            else:
                yield from self._out(before, hop, next_hop)

    def _out(self, before: tuple[Hop, ...], hop: Hop, next_hop: IPv4Address) -> Iterator[TracePath]:
        device, port = self.solution.underlay.owners[next_hop][0]
        neighbour = self.solution.trips.forwarder.neighbours.get((hop.device, next_hop))
        if neighbour and neighbour != device:
            owners = self.solution.underlay.owners[next_hop]
            device, port = next(owner for owner in owners if owner[0] == neighbour)
        yield from self._on(
            (*before, self._towards(hop, next_hop)), Hop(device=device, enters=port)
        )

    def _towards(self, hop: Hop, next_hop: IPv4Address) -> Hop:
        connected = self.solution.underlay.connected[hop.device]
        leaves = next((port for subnet, port in connected.items() if next_hop in subnet), None)
        return hop.model_copy(update={"next_hop": next_hop, "leaves": leaves})

    def _arrived(self, before: tuple[Hop, ...], hop: Hop, port: Port) -> TracePath:
        """End of a path in a subnet of its last switch."""
        there = self._attached(self.destination)
        stop = PathEnd("", DevicePlace(port[0], interface=port[1]), port)
        if there is None:
            at = f"{' '.join(port)} has no {self.destination.address} behind it"
            return self._ended(
                (*before, hop), PathEnd(at, DevicePlace(port[0], f"interfaces[{port[1]}]", port[1]))
            )
        if missed := there.misses(stop):
            return self._ended((*before, hop), missed)
        judged = tuple(self._decisions(there, OUT))
        update = {"vlan": there.vlan, "gateway": there.svi, "judged": (*hop.judged, *judged)}
        hop = hop.model_copy(update=update)
        if denied := self._denied(judged, there):
            return self._ended((*before, hop), denied)
        last = hop.model_copy(update={"leaves": there.port[1]})
        return TracePath(hops=(*before, last), delivered=True)

    def _decisions(self, at: Attachment, field: str) -> Iterator[FilterDecision]:
        packet_filter = self.solution.trips.filters.get((at.port[0], at.svi, field))
        if packet_filter is None:
            return
        pair = self.source.address, self.destination.address
        rule, device = packet_filter.acl.first_match(*pair, self.flow), at.port[0]
        path = f"filters.acls[{packet_filter.acl.name}]" + (f".rules[{rule.index}]" if rule else "")
        yield FilterDecision(
            interface=at.svi,
            direction=DIRECTIONS[field],
            acl=packet_filter.acl.name,
            rule=rule.index if rule else None,
            permitted=packet_filter.denying(*pair, self.flow) is None,
            where=self.sources.where(device, path, at.svi),
        )

    def _denied(self, judged: tuple[FilterDecision, ...], at: Attachment) -> PathEnd | None:
        for one in judged:
            if not one.permitted:
                path = f"filters.acls[{one.acl}].rules[{one.rule}]"
                reason = f"rule {one.rule} of ACL {one.acl} on {at.port[0]} {at.svi} drops it"
                return PathEnd(reason, DevicePlace(at.port[0], path, at.svi))
        return None

    def _ended(self, hops: tuple[Hop, ...], stop: PathEnd) -> TracePath:
        where = self.sources.where(stop.place.device, stop.place.path, stop.place.interface)
        return TracePath(hops=hops, delivered=False, reason=stop.reason, where=where)
