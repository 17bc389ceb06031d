"""What a change means: the differences of two Devices, their kind, and what traffic feels of them.

A path names a field as the Device has it, `interfaces[100GE1/0/1].mtu`. A field at its model's
default has no line in the text and counts as absent, so an Edit without `before` adds lines only.
The fields of ALWAYS_SAID are the exception.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from rocefort.dialects.vrp.patch import make_patch
from rocefort.models.base import Frozen
from rocefort.models.bgp import Bfd, BgpGroup, PolicyNode, PrefixEntry
from rocefort.models.bond import Bond
from rocefort.models.change import Change, Edit, Kind, digest_of
from rocefort.models.device import Device
from rocefort.models.hardware import SyntaxFamily
from rocefort.models.interface import DrrQueue, Interface, InterfacePfc
from rocefort.models.lossless import AiEcnQueue, DscpMap
from rocefort.models.management import AclRule
from rocefort.models.traffic import Behavior, Binding, FilterRule

# Fields whose other value rewrites a line, or stops what was there without one: no Edit of them
# only adds, so their defaults are said.
ALWAYS_SAID: dict[type[Frozen], frozenset[str]] = {
    Interface: frozenset({"enabled"}),
    DscpMap: frozenset({"colour"}),
    InterfacePfc: frozenset({"profile", "mode"}),
    Bond: frozenset(Bond.model_fields),
    DrrQueue: frozenset({"weight"}),
    AiEcnQueue: frozenset({"model"}),
    Bfd: frozenset(Bfd.model_fields),
    BgpGroup: frozenset({"external"}),
    PrefixEntry: frozenset({"action", "greater_equal", "less_equal"}),
    PolicyNode: frozenset({"action"}),
    AclRule: frozenset({"action", "source"}),
    FilterRule: frozenset(FilterRule.model_fields) - {"index"},
    Behavior: frozenset({"deny"}),
    Binding: frozenset({"behavior", "precedence"}),
}

# (path, what to look for, reason). The interface's or the peer's name fills {0}. "gone" means that
# the value goes or changes, "any" that it also counts when it comes, "deny" when it
# comes and denies.
AFFECTING: tuple[tuple[str, str, str], ...] = (
    (
        r"interfaces\[([^]]+)\]\.(?:other_)?thresholds\b.*",
        "any",
        "PFC thresholds of {0} change under traffic; the port may refuse them while congested",
    ),
    (r"interfaces\[([^]]+)\]\.pfc\b.*", "any", "PFC on {0} changes under traffic"),
    (r"interfaces\[([^]]+)\]\.mtu", "any", "the MTU of {0} changes: larger frames are dropped"),
    (r"interfaces\[([^]]+)\]\.enabled", "any", "{0} is shut down or brought up"),
    (
        r"interfaces\[([^]]+)\]\.(?:routed|link_type)",
        "any",
        "{0} changes between switched and routed, or access and trunk",
    ),
    (r"interfaces\[([^]]+)\]\.access_vlan", "any", "{0} moves to another VLAN"),
    (r"interfaces\[([^]]+)\]\.trunk_vlans\[.*", "gone", "{0} stops carrying a VLAN"),
    (
        r"interfaces\[([^]]+)\]\.addresses\[.*",
        "gone",
        "an address of {0} goes: its neighbours lose it",
    ),
    (
        r"interfaces\[([^]]+)\]\.addresses\.order",
        "any",
        "the primary address of {0} changes: what uses it is interrupted",
    ),
    (
        r"interfaces\[([^]]+)\]\.(?:trust_dscp|domain)",
        "any",
        "{0} classifies traffic differently: RoCE may enter another queue",
    ),
    (
        r"interfaces\[([^]]+)\]\.drr\[.*",
        "any",
        "{0} shares its bandwidth among the queues in another way",
    ),
    (
        r"interfaces\[([^]]+)\]\.markings\[.*",
        "any",
        "{0} marks or drops the packets of a queue at other depths",
    ),
    (
        r"drop_profiles\[([^]]+)\]\..+",
        "any",
        "queues with drop profile {0} mark or drop packets at other depths",
    ),
    (
        r"drop_profiles\[(default)\]",  # ports may apply it before a line speaks of it
        "any",
        "queues with drop profile {0} mark or drop packets at other depths",
    ),
    (r"drop_profiles\[([^]]+)\]", "gone", "drop profile {0} is removed"),
    (r"ecn_enabled", "any", "static ECN of the whole switch begins or ceases to mark packets"),
    (
        r"interfaces\[([^]]+)\]\.eth_trunk",
        "any",
        "{0} joins or leaves an Eth-Trunk: flows move to other members, some packets are lost",
    ),
    (
        r"interfaces\[([^]]+)\]\.bond\.mode",
        "any",
        "{0} bundles its members in another way: it is down until its server does so, too",
    ),
    (
        r"interfaces\[([^]]+)\]\.bond\.minimum_links",
        "any",
        "{0} goes down with another number of members",
    ),
    (  # V300R023C00, `negotiation disable`: the interface goes down and up; `fec mode`: both ends
        r"interfaces\[([^]]+)\]\.(?:autonegotiation|fec)",
        "any",
        "{0} goes down and comes up once its other end has the same FEC and autonegotiation",
    ),
    (
        r"interfaces\[([^]]+)\]\.flow_control",
        "any",
        "{0} begins or ceases to answer pauses of the whole link (802.3x)",
    ),
    (
        r"interfaces\[([^]]+)\]\.vrf",
        "any",
        "{0} moves to another routing table: sessions over it break",
    ),
    (r"interfaces\[([^]]+)\]", "gone", "{0} is removed"),
    (r"static_routes\[([^]]+)\].*", "gone", "the static route {0} goes or changes"),
    (
        r"static_routes\[((?:\S+ )?0\.0\.0\.0/0 [^]]+)\]",
        "any",
        "the default route {0} attracts all traffic that no other route does",
    ),
    (r"vrfs\[([^]]+)\].*", "gone", "the routing table {0} goes with all that is in it"),
    (
        r"domains\[([^]]+)\](?:\..*)?",
        "gone",
        "diffserv domain {0} maps traffic to other queues on every port that uses it",
    ),
    (
        r"domains\[([^]]+)\]\.(?:dscp|dot1p)\[.*",
        "any",
        "diffserv domain {0} maps traffic to other queues on every port that uses it",
    ),
    (
        r"pfc\.profiles\[([^]]+)\]\.queues\[.*",
        "any",
        "PFC profile {0} pauses other queues on every port that applies it",
    ),
    (r"pfc\.profiles\[([^]]+)\]", "gone", "PFC profile {0} is removed"),
    (
        r"pfc\.profiles\[(default)\]",  # ports may apply it before a line speaks of it
        "any",
        "PFC profile {0} pauses other queues on every port that applies it",
    ),
    (r"pfc\.headroom_pool_kbytes", "any", "the headroom pool of the switch is divided again"),
    (r"pfc\.dscp_mapping", "any", "PFC keys on another field of the packets"),
    (
        r"pfc\.(?:detect_ms|recovery_ms|interval_ms|profiles\[[^]]+\]\.timers\[.*)",
        "any",
        "PFC deadlock timers change under traffic",
    ),
    (
        r"pfc\.profiles\[[^]]+\]\.turn_off\[.*",
        "any",
        "ports give PFC up after another number of deadlocks",
    ),
    (r"ai_ecn\..*", "gone", "ECN marks RoCE traffic by another model or not at all"),
    (
        r"bgp\.asn",
        "gone",
        "the AS number changes: BGP is deleted and built again, with a commit in between",
    ),
    (r"bgp\.router_id", "any", "the router ID changes: every BGP session resets"),
    (r"bgp", "gone", "BGP is removed: every session goes down"),
    (r"bgp\.peers\[([^]]+)\]", "gone", "BGP peer {0} is removed: its session goes down"),
    (
        r"bgp\.peers\[([^]]+)\]\.(?:asn|group|active|keepalive_s|hold_s)",
        "any",
        "the session with BGP peer {0} resets",
    ),
    (
        r"bgp\.groups\[([^]]+)\]\.(?:asn|external|active|keepalive_s|hold_s)",
        "any",
        "the sessions of BGP group {0} reset",
    ),
    (r"bgp\.groups\[([^]]+)\]", "gone", "BGP group {0} is removed: its sessions go down"),
    (
        r"bgp\.(?:groups|peers)\[([^]]+)\]\.bfd.*",
        "any",
        "BFD of {0} is negotiated again: failures may be seen late or falsely",
    ),
    (  # V300R023C00, `peer password`
        r"bgp\.(?:groups|peers)\[([^]]+)\]\.(?:password|keychain)",
        "any",
        "BGP sessions of {0} end with the hold time if the other end has no such password by then",
    ),
    (
        r"bgp\.(?:groups|peers)\[([^]]+)\]\.(?:import_policy|export_policy)",
        "any",
        "routes with {0} are filtered differently",
    ),
    (r"bgp\.networks\[([^]]+)\]", "gone", "{0} is no longer announced"),
    (r"bgp\.maximum_paths", "gone", "traffic spreads over other paths (ECMP width)"),
    (r"bgp\.as_path_relax", "gone", "traffic spreads over other paths (ECMP width)"),
    (
        r"(?:prefix_lists|route_policies)\[([^]]+)\]\.\w+\[[^]]+\]\..*",
        "any",
        "{0} filters routes differently",
    ),
    (r"(?:prefix_lists|route_policies)\[([^]]+)\].*", "gone", "{0} filters routes differently"),
    (r"(?:prefix_lists|route_policies)\[([^]]+)\].*", "deny", "{0} filters routes differently"),
    (
        r"splits\[([^]]+)\].*",
        "any",
        "{0} is split or made whole again: what it held is lost, and no rollback brings it back",
    ),
    (r"vlans\[([^]]+)\]", "gone", "VLAN {0} is removed"),
    (r"bfd", "gone", "BFD is switched off: link failures are seen late"),
    (r"ssh\.stelnet", "gone", "management sessions may be cut off"),
    # Without one a switch may listen everywhere: by `all-interface`, or in a release before V300.
    (r"ssh\.source_interface", "any", "management sessions may be cut off"),
    (r"(?:ssh\.)?users\[([^]]+)\]", "gone", "user {0} can no longer log in"),
    (r"user_groups\[([^]]+)\].*", "any", "users of group {0} may run other commands than before"),
    (r"telemetry\..*", "gone", "telemetry stops, in part or whole"),
    (r"(?:ssh\.)?users\[([^]]+)\]\..*", "gone", "user {0} may log in by other means than before"),
    (
        r"vty\[([^]]+)\](?:\.(?:acl|authentication|protocol))?",
        "any",
        "management sessions may be cut off",
    ),
    (r"vty\[([^]]+)\].*", "gone", "management sessions may be cut off"),
    (
        r"acls\[([^]]+)\].*",
        "any",
        "ACL {0} admits other addresses: management sessions may be cut off",
    ),
    (
        r"interfaces\[([^]]+)\]\.filter_(?:in|out)",
        "any",
        "{0} filters by another traffic policy: other traffic passes, or none",
    ),
    (
        r"filters\.acls\[([^]]+)\]\.rules\[.*",
        "any",
        "ACL {0} allows and denies other traffic on every interface that applies it",
    ),
    (
        r"filters\.(?:classifiers|behaviors|policies)\[([^]]+)\]\..*",
        "any",
        "{0} treats other traffic, on every interface that applies it",
    ),
    (r"netconf\..*", "gone", "NETCONF sessions may be cut off"),
    (r"netconf\.port_830", "any", "NETCONF sessions may be cut off"),
    (r"snmp\..*", "gone", "monitoring by SNMP may lose the switch"),
)
PRIMARY_FIRST = ".addresses"  # the one collection in which the order says something
PUTS_INTO_SERVICE = frozenset({"routed", "link_type", "access_vlan", "eth_trunk"})


def compare(running: Device, intended: Device) -> tuple[Edit, ...]:
    """Semantic differences, in the order of the Device's fields."""
    return tuple(_model_edits("", running, intended))


