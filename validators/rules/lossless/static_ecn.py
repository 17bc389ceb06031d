"""Rules on static ECN: valid thresholds, existing profiles, and one kind of marking a queue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from rocefort.models.device.lossless import DropLimits, DropProfile, low_at_most_high
from rocefort.models.finding import Severity
from rocefort.models.hardware.hardware import Family, Range
from rocefort.models.network.network import Node
from rocefort.models.wording import listing
from rocefort.validators.rules.lossless.ecn_margin import end_of, limits_of, static_rows
from rocefort.validators.rules.missing import Need, of_family
from rocefort.validators.rules.registry import Subject, Verdict, rule

REFERENCE = "«the vendor's reference», congestion avoidance"
LIMITS = "«ECN limits», «drop limits»"
PERCENT = Range(low=0, high=100, source=f"{REFERENCE} ({LIMITS})")
CHANCE = Range(low=1, high=100, source=f"{REFERENCE} ({LIMITS})")
UNITS = {"percent": "%", "bytes": "bytes", "cells": "cells"}
SHOWN_BY = {"bytes": "ecn_bytes", "cells": "ecn_cells"}


@rule(
    "ECN003",
    severity=Severity.ERROR,
    source=f"{REFERENCE} ({LIMITS}: ranges); DCTCP, SIGCOMM 2010 (one threshold for all)",
    wants=(Need.FAMILY,),
)
def thresholds_can_be_set(subject: Subject) -> Iterator[Verdict]:
    """Thresholds of ECN and of drops are in order and in range.

    Kmin is below Kmax. Between them the switch marks packets with a probability that grows to Pmax;
    from Kmax on it marks all packets. Equal thresholds are a step, as DCTCP needs it, and then Pmax
    is 100 %. The same holds for the drop thresholds of a colour.

    Example: drop profile roce: Kmin 7168 bytes is not below Kmax 7168 bytes
    Fix: Raise Kmax, or mark all packets from one depth on with a Pmax of 100.
    """
    for node in subject.network.nodes:
        for profile in node.device.drop_profiles:
            for line in _profile_limits(profile):
                yield from _order(subject, node, line)
                if node.family:
                    yield from _range(subject, node, node.family, line)


@dataclass(frozen=True, slots=True)
class _ProfileLimits:
    """Limits on one line of a drop profile, with the line's name in messages and its path."""

    word: str
    path: str
    limits: DropLimits

    @property
    def unit(self) -> str:
        """Unit of the limits, in words."""
        return UNITS[self.limits.unit]


def _profile_limits(profile: DropProfile) -> Iterator[_ProfileLimits]:
    at, word = f"drop_profiles[{profile.name}]", f"drop profile {profile.name}"
    if profile.ecn is not None:
        yield _ProfileLimits(word, f"{at}.ecn", profile.ecn)
    for row in profile.colours:
        path = f"{at}.colours[{row.colour}]"
        yield _ProfileLimits(f"{word}, {row.colour}", path, row)


def _order(subject: Subject, node: Node, line: _ProfileLimits) -> Iterator[Verdict]:
    limits, unit = line.limits, line.unit
    is_flat = limits.low == limits.high and limits.percent != CHANCE.high
    if is_flat or not low_at_most_high(limits.low, limits.high):
        yield subject.finding(
            node,
            f"{line.word}: Kmin {limits.low} {unit} is not below Kmax {limits.high} {unit}",
            "raise Kmax, or mark all packets from one depth on with a Pmax of 100",
            path=line.path,
        )
    if limits.percent not in CHANCE:
        yield subject.finding(
            node,
            f"{line.word}: Pmax is {limits.percent} %; it is {CHANCE.low} to {CHANCE.high} %",
            "choose a Pmax in that range",
            path=line.path,
        )


def _range(subject: Subject, node: Node, family: Family, line: _ProfileLimits) -> Iterator[Verdict]:
    ranges = {"percent": PERCENT, "bytes": family.ecn_bytes, "cells": family.ecn_cells}
    settable, unit = ranges[line.limits.unit], line.unit
    if settable is None or not settable.confirmed:
        yield subject.not_judged(
            node,
            f"the range of ECN thresholds in {unit} on {family.name} is not confirmed by the "
            "vendor",
            of_family(family, SHOWN_BY[line.limits.unit], "the range of ECN thresholds"),
            path=line.path,
        )
        return
    for name, value in (("Kmin", line.limits.low), ("Kmax", line.limits.high)):
        if value not in settable:
            yield subject.finding(
                node,
                f"{line.word}: {name} {value} {unit} cannot be set on {family.name} "
                f"({settable} {unit})",
                "choose a threshold in that range",
                path=line.path,
            )


