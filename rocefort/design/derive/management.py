"""Derive management of a switch: users, access, NETCONF, syslog, SNMPv3 and telemetry."""

from __future__ import annotations

from typing import get_args

from rocefort.design.derive.context import Context
from rocefort.design.derive.ports import MANAGEMENT
from rocefort.models.device.management import (
    Acl,
    AclRule,
    Collector,
    DestinationGroup,
    IpVersion,
    LocalUser,
    Netconf,
    Sampling,
    SensorGroup,
    Snmp,
    SnmpGroup,
    SnmpUser,
    SnmpView,
    Ssh,
    SshUser,
    Subscription,
    Syslog,
    TaskGroupGrant,
    Telemetry,
    UserGroup,
    Vty,
)
from rocefort.models.device.routing import DEFAULT_ROUTE, StaticRoute, Vrf

ACCESS_ACL = 2000  # the first basic ACL
RULE_STEP = 5  # default step of a switch, V300R023C00 `step`
EVERYTHING = "iso"  # root of the SNMP object tree, and the name of the view with all of it
SNMP_GROUP = "monitoring"


def vrfs(context: Context, device: str) -> tuple[Vrf, ...]:
    """VRF of the management port, if it has one."""
    name = context.fabric.management.vrf
    context.note(device, "vrfs", "management")
    return () if name is None else (Vrf(name=name, ipv4=True),)


def static_routes(context: Context, device: str) -> tuple[StaticRoute, ...]:
    """Static default route of the management port."""
    management = context.fabric.management
    if management.gateway is None:
        return ()
    route = StaticRoute(
        prefix=DEFAULT_ROUTE,
        next_hop=management.gateway,
        vrf=management.vrf,
        description="management",
    )
    context.note(device, f"static_routes[{route.key}]", "management", "gateway")
    return (route,)


def users(context: Context, device: str) -> tuple[LocalUser, ...]:
    """Local users; intent does not contain their passwords."""
    context.note(device, "users", "security", "users")
    return tuple(
        LocalUser(name=user.name, service_types=("ssh",), level=user.level, group=user.role)
        for user in context.fabric.security.users
    )


def user_groups(context: Context, device: str) -> tuple[UserGroup, ...]:
    """User groups of the site; built-in ones need no line."""
    for index, role in enumerate(context.fabric.security.roles):
        context.note(device, f"user_groups[{role.name}]", "security", "roles", index)
    return tuple(
        UserGroup(
            name=role.name,
            grants=tuple(TaskGroupGrant(name=g.task_group, rights=g.rights) for g in role.grants),
        )
        for role in context.fabric.security.roles
    )


def ssh(context: Context, device: str) -> Ssh:
    """SSH server, on the management port only."""
    context.note(device, "ssh", "security", "users")
    services = ("snetconf", "stelnet") if context.fabric.services.netconf else ("stelnet",)
    return Ssh(
        stelnet=True,
        source_interface=MANAGEMENT,
        users=tuple(
            SshUser(name=user.name, authentication="password", service_types=services)
            for user in context.fabric.security.users
        ),
    )


def telnet_off(context: Context, device: str) -> tuple[IpVersion, ...]:
    """Telnet off for IPv4 and IPv6; `without_defaults` drops it where that is the default."""
    context.note(device, "telnet_off", "security", "users")
    return get_args(IpVersion)


def netconf(context: Context, device: str) -> Netconf:
    """NETCONF on its own port, so that a firewall can distinguish it from SSH."""
    enabled = context.fabric.services.netconf
    context.note(device, "netconf", "services", "netconf")
    return Netconf(server=enabled, port_830=enabled)


def acls(context: Context, device: str) -> tuple[Acl, ...]:
    """ACL of networks that may reach the VTY lines; rule numbers follow from network ids."""
    access = context.fabric.security.management_access
    at = f"acls[{ACCESS_ACL}]"
    context.note(device, at, "security", "management_access")
    for index, row in enumerate(access):
        rule_path = f"{at}.rules[{row.id * RULE_STEP}]"
        context.note(device, rule_path, "security", "management_access", index)
    rules = tuple(AclRule(index=row.id * RULE_STEP, source=row.prefix) for row in access)
    return (Acl(number=ACCESS_ACL, rules=rules),) if rules else ()


def vty(context: Context, device: str) -> Vty:
    """VTY lines."""
    security = context.fabric.security
    context.note(device, "vty", "security")
    context.note(device, "vty[0].acl", "security", "management_access")
    context.note(device, "vty[0].idle_timeout_s", "security", "idle_timeout_min")
    minutes = security.idle_timeout_min
    return Vty(
        first=0,
        last=4,
        authentication="aaa",
        protocol="ssh",
        acl=ACCESS_ACL if security.management_access else None,
        idle_timeout_s=None if minutes is None else minutes * 60,
    )


def syslog(context: Context, device: str) -> Syslog:
    """Syslog hosts, with the management port as source."""
    hosts = context.fabric.services.syslog
    context.note(device, "syslog", "services", "syslog")
    if not hosts:
        return Syslog()
    vrf = context.fabric.management.vrf
    return Syslog(hosts=hosts, vrf=vrf, source_interface=MANAGEMENT)


def snmp(context: Context, device: str) -> Snmp:
    """SNMPv3 only, for reading and notifications; a Device does not contain keys."""
    readers = context.fabric.services.snmp
    context.note(device, "snmp", "services", "snmp")
    for index, user in enumerate(readers):
        context.note(device, f"snmp.users[{user.name}]", "services", "snmp", index)
    if not readers:
        return Snmp()
    group = SnmpGroup(name=SNMP_GROUP, read_view=EVERYTHING, notify_view=EVERYTHING)
    return Snmp(
        enabled=True,
        source_interface=MANAGEMENT,
        versions=("v3",),
        views=(SnmpView(name=EVERYTHING, subtrees=(EVERYTHING,)),),
        groups=(group,),
        users=tuple(SnmpUser(name=user.name, group=SNMP_GROUP) for user in readers),
    )


def telemetry(context: Context, device: str) -> Telemetry:
    """Telemetry subscriptions, each with sensor and destination groups of the same name."""
    rows, vrf = context.fabric.services.telemetry, context.fabric.management.vrf
    context.note(device, "telemetry", "services", "telemetry")
    for index, row in enumerate(rows):
        for part in ("sensor_groups", "destination_groups", "subscriptions"):
            at = f"telemetry.{part}[{row.name}]"
            context.note(device, at, "services", "telemetry", index)
    return Telemetry(
        sensor_groups=tuple(SensorGroup(name=row.name, paths=row.paths) for row in rows),
        destination_groups=tuple(
            DestinationGroup(
                name=row.name,
                collectors=tuple(
                    Collector(address=c.address, port=c.port, vrf=vrf, protocol="grpc", tls=c.tls)
                    for c in row.collectors
                ),
            )
            for row in rows
        ),
        subscriptions=tuple(
            Subscription(
                name=row.name,
                source_interface=MANAGEMENT,
                samplings=(Sampling(group=row.name, interval_ms=row.interval_ms),),
                destinations=(row.name,),
            )
            for row in rows
        ),
    )