def _model_edits(path: str, old: Frozen, new: Frozen) -> Iterator[Edit]:
    prefix = f"{path}." if path else ""
    for name in type(old).model_fields:
        a, b = getattr(old, name), getattr(new, name)
        if a == b:
            continue
        if isinstance(a, tuple) and isinstance(b, tuple):
            yield from _row_edits(prefix + name, a, b)
        elif isinstance(a, Frozen) and isinstance(b, Frozen):
            yield from _model_edits(prefix + name, a, b)
        else:
            before, after = (_said(type(old), name, value) for value in (a, b))
            yield Edit(path=prefix + name, before=before, after=after)


def _said(model: type[Frozen], name: str, value: object) -> str | None:
    """A value as the text says it; None if it says nothing."""
    if name in ALWAYS_SAID.get(model, ()):
        return "none" if value is None else text_of(value)
    default = model.model_fields[name].get_default(call_default_factory=True)
    return None if value == default else text_of(value)


def _row_edits(path: str, old: Sequence[object], new: Sequence[object]) -> Iterator[Edit]:
    was, will = ({_key(row): row for row in rows} for rows in (old, new))
    for key in [*was, *(key for key in will if key not in was)]:
        a, b, at = was.get(key), will.get(key), f"{path}[{key}]"
        if isinstance(a, Frozen) and isinstance(b, Frozen):
            yield from _model_edits(at, a, b)
        elif a is None or b is None:
            yield Edit(
                path=at,
                before=None if a is None else text_of(a),
                after=None if b is None else text_of(b),
            )
    if path.endswith(PRIMARY_FIRST) and _moved(list(was), list(will)):
        yield Edit(path=f"{path}.order", before=" ".join(was), after=" ".join(will))


