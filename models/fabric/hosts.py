"""Intent for servers: NICs, bonds and operating systems."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from rocefort.models.base import Description, Frozen, Name
from rocefort.models.device.interface import HIGHEST_ID, MANUAL, MOST_LINKS, Bond
from rocefort.models.device.lossless_queue import host_priority
from rocefort.models.fabric.congestion_control import CongestionControl
from rocefort.models.fabric.types import PORT_NAME, Dscp, InterfaceName, Sourced
from rocefort.models.wording import named

OTHER_LEAF = re.compile(rf"\S*[^\s:/][\s:/]+{PORT_NAME}", re.ASCII)
TWO_LEAVES = (
    "a server on two leaves (M-LAG) is not supported; bond ports of one leaf, or give it two "
    "names, each with a port and an address on its leaf, and let the host route"
)


def one_leaf(value: object) -> object:
    """Refuse a list of leaves, with a message that names the alternative."""
    if isinstance(value, list | dict):
        raise ValueError(TWO_LEAVES)  # noqa: TRY004 - pydantic takes no TypeError
    return value


def port_of_the_leaf(value: object) -> object:
    """Refuse a port that is named with another leaf."""
    if isinstance(value, dict) or (isinstance(value, str) and OTHER_LEAF.fullmatch(value)):
        raise ValueError(TWO_LEAVES)
    return value


LeafName = Annotated[Name, BeforeValidator(one_leaf)]
MemberName = Annotated[InterfaceName, BeforeValidator(port_of_the_leaf)]
LonePort = Annotated[  # the JSON schema has the port only: no author writes `port: null`
    InterfaceName | None, WithJsonSchema({"type": "string", "pattern": f"^{PORT_NAME}$"})
]


class ServerBond(Frozen):
    """Ports of one leaf that a server bundles; the leaf bundles them in an Eth-Trunk."""

    ports: tuple[MemberName, ...] = Field(
        min_length=1,
        description="Its ports on the leaf, all of one speed, none of those kept for spines.",
        examples=[["100GE1/0/1", "100GE1/0/2"]],
    )
    mode: Literal["lacp-static", "lacp-dynamic", "manual"] = Field(
        default="lacp-static",
        description="Mode of the leaf's Eth-Trunk. An 802.3ad bond of the host needs lacp-static; "
        "lacp-dynamic also lets a host boot from the network before it bonds; manual detects only "
        "a lost link.",
    )
    timeout: Literal["fast", "slow"] | None = Field(
        default=None,
        description="Time after which LACP removes a silent member: fast 3 s (the default), slow "
        "90 s. Only with lacp-static: a switch takes it in no other mode, and lacp-dynamic waits "
        "90 s.",
    )
    minimum_links: int = Field(
        default=1,
        ge=1,
        le=MOST_LINKS,
        json_schema_extra=named("a number of members"),
        description="Fewest members that are up; with fewer, the whole bond goes down.",
    )
    id: int | None = Field(
        default=None,
        ge=0,
        le=HIGHEST_ID,
        json_schema_extra=named("an Eth-Trunk number"),
        examples=[7],
        description="Number of its Eth-Trunk, given by hand; otherwise by its first port.",
    )

    @property
    def settings(self) -> Bond:
        """Settings of the Eth-Trunk on the leaf."""
        if self.mode == "manual":
            return Bond(mode=MANUAL, minimum_links=self.minimum_links)
        # lacp-dynamic has no timeout to set: LACP waits as long as the switch's default.
        timeout = "slow" if self.mode == "lacp-dynamic" else self.timeout or "fast"
        return Bond(mode=self.mode, lacp_timeout=timeout, minimum_links=self.minimum_links)


# Linux takes 15 characters (IFNAMSIZ); only those without a meaning in a shell or a path.
LINUX_INTERFACE = r"^[A-Za-z][A-Za-z0-9_-]{0,14}$"
RDMA_DEVICE = r"^[A-Za-z][A-Za-z0-9_-]{0,62}$"
SYSCTL = r"^(net|vm)(\.[a-z0-9_]{1,40}){1,6}$"  # networking and memory only
SYSCTL_VALUE = r"^[a-z0-9_-]{1,32}( [a-z0-9_-]{1,32}){0,7}$"


def as_text(value: object) -> object:
    """Convert a number of YAML to the text that a file of /proc/sys takes; no booleans."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


