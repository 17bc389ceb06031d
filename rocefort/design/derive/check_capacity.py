"""Check the reserved capacity: links, ports of the hardware, addresses, and AS numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from rocefort.base.documents.read import YamlPath
from rocefort.base.errors import Problem
from rocefort.design.derive.context import Context
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.topology import Leaf, Switch
from rocefort.models.fabric.underlay import BLOCKS, REFUSED, block_of
from rocefort.models.hardware.hardware import Hardware
from rocefort.models.wording import count_of

LAST_PRIVATE = BLOCKS[-1]


@dataclass(frozen=True)
class AsnRange:
    """AS numbers of one role in the reserved capacity: base + 1 to base + count."""

    role: str
    field: str  # of `routing`
    base: int
    count: int  # 0: one number, the base itself, for all

    @property
    def numbers(self) -> range:
        """All numbers of the range."""
        return (
            range(self.base + 1, self.base + self.count + 1)
            if self.count
            else range(self.base, self.base + 1)
        )

    def __str__(self) -> str:
        first, last = self.numbers[0], self.numbers[-1]
        if first == last:
            return f"{self.role} take AS number {first}"
        return f"{self.role} take AS numbers {first} to {last}"


def check_as_numbers(context: Context) -> Iterator[Problem]:
    """Yield problems of the AS plan, each with the numbers."""
    spans = _spans(context)
    for span in spans:
        yield from _range(context, span)
    yield from _collision(context, *spans)
    yield from _pinned_as_numbers(context, spans)


def reserved_for(context: Context, number: int) -> AsnRange | None:
    """Range of the role that an AS number is reserved for, now or later; None: no role."""
    return next((span for span in _spans(context) if number in span.numbers), None)


def _spans(context: Context) -> tuple[AsnRange, AsnRange]:
    routing, capacity = context.fabric.routing, context.fabric.capacity
    each = routing.spine_asns == "each"
    return (
        AsnRange("spines", "spine_asn", routing.spine_asn, capacity.spines if each else 0),
        AsnRange("leaves", "leaf_asn_base", routing.leaf_asn_base, capacity.leaves),
    )


def _range(context: Context, span: AsnRange) -> Iterator[Problem]:
    path = ("routing", span.field)
    refused = next((number for number in REFUSED if number in span.numbers), None)
    block = block_of(span.numbers[0])
    if block is not None and span.numbers[-1] > block.last:
        most = block.last - span.count
        how = f"choose at most {most}, or another range" if most >= block.first - 1 else ""
        yield context.problem(
            path,
            f"{span} of the reserved capacity, which leaves {block}",
            how or f"choose another range, for example {LAST_PRIVATE}",
        )
    elif refused is not None:
        yield context.problem(
            path,
            f"{span} of the reserved capacity, and {refused} {REFUSED[refused]}",
            f"choose others, for example of {LAST_PRIVATE}",
        )


def _collision(context: Context, spines: AsnRange, leaves: AsnRange) -> Iterator[Problem]:
    first = max(spines.numbers[0], leaves.numbers[0])
    last = min(spines.numbers[-1], leaves.numbers[-1])
    if first <= last:
        shared = str(first) if first == last else f"{first} to {last}"
        below = spines.numbers[0] - 1 - leaves.count
        how = f"choose a base of at least {spines.numbers[-1]}"
        yield context.problem(
            ("routing", leaves.field),
            f"{spines} and {leaves} of the reserved capacity, so both take {shared}",
            how + (f", or of at most {below}" if below > 0 else ""),
        )


def _pinned_as_numbers(context: Context, spans: tuple[AsnRange, AsnRange]) -> Iterator[Problem]:
    """Yield problems of pins: refused numbers, and numbers reserved for another switch."""
    by_place = {(isinstance(switch, Leaf), switch.id): switch for _, switch in context.switches()}
    for path, switch in context.switches():
        asn = switch.pins.asn
        if asn is None:
            continue
        at: YamlPath = (*path, "pins", "asn")
        if block_of(asn) is None:
            what = f"{switch.name} is pinned to AS {asn}, which {REFUSED[asn]}"
            yield context.problem(at, what, f"choose another, for example of {LAST_PRIVATE}")
        else:
            taken = chain.from_iterable(
                _asn_conflicts(span, asn, switch, by_place) for span in spans
            )
            for what in taken:
                how = "pin another number, or pin that switch, too"
                yield context.problem(at, f"{switch.name} is pinned to AS {asn}, {what}", how)


def _asn_conflicts(
    span: AsnRange, asn: int, switch: Switch, by_place: Mapping[tuple[bool, int], Switch]
) -> Iterator[str]:
    """Yield what a number is reserved for, except the switch itself."""
    leaves, leaf = span.field == "leaf_asn_base", isinstance(switch, Leaf)
    if asn not in span.numbers:
        return
    if span.count == 0:
        if leaf:
            yield "the AS of all spines"
        return
    number = asn - span.base
    holder = by_place.get((leaves, number))
    if holder is switch or (holder is not None and holder.pins.asn is not None):
        return
    word = "leaf" if leaves else "spine"
    yield f"which is reserved for {word} id {number}" + (f", {holder.name}" if holder else "")


def links_of(fabric: Fabric, leaf: Leaf) -> int:
    """Links in use from a leaf to each spine."""
    return leaf.links_per_pair or fabric.links_per_pair


def capacity_problems(context: Context) -> Iterator[Problem]:
    """Yield problems of a capacity that is too small, or of resources too small for it."""
    yield from _in_use(context)
    yield from _pins(context)
    yield from _ports(context)
    yield from _addresses(context)


def _in_use(context: Context) -> Iterator[Problem]:
    fabric, limit = context.fabric, context.fabric.capacity.links_per_pair
    given: list[tuple[YamlPath, int]] = [(("links_per_pair",), fabric.links_per_pair)]
    given += [
        (("leaves", index, "links_per_pair"), leaf.links_per_pair)
        for index, leaf in enumerate(fabric.leaves)
        if leaf.links_per_pair
    ]
    for path, number in given:
        if number > limit:
            yield context.problem(
                path,
                f"{count_of(number, 'link')} to each spine; the reserved capacity is {limit}",
                f"raise capacity.links_per_pair to {number}: that moves nothing",
            )


def _pins(context: Context) -> Iterator[Problem]:
    leaves = {leaf.name: leaf for leaf in context.fabric.leaves}
    for index, pin in enumerate(context.fabric.links):
        leaf = leaves.get(pin.leaf)
        if leaf is not None and pin.number > links_of(context.fabric, leaf):
            links = count_of(links_of(context.fabric, leaf), "link")
            yield context.problem(
                ("links", index, "number"),
                f"no link {pin.number} of {pin.spine} - {pin.leaf}: {pin.leaf} has {links} to each "
                "spine",
                f"raise its links_per_pair to {pin.number}, or take the link off the list",
            )


def _ports(context: Context) -> Iterator[Problem]:
    """Yield problems of too few ports for peers: one for all switches that are the same."""
    capacity, reported = context.fabric.capacity, set()
    for path, switch in context.switches():
        hardware = context.known_hardware(switch)
        leaf = isinstance(switch, Leaf)
        kind = leaf, switch.hardware, switch.fabric_ports, tuple(switch.splits.items())
        if hardware is None or kind in reported:
            continue
        reported.add(kind)
        peers, word = (capacity.spines, "spine") if leaf else (capacity.leaves, "leaf")
        each = capacity.links_per_pair
        ports = len(hardware.fabric_places(switch.splits))
        if ports < peers * each:
            models = context.catalogue.hardware
            what = (
                f"{switch.name if switch.fabric_ports else hardware.model} has "
                f"{count_of(ports, 'fabric port')}, enough for {count_of(ports // each, word)} "
                f"with {count_of(each, 'link')} to each; the reserved capacity is "
                f"{count_of(peers, word)}"
            )
            how = (
                f"add ports to its fabric_ports, {peers * each} in all"
                if switch.fabric_ports
                else f"use {larger_hardware(models, hardware, peers * each, spine=not leaf)}"
            )
            field = "fabric_ports" if switch.fabric_ports else "hardware"
            lower = f"lower capacity.{'spines' if leaf else 'leaves'} to {ports // each}"
            yield context.problem((*path, field), what, f"{how}; or {lower}")


def larger_hardware(
    models: Mapping[str, Hardware], hardware: Hardware, needed: int, *, spine: bool
) -> str:
    """Return models with so many fabric ports of the same speed in a role, as text."""
    larger = [
        other.model
        for other in (model.in_role(spine=spine) for model in models.values())
        if len(other.fabric_port_names()) >= needed and _speeds(other) == _speeds(hardware)
    ]
    none = f"one with {needed} fabric ports (inventory/hardware has none)"
    return " or ".join(larger) or none


def _speeds(hardware: Hardware) -> set[int | None]:
    return {hardware.speed_gbps(port) for port in hardware.fabric_port_names()}


def _addresses(context: Context) -> Iterator[Problem]:
    capacity, pools = context.fabric.capacity, context.fabric.pools
    size: int = 2 ** (32 - pools.link_prefix_length)
    links = capacity.spines * capacity.leaves * capacity.links_per_pair
    if pools.links.num_addresses < links * size:
        yield context.problem(
            ("pools", "links"),
            f"{pools.links} has {pools.links.num_addresses} addresses, the reserved capacity takes "
            f"{links * size}",
            f"use a /{32 - (links * size - 1).bit_length()}: {count_of(capacity.spines, 'spine')} "
            f"x "
            f"{count_of(capacity.leaves, 'leaf')} x {count_of(capacity.links_per_pair, 'link')} of "
            f"{size} addresses",
        )
