"""Soak time of a trial before it is confirmed, so that delayed faults of the change can show.

Each edit has a timer after which its fault shows (in its Effect). A fault without a timer shows at
once, or waiting does not reveal it. An example is a neighbour of a gateway whose address changes:
ARP entries last 20 minutes, so the gate of the wave sends traffic through the gateway instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address
from math import ceil

from rocefort.change.effects.affected_objects import EVERY_SESSION, AffectedPart, timed
from rocefort.dialects.choose import dialect_of
from rocefort.models.change.edits import Edit
from rocefort.models.change.plan import Soak
from rocefort.models.device.device import Device
from rocefort.models.device.routing import HOLD_S, Bgp
from rocefort.models.effect import FaultDelay
from rocefort.models.hardware.hardware import Family

# Added to the timer: switches count in whole seconds, and the far end counts from the last packet
# that it has received; assumed.
MARGIN_S = 5
ADVERTISE_S = 30  # `peer route-update-interval` of EBGP peers, V300R023C00: 30 s by default
LACP_S = 90  # `lacp timeout slow`, V300R023C00, the default
DEADLOCK_MS = 100  # both timers of V300 G1, by default
DEADLOCK_TIME = 10  # both timers of V300 G2, by default, in intervals
LONGEST_INTERVAL_MS = 1000  # of V300 G2; the unit of V200 is unknown


def soak_of(old: Device, new: Device, edits: Iterable[Edit], family: Family) -> Soak | None:
    """Soak time of a change from one Device to another, with the reason; None without a soak."""
    touched = timed(old, edits, dialect_of(family).disrupts)
    timers = [
        *_sessions(old, new, touched.get(FaultDelay.HOLD)),
        *([(ADVERTISE_S, "BGP sends routes again")] if FaultDelay.ADVERTISE in touched else []),
        *([(LACP_S, "LACP of its bonds times out")] if FaultDelay.LACP in touched else []),
        *(_deadlock(each, family) for each in (old, new) if FaultDelay.DEADLOCK in touched),
    ]
    if not timers:
        return None
    seconds, why = max(timers, key=lambda each: each[0])
    return Soak(seconds=seconds + MARGIN_S, why=f"{why} ({seconds} s), and {MARGIN_S} s more")


def _sessions(old: Device, new: Device, touched: AffectedPart | None) -> Iterator[tuple[int, str]]:
    """Longest hold time of the sessions that a change may end.

    The two ends use the lower of their hold times, so the value of this end is an upper bound.
    """
    if touched is None:
        return
    holds = [
        (_hold_s(bgp, peer.address), str(peer.address))
        for device in (old, new)
        for bgp in [device.bgp]
        if bgp is not None
        for peer in bgp.peers
        if _may_end(device, peer.address, peer.group, touched)
    ]
    if holds:
        seconds, peer = max(holds, key=lambda each: each[0])
        yield seconds, f"BGP's hold time of peer {peer}"


def _hold_s(bgp: Bgp, peer: IPv4Address) -> int:
    """Hold time of a peer; 0 (the session never times out) counts as the default."""
    settings = bgp.settings_at(peer)
    return (settings.hold_s if settings else None) or HOLD_S


def _may_end(device: Device, peer: IPv4Address, group: str | None, touched: AffectedPart) -> bool:
    if touched.peers & {EVERY_SESSION, str(peer), group}:
        return True
    return any(
        peer in address.network
        for name in touched.ports
        if name in device.by_interface
        for address in device.by_interface[name].addresses
    )


def _deadlock(device: Device, family: Family) -> tuple[int, str]:
    """Time until a PFC deadlock is found and ended, with the reason."""
    pfc, why = device.pfc, "a PFC deadlock is found and ended"
    if family.deadlock_detect_ms is not None:
        both = [DEADLOCK_MS if ms is None else ms for ms in (pfc.detect_ms, pfc.recovery_ms)]
        return ceil(sum(both) / 1000), why
    interval_ms = family.deadlock_interval_ms
    unit_ms = LONGEST_INTERVAL_MS if interval_ms is None else pfc.interval_ms or interval_ms.value
    times = [
        sum(DEADLOCK_TIME if t is None else t for t in (timer.detect_time, timer.recovery_time))
        for profile in pfc.profiles
        for timer in profile.timers
    ]
    return ceil(max(times, default=2 * DEADLOCK_TIME) * unit_ms / 1000), why
