"""Routing of an emulated switch: BGP sessions with hold timers, the public table, and `ping`.

The routing model lists at every moment which sessions match. A session that matches and receives
nothing (another password, segments that are too long for an MTU) stays up until the hold time is
over: "if the interval configured on both ends exceeds the holdtime of the BGP peer session or the
passwords configured on both ends are different, the BGP peer relationship is disconnected due to
timeout" (V300R023C00, `peer password`). An end whose peer has lost its address also waits, because
it receives no message. Events on the switch itself end a session at once: a port that goes down
(`ebgp-interface-sensitive`, on by default), an address of its own. So do messages of the other end
(Cease, RFC 4486): a peer that is removed or reset, another AS.

Of several next hops the first is taken. Filters and packet sizes are ignored. Replies of servers,
and of routers outside of the lab, are not modelled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import TYPE_CHECKING

from rocefort.base.errors import BadInput
from rocefort.dialects.vrp.text.secret_forms import cipher_of
from rocefort.emulator.state.ports import Config
from rocefort.emulator.switch.state_source import (
    EchoReply,
    EchoRequest,
    InterfaceState,
    RouteState,
    StateSource,
)
from rocefort.emulator.switch.switch import bgp_lines
from rocefort.models.device.device import Device
from rocefort.models.device.interface import kind_of, trunk_number
from rocefort.models.device.routing import NULL, STATIC_PREFERENCE

if TYPE_CHECKING:
    from rocefort.emulator.state.ports import Cabling
    from rocefort.emulator.switch.switch import EmulatedSwitch


def closed_peers(config: Config) -> frozenset[str]:
    """Return peers and groups that `peer .. ignore` closes."""
    words = map(str.split, bgp_lines(config))
    return frozenset(line[1] for line in words if line[0] == "peer" and line[2:] == ["ignore"])


def authentication(config: Config) -> Mapping[str, tuple[str, str]]:
    """Return the authentication of each peer: its kind, and the password as stored."""
    own: dict[str, tuple[str, str]] = {}
    groups: dict[str, str] = {}
    for words in map(str.split, bgp_lines(config)):
        if words[0] != "peer" or len(words) < 4:
            continue
        if words[2] == "group":
            groups[words[1]] = words[3]
        elif words[2] in ("password", "keychain"):
            own[words[1]] = words[2], cipher_of(words[-1])
    return {peer: own[group] for peer, group in groups.items() if group in own} | own


PeerEnd = tuple[str, str]  # switch, address of its peer
CONNECT_RETRY_S = 32  # V300R023C00, samples of `display bgp peer verbose`


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """A session that matches at both ends, by their running configurations.

    port: of the first end. hold_s: the lower one of both, 0 for never. mtus: of both ports, the
    smaller one first. burst_bytes: the most that one end has to send at once.
    """

    ends: tuple[PeerEnd, PeerEnd]
    port: tuple[str, str]
    authenticated: bool = True
    hold_s: int = 180
    mtus: tuple[int, int] = (1500, 1500)
    burst_bytes: int = 0


@dataclass(frozen=True, slots=True)
class EstablishedSession:
    """An established session: its agreed values, and since when its ends receive nothing.

    mtu: of its segments with their headers (RFC 6691: each end announces the MSS of its own MTU).
    """

    hold_s: int
    mtu: int
    silent_since: float | None = None
    retry_at: float | None = None  # the session has ended; time of the next attempt


@dataclass
class HoldTimers:
    """BGP sessions that are up now. changed: when a switch last changed, on the clock of `now`.

    established: sessions that are up. gone: for an end without a peer, its start and its hold time.
    """

    changed: Callable[[str], float]
    established: dict[tuple[PeerEnd, PeerEnd], EstablishedSession] = field(default_factory=dict)
    gone: dict[PeerEnd, tuple[float, int]] = field(default_factory=dict)

    def down(self, facts: Iterable[SessionFacts], now: float) -> tuple[SessionFacts, ...]:
        """Return sessions that match and are not up; forget those that no longer match."""
        before, down = dict(self.established), []
        self.established.clear()
        for session in facts:
            state = self._next(session, before.pop(session.ends, None), now)
            if state is not None:
                self.established[session.ends] = state
            if state is None or state.retry_at is not None:
                down.append(session)
        for ends, state in before.items():
            if state.retry_at is None:
                since = max(self.changed(switch) for switch, _ in ends)
                self.gone |= dict.fromkeys(ends, (since, state.hold_s))
        for session in facts:
            for end in session.ends:
                self.gone.pop(end, None)
        return tuple(down)

    def lingers(self, end: PeerEnd, now: float) -> bool:
        """Whether an end whose peer has lost its address still waits for it."""
        since, hold_s = self.gone.get(end, (0.0, -1))
        return hold_s == 0 or now - since < hold_s

    def _next(
        self, session: SessionFacts, state: EstablishedSession | None, now: float
    ) -> EstablishedSession | None:
        """Return the next state of a session that matches; None: it does not come up."""
        fresh = (
            EstablishedSession(session.hold_s, session.mtus[0]) if session.authenticated else None
        )
        if state is None or (state.retry_at is not None and now >= state.retry_at):
            return fresh
        if state.retry_at is not None:
            return state
        smaller, larger = session.mtus
        fits = min(state.mtu, larger, session.burst_bytes) <= smaller
        if session.authenticated and fits:
            return replace(state, silent_since=None)
        since = state.silent_since
        if since is None:
            since = max(self.changed(switch) for switch, _ in session.ends)
        if state.hold_s and now - since >= state.hold_s:
            return replace(state, retry_at=since + state.hold_s + CONNECT_RETRY_S)
        return replace(state, silent_since=since)


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


MOST_HOPS = 255
SENT_TTL = 255  # of a request (`ping -h`, default) and of a reply
TOOK_MS = 1  # the model has no delay


@dataclass(frozen=True, slots=True)
class PacketArrival:
    """End of a packet's path: its switch, the number of links, and the first interface."""

    switch: str
    links: int
    left_by: str = ""


