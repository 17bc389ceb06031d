"""State of every configured BGP session, with the reason and the line where it is not established.

The status words have Batfish's meaning (`bgpSessionStatus`). not-compatible: the two ends do not
match (wrong AS, no other end, no local address, an address that is down). not-established: they
match, and no cable joins them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from rocefort.models.device.device import Device, Subnets
from rocefort.models.device.interface import kind_of
from rocefort.models.device.routing import Bgp, BgpPeer, BgpSettings
from rocefort.models.network.network import Network, Sources, TextLine
from rocefort.validators.routing.underlay import DevicePlace, Port, Underlay, refuse
from rocefort.validators.routing_results import SessionStatus

_MISMATCH = SessionStatus.NOT_COMPATIBLE


@dataclass(frozen=True)
class ConfiguredSession:
    """State of one configured peer, from the side of its own device."""

    device: str
    peer: IPv4Address
    status: SessionStatus
    reason: str = ""  # empty when established
    place: DevicePlace | None = None  # position of the reason; it may be on the other device
    far: tuple[str, IPv4Address] | None = None  # the other end's key, when established


@dataclass(slots=True)
class _SessionEndState:
    """Peer with its effective settings and local address. Not frozen: there are 30,000 of them."""

    device: Device
    bgp: Bgp
    peer: BgpPeer
    settings: BgpSettings
    local: tuple[Port, IPv4Address] | None  # interface and address in the peer's subnet
    broadcast_of: IPv4Network | None = None  # the local subnet whose broadcast address the peer is
    closed_by: TextLine | None = None  # line outside the Device that closes the session

    @property
    def ready(self) -> bool:
        """Whether its own device tries to establish it."""
        is_host = self.broadcast_of is None
        return is_host and self.settings.active and self.settings.asn is not None

    def field(self, name: str = "") -> DevicePlace:
        return DevicePlace(self.device.name, f"bgp.peers[{self.peer.address}]{name}")


_Ends = Mapping[str, Mapping[int, _SessionEndState]]  # by device and address of the peer, ascending


@dataclass(frozen=True)
class Peerings:
    """Every configured peer, by device."""

    ends: _Ends
    all: tuple[ConfiguredSession, ...]  # sorted by device and address

    def settings(self, device: str, peer: IPv4Address) -> BgpSettings:
        """Effective settings of a peer."""
        return self.ends[device][int(peer)].settings


_Closed = Mapping[tuple[str, IPv4Address], TextLine]


def peerings(underlay: Underlay, sources: Sources, closed: _Closed | None = None) -> Peerings:
    """Every configured peer.

    closed: by device and peer, the line outside the Device that closes a session. Raises Refused
    for iBGP, for an undefined group and for sessions over anything but a routed port.
    """
    ends = {
        node.name: {int(end.peer.address): end for end in _ends(node.device, sources, closed or {})}
        for node in underlay.network.nodes  # in order of names
    }
    every = (end for own in ends.values() for end in own.values())
    return Peerings(ends, tuple(_session(end, ends, underlay, sources) for end in every))


def _ends(device: Device, sources: Sources, closed: _Closed) -> Iterator[_SessionEndState]:
    """Ends of one device in order of addresses; Refused for the first fault in the text."""
    bgp = device.bgp
    if bgp is None:
        return
    for group in bgp.groups:
        if not group.external:
            place = DevicePlace(device.name, f"bgp.groups[{group.name}]")
            raise refuse(f"group {group.name} is internal; iBGP is not modelled", place, sources)
    groups = {group.name for group in bgp.groups}
    table = Subnets(device)
    for peer in sorted(bgp.peers, key=lambda peer: int(peer.address)):
        match = next(table.of(peer.address), None)
        local = ((device.name, match[0]), match[1].ip) if match else None
        broadcast = match[1].network if match and _is_broadcast(peer.address, match[1]) else None
        line = closed.get((device.name, peer.address))
        end = _SessionEndState(device, bgp, peer, bgp.settings(peer), local, broadcast, line)
        if peer.group is not None and peer.group not in groups:
            what = f"peer {peer.address} is in group {peer.group}, which is not defined"
            raise refuse(what, end.field(".group"), sources)
        if source := table.other_source(peer.address, end.settings):
            what = f"the session with {peer.address} starts from {source}, not from their link"
            raise refuse(f"{what}; this is not modelled", end.field(".source_interface"), sources)
        yield end


def _is_broadcast(peer: IPv4Address, local: IPv4Interface) -> bool:
    """Whether a peer is the broadcast address of the local subnet: 31 and 32 bits have none."""
    length = local.network.prefixlen
    return length < 31 and int(peer) == int(local.network.broadcast_address)


def _session(
    end: _SessionEndState, ends: _Ends, underlay: Underlay, sources: Sources
) -> ConfiguredSession:
    far = _established_with(end, ends, underlay)
    if far is None:
        return _session_of(end, ends, underlay, sources)
    return ConfiguredSession(end.device.name, end.peer.address, SessionStatus.ESTABLISHED, far=far)


def _established_with(
    end: _SessionEndState, ends: _Ends, underlay: Underlay
) -> tuple[str, IPv4Address] | None:
    """Other end of a session without faults, as nearly all are; see `_session_of`."""
    if end.local is None or not end.ready:
        return None
    port, address = end.local
    owners = underlay.owners.get(end.peer.address, ())
    if len(owners) != 1 or port not in underlay.up or underlay.far.get(port) != owners[0]:
        return None
    name, interface = owners[0]
    other = ends[name].get(int(address))
    if other is None or name == end.device.name or not other.ready:
        return None
    if other.local != (owners[0], end.peer.address):
        return None
    asns = end.bgp.asn, other.bgp.asn
    if (other.settings.asn, end.settings.asn) != asns or asns[0] == asns[1]:
        return None
    wired = kind_of(port[1]) == "ethernet" and kind_of(interface) == "ethernet"
    return (name, address) if wired else None


def _session_of(
    end: _SessionEndState, ends: _Ends, underlay: Underlay, sources: Sources
) -> ConfiguredSession:
    """State of a peer, with its reason."""
    key = end.device.name, end.peer.address
    broken = _broken_here(end, underlay)
    if broken or end.local is None:
        return ConfiguredSession(*key, _MISMATCH, *(broken or _no_local(end)))
    port, address = end.local
    owners = [o for o in underlay.owners.get(end.peer.address, ()) if o[0] != end.device.name]
    matches: list[Port] = []
    reasons: list[tuple[str, DevicePlace]] = []
    for owner in owners:
        other = ends[owner[0]].get(int(address))
        if broken := _broken_there(end, address, owner, other, underlay.network):
            reasons.append(broken)
        else:
            _check_modelled(end, port, owner, underlay, sources)
            matches.append(owner)
    wired = [owner for owner in matches if underlay.far.get(port) == owner]
    if len(wired) == 1:
        far = wired[0][0], address
        return ConfiguredSession(*key, SessionStatus.ESTABLISHED, far=far)
    if len(matches) == 1:
        first, second = sorted((port, matches[0]))
        reason = f"no cable joins {' '.join(first)} and {' '.join(second)}"
        place = DevicePlace(first[0], f"interfaces[{first[1]}]", first[1])
        return ConfiguredSession(*key, SessionStatus.NOT_ESTABLISHED, reason, place)
    if matches:
        names = " and ".join(" ".join(owner) for owner in matches)
        return ConfiguredSession(*key, _MISMATCH, f"{end.peer.address} is on {names}", end.field())
    return ConfiguredSession(
        *key, _MISMATCH, *(reasons[0] if reasons else _no_owner(end, underlay))
    )


def _broken_here(end: _SessionEndState, underlay: Underlay) -> tuple[str, DevicePlace] | None:
    """Reason that the device's own text shows."""
    if end.local is None:
        return _no_local(end)
    if broken := _unfinished(end):
        return broken
    if end.local[0] not in underlay.up:
        return underlay.why_down(end.local[0])
    return None


