"""The picture of a fabric as shapes with coordinates: spines above, leaves below, servers counted.

A small fabric is drawn whole. A large one draws each leaf as a small square by rack and all sound
links as one band; only links with an error or a warning are drawn one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rocefort.models.network.network import Link, Network, Node, Role
from rocefort.models.wording import count_of
from rocefort.reports.fabric.utilisation import UNKNOWN, Utilisation
from rocefort.reports.page.findings import SEVERITIES, UNJUDGED, WAIVED, WorstVerdicts
from rocefort.reports.wording import group_items

MOST_LABELLED = 24  # leaves, and spines, that get a box with a name
BOX = (78, 36)
PITCH = 88
GAP = 110  # between rows
CELL, CELL_PITCH = 13, 16
MARGIN = 12
TRUNK, BAND = 26, 22  # height of the strokes from the spines, and of the band
LABEL = 16  # height of a line of text
WIDTH = 960  # of a dense picture
MOST_COLUMNS = 10  # of a rack
WHOLE_ROW = (WIDTH - 2 * MARGIN) // CELL_PITCH  # cells
LETTER = 6  # width
MOST_DRAWN = 400  # links of a large fabric drawn one by one
LETTERS = 11  # of a name that fit into a box


@dataclass(frozen=True, slots=True)
class Shape:
    """A switch: a box with words, or a small square without; x, y is its upper left corner."""

    device: str
    x: float
    y: float
    width: float
    height: float
    kind: str  # worst finding: a CSS class
    title: str
    words: tuple[str, ...] = ()
    ports: str = UNKNOWN  # levels of utilisation: CSS classes, too
    load: str = UNKNOWN

    @property
    def middle(self) -> float:
        """x of the middle."""
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class DrawnLink:
    """A link."""

    x1: float
    y1: float
    x2: float
    y2: float
    kind: str
    title: str
    number: int = -1  # in Network.links
    load: str = UNKNOWN


@dataclass(frozen=True, slots=True)
class DrawingLabel:
    """A label; x is its middle, in a dense picture its beginning."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class TopologyDrawing:
    """Topology picture; band: the sentence of the band that replaces all links without findings."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    lines: tuple[DrawnLink, ...]
    words: tuple[DrawingLabel, ...]
    dense: bool
    band: str = ""
    band_y: float = 0
    trunks: tuple[DrawnLink, ...] = ()  # strokes from the spines down to the band


def draw(network: Network, worst: WorstVerdicts) -> TopologyDrawing:
    """Draw a network; worst: what its switches and ports are coloured by."""
    rows = [list(network.role(role)) for role in (Role.SPINE, Role.LEAF)]
    rows.append([node for node in network.nodes if node.role is None])
    if max(map(len, rows)) > MOST_LABELLED:
        return _dense(network, rows, _TopologyLegend(network, worst))
    return _labelled_drawing(network, rows, _TopologyLegend(network, worst))


class _TopologyLegend:
    """Words and colours of switches and links."""

    def __init__(self, network: Network, worst: WorstVerdicts) -> None:
        self._worst = worst
        self._network = network
        known = network.servers is not None
        self._servers = Counter(s.port.device for s in network.servers or ()) if known else None
        self._exits = Counter(exit_.leaf for exit_ in network.exits or ())
        self._use = Utilisation(network)

    def servers(self, node: Node) -> str:
        """Return the number of servers of a leaf; empty if unknown."""
        if self._servers is None or node.role is not Role.LEAF:
            return ""
        return count_of(self._servers[node.name], "server")

    def rack(self, name: str, members: Iterable[Node]) -> str:
        """Label of a rack: its name and its servers."""
        if self._servers is None:
            return _short(name)
        count = sum(self._servers[node.name] for node in members)
        return ", ".join(filter(None, (_short(name), count_of(count, "server"))))

    def box(self, node: Node, x: float, y: float) -> Shape:
        """A switch with its name and its servers."""
        words = (_short(node.name), self.servers(node) or (node.role or "role not known"))
        return self._shape(node, x, y, BOX, words)

    def cell(self, node: Node, x: float, y: float) -> Shape:
        """A switch as a small square."""
        return self._shape(node, x, y, (CELL, CELL), ())

    def _shape(
        self, node: Node, x: float, y: float, size: tuple[float, float], words: tuple[str, ...]
    ) -> Shape:
        kind, ports, load = (
            self._kind(node),
            self._use.ports_level(node),
            self._use.load_level(node),
        )
        return Shape(node.name, x, y, *size, kind, self._title(node), words, ports, load)

    def load(self, link: Link) -> str:
        """Level of a link's utilisation."""
        return self._use.link_level(link)

    def link(self, link: Link) -> tuple[str, str]:
        """Colour and words of a link."""
        ends = [(end.device, end.interface) for end in (link.a, link.b)]
        speed = self._network.speed_gbps(link.a)
        facts = [f"{speed} Gb/s"] if speed else []
        facts += [f"{link.cable_m:g} m"] if link.cable_m is not None else []
        return self._worst.of_link(*ends), ", ".join((f"{link.a} - {link.b}", *facts))

    def _kind(self, node: Node) -> str:
        return self._worst.of_device(node.name)

    def _title(self, node: Node) -> str:
        counts = self._worst.counts.get(node.name, {})
        told = [f"{counts[kind]} {kind}" for kind in (*SEVERITIES, WAIVED) if counts.get(kind)]
        if counts.get(UNJUDGED):
            told.append(f"{counts[UNJUDGED]} not judged")
        model = node.hardware.model if node.hardware else "hardware not known"
        exits = count_of(self._exits[node.name], "exit") if self._exits[node.name] else ""
        facts = [node.name, model, node.rack or "", self.servers(node), exits]
        found = f": {', '.join(told)}" if told else ""
        return ", ".join(filter(None, facts)) + found + self._use.words(node, "; ")