def _moved(was: list[str], will: list[str]) -> bool:
    """Whether what stays changes its order, or one that stays becomes the first or ceases to be."""
    stay = [key for key in was if key in will]
    if stay != [key for key in will if key in was]:
        return True
    return bool(stay) and was[0] != will[0] and stay[0] in (was[0], will[0])


def _key(row: object) -> str:
    return str(getattr(row, "key", row))


def text_of(value: object) -> str:
    """A value for a reader: words and numbers as they are, a row as what it says."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return " ".join(
            text_of(item) if not isinstance(item, Frozen) else f"({text_of(item)})"
            for item in value
        )
    if not isinstance(value, Frozen):
        return str(value)
    said = {
        name: getattr(value, name)
        for name, field in type(value).model_fields.items()
        if field.is_required()
        or getattr(value, name) != field.get_default(call_default_factory=True)
    }
    return ", ".join(f"{name}={text_of(item)}" for name, item in said.items()) or "as by default"


def classify(edits: Iterable[Edit], patch: Iterable[str]) -> tuple[Kind, tuple[str, ...]]:
    """Kind of a change, and one reason for each way in which traffic or sessions feel it.

    Without edits there can still be commands (a form that means the same): that is modifying.
    """
    edits = tuple(edits)
    if any(edit.after is None for edit in edits):
        kind = Kind.REMOVING
    elif any(edit.before is not None for edit in edits) or (not edits and any(True for _ in patch)):
        kind = Kind.MODIFYING
    else:
        kind = Kind.ADDITIVE
    fresh = put_into_service(edits)
    felt = (reason for edit in edits for reason in _reasons(edit, fresh))
    return kind, tuple(dict.fromkeys(felt))


def put_into_service(edits: Iterable[Edit]) -> frozenset[str]:
    """Interfaces that only get lines, and with them become routed or a member of a VLAN.

    They carried nothing before, so nobody feels that they change.
    """
    found: dict[str, list[tuple[str, Edit]]] = {}
    for edit in edits:
        match = re.fullmatch(r"interfaces\[([^]]+)\]\.(\w+).*", edit.path)
        if match:
            found.setdefault(match[1], []).append((match[2], edit))
    return frozenset(
        name
        for name, fields in found.items()
        if all(edit.before is None for _, edit in fields)
        and any(field in PUTS_INTO_SERVICE for field, _ in fields)
    )


def _reasons(edit: Edit, fresh: frozenset[str]) -> Iterator[str]:
    for pattern, when, reason in AFFECTING:
        match = re.fullmatch(pattern, edit.path)
        if not match or not _counts(edit, when):
            continue
        name = match[1] if match.groups() else ""
        if not (edit.path.startswith("interfaces[") and name in fresh):
            yield reason.format(name)
            return


def _counts(edit: Edit, when: str) -> bool:
    if when == "deny":
        return "action=deny" in (edit.after or "")
    return when == "any" or edit.before is not None


def change_of(  # noqa: PLR0913, PLR0917 - two texts, what each means, and how they are written
    running_text: str,
    running: Device,
    intended_text: str,
    intended: Device,
    family: SyntaxFamily,
    kept: tuple[str, ...],
) -> Change:
    """The Change of one switch. Both texts come from our renderer; `kept` are lines nobody owns."""
    patch = make_patch(running_text, intended_text, family)
    edits = compare(running, intended)
    kind, reasons = classify(edits, patch.commands)
    return Change(
        device=intended.name,
        kind=kind,
        service_affecting=reasons,
        edits=edits,
        patch=patch.commands,
        reverse=patch.reverse,
        running_digest=digest_of(running_text),
        intended_digest=digest_of(intended_text),
        kept=kept,
    )
