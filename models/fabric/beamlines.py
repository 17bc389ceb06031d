"""Intent for beamlines: detectors, the servers that read them out, data paths, owner and runs.

A facility grows by beamlines. Servers, gateways, demand, policy and RDMA pairs follow from one
entry. Every value depends on the entry alone, so that the order of entries changes nothing.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rocefort.models.base import Description, Frozen, Name
from rocefort.models.fabric.hosts import LeafName
from rocefort.models.fabric.types import Metres, PortsOrPart, ports_or_part, unique_by
from rocefort.models.units import Rate
from rocefort.models.wording import named

MOST_BEAMLINES = 999
LEAST_GBPS = 1e-6  # of a data path; reports keep six digits


class Detector(Frozen):
    """Detector of a beamline; a train of bunches makes it send in bursts."""

    name: Name = Field(description="The detector's name.", examples=["eiger"])
    rate: Rate = Field(
        description="Raw data while it sends: 200 Gb/s.", examples=["200 Gb/s", "1.6 Tb/s"]
    )
    duty: float = Field(
        default=1,
        gt=0,
        le=1,
        json_schema_extra=named("a share of time", "1 is always"),
        description="Share of the time that it sends.",
    )
    burst_ms: float | None = Field(
        default=None,
        gt=0,
        le=3_600_000,
        json_schema_extra=named("a length of a burst, ms,"),
        description="Length of one burst, such as a bunch train, ms; with duty.",
        examples=[200],
    )

    @model_validator(mode="after")
    def _bursts(self) -> Self:
        if (self.burst_ms is None) != (self.duty == 1):
            given = "duty without burst_ms" if self.burst_ms is None else "burst_ms without duty"
            raise ValueError(f"{given}; give both for a detector that sends in bursts, or none")
        return self

    @property
    def average_gbps(self) -> float:
        """Average rate, Gb/s."""
        return self.rate * self.duty

    @property
    def period_ms(self) -> float | None:
        """Time from one burst to the next, ms; None: it sends always."""
        return None if self.burst_ms is None else self.burst_ms / self.duty


class DataPath(Frozen):
    """Segment that raw data goes to. A beamline may send all of it to more than one."""

    to: Name = Field(description="Segment of the servers that receive.", examples=["compute"])
    share: float = Field(
        default=1,
        gt=0,
        le=1,
        json_schema_extra=named("a share of the raw data", "1 is all of it"),
        description="Share of the raw data.",
    )


class Beamline(Frozen):
    """Beamline with its servers on one leaf; `id` is permanent and never reused."""

    id: int = Field(
        ge=1,
        le=MOST_BEAMLINES,
        json_schema_extra=named("an id"),
        examples=[7],
        description="Permanent number; `beamline add` chooses ports by it.",
    )
    name: Name = Field(
        max_length=40,
        examples=["bl07"],
        description="The beamline's name; its servers are bl07-1, bl07-2, in order of the ports.",
    )
    leaf: LeafName = Field(description="Leaf of its servers.", examples=["leaf05"])
    ports: Annotated[tuple[PortsOrPart, ...], unique_by(str)] = Field(
        min_length=1,
        description="Ports of the leaf, one server each; addresses follow from them.",
        examples=[["100GE1/0/1-4"], ["25GE1/0/1", "25GE1/0/9"]],
    )
    segment: Name = Field(
        description="Segment of its servers; the leaf gets a gateway for it.", examples=["beamline"]
    )
    transport: Literal["roce", "tcp"] = Field(
        default="roce", description="Traffic class: roce is in the lossless queue."
    )
    nic: Name | None = Field(
        default=None,
        description="Name of a NIC profile of its servers; none: not known, not judged.",
        examples=["connectx-dscp34"],
    )
    cable_m: Metres | None = Field(
        default=None,
        examples=[60],
        description="Length of its servers' cables, m; otherwise cables.server_m.",
    )
    detectors: Annotated[tuple[Detector, ...], unique_by(lambda one: one.name)] = Field(
        min_length=1, description="What produces its data; their rates add up."
    )
    sends_to: Annotated[tuple[DataPath, ...], unique_by(lambda one: one.to)] = Field(
        min_length=1,
        description="Where its raw data goes. A policy with `default: deny` allows these "
        "conversations.",
        examples=[[{"to": "compute"}, {"to": "storage", "share": 0.5}]],
    )
    runs: Description | None = Field(
        default=None,
        description="Run schedule, as text.",
        examples=["Tuesday 08:00 to Monday 08:00"],
    )
    owner: Description | None = Field(
        default=None,
        description="Person or group responsible for it; a review names them.",
        examples=["hard X-ray group"],
    )
    assumed: tuple[Name, ...] = Field(
        default=(),
        examples=[["leaf", "ports"]],
        description="Keys of this beamline whose values no source gives.",
    )

    @model_validator(mode="after")
    def _names_its_own_keys(self) -> Self:
        for key in self.assumed:
            if key not in type(self).model_fields or key == "assumed":
                raise ValueError(f"{key!r} is marked, but is no value of it; name one of its keys")
        return self

    @model_validator(mode="after")
    def _sends_on_each_path(self) -> Self:
        for path in self.sends_to:
            if self.peak_gbps * path.share < LEAST_GBPS:
                what = f"less than 1 kb/s to {path.to}"
                raise ValueError(f"{what}; write a higher rate or share, or leave the path out")
        return self

    @cached_property
    def port_names(self) -> tuple[str, ...]:
        """All its ports, in the order given."""
        return tuple(name for ports in self.ports for name in ports_or_part(ports))

    @cached_property
    def servers(self) -> tuple[str, ...]:
        """Names of its servers, in the order of the ports."""
        return tuple(f"{self.name}-{number}" for number, _ in enumerate(self.port_names, 1))

    @property
    def peak_gbps(self) -> float:
        """Raw data of all detectors while they send, Gb/s."""
        return sum(detector.rate for detector in self.detectors)

    @property
    def average_gbps(self) -> float:
        """Raw data of all detectors on average, Gb/s."""
        return sum(detector.average_gbps for detector in self.detectors)

    @property
    def sent_gbps(self) -> float:
        """Traffic of its servers at peak, Gb/s: the raw data once for each data path."""
        return self.peak_gbps * sum(path.share for path in self.sends_to)
