"""Management of a switch: users, access, ACLs, services and telemetry."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal

from rocefort.models.base import Frozen, Keyed
from rocefort.models.effect import HARMLESS, KEY, SAME, STATED, AccessTopic, EditCondition, KeyedRow


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


IpVersion = Literal["ipv4", "ipv6"]
Right = Literal["read", "read-write", "debug"]
# User groups that every switch has and no user can change (V300R023C00, `user-group`).
PREDEFINED_GROUPS = ("manage-ug", "system-ug", "monitor-ug", "visit-ug")
SHORTEST_USER_NAME = 6  # with the check that is on by default (V300R023C00, `local-user`)
OTHER_LOGIN = HARMLESS.affecting(
    "user {} may log in by other means than before", EditCondition.GONE
)
# Without a source interface a switch may listen everywhere: by `all-interface`, or before V300.
CUT_OFF = HARMLESS.affecting("management sessions may be cut off")


class LocalUser(KeyedRow):
    """User of the command line; the password is a secret of the switch, not in the Device."""

    name: Annotated[str, KEY]
    service_types: Annotated[Keyed[str], OTHER_LOGIN] = ()
    level: Annotated[int | None, OTHER_LOGIN] = None
    group: Annotated[str | None, OTHER_LOGIN] = None  # takes effect only without a level


class TaskGroupGrant(KeyedRow):
    """Rights of a user group on one task group: read, read-write, debug."""

    name: Annotated[str, KEY]
    rights: Annotated[Keyed[Right], SAME] = ()


class UserGroup(KeyedRow):
    """User group with its rights, by task group."""

    name: Annotated[str, KEY]
    grants: Annotated[Keyed[TaskGroupGrant], SAME] = ()


class SshUser(KeyedRow):
    """SSH login of a user: authentication and services."""

    name: Annotated[str, KEY]
    authentication: Annotated[str | None, OTHER_LOGIN] = None
    service_types: Annotated[Keyed[str], OTHER_LOGIN] = ()


class Ssh(Frozen):
    """SSH server; without a source interface no interface accepts a session (V300)."""

    stelnet: Annotated[bool, CUT_OFF.but(when=EditCondition.GONE)] = False
    source_interface: Annotated[str | None, CUT_OFF] = None
    users: Annotated[
        Keyed[SshUser],
        HARMLESS.affecting(
            "user {} can no longer log in", EditCondition.GONE, access=AccessTopic.USERS
        ),
    ] = ()


class Vty(KeyedRow):
    """VTY lines for remote logins, from `first` to `last`."""

    first: Annotated[int, KEY]
    last: Annotated[int, SAME.but(when=EditCondition.GONE)]
    authentication: Annotated[str | None, SAME] = None
    acl: Annotated[int | None, SAME] = None  # who may open a session: `acl N inbound`
    protocol: Annotated[str | None, SAME] = None
    idle_timeout_s: Annotated[int | None, SAME.but(when=EditCondition.GONE)] = None  # 0: never


class SensorGroup(KeyedRow):
    """Group of sensors: sampling paths of the switch's YANG models."""

    name: Annotated[str, KEY]
    paths: Annotated[Keyed[str], SAME] = ()


class Collector(Frozen):
    """Collector, by address and port; without a protocol the subscription decides."""

    address: Annotated[IPv4Address, KEY]
    port: Annotated[int, KEY]
    vrf: Annotated[str | None, SAME] = None
    protocol: Annotated[Literal["grpc", "udp"] | None, SAME] = None
    tls: Annotated[bool, SAME] = True  # `no-tls` turns encryption off

    @property
    def key(self) -> str:
        """Key of a collector: address and port."""
        return f"{self.address}:{self.port}"


class DestinationGroup(KeyedRow):
    """Group of collectors."""

    name: Annotated[str, KEY]
    collectors: Annotated[Keyed[Collector], SAME] = ()


class Sampling(KeyedRow):
    """Sensor group of a subscription, and its sampling interval in milliseconds."""

    group: Annotated[str, KEY]
    interval_ms: Annotated[int | None, SAME] = None


class Subscription(KeyedRow):
    """Subscription: sensor groups that are sent to destination groups."""

    name: Annotated[str, KEY]
    source_interface: Annotated[str | None, SAME] = None
    samplings: Annotated[Keyed[Sampling], SAME] = ()
    destinations: Annotated[Keyed[str], SAME] = ()


class Telemetry(Frozen):
    """Telemetry of a switch: what it sends, and to which collectors."""

    sensor_groups: Annotated[Keyed[SensorGroup], SAME] = ()
    destination_groups: Annotated[Keyed[DestinationGroup], SAME] = ()
    subscriptions: Annotated[Keyed[Subscription], SAME] = ()

    def __bool__(self) -> bool:
        """Whether any telemetry is configured."""
        return self != Telemetry()
