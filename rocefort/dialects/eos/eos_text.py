"""Writer of one switch's routing and filters as Arista EOS text, which Batfish reads.

Only lines that determine sessions, routes and forwarding are translated: interfaces, VLANs, BGP and
its policies. Timers, BFD, authentication, lossless queues and management do not change Batfish's
answers and are left out. A line that would change them and has no EOS counterpart is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv4Network
from typing import Literal

from jinja2 import Template

from rocefort.base.errors import BadInput, Problem, Refused
from rocefort.base.repository import TEMPLATES
from rocefort.base.templating import text_templates
from rocefort.dialects.routing_problems import (
    list_problems,
    name_problems,
    range_problems,
    rank_problems,
    session_problems,
)
from rocefort.models.base import NAME
from rocefort.models.device.device import Device, Subnets
from rocefort.models.device.interface import (
    DEFAULT_VLAN,
    MANUAL,
    SWITCHING,
    Interface,
    gateway_vlan,
    trunk_name,
)
from rocefort.models.device.packet_filters import FilterRule, PortRange
from rocefort.models.device.routing import Bgp, BgpPeer, PrefixEntry

NAMES = "use letters, digits, '.', '_' and '-'"


@dataclass(frozen=True, slots=True)
class AccessList:
    """An access list: its name, and its lines without their numbers."""

    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AppliedPolicy:
    """A policy that an interface applies."""

    interface: Interface
    field: str  # of the Interface
    policy: str


def applied_policies(device: Device) -> Iterator[AppliedPolicy]:
    """Yield applied policies, in order of interfaces."""
    for interface in device.interfaces:
        for field in ("filter_in", "filter_out"):
            if (policy := getattr(interface, field)) is not None:
                yield AppliedPolicy(interface, field, policy)


def access_lists(device: Device) -> tuple[AccessList, ...]:
    """Return access lists of applied policies; call it if `filter_problems` yields nothing.

    In VRP a packet that an ACL denies is dropped whatever the behavior, one that it permits gets
    the behavior, and one that nothing matches is forwarded (V300R023C00, `deny | permit`).
    """
    return tuple(
        AccessList(access_name(name), (*_lines(device, name), "permit ip any any"))
        for name in sorted({use.policy for use in applied_policies(device)})
    )


def access_name(policy: str) -> str:
    """Return the name of a policy's access list."""
    return f"TP-{policy}"


def groups_of(interface: Interface) -> tuple[str, ...]:
    """Return the `ip access-group` lines of an interface."""
    ways = (("in", interface.filter_in), ("out", interface.filter_out))
    return tuple(f"{access_name(policy)} {side}" for side, policy in ways if policy is not None)


def _lines(device: Device, name: str) -> Iterator[str]:
    for _, rule, denied in rules_of(device, name):
        yield _line(rule, "deny" if denied else "permit")


def rules_of(device: Device, name: str) -> Iterator[tuple[str, FilterRule, bool]]:
    """Yield the source of each line of an access list: ACL, rule, and whether it drops.

    In the order of the lines. The last line permits the rest and has no rule.
    """
    acls = {acl.name: acl for acl in device.filters.acls}
    classifiers = {item.name: item for item in device.filters.classifiers}
    denying = {item.name for item in device.filters.behaviors if item.deny}
    policy = device.filters.policy(name)
    for row in policy.bindings if policy else ():
        for acl in classifiers[row.classifier].acls:
            for rule in acls[acl].rules:
                yield acl, rule, rule.action == "deny" or row.behavior in denying


def _line(rule: FilterRule, action: str) -> str:
    words = [action, rule.protocol, _network(rule.source), _ports(rule.source_ports)]
    words += [_network(rule.destination), _ports(rule.destination_ports)]
    words += [f"dscp {rule.dscp}"] if rule.dscp is not None else []
    return " ".join(filter(None, words))


def _network(prefix: IPv4Network | None) -> str:
    if prefix is None or prefix.prefixlen == 0:
        return "any"
    return f"host {prefix.network_address}" if prefix.prefixlen == 32 else str(prefix)


