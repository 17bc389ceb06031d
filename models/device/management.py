"""Management in the configuration of a switch, except users: ACLs, NETCONF, syslog, SNMP."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal

from rocefort.models.base import Frozen
from rocefort.models.effect import KEY, SAME, STATED, EditCondition, KeyedRow
from rocefort.models.keyed import Keyed


class AclRule(KeyedRow):
    """Rule of a basic ACL; without a source it matches every packet."""

    index: Annotated[int, KEY]
    action: Annotated[Literal["permit", "deny"], STATED] = "permit"
    source: Annotated[IPv4Network | None, STATED] = None


class Acl(KeyedRow):
    """Basic ACL, 2000 to 2999: by source address only."""

    number: Annotated[int, KEY]
    rules: Annotated[Keyed[AclRule], SAME] = ()


class Netconf(Frozen):
    """NETCONF over SSH; on port 22 unless port 830 is configured."""

    server: Annotated[bool, SAME] = False  # `snetconf server enable`
    port_830: Annotated[bool, SAME.but(when=EditCondition.ALWAYS)] = False


class Syslog(Frozen):
    """Syslog hosts; none has options of its own."""

    hosts: Annotated[Keyed[IPv4Address], SAME] = ()
    vrf: Annotated[str | None, SAME] = None  # `vpn-instance` of every host; None: the public table
    source_interface: Annotated[str | None, SAME] = None


class SnmpView(KeyedRow):
    """SNMP view: the subtrees that it includes."""

    name: Annotated[str, KEY]
    subtrees: Annotated[Keyed[str], SAME] = ()


class SnmpGroup(KeyedRow):
    """Group of SNMPv3 users: authenticated and encrypted, with its views."""

    name: Annotated[str, KEY]
    read_view: Annotated[str | None, SAME] = None
    write_view: Annotated[str | None, SAME] = None
    notify_view: Annotated[str | None, SAME] = None


class SnmpUser(KeyedRow):
    """SNMPv3 user; its keys are secrets of the switch and not in the Device.

    So no line with a key is rendered, and a line that was read is a kept line.
    """

    name: Annotated[str, KEY]
    group: Annotated[str, SAME]


class Snmp(Frozen):
    """SNMP agent of a switch."""

    enabled: Annotated[bool, SAME] = False
    # Interface that it listens on; V300: none by default.
    source_interface: Annotated[str | None, SAME] = None
    versions: Annotated[Keyed[str], SAME] = ()  # `sys-info version`
    views: Annotated[Keyed[SnmpView], SAME] = ()
    groups: Annotated[Keyed[SnmpGroup], SAME] = ()
    users: Annotated[Keyed[SnmpUser], SAME] = ()
