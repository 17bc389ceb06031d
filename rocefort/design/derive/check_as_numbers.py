"""Check the AS plan for the whole reserved capacity: ranges, collisions, pins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from rocefort.base.documents.read import YamlPath
from rocefort.base.errors import Problem
from rocefort.design.derive.context import Context
from rocefort.models.fabric.nodes import Leaf, Switch
from rocefort.models.fabric.routing import BLOCKS, REFUSED, block_of

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
    yield from _pins(context, spans)


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


def _pins(context: Context, spans: tuple[AsnRange, AsnRange]) -> Iterator[Problem]:
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
