"""Device: the content of one switch's configuration text, its normal form, and its subnets.

Collections are sorted by key, so two Devices are equal exactly when they have the same meaning.
Facts that text cannot express (cable lengths, roles, servers) are in Network.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from functools import cached_property
from ipaddress import IPv4Address, IPv4Interface
from typing import Annotated, TypeVar

from rocefort.models.base import Frozen, Keyed
from rocefort.models.device.interface import (
    DEFAULT_DOMAIN,
    DEFAULT_VLAN,
    ETHERNET_MTU,
    NO_DOMAIN,
    Interface,
    trunk_name,
    trunk_number,
)
from rocefort.models.device.lossless_queue import (
    DEFAULT_PROFILE,
    OTHER_DEPTHS,
    AiEcn,
    DiffservDomain,
    DropProfile,
    Pfc,
    PfcProfile,
    PfcTimer,
    drops_as_by_default,
)
from rocefort.models.device.management import (
    Acl,
    IpVersion,
    LocalUser,
    Netconf,
    Snmp,
    Ssh,
    Syslog,
    Telemetry,
    UserGroup,
    Vty,
)
from rocefort.models.device.packet_filters import Filters
from rocefort.models.device.routing import (
    ATTRACTS_ALL,
    Bgp,
    BgpSettings,
    PrefixList,
    RoutePolicy,
    StaticRoute,
    Vrf,
)
from rocefort.models.effect import (
    BGP,
    FILTERS,
    HARMLESS,
    LOSSLESS,
    POLICY,
    PORT,
    SAME,
    SPLIT,
    UNREAD,
    VLAN,
    AccessTopic,
    EditCondition,
    KeyedRow,
    LosslessTopic,
    OfKey,
    effects_of,
    key_field_of,
)
from rocefort.models.hardware.hardware import Fact, Family, SavedLine
from rocefort.models.hardware.media import PortSplit, part_speed_gbps


class Device(Frozen):
    """Content of one switch's configuration text."""

    name: Annotated[str, SAME.but(access=AccessTopic.NAME)]  # sysname
    # Ports that are several interfaces of a lower speed.
    splits: Annotated[
        Keyed[PortSplit],
        SPLIT.affecting("{} is split or made whole again", down=EditCondition.ALWAYS),
    ] = ()
    vlans: Annotated[
        Keyed[int],
        VLAN.affecting("VLAN {} is removed", EditCondition.GONE, down=EditCondition.GONE),
    ] = ()
    telnet_off: Annotated[Keyed[IpVersion], HARMLESS] = ()  # `telnet [ ipv6 ] server disable`
    lldp: Annotated[bool, UNREAD] = False
    bfd: Annotated[
        bool,
        HARMLESS.affecting("BFD is switched off: link failures are seen late", EditCondition.GONE),
    ] = False
    domains: Annotated[
        Keyed[DiffservDomain],
        LOSSLESS.affecting(
            "diffserv domain {} maps traffic to other queues on every port that uses it",
            EditCondition.GONE,
            topic=LosslessTopic.PRIORITY_MAP,
        ),
    ] = ()
    pfc: Annotated[Pfc, LOSSLESS.but(topic=LosslessTopic.SWITCH_PFC)] = Pfc()
    drop_profiles: Annotated[
        Keyed[DropProfile],
        LOSSLESS.affecting(
            "drop profile {} is removed",
            EditCondition.GONE,
            topic=LosslessTopic.ECN_THRESHOLDS,
            of_key=OfKey(DEFAULT_PROFILE, EditCondition.ALWAYS, OTHER_DEPTHS),
        ),
    ] = ()
    # `qos ecn enable`: V300 G1 marks nowhere without it.
    ecn_enabled: Annotated[
        bool,
        LOSSLESS.affecting(
            "static ECN of the whole switch begins or ceases to mark packets",
            topic=LosslessTopic.ECN_MODEL,
        ),
    ] = False
    ai_ecn: Annotated[
        AiEcn,
        LOSSLESS.affecting(
            "ECN marks RoCE traffic by another model or not at all",
            EditCondition.GONE,
            topic=LosslessTopic.ECN_MODEL,
        ),
    ] = AiEcn()
    vrfs: Annotated[
        Keyed[Vrf],
        HARMLESS.affecting(
            "the routing table {} goes with all that is in it",
            EditCondition.GONE,
            access=AccessTopic.VRF,
        ),
    ] = ()
    interfaces: Annotated[
        Keyed[Interface],
        PORT.affecting(
            "{} is removed",
            EditCondition.GONE,
            down=EditCondition.GONE,
            access=AccessTopic.PORT,
            grows="interface",
        ),
    ] = ()
    bgp: Annotated[
        Bgp | None,
        BGP.affecting(
            "BGP is removed: every session goes down", EditCondition.GONE, down=EditCondition.GONE
        ),
    ] = None
    static_routes: Annotated[
        Keyed[StaticRoute],
        HARMLESS.affecting(
            "the static route {} goes or changes",
            EditCondition.GONE,
            access=AccessTopic.ROUTES,
            of_key=ATTRACTS_ALL,
        ),
    ] = ()
    prefix_lists: Annotated[
        Keyed[PrefixList],
        POLICY.affecting("{} filters routes differently", EditCondition.GONE_OR_DENIES),
    ] = ()
    route_policies: Annotated[
        Keyed[RoutePolicy],
        POLICY.affecting("{} filters routes differently", EditCondition.GONE_OR_DENIES),
    ] = ()
    ntp_servers: Annotated[Keyed[IPv4Address], UNREAD] = ()
    ntp_vrf: Annotated[str | None, UNREAD] = None  # `vpn-instance` of every server
    ntp_source: Annotated[str | None, UNREAD] = None  # `source-interface` of every server
    user_groups: Annotated[
        Keyed[UserGroup],
        UNREAD.affecting(
            "users of group {} may run other commands than before", access=AccessTopic.USERS
        ),
    ] = ()
    users: Annotated[
        Keyed[LocalUser],
        UNREAD.affecting(
            "user {} can no longer log in", EditCondition.GONE, access=AccessTopic.USERS
        ),
    ] = ()
    ssh: Annotated[Ssh, UNREAD.but(access=AccessTopic.SSH)] = Ssh()
    netconf: Annotated[
        Netconf,
        UNREAD.affecting(
            "NETCONF sessions may be cut off", EditCondition.GONE, access=AccessTopic.NETCONF
        ),
    ] = Netconf()
    acls: Annotated[
        Keyed[Acl],
        HARMLESS.affecting(
            "ACL {} admits other addresses: management sessions may be cut off",
            access=AccessTopic.ACLS,
        ),
    ] = ()
    filters: Annotated[Filters, FILTERS] = Filters()
    vty: Annotated[
        Keyed[Vty], UNREAD.affecting("management sessions may be cut off", access=AccessTopic.VTY)
    ] = ()
    syslog: Annotated[Syslog, UNREAD] = Syslog()
    snmp: Annotated[
        Snmp, UNREAD.affecting("monitoring by SNMP may lose the switch", EditCondition.GONE)
    ] = Snmp()
    telemetry: Annotated[
        Telemetry, UNREAD.affecting("telemetry stops, in part or whole", EditCondition.GONE)
    ] = Telemetry()

    @cached_property
    def by_interface(self) -> dict[str, Interface]:
        """Interfaces by name."""
        return {interface.name: interface for interface in self.interfaces}

    @cached_property
    def part_speeds(self) -> dict[str, int]:
        """Speed in Gb/s of every part of a split port, by its name."""
        return {part: part_speed_gbps(split.type) for split in self.splits for part in split.parts}

    @cached_property
    def members(self) -> dict[int, tuple[Interface, ...]]:
        """Member ports by the number of their Eth-Trunk, also of one that does not exist."""
        by_number: dict[int, list[Interface]] = {}
        for interface in self.interfaces:
            if interface.eth_trunk is not None:
                by_number.setdefault(interface.eth_trunk, []).append(interface)
        return {number: tuple(ports) for number, ports in by_number.items()}

    def bundles(self, trunk: Interface, up: Container[str] | None = None) -> bool:
        """Whether an Eth-Trunk has enough members up; without `up`, enabled members count."""
        ports = self.members.get(trunk_number(trunk.name) or 0, ())
        active = (port.enabled if up is None else port.name in up for port in ports)
        return sum(active) >= trunk.bond.minimum_links

    def carrier(self, interface: Interface) -> Interface:
        """Interface with the VLAN and trust of a port: its Eth-Trunk, otherwise itself."""
        if interface.eth_trunk is None:
            return interface
        name = trunk_name(interface.eth_trunk)
        return self.by_interface.get(name) or Interface(name=name)

    @cached_property
    def by_drop_profile(self) -> dict[str, DropProfile]:
        """Drop profiles by name."""
        return {profile.name: profile for profile in self.drop_profiles}

    def profile_of(self, interface: Interface) -> PfcProfile | None:
        """PFC profile that a port applies; the built-in one exists without a line."""
        if interface.pfc is None:
            return None
        return self._by_pfc_profile.get(interface.pfc.profile)

    @cached_property
    def paused_queues(self) -> frozenset[int]:
        """Queues that the PFC profiles applied to any port pause."""
        names = {interface.pfc.profile for interface in self.interfaces if interface.pfc}
        profiles = (self._by_pfc_profile.get(name) for name in names)
        return frozenset(queue for profile in profiles if profile for queue in profile.queues)

    @cached_property
    def _by_pfc_profile(self) -> dict[str, PfcProfile]:
        built_in = PfcProfile()
        return {profile.name: profile for profile in (built_in, *self.pfc.profiles)}

    def domain_of(self, interface: Interface) -> DiffservDomain | None:
        """Diffserv domain of a port; for a bond's member that of its Eth-Trunk; None: no domain.

        The built-in one exists without a line.
        """
        name = self.carrier(interface).domain or DEFAULT_DOMAIN
        return None if name == NO_DOMAIN else self._by_domain.get(name)

    @cached_property
    def _by_domain(self) -> dict[str, DiffservDomain]:
        built_in = DiffservDomain(name=DEFAULT_DOMAIN)
        return {domain.name: domain for domain in (built_in, *self.domains)}

    @cached_property
    def vlanifs(self) -> tuple[Interface, ...]:
        """Gateways of VLANs."""
        return tuple(i for i in self.interfaces if i.kind == "vlanif")

    def drop_profile(self, name: str) -> DropProfile | None:
        """Drop profile with a name; the built-in one exists without a line."""
        if name in self.by_drop_profile:
            return self.by_drop_profile[name]
        return DropProfile(name=name) if name == DEFAULT_PROFILE else None