def _short(name: str) -> str:
    return name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}\u2026"


def _labelled_drawing(
    network: Network, rows: Sequence[Sequence[Node]], tell: _TopologyLegend
) -> TopologyDrawing:
    width = max(4, *map(len, rows)) * PITCH + 2 * MARGIN
    shapes: dict[str, Shape] = {}
    words: list[DrawingLabel] = []
    y = float(MARGIN)
    for row in filter(None, rows):
        y += BOX[1] + GAP if shapes else 0
        step = width / len(row)
        for number, node in enumerate(row):
            shapes[node.name] = tell.box(node, step * (number + 0.5) - BOX[0] / 2, y)
        if row[0].role is Role.LEAF:
            words = _racks(row, shapes, y + BOX[1] + LABEL)
    lines = _lines(network.links or (), shapes, tell)
    height = y + BOX[1] + LABEL + MARGIN
    return TopologyDrawing(width, height, tuple(shapes.values()), lines, tuple(words), dense=False)


def _racks(row: Sequence[Node], shapes: dict[str, Shape], y: float) -> list[DrawingLabel]:
    """The name of each rack below the middle of its neighbouring leaves."""
    runs: list[list[Node]] = []
    for node in row:
        if runs and runs[-1][0].rack == node.rack:
            runs[-1].append(node)
        else:
            runs.append([node])
    return [
        DrawingLabel((shapes[run[0].name].middle + shapes[run[-1].name].middle) / 2, y, run[0].rack)
        for run in runs
        if run[0].rack
    ]


