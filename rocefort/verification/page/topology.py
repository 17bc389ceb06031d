"""Content of the topology picture: switches with words and colours, and links with findings.

The script (`page_topology.js`) lays the switches out for the width of the window and draws them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from rocefort.models.network.network import Network, Node, SwitchRole
from rocefort.models.wording import count_of
from rocefort.reports.page_parts import packed_column
from rocefort.verification.page.capacity_picture import Utilisation
from rocefort.verification.page.findings_section import SEVERITIES, UNJUDGED, WAIVED, WorstVerdicts

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
