"""Objects of a switch that a change affects: ports, sessions, VLANs, and those it takes down."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from rocefort.models.change.compare import classify, counts, effect_of
from rocefort.models.change.edits import Edit
from rocefort.models.device.device import Device
from rocefort.models.device.interface import gateway_vlan
from rocefort.models.effect import FaultDelay, TouchedObject
from rocefort.models.hardware.media import whole_port

EVERY_SESSION = "*"


@dataclass
class AffectedPart:
    """Affected objects of one switch. `whole`: reason why the whole switch is affected."""

    ports: set[str] = field(default_factory=set)
    peers: set[str] = field(default_factory=set)  # addresses; EVERY_SESSION
    vlans: set[int] = field(default_factory=set)
    prefixes: set[str] = field(default_factory=set)
    whole: str = ""

    @property
    def is_any(self) -> bool:
        """Whether any object is affected."""
        return bool(self.ports or self.peers or self.vlans or self.prefixes or self.whole)


@dataclass(frozen=True)
class AffectedObjects:
    """Objects that a change of one switch affects, and those that it takes down for a while."""

    felt: AffectedPart
    down: AffectedPart


def affected_objects_of(
    device: Device, edits: Iterable[Edit], lossless: Iterable[str], disrupts: Mapping[str, str]
) -> AffectedObjects:
    """Return the objects that edits affect. device: before; lossless: its lossless port names.

    disrupts: table of the switch's dialect.
    """
    felt, down = AffectedPart(), AffectedPart()
    names = tuple(lossless)
    for edit in _felt_edits(edits, disrupts):
        _add(felt, device, edit, names)
        if counts(edit, effect_of(edit).down):
            _add(down, device, edit, names)
    return AffectedObjects(felt, down)


def replaced(why: str) -> AffectedObjects:
    """Affected objects of a switch that is replaced or removed."""
    return AffectedObjects(AffectedPart(whole=why), AffectedPart(whole=why))


def _felt_edits(edits: Iterable[Edit], disrupts: Mapping[str, str]) -> Iterator[Edit]:
    """Service-affecting edits; edits of one port are evaluated together."""
    groups: dict[str, list[Edit]] = defaultdict(list)
    for edit in edits:
        groups[edit.port_and_rest[0] or f" {edit.path}"].append(edit)
    for group in groups.values():
        if classify(group, (), disrupts)[1]:
            yield from group


def timed(
    device: Device, edits: Iterable[Edit], disrupts: Mapping[str, str]
) -> dict[FaultDelay, AffectedPart]:
    """Objects of edits whose faults show only when a timer expires. device: before.

    For a changed filter these are the routed ports that apply a filter: it may drop BGP packets.
    """
    parts: dict[FaultDelay, AffectedPart] = {}
    for edit in _felt_edits(edits, disrupts):
        effect = effect_of(edit)
        if effect.timer in (None, FaultDelay.NONE) or gateway_vlan(edit.port_and_rest[0]):
            continue
        touched = parts.setdefault(effect.timer, AffectedPart())
        _add(touched, device, edit, ())
        if effect.touches is TouchedObject.EVERY_VLAN:
            touched.ports |= {i.name for i in device.interfaces if i.filter_in or i.filter_out}
    return parts


def _add(to: AffectedPart, device: Device, edit: Edit, lossless: tuple[str, ...]) -> None:
    name = next(iter(edit.keys), "")
    match effect_of(edit).touches:
        case TouchedObject.PORT:
            vlan = gateway_vlan(name)
            if vlan is None:
                to.ports.add(name)
            else:
                to.vlans.add(vlan)
        case TouchedObject.SPLIT:
            to.ports |= {i.name for i in device.interfaces if whole_port(i.name) == name}
        case TouchedObject.PEER:
            to.peers.add(name)
        case TouchedObject.EVERY_SESSION:
            to.peers.add(EVERY_SESSION)
        case TouchedObject.PREFIX:
            to.prefixes.add(name)
        case TouchedObject.LOSSLESS:
            to.ports.update(lossless)
        case TouchedObject.VLAN:
            to.vlans.add(int(name))
        case TouchedObject.EVERY_VLAN:
            to.vlans |= set(device.vlans)
