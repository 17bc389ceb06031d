"""Infer cables from text: from addresses, descriptions of ports and LLDP neighbours."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rocefort.models.keyed import natural
from rocefort.models.network.network import (
    CablingEvidence,
    CablingSource,
    End,
    Link,
    Node,
    cables_by_address,
)

TO = re.compile(
    r"(?:link[ _-]+)?to[ _-]+(?P<device>\S+)(?: (?P<port>\d*GE ?[\d/:]+))?",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class LldpNeighbour:
    """LLDP neighbour at a port of a switch; port None: not reported."""

    device: str
    local: str
    neighbour: str
    port: str | None = None


def claims_of(
    nodes: Sequence[Node], heard: Iterable[LldpNeighbour] = ()
) -> tuple[CablingEvidence, ...]:
    """Return the evidence of the far ends of ports, by port, the most reliable source first."""
    by_name = {node.name: node for node in nodes}
    claims = {*_by_lldp(by_name, heard), *_by_addresses(nodes), *_by_descriptions(by_name)}
    priority = list(CablingSource)

    def order(claim: CablingEvidence) -> tuple[object, ...]:
        at = natural(claim.at.device), natural(claim.at.interface)
        return *at, priority.index(claim.by), natural(claim.far)

    return tuple(sorted(claims, key=order))


def _by_lldp(
    by_name: Mapping[str, Node], heard: Iterable[LldpNeighbour]
) -> Iterator[CablingEvidence]:
    """Yield LLDP evidence on ports of known switches, without their management ports."""
    for one in heard:
        if one.device in by_name and one.neighbour in by_name and "GE" in one.local[:5]:
            at = End(device=one.device, interface=one.local)
            yield CablingEvidence(by=CablingSource.LLDP, at=at, device=one.neighbour, port=one.port)


def _by_addresses(nodes: Sequence[Node]) -> Iterator[CablingEvidence]:
    for ends in cables_by_address(nodes):
        for at, far in (ends, ends[::-1]):
            yield CablingEvidence(
                by=CablingSource.ADDRESSES, at=at, device=far.device, port=far.interface
            )


def _by_descriptions(by_name: Mapping[str, Node]) -> Iterator[CablingEvidence]:
    """Yield evidence of descriptions of known switches: `to leaf01 100GE1/0/1`, `to-leaf01`."""
    names = {name.casefold(): name for name in by_name}
    for name, node in by_name.items():
        for port in node.device.interfaces:
            far_end = _described_end(port.description, names) if port.kind == "ethernet" else None
            if far_end is not None and far_end[0] != name:
                at = End(device=name, interface=port.name)
                yield CablingEvidence(
                    by=CablingSource.DESCRIPTIONS, at=at, device=far_end[0], port=far_end[1]
                )


def _described_end(
    description: str | None, names: Mapping[str, str]
) -> tuple[str, str | None] | None:
    """Return switch and port in a description; None without a known switch."""
    match = TO.fullmatch(description or "")
    device = names.get(match["device"].casefold()) if match else None
    if match is None or device is None:
        return None
    return device, match["port"].upper().replace(" ", "") if match["port"] else None


def links_of(claims: Sequence[CablingEvidence]) -> tuple[Link, ...]:
    """Return the cables of the evidence, in the order of their ends.

    LLDP has priority, then addresses, then descriptions that agree in both directions. A port has
    one cable. Contradictions stay in the evidence.
    """
    by_pair: dict[tuple[End, End], dict[CablingSource, None]] = defaultdict(dict)
    for source in CablingSource:
        for pair in _pairs([claim for claim in claims if claim.by is source], source):
            by_pair[pair][source] = None
    taken: set[End] = set()
    links: list[Link] = []
    for (a, b), sources in by_pair.items():
        if not {a, b} & taken:
            taken |= {a, b}
            links.append(Link(a=a, b=b, told=tuple(sources)))
    return tuple(sorted(links, key=lambda link: (_end_order(link.a), _end_order(link.b))))


def _pairs(claims: Sequence[CablingEvidence], source: CablingSource) -> Iterator[tuple[End, End]]:
    """Yield the cables of one source, the lower end first."""
    stated = {claim.at: claim for claim in claims}
    toward: dict[tuple[str, str], list[End]] = defaultdict(list)
    for claim in claims:
        toward[claim.at.device, claim.device].append(claim.at)
    for claim in claims:
        far = _far_end(claim, toward)
        if far is None:
            continue
        back = stated.get(far)
        agrees = back is not None and back.device == claim.at.device
        agrees = agrees and back is not None and back.port in (None, claim.at.interface)
        if agrees or (source is CablingSource.LLDP and back is None):
            a, b = sorted((claim.at, far), key=_end_order)
            yield a, b


def _far_end(claim: CablingEvidence, toward: Mapping[tuple[str, str], Sequence[End]]) -> End | None:
    """Return the far end by its name, or the only port there with evidence of the way back."""
    if claim.port is not None:
        return End(device=claim.device, interface=claim.port)
    there = toward[claim.at.device, claim.device]
    back = toward.get((claim.device, claim.at.device), ())
    return back[0] if len(there) == 1 == len(back) else None


def _end_order(end: End) -> tuple[object, ...]:
    return natural(end.device), natural(end.interface)
