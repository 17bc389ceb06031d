"""Which configured BGP peers of a Network come up, and if not, why and whose line says so.

The status words have Batfish's meaning (`bgpSessionStatus`): not-compatible when the two ends do
not match (wrong AS, no other end, no local address, an address that is down), not-established
when they match and no cable joins them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from rocefort.models.bgp import Bgp, BgpPeer, BgpSettings
from rocefort.models.device import Device
from rocefort.models.network import Network, Sources
from rocefort.models.routing import SessionStatus
from rocefort.validators.prefix_table import PrefixTable
from rocefort.validators.underlay import Place, Port, Underlay, refuse

_MISMATCH = SessionStatus.NOT_COMPATIBLE


@dataclass(frozen=True)
class Session:
    """One configured peer as its own device sees it."""

    device: str
    peer: IPv4Address
    status: SessionStatus
    reason: str = ""  # empty when established
    place: Place | None = None  # where the reason stands; it may be the other device
    far: tuple[str, IPv4Address] | None = None  # the other end's key, when established


@dataclass(slots=True)
class _End:
    """A peer with what its device makes of it. Not frozen: there are 30,000 of them."""

    device: Device
    bgp: Bgp
    peer: BgpPeer
    settings: BgpSettings
    local: tuple[Port, IPv4Address] | None  # interface and address in the peer's subnet

    def place(self, field: str = "") -> Place:
        return Place(self.device.name, f"bgp.peers[{self.peer.address}]{field}")


_Ends = Mapping[tuple[str, IPv4Address], _End]


def sessions(underlay: Underlay, sources: Sources) -> tuple[Session, ...]:
    """Every configured peer, sorted by device and address.

    Raises Refused for iBGP, for an undefined group and for sessions over anything but a routed
    port.
    """
    ends = {
        (end.device.name, end.peer.address): end
        for node in underlay.network.nodes
        for end in _ends(node.device, sources)
    }
    return tuple(_session(ends[key], ends, underlay, sources) for key in sorted(ends, key=_order))


def _order(key: tuple[str, IPv4Address]) -> tuple[str, int]:
    return key[0], int(key[1])  # Python's library compares addresses more slowly than numbers


def _ends(device: Device, sources: Sources) -> Iterator[_End]:
    bgp = device.bgp
    if bgp is None:
        return
    for group in bgp.groups:
        if not group.external:
            place = Place(device.name, f"bgp.groups[{group.name}]")
            raise refuse(f"group {group.name} is internal; iBGP is not modelled", place, sources)
    groups = {group.name for group in bgp.groups}
    subnets = _subnets(device)
    table = PrefixTable(subnets)
    for peer in bgp.peers:
        local: tuple[Port, IPv4Address] | None = None
        for subnet in table.holding(peer.address)[:1]:  # the longest
            name, address = subnets[subnet]
            local = (device.name, name), address
        end = _End(device, bgp, peer, bgp.settings(peer), local)
        if peer.group is not None and peer.group not in groups:
            what = f"peer {peer.address} is in group {peer.group}, which is not defined"
            raise refuse(what, end.place(".group"), sources)
        yield end


def _subnets(device: Device) -> dict[IPv4Network, tuple[str, IPv4Address]]:
    """Interface and address by subnet; shut interfaces too."""
    return {
        address.network: (interface.name, address.ip)
        for interface in device.interfaces
        if interface.layer3
        for address in interface.addresses
    }


def _session(end: _End, ends: _Ends, underlay: Underlay, sources: Sources) -> Session:
    key = end.device.name, end.peer.address
    broken = _broken_here(end, underlay)
    if broken or end.local is None:
        return Session(*key, _MISMATCH, *(broken or _no_local(end)))
    port, address = end.local
    owners = [o for o in underlay.owners.get(end.peer.address, ()) if o[0] != end.device.name]
    matches: list[Port] = []
    reasons: list[tuple[str, Place]] = []
    for owner in owners:
        other = ends.get((owner[0], address))
        if broken := _broken_there(end, address, owner[0], other, underlay.network):
            reasons.append(broken)
        else:
            _check_modelled(end, port, owner, underlay, sources)
            matches.append(owner)
    wired = [owner for owner in matches if underlay.far.get(port) == owner]
    if len(wired) == 1:
        far = wired[0][0], address
        return Session(*key, SessionStatus.ESTABLISHED, far=far)
    if len(matches) == 1:
        first, second = sorted((port, matches[0]))
        reason = f"no cable joins {' '.join(first)} and {' '.join(second)}"
        place = Place(first[0], f"interfaces[{first[1]}]", first[1])
        return Session(*key, SessionStatus.NOT_ESTABLISHED, reason, place)
    if matches:
        names = " and ".join(" ".join(owner) for owner in matches)
        return Session(*key, _MISMATCH, f"{end.peer.address} is on {names}", end.place())
    return Session(*key, _MISMATCH, *(reasons[0] if reasons else _no_owner(end, underlay)))


def _broken_here(end: _End, underlay: Underlay) -> tuple[str, Place] | None:
    """What the device's own text is enough to tell."""
    if end.local is None:
        return _no_local(end)
    if broken := _unfinished(end):
        return broken
    if end.local[0] not in underlay.up:
        return underlay.why_down(end.local[0])
    return None


