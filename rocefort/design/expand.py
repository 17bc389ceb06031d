"""Growth of a fabric's YAML: new switches and servers with the next ids, named by pattern.

Existing YAML is unchanged: new items follow the last spine, leaf and server. They are written as
their neighbours are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from rocefort.base.documents.edit import Insertion, Item, appended, spliced
from rocefort.base.documents.read import YamlPath, document_of
from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, Refused
from rocefort.design.derive.check_consistency import releases_of
from rocefort.design.load.documents import Catalogue, LoadedFabric, loaded_fabric
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.topology import Leaf, Switch
from rocefort.models.hardware.media import parts_of, whole_port
from rocefort.models.wording import count_of, listing

SPINES, LEAVES, SERVERS = "spines", "leaves", "servers"
GROUPS = (SPINES, LEAVES)
SINGULAR = {SPINES: "spine", LEAVES: "leaf"}
OF_ONE = ("id", "name", "rack", "pins", "exits")  # keys of a switch that are not copied
SERVER_OF_ONE = ("description", "address")


@dataclass(frozen=True)
class NewSwitchModel:
    """Model of new switches, and their release if it is given."""

    hardware: str
    software: str = ""


@dataclass(frozen=True)
class GrowthRequest:
    """Requested growth. hardware, racks, names: by group; servers: on each new leaf.

    like: names of the leaf and the spine that new ones are like. segments: of new leaves.
    """

    spines: int = 0
    leaves: int = 0
    servers: int = 0
    hardware: Mapping[str, NewSwitchModel] = field(default_factory=dict)
    racks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    like: Sequence[str] = ()
    segments: Sequence[str] = ()
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def number(self, group: str) -> int:
        """Number of requested switches of a group."""
        return self.spines if group == SPINES else self.leaves


@dataclass(frozen=True)
class GrownFabric:
    """Fabric that has grown in memory. new: the names of new items, by group."""

    text: str
    insertions: tuple[Insertion, ...]
    loaded: LoadedFabric
    new: Mapping[str, tuple[str, ...]]


def grow(
    text: str, loaded: LoadedFabric, catalogue: Catalogue, request: GrowthRequest
) -> GrownFabric:
    """Add switches and servers to the text of `loaded`; it does not derive.

    Raises Refused for growth beyond the capacity or the ports. Raises BadInput for an unknown
    model, release, segment or switch, and for switches of several kinds without `like`.
    """
    data = loaded.document.data
    if not isinstance(data, dict):
        raise TypeError("a fabric that is loaded is a mapping")
    document = loaded.document
    growth = _Growth(loaded.fabric, data, document.file, catalogue, request, document.written)
    groups = [group for group in GROUPS if request.number(group)]
    growth.check_request(groups)
    lists = {group: list(growth.switches(group)) for group in groups}
    if request.servers and request.leaves:
        lists[SERVERS] = list(growth.servers(lists[LEAVES]))
    like = {group: growth.like(group) for group in groups}
    insertions = appended(text, lists, like, LEAVES)
    grown = spliced(text, insertions)
    document = document_of(grown, f"{loaded.document.file} as it would be")
    expected = data | {key: [*(data.get(key) or ()), *items] for key, items in lists.items()}
    if document.data != expected:
        what = "the new items do not read back as intended"
        raise Refused(what, file=loaded.document.file, how="write them by hand, and report it")
    new = {key: tuple(str(item["name"]) for item in items) for key, items in lists.items()}
    return GrownFabric(grown, tuple(insertions), loaded_fabric(document, loaded.site), new)


@dataclass(frozen=True)
class _Growth:
    fabric: Fabric
    data: Mapping[str, list[Item]]
    file: str
    catalogue: Catalogue
    request: GrowthRequest
    written: Mapping[YamlPath, YamlPath]  # rows that follow from beamlines

    def _members(self, group: str) -> Sequence[Switch]:
        return self.fabric.spines if group == SPINES else self.fabric.leaves

    def check_request(self, groups: Sequence[str]) -> None:
        """Raise BadInput for unknown switches and segments, and for names that are in use."""
        switches = {switch.name: group for group in GROUPS for switch in self._members(group)}
        for name in self.request.like:
            if name not in switches:
                how = nearest(name, switches)
                raise BadInput(f"no spine or leaf {name!r}", where="--like", how=how)
            if switches[name] not in groups:
                what = f"{name} is a {SINGULAR[switches[name]]}, and no new one is requested"
                raise BadInput(what, where="--like", how=f"add --add-{switches[name]}")
        for group in groups:
            same = [name for name in self.request.like if switches[name] == group]
            if len(same) > 1:
                what = f"new {group} are like one {SINGULAR[group]}, not like {listing(same)}"
                raise BadInput(what, where="--like", how="add the others by another command")
        known = [segment.name for segment in self.fabric.segments if segment.vlan]
        for name in self.request.segments:
            if name not in known:
                how = nearest(name, known)
                raise BadInput(f"no segment {name!r} with a VLAN", where="--segments", how=how)
        used = {*switches, *(server.name for server in self.fabric.servers)}
        for name in chain.from_iterable(self.request.names.values()):
            if name in used:
                raise BadInput(f"{name!r} is in use", where="--names", how="choose another name")
            used.add(name)

    def like(self, group: str) -> int:
        """Index of the switch that new ones copy: as requested, else the one with the highest id.

        Raises BadInput if nothing selects one of several kinds.
        """
        members, model = self._members(group), self.request.hardware.get(group)
        requested = [i for i, s in enumerate(members) if s.name in self.request.like]
        alike = [i for i, s in enumerate(members) if model and s.hardware == model.hardware]
        places = sorted(requested or alike or range(len(members)), key=lambda i: members[i].id)
        kinds: dict[str, str] = {}
        for place in places:
            kinds.setdefault(self._kind(members[place], model), members[place].name)
        if len(kinds) > 1:
            kinds_text = listing(f"{kind} ({name})" for kind, name in kinds.items())
            raise BadInput(
                f"the {group} are of {len(kinds)} kinds: {kinds_text}",
                where=f"--add-{group}",
                how=f"name the {SINGULAR[group]} that new ones are like: --like "
                f"{members[places[-1]].name}",
            )
        return places[-1]

    def _kind(self, switch: Switch, model: NewSwitchModel | None) -> str:
        """Text of hardware and segments that new switches copy and the request leaves open."""
        parts = [] if model else [switch.hardware]
        if isinstance(switch, Leaf) and not self.request.segments:
            parts.append(f"for {listing(switch.segments)}" if switch.segments else "for no segment")
        if any(each.lossless for each in (*self.fabric.spines, *self.fabric.leaves)):
            own = f"lossless profile {switch.lossless}" if switch.lossless else "the usual profile"
            parts.append(f"with {own}")
        return " ".join(parts)

    def switches(self, group: str) -> Iterator[Item]:
        """New items of a group."""
        position, number = self.like(group), self.request.number(group)
        racks = self.request.racks.get(group, ())
        copied = {k: v for k, v in self.data[group][position].items() if k not in OF_ONE}
        copied |= self._model(group, self._members(group)[position])
        if group == LEAVES and self.request.segments:
            copied["segments"] = list(self.request.segments)
        if copied["hardware"] != self._members(group)[position].hardware:
            for of_other_model in ("breakout", "fabric_ports"):
                copied.pop(of_other_model, None)
        pattern = name_pattern(self._members(group), group)
        names = self.request.names.get(group, ())
        for index, id_ in enumerate(self._ids(group)):
            own = {"rack": racks[index * len(racks) // number]} if racks else {}
            name = names[index] if names else pattern(id_)
            item = {"id": id_, "name": name, **copied, **own}
            yield _in_order(item, self.data[group][position])

    def _ids(self, group: str) -> range:
        """Next ids, above those of present and retired switches."""
        capacity, spines, number = self.fabric.capacity, group == SPINES, self.request.number(group)
        most = capacity.spines if spines else capacity.leaves
        retired = capacity.retired_spines if spines else capacity.retired_leaves
        used = {*(switch.id for switch in self._members(group)), *retired}
        last = max(used)
        if last + number > most:
            gaps = sum(id_ not in used for id_ in range(1, min(last, most) + 1))
            ids = f"ids {last + 1} to {last + number}" if number > 1 else f"id {last + 1}"
            what = (
                f"{number} more {group} take {ids}; the reserved capacity is {most} {group}, which "
                f"leaves room for {max(most - last, 0)}"
            )
            if gaps:
                what += f" ({gaps} lower ids are free, but may be of switches that are gone)"
            how = f"ask for fewer; raising capacity.{group} may move addresses: see `diff`"
            raise Refused(what, where=f"capacity.{group}", how=how, file=self.file)
        return range(last + 1, last + number + 1)

    def _model(self, group: str, like: Switch) -> Item:
        """Hardware and software, if the request has a model."""
        model = self.request.hardware.get(group)
        if model is None:
            return {}
        if model.hardware not in self.catalogue.hardware:
            what = f"no hardware {model.hardware!r} in inventory/hardware"
            raise BadInput(what, where="--hardware", how=nearest(model.hardware, self._models()))
        software = model.software or like.software
        facts = self.catalogue.hardware[model.hardware]
        if facts.family_of(software) is None:
            raise BadInput(
                f"{model.hardware} has no release {software!r}",
                where="--hardware",
                how=f"{releases_of(facts)}: {model.hardware}@RELEASE",
            )
        return {"hardware": model.hardware, "software": software}

    def _models(self) -> list[str]:
        return list(self.catalogue.hardware)

    def servers(self, leaves: Sequence[Item]) -> Iterator[Item]:
        """Yield the requested servers of each new leaf, like those of its neighbour."""
        neighbour = self.fabric.leaves[self.like(LEAVES)]
        copied = dict(self._server_like(neighbour))
        like, number = str(copied.pop("name")), 0
        if self.request.segments and copied["segment"] not in self.request.segments:
            copied["segment"] = self.request.segments[0]
        for leaf in leaves:
            if neighbour.name in like:  # numbers of servers begin again on each leaf
                number, own_like = 0, like.replace(neighbour.name, str(leaf["name"]))
            else:
                own_like = like
            name = numbered_on([s.name for s in self.fabric.servers], own_like)
            ports = self._server_ports(leaf, neighbour, copied.get("port"))
            if self.request.servers > len(ports):
                raise Refused(
                    f"{count_of(self.request.servers, 'server')} on each new leaf, and "
                    f"{leaf['hardware']} has {count_of(len(ports), 'port')} for servers like "
                    f"{neighbour.name}'s; the others are kept for spines or of another speed",
                    where=str(leaf["name"]),
                    file=self.file,
                    how=f"ask for at most {len(ports)}" if ports else "leave --servers out",
                )
            for port in ports[: self.request.servers]:
                number += 1
                own = {"name": name(number), "leaf": leaf["name"], "port": port}
                yield {**own, **{k: v for k, v in copied.items() if k not in own}}

    def _server_like(self, leaf: Leaf) -> Item:
        """Copy of the neighbour's last server with one port; a plain one if it has none."""
        for index in reversed(range(len(self.fabric.servers))):
            server = self.fabric.servers[index]
            if (SERVERS, index) in self.written:  # of a beamline
                continue
            if server.leaf == leaf.name and server.port:
                row = self.data[SERVERS][index]
                return {k: v for k, v in row.items() if k not in SERVER_OF_ONE}
        segments = self.request.segments or leaf.segments
        if not segments:
            what = f"{leaf.name}, which new leaves are like, serves no segment"
            raise Refused(what, file=self.file, how="leave --servers out")
        return {"name": "server00", "segment": segments[0]}

    def _server_ports(self, leaf: Item, neighbour: Leaf, port: object) -> list[str]:
        """Ports of a new leaf for servers, with the speed of the neighbour's port, or any.

        The ports that the neighbour's servers use come first.
        """
        own = neighbour.fabric_ports if leaf.get("fabric_ports") else ()
        hardware = self.catalogue.hardware[str(leaf["hardware"])].in_role(spine=False, own=own)
        splits = neighbour.splits if leaf.get("breakout") else {}
        reserved = {whole_port(name) for name in hardware.fabric_places(splits)}
        free = [
            part
            for name in hardware.port_names()
            if name not in reserved
            for part in (parts_of(name, splits[name]) if name in splits else (name,))
        ]
        speeds = {part: hardware.speed_gbps(part, splits.get(whole_port(part))) for part in free}
        model = self.catalogue.hardware[neighbour.hardware]
        speed_gbps = (
            model.speed_gbps(port, neighbour.splits.get(whole_port(port)))
            if isinstance(port, str)
            else None
        )
        fitting = [part for part in free if speed_gbps is None or speeds[part] == speed_gbps]
        used = [p for s in self.fabric.servers if s.leaf == neighbour.name for p in s.ports]
        return sorted(fitting, key=lambda part: part not in used)


