"""New name of a switch or server in a fabric's YAML, and in all references to it."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.base.documents.edit import spliced, with_values
from rocefort.base.documents.read import YamlPath, path_text
from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput
from rocefort.design.load.load import LoadedFabric
from rocefort.design.remove import EditedFabric, names_of, read_back
from rocefort.models.base import check_name
from rocefort.models.fabric.fabric import Fabric

REFERENCES = {  # keys of list items whose value is the name of a switch or server
    "spines": ("name",),
    "leaves": ("name",),
    "servers": ("name", "leaf"),
    "links": ("spine", "leaf"),
    "waivers": ("device",),
}


def rename(text: str, loaded: LoadedFabric, old: str, new: str) -> EditedFabric:
    """Rename a switch or server in the text of `loaded`; it does not derive.

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
    places = list(_places(fabric, old))
    edited = spliced(text, with_values(text, dict.fromkeys(places, new)))
    expected = _with_values(loaded.document.data, (), set(places), new)
    beside = tuple(path_text(path) for path in places)
    return EditedFabric(edited, read_back(edited, loaded, expected), beside=beside)


def _places(fabric: Fabric, name: str) -> Iterator[YamlPath]:
    """Paths of all values that name a switch or server."""
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