def _lines(
    links: Iterable[Link], shapes: dict[str, Shape], tell: _TopologyLegend
) -> tuple[DrawnLink, ...]:
    """Links between drawn switches; those with the worst findings last, on top."""
    seen: Counter[frozenset[str]] = Counter()
    lines = []
    for number, link in enumerate(links):
        if link.a.device not in shapes or link.b.device not in shapes:
            continue
        upper, lower = sorted((shapes[link.a.device], shapes[link.b.device]), key=lambda s: s.y)
        pair = frozenset((link.a.device, link.b.device))
        shift = 4 * ((seen[pair] + 1) // 2) * (-1 if seen[pair] % 2 else 1)  # 0, -4, 4, -8
        seen[pair] += 1
        ends = (upper.middle + shift, upper.y + upper.height, lower.middle + shift, lower.y)
        lines.append(DrawnLink(*ends, *tell.link(link), number, tell.load(link)))
    order = ("none", *reversed(SEVERITIES))
    return tuple(sorted(lines, key=lambda line: order.index(line.kind)))


def _dense(
    network: Network, rows: Sequence[Sequence[Node]], tell: _TopologyLegend
) -> TopologyDrawing:
    spines, leaves, others = rows
    upper = _spine_row(spines, tell)
    band_y = max((s.y + s.height for s in upper), default=0) + TRUNK
    lower, words = _rack_blocks([*leaves, *others], tell, band_y + BAND + CELL_PITCH)
    shapes = {shape.device: shape for shape in (*upper, *lower)}
    bad = [
        line
        for line in _lines(network.links or (), shapes, tell)
        if line.kind in ("error", "warning")
    ]
    return TopologyDrawing(
        width=WIDTH,
        height=max((s.y for s in lower), default=band_y) + CELL_PITCH + MARGIN,
        shapes=tuple(shapes.values()),
        lines=tuple(bad[-MOST_DRAWN:]),
        words=tuple(words),
        dense=True,
        band=_band(network.links, len(bad)),
        band_y=band_y,
        trunks=tuple(
            DrawnLink(s.middle, s.y + s.height, s.middle, band_y, "none", "")
            for s in upper
            if s.words and network.links
        ),
    )


def _spine_row(spines: Sequence[Node], tell: _TopologyLegend) -> list[Shape]:
    if len(spines) > WIDTH // PITCH:
        return _cells(spines, tell, (MARGIN, MARGIN), WHOLE_ROW)
    step = WIDTH / max(len(spines), 1)
    return [
        tell.box(node, step * (number + 0.5) - BOX[0] / 2, MARGIN)
        for number, node in enumerate(spines)
    ]


def _band(links: Sequence[Link] | None, bad: int) -> str:
    if links is None:
        return "the cabling is not known"
    found = f"{bad} with errors or warnings" if bad else "none with errors or warnings"
    drawn = f", {MOST_DRAWN} of them drawn" if bad > MOST_DRAWN else ""
    return f"{count_of(len(links), 'link')}, {found}{drawn}"


def _rack_blocks(
    nodes: Sequence[Node], tell: _TopologyLegend, top: float
) -> tuple[list[Shape], list[DrawingLabel]]:
    """Blocks of cells with their label, one a rack, from left to right, then in the next row."""
    racks = group_items(nodes, lambda node: node.rack or "")
    largest = max(map(len, racks.values()), default=0)
    columns = WHOLE_ROW if len(racks) < 2 else min(MOST_COLUMNS, max(4, -(-largest // 2)))
    shapes: list[Shape] = []
    words: list[DrawingLabel] = []
    x, y, bottom = float(MARGIN), top, top
    for rack, members in racks.items():
        label = tell.rack(rack, members)
        across = max(min(columns, len(members)) * CELL_PITCH, LETTER * len(label))
        if x + across > WIDTH - MARGIN and x > MARGIN:
            x, y = MARGIN, bottom + CELL_PITCH
        words.append(DrawingLabel(x, y + LABEL - 4, label))
        shapes += _cells(members, tell, (x, y + LABEL), columns)
        bottom = max(bottom, shapes[-1].y + CELL_PITCH)
        x += across + CELL_PITCH
    return shapes, words


def _cells(
    nodes: Sequence[Node], tell: _TopologyLegend, corner: tuple[float, float], columns: int
) -> list[Shape]:
    left, top = corner
    found = []
    for number, node in enumerate(nodes):
        row, column = divmod(number, columns)
        found.append(tell.cell(node, left + column * CELL_PITCH, top + row * CELL_PITCH))
    return found
