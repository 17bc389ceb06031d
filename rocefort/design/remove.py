"""Removal and renaming of switches, servers and beamlines, with what refers to them.

The ids of removed switches and beamlines become retired, and so do the ports of beamlines: no later
one gets their addresses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rocefort.base.documents.edit import comments_above, spliced, with_scalars, with_values, without
from rocefort.base.documents.read import YamlPath, document_of, path_text
from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, Problem, Refused
from rocefort.design.expand import GROUPS, LEAVES, SERVERS, SINGULAR, SPINES
from rocefort.design.load.beamlines import BEAMLINES
from rocefort.design.load.documents import LoadedFabric, loaded_fabric
from rocefort.models.base import check_name
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.wording import count_of, listing

Indexes = Mapping[YamlPath, set[int]]  # of list items, by the path of the list


@dataclass(frozen=True)
class EditedFabric:
    """Fabric that was edited in memory.

    lines: number of removed lines. beside: changes of the YAML beside the named items. comments:
    those above a removed item, which stay.
    """

    text: str
    loaded: LoadedFabric
    lines: int = 0
    beside: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()


def remove(text: str, loaded: LoadedFabric, names: Sequence[str]) -> EditedFabric:
    """Remove switches and servers from the text of `loaded`; it does not derive.

    Raises BadInput for unknown names. Raises Refused if a server loses its leaf, or the fabric its
    canary or its last switch of a role.
    """
    fabric = loaded.fabric
    gone = set(names)
    _check_names(fabric, gone)
    items: Indexes = {
        (group,): {
            i
            for i, item in enumerate(getattr(fabric, group))
            if item.name in gone and (group, i) not in loaded.document.written
        }
        for group in (SPINES, LEAVES, SERVERS, BEAMLINES)
    }
    gone |= {name for b in fabric.beamlines if b.name in gone for name in b.servers}
    if problems := list(_problems(loaded, gone)):
        raise Refused(problems=problems)
    references = _references(fabric, gone)
    cuts = without(text, {**items, **references})
    retirements = _retirements(fabric, items)
    for path, values in retirements.items():
        cuts += with_scalars(text, path, values)
    expected = _expected(loaded, {**items, **references}, retirements)
    edited = spliced(text, cuts)
    return EditedFabric(
        edited,
        read_back(edited, loaded, expected),
        sum(len(text[cut.at : cut.at + cut.cut].strip().splitlines()) for cut in cuts),
        (*_retired_text(fabric, retirements), *_references_text(fabric, references)),
        tuple(comments_above(text, [(*path, i) for path, i in _paths(items)])),
    )


def names_of(fabric: Fabric) -> list[str]:
    """Names of all switches, servers and beamlines."""
    switches = [switch.name for switch in (*fabric.spines, *fabric.leaves)]
    return [*switches, *(s.name for s in fabric.servers), *(b.name for b in fabric.beamlines)]


def _check_names(fabric: Fabric, gone: set[str]) -> None:
    known = names_of(fabric)
    strangers = sorted(gone - set(known))
    if strangers:
        what = "no spine, leaf or server {!r}"
        raise BadInput(
            problems=[Problem("", what.format(name), nearest(name, known)) for name in strangers]
        )


def _problems(loaded: LoadedFabric, gone: set[str]) -> Iterator[Problem]:
    """Yield reasons against a removal."""
    fabric = loaded.fabric
    yield from _parts(fabric, gone)
    for leaf in fabric.leaves:
        left = [s.name for s in fabric.servers if s.leaf == leaf.name and s.name not in gone]
        if leaf.name in gone and left:
            yield Problem(
                leaf.name,
                f"{count_of(len(left), 'server')} would lose the leaf: {listing(left)}",
                "move them to another leaf first, or remove them by the same command",
            )
    for group in GROUPS:
        if all(switch.name in gone for switch in getattr(fabric, group)):
            yield Problem("", f"no {SINGULAR[group]} would be left", "keep one")
    if fabric.rdma.servers and gone.issuperset(fabric.rdma.servers):
        how = "list another server first, or leave the key out: gates then choose"
        yield loaded.problem(("rdma", "servers"), "no server would be left in the list", how)
    if fabric.rollout.canary in gone:
        what = f"{fabric.rollout.canary} is the canary of rollouts"
        yield loaded.problem(("rollout", "canary"), what, "name another leaf first")


def _parts(fabric: Fabric, gone: set[str]) -> Iterator[Problem]:
    """Yield the problem of a server that follows from a beamline, which stays."""
    for beamline in fabric.beamlines:
        own = [name for name in beamline.servers if name in gone]
        if own and not gone.issuperset(beamline.servers):
            what = f"{listing(own)} follows from beamline {beamline.name}"
            yield Problem("", what, "remove the beamline, or its port in `beamlines`")


def _references(fabric: Fabric, gone: set[str]) -> Indexes:
    """Indexes of items that refer to removed switches and servers."""
    racks = {s.rack for s in (*fabric.spines, *fabric.leaves) if s.name not in gone}
    return {
        ("racks",): {i for i, rack in enumerate(fabric.racks) if rack.name not in racks},
        ("links",): {i for i, pin in enumerate(fabric.links) if gone & {pin.spine, pin.leaf}},
        ("waivers",): {i for i, one in enumerate(fabric.waivers) if one.device in gone},
        ("rdma", "servers"): {i for i, name in enumerate(fabric.rdma.servers) if name in gone},
    }


def _references_text(fabric: Fabric, references: Indexes) -> Iterator[str]:
    for index in sorted(references["racks",]):
        yield f"the values of rack {fabric.racks[index].name}, which is empty, are removed"
    for index in sorted(references["links",]):
        pin = fabric.links[index]
        yield f"the values of link {pin.number} of {pin.spine} and {pin.leaf} are removed"
    for index in sorted(references["waivers",]):
        waiver = fabric.waivers[index]
        yield f"the waiver of {waiver.rule} at {waiver.place_text} is removed"
    for index in sorted(references["rdma", "servers"]):
        yield f"rdma.servers no longer lists {fabric.rdma.servers[index]}"


def _retirements(fabric: Fabric, items: Indexes) -> dict[YamlPath, list[int | str]]:
    """Ids of removed switches and beamlines, and ports of removed beamlines on leaves that stay."""
    retired: dict[YamlPath, list[int | str]] = {
        ("capacity", f"retired_{group}"): [
            getattr(fabric, group)[i].id for i in sorted(items[group,])
        ]
        for group in (*GROUPS, BEAMLINES)
        if items[group,]
    }
    leaves = {leaf.name: i for i, leaf in enumerate(fabric.leaves) if i not in items[LEAVES,]}
    for beamline in (fabric.beamlines[i] for i in sorted(items[BEAMLINES,])):
        if beamline.leaf in leaves:
            path = (LEAVES, leaves[beamline.leaf], "retired_ports")
            retired.setdefault(path, []).extend(beamline.ports)
    return retired


def _retired_text(
    fabric: Fabric, retirements: Mapping[YamlPath, Sequence[int | str]]
) -> Iterator[str]:
    for path, values in retirements.items():
        if path[0] == LEAVES:
            leaf = fabric.leaves[int(path[1])].name
            yield f"retired_ports of {leaf} keeps {listing(values)} free, and so their addresses"
            continue
        word = "id" if len(values) == 1 else "ids"
        other = "beamline" if path[-1] == f"retired_{BEAMLINES}" else "switch"
        yield f"capacity.{path[-1]} keeps {word} {listing(values)} free: no other {other} gets them"


def _paths(items: Indexes) -> Iterator[tuple[YamlPath, int]]:
    yield from ((path, index) for path, indexes in items.items() for index in sorted(indexes))


def _expected(
    loaded: LoadedFabric, gone: Indexes, retirements: Mapping[YamlPath, Sequence[int | str]]
) -> object:
    """Data of the file after a removal, without its text."""
    added: dict[YamlPath, Sequence[int | str]] = defaultdict(list, retirements)

    def kept(value: object, path: YamlPath) -> object:
        if isinstance(value, dict):
            keys = [at[-1] for at in retirements if at[:-1] == path and at[-1] not in value]
            new: dict[object, object] = {key: [] for key in keys}
            return {key: kept(item, (*path, key)) for key, item in (value | new).items()}
        if isinstance(value, list):
            out = gone.get(path, ())
            rest = [kept(item, (*path, i)) for i, item in enumerate(value) if i not in out]
            return [*rest, *added[path]]
        return value

    return kept(loaded.document.data, ())


def read_back(text: str, before: LoadedFabric, expected: object) -> LoadedFabric:
    """Load an edited text; raises Refused if its data is not the intended one."""
    file = before.document.file
    try:
        document = document_of(text, f"{file} as it would be")
    except BadInput:
        document = None
    if document is None or document.data != expected:
        what = "the edited file does not read back as intended"
        raise Refused(what, where=file, how="edit it by hand, and report it")
    return loaded_fabric(document, before.site)


REFERENCES = {  # keys of list items whose value is the name of a switch, server or beamline
    "spines": ("name",),
    "leaves": ("name",),
    "servers": ("name", "leaf"),
    "beamlines": ("name", "leaf"),
    "links": ("spine", "leaf"),
    "waivers": ("device",),
}


def rename(text: str, loaded: LoadedFabric, old: str, new: str) -> EditedFabric:
    """Rename a switch, server or beamline in the text of `loaded`; it does not derive.

    Raises BadInput for an unknown name, and for a new one that is invalid or in use.
    """
    fabric = loaded.fabric
    known = names_of(fabric)
    if old not in known:
        raise BadInput(f"no spine, leaf or server {old!r}", how=nearest(old, known))
    if new in known:
        raise BadInput(f"{new!r} is in use", how="choose another name")
    try:
        check_name(new)
    except ValueError as error:
        raise BadInput(str(error), how="choose another name") from None
    places = [path for path in _places(fabric, old) if path[:2] not in loaded.document.written]
    if any(old in beamline.servers for beamline in fabric.beamlines):
        owner = next(one.name for one in fabric.beamlines if old in one.servers)
        what = f"{old} follows from beamline {owner}"
        raise BadInput(what, how="rename the beamline")
    edited = spliced(text, with_values(text, dict.fromkeys(places, new)))
    expected = _with_values(loaded.document.data, (), set(places), new)
    beside = tuple(path_text(path) for path in places)
    return EditedFabric(edited, read_back(edited, loaded, expected), beside=beside)


def _places(fabric: Fabric, name: str) -> Iterator[YamlPath]:
    """Paths of all values that name a switch, server or beamline."""
    values: list[tuple[YamlPath, str | None]] = [(("rollout", "canary"), fabric.rollout.canary)]
    for group, keys in REFERENCES.items():
        for index, item in enumerate(getattr(fabric, group)):
            values += [((group, index, key), getattr(item, key)) for key in keys]
    values += [(("rdma", "servers", i), server) for i, server in enumerate(fabric.rdma.servers)]
    yield from (path for path, value in values if value == name)


def _with_values(data: object, at: YamlPath, places: set[YamlPath], value: str) -> object:
    if at in places:
        return value
    if isinstance(data, dict):
        return {key: _with_values(item, (*at, key), places, value) for key, item in data.items()}
    if isinstance(data, list):
        return [_with_values(item, (*at, i), places, value) for i, item in enumerate(data)]
    return data
