"""Traffic policies as nftables: a chain for each policy, and one that applies them to ports.

Only routed packets are filtered: no source states whether a CloudEngine's traffic policy also drops
packets to the switch itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from rocefort.dialects.eos.render import applied_policies, rules_of
from rocefort.dialects.frr.names import kernel_name
from rocefort.models.device.device import Device
from rocefort.models.device.packet_filters import FilterRule, PortRange

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
