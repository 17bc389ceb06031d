"""A lab for a whole session of tests; before each test it is reset to its start.

Its parts are its switches, their model, its servers and their listeners. Every attribute of a part
is restored by assignment; a container gets its earlier content. A remaining difference from the
start is an error of the test that ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from hashlib import sha256
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from rocefort.design.subject import ReadNetwork
from rocefort.dialects.vrp.text.config_tree import ConfigLine
from rocefort.emulator.emulated_site import Rehearsal, rehearse

LISTENERS = "listeners"
VALUES = (type(None), str, int, float, datetime, IPv4Address, Path, ConfigLine, BaseModel)
Picture = dict[tuple[str, str], object]  # by part and attribute


def picture(lab: Rehearsal) -> Picture:
    """Return all attributes of a lab as plain data."""
    parts = parts_of(lab)
    names = {id(part): name for name, part in parts.items()}
    seen: Picture = {
        (name, attribute): _plain(value, names)
        for name, part in parts.items()
        for attribute, value in vars(part).items()
    }
    folder = lab.server.state_dir
    for path in _files(folder):
        seen["files", str(path.relative_to(folder))] = sha256(path.read_bytes()).hexdigest()
    return seen


def parts_of(lab: Rehearsal) -> dict[str, object]:
    """Return the parts of a lab by name."""
    return {**lab.switches, "model": lab.model, "servers": lab.hosts, LISTENERS: lab.server}


def unlike(one: Picture, other: Picture) -> set[tuple[str, str]]:
    """Return attributes that only one of two labs has, or that differ."""
    return {key for key in one.keys() | other.keys() if one.get(key, ...) != other.get(key, ...)}


def _files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def _plain(value: object, names: Mapping[int, str]) -> object:
    """Return a value without identities. names: names of the parts, by identity."""
    if id(value) in names:
        return names[id(value)]
    if isinstance(value, VALUES):
        return value
    if isinstance(value, Mapping):
        return {str(_plain(key, names)): _plain(each, names) for key, each in value.items()}
    if isinstance(value, Sequence | set | frozenset):
        return [_plain(each, names) for each in value]
    if is_dataclass(value):
        content = {one.name: _plain(getattr(value, one.name), names) for one in fields(value)}
        return type(value).__name__, content
    return getattr(value, "__qualname__", type(value).__name__)  # functions, event loops


class SharedLab:
    """A running lab with a copy of its state at the start."""

    def __init__(self, lab: Rehearsal) -> None:
        self.lab = lab
        self.start = picture(lab)
        # Listeners are not restored: a closed listener does not open again.
        self._parts = {n: _Attributes(p) for n, p in parts_of(lab).items() if n != LISTENERS}
        self._files = _files(lab.server.state_dir)

    def reset(self) -> None:
        """End its sessions and restore its state; fails if a difference remains."""
        self.lab.server.hang_up()
        self.lab.hosts.hang_up()
        for attributes in self._parts.values():
            attributes.put_back()
        for path in _files(self.lab.server.state_dir) - self._files:
            path.unlink()
        different = unlike(picture(self.lab), self.start)
        assert not different, different


@dataclass
class _Attributes:
    """Every attribute of a part of a lab, and the content of its containers."""

    part: Any

    def __post_init__(self) -> None:
        self.values = dict(vars(self.part))
        containers = (dict, list, set)
        self.contents = {n: copy(v) for n, v in self.values.items() if isinstance(v, containers)}

    def put_back(self) -> None:
        vars(self.part).clear()
        vars(self.part).update(self.values)
        for name, content in self.contents.items():
            container = self.values[name]
            container.clear()
            container.extend(content) if isinstance(container, list) else container.update(content)


@contextmanager
def shared_lab(subject: ReadNetwork, state: Path) -> Iterator[SharedLab]:
    """Run a lab of a fabric that tests share."""
    with rehearse(subject.network, subject.texts, state) as lab:
        yield SharedLab(lab)