def _unfinished(end: _SessionEndState) -> tuple[str, DevicePlace] | None:
    """Reason why its own device does not establish a peer."""
    name, address = end.device.name, end.peer.address
    if end.broadcast_of is not None and end.local is not None:
        what = f"{address} is the broadcast address of {end.broadcast_of} on {name}"
        port = end.local[0][1]
        return f"{what} {port}", DevicePlace(name, f"interfaces[{port}].addresses", port)
    if end.settings.asn is None:
        return f"{name} gives the peer {address} no AS number", end.field(".asn")
    if end.closed_by is not None:
        what = f"{name} closes it by `{end.closed_by.shown_text}`"
        return what, DevicePlace(name, f"unmodelled[{end.closed_by.line}]")
    if not end.settings.active:
        return f"{name} does not enable the peer {address} for IPv4", end.field(".active")
    return None


def _no_local(end: _SessionEndState) -> tuple[str, DevicePlace]:
    return f"no interface of {end.device.name} is in the subnet of {end.peer.address}", end.field()


def _no_owner(end: _SessionEndState, underlay: Underlay) -> tuple[str, DevicePlace]:
    """Reason why no device has the peer's address: it is down, or it does not exist."""
    for node in underlay.network.nodes:
        for interface in node.device.interfaces if node.name != end.device.name else ():
            port = node.name, interface.name
            unused = port not in underlay.up or not interface.layer3
            if unused and end.peer.address in {address.ip for address in interface.addresses}:
                return underlay.why_down(port)
    return f"no other switch has the address {end.peer.address}", end.field()


