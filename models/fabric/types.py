"""Types of values in several parts of a Fabric: ranges, unique names, and values with a source."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from ipaddress import IPv4Network
from typing import Annotated, Self, TypeVar

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from rocefort.models.base import Description, Frozen, Name
from rocefort.models.hardware.hardware import check_ports, expand_ports
from rocefort.models.wording import named

MOST_SPINES, MOST_LEAVES = 64, 2048
MOST_PATHS = 128  # V300R023C00 `maximum load-balancing`
Asn = Annotated[
    int,
    Field(
        ge=1,
        le=4294967294,
        json_schema_extra=named("an AS number", "RFC 7607 and RFC 7300 reserve 0 and 4294967295"),
    ),
]
Dscp = Annotated[int, Field(ge=0, le=63, json_schema_extra=named("a DSCP", "the field has 6 bits"))]
Vlan = Annotated[
    int,
    Field(ge=2, le=4094, json_schema_extra=named("a VLAN", "1 is the default VLAN of a switch")),
]
Mtu = Annotated[  # V300R023C00 `mtu` ends at 9600
    int, Field(ge=1280, le=9600, json_schema_extra=named("an MTU, bytes of IP,"))
]
Id = Annotated[int, Field(ge=1, json_schema_extra=named("an id"))]
MOST_LINKS_PER_PAIR = 16
LinksPerPair = Annotated[
    int, Field(ge=1, le=MOST_LINKS_PER_PAIR, json_schema_extra=named("a number of links"))
]
PORT_NAME = r"\d+GE\d+/\d+/\d+(:\d+)?"
Metres = Annotated[float, Field(gt=0, le=10000, json_schema_extra=named("a cable length"))]


def check_link_subnet(value: IPv4Network) -> IPv4Network:
    """Accept a subnet with two usable addresses."""
    if value.prefixlen not in (30, 31):
        raise ValueError(f"{value} is not a link's subnet; use a /30 or a /31")
    return value


def check_port(value: str) -> str:
    """Accept the name of a port as a switch saves it."""
    if not re.fullmatch(PORT_NAME, value, re.ASCII):
        guess = "".join(value.split()).upper()
        how = "write it as the switch does: 100GE1/0/1"
        if re.fullmatch(PORT_NAME, guess, re.ASCII):
            how = f"did you mean {guess!r}?"
        raise ValueError(f"{value[:60]!r} is not a port; {how}")
    return value


InterfaceName = Annotated[
    str,
    AfterValidator(check_port),
    WithJsonSchema({"type": "string", "pattern": f"^{PORT_NAME}$"}),
]


LinkSubnet = Annotated[IPv4Network, AfterValidator(check_link_subnet)]


Row = TypeVar("Row")


def unique_by(name_of: Callable[[Row], Hashable]) -> AfterValidator:
    """Refuse a list with two rows of one name; name_of: the name of a row."""

    def check(rows: tuple[Row, ...]) -> tuple[Row, ...]:
        seen: set[Hashable] = set()
        for name in map(name_of, rows):
            if name in seen:
                raise ValueError(f"{name} is given twice; remove one")
            seen.add(name)
        return rows

    return AfterValidator(check)


class Sourced(Frozen):
    """Profile whose values have a source, except those that it names as assumed."""

    source: Description | None = Field(
        default=None,
        examples=["data sheet of March 2024"],
        description="Where its values were read; none: the author's own.",
    )
    sources: dict[Name, Description] = Field(
        default_factory=dict,
        examples=[{"cnp_dscp": "answer of the vendor, May 2024"}],
        description="Single values that were read elsewhere: key, source.",
    )
    confirmed: bool = Field(
        default=True, description="Whether the maker of the device confirms its values."
    )
    assumed: tuple[Name, ...] = Field(
        default=(),
        examples=[["cnp_dscp"]],
        description="Keys of this profile whose values no source gives.",
    )

    @model_validator(mode="after")
    def _names_its_own_keys(self) -> Self:
        """Refuse a source or an assumption for a key that the profile does not have."""
        for key in (*self.assumed, *self.sources):
            if key not in type(self).model_fields or key in Sourced.model_fields:
                raise ValueError(f"{key!r} is marked, but is no value of it; name one of its keys")
        return self

    def source_of(self, key: str) -> str | None:
        """Source of one value; None where no source is given."""
        return None if key in self.assumed else self.sources.get(key, self.source)

    def is_confirmed(self, key: str) -> bool:
        """Whether a vendor's document confirms one value."""
        return self.confirmed and key not in self.assumed


def check_ports_or_part(value: str) -> str:
    """Accept a port, a range of ports, or a part of a split port."""
    return check_port(value) if ":" in value else check_ports(value)


PortsOrPart = Annotated[
    str,
    AfterValidator(check_ports_or_part),
    WithJsonSchema({"type": "string", "pattern": r"^\d+GE\d+/\d+/\d+(-\d+|:\d+)?$"}),
]


def ports_or_part(ports: str) -> tuple[str, ...]:
    """Ports of a range, or the one part of a split port."""
    return (ports,) if ":" in ports else tuple(expand_ports(ports))