LinuxInterface = Annotated[str, Field(pattern=LINUX_INTERFACE)]
RdmaDevice = Annotated[str, Field(pattern=RDMA_DEVICE)]
Sysctl = Annotated[str, Field(pattern=SYSCTL)]
SysctlValue = Annotated[
    str,
    BeforeValidator(as_text),
    Field(pattern=SYSCTL_VALUE),
    WithJsonSchema({"anyOf": [{"type": "string", "pattern": SYSCTL_VALUE}, {"type": "integer"}]}),
]
Ring = Annotated[int, Field(ge=64, le=65536, json_schema_extra=named("a ring size in descriptors"))]


class HostProfile(Sourced):
    """Tuning of a server's operating system; a value that is left out stays unchanged."""

    sysctl: dict[Sysctl, SysctlValue] = Field(
        default_factory=dict,
        description="Kernel parameters (net.*, vm.*) by name.",
        examples=[{"net.core.rmem_max": 268435456}],
        json_schema_extra={"propertyNames": {"pattern": SYSCTL}},
    )
    ring_rx: Ring | None = Field(
        default=None, description="Receive ring, descriptors; the NIC's maximum where that is less."
    )
    ring_tx: Ring | None = Field(default=None, description="Transmit ring, in the same way.")
    governor: Literal["performance", "powersave", "schedutil", "ondemand"] | None = Field(
        default=None, description="CPU frequency governor."
    )
    interrupts: Literal["numa"] | None = Field(
        default=None, description="numa: the NIC's interrupts go to the CPUs of its NUMA node."
    )
    qdisc: Literal["fq", "fq_codel", "pfifo_fast"] | None = Field(
        default=None,
        description="Queue discipline of the ports; fq paces what bbr sends. The kernel parameter "
        "net.core.default_qdisc changes no port that is there already.",
    )
    recorded: dict[Name, Description] = Field(
        default_factory=dict,
        description="Settings of the source that Rocefort does not set, by name; `host render` "
        "lists them.",
        examples=[{"firmware": "22.41.1000"}],
    )


class ServerHost(Frozen):
    """Names of a server's ports; without them its address identifies the ports."""

    interfaces: tuple[LinuxInterface, ...] = Field(
        default=(),
        max_length=16,
        description="Its interfaces in the order of its ports; needed to make a bond.",
        examples=[["ens1f0np0"]],
    )
    bond: LinuxInterface = Field(default="bond0", description="Name of its bond, where it has one.")
    rdma_device: RdmaDevice | None = Field(
        default=None,
        description="Its RDMA device; otherwise that of its first interface.",
        examples=["mlx5_0"],
    )

    @model_validator(mode="after")
    def _names_once(self) -> Self:
        names = (*self.interfaces, self.bond)
        if len(set(names)) != len(names):
            raise ValueError("an interface is named twice; give each of them its own name")
        return self


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
    nics: dict[Description, tuple[Annotated[int, Field(gt=0, le=3200)], ...]] = Field(
        default_factory=dict,
        examples=[{"ConnectX-5": [25, 100]}],
        description="NICs of this make, each with the speeds of a port, Gb/s; none: not known.",
    )

    def nics_of(self, gbps: int) -> tuple[str, ...]:
        """NICs whose port has a speed."""
        return tuple(name for name, speeds in self.nics.items() if gbps in speeds)


class Hosts(Frozen):
    """Settings of all servers of a fabric: NIC profiles in use, and congestion control.

    tuning: of their operating systems. Sources has these values as `nics[NAME].key`,
    `congestion.key` and `tuning.key` of no device.
    """

    nics: dict[str, NicProfile] = Field(default_factory=dict)
    adapters: dict[str, Adapter] = Field(default_factory=dict)
    congestion_name: str | None = None
    congestion: CongestionControl | None = None
    tuning_name: str | None = None
    tuning: HostProfile | None = None
