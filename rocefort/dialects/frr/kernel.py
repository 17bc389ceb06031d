"""Kernel part of a switch: ports, bridges, bonds, VRFs, addresses, filters, names of interfaces.

Only routed packets are filtered: no source states whether a CloudEngine's traffic policy also drops
packets to the switch itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import IPv4Network
from zlib import crc32

from rocefort.base.errors import Problem, Refused
from rocefort.dialects.eos.eos_text import applied_policies, rules_of
from rocefort.dialects.frr.state import Features, LinkState
from rocefort.models.device.device import Device
from rocefort.models.device.interface import (
    ETHERNET_MTU,
    FRAME_OVERHEAD_BYTES,
    JUMBO_FRAME_BYTES,
    MANUAL,
    Interface,
)
from rocefort.models.device.packet_filters import FilterRule, PortRange

LONGEST = 15  # IFNAMSIZ is 16, with the end of the string
LOOPBACK = "lo"
FORBIDDEN = re.compile(r"[^A-Za-z0-9._-]")
TAIL = 4


def kernel_name(name: str) -> str:
    """Return the name of an interface: 100GE1/0/1 -> 100GE1_0_1; every LoopBack is `lo`.

    A longer name is cut, and ends in digits that depend on the whole name.
    """
    if name.startswith("LoopBack"):
        return LOOPBACK
    plain = FORBIDDEN.sub("_", name)
    if len(plain) <= LONGEST:
        return plain
    return f"{plain[: LONGEST - TAIL - 1]}_{sha256(name.encode()).hexdigest()[:TAIL]}"


def kernel_names(names: Iterable[str], device: str) -> dict[str, str]:
    """Return kernel names by the switch's own. Raises Refused where two would be equal."""
    names_of: dict[str, str] = {}
    owners: dict[str, str] = {}
    for name in names:
        short = names_of[name] = kernel_name(name)
        if short != LOOPBACK and owners.setdefault(short, name) != name:
            what = f"{owners[short]} and {name} are both {short} in a kernel"
            raise Refused(problems=[Problem(f"{device} {name}", what)])
    return names_of


TABLE = "ip rocefort"
BASE = "forward"  # the chain that the kernel calls
HOOK = "type filter hook forward priority filter; policy accept;"
Chains = tuple[tuple[str, tuple[str, ...]], ...]


def chains(device: Device) -> Chains:
    """Return chains by name, the calling chain after those of policies; none without a policy.

    A packet that an ACL permits, or that no rule matches, continues, and may meet another policy at
    its egress port: so the verdict is `return`, and not `accept`.
    """
    used = tuple(applied_policies(device))
    if not used:
        return ()
    names = sorted({use.policy for use in used})
    called = tuple(
        f"{'iifname' if use.field == 'filter_in' else 'oifname'} "
        f'"{kernel_name(use.interface.name)}" jump {chain_name(use.policy)}'
        for use in used
    )
    policies = ((chain_name(name), tuple(_rules(device, name))) for name in names)
    return (*policies, (BASE, called))


def chain_name(policy: str) -> str:
    """Return the chain name of a traffic policy."""
    return f"TP-{policy}"


def _rules(device: Device, policy: str) -> Iterator[str]:
    for acl, rule, denied in rules_of(device, policy):
        verdict = "drop" if denied else "return"
        yield f'{_matches(rule)}counter {verdict} comment "acl {acl} rule {rule.index}"'


def _matches(rule: FilterRule) -> str:
    words = []
    if rule.protocol != "ip":
        words.append(f"ip protocol {rule.protocol}")
    for side, prefix in (("saddr", rule.source), ("daddr", rule.destination)):
        if prefix is not None and prefix != IPv4Network("0.0.0.0/0"):
            words.append(f"ip {side} {prefix}")
    for side, ports in (("sport", rule.source_ports), ("dport", rule.destination_ports)):
        if ports is not None:
            words.append(f"{rule.protocol} {side} {_ports(ports)}")
    if rule.dscp is not None:
        words.append(f"ip dscp {rule.dscp}")
    return "".join(f"{word} " for word in words)


def _ports(ports: PortRange) -> str:
    return str(ports.low) if ports.low == ports.high else f"{ports.low}-{ports.high}"


