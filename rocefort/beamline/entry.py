"""Entry of a new beamline: keys of the one that it is like, an id, and the ports that follow.

The file keeps every other byte. Without ports, it is refused with what must grow first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from rocefort.base.documents.edit import Insertion, appended, spliced
from rocefort.base.documents.read import document_of
from rocefort.base.errors import BadInput, Refused, RocefortError
from rocefort.change.expand import GrowthOptions, expand, wanted_of
from rocefort.design.load.documents import LoadedFabric, loaded_fabric
from rocefort.models.base import check_name
from rocefort.models.fabric.beamlines import MOST_BEAMLINES, Beamline
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.topology import Leaf
from rocefort.models.hardware.hardware import Hardware
from rocefort.models.hardware.media import parts_of, whole_port
from rocefort.models.units import gbps
from rocefort.models.wording import count_of, listing

OF_ONE = ("id", "name", "leaf", "ports", "runs", "owner", "assumed")  # keys that are not copied
Item = dict[str, object]


@dataclass(frozen=True)
class NewBeamline:
    """Beamline as the command line describes it.

    like: name of the beamline that it is like. rates: of its detectors, as typed; none: those of
    `like`. id, leaf: given by hand.
    """

    name: str
    like: str
    rates: Sequence[str] = ()
    id: int | None = None
    leaf: str | None = None
    owner: str | None = None


@dataclass(frozen=True)
class BlockOfPorts:
    """Ports of one leaf."""

    leaf: str
    ports: tuple[str, ...]
    gbps: int


@dataclass(frozen=True)
class EditedText:
    """Fabric with the new entry, in memory."""

    text: str
    loaded: LoadedFabric
    insertions: tuple[Insertion, ...]
    beamline: Beamline


def growth_first(fabric: str, path: Path | None, option: str, options: GrowthOptions) -> str:
    """Return the command that grows a fabric, or why it cannot grow so. path: None: not tried."""
    command = f"rocefort expand {fabric} {option}"
    try:
        if path is not None:
            expand(path, wanted_of(options))
    except RocefortError as error:
        problem = error.problem
        where = f"{problem.subject} " if problem.subject else ""
        return f"grow first, which `{command}` cannot: {where}{problem.what}"
    return f"grow first: {command}"


def with_items(text: str, loaded: LoadedFabric, items: Sequence[Item]) -> EditedText:
    """Append entries to `beamlines` of a file's text."""
    name = loaded.document.file
    insertions = appended(text, {"beamlines": items}, {}, "servers")
    edited = spliced(text, insertions)
    document = document_of(edited, f"{name} as it would be")
    data = loaded.document.data
    if not isinstance(data, dict):
        raise TypeError("a fabric that is loaded is a mapping")
    if document.data != data | {"beamlines": [*data["beamlines"], *items]}:
        what = "the new entry does not read back as intended"
        raise Refused(what, file=name, how="write it by hand, and report it")
    after = loaded_fabric(document, loaded.site)
    return EditedText(edited, after, tuple(insertions), after.fabric.beamlines[-1])