def _ports(ports: PortRange | None) -> str:
    return "" if ports is None else str(ports)


def filter_problems(device: Device) -> Iterator[Problem]:
    """Yield policies that EOS text cannot express: of switched ports, of several ACLs, empty."""
    acls = {acl.name for acl in device.filters.acls}
    classifiers = {item.name: item for item in device.filters.classifiers}
    missing = {path: (kind, name) for path, kind, name in device.filters.dangling()}
    for use in applied_policies(device):
        where = f"{device.name} {use.interface.name}"
        policy = device.filters.policy(use.policy)
        if policy is None:
            how = "define it, or remove the reference"
            yield Problem(where, f"traffic policy {use.policy} does not exist", how)
            continue
        if not use.interface.layer3:
            what = f"traffic policy {use.policy} is on a switched port"
            yield Problem(where, what, "apply it to the Vlanif")
        if not NAME.fullmatch(use.policy):
            yield Problem(f"{where} {use.policy!r}", "not one word of EOS", NAMES)
        paths = [
            f"policies[{use.policy}]",
            *(f"classifiers[{b.classifier}]" for b in policy.bindings),
        ]
        for kind, name in (missing[path] for path in paths if path in missing):
            yield Problem(where, f"{kind} {name} does not exist", "define it with its lines")
        used = [
            a
            for b in policy.bindings
            if b.classifier in classifiers
            for a in classifiers[b.classifier].acls
        ]
        if len(used) > 1 and set(used) <= acls:
            what = f"traffic policy {use.policy} has {len(used)} ACLs, whose order is not known"
            yield Problem(where, what, "use one classifier with one ACL")


EOS_BGP_DISTANCE = 200  # of an EOS switch; VRP's is 255

ETHERNET = re.compile(r"(\d+)GE(\d+)/(\d+)/(\d+)(?::(\d+))?")
EOS_ETHERNET = re.compile(r"Ethernet(\d+)/(\d+)/(\d+)/(\d+)(?:/(\d+))?")
SIMPLE = {"Vlanif": "Vlan", "LoopBack": "Loopback", "Eth-Trunk": "Port-Channel"}
MANAGEMENT = {"MEth0/0/0": "Management1"}


class EosNames:
    """The two-way map of interface names; it depends only on the name.

    The port's speed is kept as the first number, because 25GE1/0/1 and 100GE1/0/1 are two ports:
    100GE1/0/1 <-> Ethernet100/1/0/1, 25GE1/0/1:2 <-> Ethernet25/1/0/1/2, Vlanif110 <-> Vlan110,
    LoopBack0 <-> Loopback0, Eth-Trunk1 <-> Port-Channel1, MEth0/0/0 <-> Management1.
    """

    @staticmethod
    def is_known(name: str) -> bool:
        """Whether a VRP name has an EOS counterpart."""
        return _to_eos(name) is not None

    @staticmethod
    def to_eos(name: str) -> str:
        """Return the EOS name of a VRP interface. Raises BadInput if there is none."""
        if (eos_name := _to_eos(name)) is None:
            raise BadInput(f"interface {name} has no counterpart in EOS", how=KINDS)
        return eos_name

    @staticmethod
    def to_vrp(name: str) -> str:
        """Return the VRP name of an EOS interface from `to_eos`. Raises BadInput for any other."""
        if (vrp_name := _to_vrp(name)) is None:
            raise BadInput(f"EOS interface {name} is not one that a VRP name translates to")
        return vrp_name


KINDS = "Ethernet ports, Eth-Trunk, Vlanif, LoopBack and MEth0/0/0 are translated"


def _to_eos(name: str) -> str | None:
    if match := ETHERNET.fullmatch(name):
        return "Ethernet" + "/".join(part for part in match.groups() if part is not None)
    for vrp, eos in SIMPLE.items():
        if re.fullmatch(rf"{vrp}\d+", name):
            return eos + name.removeprefix(vrp)
    return MANAGEMENT.get(name)