SWITCHED_MTU = JUMBO_FRAME_BYTES - FRAME_OVERHEAD_BYTES  # of a switched port
FIRST_TABLE = 1000  # of VRFs: above the kernel's own 253 to 255
# Other router settings: hash over ports, answers from any interface, no IPv6 messages of its own.
SYSCTLS = (
    ("net.ipv4.ip_forward", "1"),
    ("net.ipv4.fib_multipath_hash_policy", "1"),
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.default.rp_filter", "0"),
    ("net.ipv4.conf.all.promote_secondaries", "1"),
    ("net.ipv4.conf.all.send_redirects", "0"),
    ("net.ipv4.conf.default.send_redirects", "0"),
    ("net.ipv6.conf.all.disable_ipv6", "1"),
    ("net.ipv6.conf.default.disable_ipv6", "1"),
)


def bridge_name(vlan: int) -> str:
    """Return the bridge of a VLAN, which is also the interface of its gateway."""
    return f"Vlanif{vlan}"


@dataclass
class KernelPlan:
    """Links of one switch while they are collected, and what the kernel cannot express."""

    device: Device
    features: Features
    links: list[LinkState] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def kernel_plan(device: Device, features: Features) -> KernelPlan:
    """Return links in the order of creation: VRFs, bridges and bonds before their members."""
    plan = KernelPlan(device, features)
    if features.vrf:
        plan.links += [
            LinkState(name=kernel_name(vrf.name), kind="vrf", settings=f"table {FIRST_TABLE + n}")
            for n, vrf in enumerate(device.vrfs)
        ]
    else:
        plan.notes += [
            f"vpn-instance {vrf.name} is left out, with its addresses and routes: "
            "this kernel has no VRF"
            for vrf in device.vrfs
        ]
    plan.links.append(_loopback(plan))
    plan.links += [_bridge(plan, vlan) for vlan in bridged_vlans(device)]
    for interface in device.interfaces:
        plan.links += _links(plan, interface)
    plan.links = list(_lit(plan.links))
    return plan


def _lit(links: list[LinkState]) -> Iterator[LinkState]:
    """Shut bridges without an enabled port: a kernel keeps one up that never had a port up."""
    up = {link.master for link in links if link.up}
    for link in links:
        dark = link.kind == "bridge" and link.name not in up
        yield link.model_copy(update={"up": False}) if dark else link


def sysctls(device: Device, features: Features) -> Iterator[tuple[str, str]]:
    """Yield settings of the namespace; each switch hashes differently, as real ones can."""
    yield from SYSCTLS
    if features.hash_seed:
        yield "net.ipv4.fib_multipath_hash_seed", str(crc32(device.name.encode()) or 1)


def bridged_vlans(device: Device) -> list[int]:
    """Return the created VLANs; VLAN 1 exists by default, and is needed with a gateway."""
    first = {1} if "Vlanif1" in device.by_interface else set()
    return sorted({*device.vlans} | first)


def _addresses(plan: KernelPlan, interface: Interface) -> tuple[str, ...]:
    if interface.vrf is not None and not plan.features.vrf:
        return ()
    return tuple(address.with_prefixlen for address in interface.addresses)


def _master(plan: KernelPlan, interface: Interface) -> str | None:
    return kernel_name(interface.vrf) if interface.vrf and plan.features.vrf else None


def _loopback(plan: KernelPlan) -> LinkState:
    """Return one link for all loopbacks: a kernel without dummy interfaces has no other."""
    addresses: list[str] = []
    for interface in plan.device.interfaces:
        if interface.kind == "loopback" and interface.enabled and interface.vrf is None:
            addresses += _addresses(plan, interface)
        elif interface.kind == "loopback" and interface.vrf and plan.features.vrf:
            plan.notes.append(f"{interface.name} is left out: it is in a vpn-instance")
    return LinkState(name=LOOPBACK, kind="loopback", addresses=tuple(addresses))


