"""The capacity picture of the report page, and the utilisation of switches."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocefort.models.network.network import End, Link, Network, Node, SwitchRole
from rocefort.reports.wording import name_ranges
from rocefort.validators.capacity.capacity_results import CapacityReport, Use
from rocefort.verification.capacity import (
    MOST_ROWS,
    demand_words,
    equal_uses,
    number,
    percent,
    verdicts,
)

LEVELS = ((0.25, "u1"), (0.5, "u2"), (0.75, "u3"), (1.0, "u4"))  # share up to; CSS classes
OVER, UNKNOWN = "over", "unknown"


def level(share: float | None) -> str:
    """Return the CSS class of a share."""
    if share is None:
        return UNKNOWN
    return next((name for most, name in LEVELS if share <= most), OVER)


class Utilisation:
    """Utilisation of the switches; None if hardware, cabling or servers are unknown."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._used: defaultdict[str, set[str]] = defaultdict(set)
        for end in _cabled(network):
            self._used[end.device].add(end.interface)
        self._servers: Counter[str] = Counter()
        for server in network.servers or ():
            self._servers[server.port.device] += server.speed_gbps
        self._uplinks = self._uplinks_gbps()

    def _uplinks_gbps(self) -> dict[str, int]:
        speeds: Counter[str] = Counter()
        unknown = set()
        for link in self._network.links or ():
            for end in (link.a, link.b):
                speed = self._network.speed_gbps(end)
                speeds[end.device] += speed or 0
                if not speed:
                    unknown.add(end.device)
        return {name: gbps for name, gbps in speeds.items() if name not in unknown}

    def ports(self, node: Node) -> tuple[int, int] | None:
        """Return the ports of a switch in use, and all its ports."""
        network = self._network
        cabled = network.links is not None
        served = network.servers is not None or node.role is SwitchRole.SPINE
        if node.hardware is None or not (cabled and served):
            return None
        return len(self._used[node.name]), len(node.port_names)

    def gbps(self, node: Node) -> tuple[int, int] | None:
        """Return the Gb/s of a leaf's servers, and of its uplinks."""
        if node.role is not SwitchRole.LEAF or self._network.servers is None:
            return None
        uplinks = self._uplinks.get(node.name)
        return (self._servers[node.name], uplinks) if uplinks else None

    def ports_level(self, node: Node) -> str:
        """Return the CSS class of the share of ports in use."""
        return level(_share(self.ports(node)))

    def load_level(self, node: Node) -> str:
        """Return the CSS class of a leaf's load."""
        return level(_share(self.gbps(node)))

    def link_level(self, link: Link) -> str:
        """Return the CSS class of a link: the load of the leaf at its end."""
        nodes = (self._network.by_name.get(end.device) for end in (link.a, link.b))
        leaves = [node for node in nodes if node and node.role is SwitchRole.LEAF]
        return self.load_level(leaves[0]) if len(leaves) == 1 else UNKNOWN

    def words(self, node: Node, before: str = "") -> str:
        """`9 of 64 ports in use, 200 Gb/s of servers on 400 of uplinks`; empty if unknown."""
        ports, gbps = self.ports(node), self.gbps(node)
        parts = [f"{ports[0]} of {ports[1]} ports in use"] if ports else []
        parts += [f"{gbps[0]} Gb/s of servers on {gbps[1]} of uplinks"] if gbps else []
        return f"{before}{', '.join(parts)}" if parts else ""


def _share(part: tuple[int, int] | None) -> float | None:
    return part[0] / part[1] if part and part[1] else None


def _cabled(network: Network) -> Iterator[End]:
    """Return every cabled port of a switch."""
    for link in network.links or ():
        yield link.a
        yield link.b
    for server in network.servers or ():
        yield from server.ports
    for exit_ in network.exits or ():
        yield End(device=exit_.leaf, interface=exit_.port)


LABELS = {"leaf": "uplinks", "spine": "links", "bisection": "half of the leaves to the others"}
BAR, GAP = 11, 2  # heights in the drawing
AFTER_Y = BAR + GAP
HEIGHT = AFTER_Y + BAR


@dataclass(frozen=True, slots=True)
class CapacityBar:
    """Two bars of parts that are alike, x in percent of the drawing; `end` is where 100 % is."""

    name: str
    kind: str
    whole: float
    whole_level: str
    after: float
    after_level: str
    words: str
    after_words: str


@dataclass(frozen=True, slots=True)
class CapacityPicture:
    """All bars on one scale; more: how many rows less full are not drawn."""

    bars: tuple[CapacityBar, ...]
    end: float
    demand: str
    verdicts: tuple[str, ...]
    fits: bool
    height: int = HEIGHT
    bar: int = BAR
    after_y: int = AFTER_Y
    more: int = 0


def picture(capacity: CapacityReport | None) -> CapacityPicture | None:
    """The picture; None where there is no demand."""
    if capacity is None or capacity.asked is None:
        return None
    rows = [row for kind in LABELS for row in _rows(capacity, kind)]
    scale = max([1.0, *(max(row[0].utilisation, row[0].after or 0) for row in rows)])
    shown = [row for kind in LABELS for row in _rows(capacity, kind)[:MOST_ROWS]]
    return CapacityPicture(
        bars=tuple(_bar(row, scale) for row in shown),
        end=100 / scale,
        demand=demand_words(capacity.asked),
        verdicts=(*verdicts(capacity), *filter(None, [capacity.failures_note])),
        fits=capacity.fits,
        more=len(rows) - len(shown),
    )


def _rows(capacity: CapacityReport, kind: str) -> list[list[Use]]:
    return list(equal_uses([use for use in capacity.uses if use.kind == kind]))


def _bar(row: Sequence[Use], scale: float) -> CapacityBar:
    use = row[0]
    load = max(use.out_gbps, use.in_gbps)
    return CapacityBar(
        name=", ".join(name_ranges(one.name for one in row)),
        kind=LABELS[use.kind],
        whole=100 * use.utilisation / scale,
        whole_level=level(use.utilisation),
        after=100 * (use.after or 0) / scale,
        after_level=level(use.after or 0),
        words=f"{number(load)} of {number(use.capacity_gbps)} Gb/s, {percent(use.utilisation)}",
        after_words=" ".join(_after(use)),
    )


def _after(use: Use) -> Iterator[str]:
    if use.after is None or use.left_gbps is None:
        yield "no failure studied"
        return
    yield f"{percent(use.after)} after the loss of {use.failure};" if use.failure else "no fuller;"
    yield f"at least {number(use.left_gbps)} Gb/s left"
