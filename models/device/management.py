"""Management of a switch beside its users, as its text says it: ACLs, NETCONF, syslog, SNMP."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal

from rocefort.models.base import Frozen
from rocefort.models.effect import KEY, SAME, STATED, EditCondition, KeyedRow
from rocefort.models.keyed import Keyed


class AclRule(KeyedRow):
    """One rule of a basic ACL; without a source it takes every packet."""

    index: Annotated[int, KEY]
    action: Annotated[Literal["permit", "deny"], STATED] = "permit"
    source: Annotated[IPv4Network | None, STATED] = None


class Acl(KeyedRow):
    """Basic ACL, 2000 to 2999: by source address only."""

    number: Annotated[int, KEY]
    rules: Annotated[Keyed[AclRule], SAME] = ()


class Netconf(Frozen):
    """NETCONF over SSH; on port 22 unless port 830 is given to it."""

    server: Annotated[bool, SAME] = False  # `snetconf server enable`
    port_830: Annotated[bool, SAME.but(when=EditCondition.ALWAYS)] = False


class Syslog(Frozen):
    """Hosts that get the log, each without options of its own."""

    hosts: Annotated[Keyed[IPv4Address], SAME] = ()
    vrf: Annotated[str | None, SAME] = None  # `vpn-instance` of every host; None: the public table
    source_interface: Annotated[str | None, SAME] = None


class SnmpView(KeyedRow):
    """The subtrees that a view shows."""

    name: Annotated[str, KEY]
    subtrees: Annotated[Keyed[str], SAME] = ()


class SnmpGroup(KeyedRow):
    """Group of SNMPv3 users: authenticated and encrypted, with its views."""

    name: Annotated[str, KEY]
    read_view: Annotated[str | None, SAME] = None
    write_view: Annotated[str | None, SAME] = None
    notify_view: Annotated[str | None, SAME] = None


class SnmpUser(KeyedRow):
    """User of SNMPv3; its keys are secrets of the switch and no part of the Device.

    So no line with a key is ever rendered, and one that is read is kept as not understood.
    """

    name: Annotated[str, KEY]
    group: Annotated[str, SAME]


class Snmp(Frozen):
    """The SNMP agent."""

    enabled: Annotated[bool, SAME] = False
    # Where it listens; V300 by default nowhere.
    source_interface: Annotated[str | None, SAME] = None
    versions: Annotated[Keyed[str], SAME] = ()  # `sys-info version`
    views: Annotated[Keyed[SnmpView], SAME] = ()
    groups: Annotated[Keyed[SnmpGroup], SAME] = ()
    users: Annotated[Keyed[SnmpUser], SAME] = ()
