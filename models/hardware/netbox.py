"""Switch models in the format of NetBox's device-type library, with Rocefort's facts in one key.

The format is that of github.com/netbox-community/devicetype-library (schema/devicetype.json and
moduletype.json), so a file of that library can be used as it is. Its schema allows no other keys,
so all facts of Rocefort are in the key `rocefort`. Line cards are module types, whose port names
contain `{module}` for the number of the slot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Annotated

from pydantic import AfterValidator, AliasChoices, Field, model_validator

from rocefort.models.base import Frozen, Name
from rocefort.models.hardware.hardware import (
    PORTS,
    AboveUpperEcn,
    Breakout,
    Card,
    Confirmed,
    Fact,
    Hardware,
    HardwareNote,
    PortMedium,
    PortRange,
    Release,
    Source,
    Template,
    check_ports,
    expand_all,
)
from rocefort.models.hardware.media import SplitType, check_medium
from rocefort.models.wording import listing

SLOT = "{module}"
# Keys of NetBox that no rule and no line of configuration needs.
UNUSED = frozenset(
    [
        "part_number",
        "airflow",
        "weight",
        "weight_unit",
        "front_image",
        "rear_image",
        "subdevice_role",
        "is_powered",
        "console-ports",
        "console-server-ports",
        "power-ports",
        "power-outlets",
        "front-ports",
        "rear-ports",
        "device-bays",
        "inventory-items",
        "description",
        "comments",
        "profile",
        "attributes",
    ]
)


class _NetBox(Frozen):
    """Base of NetBox data: known keys that are not used here are ignored, others are errors."""

    @model_validator(mode="before")
    @classmethod
    def _pass_over_unused(cls, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        return {k.replace("-", "_"): v for k, v in data.items() if k not in UNUSED}


NOT_USED = "Key of NetBox that Rocefort does not use."
_UNUSED = Field(default=None, description=NOT_USED)
_Manufacturer = Annotated[str, Field(description="Maker of the device.")]


class TypedInterface(Frozen):
    """Port of a switch or a card."""

    name: str = Field(
        description="Name on the switch; on a card with `{module}` in place of the slot."
    )
    type: str = Field(description="Interface type of NetBox: speed and form factor follow.")
    mgmt_only: bool = Field(
        default=False, description="Whether it is a management port: then it is left out."
    )
    label: str | None = _UNUSED
    description: str | None = _UNUSED
    enabled: bool = Field(default=True, description=NOT_USED)
    poe_mode: str | None = _UNUSED
    poe_type: str | None = _UNUSED
    rf_role: str | None = _UNUSED
    bridge: str | None = _UNUSED

    @model_validator(mode="after")
    def _is_a_port(self) -> TypedInterface:
        if not self.mgmt_only:
            _split_name(self.name.replace(SLOT, "1"))
            check_medium(self.type)
        return self


class ModuleBay(Frozen):
    """Bay for a card, a fan or a power module."""

    name: str = Field(description="Name of the bay.", examples=["slot 1"])
    position: str | int | None = Field(
        default=None,
        description="Number of the slot in port names; `rocefort.cards` refers to it.",
        examples=["1"],
    )
    label: str | None = _UNUSED
    description: str | None = _UNUSED


def check_card_ports(value: str) -> str:
    """Accept ports of a card: `100GE{module}/0/1-36`."""
    check_ports(value.replace(SLOT, "1"))
    return value


class CardBreakout(Frozen):
    """Split types that ports of a card support."""

    ports: tuple[Annotated[str, AfterValidator(check_card_ports)], ...] = Field(
        description="Ports that can be split, with `{module}` in place of the slot."
    )
    types: tuple[SplitType, ...] = Field(min_length=1, description="Number and type of the parts.")
    source: Source
    confirmed: Confirmed = True
    note: HardwareNote = ""

    def in_slot(self, slot: str) -> Breakout:
        """Return the split types for the card in a slot."""
        ports = tuple(ports.replace(SLOT, slot) for ports in self.ports)
        return Breakout(**self.model_dump(exclude={"ports"}), ports=ports)


class CardFacts(Frozen):
    """Facts of a line card that NetBox does not have."""

    breakout: tuple[CardBreakout, ...] = Field(
        default=(), description="Split types that its ports support."
    )
    above_upper_ecn: AboveUpperEcn | None = Field(
        default=None,
        description="Treatment of packets above the upper ECN threshold; none: all are marked.",
    )
    source: Source
    confirmed: Confirmed = True
    note: HardwareNote = ""


class ModuleType(_NetBox):
    """NetBox module type: a line card."""

    manufacturer: _Manufacturer
    model: Name = Field(description="Name of the card; `rocefort.cards` refers to it.")
    interfaces: tuple[TypedInterface, ...] = Field(min_length=1, description="Its ports.")
    rocefort: CardFacts = Field(description="Facts that NetBox does not have.")


class AddedFacts(Frozen):
    """Facts of a switch that NetBox does not have."""

    template: Template | None = Field(
        description="Template of its configuration in templates/vrp; none: of another dialect."
    )
    fabric_ports: tuple[PortRange, ...] = Field(
        description="Ports to spines or leaves, in the order of peer ids."
    )
    spine_ports: tuple[PortRange, ...] = Field(
        default=(),
        description="Further ports to leaves where it is a spine, after fabric_ports.",
        examples=[["100GE1/0/1-56"]],
    )
    buffer_kbytes: Fact | None = Field(
        default=None, description="Packet buffer, kbytes; none: unknown, and not judged."
    )
    breakout: tuple[Breakout, ...] = Field(default=(), description="Ports that can be split.")
    cards: dict[str, Name] = Field(
        default_factory=dict,
        description="Card in each slot, by the position of its bay.",
        examples=[{"1": "CE9860-32CQ"}],
    )
    releases: tuple[Release, ...] = Field(
        min_length=1, description="Syntax families of its releases."
    )
    source: Source
    confirmed: Confirmed = True
    note: HardwareNote = ""


class DeviceType(_NetBox):
    """NetBox device type: a switch model."""

    manufacturer: _Manufacturer
    model: Name = Field(description="Name of the model; `hardware` of a switch refers to it.")
    slug: str = Field(description="Identifier in NetBox.")
    u_height: float | None = Field(default=None, description="Height in rack units.")
    is_full_depth: bool | None = Field(
        default=None, description="Whether it uses both faces of the rack."
    )
    interfaces: tuple[TypedInterface, ...] = Field(default=(), description="Its own ports.")
    module_bays: tuple[ModuleBay, ...] = Field(
        default=(),
        validation_alias=AliasChoices("module-bays", "module_bays"),
        description="Bays of a chassis.",
    )
    rocefort: AddedFacts = Field(description="Facts that NetBox does not have.")

    @model_validator(mode="after")
    def _cards_have_bays(self) -> DeviceType:
        bays = {str(bay.position) for bay in self.module_bays if bay.position is not None}
        for slot in self.rocefort.cards:
            if slot not in bays:
                raise ValueError(
                    f"a card in slot {slot!r}, which is the position of no module bay; "
                    "add the bay, or correct the slot"
                )
        if not self.rocefort.cards and not any(not i.mgmt_only for i in self.interfaces):
            raise ValueError("a switch without ports; give interfaces, or rocefort.cards")
        return self


def hardware_of(device: DeviceType, cards: Mapping[str, ModuleType]) -> Hardware:
    """Return facts of a switch with its cards, by slot; raises ValueError for an invalid port.

    Management ports are left out, because every CloudEngine has MEth0/0/0.
    """
    facts = device.rocefort
    media = [*_media(device.interfaces, "")]
    breakout = [*facts.breakout]
    for slot, card in cards.items():
        media += _media(card.interfaces, slot)
        breakout += [entry.in_slot(slot) for entry in card.rocefort.breakout]
    ports = tuple(medium.ports for medium in media)
    _refuse_absent(ports, "fabric_ports", facts.fabric_ports)
    _refuse_absent(ports, "spine_ports", facts.spine_ports)
    counted = Counter(expand_all((*facts.fabric_ports, *facts.spine_ports)))
    if twice := [name for name, count in counted.items() if count > 1]:
        raise ValueError(
            f"{twice[0]} is in fabric_ports and spine_ports {counted[twice[0]]} times; name each "
            "port once"
        )
    for entry in breakout:
        _refuse_absent(ports, "breakout", entry.ports)
    return Hardware(
        model=device.model,
        ports=ports,
        media=tuple(media),
        breakout=tuple(breakout),
        cards=tuple(
            Card(slot=slot, model=card.model, above_upper_ecn=card.rocefort.above_upper_ecn)
            for slot, card in cards.items()
        ),
        **{name: getattr(facts, name) for name in facts.model_fields_set & _SHARED},
    )


def _refuse_absent(ports: tuple[PortRange, ...], field: str, ranges: tuple[PortRange, ...]) -> None:
    existing = frozenset(expand_all(ports))
    absent = [name for name in expand_all(ranges) if name not in existing]
    if absent:
        raise ValueError(f"{field} name {absent[0]}, which is not a port; it has {listing(ports)}")


_SHARED = AddedFacts.model_fields.keys() & Hardware.model_fields.keys() - {"breakout", "cards"}


def _media(interfaces: tuple[TypedInterface, ...], slot: str) -> Iterator[PortMedium]:
    """Yield consecutive ports of one type, in the order of the file."""
    pairs = [(i.name.replace(SLOT, slot), i.type) for i in interfaces if not i.mgmt_only]
    numbered = [(*_split_name(name), medium) for name, medium in pairs]
    runs = groupby(enumerate(numbered), key=lambda row: (row[1][0], row[1][2], row[1][1] - row[0]))
    for (head, medium, _), rows in runs:
        numbers = [number for _, (_, number, _) in rows]
        ports = f"{head}{numbers[0]}" + (f"-{numbers[-1]}" if len(numbers) > 1 else "")
        yield PortMedium(ports=ports, type=medium)


def _split_name(name: str) -> tuple[str, int]:
    match = PORTS.fullmatch(name)
    if match is None or match["last"]:
        raise ValueError(
            f"{name[:60]!r} is not a port as a CloudEngine names it; write 100GE1/0/1, "
            "or mark it mgmt_only"
        )
    return match["head"], int(match["first"])