@rule(
    "ECN004",
    severity=Severity.ERROR,
    source=f"{REFERENCE} («drop profile of queue», «ECN of queue»: a profile first; "
    "«a drop profile»: how many)",
    wants=(Need.FAMILY,),
)
def profiles_exist(subject: Subject) -> Iterator[Verdict]:
    """Drop profiles of ports exist, those for ECN with thresholds.

    A port takes the thresholds of a queue from the profile that «drop profile of queue: ..»
    names. Without a profile, or without «ECN limits» in it, «ECN of queue: ..» marks nothing.

    Example: queue 1 names drop profile gone, which does not exist
    Fix: Add the drop profile, or name one that exists and has «ECN limits».
    """
    for node in subject.network.nodes:
        yield from _references(subject, node)
        yield from _how_many(subject, node)


def _references(subject: Subject, node: Node) -> Iterator[Verdict]:
    for interface in node.device.interfaces:
        for row in interface.markings:
            what = ""
            how = f"add «drop profile of queue: {row.queue}» with a profile that has «ECN limits»"
            if row.profile is None:
                what = "has ECN without a drop profile"
            elif node.device.drop_profile(row.profile) is None:
                what = f"names drop profile {row.profile}, which does not exist"
                how = f"add «a drop profile: {row.profile}», or name another"
            elif row.ecn and limits_of(node, row) is None:
                what = f"has ECN by drop profile {row.profile}, which has no «ECN limits» line"
            if what:
                place = end_of(node, interface)
                message = f"queue {row.queue} {what}"
                yield subject.finding(place, message, how, path=f"markings[{row.queue}]")


def _how_many(subject: Subject, node: Node) -> Iterator[Verdict]:
    most = node.family.drop_profiles if node.family else None
    number = len({profile.name for profile in node.device.drop_profiles} | {"default"})
    if most is not None and most.confirmed and number > most.value:
        yield subject.finding(
            node,
            f"{number} drop profiles, the built-in one among them; {node.syntax} has "
            f"{most.value} at most",
            "let ports of several speeds share a profile",
            path="drop_profiles",
        )


@rule(
    "ECN005",
    severity=Severity.ERROR,
    source="«the vendor's reference», AI ECN («queue of AI-ECN»: AI and static ECN together) "
    "and «thresholds of ECN» (thresholds of a queue are AI's or static)",
    wants=(Need.FAMILY,),
)
def one_kind_of_marking(subject: Subject) -> Iterator[Verdict]:
    """No queue has both AI-ECN and static ECN; not too many have one.

    AI-ECN writes the thresholds of a queue while the switch runs, so that static thresholds of the
    same queue do not hold. V300 G2 marks four queues at most, both kinds together.

    Example: queue 4 is marked by AI-ECN and by static ECN, on 100GE1/0/1 and 2 more
    Fix: Remove static ECN from the ports, or the queue from AI-ECN.
    """
    for node in subject.network.nodes:
        static: dict[int, list[str]] = defaultdict(list)
        for interface, row in static_rows(node):
            static[row.queue].append(interface.name)
        if static:
            yield from _together(subject, node, static)


def _together(subject: Subject, node: Node, static: dict[int, list[str]]) -> Iterator[Verdict]:
    ai_ecn = node.device.ai_ecn
    learned = {row.queue for row in ai_ecn.queues} if ai_ecn.enabled else set()
    for queue in sorted(learned & static.keys()):
        ports = static[queue]
        yield subject.finding(
            node,
            f"queue {queue} is marked by AI-ECN and by static ECN, on {ports[0]}"
            + (f" and {len(ports) - 1} more" if len(ports) > 1 else ""),
            f"remove «ECN of queue: {queue}» of the ports, or «queue of AI-ECN: {queue}»",
            path=f"ai_ecn.queues[{queue}]",
        )
    most, marked = node.family.ecn_queues if node.family else None, learned | static.keys()
    if most is not None and len(marked) > most.value:
        yield subject.finding(
            node,
            f"queues {listing(sorted(marked))} are marked by AI-ECN or static ECN; {node.syntax} "
            f"marks {most.value} at most",
            "remove «ECN of queue: ..» of queues that carry no RoCE",
        )


@rule(
    "ECN006",
    severity=Severity.ERROR,
    source=f"{REFERENCE} («static ECN for the switch»: off by default, chip group 1 only)",
    needs=(Need.FAMILY,),
)
def ecn_is_enabled(subject: Subject) -> Iterator[Verdict]:
    """Static ECN is enabled where the family requires it.

    On V300 G1 the thresholds of ports have no effect without «static ECN for the switch» in the
    system view.

    Example: static ECN is not enabled for the switch, so queues are not marked on 100GE1/0/1 and 2
    more
    Fix: Add «static ECN for the switch».
    """
    for node in subject.network.nodes:
        if node.family is None or not node.family.ecn_enable or node.device.ecn_enabled:
            continue
        ports = list(dict.fromkeys(interface.name for interface, _ in static_rows(node)))
        if ports:
            yield subject.finding(
                node,
                "static ECN is not enabled for the switch, so queues are not marked on "
                f"{ports[0]}" + (f" and {len(ports) - 1} more" if len(ports) > 1 else ""),
                "add «static ECN for the switch» in the system view",
                path="ecn_enabled",
            )
