"""Import roles and ids of switches from the graph of sessions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rocefort.base.errors import BadInput, Problem
from rocefort.design.importing.assumptions import Notes, SwitchText
from rocefort.design.importing.bgp_graph import CablingGraph, NoFabricError
from rocefort.models.wording import count_of, listing

Colours = dict[str, bool]


@dataclass(frozen=True)
class Roles:
    """Switches of each role, in the natural order of their names."""

    spines: tuple[SwitchText, ...]
    leaves: tuple[SwitchText, ...]


def roles_of(graph: CablingGraph) -> Roles:
    """Separate spines and leaves; raises BadInput if the cabling is not leaf-spine."""
    if not graph.cables:
        raise NoFabricError(
            "no spines: none of these switches peers with another",
            where=listing(source.file for source in list(graph.sources.values())[:3]),
            how="add the texts of the spines",
        )
    alone = [s for s in graph.sources.values() if not graph.neighbours(s.name)]
    if alone:
        raise NoFabricError(
            problems=[
                Problem(
                    "",
                    f"{source.name} peers with none of the other switches",
                    "take its text out of the directory, or add those of its neighbours",
                    source.file,
                )
                for source in alone
            ]
        )
    spines = _spines(graph)
    roles = Roles(
        tuple(s for s in graph.sources.values() if s.name in spines),
        tuple(s for s in graph.sources.values() if s.name not in spines),
    )
    if problems := list(_incomplete(graph, roles)):
        raise NoFabricError(problems=problems)
    return roles


def _evident(graph: CablingGraph) -> set[str]:
    """Return switches that must be leaves: with gateways, servers or external sessions."""
    outside = {out.device for out in graph.outward}
    return outside | {
        source.name
        for source in graph.sources.values()
        if any(
            (i.kind == "vlanif" and i.addresses) or i.access_vlan is not None
            for i in source.device.interfaces
        )
    }


def _spines(graph: CablingGraph) -> set[str]:
    leaves, spines = _evident(graph), set[str]()
    colours: Colours = {}
    for name in graph.sources:
        if name in colours:
            continue
        sides = _sides(graph, name, colours)
        if sides is None or all(side & leaves for side in sides):
            raise NoFabricError(problems=list(_same_role(graph, leaves)))
        spines |= _spine_side(graph, sides, leaves)
    return spines


def _sides(graph: CablingGraph, first: str, colours: Colours) -> tuple[set[str], set[str]] | None:
    """Return the two sides of a connected graph; None if two switches of one side are cabled."""
    colours[first] = True
    open_, seen = [first], [first]
    while open_:
        name = open_.pop()
        for other in graph.neighbours(name):
            if colours.setdefault(other, not colours[name]) == colours[name]:
                return None
            if other not in seen:
                seen.append(other)
                open_.append(other)
    return {n for n in seen if colours[n]}, {n for n in seen if not colours[n]}


def _spine_side(
    graph: CablingGraph, sides: tuple[set[str], set[str]], leaves: set[str]
) -> set[str]:
    """Return the side without gateways; else with most `spine` in names; else the smaller one."""
    for one, other in (sides, sides[::-1]):
        if other & leaves:
            return one
    called = [sum("spine" in name.lower() for name in side) for side in sides]
    if called[0] != called[1]:
        return sides[called[1] > called[0]]
    if len(sides[0]) != len(sides[1]):
        return min(sides, key=len)
    first, second = (listing(sorted(side)) for side in sides)
    raise BadInput(
        f"the texts do not show which are the spines: {first}, or {second}",
        where=graph.sources[min(sides[0])].file,
        how="none of them has a gateway or a server; give one a sysname with `spine` in it",
    )


def _same_role(graph: CablingGraph, leaves: set[str]) -> Iterator[Problem]:
    for near, far in graph.cables:
        if (near.device in leaves) == (far.device in leaves):
            role = "leaves" if near.device in leaves else "spines"
            yield Problem(
                graph.sources[near.device].file,
                f"{near} - {far} joins two {role}",
                "a fabric has links between leaves and spines only",
            )


def _incomplete(graph: CablingGraph, roles: Roles) -> Iterator[Problem]:
    """Yield problems of leaves with fewer links to one spine than to another."""
    count: dict[tuple[str, str], int] = {}
    for ends in graph.cables:
        for near, far in (ends, ends[::-1]):
            pair = near.device, far.device
            count[pair] = count.get(pair, 0) + 1
    for leaf in roles.leaves:
        links = {spine.name: count.get((leaf.name, spine.name), 0) for spine in roles.spines}
        most = max(links.values())
        for spine, number in links.items():
            if number < most:
                best = max(links, key=lambda name: links[name])
                yield Problem(
                    leaf.file,
                    f"{leaf.name} has {count_of(number, 'session')} with {spine} and {most} with "
                    f"{best}",
                    "a fabric has as many links from a leaf to each spine; fix the text, or leave "
                    "the switch out",
                )


def ids_of(members: Sequence[SwitchText], limit: int, role: str, notes: Notes) -> Mapping[str, int]:
    """Return ids by name: the last number in the name if it is unique, else the index in order.

    limit: the highest id for which the other role's switches have ports.
    """
    numbers = [_number(source.name) for source in members]
    if len({*numbers}) == len(numbers) and all(1 <= number <= limit for number in numbers):
        return {source.name: number for source, number in zip(members, numbers, strict=True)}
    notes.assume((role,), "ids are given in order of names, which do not number them")
    return {source.name: id_ for id_, source in enumerate(members, 1)}


def _number(name: str) -> int:
    match = re.search(r"(\d{1,9})\D*$", name)
    return int(match[1]) if match else 0
