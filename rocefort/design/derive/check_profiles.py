"""Check the profiles of a fabric: each exists, has the right kind, and fits the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rocefort.base.documents.read import YamlPath
from rocefort.base.errors import Problem
from rocefort.design.derive.context import Context
from rocefort.design.load.profiles import ProfileUse, given_twice
from rocefort.models.fabric.lossless import LONGEST_ECN_PROFILE, StaticEcn, drop_profile_name

# Keys of a profile that name another one: kind of the profile, key, kind of the other.
REFERENCES = (
    ("lossless", "ecn", "ecn"),
    ("congestion_control", "lossless", "lossless"),
    ("nic", "adapter", "adapter"),
)


class _Use(NamedTuple):
    """Reference to a profile in the fabric."""

    kind: str
    name: str
    path: YamlPath


def profile_problems(context: Context) -> Iterator[Problem]:
    """Yield problems of names: duplicate, unknown, or of a profile of another kind."""
    for key, chosen in context.own_profiles.known.items():
        if first := context.of_site.known.get(key):
            yield given_twice(chosen, first)
    used = {}
    for use in _uses(context):
        chosen_one = context.profiles.get(use.kind, use.name)
        if chosen_one is None:
            yield context.problem(use.path, *context.profiles.what_is_wrong(use.kind, use.name))
        else:
            used[use.kind, use.name] = chosen_one
    for chosen in {**context.own_profiles.known, **used}.values():
        yield from _references(context, chosen)
        yield from _too_long(chosen)
    yield from _made_for(context)


def _uses(context: Context) -> Iterator[_Use]:
    fabric = context.fabric
    yield _Use("lossless", fabric.lossless, ("lossless",))
    for index, rack in enumerate(fabric.racks):
        yield _Use("lossless", rack.lossless, ("racks", index, "lossless"))
    for path, switch in context.switches():
        if switch.lossless is not None:
            yield _Use("lossless", switch.lossless, (*path, "lossless"))
    if fabric.congestion_control is not None:
        yield _Use("congestion_control", fabric.congestion_control, ("congestion_control",))
    if fabric.host is not None:
        yield _Use("host", fabric.host, ("host",))
    for index, server in enumerate(fabric.servers):
        if server.nic is not None:
            yield _Use("nic", server.nic, ("servers", index, "nic"))


def _references(context: Context, chosen: ProfileUse) -> Iterator[Problem]:
    for kind, key, target in REFERENCES:
        name = getattr(chosen.profile, key) if kind == chosen.kind else None
        if name is not None and context.profiles.get(target, name) is None:
            yield chosen.problem((key,), *context.profiles.what_is_wrong(target, name))


def _too_long(chosen: ProfileUse) -> Iterator[Problem]:
    """Yield the problem of a long name: static ECN profiles are a prefix of drop profile names."""
    if isinstance(chosen.profile, StaticEcn) and len(chosen.name) > LONGEST_ECN_PROFILE:
        yield chosen.problem(
            (),
            f"a static ECN profile with a name of {len(chosen.name)} characters",
            f"use {LONGEST_ECN_PROFILE} at most: switches get drop profiles named after it, such "
            f"as {drop_profile_name(chosen.name[:6], 100)}",
        )


def _made_for(context: Context) -> Iterator[Problem]:
    """Yield the problem of congestion control for another lossless profile than the fabric's."""
    name = context.fabric.congestion_control
    chosen = context.profiles.get("congestion_control", name) if name else None
    required = getattr(chosen.profile, "lossless", None) if chosen else None
    if required is None or required == context.fabric.lossless:
        return
    if context.profiles.get("lossless", required) is not None:  # reported above otherwise
        yield context.problem(
            ("congestion_control",),
            f"profile {name!r} is made for lossless profile {required!r}, and the fabric has "
            f"{context.fabric.lossless!r}",
            "name one that is made for it, or for any",
        )
