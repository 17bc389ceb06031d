"""Moves of ports to another PFC profile: before their traffic changes its queues, or after it.

One line moves a port. It comes first where the new profile pauses every queue that traffic enters
from then on, otherwise last where the old profile pauses every queue that traffic enters until
then. Where neither is the case, the traffic of the port has to stop for the change.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from rocefort.dialects.vrp.interpreter.port_split import rows_without, vanishing
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.patch.changed_rows import INTERFACE, ConfigRows
from rocefort.dialects.vrp.patch.rulebook.commands import LAST
from rocefort.models.device.device import Device
from rocefort.models.device.interface import DEFAULT_DOMAIN, Interface
from rocefort.models.device.lossless_queue import PHB_QUEUE
from rocefort.models.wording import listing

Queues = frozenset[int]
APPLIES_PROFILE = "dcb pfc enable"
VIEWS = (INTERFACE, "dcb ", "diffserv domain ")
OF_A_PORT = (APPLIES_PROFILE, "eth-trunk ", "trust ", "shutdown")


@dataclass(frozen=True, slots=True)
class ProfileMove:
    """A port between two profiles, with the queues that traffic enters unpaused meanwhile."""

    port: str
    if_first: Queues  # if the port moves before its traffic
    if_last: Queues


def profile_moves(was: ConfigRows, will: ConfigRows) -> tuple[ProfileMove, ...]:
    """Yield ports that have PFC on both sides, by two profiles."""
    applied = (
        (_applied_profile(rows), _applied_profile(will.get(view, ()))) for view, rows in was.items()
    )
    if not any(before and after and before != after for before, after in applied):
        return ()  # as in most changes: no need to read them
    remaining = rows_without(was, vanishing(was, will))  # a port that is split again is another one
    return tuple(_moves(_device(remaining), _device(will)))


def moved_last(will: ConfigRows, moves: Iterable[ProfileMove]) -> ConfigRows:
    """Return the intended rows, with a mark on each that moves a port last."""
    views = {f"{INTERFACE}{move.port}" for move in moves if move.if_first and not move.if_last}
    return OrderedDict(
        (view, _marked(rows) if view in views else rows) for view, rows in will.items()
    )


def _marked(port: ConfigRows) -> ConfigRows:
    return OrderedDict(
        (f"{row}{LAST}" if row.startswith(APPLIES_PROFILE) else row, below)
        for row, below in port.items()
    )


def _applied_profile(port: Iterable[str]) -> str | None:
    return next((row for row in port if row.startswith(APPLIES_PROFILE)), None)


def _device(rows: ConfigRows) -> Device:
    """Return a Device with the PFC profiles, the domains, and those of each port."""
    lines = ["sysname unnamed"]
    for view, below in rows.items():
        if view.startswith(VIEWS):
            all_of_it = not view.startswith(INTERFACE)
            lines += [view, *(f" {row}" for row in below if all_of_it or row.startswith(OF_A_PORT))]
    return parse("\n".join(lines), "a patch").device


def _moves(old: Device, new: Device) -> Iterator[ProfileMove]:
    in_use = [{port.pfc.profile for port in side.interfaces if port.pfc} for side in (old, new)]
    for before in old.interfaces:
        after = new.by_interface.get(before.name)
        if not (before.pfc and after and after.pfc and before.pfc.profile != after.pfc.profile):
            continue
        if not (before.enabled or after.enabled):
            continue
        paused, pauses = _paused(old, before), _paused(new, after)
        # A profile that ports apply on both sides has the queues of both while traffic changes.
        if_last = paused | (
            _paused(new, before) if before.pfc.profile in in_use[1] else frozenset()
        )
        if_first = pauses | (_paused(old, after) if after.pfc.profile in in_use[0] else frozenset())
        trusted, trusts = old.carrier(before), new.carrier(after)
        fed, feeds = _roce_queues(old, trusted), _roce_queues(new, trusts)
        entered = (
            feeds if _stops_first(trusted, trusts) else feeds | fed | _roce_queues(new, trusted)
        )
        # A queue that is not paused for its traffic before or after need not be paused meanwhile.
        yield ProfileMove(
            before.name,
            if_first=entered & paused - if_first - feeds,
            if_last=entered & pauses - if_last - fed,
        )


def _paused(device: Device, port: Interface) -> Queues:
    profile = device.profile_of(port)
    return frozenset(profile.queues) if profile else frozenset()


def _roce_queues(device: Device, carrier: Interface) -> Queues:
    """Return the queues of RoCE by its DSCP, in the domain of a port or Eth-Trunk."""
    rows = (
        row
        for domain in device.domains
        if domain.name == (carrier.domain or DEFAULT_DOMAIN)
        for row in domain.dscp
    )
    return frozenset(PHB_QUEUE[row.phb] for row in rows)


def _stops_first(before: Interface, after: Interface) -> bool:
    """Whether a port leaves its domain before all else: with its Eth-Trunk, or by losing trust."""
    if before.name != after.name:
        return True
    if (before.domain, before.trust_dscp) == (after.domain, after.trust_dscp):
        return False
    return after.domain is None and after.trust_dscp <= before.trust_dscp


def unpaused(move: ProfileMove) -> str:
    """Return a sentence on a port that no order of the lines keeps paused."""
    return (
        f"traffic of {move.port} is not paused in {_queues(move.if_first)} while its PFC profile "
        f"changes ({_queues(move.if_last)} if the lines are reversed): stop RoCE on this port or "
        "drain the switch first"
    )


def _queues(queues: Collection[int]) -> str:
    return f"queue{'s' * (len(queues) > 1)} {listing(sorted(queues))}"
