"""Intent for NICs of servers: their settings, and the vendor's names of the settings."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rocefort.models.base import Description, Frozen, Name
from rocefort.models.device.priorities import host_priority
from rocefort.models.fabric.congestion_control import CongestionControl
from rocefort.models.fabric.hosts import HostProfile
from rocefort.models.fabric.sourced import Sourced
from rocefort.models.fabric.types import Dscp
from rocefort.models.wording import named

Priority = Annotated[
    int, Field(ge=0, le=7, json_schema_extra=named("a priority", "802.1Q has eight"))
]
PARAMETER_NAME = r"^[A-Za-z0-9][A-Za-z0-9_./<>-]{0,127}$"


class NicProfile(Sourced):
    """Settings of a server's NIC; a value that is left out is unknown and not judged."""

    adapter: Name | None = Field(
        default=None,
        description="Name of an adapter, which has the vendor's names of the settings.",
        examples=["connectx"],
    )
    trust: Literal["dscp", "pcp"] | None = Field(
        default=None, description="What a packet's priority is read from: its DSCP, or 802.1p."
    )
    dscp2prio: dict[Dscp, Priority] = Field(
        default_factory=dict,
        description="Priority by DSCP where it is not DSCP >> 3.",
        examples=[{24: 4}],
        json_schema_extra={"propertyNames": {"pattern": "^([0-9]|[1-5][0-9]|6[0-3])$"}},
    )
    roce_dscp: Dscp | None = Field(default=None, description="DSCP that it sends RoCE with.")
    cnp_dscp: Dscp | None = Field(default=None, description="DSCP that it sends CNPs with.")
    cnp_priority: Priority | None = Field(
        default=None, description="Priority that it sends CNPs with; otherwise by their DSCP."
    )
    paused_priorities: tuple[Priority, ...] | None = Field(
        default=None, description="Priorities on which it obeys and sends pauses (PFC)."
    )
    controlled_priorities: tuple[Priority, ...] | None = Field(
        default=None, description="Priorities on which its congestion control is on."
    )
    mtu_bytes: int | None = Field(
        default=None,
        ge=1280,
        le=9978,
        json_schema_extra=named("an MTU, bytes of IP,"),
        description="Its MTU, bytes of IP.",
        examples=[9000],
    )

    def priority(self, dscp: int) -> int:
        """Priority of a DSCP (0..63) where DSCP is trusted."""
        return self.dscp2prio.get(dscp, host_priority(dscp))

    @property
    def priority_of_cnp(self) -> int | None:
        """Priority that CNPs leave with; None: not known."""
        if self.cnp_priority is not None or self.cnp_dscp is None:
            return self.cnp_priority
        return self.priority(self.cnp_dscp) if self.trust == "dscp" else None


class Parameter(Frozen):
    """Vendor's name and range of one NIC setting."""

    name: str = Field(pattern=PARAMETER_NAME, description="The NIC's own name of it.")
    low: int | None = Field(default=None, description="Lowest value that it takes; none: unknown.")
    high: int | None = Field(default=None, description="Highest value; none: unknown.")
    factor: int = Field(
        default=1,
        ge=1,
        json_schema_extra=named("a factor"),
        description="What a profile's value is multiplied by for the NIC.",
    )

    def takes(self, value: int) -> bool:
        """Whether the NIC takes a profile's value, as far as its range is known."""
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)

    @property
    def span(self) -> str:
        """Range of values, as text."""
        if self.high is None:
            return f"{self.low} and more"
        return f"{self.low} to {self.high}" if self.low is not None else f"up to {self.high}"


class Adapter(Sourced):
    """Make of NIC: the vendor's names of settings, by the keys of profiles."""

    model: Description = Field(description="What it is.", examples=["NVIDIA ConnectX-4 and later"])
    parameters: dict[Name, Parameter] = Field(
        description="Its parameters, by keys of congestion control and NIC profiles."
    )


class Hosts(Frozen):
    """Settings of all servers of a fabric: NIC profiles in use, and congestion control.

    tuning: of their operating systems. Sources has these values as `nics[NAME].key`,
    `congestion.key` and `tuning.key` of no device.
    """

    lossless: str  # name of the fabric's lossless profile
    nics: dict[str, NicProfile] = Field(default_factory=dict)
    adapters: dict[str, Adapter] = Field(default_factory=dict)
    congestion_name: str | None = None
    congestion: CongestionControl | None = None
    tuning_name: str | None = None
    tuning: HostProfile | None = None
