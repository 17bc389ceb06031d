"""Graph of cables between switches, from BGP: each session over a port's subnet is a cable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

from rocefort.base.errors import BadInput, Problem
from rocefort.design.importing.assumptions import SwitchText
from rocefort.models.base import check_name, natural
from rocefort.models.device.interface import Interface
from rocefort.models.device.routing import BgpPeer
from rocefort.models.wording import count_of

LOOPBACK = "LoopBack0"


class NoFabricError(BadInput):
    """The texts are not those of one fabric of eBGP."""


@dataclass(frozen=True, slots=True)
class CableEnd:
    """End of a cable."""

    device: str
    port: Interface

    def __str__(self) -> str:
        return f"{self.device} {self.port.name}"


@dataclass(frozen=True, slots=True)
class ExternalSession:
    """Session with a peer that is in no text; port None: no port is in its subnet."""

    device: str
    peer: BgpPeer
    port: Interface | None


@dataclass(frozen=True)
class CablingGraph:
    """Switches by name, cables between them, and external sessions."""

    sources: Mapping[str, SwitchText]
    cables: tuple[tuple[CableEnd, CableEnd], ...]
    outward: tuple[ExternalSession, ...]

    def neighbours(self, name: str) -> list[str]:
        """Return the switches at the far ends of a switch's cables, each once."""
        names = dict.fromkeys(
            far.device
            for ends in self.cables
            for near, far in (ends, ends[::-1])
            if near.device == name
        )
        return list(names)


def connect(sources: Sequence[SwitchText]) -> CablingGraph:
    """Build the graph of sessions; raises BadInput if the texts are not those of one fabric."""
    ordered = sorted(sources, key=lambda source: natural(source.name))
    if not any(source.device.bgp for source in ordered):
        raise NoFabricError(
            f"nothing here looks like a fabric: none of {count_of(len(ordered), 'switch')} has BGP",
            how="give the texts of spines and leaves that peer by eBGP",
        )
    if problems := list(_names(ordered)):
        raise BadInput(problems=problems)
    if problems := list(_loopbacks(ordered)):
        raise NoFabricError(problems=problems)
    owners = {
        address.ip: CableEnd(source.name, port)
        for source in ordered
        for port in _ports(source)
        for address in port.addresses
    }
    cables: dict[frozenset[tuple[str, str]], tuple[CableEnd, CableEnd]] = {}
    outward: list[ExternalSession] = []
    for source in ordered:
        for peer in source.device.bgp.peers if source.device.bgp else ():
            own, far = _port_to(source, peer.address), owners.get(peer.address)
            if far is None:
                outward.append(ExternalSession(source.name, peer, own))
            elif own is not None and far.device != source.name:
                near = CableEnd(source.name, own)
                key = frozenset((tip.device, tip.port.name) for tip in (near, far))
                cables.setdefault(key, (near, far))
    by_name = {source.name: source for source in ordered}
    return CablingGraph(by_name, tuple(cables.values()), tuple(outward))


def _ports(source: SwitchText) -> Iterator[Interface]:
    """Yield interfaces that can be an end of a cable: routed and not logical."""
    yield from (i for i in source.device.interfaces if i.routed and not i.logical)


def _port_to(source: SwitchText, peer: IPv4Address) -> Interface | None:
    """Return the port with the subnet of a peer."""
    return next(
        (port for port in _ports(source) if any(peer in a.network for a in port.addresses)), None
    )


def loopback(source: SwitchText) -> IPv4Address | None:
    """Return the loopback address of a switch: that of LoopBack0, else its router id."""
    interface = source.device.by_interface.get(LOOPBACK)
    if interface and interface.addresses:
        return interface.addresses[0].ip
    return source.device.bgp.router_id if source.device.bgp else None


def _names(sources: Sequence[SwitchText]) -> Iterator[Problem]:
    for source in sources:
        try:
            check_name(source.name)
        except ValueError as error:
            yield Problem("sysname", str(error), file=source.file)


def _loopbacks(sources: Sequence[SwitchText]) -> Iterator[Problem]:
    first: dict[IPv4Address, SwitchText] = {}
    for source in sources:
        address = loopback(source)
        if address is not None and first.setdefault(address, source) is not source:
            other = first[address]
            yield Problem(
                "",
                f"{source.name} and {other.name} both have loopback {address}",
                f"the other text is {other.file}; each switch of a fabric has one of its own",
                source.file,
            )
