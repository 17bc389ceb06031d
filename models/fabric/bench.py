"""Intent for a bench: two hosts, back to back or through one switch, in place of a fabric.

A bench becomes a fabric without spines, with one leaf or none, so that whatever reads leaves,
segments and servers reads those of a bench, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from ipaddress import IPv4Interface, IPv4Network
from typing import Final, Self

from pydantic import Field, ValidationError, model_validator
from pydantic.config import JsonDict, JsonValue

from rocefort.models.base import Frozen, Name
from rocefort.models.fabric.hosts import LonePort, ServerHost
from rocefort.models.fabric.topology import (
    CableKind,
    Cables,
    Leaf,
    SegmentIntent,
    ServerIntent,
    SwitchPins,
)
from rocefort.models.fabric.types import Metres, Vlan
from rocefort.models.fabric.underlay import Capacity, Pools, Routing
from rocefort.models.wording import named

SEGMENT: Final = "bench"
FIRST_HOST: Final = 10  # host number of the first host's address
LONGEST_PREFIX: Final = 28  # with room for both hosts
NIC_PORT: Final = "eth0"  # of a host whose interfaces are not named
# Keys of a fabric that a bench replaces.
REPLACED: Final = (
    *("capacity", "pools", "routing", "cables", "segments", "spines", "leaves", "racks"),
    *("links_per_pair", "links", "servers", "beamlines", "rollout", "policy"),
)
# A bench allocates nothing of pools and has no AS number: the model of a fabric needs a value.
_NOWHERE = IPv4Network("192.0.2.0/29")  # RFC 5737


class BenchHost(Frozen):
    """Host of a bench, with one port."""

    name: Name = Field(description="The host's name.", examples=["host1"])
    port: LonePort = Field(
        default=None,
        examples=["25GE1/0/1"],
        description="Its port on the switch; none: the hosts are back to back.",
    )
    nic: Name | None = Field(
        default=None,
        examples=["connectx-dscp24"],
        description="Name of a NIC profile: how its NIC is set; none: not known, not judged.",
    )
    host: ServerHost | None = Field(
        default=None, description="What it calls its ports; otherwise found by its address."
    )

    @property
    def interface(self) -> str:
        """Its own port: the first of its interfaces."""
        names = self.host.interfaces if self.host else ()
        return names[0] if names else NIC_PORT


class BenchSwitch(Frozen):
    """Only switch of a bench: it switches between the hosts, and routes nothing."""

    name: Name = Field(description="The switch's sysname.", examples=["switch01"])
    hardware: Name = Field(
        description="A model of inventory/hardware.", examples=["CE6865-48S8CQ-EI"]
    )
    software: Name = Field(description="The release that it runs.", examples=["V200R005C00"])
    management: IPv4Interface = Field(
        description="Address of MEth0/0/0 with its length.", examples=["10.255.0.1/24"]
    )
    vlan: Vlan = Field(default=100, description="VLAN of both hosts.")


class Bench(Frozen):
    """Two hosts, back to back or through one switch."""

    prefix: IPv4Network = Field(
        description=f"Addresses of the hosts: numbers {FIRST_HOST} and {FIRST_HOST + 1}, with and "
        "without a switch; a switch has number 1.",
        examples=["192.168.10.0/24"],
    )
    speed_gbps: int = Field(
        ge=1,
        json_schema_extra=named("a speed"),
        description="Speed of the hosts' NICs, Gb/s; a faster port of the switch works at it.",
        examples=[10],
    )
    cable_m: Metres = Field(description="Length of each cable, m.", examples=[3])
    cable: CableKind | None = Field(
        default=None, description="What the cables are; none: FEC is left to the switch."
    )
    hosts: tuple[BenchHost, ...] = Field(
        min_length=2, max_length=2, description="The two hosts; tests send from the first."
    )
    switch: BenchSwitch | None = Field(
        default=None, description="The switch between them; none: they are back to back."
    )

    @model_validator(mode="after")
    def _ports_of_switch(self) -> Self:
        if self.prefix.prefixlen > LONGEST_PREFIX:
            raise ValueError(
                f"{self.prefix} has no addresses {FIRST_HOST} and {FIRST_HOST + 1}; use a "
                f"/{LONGEST_PREFIX} or a larger prefix"
            )
        for host in self.hosts:
            if self.switch is None and host.port is not None:
                raise ValueError(f"port of {host.name} is given without a switch; remove it")
            if self.switch is not None and host.port is None:
                raise ValueError(f"{host.name} has no port of {self.switch.name}; give its port")
        return self

    @cached_property
    def path(self) -> str:
        """Path between the hosts, in words."""
        return f"through {self.switch.name}" if self.switch else "back to back"

    def fabric_values(self) -> dict[str, object]:
        """Return the values of a fabric that the bench replaces, by key."""
        nothing = Pools(spine_loopbacks=_NOWHERE, leaf_loopbacks=_NOWHERE, links=_NOWHERE)
        return {
            "capacity": Capacity(spines=1, leaves=1),
            "pools": nothing,
            "routing": Routing(spine_asn=64512, leaf_asn_base=64512, maximum_paths=1),
            "cables": Cables(fabric_m=self.cable_m, server_m=self.cable_m, server=self.cable),
            "segments": self._segments(),
            "spines": (),
            "leaves": self._leaves(),
            "servers": self._servers(),
            # A single switch has no wave before its own.
            "rollout": {"canary": self.switch.name if self.switch else self.hosts[0].name},
        }

    def _segments(self) -> tuple[SegmentIntent, ...]:
        own = SegmentIntent(
            name=SEGMENT,
            role="compute",
            prefix=self.prefix,
            vlan=self.switch.vlan if self.switch else 100,
            leaf_prefix_length=self.prefix.prefixlen,
        )
        outside = self.switch.management.network if self.switch else _NOWHERE
        management = SegmentIntent(name="management", role="management", prefix=outside)
        return own, management

    def _leaves(self) -> tuple[Leaf, ...]:
        if self.switch is None:
            return ()
        leaf = Leaf(
            id=1,
            name=self.switch.name,
            hardware=self.switch.hardware,
            software=self.switch.software,
            segments=(SEGMENT,),
            pins=SwitchPins(management=self.switch.management.ip),
        )
        return (leaf,)

    def _servers(self) -> tuple[ServerIntent, ...]:
        """Both hosts; back to back, the port of one is the interface of the other."""
        pairs = zip(self.hosts, reversed(self.hosts), strict=True)
        return tuple(self._server(number, *pair) for number, pair in enumerate(pairs))

    def _server(self, number: int, host: BenchHost, far: BenchHost) -> ServerIntent:
        server = ServerIntent(
            name=host.name,
            leaf=self.switch.name if self.switch else far.name,
            port=host.port or "100GE1/0/1",
            segment=SEGMENT,
            speed_gbps=self.speed_gbps,
            nic=host.nic,
            host=host.host,
            address=self.prefix.network_address + FIRST_HOST + number,
        )
        # A host's own interface has no name of a switch's port.
        return server if self.switch else server.like(port=far.interface)


_ANY = Bench.model_validate(
    {
        "prefix": _NOWHERE.supernet(new_prefix=24),
        "speed_gbps": 10,
        "cable_m": 1,
        "hosts": [{"name": "host1"}, {"name": "host2"}],
    }
)


def with_bench_values(data: object) -> object:
    """Return the data of a fabric with the values that its bench replaces.

    A bench with errors has the values of any other, so that its errors are the only ones.
    """
    if not isinstance(data, Mapping) or data.get("bench") is None:
        return data
    given = data["bench"]
    try:
        bench = given if isinstance(given, Bench) else Bench.model_validate(given)
    except ValidationError:
        bench = _ANY
    rdma = data.get("rdma")
    if isinstance(rdma, Mapping) and "servers" not in rdma:  # its hosts are there for tests
        data = {**data, "rdma": {**rdma, "servers": [host.name for host in bench.hosts]}}
    return {**data, **bench.fabric_values()}


def without_replaced(schema: JsonDict) -> None:
    """Require in a JSON Schema of fabrics either a bench, or the keys that it replaces."""
    required = schema.get("required")
    if isinstance(required, list):
        own: list[JsonValue] = [key for key in required if key in REPLACED]
        schema["required"] = [key for key in required if key not in REPLACED]
        schema["anyOf"] = [{"required": own}, {"required": ["bench"]}]