def _in_order(item: Item, like: Item) -> Item:
    """Order keys as a neighbour's, then the others."""
    keys = [*(key for key in like if key in item), *(key for key in item if key not in like)]
    return {key: item[key] for key in keys}


def name_pattern(members: Sequence[Switch], group: str) -> Callable[[int], str]:
    """Return the function from ids to names of a group: it fits the most names."""
    youngest = max(members, key=lambda switch: switch.id)
    ids = {switch.name: switch.id for switch in members}
    best: tuple[int, str, int, int, str] = (0, SINGULAR[group], 0, 2, "")
    for run in re.finditer(r"[0-9]{1,9}", youngest.name):
        before, after = youngest.name[: run.start()], youngest.name[run.end() :]
        offset, width = int(run[0]) - youngest.id, len(run[0])
        alike = sum(name == f"{before}{id_ + offset:0{width}}{after}" for name, id_ in ids.items())
        best = max(best, (alike, before, offset, width, after), key=lambda found: found[0])
    _, head, shift, digits, tail = best
    return lambda id_: f"{head}{id_ + shift:0{digits}}{tail}"


def numbered_on(names: Sequence[str], like: str) -> Callable[[int], str]:
    """Return the function from numbers to names, after the highest number with the same prefix."""
    match = re.fullmatch(r"(.*?)([0-9]{0,9})", like)
    head, digits = (match[1], match[2]) if match else (like, "")
    matches = (re.fullmatch(re.escape(head) + r"([0-9]{1,9})", name) for name in names)
    highest = max((int(one[1]) for one in matches if one), default=0)
    return lambda number: f"{head}{highest + number:0{len(digits) or 2}}"