EFFECTS = effects_of(Device)  # by field: `interfaces[].mtu`


Nested = TypeVar("Nested", bound=Frozen)
BUILT_IN = frozenset({"ethernet", "management"})  # kinds of interfaces that exist without a line


def without_defaults(device: Device, family: Family) -> Device:
    """Return the Device without default values of this family, and without default ports.

    Otherwise a plan would set again and again a value that the switch does not save. A family
    whose switches save such lines keeps them.
    """
    if family.says_defaults:
        return device
    own: dict[str, object] = {"pfc": _pfc(device.pfc, family)}
    if not family.telnet:
        own["telnet_off"] = ()
    return without_saved(device.model_copy(update=own), family.saved_lines)


def without_saved(device: Device, lines: Iterable[SavedLine]) -> Device:
    """Return the Device without defaults of every family, and without the rows of saved lines.

    lines: those that a switch saves with nothing configured.
    """
    ports = map(without_port_defaults, device.interfaces)
    device = device.model_copy(
        update={
            "vlans": tuple(vlan for vlan in device.vlans if vlan != DEFAULT_VLAN),
            "drop_profiles": tuple(map(_drop_profile, device.drop_profiles)),
            "interfaces": tuple(port for port in ports if not _is_default_port(port)),
        }
    )
    for line in lines:
        if line.row:
            device = _without_row(device, line.row)
    return device


