"""Pictures of the report page: the topology with its findings, and the capacity of links.

The script (`page_topology.js`) lays the switches out for the width of the window and draws them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocefort.models.network.network import End, Link, Network, Node, SwitchRole
from rocefort.models.wording import count_of
from rocefort.reports.page_parts import packed_column
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
from rocefort.verification.page.findings_section import SEVERITIES, UNJUDGED, WAIVED, WorstVerdicts

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


Speeds = Counter[int | None]  # number of links by Gb/s


@dataclass(frozen=True, slots=True)
class DrawnSwitch:
    """A switch; kind: its worst own finding. ports, load: levels of utilisation.

    kind, ports and load are CSS classes. words: lines of its box after the name and the model.
    """

    name: str
    role: str
    rack: str
    model: str
    kind: str
    ports: str
    load: str
    servers: str
    speeds: str
    title: str


@dataclass(frozen=True, slots=True)
class TopologyPicture:
    """Content of the picture; links: worst finding by number in `Network.links`, if there is one.

    cables: number of links; they are the first rows of the table of cables.
    """

    switches: tuple[DrawnSwitch, ...]
    cables: int
    links: dict[int, str]
    sentence: str

    def as_json_value(self) -> dict[str, object]:
        """For the script."""
        names = DrawnSwitch.__slots__
        columns = {name: [getattr(s, name) for s in self.switches] for name in names}
        return {
            "switches": {name: packed_column(cells) for name, cells in columns.items()},
            "cables": self.cables,
            "links": {str(number): kind for number, kind in self.links.items()},
        }


def topology_of(network: Network, worst: WorstVerdicts) -> TopologyPicture:
    """Content of the picture; worst: what its switches and ports are coloured by."""
    words = _SwitchWords(network, worst)
    kinds = {
        number: worst.of_link(*((end.device, end.interface) for end in (link.a, link.b)))
        for number, link in enumerate(network.links or ())
    }
    links = {number: kind for number, kind in kinds.items() if kind != "none"}
    return TopologyPicture(
        switches=tuple(map(words.drawn, network.nodes)),
        cables=len(kinds),
        links=links,
        sentence=_sentence(network, links),
    )


def _sentence(network: Network, kinds: dict[int, str]) -> str:
    """`960 links of 100 Gb/s, none with errors or warnings`."""
    if network.links is None:
        return "The cabling between switches is not known."
    speeds: Speeds = Counter(network.speed_gbps(link.a) for link in network.links)
    bad = sum(kind in ("error", "warning") for kind in kinds.values())
    own = f"{bad} with errors or warnings" if bad else "none with errors or warnings"
    (speed,) = speeds if len(speeds) == 1 else (None,)
    links = count_of(len(network.links), "link") + (f" of {speed} Gb/s" if speed else "")
    inferred = ", inferred from addresses" if network.origin == "text" else ""
    return f"{links}, {own}{inferred}."


class _SwitchWords:
    """Words and colours of switches."""

    def __init__(self, network: Network, worst: WorstVerdicts) -> None:
        self._worst = worst
        known = network.servers is not None
        self._servers = Counter(s.port.device for s in network.servers or ()) if known else None
        self._exits = Counter(exit_.leaf for exit_ in network.exits or ())
        self._use = Utilisation(network)
        self._speeds: dict[str, Speeds] = {node.name: Counter() for node in network.nodes}
        for link in network.links or ():
            for end in (link.a, link.b):
                if end.device in self._speeds:
                    self._speeds[end.device][network.speed_gbps(end)] += 1

    def drawn(self, node: Node) -> DrawnSwitch:
        """A switch of the picture."""
        return DrawnSwitch(
            name=node.name,
            role=node.role or "",
            rack=node.rack or "",
            model=node.hardware.model if node.hardware else "",
            kind=self._worst.of_device(node.name),
            ports=self._use.ports_level(node),
            load=self._use.load_level(node),
            servers=self._server_words(node),
            speeds=self._speed_words(node),
            title=self._title(node),
        )

    def _server_words(self, node: Node) -> str:
        if self._servers is None or node.role is not SwitchRole.LEAF:
            return ""
        return count_of(self._servers[node.name], "server")

    def _speed_words(self, node: Node) -> str:
        """`8 x 100 Gb/s`, or nothing where a speed is unknown."""
        speeds = self._speeds[node.name]
        if None in speeds:
            return count_of(speeds.total(), "link")
        return ", ".join(
            f"{count} \N{MULTIPLICATION SIGN} {gbps}" for gbps, count in speeds.items()
        ) + (" Gb/s" if speeds else "")

    def _title(self, node: Node) -> str:
        counts = self._worst.counts.get(node.name, {})
        verdicts = [f"{counts[kind]} {kind}" for kind in (*SEVERITIES, WAIVED) if counts.get(kind)]
        if counts.get(UNJUDGED):
            verdicts.append(f"{counts[UNJUDGED]} not judged")
        model = node.hardware.model if node.hardware else "hardware not known"
        exits = count_of(self._exits[node.name], "exit") if self._exits[node.name] else ""
        facts = [node.name, model, node.rack or "", self._server_words(node), exits]
        listed = f": {', '.join(verdicts)}" if verdicts else ""
        return ", ".join(filter(None, facts)) + listed + self._use.words(node, "; ")
