"""Intended settings of servers that match their leaf ports, and observed settings."""

from __future__ import annotations

from functools import cached_property
from ipaddress import IPv4Interface
from typing import Annotated, Literal

from pydantic import Field

from rocefort.models.base import Frozen, Name
from rocefort.models.fabric.hosts import LinuxInterface, Priority, RdmaDevice, Sysctl, SysctlValue
from rocefort.models.fabric.types import Dscp

ECT0 = 0b10  # ECN-capable transport, RFC 3168: without it a switch drops where it would mark
PRIORITIES = range(8)
ROCE_V2 = "RoCE v2"  # as the kernel's configfs shows it (ABI/testing/configfs-rdma_cm)
NicPath = Annotated[str, Field(pattern=r"^roce_(np|rp)/[a-z0-9_]{1,63}(/[0-7])?$")]
Mode = Literal["802.3ad", "balance-xor"]


class HostBond(Frozen):
    """Bond of a Linux server; lacp_rate None: no LACP (balance-xor)."""

    name: LinuxInterface
    mode: Mode
    hash_policy: Literal["layer3+4"] = "layer3+4"
    lacp_rate: Literal["fast", "slow"] | None
    minimum_links: int = Field(ge=1, le=16)
    miimon_ms: int = Field(default=100, ge=1, le=10000)  # else a dead link stays in use


class NicFile(Frozen):
    """Number in a file of /sys/class/net/INTERFACE/ecn; key: its name in profiles."""

    path: NicPath
    value: int = Field(ge=0, le=2**31 - 1)
    key: str


class NicSettings(Frozen):
    """Settings of a NIC of a known make, with the names of mlx5's driver and tools."""

    priorities: dict[Dscp, Priority]
    paused: tuple[Priority, ...]
    switches: tuple[NicFile, ...] = ()  # of DCQCN: on or off, and settings of CNPs
    parameters: tuple[NicFile, ...] = ()  # of DCQCN: its rates and timers


class HostPlan(Frozen):
    """Intended settings of one server.

    ports: of its leaf, in the order of `interfaces`. carrier: the interface with its VLAN, a port
    or an Eth-Trunk. gateway: its VLAN interface; back to back the carrier. nic None: unknown, or
    not for RoCE. left_out: a sentence for each setting that is left out, with the reason.
    unconfirmed: a sentence for each value that no vendor confirms.
    """

    server: Name
    leaf: Name
    carrier: str
    ports: tuple[str, ...]
    gateway: str
    queue: int | None
    address: IPv4Interface
    mtu: int = Field(ge=1280, le=9978)
    port_gbps: int
    interfaces: tuple[LinuxInterface, ...] = ()
    bond: HostBond | None = None
    rdma_device: RdmaDevice | None = None
    roce_dscp: Dscp | None = None
    cnp_dscp: Dscp | None = None
    nic: NicSettings | None = None
    sysctl: dict[Sysctl, SysctlValue] = Field(default_factory=dict)
    rings: dict[Literal["rx", "tx"], int] = Field(default_factory=dict)
    governor: str | None = Field(default=None, pattern=r"^[a-z]{1,16}$")
    interrupts: bool = False
    qdisc: str | None = Field(default=None, pattern=r"^[a-z_]{1,16}$")
    left_out: tuple[str, ...] = ()
    unconfirmed: tuple[str, ...] = ()

    @property
    def leaf_port(self) -> str:
        """Leaf and port as text."""
        return f"{self.leaf} {self.carrier}"

    @property
    def far_end(self) -> str:
        """Other end of its cable in words: a port of its leaf, or of a host back to back."""
        is_host = self.gateway == self.carrier
        return f"the port {self.leaf_port}" if is_host else f"its leaf port {self.leaf_port}"

    @property
    def traffic_class(self) -> int | None:
        """Traffic class of RoCE: its DSCP with ECT(0), 34 -> 138."""
        return None if self.roce_dscp is None else self.roce_dscp << 2 | ECT0

    @property
    def main(self) -> str | None:
        """Interface with the address, if intent names it."""
        if not self.interfaces:
            return None
        return self.bond.name if self.bond else self.interfaces[0]


class BondSeen(Frozen):
    """Observed bond of a server; None: its kernel does not report it."""

    mode: str
    hash_policy: str | None = None
    lacp_rate: str | None = None
    minimum_links: int | None = None
    miimon_ms: int | None = None  # 0: nothing watches the links
    members: tuple[str, ...] = ()


class RingSeen(Frozen):
    """Ring of a NIC: present and largest number of descriptors."""

    size: int
    maximum: int


class NicDriver(Frozen):
    """Driver of a NIC with its version, and the NIC's firmware; empty: it reports none."""

    name: str
    version: str = ""
    firmware: str = ""


class NicSeen(Frozen):
    """Observed physical port of a server. missing: why a field is None, by its name."""

    name: str
    missing: dict[str, str] = Field(default_factory=dict)
    driver: NicDriver | None = None
    mtu: int | None = None
    speed_mbps: int | None = None
    rings: dict[str, RingSeen] | None = None
    dcbx: str | None = None
    trust: str | None = None
    priorities: dict[int, int] | None = None
    paused: tuple[int, ...] | None = None
    files: dict[str, int] | None = None
    interrupts: dict[int, str] | None = None  # CPUs by interrupt
    local_cpus: str | None = None
    qdisc: str | None = Field(default=None, exclude_if=lambda kind: kind is None)


class ClockSeen(Frozen):
    """Clock of a server at the begin and the end of its answer, seconds since 1970 (UTC)."""

    begin_s: float
    end_s: float


class HostSeen(Frozen):
    """Observed server. failed: why it could not be read; missing: why a field is None.

    file: of a reading that failed, if it is kept in one.
    notes: lines of its answer that no reader reads.
    clock_ahead_s: of the reading machine's clock, within clock_error_s.
    """

    name: str
    failed: str = ""
    file: str | None = Field(default=None, exclude_if=lambda file: file is None)
    notes: tuple[str, ...] = ()
    missing: dict[str, str] = Field(default_factory=dict)
    addresses: tuple[tuple[str, IPv4Interface], ...] = ()
    interface: str | None = None
    mtu: int | None = None
    bond: BondSeen | None = None
    nics: tuple[NicSeen, ...] = ()
    rdma_device: str | None = None
    roce_mode: str | None = None
    roce_tos: int | None = None
    traffic_class: int | None = None
    sysctl: dict[str, str] = Field(default_factory=dict)
    governors: tuple[str, ...] | None = None
    kernel: str | None = None
    clock: ClockSeen | None = None
    clock_ahead_s: float | None = None
    clock_error_s: float | None = None


class HostsSeen(Frozen):
    """Observed servers of a fabric, or some of them."""

    fabric: str
    hosts: tuple[HostSeen, ...]

    @cached_property
    def by_name(self) -> dict[str, HostSeen]:
        """Servers by name."""
        return {host.name: host for host in self.hosts}