def _unfinished(end: _End) -> tuple[str, Place] | None:
    """A peer that its own device does not bring up."""
    name, address = end.device.name, end.peer.address
    if end.settings.asn is None:
        return f"{name} gives the peer {address} no AS number", end.place(".asn")
    if not end.settings.active:
        return f"{name} does not enable the peer {address} for IPv4", end.place(".active")
    return None


def _no_local(end: _End) -> tuple[str, Place]:
    return f"no interface of {end.device.name} is in the subnet of {end.peer.address}", end.place()


def _no_owner(end: _End, underlay: Underlay) -> tuple[str, Place]:
    """Nobody answers at the peer's address: somebody's is down, or nobody has it."""
    for node in underlay.network.nodes:
        for interface in node.device.interfaces if node.name != end.device.name else ():
            port = node.name, interface.name
            unused = port not in underlay.up or not interface.layer3
            if unused and end.peer.address in {address.ip for address in interface.addresses}:
                return underlay.why_down(port)
    return f"no other switch has the address {end.peer.address}", end.place()


def _broken_there(
    end: _End, address: IPv4Address, name: str, other: _End | None, network: Network
) -> tuple[str, Place] | None:
    """Why the owner of the peer's address is not the other end of this session."""
    bgp = network.by_name[name].device.bgp
    if bgp is None:
        return f"{name} runs no BGP", Place(name)
    if end.settings.asn != bgp.asn:
        reason = f"{end.device.name} expects AS {end.settings.asn}, {name} is AS {bgp.asn}"
        return reason, end.place(".asn")
    if other is None:
        return f"{name} has no peer {address}", Place(name, "bgp.peers")
    if broken := _unfinished(other):
        return broken
    if other.settings.asn != end.bgp.asn:
        reason = f"{name} expects AS {other.settings.asn}, {end.device.name} is AS {end.bgp.asn}"
        return reason, other.place(".asn")
    return None


def _check_modelled(
    end: _End, port: Port, owner: Port, underlay: Underlay, sources: Sources
) -> None:
    if end.settings.asn == end.bgp.asn:
        raise refuse(
            f"peer {end.peer.address} is in the same AS {end.bgp.asn}; iBGP is not modelled",
            end.place(".asn"),
            sources,
        )
    kinds = {underlay.interface(side).kind for side in (port, owner)}
    if kinds != {"ethernet"}:
        what = f"peer {end.peer.address} is reached by {port[1]} and {' '.join(owner)}"
        how = "peer over routed ports: sessions over anything else are not modelled"
        raise refuse(what, end.place(), sources, how)
