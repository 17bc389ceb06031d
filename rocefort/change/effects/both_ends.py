"""Refuse changes that a session needs at both ends at once, which waves cannot make.

A leaf changes before its spines. If the settings of a changed leaf and of an unchanged spine do
not match, the session ends after its hold time at the latest. It stays down until the wave of the
spine. No trial covers both ends: a trial lasts 60 s at least, and a controller that dies between
two trials leaves the ends different for that long. A session that a user has closed on purpose may
change: no traffic depends on it. A keychain at both ends needs no change here: its keys change by
the clock (V300R023C00, `keychain`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address

from rocefort.base.errors import Refused
from rocefort.change.effects.blast_radius import timed
from rocefort.change.effects.switch_configs import SwitchConfigs
from rocefort.dialects.changes import joined
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.words import in_words
from rocefort.models.device.device import Device
from rocefort.models.device.routing import HOLD_S, BgpSettings
from rocefort.models.effect import FaultDelay
from rocefort.models.network.network import Link, Network, SwitchRole
from rocefort.models.wording import count_of

HOW = (
    "close the session first (drain the spine, «a closed session with: ..»), then plan, apply with "
    "`--allow-unhealthy` and open it: `rocefort review` lists the steps"
)


@dataclass(frozen=True, slots=True)
class _CableSession:
    """Session over a cable, with the settings of both ends."""

    peers: tuple[IPv4Address, IPv4Address]  # peer address at the first end, then at the second
    authentication: tuple[str | None, str | None]  # of the first end: password and keychain
    hold_s: int


def refuse_two_sided(network: Network, sides: Mapping[str, SwitchConfigs]) -> None:
    """Raise Refused if an active session would be down between the waves of its ends."""
    disagreements = list(_disagreements(network, sides))
    if not disagreements:
        return
    leaf, spine, why, hold_s = disagreements[0]
    more = f" ({count_of(len(disagreements), 'session')} in all)" if len(disagreements) > 1 else ""
    raise Refused(
        f"its BGP session with {spine} ends within the hold time of {hold_s} s after its change, "
        f"because {spine} changes in a later wave: {why}{more}",
        where=leaf,
        how=in_words(HOW, sides[leaf].node),
    )


def _disagreements(
    network: Network, sides: Mapping[str, SwitchConfigs]
) -> Iterator[tuple[str, str, str, int]]:
    """Leaf, spine, the setting that differs, hold time."""
    ends = {
        name
        for name, each in sides.items()
        if FaultDelay.HOLD
        in timed(each.running, each.whole.edits, dialect_of(each.family).disrupts)
    }
    for link in network.links or ():
        leaf, spine = _leaf_first(network, link)
        if not {leaf[0], spine[0]} <= ends:
            continue
        leaf_sides, spine_sides = sides[leaf[0]], sides[spine[0]]
        before = _cable_session(leaf_sides.running, leaf[1], spine_sides.running, spine[1])
        if before and any(
            _closed(s, p) for s, p in zip((leaf_sides, spine_sides), before.peers, strict=True)
        ):
            continue
        after = _cable_session(leaf_sides.intended, leaf[1], spine_sides.intended, spine[1])
        if (
            before
            and after
            and _cable_session(leaf_sides.intended, leaf[1], spine_sides.running, spine[1]) is None
        ):
            same = before.authentication == after.authentication
            why = "an address or an AS number" if same else "the authentication"
            yield leaf[0], spine[0], f"{why} differs meanwhile", before.hold_s


def _closed(sides: SwitchConfigs, peer: IPv4Address) -> bool:
    """Whether a switch keeps a session closed, in its peer or its peer group."""
    states = set(map(dialect_of(sides.family).closed_peer, map(joined, sides.kept))) - {None}
    bgp = sides.running.bgp
    row = bgp.by_address.get(peer) if bgp else None
    return bool(states & {str(peer), row.group if row else None})


def _leaf_first(network: Network, link: Link) -> tuple[tuple[str, str], tuple[str, str]]:
    """Both ends of a cable in the order of their changes."""
    a, b = (link.a.device, link.a.interface), (link.b.device, link.b.interface)
    return (b, a) if network.by_name[a[0]].role is SwitchRole.SPINE else (a, b)


def _cable_session(
    device: Device, port: str, far_device: Device, far_port: str
) -> _CableSession | None:
    """Session over a cable; None if the settings of the two ends do not match."""
    near, far = device.by_interface.get(port), far_device.by_interface.get(far_port)
    if near is None or far is None or not (near.enabled and far.enabled):
        return None
    if device.bgp is None or far_device.bgp is None:
        return None
    for here in near.addresses:
        for there in far.addresses:
            mine, theirs = device.bgp.settings_at(there.ip), far_device.bgp.settings_at(here.ip)
            if here.network != there.network or mine is None or theirs is None:
                continue
            fits = (mine.asn, theirs.asn) == (far_device.bgp.asn, device.bgp.asn)
            if fits and _authentication(mine) == _authentication(theirs):
                holds = (HOLD_S if s.hold_s is None else s.hold_s for s in (mine, theirs))
                return _CableSession((there.ip, here.ip), _authentication(mine), min(holds))
    return None


def _authentication(settings: BgpSettings) -> tuple[str | None, str | None]:
    """Authentication of a session; a password without a reference differs from all others."""
    return settings.password, settings.keychain
