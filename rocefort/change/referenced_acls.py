"""Objects that stay on a switch without intent: those that unowned lines use, factory tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocefort.dialects.choose import dialect_of
from rocefort.models.device.device import Device
from rocefort.models.device.packet_filters import Filters, Uses
from rocefort.models.device.routing import FACTORY_VRF, BgpGroup, BgpPeer
from rocefort.models.hardware.hardware import Family
from rocefort.models.network.network import TextLine


def with_used(
    intended: Device, running: Device, kept: Iterable[TextLine], family: Family | None
) -> Device:
    """Return the intended Device with the running ACLs and policies that an unowned line names.

    Without them the line would filter nothing, or everything. Objects of the intent stay as they
    are. The VPN instance of the factory stays, because no source confirms that it can be deleted.
    The sources of BGP sessions stay, because no intent names them.
    """
    intended = _with_sources(intended, running)
    own_tables = {vrf.name for vrf in intended.vrfs}
    factory = [v for v in running.vrfs if v.name == FACTORY_VRF and v.name not in own_tables]
    if factory:
        vrfs = tuple(sorted((*intended.vrfs, *factory), key=lambda vrf: vrf.name))
        intended = intended.model_copy(update={"vrfs": vrfs})
    uses = [dialect_of(family).uses(line) for line in kept]
    acls = {name for each in uses for name in each.acls}
    filters = _used(running.filters, uses, acls)
    acls |= {acl for item in filters.classifiers for acl in item.acls}
    own = {acl.number for acl in intended.acls}
    basic = [a for a in running.acls if str(a.number) in acls and a.number not in own]
    if not basic and filters == Filters():
        return intended
    return intended.model_copy(
        update={
            "acls": tuple(sorted((*intended.acls, *basic), key=lambda acl: acl.number)),
            "filters": _merged_filters(intended.filters, filters),
        }
    )


def _with_sources(intended: Device, running: Device) -> Device:
    bgp, other = intended.bgp, running.bgp
    if bgp is None or other is None:
        return intended
    rows: tuple[BgpGroup | BgpPeer, ...] = (*other.groups, *other.peers)
    sources = {
        row.key: {"source_interface": row.source_interface, "source_address": row.source_address}
        for row in rows
        if row.source_interface is not None
    }
    if not sources:
        return intended
    groups = tuple(row.model_copy(update=sources.get(row.key, {})) for row in bgp.groups)
    peers = tuple(row.model_copy(update=sources.get(row.key, {})) for row in bgp.peers)
    bgp = bgp.model_copy(update={"groups": groups, "peers": peers})
    return intended.model_copy(update={"bgp": bgp})


def _used(filters: Filters, uses: Sequence[Uses], acls: Iterable[str]) -> Filters:
    """Filters that lines name, with all objects that they refer to."""
    names = {name for each in uses for name in each.policies}
    policies = tuple(policy for policy in filters.policies if policy.name in names)
    bound = {pair for each in uses for pair in each.bound}
    bound |= {(row.classifier, row.behavior) for policy in policies for row in policy.bindings}
    classifiers = tuple(c for c in filters.classifiers if c.name in {pair[0] for pair in bound})
    matched = {*acls, *(acl for item in classifiers for acl in item.acls)}
    return Filters(
        acls=tuple(acl for acl in filters.acls if acl.name in matched),
        classifiers=classifiers,
        behaviors=tuple(b for b in filters.behaviors if b.name in {pair[1] for pair in bound}),
        policies=policies,
    )


def _merged_filters(intended: Filters, used: Filters) -> Filters:
    """Union of both; for a name in both, the intended filter."""
    update = {}
    for field in Filters.model_fields:
        own = getattr(intended, field)
        names = {item.name for item in own}
        update[field] = (*own, *(item for item in getattr(used, field) if item.name not in names))
    return Filters(**update)