@dataclass(frozen=True)
class PacketPaths:
    """Paths of packets through the lab; cabling None: not known."""

    state_source: StateSource
    switches: Mapping[str, EmulatedSwitch]
    cabling: Cabling | None

    def way(self, start: str, host: IPv4Address, first: str = "") -> PacketArrival | None:
        """Return the end of the path to a host, `first` the interface to leave by; None: lost."""
        current, left_by = start, ""
        for links in range(MOST_HOPS):
            if (
                str(host) in own_addresses(self.state_source.interfaces(current))
                or host.is_loopback
            ):
                return PacketArrival(current, links, left_by)
            hop = next_hop(self.state_source.routes(current), host, "" if links else first)
            if hop is None:
                return None
            address, out = hop
            left_by = left_by or out
            far = self._holder(current, out, address)
            if far is None:
                return None
            current = far
        return None

    def _holder(self, switch: str, out: str, address: IPv4Address) -> str | None:
        """Return the switch with an address behind an interface; None: no switch there has it."""
        ends = self._far_ends(switch, out)
        for port in ends:
            if port[0] not in self.switches:
                continue
            for state in self.state_source.interfaces(port[0]):
                local = kind_of(state.name) != "ethernet" or state.name == port[1] or not port[1]
                if local and str(address) in own_addresses([state]):
                    return port[0]
        if ends and all(port[0] in self.switches for port in ends):
            return None
        raise BadInput(f"the owner of {address} behind {out} of {switch} is not modelled")

    def _far_ends(self, switch: str, out: str) -> list[tuple[str, str]]:
        """Return the far ends of an interface's ports; for a VLAN those of all cabled ports."""
        if self.cabling is None:
            return [("", ""), *((name, "") for name in self.switches if name != switch)]
        states = {state.name: state for state in self.state_source.interfaces(switch)}
        ports = states[out].members if trunk_number(out) is not None else (out,)
        if kind_of(out) == "vlanif":
            ports = tuple(name for name, state in states.items() if not state.routed)
        ends = [(switch, port) for port in ports if states[port].physical == "up"]
        return [self.cabling[end] for end in ends if end in self.cabling]


def ping(
    state_source: StateSource,
    switches: Mapping[str, EmulatedSwitch],
    cabling: Cabling | None,
    switch: str,
    echo: EchoRequest,
) -> Sequence[EchoReply | None]:
    """Return replies to a ping. Raises BadInput for an address that is not modelled."""
    lost = [None] * echo.count
    paths = PacketPaths(state_source, switches, cabling)
    own = own_addresses(state_source.interfaces(switch))
    if echo.source is not None and str(echo.source) not in own:
        raise BadInput(f"{switch} has no address {echo.source} that is up")
    arrival = paths.way(switch, echo.host, echo.interface)
    if arrival is None or arrival.links > echo.ttl:
        return lost
    if not arrival.links:
        return [EchoReply(SENT_TTL, TOOK_MS)] * echo.count
    source = echo.source or next(
        iter(own_addresses(interface_states(state_source, switch, arrival.left_by))), None
    )
    returned = paths.way(arrival.switch, IPv4Address(source)) if source else None
    if returned is None or returned.switch != switch:
        return lost
    return [EchoReply(SENT_TTL - (returned.links - 1), TOOK_MS)] * echo.count


def interface_states(
    state_source: StateSource, switch: str, interface: str
) -> list[InterfaceState]:
    """Return one interface of a switch."""
    return [state for state in state_source.interfaces(switch) if state.name == interface]


def own_addresses(states: Sequence[InterfaceState]) -> dict[str, str]:
    """Return the addresses of interfaces that are up, with their interfaces."""
    up = [state for state in states if state.protocol == "up"]
    return {text.partition("/")[0]: state.name for state in up for text in state.addresses}


def next_hop(
    routes: Sequence[RouteState], host: IPv4Address, interface: str
) -> tuple[IPv4Address, str] | None:
    """Return the next hop of a packet and its outgoing interface; None: no route."""
    matches = [route for route in routes if host in route.prefix]
    for route in sorted(matches, key=lambda route: -route.prefix.prefixlen):
        for hop, out in route.hops:
            if interface in ("", out):
                gone = hop == SELF or out.startswith("NULL")
                direct = route.protocol == "Direct"
                return None if gone else (host if direct else IPv4Address(hop), out)
    return None
