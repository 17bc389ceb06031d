"""Demand: the traffic matrix of a facility, as its planner writes it (demand.yaml).

Rates and volumes carry their unit in the value, as publications print them: `3.2 Tb/s`, `800 TB`.
All prefixes are decimal: 1 TB is 10^12 bytes, 1 Tb/s is 10^12 bits a second.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from rocefort.models.base import Description, Frozen, Name
from rocefort.models.network.network import Network, Server
from rocefort.models.wording import named

RATES = {"Gb/s": 1.0, "Tb/s": 1000.0}  # in Gb/s
VOLUMES = {"GB": 0.001, "TB": 1.0, "PB": 1000.0}  # in TB
NUMBER = re.compile(r"([-+]?)(\d{1,9}(?:\.\d{1,9})?) *(\S*)", re.ASCII)
DAY_S = 86_400
GBPS_OF_TB_A_DAY = 8000 / DAY_S  # 1 TB is 8,000 Gb


def gbps(value: object) -> float:
    """Convert `3.2 Tb/s` to 3200.0; raises ValueError if not above 0 or without a unit of RATES."""
    return _quantity(value, RATES, "3200 Gb/s or 3.2 Tb/s")


def terabytes(value: object) -> float:
    """Convert `1 PB` to 1000.0; raises ValueError if not above 0 or without a unit of VOLUMES."""
    return _quantity(value, VOLUMES, "800 TB or 1 PB")


def _quantity(value: object, units: dict[str, float], example: str) -> float:
    text = str(value).strip()
    match = NUMBER.fullmatch(text)
    if isinstance(value, bool) or match is None:
        raise ValueError(f"{text[:40]!r} is not a number with a unit; write {example}")
    sign, number, unit = match.groups()
    if not unit:
        raise ValueError(f"{text} has no unit; write {example}")
    if unit not in units:
        raise ValueError(f"unit {unit[:20]!r} is not {' or '.join(units)}; write {example}")
    if sign == "-":
        raise ValueError(f"{text} is negative; a demand is more than 0")
    if not float(number):
        raise ValueError(f"{text} is no demand; write more than 0, or leave it out")
    return float(number) * units[unit]


def _written(units: Iterable[str]) -> WithJsonSchema:
    """Return the JSON schema of a number with a unit, with the pattern that validators accept."""
    pattern = rf"^ *\+?[0-9]{{1,9}}(\.[0-9]{{1,9}})? *({'|'.join(units)}) *$"
    return WithJsonSchema({"type": "string", "pattern": pattern})


Rate = Annotated[float, BeforeValidator(gbps), _written(RATES)]
Volume = Annotated[float, BeforeValidator(terabytes), _written(VOLUMES)]
Published = Literal["peak", "daily", "busiest_day", "flows"]


class Group(Frozen):
    """Group of servers, by segment, leaf or name; a server that is named twice counts once."""

    segments: tuple[Name, ...] = Field(default=(), description="All servers of these segments.")
    leaves: tuple[Name, ...] = Field(
        default=(), examples=[["leaf01", "leaf02"]], description="All servers on these leaves."
    )
    servers: tuple[Name, ...] = Field(
        default=(), examples=[["readout01"]], description="These servers: a beamline's, say."
    )

    @model_validator(mode="after")
    def _require_members(self) -> Self:
        if not (self.segments or self.leaves or self.servers):
            raise ValueError("an empty group; name segments, leaves or servers")
        return self

    @property
    def words(self) -> str:
        """Members as text: `beamline, storage`."""
        return ", ".join((*self.segments, *self.leaves, *self.servers))


class DemandFlow(Frozen):
    """Peak traffic from one group to another, spread over both by the speed of their ports."""

    name: Description | None = Field(default=None, description="What it is: beamline 4.")
    senders: Group | None = Field(default=None, description="Who sends; otherwise all servers.")
    receivers: Group | None = Field(
        default=None, description="Who receives; otherwise all servers."
    )
    share: float | None = Field(
        default=None,
        gt=0,
        le=100,
        json_schema_extra=named("a share of the peak", "1 is all of it"),
        description="Of the peak; 1 is all of it. Or `peak`.",
    )
    peak: Rate | None = Field(
        default=None, examples=["1.6 Tb/s"], description="How much: 1.6 Tb/s. Or `share`."
    )

    @model_validator(mode="after")
    def _one_amount(self) -> Self:
        if (self.share is None) == (self.peak is None):
            given = "neither share nor peak" if self.share is None else "both share and peak"
            raise ValueError(f"{given}; give the share of the facility's peak, or a rate")
        return self

    @property
    def words(self) -> str:
        """Name of the flow, or `beamline to compute, storage`."""
        ends = (group.words if group else "all servers" for group in (self.senders, self.receivers))
        return self.name or " to ".join(ends)


class Demand(Frozen):
    """Demand of a facility on its fabric."""

    demand: Name = Field(description="Whose demand it is.", examples=["heps"])
    source: Description | None = Field(default=None, description="Where the numbers were read.")
    assumed: tuple[Published, ...] = Field(
        default=(), description="Keys whose values no source confirms."
    )
    peak: Rate = Field(description="Highest rate of the facility: 3.2 Tb/s.", examples=["3.2 Tb/s"])
    daily: Volume | None = Field(
        default=None, description="Volume of an average day.", examples=["800 TB"]
    )
    busiest_day: Volume | None = Field(
        default=None, description="Volume of the busiest day.", examples=["1 PB"]
    )
    flows: tuple[DemandFlow, ...] = Field(
        default=(), description="Who sends to whom; otherwise every server to every other."
    )

    def rate_of(self, flow: DemandFlow) -> float:
        """Peak rate of a flow, Gb/s."""
        return flow.peak if flow.peak is not None else (flow.share or 0) * self.peak

    @property
    def all_flows(self) -> tuple[DemandFlow, ...]:
        """Flows of the demand; without any, one from every server to every other."""
        return self.flows or (DemandFlow(share=1),)


def members(group: Group | None, network: Network) -> tuple[Server, ...]:
    """Return servers of a group, in the network's order; None: all."""
    return tuple(s for s in network.servers or () if group is None or _is_member(s, group))


def _is_member(server: Server, group: Group) -> bool:
    return (
        server.segment in group.segments
        or server.port.device in group.leaves
        or server.name in group.servers
    )
