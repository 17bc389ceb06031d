"""Checks on every intermediate candidate of a patch: no line leaves RoCE without PFC."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from canonical import canonical

from rocefort.dialects.vrp.interpreter.interpreter import Lines, View, apply_line
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.dialects.vrp.patch.profile_moves import ProfileMove
from rocefort.dialects.vrp.text.config_tree import parse_tree, tree_text
from rocefort.models.device.device import Device
from rocefort.models.device.interface import DEFAULT_DOMAIN, Interface
from rocefort.models.device.lossless_queue import PHB_QUEUE
from rocefort.models.hardware.hardware import SyntaxFamily

PortQueues = Mapping[str, frozenset[int]]

LOSSLESS = ("sysname ", "port split ", "interface ", "dcb ", "diffserv ", "drop-profile ")


class Candidate(NamedTuple):
    """State of a switch if the lines so far were committed."""

    paused: PortQueues  # queues that each port pauses
    applied: Mapping[str, str]  # PFC profile of each port
    split: Mapping[str, str]  # split mode of the physical port of each part
    carrier: Mapping[str, str]  # the Eth-Trunk of each port, or the port itself
    fed: PortQueues  # queues into which the DiffServ domain of each port puts traffic, by a line
    sized: PortQueues  # queues of each port with thresholds
    markings: frozenset[tuple[str, str | None]]  # port, drop profile; None: a missing profile


def candidate(device: Device) -> Candidate:
    domains = {domain.name: domain for domain in device.domains}

    def fed(port: Interface) -> frozenset[int]:
        domain = domains.get(device.carrier(port).domain or DEFAULT_DOMAIN)
        return frozenset(PHB_QUEUE[row.phb] for row in domain.dscp) if domain else frozenset()

    ports = device.interfaces
    profiles = {port.name: profile for port in ports if (profile := device.profile_of(port))}
    return Candidate(
        {port: frozenset(profile.queues) for port, profile in profiles.items()},
        {port: profile.name for port, profile in profiles.items()},
        {part: split.type for split in device.splits for part in split.parts},
        {port.name: device.carrier(port).name for port in ports},
        {port.name: fed(port) for port in ports if port.kind == "ethernet"},
        {port.name: frozenset(row.queue for row in port.thresholds) for port in ports},
        frozenset(
            (port.name, row.profile if device.drop_profile(row.profile or "") else None)
            for port in ports
            for row in port.markings
        ),
    )


def device_of(config: Lines) -> Device:
    """Return the lossless settings of a configuration only; parsing the rest is slow."""
    lossless = tuple(line for line in config if line.text.startswith(LOSSLESS))
    return parse(tree_text(lossless), "candidate").device


def candidates(
    running: str, commands: Sequence[str], family: SyntaxFamily
) -> Iterator[tuple[str, Candidate]]:
    """Yield every line of a patch, and its candidate; the line "" has the running text."""
    config, view = canonical(parse_tree(running), family), View()
    before = candidate(device_of(config))
    yield "", before
    for line in commands:
        step = apply_line(config, view, line, family)
        view = step.view
        if step.config != config:
            config = step.config
            before = candidate(device_of(config))
        yield line, before


def ends(steps: Sequence[tuple[str, Candidate]]) -> tuple[Candidate, Candidate]:
    return steps[0][1], steps[-1][1]


NONE: frozenset[int] = frozenset()


def by_profile(state: Candidate) -> Mapping[str, frozenset[int]]:
    """Return the queues of each profile that ports apply."""
    return {state.applied[port]: queues for port, queues in state.paused.items()}


def lost_pauses(steps: Sequence[tuple[str, Candidate]]) -> Iterator[str]:
    """Yield ports that stop pausing a queue in between, though they pause it at both ends.

    A port that is split again is another port.
    """
    old, new = ends(steps)
    both = old.paused.keys() & new.paused.keys()
    same = [port for port in both if old.split.get(port) == new.split.get(port)]
    for line, now in steps:
        for port in same:
            for queue in (old.paused[port] & new.paused[port]) - now.paused.get(port, NONE):
                yield f"{line.strip()}: {port} does not pause queue {queue}"


def stray_pauses(steps: Sequence[tuple[str, Candidate]]) -> Iterator[str]:
    """Yield ports that pause a queue in between, though they pause it neither before nor after.

    Exceptions: a port that changes to a profile of other ports, which changes too, pauses their old
    queues. A port that leaves such a profile may already pause their new queues.
    """
    old, new = ends(steps)
    before, after = by_profile(old), by_profile(new)
    for line, now in steps:
        for port, queues in now.paused.items():
            meant = old.paused.get(port, NONE) | new.paused.get(port, NONE)
            meant |= before.get(now.applied[port], NONE) | after.get(now.applied[port], NONE)
            for queue in queues - meant:
                yield f"{line.strip()}: {port} pauses queue {queue}"


def unpaused(state: Candidate, port: str) -> frozenset[int]:
    return state.fed.get(port, NONE) - state.paused.get(port, NONE)


def crossing(old: Candidate, new: Candidate, port: str) -> frozenset[int]:
    """Return queues that a port stops pausing by the line that pauses its new queues.

    One line moves a port from one profile to another. If it precedes the lines that move its
    traffic, the traffic is not paused in the old queues; if it follows them, in the new queues.
    Neither profile pauses both while ports apply it.
    """
    profile, other = old.applied.get(port), new.applied.get(port)
    if profile is None or other is None or profile == other:
        return NONE
    if old.carrier[port] != new.carrier[port] or old.split.get(port) != new.split.get(port):
        return NONE
    was, will = old.paused[port], new.paused[port]
    leaves = old.fed[port] & was - new.fed[port] - will - by_profile(old).get(other, NONE)
    comes = new.fed[port] & will - old.fed[port] - was - by_profile(new).get(profile, NONE)
    return leaves if comes else NONE


def bare_traffic(steps: Sequence[tuple[str, Candidate]]) -> Iterator[str]:
    """Yield queues with traffic that are lossless before or after, but not paused in between.

    Exception: queues for which no order of the lines is enough, see `crossing`.
    """
    old, new = ends(steps)
    for line, now in steps:
        for port in now.fed:
            lossless = old.paused.get(port, NONE) | new.paused.get(port, NONE)
            meant = unpaused(old, port) | unpaused(new, port) | crossing(old, new, port)
            for queue in (unpaused(now, port) & lossless) - meant:
                yield f"{line.strip()}: traffic of {port} enters queue {queue} unpaused"


def late_thresholds(steps: Sequence[tuple[str, Candidate]]) -> Iterator[str]:
    """Yield ports that begin to pause a queue before they have the intended thresholds."""
    old, new = ends(steps)
    for line, now in steps:
        for port, queues in now.paused.items():
            awaited = (queues - old.paused.get(port, NONE)) & new.sized.get(port, NONE)
            for queue in awaited - now.sized.get(port, NONE):
                yield f"{line.strip()}: {port} pauses queue {queue} without its thresholds"


def missing_profiles(steps: Sequence[tuple[str, Candidate]]) -> Iterator[str]:
    """Yield ports that mark or drop by a missing drop profile."""
    for line, now in steps:
        yield from (f"{line.strip()}: {port}" for port, profile in now.markings if profile is None)


BREACHES = {
    breach.__name__: breach
    for breach in (lost_pauses, stray_pauses, bare_traffic, late_thresholds, missing_profiles)
}


def unreported_crossings(
    steps: Sequence[tuple[str, Candidate]], moves: Iterable[ProfileMove]
) -> Iterator[str]:
    """Yield queues that a port leaves unpaused without a report in the patch."""
    old, new = ends(steps)
    reported = {move.port: move.if_first for move in moves}
    for port in old.fed.keys() & new.fed.keys():
        for queue in crossing(old, new, port) - reported.get(port, NONE):
            yield f"{port} leaves queue {queue}"


def breaches(running: str, intended: str, family: SyntaxFamily) -> dict[str, list[str]]:
    patch = make_patch(running, intended, family)
    steps = list(candidates(running, patch.commands, family))
    judged = {name: list(breach(steps)) for name, breach in BREACHES.items()}
    judged[unreported_crossings.__name__] = list(unreported_crossings(steps, patch.unpaused))
    return {name: found for name, found in judged.items() if found}
