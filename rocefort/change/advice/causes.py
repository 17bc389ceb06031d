"""Causes of a change in YAML: changed values, and the line behind each line of configuration.

Items of a list are identified by their name or id, not by their index. So a new item in the middle
is one change.

A configuration line may contain several values, and a port or a peer depends on two switches. It
may then come from several lines of YAML: the review names the one that the change touches.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rocefort.base.documents.read import Document, YamlPath
from rocefort.change.results import IntentChange, ReviewLine, SwitchLines
from rocefort.dialects.data import ExtraLine
from rocefort.models.device.secret import REFERENCE, SECRET_KEYS
from rocefort.models.network.network import EVERY, Network, Position, Sources, SwitchRole
from rocefort.models.network.sources import on_lines
from rocefort.validators.facts.roce_ports import ends_of

# Keys that identify an item of a list: the first one that all items have with unique values.
KEYS = ("name", "id", "rule", "port", "queue", "dscp", "prefix")
LONGEST = 200  # characters of a value that a change shows
HIDDEN = "(hidden: no reference)"
_ABSENT = object()


@dataclass(frozen=True)
class _Side:
    """Value of one side with its YAML path; renamed: as of `document_changes`."""

    document: Document | None
    value: object
    path: YamlPath
    renamed: Mapping[str, str]

    def below(self, key: str | int, value: object) -> _Side:
        """Return the value of a key, or of an item."""
        return replace(self, value=value, path=(*self.path, key))

    @property
    def position(self) -> Position | None:
        """Position of the value; None if it is absent."""
        if self.document is None or self.value is _ABSENT:
            return None
        return self.document.key_at(self.path)


def document_changes(
    before: Document | None, after: Document | None, renamed: Mapping[str, str] | None = None
) -> Iterator[IntentChange]:
    """Yield differences in the order of the second document, then those of the first only.

    None: there is no such document. A mapping or an item that only one side has is one change.
    renamed: name in the second document by path in the first, such as `servers[gpu02]`.
    """
    sides = (_Side(d, d.data if d else _ABSENT, (), renamed or {}) for d in (before, after))
    yield from _changes("", *sides)


def _changes(path: str, old: _Side, new: _Side) -> Iterator[IntentChange]:
    if old.value == new.value and type(old.value) is type(new.value):
        return
    if isinstance(old.value, dict) and isinstance(new.value, dict):
        yield from _mappings(path, old, new)
        return
    if isinstance(old.value, list) and isinstance(new.value, list):
        key = _key_of(old.value + new.value, old.value, new.value)
        if key is not None:
            was = {
                old.renamed.get(f"{path}[{name}]", name): item
                for name, item in _by_key(old.value, key).items()
            }
            will = _by_key(new.value, key)
            for name in (*will, *(name for name in was if name not in will)):
                (i, a), (j, b) = was.get(name, (0, _ABSENT)), will.get(name, (0, _ABSENT))
                yield from _changes(f"{path}[{name}]", old.below(i, a), new.below(j, b))
            return
    yield IntentChange(
        path=path or ".",
        before=_yaml_line(path, old.value),
        after=_yaml_line(path, new.value),
        before_at=_position_text(old.position),
        after_at=_position_text(new.position),
    )


def _mappings(path: str, old: _Side, new: _Side) -> Iterator[IntentChange]:
    was, will = _mapping(old.value), _mapping(new.value)
    for key in (*will, *(key for key in was if key not in will)):
        yield from _changes(
            f"{path}.{key}" if path else str(key),
            old.below(key, was.get(key, _ABSENT)),
            new.below(key, will.get(key, _ABSENT)),
        )


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _by_key(value: object, key: str) -> dict[str, tuple[int, object]]:
    items = value if isinstance(value, list) else []
    return {str(item[key]): (index, item) for index, item in enumerate(items)}


def _key_of(items: list[object], *sides: list[object]) -> str | None:
    """Key that identifies items of both lists; None for lists of plain values."""
    if not items or not all(isinstance(item, dict) for item in items):
        return None
    for key in KEYS:
        values = [[str(_mapping(item).get(key)) for item in side] for side in sides]
        has_all = all(key in _mapping(item) for item in items)
        if has_all and all(len(set(names)) == len(names) for names in values):
            return key
    return None


def _yaml_line(path: str, value: object) -> str | None:
    """Return a value as one line of YAML; a path ends with its key."""
    if value is _ABSENT:
        return None
    line = _flow(value, path.rpartition(".")[2])
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}\u2026"


def _flow(value: object, key: str) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_flow(item, str(k))}" for k, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item, key) for item in value) + "]"
    if key in SECRET_KEYS and value is not None and not re.fullmatch(REFERENCE, str(value)):
        return HIDDEN
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _position_text(position: Position | None) -> str:
    return f"{position.file}:{position.line}" if position else ""


OWNER = re.compile(r"(?:interfaces|bgp\.peers)\[[^]]+\]")  # the items that a cable causes
PEER = re.compile(r"peer ([0-9.]+) ")  # a further line on the same peer
SWITCH = re.compile(r"(?:spines|leaves)\[([^]]+)\]")  # a whole item of the fabric
PROFILE = re.compile(r"(?:(?:spines|leaves|racks)\[[^]]+\]\.)?lossless|racks(?:\[[^]]+\])?")


@dataclass(frozen=True)
class ValueOrigins:
    """Source lines of the values of one side. changed: file:line of values that the other lacks.

    brought: source line of a switch that only this side has, by neighbour and port or peer.
    beside: changed line in the hardware file of a switch, or that names its lossless profile.
    """

    sources: Sources
    changed: Collection[str]
    brought: Mapping[tuple[str, str], str]
    beside: Mapping[str, str]

    def file_and_line(self, device: str, line: ExtraLine) -> str:
        """File and line; empty: the line has no source in the intent."""
        first = self._at(device, line.path)
        if first in self.changed:
            return first
        for path in line.others:
            if (place := self._at(device, path)) in self.changed:
                return place
        for path in (*self._below.get(device, ()), *self._below.get(EVERY, ())):
            is_below = line.path and path.startswith((f"{line.path}.", f"{line.path}["))
            if is_below and (place := self._at(device, path)) in self.changed:
                return place
        owner = _owner(line)
        if owner and first in {self._at(device, owner), self._at(device, "")}:
            first = self.brought.get((device, owner), first)
        return first if first in self.changed else self.beside.get(device, first)

    @cached_property
    def _below(self) -> Mapping[str, Sequence[str]]:
        """Fields with a changed line of YAML, by device, for lines that contain several fields."""
        lines = {int(place.rpartition(":")[2]) for place in self.changed}
        fields: defaultdict[str, list[str]] = defaultdict(list)
        for key in on_lines(self.sources.table, lines):
            device, _, path = key.partition("/")
            fields[device].append(path)
        return fields

    def _at(self, device: str, path: str) -> str:
        position = self.sources.find(device, path)
        return f"{position.file}:{position.line}" if position else ""


def _owner(line: ExtraLine) -> str:
    """The port or peer that a line belongs to."""
    if match := OWNER.match(line.path):
        return match[0]
    peer = PEER.match(line.text)
    return f"bgp.peers[{peer[1]}]" if peer else ""


def origins(
    sources: Sources,
    network: Network,
    intent: Iterable[IntentChange],
    files: Mapping[str, str],
    *,
    head: bool,
) -> ValueOrigins:
    """Origins of one side of a change; head: of the later side.

    files: hardware files of the site, by model.
    """
    changed: set[str] = set()
    in_file: dict[str, str] = {}
    switches: dict[str, str] = {}
    profiles: dict[str, str] = {}
    for change in intent:
        place, other = (
            (change.after_at, change.before) if head else (change.before_at, change.after)
        )
        if place:
            changed.add(place)
            in_file.setdefault(change.path.partition(": ")[0], place)
            if PROFILE.fullmatch(change.path):
                profiles[change.path] = place
            if other is None and (match := SWITCH.fullmatch(change.path)):
                switches[match[1]] = place
    models = dict(_changed_models(network, in_file, files))
    brought = dict(_interface_switches(network, {**models, **switches}))
    beside = {**dict(_changed_profiles(network, profiles)), **models}
    return ValueOrigins(sources, changed, brought, beside)


def _changed_profiles(network: Network, places: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Switches with the changed line that names their lossless profile: the nearest to them."""
    for node in network.nodes if places else ():
        group = "leaves" if node.role is SwitchRole.LEAF else "spines"
        rack = f"racks[{node.rack}]"
        wide = ("racks",) if node.name in network.own_lossless else ("lossless",)
        for path in (f"{group}[{node.name}].lossless", rack, f"{rack}.lossless", *wide):
            if path in places:
                yield node.name, places[path]
                break