def _to_vrp(name: str) -> str | None:
    if match := EOS_ETHERNET.fullmatch(name):
        speed, *position, lane = match.groups()
        return f"{speed}GE{'/'.join(position)}" + (f":{lane}" if lane else "")
    for vrp, eos in SIMPLE.items():
        if re.fullmatch(rf"{eos}\d+", name):
            return vrp + name.removeprefix(eos)
    return next((vrp for vrp, eos in MANAGEMENT.items() if eos == name), None)


Mode = Literal["routed", "trunk", "access", "member", "logical"]


@dataclass(frozen=True, slots=True)
class EosInterface:
    """One interface in EOS terms."""

    name: str
    enabled: bool
    mode: Mode
    vlans: tuple[int, ...]
    mtu: int | None
    addresses: tuple[str, ...]
    vrf: str | None
    channel: str | None  # of a member: `channel-group` and its arguments
    access_groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EosPeer:
    """One peer with its effective settings."""

    address: IPv4Address
    group: str | None
    asn: int | None  # None: the switch does not start the session
    source: str | None  # interface, where several are in the neighbour's subnet
    import_policy: str | None
    export_policy: str | None


def render_eos(device: Device) -> str:
    """Write EOS text that routes as the Device does; the same Device gives the same bytes.

    A part without effect on a CloudEngine has none here: a peer without AS number, not enabled in
    the IPv4 family, or in no subnet of the switch, is a comment. An address on a layer-2 port is
    left out. An interface of a VLAN that is not created is shut down, and so are an Eth-Trunk with
    too few members, and members of an Eth-Trunk that does not exist. Raises Refused with everything
    that EOS cannot express, and with references to missing objects.
    """
    if problems := tuple(_problems(device)):
        raise Refused(problems=problems)
    return _template().render(
        device=device,
        ports=[_port(device, i) for i in device.interfaces if EosNames.is_known(i.name)],
        neighbours=tuple(_neighbours(device, device.bgp)) if device.bgp else (),
        bounds=_bounds,
        access_lists=access_lists(device),
    )


@cache
def _template() -> Template:
    return text_templates(TEMPLATES).get_template("eos/device.j2")


def _port(device: Device, interface: Interface) -> EosInterface:
    mode, carried = _switching(interface, device.vlans)
    vlan = _only_vlan(interface)
    return EosInterface(
        name=EosNames.to_eos(interface.name),
        enabled=interface.enabled
        and vlan in (None, DEFAULT_VLAN, *device.vlans)
        and _is_bundle_member(device, interface),
        mode=mode,
        vlans=carried,
        mtu=interface.mtu,
        addresses=tuple(a.with_prefixlen for a in interface.addresses if interface.layer3),
        vrf=interface.vrf,
        channel=_channel(device, interface),
        access_groups=groups_of(interface),
    )


def _is_bundle_member(device: Device, interface: Interface) -> bool:
    """Whether an Eth-Trunk has the members that it needs, and a member its Eth-Trunk."""
    if interface.eth_trunk is not None:
        return trunk_name(interface.eth_trunk) in device.by_interface
    return interface.kind != "eth-trunk" or device.bundles(interface)


def _channel(device: Device, interface: Interface) -> str | None:
    trunk = device.by_interface.get(trunk_name(interface.eth_trunk or 0))
    if interface.eth_trunk is None or trunk is None:
        return None
    return f"{interface.eth_trunk} mode {'on' if trunk.bond.mode == MANUAL else 'active'}"


def _only_vlan(interface: Interface) -> int | None:
    """Return the VLAN without which the interface has no effect."""
    if interface.kind == "vlanif":
        return gateway_vlan(interface.name)
    switched = interface.kind in SWITCHING and not interface.routed and interface.eth_trunk is None
    return interface.access_vlan if switched and interface.link_type != "trunk" else None


def _switching(interface: Interface, vlans: tuple[int, ...]) -> tuple[Mode, tuple[int, ...]]:
    if interface.kind not in SWITCHING:
        return "logical", ()
    if interface.eth_trunk is not None:
        return "member", ()
    if interface.routed:
        return "routed", ()
    if interface.link_type == "trunk":
        # VRP accepts VLANs on a trunk that the switch has not created; their frames are dropped.
        carried = {DEFAULT_VLAN, *interface.trunk_vlans} & {DEFAULT_VLAN, *vlans}
        return "trunk", tuple(sorted(carried))
    return "access", (interface.access_vlan or DEFAULT_VLAN,)