def _bridge(plan: KernelPlan, vlan: int) -> LinkState:
    """Return the bridge of a VLAN; with a shut gateway it still bridges, without address."""
    name = bridge_name(vlan)
    gateway = plan.device.by_interface.get(name)
    if gateway is None:
        return LinkState(name=name, kind="bridge", mtu=SWITCHED_MTU)
    return LinkState(
        name=name,
        kind="bridge",
        interface=name,
        mtu=gateway.mtu or ETHERNET_MTU,
        master=_master(plan, gateway),
        addresses=_addresses(plan, gateway) if gateway.enabled else (),
    )


def _links(plan: KernelPlan, interface: Interface) -> Iterator[LinkState]:
    if interface.kind in ("ethernet", "management"):
        yield from _port(plan, interface)
    elif interface.kind == "eth-trunk" and plan.features.bonding:
        yield from _bond(plan, interface)
    elif interface.kind == "eth-trunk":
        first = lone_member(plan.device, interface)
        stands = f"is its member {first.name} alone" if first else "is left out"
        plan.notes.append(f"{interface.name} {stands}: this kernel has no bonding")
    elif interface.kind == "other":
        plan.notes.append(f"{interface.name} is left out: the twin has no such interface")


def lone_member(device: Device, trunk: Interface) -> Interface | None:
    """Return the port in place of an Eth-Trunk if a kernel cannot bundle: its first enabled one."""
    number = int(trunk.name.removeprefix("Eth-Trunk"))
    ports = device.members.get(number, ())
    return next((port for port in ports if port.enabled), None)


def _port(plan: KernelPlan, interface: Interface) -> Iterator[LinkState]:
    name, carrier = kernel_name(interface.name), plan.device.carrier(interface)
    common = {"name": name, "kind": "port", "interface": interface.name, "up": interface.enabled}
    if carrier is interface:
        yield from _carrying(plan, interface, common)
    elif plan.features.bonding and carrier.name in plan.device.by_interface:
        mtu = carrier.mtu if carrier.layer3 else None
        master = kernel_name(carrier.name)
        yield LinkState(**common, mtu=mtu or SWITCHED_MTU, master=master)
    elif interface is lone_member(plan.device, carrier) and carrier.enabled:
        yield from _carrying(plan, carrier, common)
    else:
        yield LinkState(**common, mtu=SWITCHED_MTU)


def _bond(plan: KernelPlan, trunk: Interface) -> Iterator[LinkState]:
    bond = trunk.bond
    mode = "balance-xor" if bond.mode == MANUAL else "802.3ad"
    rate = "" if bond.mode == MANUAL else f" lacp_rate {bond.lacp_timeout}"
    settings = f"mode {mode} miimon 100 min_links {bond.minimum_links}{rate}"
    settings += " xmit_hash_policy layer3+4"
    common = {"name": kernel_name(trunk.name), "kind": "bond", "interface": trunk.name}
    yield from _carrying(plan, trunk, {**common, "up": trunk.enabled, "settings": settings})


def _carrying(
    plan: KernelPlan, interface: Interface, common: dict[str, object]
) -> Iterator[LinkState]:
    """Yield a link with the layer-2 and layer-3 settings; for a trunk one more for each VLAN."""
    if interface.layer3:
        yield _link(
            common,
            mtu=interface.mtu or ETHERNET_MTU,
            master=_master(plan, interface),
            addresses=_addresses(plan, interface),
        )
        return
    vlans = [vlan for vlan in bridged_vlans(plan.device) if interface.carries(vlan)]
    untagged = interface.access_vlan or 1 if interface.link_type == "access" else 1
    own = bridge_name(untagged) if untagged in vlans else None
    yield _link(common, mtu=SWITCHED_MTU, master=own)
    yield from _tagged(plan, interface, str(common["name"]), [v for v in vlans if v != untagged])


def _tagged(
    plan: KernelPlan, interface: Interface, name: str, vlans: list[int]
) -> Iterator[LinkState]:
    if vlans and not plan.features.vlan:
        plan.notes.append(f"{interface.name} carries no tagged VLAN: this kernel has no 802.1Q")
        return
    for vlan in vlans:
        yield LinkState(
            name=kernel_name(f"{name}.{vlan}"),
            kind="vlan",
            mtu=SWITCHED_MTU,
            parent=name,
            master=bridge_name(vlan),
            settings=f"id {vlan}",
        )


def _link(common: dict[str, object], **more: object) -> LinkState:
    return LinkState.model_validate({**common, **more})