def _without_row(model: Nested, path: str) -> Nested:
    """Return a model without a row if it has nothing but its key: `pfc.profiles[default]`."""
    name, _, rest = path.partition(".")
    if rest:
        inner = getattr(model, name)
        update = {name: _without_row(inner, rest)}
        return model if update[name] is inner else model.model_copy(update=update)
    name, _, key = name.removesuffix("]").partition("[")
    rows: tuple[KeyedRow, ...] = getattr(model, name)
    kept = tuple(row for row in rows if row.key != key or row != _bare(row))
    return model if len(kept) == len(rows) else model.model_copy(update={name: kept})


def _bare(row: KeyedRow) -> KeyedRow:
    return type(row)(**{key_field_of(type(row)): row.key})


def _is_default_port(interface: Interface) -> bool:
    """Whether an interface has only default values; a switch saves its line for every port.

    A subinterface exists only by its line, so it counts as configured.
    """
    if interface.description is not None or interface.addresses:  # most ports; a fast check
        return False
    if interface != Interface(name=interface.name):
        return False
    name = interface.name
    return name == "NULL0" or (interface.kind in BUILT_IN and "." not in name)


def without_port_defaults(interface: Interface) -> Interface:
    """Remove the default MTU, and the VLAN that every switched port carries."""
    update: dict[str, object] = {}
    if interface.mtu == ETHERNET_MTU:
        update["mtu"] = None
    if interface.access_vlan == DEFAULT_VLAN:
        update["access_vlan"] = None
    if DEFAULT_VLAN in interface.trunk_vlans:
        update["trunk_vlans"] = tuple(v for v in interface.trunk_vlans if v != DEFAULT_VLAN)
    return interface.model_copy(update=update) if update else interface


