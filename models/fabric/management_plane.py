"""Intent for management: users, roles, access, NTP, syslog, SNMP and telemetry."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from rocefort.models.base import Frozen, Name, Reference
from rocefort.models.device.management import Right
from rocefort.models.fabric.policy import SegmentPolicy
from rocefort.models.fabric.types import Id, unique_by
from rocefort.models.wording import named

SENSOR_PATH, LONGEST_SENSOR_PATH = r"^[a-z][a-z0-9-]*:[A-Za-z0-9/:_.-]+$", 512


def check_sensor_path(value: str) -> str:
    """Accept a sampling path with its YANG module."""
    if len(value) > LONGEST_SENSOR_PATH or not re.fullmatch(SENSOR_PATH, value, re.ASCII):
        raise ValueError(
            f"{value[:60]!r} is not a sampling path; write it as the switch lists its sensor "
            "paths, its YANG module first: huawei-ifm:ifm/interfaces"
        )
    return value


SensorPath = Annotated[
    str,
    AfterValidator(check_sensor_path),
    WithJsonSchema({"maxLength": LONGEST_SENSOR_PATH, "pattern": SENSOR_PATH, "type": "string"}),
]
SampleInterval = Literal[  # values of `sensor-group .. sample-interval`, V300R023C00
    100, 500, 1000, 5000, 10000, 30000, 60000, 180000, 300000, 900000, 1800000
]


MOST_COLLECTORS = 10  # of a switch in all groups: `ipv4-address port`, V300R023C00


class User(Frozen):
    """Local user of the switches; the password is set once, at day 0, and not managed here."""

    name: Name = Field(description="Login name; a switch requires six characters or more.")
    level: int | None = Field(
        default=None,
        ge=0,
        le=3,
        json_schema_extra=named("a privilege level", "3 is everything, 1 is monitoring"),
        description="Privilege level: 3 is everything, 1 monitoring.",
    )
    role: Name | None = Field(
        default=None,
        description="Instead of a level: one of `roles`, or a group that the switch has: "
        "manage-ug, system-ug, monitor-ug or visit-ug.",
        examples=["monitor-ug"],
    )

    @model_validator(mode="after")
    def _level_or_role(self) -> Self:
        """Require one of the two: a switch ignores the group of a user with a level."""
        if (self.level is None) == (self.role is None):
            given = "neither level nor role" if self.role is None else "both level and role"
            raise ValueError(f"{given}; give a user one of them")
        return self


class RoleGrant(Frozen):
    """Rights of a role to the commands of one task group."""

    task_group: Name = Field(
        max_length=32, description="A task group that the switch has.", examples=["monitor-tg"]
    )
    rights: Annotated[tuple[Right, ...], unique_by(str)] = Field(
        min_length=1, description="read or read-write, debug, or both.", examples=[["read"]]
    )

    @model_validator(mode="after")
    def _read_or_write(self) -> Self:
        """Refuse `read` with `read-write`: a switch takes one of the two."""
        if {"read", "read-write"} <= set(self.rights):
            raise ValueError("rights read and read-write; read-write alone includes both")
        return self


class Role(Frozen):
    """User group of the site, with rights to task groups that a switch comes with."""

    name: Name = Field(max_length=32, description="Name of the user group.", examples=["beamline"])
    grants: Annotated[tuple[RoleGrant, ...], unique_by(lambda grant: grant.task_group)] = Field(
        min_length=1, description="What its users may do."
    )


class ManagementAccess(Frozen):
    """Network that may reach the command line; `id` is permanent and never reused."""

    id: Id = Field(
        le=800_000_000,
        json_schema_extra=named("an id"),
        description="Permanent number; its ACL rule follows from it.",
    )
    prefix: IPv4Network = Field(description="Its addresses.", examples=["10.255.0.0/24"])


class Security(Frozen):
    """Users, roles and networks that may log in, and the policy between segments."""

    users: tuple[User, ...] = Field(default=(), description="Local users of every switch.")
    roles: tuple[Role, ...] = Field(default=(), description="User groups that users may have.")
    management_access: tuple[ManagementAccess, ...] = Field(
        default=(),
        description="Networks from which the command line may be reached (VTY); none: from all. "
        "NETCONF has no such filter yet.",
    )
    policy: SegmentPolicy | None = Field(
        default=None,
        description="Allowed traffic between segments; none: all is allowed, without filters.",
    )
    idle_timeout_min: int | None = Field(  # range of `idle-timeout`, V300R023C00
        default=None,
        ge=1,
        le=35791,
        json_schema_extra=named("a time in minutes"),
        description="A session idle for so long is closed, minutes.",
    )


class SnmpUserIntent(Frozen):
    """SNMPv3 user, authenticated and encrypted; its keys are set once on each switch."""

    name: Name = Field(max_length=32, description="User name.", examples=["monitor"])
    authentication: Reference = Field(
        description="Where its authentication key is: never the key itself.",
        examples=["env:SNMP_AUTHENTICATION"],
    )
    privacy: Reference = Field(
        description="Where its privacy key is: never the key itself.",
        examples=["env:SNMP_PRIVACY"],
    )


class CollectorIntent(Frozen):
    """Receiver of telemetry."""

    address: IPv4Address = Field(description="Its address.", examples=["10.255.0.252"])
    port: int = Field(
        ge=1,
        le=65535,
        json_schema_extra=named("a TCP or UDP port"),
        description="Its port.",
        examples=[57400],
    )
    tls: bool = Field(default=True, description="Whether gRPC is encrypted.")


class TelemetryIntent(Frozen):
    """Telemetry subscription: sampling paths, interval in ms, and collectors."""

    name: Name = Field(
        max_length=64, examples=["ports"], description="Name of the subscription and its groups."
    )
    paths: Annotated[tuple[SensorPath, ...], unique_by(str)] = Field(
        min_length=1,
        max_length=64,
        description="Sampling paths of the switch's YANG models, as it lists its sensor paths.",
        examples=[["huawei-ifm:ifm/interfaces/interface/mib-statistics"]],
    )
    interval_ms: SampleInterval = Field(description="Time between samples, ms.", examples=[10000])
    collectors: Annotated[
        tuple[CollectorIntent, ...], unique_by(lambda row: f"{row.address} port {row.port}")
    ] = Field(min_length=1, max_length=MOST_COLLECTORS, description="Who receives it.")


class Services(Frozen):
    """Services that the switches use, and management services that they offer."""

    ntp: tuple[IPv4Address, ...] = Field(default=(), description="Addresses of NTP servers.")
    syslog: tuple[IPv4Address, ...] = Field(default=(), description="Addresses of syslog servers.")
    netconf: bool = Field(
        default=False, description="Whether NETCONF is served, on port 830, to all users."
    )
    snmp: tuple[SnmpUserIntent, ...] = Field(
        default=(), description="Users of SNMPv3, who may read everything; none: no SNMP."
    )
    telemetry: tuple[TelemetryIntent, ...] = Field(
        default=(), description="Telemetry subscriptions: what the switches send, and to whom."
    )

    @model_validator(mode="after")
    def _few_collectors(self) -> Self:
        """Refuse more collectors than addresses of a switch: each subscription has its own."""
        count = sum(len(row.collectors) for row in self.telemetry)
        if count > MOST_COLLECTORS:
            raise ValueError(
                f"telemetry goes to {count} collectors in all; a switch takes {MOST_COLLECTORS}"
            )
        return self
