"""Intent for the servers' operating systems: kernel and NIC tuning, and names of their ports."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from rocefort.models.base import Frozen
from rocefort.models.fabric.sourced import Sourced
from rocefort.models.wording import named

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
