"""Edits of the profiles of a fabric.yaml: new profiles, and the keys that name them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from rocefort.base.documents.edit import line_comments, with_entry, with_line_comments
from rocefort.base.documents.read import YamlPath
from rocefort.base.documents.repair import value_at
from rocefort.change.edit import FabricFile
from rocefort.design.remove import EditedFabric, read_back
from rocefort.models.fabric.types import Sourced

Entries = Mapping[tuple[str, ...], object]


def with_entries(file: FabricFile, entries: Entries) -> EditedFabric:
    """Return a fabric with values at paths; a profile's unchanged values keep their comments.

    Raises Refused if the text does not read back as intended.
    """
    text, expected = file.text, deepcopy(file.loaded.document.data)
    for path, value in entries.items():
        text = with_entry(text, path, value)
        _set(expected, path, value)
    text = with_line_comments(text, dict(_comments(file, entries)))
    return EditedFabric(text, read_back(text, file.loaded, expected))


def profile_with(profile: Sourced, values: Mapping[str, object], source: str) -> dict[str, object]:
    """Return the data of a profile with other values, which have a source of their own."""
    data = profile.model_dump(mode="json", exclude_defaults=True)
    sources = {k: v for k, v in profile.sources.items() if k not in values}
    sources |= {key: source for key in values if key != "lossless"}
    assumed = [key for key in profile.assumed if key not in values]
    marks = {"source": profile.source, "sources": sources, "assumed": assumed}
    kept = {key: value for key, value in marks.items() if value}
    out = {**kept, **{k: v for k, v in data.items() if k not in marks}, **values}
    if "kind" in out:
        out = {"kind": out.pop("kind"), **out}
    return out


def _comments(file: FabricFile, entries: Entries) -> Iterator[tuple[YamlPath, str]]:
    """Yield comments of values that a new profile has from the fabric's own, by their new path."""
    fabric, data = file.start.fabric, file.loaded.document.data
    for kind, name in (
        ("lossless", fabric.lossless),
        ("congestion_control", fabric.congestion_control),
    ):
        before = value_at(data, ("profiles", kind, str(name)))
        new = next((path for path in entries if path[:2] == ("profiles", kind)), None)
        if not isinstance(before, dict) or new is None:
            continue
        after = entries[new]
        for path, comment in line_comments(file.text, ("profiles", kind, str(name))).items():
            of_value = path, ("sources", path[0])
            if all(_alike(value_at(before, at), value_at(after, at)) for at in of_value):
                yield (*new, *path), comment


def _alike(one: object, other: object) -> bool:
    """Whether two values are equal, or both lists or mappings, whose items have comments too."""
    both = isinstance(one, dict | list) and isinstance(other, dict | list)
    return both or one == other


def _set(data: Any, path: tuple[str, ...], value: object) -> None:  # noqa: ANN401 - of YAML
    for part in path[:-1]:
        if data.get(part) is None:
            data[part] = {}
        data = data[part]
    data[path[-1]] = value
