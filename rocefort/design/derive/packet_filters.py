"""Derive packet filters of a switch from the fabric's policy, and check the policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rocefort.base.errors import Problem
from rocefort.design.derive.context import Context
from rocefort.design.derive.segment_acls import ENTRY_STEP, filter_name
from rocefort.design.derive.switch_context import Scope
from rocefort.models.device.packet_filters import (
    Behavior,
    Classifier,
    ClassifierBinding,
    FilterAcl,
    Filters,
    TrafficPolicy,
)

PERMIT = "PERMIT"  # the only behavior; packets that an ACL denies are dropped with any behavior
PRECEDENCE = 5  # first default value of a switch, V300R023C00 `classifier behavior`


def filters(scope: Scope) -> Filters:
    """Filters of a switch: one ACL and policy for each of its segments with rules."""
    acls = scope.context.segment_acls
    own = {filter_name(s): acls[s.name] for s, _ in scope.gateways if s.name in acls}
    if not own:
        return Filters()
    _note(scope, own)
    return Filters(
        acls=tuple(own.values()),
        classifiers=tuple(Classifier(name=name, acls=(name,)) for name in own),
        behaviors=(Behavior(name=PERMIT),),
        policies=tuple(_policy(name) for name in own),
    )


def _policy(name: str) -> TrafficPolicy:
    binding = ClassifierBinding(classifier=name, behavior=PERMIT, precedence=PRECEDENCE)
    return TrafficPolicy(name=name, bindings=(binding,))


def _note(scope: Scope, acls: Mapping[str, FilterAcl]) -> None:
    policy = scope.fabric.security.policy
    places = {entry.id: index for index, entry in enumerate(policy.entries)} if policy else {}
    scope.note("filters", "security", "policy")
    for name, acl in acls.items():
        for rule in acl.rules:
            entry = places.get(rule.index // ENTRY_STEP)
            path = ("default",) if entry is None else ("entries", entry)
            at = f"filters.acls[{name}].rules[{rule.index}]"
            scope.note(at, "security", "policy", *path)


def policy_problems(context: Context) -> Iterator[Problem]:
    """Yield problems of the policy: duplicate ids, and segments without a gateway."""
    policy = context.fabric.security.policy
    if policy is None:
        return
    tagged = {segment.name: segment for segment in context.fabric.segments if segment.vlan}
    first: dict[int, int] = {}
    for index, entry in enumerate(policy.entries):
        path = ("security", "policy", "entries", index)
        if first.setdefault(entry.id, index) != index:
            line = context.loaded.document.at((*path[:-1], first[entry.id], "id")).line
            how = f"write another one: the first is on line {line}"
            yield context.problem((*path, "id"), f"id {entry.id} is given twice", how)
        for side in ("source", "destination"):
            for number, name in enumerate(getattr(entry, side)):
                if name not in tagged:
                    yield context.unknown_segment((*path, side, number), name, tagged)
    for index, leaf in enumerate(context.fabric.leaves):
        for name, gateway in leaf.pins.gateways.items():
            segment = tagged.get(name)
            if segment and not gateway.network.subnet_of(segment.prefix):
                yield context.problem(
                    ("leaves", index, "pins", "gateways", name),
                    f"{gateway.network} is not in {segment.prefix}, by which security.policy "
                    f"identifies packets of {name}",
                    "use a part of the segment's prefix, or no policy",
                )
