"""Find the line of YAML that causes each changed line of configuration.

A configuration line may contain several values, and a port or a peer depends on two switches. It
may then come from several lines of YAML: the review names the one that the change touches.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rocefort.change.results import IntentChange, ReviewLine, SwitchLines
from rocefort.dialects.data import ExtraLine
from rocefort.models.network.network import EVERY, Network, Sources
from rocefort.models.network.sources import on_lines
from rocefort.validators.facts.roce_ports import ends_of

OWNER = re.compile(r"(?:interfaces|bgp\.peers)\[[^]]+\]")  # the items that a cable causes
PEER = re.compile(r"peer ([0-9.]+) ")  # a further line on the same peer
SWITCH = re.compile(r"(?:spines|leaves)\[([^]]+)\]")  # a whole item of the fabric


@dataclass(frozen=True)
class ValueOrigins:
    """Source lines of the values of one side. changed: file:line of values that the other lacks.

    brought: source line of a switch that only this side has, by neighbour and port or peer.
    models: changed line in the hardware file of a switch.
    """

    sources: Sources
    changed: Collection[str]
    brought: Mapping[tuple[str, str], str]
    models: Mapping[str, str]

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
        return first if first in self.changed else self.models.get(device, first)

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
    for change in intent:
        place, other = (
            (change.after_at, change.before) if head else (change.before_at, change.after)
        )
        if place:
            changed.add(place)
            in_file.setdefault(change.path.partition(": ")[0], place)
            if other is None and (match := SWITCH.fullmatch(change.path)):
                switches[match[1]] = place
    models = dict(_changed_models(network, in_file, files))
    brought = dict(_interface_switches(network, {**models, **switches}))
    return ValueOrigins(sources, changed, brought, models)


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
