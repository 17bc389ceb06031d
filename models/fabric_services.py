"""Intent for management: who may log in, what the switches use."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network

from pydantic import Field

from rocefort.models.base import Frozen, Name, Reference
from rocefort.models.fabric_types import Id


class User(Frozen):
    """A local user of the switches; the password is set once, at day 0, and not managed here."""

    name: Name = Field(description="Login name.")
    level: int = Field(ge=0, le=3, description="Privilege level: 3 is everything, 1 monitoring.")


class ManagementAccess(Frozen):
    """A network that may reach the command line; `id` is permanent and never given again."""

    id: Id = Field(le=800_000_000, description="Permanent number; its ACL rule follows from it.")
    prefix: IPv4Network = Field(description="Its addresses.", examples=["10.255.0.0/24"])


class Security(Frozen):
    """Who may log in, and from where."""

    users: tuple[User, ...] = Field(default=(), description="Local users of every switch.")
    management_access: tuple[ManagementAccess, ...] = Field(
        default=(),
        description="Networks from which the command line may be reached (VTY); none: from all. "
        "NETCONF has no such filter yet.",
    )
    idle_timeout_min: int | None = Field(  # range of `idle-timeout`, V300R023C00
        default=None, ge=1, le=35791, description="A session idle for so long is closed, minutes."
    )


class SnmpUserIntent(Frozen):
    """A user of SNMPv3, authenticated and encrypted; its keys are set once on each switch."""

    name: Name = Field(max_length=32, description="User name.", examples=["monitor"])
    authentication: Reference = Field(
        description="Where its authentication key is: never the key itself.",
        examples=["env:SNMP_AUTHENTICATION"],
    )
    privacy: Reference = Field(
        description="Where its privacy key is: never the key itself.",
        examples=["env:SNMP_PRIVACY"],
    )


class Services(Frozen):
    """What the switches use, and what they offer for management."""

    ntp: tuple[IPv4Address, ...] = Field(default=(), description="Addresses of NTP servers.")
    syslog: tuple[IPv4Address, ...] = Field(default=(), description="Addresses of syslog servers.")
    netconf: bool = Field(
        default=False, description="Whether NETCONF is served, on port 830, to all users."
    )
    snmp: tuple[SnmpUserIntent, ...] = Field(
        default=(), description="Users of SNMPv3, who may read everything; none: no SNMP."
    )
