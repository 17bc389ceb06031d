"""Demand: the traffic matrix of a facility, as its planner writes it (demand.yaml)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import fsum
from typing import Literal, Self

from pydantic import Field, model_validator

from rocefort.models.base import Description, Frozen, Name
from rocefort.models.fabric.beamlines import Beamline
from rocefort.models.network.network import Network, Server
from rocefort.models.units import Rate, Volume
from rocefort.models.wording import named

DAY_S = 86_400
GBPS_OF_TB_A_DAY = 8000 / DAY_S  # 1 TB is 8,000 Gb
OF_BEAMLINES = "beamlines of the fabric"
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


def with_beamlines(demand: Demand | None, network: Network) -> Demand | None:
    """Return a demand with the flows of the fabric's beamlines; of them alone if it is None.

    Their detectors send at their peak, all at once.
    """
    if not network.beamlines:
        return demand
    flows = tuple(beamline_flows(network.beamlines))
    is_assumed = any({"detectors", "sends_to"} & {*one.assumed} for one in network.beamlines)
    assumed: tuple[Published, ...] = ("flows",) if is_assumed else ()
    if demand is None:
        # Exact rounding: the order of beamlines changes no number.
        peak = fsum(beamline.peak_gbps for beamline in network.beamlines)
        return Demand.model_construct(
            demand=network.name, peak=peak, flows=flows, assumed=assumed, source=OF_BEAMLINES
        )
    update = {
        "flows": (*demand.flows, *flows),
        "assumed": tuple(dict.fromkeys((*demand.assumed, *assumed))),
    }
    return demand.model_copy(update=update)


def beamline_flows(beamlines: Iterable[Beamline]) -> Iterator[DemandFlow]:
    """Yield the flows of beamlines at their peak: one for each data path."""
    for beamline in beamlines:
        for path in beamline.sends_to:
            yield DemandFlow.model_construct(  # a number, where a file has a text with a unit
                name=f"{beamline.name} to {path.to}",
                senders=Group(servers=beamline.servers),
                receivers=Group(segments=(path.to,)),
                peak=beamline.peak_gbps * path.share,
            )


def members(group: Group | None, network: Network) -> tuple[Server, ...]:
    """Return servers of a group, in the network's order; None: all."""
    return tuple(s for s in network.servers or () if group is None or _is_member(s, group))


def _is_member(server: Server, group: Group) -> bool:
    return (
        server.segment in group.segments
        or server.port.device in group.leaves
        or server.name in group.servers
    )
