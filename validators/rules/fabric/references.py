"""Rules on names in a configuration: what a line refers to is defined in the same text."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.models.device.interface import DEFAULT_VLAN, Interface, gateway_vlan
from rocefort.models.finding import Severity
from rocefort.models.network.network import End, Node
from rocefort.models.wording import listing
from rocefort.validators.facts.references import definitions, references
from rocefort.validators.rules.registry import Subject, Verdict, rule

ALL_VLANS = 4094  # a list up to the last VLAN means all that exist
MOST_SHOWN = 8  # VLANs of a message


@rule(
    "TXT007",
    severity=Severity.WARNING,
    source="the models: an object of each kind, by name",
)
def defined_names(subject: Subject) -> Iterator[Verdict]:
    """Every name that a line refers to is defined.

    A reference without a definition has no effect, or another one than its author means: a peer
    whose route-policy does not exist, a routing table or an SNMP view by a mistyped name. Rules on
    ACLs, traffic policies, drop profiles and Eth-Trunks are their own (SEC012, SEC013, ECN004,
    LAG004).

    Example: route-policy IN is not defined
    Fix: Define the object, or correct the name.
    """
    for node in subject.network.nodes:
        defined = definitions(node.device)
        for reference in references(node.device):
            if reference.name not in defined[reference.kind]:
                yield subject.finding(
                    node,
                    f"{reference.kind} {reference.name} is not defined",
                    "define it, or correct the name",
                    path=reference.path,
                )


@rule(
    "TOP009",
    severity=Severity.ERROR,
    source="CloudEngine configuration guide (V300R023C00), VLAN: created before its ports",
)
def existing_vlans(subject: Subject) -> Iterator[Verdict]:
    """Ports and gateways name VLANs that exist.

    A port in a VLAN that the switch does not have carries nothing, and a gateway without its VLAN
    stays down. A list of a trunk up to VLAN 4094 means all VLANs that exist.

    Example: it is in VLAN 20, which does not exist
    Fix: Create the VLAN, or correct the number at the port.
    """
    for node in subject.network.nodes:
        exists = {DEFAULT_VLAN, *node.device.vlans}
        for interface in node.device.interfaces:
            yield from _vlans(subject, node, interface, exists)


def _vlans(
    subject: Subject, node: Node, interface: Interface, exists: set[int]
) -> Iterator[Verdict]:
    end = End(device=node.name, interface=interface.name)
    vlan = gateway_vlan(interface.name)
    if vlan is not None and vlan not in exists:
        how = f"create VLAN {vlan}, or remove the interface"
        yield subject.finding(end, f"its VLAN {vlan} does not exist", how)
    access = interface.access_vlan
    if access is not None and access not in exists:
        how = f"create VLAN {access}, or correct the number"
        what = f"it is in VLAN {access}, which does not exist"
        yield subject.finding(end, what, how, path="access_vlan")
    missing = [each for each in interface.trunk_vlans if each not in exists]
    if missing and ALL_VLANS not in interface.trunk_vlans:
        more = f" and {len(missing) - MOST_SHOWN} more" if missing[MOST_SHOWN:] else ""
        yield subject.finding(
            end,
            f"its trunk has {listing(missing[:MOST_SHOWN])}{more}, which do not exist",
            "create these VLANs, or take them off the trunk",
            path="trunk_vlans",
            severity=Severity.WARNING,
        )
