"""Routing of a larger version, as far as it is that of this one: what need not be solved again.

A version that has all devices and sessions of this one, and some more, settles a class of prefixes
alike where none of the additional sessions brings anybody an offer in the round in which it takes
its best. A new leaf is the common case: nobody else sends anything through it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocefort.validators.bgp_engine import PrefixClass, Routing
    from rocefort.validators.path_vector import AsPath, Way

_Offer = tuple[IPv4Address, str, int]  # next hop, sender, policies that a route must pass


@dataclass(frozen=True)
class Near:
    """The larger version. gone: its devices that are not here. lost: its edges that are not."""

    known: Routing
    gone: frozenset[str]
    lost: tuple[Way, ...]
    same: bool  # all of it, number by number

    def lender(
        self, prefixes: tuple[IPv4Network, ...], origins: frozenset[str]
    ) -> PrefixClass | None:
        """The class of the other version that is settled as that of this one, if there is one.

        Prefixes that these policies do not tell apart have the verdicts of the first of them.
        """
        group = self._by_prefix.get(prefixes[0])
        if group is None or group.origins != origins or self._touched(group):
            return None
        return group

    @cached_property
    def _by_prefix(self) -> Mapping[IPv4Network, PrefixClass]:
        return {prefix: group for group in self.known.classes for prefix in group.prefixes}

    def _touched(self, group: PrefixClass) -> bool:
        """Whether an edge that is lost brought an offer of the length that its receiver took."""
        sent = group.settled.sent
        return any(_offers(way, sent(way.sender), sent(way.receiver), group) for way in self.lost)


def _offers(way: Way, sent: AsPath | None, own: AsPath | None, group: PrefixClass) -> bool:
    if sent is None or own is None or way.needed & group.denied:
        return False
    return len(sent) == len(own) - 1


def near_to(known: Routing, routing: Routing) -> Near | None:
    """The other version, where it has all devices and sessions of this one as they are here.

    routing: without classes.
    """
    if replace(known, classes=()) == routing:
        return Near(known, frozenset(), (), same=True)
    here = routing.numbers
    if not here.keys() <= known.numbers.keys():
        return None
    bits = _translation(known, routing)
    lost: list[Way] = []
    for name, number in here.items():
        there = known.numbers[name]
        if _traits(routing, number) != _traits(known, there):
            return None
        wanted = [offer for _, offer in _offers_to(routing, number, {})]
        left = _left_over(_offers_to(known, there, bits), wanted)
        if left is None:
            return None
        lost += (known.graph.ways[edge] for edge in left)
    gone = frozenset(known.numbers.keys() - here.keys())
    return Near(known, gone, tuple(lost), same=False)


def _traits(routing: Routing, number: int) -> tuple[int, int, bool]:
    graph = routing.graph
    return graph.asns[number], graph.limits[number], graph.relaxed[number]


def _offers_to(
    routing: Routing, number: int, bits: Mapping[int, int | None]
) -> Iterator[tuple[int, _Offer]]:
    """Edges to a device in the order in which ties are broken, as another version knows them."""
    for edge, sender, needed in routing.graph.incoming[number]:
        translated = bits.get(needed, needed)
        known = -1 if translated is None else translated
        yield edge, (routing.next_hops[edge], routing.names[sender], known)


def _left_over(offers: Iterator[tuple[int, _Offer]], wanted: list[_Offer]) -> list[int] | None:
    """Edges beside the wanted ones; None where these are not all there in their order."""
    left, place = [], 0
    for edge, offer in offers:
        if place < len(wanted) and offer == wanted[place]:
            place += 1
        else:
            left.append(edge)
    return left if place == len(wanted) else None


def _translation(known: Routing, routing: Routing) -> dict[int, int | None]:
    """Sets of policies by the numbers that they have here; None where one is not here."""
    here = {policy: 1 << number for number, policy in enumerate(routing.policies)}
    found: dict[int, int | None] = {}
    for way in known.graph.ways:
        if way.needed not in found:
            own = [here.get(p) for n, p in enumerate(known.policies) if way.needed >> n & 1]
            found[way.needed] = None if None in own else sum(bit for bit in own if bit)
    return found