def _changed_models(
    network: Network, in_file: Mapping[str, str], files: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Switches whose model or card has another file, with the first changed line of it."""
    for node in network.nodes if in_file else ():
        cards = (card.model for card in node.hardware.cards) if node.hardware else ()
        for model in (node.hardware.model, *cards) if node.hardware else ():
            if place := in_file.get(files.get(model, "")):
                yield node.name, place
                break


def _interface_switches(
    network: Network, switches: Mapping[str, str]
) -> Iterator[tuple[tuple[str, str], str]]:
    for link in network.links or () if switches else ():
        for near, far in ends_of(link):
            if far.device not in switches:
                continue
            place, port = switches[far.device], network.interface(far)
            yield (near.device, f"interfaces[{near.interface}]"), place
            for address in port.addresses if port else ():
                yield (near.device, f"bgp.peers[{address.ip}]"), place


def switch_lines(
    device: str, lines: Iterable[ExtraLine], old: ValueOrigins, new: ValueOrigins
) -> SwitchLines:
    """Changed lines of one switch, each with the line of YAML that causes it."""
    return SwitchLines(
        device=device,
        lines=tuple(
            ReviewLine(
                added=line.added,
                view=" / ".join(line.views),
                text=line.text,
                place=(new if line.added else old).file_and_line(device, line),
            )
            for line in lines
        ),
    )