def _neighbours(device: Device, bgp: Bgp) -> Iterator[EosPeer]:
    subnets = Subnets(device)
    for peer in bgp.peers:
        settings = bgp.settings(peer)
        interfaces = [name for name, _ in subnets.of(peer.address)]
        yield EosPeer(
            address=peer.address,
            group=peer.group,
            asn=_remote_asn(bgp, peer) if translated(bgp, peer, subnets) else None,
            source=_source(device, interfaces),
            import_policy=settings.import_policy,
            export_policy=settings.export_policy,
        )


def _source(device: Device, interfaces: Sequence[str]) -> str | None:
    """Return the source interface of a session, the longest subnet's, if there is a choice.

    Batfish would take the first in its own order. EOS takes an interface's first address, so one
    with several is not named.
    """
    if len(interfaces) < 2 or len(device.by_interface[interfaces[0]].addresses) > 1:
        return None
    return EosNames.to_eos(interfaces[0])


def translated(bgp: Bgp, peer: BgpPeer, subnets: Subnets) -> bool:
    """Whether EOS text has this peer: a CloudEngine exchanges routes with no other.

    Batfish would reach a peer outside all subnets of the switch by any route, a default one even.
    """
    local = next(subnets.of(peer.address), None)
    started = bgp.settings(peer).active and _remote_asn(bgp, peer) is not None
    return started and (local is not None or _inside(bgp, peer))


def _remote_asn(bgp: Bgp, peer: BgpPeer) -> int | None:
    return bgp.settings(peer).asn or (bgp.asn if _inside(bgp, peer) else None)


def _inside(bgp: Bgp, peer: BgpPeer) -> bool:
    """Whether a peer is in an internal group: such a session may cross other switches."""
    group = bgp.group_of(peer)
    return group is not None and not group.external


def _bounds(entry: PrefixEntry) -> str:
    """Return `ge` and `le` of one entry; EOS requires `ge` above the prefix's own length."""
    low, high, length = *entry.lengths, entry.prefix.prefixlen
    return (f" ge {low}" if low > length else "") + (f" le {high}" if high > length else "")


def _problems(device: Device) -> Iterator[Problem]:
    if not NAME.fullmatch(device.name):
        yield Problem(device.name, "the sysname is not one word", NAMES)
    for interface in device.interfaces:
        where = f"{device.name} {interface.name}"
        carries = interface.addresses or interface.access_vlan
        if not EosNames.is_known(interface.name) and (carries or interface.trunk_vlans):
            yield Problem(where, "EOS has no such interface, and it carries traffic", KINDS)
    yield from name_problems(device, "EOS", NAMES, NAME.fullmatch)
    yield from range_problems(device)
    yield from list_problems(device)
    yield from _table_problems(device)
    yield from rank_problems(device, EOS_BGP_DISTANCE, "EOS")
    yield from filter_problems(device)
    if (bgp := device.bgp) is not None:
        for peer in bgp.peers:
            yield from _peer_problems(device, bgp, peer)


def _table_problems(device: Device) -> Iterator[Problem]:
    """Yield references to routing tables that the Device does not define."""
    tables = {vrf.name for vrf in device.vrfs}
    used = [(i.name, i.vrf) for i in device.interfaces]
    used += [(f"ip route-static {route.key}", route.vrf) for route in device.static_routes]
    for what, vrf in used:
        if vrf is not None and vrf not in tables:
            how = "define it with `ip vpn-instance`"
            yield Problem(f"{device.name} {what}", f"vpn-instance {vrf} does not exist", how)


def _peer_problems(device: Device, bgp: Bgp, peer: BgpPeer) -> Iterator[Problem]:
    if peer.group is not None and bgp.group_of(peer) is None:
        where = f"{device.name} peer {peer.address}"
        yield Problem(where, f"group {peer.group} does not exist", "define it with `group`")
    yield from session_problems(device, bgp, peer)