def _broken_there(
    end: _SessionEndState,
    address: IPv4Address,
    owner: Port,
    other: _SessionEndState | None,
    network: Network,
) -> tuple[str, DevicePlace] | None:
    """Reason why the owner of the peer's address is not the other end of this session."""
    name = owner[0]
    bgp = network.by_name[name].device.bgp
    if bgp is None:
        return f"{name} runs no BGP", DevicePlace(name)
    if end.settings.asn != bgp.asn:
        reason = f"{end.device.name} expects AS {end.settings.asn}, {name} is AS {bgp.asn}"
        return reason, end.field(".asn")
    if other is None:
        return f"{name} has no peer {address}", DevicePlace(name, "bgp.peers")
    if broken := _unfinished(other) or _elsewhere(other, owner):
        return broken
    if other.settings.asn != end.bgp.asn:
        reason = f"{name} expects AS {other.settings.asn}, {end.device.name} is AS {end.bgp.asn}"
        return reason, other.field(".asn")
    return None


def _elsewhere(other: _SessionEndState, owner: Port) -> tuple[str, DevicePlace] | None:
    """Reason why an end uses another port than the owner of its peer's address."""
    if other.local is None:
        return _no_local(other)
    port = other.local[0]
    if port == owner:
        return None
    return f"{port[0]} reaches {other.peer.address} by {port[1]}", other.field()


def _check_modelled(
    end: _SessionEndState, port: Port, owner: Port, underlay: Underlay, sources: Sources
) -> None:
    if end.settings.asn == end.bgp.asn:
        raise refuse(
            f"peer {end.peer.address} is in the same AS {end.bgp.asn}; iBGP is not modelled",
            end.field(".asn"),
            sources,
        )
    kinds = {underlay.interface(side).kind for side in (port, owner)}
    if kinds != {"ethernet"}:
        what = f"peer {end.peer.address} is reached by {port[1]} and {' '.join(owner)}"
        how = "peer over routed ports: sessions over anything else are not modelled"
        raise refuse(what, end.field(), sources, how)
