"""Intent for cables: length by link class, medium, FEC and autonegotiation."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocefort.models.base import Frozen
from rocefort.models.hardware.media import CableMedium, Fec
from rocefort.models.wording import named


class CableKind(Frozen):
    """Medium of a cable, and the FEC and autonegotiation of its two ports."""

    medium: CableMedium = Field(
        description="Copper (dac), an active optical cable (aoc), or the kind of its two optical "
        "modules; with the port's speed it is a layer such as 100GBASE-SR4.",
        examples=["sr4"],
    )
    fec: Fec | None = Field(
        default=None, description="FEC of both ends; otherwise what the medium needs."
    )
    autonegotiation: Literal["on", "off"] | None = Field(
        default=None,
        description="Of copper: on unless FEC is given, which excludes it. Optics have none.",
    )


class Cables(Frozen):
    """Cables by link class: lengths in metres, and their kind."""

    fabric_m: float = Field(
        gt=0, le=10000, json_schema_extra=named("a cable length"), description="Leaf to spine, m."
    )
    server_m: float = Field(
        gt=0, le=10000, json_schema_extra=named("a cable length"), description="Leaf to server, m."
    )
    fabric: CableKind | None = Field(
        default=None, description="What leaf-spine cables are; none: FEC is left to the switches."
    )
    server: CableKind | None = Field(
        default=None, description="What server cables are; none: FEC is left to the switches."
    )