def _drop_profile(profile: DropProfile) -> DropProfile:
    """Remove colours that drop as by default."""
    colours = tuple(row for row in profile.colours if not drops_as_by_default(row))
    return profile.model_copy(update={"colours": colours})


def _pfc(pfc: Pfc, family: Family) -> Pfc:
    default_ms, interval_ms = family.deadlock_default_ms, family.deadlock_interval_ms
    behavior = pfc.recovery_behavior
    return pfc.model_copy(
        update={
            "detect_ms": _unless(pfc.detect_ms, default_ms),
            "recovery_ms": _unless(pfc.recovery_ms, default_ms),
            "interval_ms": _unless(pfc.interval_ms, interval_ms),
            "recovery_behavior": None if behavior == family.recovery_behavior else behavior,
            "profiles": tuple(_profile(profile, family) for profile in pfc.profiles),
        }
    )


def _profile(profile: PfcProfile, family: Family) -> PfcProfile:
    default = family.deadlock_default_time
    timers = (
        PfcTimer(
            queue=timer.queue,
            detect_time=_unless(timer.detect_time, default),
            recovery_time=_unless(timer.recovery_time, default),
        )
        for timer in profile.timers
    )
    stated = tuple(t for t in timers if t.detect_time is not None or t.recovery_time is not None)
    return profile.model_copy(update={"timers": stated})


def _unless(value: int | None, default: Fact | None) -> int | None:
    return None if default is not None and value == default.value else value


class Subnets:
    """Interfaces and addresses in a switch's public table, by subnet; disabled ones, too."""

    def __init__(self, device: Device) -> None:
        self._by_length: dict[int, dict[int, tuple[str, IPv4Interface]]] = {}
        for interface in device.interfaces:
            own = interface.layer3 and not interface.vrf
            for address in interface.addresses if own else ():
                shift = 32 - address.network.prefixlen
                table = self._by_length.setdefault(shift, {})
                table[int(address) >> shift] = interface.name, address
        self._shifts = sorted(self._by_length)

    def of(self, neighbour: IPv4Address) -> Iterator[tuple[str, IPv4Interface]]:
        """Yield interfaces with a neighbour's subnet, longest prefix first, as a switch routes."""
        value = int(neighbour)
        for shift in self._shifts:
            if match := self._by_length[shift].get(value >> shift):
                yield match

    def other_source(self, neighbour: IPv4Address, settings: BgpSettings) -> str | None:
        """Return the configured source of a BGP session if it is not the link to the neighbour."""
        name, address = settings.source_interface, settings.source_address
        links = self.of(neighbour) if name else ()
        if name is None or any(link == name and address in (None, own.ip) for link, own in links):
            return None
        return name if address is None else f"{name} {address}"
