"""Read what LLDP heard: `display lldp neighbor brief` and `display lldp neighbor`."""

import re
from dataclasses import dataclass, field

# The heading's words and what is below them; the order of the columns differs by release.
_COLUMNS = {
    "local": r"Local Int(?:er)?f(?:ace)?",
    "port": r"Neighbor Int(?:er)?f(?:ace)?",
    "device": r"Neighbor Dev(?:ice)?",
    "left": r"Exptime ?\(s(?:ec)?\)",
}
_KEY = re.compile(r"^\s*(?P<key>[A-Z][A-Za-z() -]*?)\s*:\s?(?P<value>.*)$")


@dataclass(frozen=True)
class Neighbor:
    """One row of `display lldp neighbor brief`."""

    local: str
    port: str
    device: str


@dataclass(frozen=True)
class NeighborDetail:
    """One neighbour of `display lldp neighbor`, its values by the words before the colon."""

    local: str
    values: dict[str, str] = field(default_factory=dict)

    def words(self, key: str) -> list[str]:
        """A value that is a list of words; `--` stands for none."""
        return [word for word in self.values.get(key, "").split() if word != "--"]

    def text(self, key: str) -> str:
        """A value; "" for none."""
        value = self.values.get(key, "")
        return "" if value == "--" else value


def neighbors(text: str) -> tuple[Neighbor, ...]:
    """Rows of the brief table; none for an empty reply, ValueError for another form."""
    lines = [line for line in text.splitlines() if line.strip() and not re.fullmatch(r"-+", line)]
    if not lines or lines[0].startswith("Info:"):
        return ()
    places = {name: re.search(words, lines[0]) for name, words in _COLUMNS.items()}
    starts = {name: place.start() for name, place in places.items() if place}
    if len(starts) != len(_COLUMNS):
        raise ValueError(f"not the heading of LLDP neighbours: {lines[0].strip()!r}")
    order = sorted(starts, key=starts.__getitem__)
    return tuple(_row(line, order) for line in lines[1:])


def _row(line: str, order: list[str]) -> Neighbor:
    cells = re.split(r"\s{2,}", line.strip())
    cells = cells if len(cells) == len(order) else line.split()
    row = dict(zip(order, cells, strict=False))
    if len(cells) != len(order) or not row["left"].isdecimal():
        raise ValueError(f"not a row of LLDP neighbours: {line.strip()!r}")
    return Neighbor(row["local"], row["port"], row["device"])


def neighbor_details(text: str) -> tuple[NeighborDetail, ...]:
    """Every neighbour of `display lldp neighbor`, in its order."""
    found: list[NeighborDetail] = []
    local = key = ""
    for line in text.splitlines():
        if heading := re.match(r"(\S+) has \d+ neighbor", line):
            local, key = heading[1], ""
            continue
        pair = _KEY.match(line)
        if pair and pair["key"] == "Neighbor index":
            found.append(NeighborDetail(local))
        if not found or not local:
            continue
        if pair and not (key == "System description" and "," in pair["key"]):
            key = pair["key"]
            found[-1].values.setdefault(key, pair["value"].strip())
        elif key == "System description" and line.strip():
            found[-1].values[key] += "\n" + line.strip()
    return tuple(found)
