"""Management of a switch beside its users, as its text says it: ACLs, NETCONF, syslog, SNMP."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Literal

from rocefort.models.base import Frozen
from rocefort.models.keyed import Keyed


class AclRule(Frozen):
    """One `rule` of a basic ACL; without a source it takes every packet."""

    index: int
    action: Literal["permit", "deny"] = "permit"
    source: IPv4Network | None = None

    @property
    def key(self) -> int:
        """Rules are told apart by number."""
        return self.index


class Acl(Frozen):
    """`acl number N`, 2000 to 2999: a basic ACL, by source address only."""

    number: int
    rules: Keyed[AclRule] = ()

    @property
    def key(self) -> int:
        """ACLs are told apart by number."""
        return self.number


class Netconf(Frozen):
    """NETCONF over SSH; on port 22 unless port 830 is given to it."""

    server: bool = False  # `snetconf server enable`
    port_830: bool = False


class Syslog(Frozen):
    """`info-center loghost`, each host without options of its own."""

    hosts: Keyed[IPv4Address] = ()
    vrf: str | None = None  # `vpn-instance` of every host; None: the public table
    source_interface: str | None = None


class SnmpView(Frozen):
    """`snmp-agent mib-view included`: the subtrees that a view shows."""

    name: str
    subtrees: Keyed[str] = ()

    @property
    def key(self) -> str:
        """Views are told apart by name."""
        return self.name


class SnmpGroup(Frozen):
    """`snmp-agent group v3 NAME privacy`: authenticated and encrypted, with its views."""

    name: str
    read_view: str | None = None
    write_view: str | None = None
    notify_view: str | None = None

    @property
    def key(self) -> str:
        """Groups are told apart by name."""
        return self.name


class SnmpUser(Frozen):
    """`snmp-agent usm-user v3`; its keys are secrets of the switch and no part of the Device.

    So no line with a key is ever rendered, and one that is read is kept as not understood.
    """

    name: str
    group: str

    @property
    def key(self) -> str:
        """Users are told apart by name."""
        return self.name


class Snmp(Frozen):
    """The SNMP agent."""

    enabled: bool = False
    source_interface: str | None = None  # where it listens; V300 by default nowhere
    versions: Keyed[str] = ()  # `sys-info version`
    views: Keyed[SnmpView] = ()
    groups: Keyed[SnmpGroup] = ()
    users: Keyed[SnmpUser] = ()
