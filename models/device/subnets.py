"""Lookup of a switch's interfaces by the subnet of a neighbour."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Interface

from rocefort.models.device.device import Device
from rocefort.models.device.routing import BgpSettings


class Subnets:
    """Interfaces and addresses in a switch's public table, by subnet; disabled ones, too."""

    def __init__(self, device: Device) -> None:
        self._by_length: dict[int, dict[int, tuple[str, IPv4Interface]]] = {}
        for interface in device.interfaces:
            own = interface.layer3 and not interface.vrf
            for address in interface.addresses if own else ():
                shift = 32 - address.network.prefixlen
                table = self._by_length.setdefault(shift, {})
                table[int(address) >> shift] = interface.name, address
        self._shifts = sorted(self._by_length)

    def of(self, neighbour: IPv4Address) -> Iterator[tuple[str, IPv4Interface]]:
        """Yield interfaces with a neighbour's subnet, longest prefix first, as a switch routes."""
        value = int(neighbour)
        for shift in self._shifts:
            if match := self._by_length[shift].get(value >> shift):
                yield match

    def other_source(self, neighbour: IPv4Address, settings: BgpSettings) -> str | None:
        """Return the configured source of a BGP session if it is not the link to the neighbour."""
        name, address = settings.source_interface, settings.source_address
        links = self.of(neighbour) if name else ()
        if name is None or any(link == name and address in (None, own.ip) for link, own in links):
            return None
        return name if address is None else f"{name} {address}"