@dataclass(frozen=True)
class BeamlineEntry:
    """Entry of the new beamline. hardware: by switch. like: the beamline that it copies.

    path: of the file, where a refusal tries whether the fabric can grow; None: not tried.
    """

    loaded: LoadedFabric
    hardware: Mapping[str, Hardware]
    like: Beamline
    request: NewBeamline
    path: Path | None = None

    def item(self) -> Item:
        """Keys of the entry; raises BadInput and Refused."""
        fabric, request = self.loaded.fabric, self.request
        try:
            check_name(request.name)
        except ValueError as error:
            raise BadInput(str(error), how="choose another name") from None
        if request.name in {beamline.name for beamline in fabric.beamlines}:
            raise BadInput(f"{request.name!r} is in use", how="choose another name")
        index = next(i for i, b in enumerate(fabric.beamlines) if b.name == self.like.name)
        data = self.loaded.document.data
        row = data["beamlines"][index] if isinstance(data, dict) else {}
        copied = {key: value for key, value in row.items() if key not in OF_ONE}
        copied["detectors"] = self._detectors(row["detectors"])
        number = self._id()
        sent = sum(gbps(one["rate"]) for one in copied["detectors"]) * (
            self.like.sent_gbps / self.like.peak_gbps
        )
        block = self._ports(number, sent)
        own: Item = {
            "id": number,
            "name": request.name,
            "leaf": block.leaf,
            "ports": list(_ranges(block.ports)),
        }
        item = {key: own.get(key, copied.get(key)) for key in row if key in own or key in copied}
        return item | ({"owner": request.owner} if request.owner else {})

    def _detectors(self, rows: Sequence[Item]) -> list[Item]:
        """Detectors as those of `like`, with the rates of the request."""
        if not self.request.rates:
            return [dict(row) for row in rows]
        detectors = []
        for number, text in enumerate(self.request.rates):
            try:
                gbps(text)
            except ValueError as error:
                raise BadInput(str(error), where="--detector") from None
            like = rows[min(number, len(rows) - 1)]
            more = {} if number < len(rows) else {"name": f"{like['name']}-{number + 1}"}
            detectors.append({**like, **more, "rate": text.strip()})
        return detectors

    def _id(self) -> int:
        """Id of the request, or the number at the end of the name, or the next one.

        Raises BadInput where ports follow from ids: a next id depends on what was added before.
        """
        fabric, request = self.loaded.fabric, self.request
        if request.id is not None:
            return request.id
        used = {beamline.id for beamline in fabric.beamlines} | {*fabric.capacity.retired_beamlines}
        match = re.search(r"(?<!\d)(\d{1,3})$", request.name)
        number = int(match[1]) if match else 0
        if number and number not in used:
            return number
        if fabric.capacity.beamline_ports is not None:
            what = f"{request.name!r} ends in no number from 1 to {MOST_BEAMLINES} that is free"
            how = "give --id N: with capacity.beamline_ports, the ports follow from it"
            raise BadInput(what, how=how)
        return max(used) + 1

    def _leaves(self) -> list[Leaf]:
        """Leaves with a gateway for the beamlines' segment, by id; one if the request names it."""
        leaves = self.loaded.fabric.leaves
        own = [leaf for leaf in leaves if self.like.segment in leaf.segments]
        if self.request.leaf is not None:
            own = [leaf for leaf in leaves if leaf.name == self.request.leaf]
            if not own:
                raise BadInput(f"no leaf {self.request.leaf!r}", where="--leaf")
        return sorted(own, key=lambda leaf: leaf.id)

    def _speed(self, leaf: Leaf, port: str) -> int | None:
        hardware = self.hardware[leaf.name]
        return hardware.speed_gbps(port, leaf.splits.get(whole_port(port)))

    def ports_of(self, leaf: Leaf, speed: int) -> list[str]:
        """Ports of a leaf for servers, of one speed, in the hardware's order."""
        return server_ports(leaf, self.hardware[leaf.name], speed)

    def _used(self, leaf: Leaf) -> set[str]:
        return used_ports(self.loaded.fabric, leaf)

    def _ports(self, number: int, sent: float) -> BlockOfPorts:
        """Ports of the new servers: by the id, or the first free ones; raises Refused."""
        leaves = {leaf.name: leaf for leaf in self.loaded.fabric.leaves}
        speed = self._speed(leaves[self.like.leaf], self.like.port_names[0])
        if not speed:
            raise Refused(f"the speed of the ports of {self.like.name} is not known")
        fraction = self.loaded.fabric.rdma.line_rate_fraction
        needed = max(1, ceil(sent / (speed * fraction)))
        most = self.loaded.fabric.capacity.beamline_ports
        if self.request.leaf is None and most is not None:
            return self._by_id(number, needed, most, speed)
        return self._first_free(needed, speed)

    def _by_id(self, number: int, needed: int, most: int, speed: int) -> BlockOfPorts:
        """Block `number` of the leaves of the segment, whatever was added before."""
        name, file = self.request.name, self.loaded.document.file
        if needed > most:
            raise Refused(
                f"{name} needs {count_of(needed, 'port')} of {speed} Gb/s, and "
                f"capacity.beamline_ports keeps {most}",
                file=file,
                how="name a leaf: --leaf LEAF takes its first free ports",
            )
        per_leaf = self.loaded.fabric.capacity.beamlines_per_leaf
        leaves, before = self._leaves(), 0
        for leaf in leaves:
            ports = self.ports_of(leaf, speed)
            blocks = min(len(ports) // most, per_leaf or len(ports))
            if number <= before + blocks:
                first = (number - before - 1) * most
                block = ports[first : first + needed]
                if taken := [port for port in block if port in self._used(leaf)]:
                    raise Refused(
                        f"beamline {number} has {listing(taken)} of {leaf.name}, which is in use",
                        file=file,
                        how="name a leaf: --leaf LEAF takes its first free ports",
                    )
                return BlockOfPorts(leaf.name, tuple(block), speed)
            before += blocks
        raise Refused(
            f"{name} is beamline {number}, and the {count_of(len(leaves), 'leaf')} of segment "
            f"{self.like.segment} have blocks of {count_of(most, 'port')} for {before} beamlines: "
            f"{count_of(needed, 'port')} of {speed} Gb/s are missing",
            file=file,
            how=self._one_leaf(leaves[-1].name),
        )

    def _first_free(self, needed: int, speed: int) -> BlockOfPorts:
        """First free ports of the leaf of `like`, or else of the next leaf that has enough."""
        leaves = sorted(self._leaves(), key=lambda leaf: leaf.name != self.like.leaf)
        free = {
            leaf.name: [p for p in self.ports_of(leaf, speed) if p not in self._used(leaf)]
            for leaf in leaves
        }
        for leaf, ports in free.items():
            if len(ports) >= needed:
                return BlockOfPorts(leaf, tuple(ports[:needed]), speed)
        most = max(map(len, free.values()), default=0)
        names = listing(free) or f"no leaf of segment {self.like.segment}"
        raise Refused(
            f"{self.request.name} needs {count_of(needed, 'port')} of {speed} Gb/s on one leaf; "
            f"of {names} the emptiest has {most} free: {needed - most} are missing",
            file=self.loaded.document.file,
            how=self._one_leaf(self.like.leaf),
        )

    def _one_leaf(self, like: str) -> str:
        options = GrowthOptions(0, 1, 0, like=[like])
        name = self.loaded.fabric.fabric
        return growth_first(name, self.path, f"--add-leaves 1 --like {like}", options)

    def free_after(self, beamline: Beamline) -> Iterator[tuple[str, int]]:
        """Yield leaves with the number of ports like the new ones that are left."""
        for leaf in self._leaves():
            own = self._speed(leaf, beamline.port_names[0]) if leaf.name == beamline.leaf else None
            speed = own or self._speed(leaf, self.like.port_names[0])
            used = self._used(leaf) | ({*beamline.port_names} if own else set())
            if speed:
                yield leaf.name, sum(p not in used for p in self.ports_of(leaf, speed))


def server_ports(leaf: Leaf, hardware: Hardware, speed: int) -> list[str]:
    """Ports of a leaf for servers, of one speed, in the order of its hardware in its role."""
    reserved = {whole_port(name) for name in hardware.fabric_places(leaf.splits)}
    return [
        part
        for name in hardware.port_names()
        if name not in reserved
        for part in (parts_of(name, leaf.splits[name]) if name in leaf.splits else (name,))
        if hardware.speed_gbps(part, leaf.splits.get(whole_port(part))) == speed
    ]


def used_ports(fabric: Fabric, leaf: Leaf) -> set[str]:
    """Ports of a leaf with a server or an exit, and those of removed beamlines."""
    own = {port for s in fabric.servers if s.leaf == leaf.name for port in s.ports}
    return own | {exit_.port for exit_ in leaf.exits} | leaf.retired_port_names


def _ranges(ports: Sequence[str]) -> Iterator[str]:
    """Yield consecutive ports as ranges; a part of a split port is alone."""
    run: list[str] = []
    for port in ports:
        if run and (":" in port or _next(run[-1]) != port):
            yield _range(run)
            run = []
        run.append(port)
    yield _range(run)


def _next(port: str) -> str:
    head, _, number = port.rpartition("/")
    return f"{head}/{int(number) + 1}" if number.isdecimal() else ""


def _range(run: Sequence[str]) -> str:
    return run[0] if len(run) == 1 else f"{run[0]}-{run[-1].rpartition('/')[2]}"
