"""Check the reserved capacity: links of each pair, ports of the hardware, addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rocefort.base.documents.read import YamlPath
from rocefort.base.errors import Problem
from rocefort.design.derive.context import Context
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.nodes import Leaf
from rocefort.models.hardware.hardware import Hardware
from rocefort.models.wording import count_of


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
        hardware = context.catalogue.hardware.get(switch.hardware)
        leaf = isinstance(switch, Leaf)
        kind = leaf, switch.hardware, tuple(switch.splits.items())
        if hardware is None or kind in reported:
            continue
        reported.add(kind)
        peers, word = (capacity.spines, "spines") if leaf else (capacity.leaves, "leaves")
        each = capacity.links_per_pair
        ports = len(hardware.fabric_places(switch.splits))
        if ports < peers * each:
            models = context.catalogue.hardware
            what, how = too_few_ports(models, hardware, word, peers, each, ports)
            yield context.problem((*path, "hardware"), what, how)


def too_few_ports(  # noqa: PLR0913, PLR0917 - hardware, peers and links
    models: Mapping[str, Hardware],
    hardware: Hardware,
    word: str,
    peers: int,
    each: int,
    ports: int,
) -> tuple[str, str]:
    """Return (what, how) of hardware with too few ports for `each` links to its peers, `word`."""
    what = (
        f"{hardware.model} has {count_of(ports, 'fabric port')}, enough for {ports // each} {word} "
        f"with {count_of(each, 'link')} to each; the reserved capacity is {peers} {word}"
    )
    larger, fits = larger_hardware(models, hardware, peers * each), ports // each
    return what, f"use {larger}; or lower capacity.{word} to {fits}"


def larger_hardware(models: Mapping[str, Hardware], hardware: Hardware, needed: int) -> str:
    """Return models with so many fabric ports of the same speed, as text."""
    larger = [
        other.model
        for other in models.values()
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
