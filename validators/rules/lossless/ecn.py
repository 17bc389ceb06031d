"""Rules on ECN: AI-ECN or valid static thresholds mark the lossless queue before PFC pauses it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from rocefort.models.device.lossless_queue import (
    MOST_AI_ECN_QUEUES,
    DropLimits,
    DropProfile,
    low_at_most_high,
)
from rocefort.models.finding import Severity
from rocefort.models.hardware.hardware import Family, Range
from rocefort.models.network.network import Node
from rocefort.models.wording import count_of, listing
from rocefort.validators.facts.ecn_grades import strict_kmin_limit
from rocefort.validators.facts.roce_ports import QUEUE_UNKNOWN, lossless_queues, paused_queues
from rocefort.validators.rules.lossless.ecn_margin import (
    end_of,
    judge_static,
    limits_of,
    static_rows,
)
from rocefort.validators.rules.missing import QUEUE, Missing, Need, of_family
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


CHOSEN = Missing(
    "Kmin of the queue, as AI-ECN chose it",
    "the limits that AI-ECN chose",
    cause="AI-ECN chooses Kmin and Kmax",
)


@rule(
    "ECN001",
    severity=Severity.ERROR,
    source="«the vendor's reference», AI ECN («queue of AI-ECN»: two queues at most, lossless "
    "first); HEPS: Network 2025, 5(4), 53 (ai_ecn_hpc on queue 4)",
)
def ai_ecn_on_lossless_queue(subject: Subject) -> Iterator[Verdict]:
    """ECN marks the lossless queue, and lossless queues only.

    ECN slows senders down before PFC has to stop them. Without ECN every congestion causes pauses.
    AI-ECN marks on all ports, static thresholds on ports with a drop profile. A switch has two
    AI-ECN queues at most, and PFC must pause each of them first.

    Example: AI-ECN is not enabled, so queue 4 is paused before any sender slows down
    Fix: Assign the lossless queue to AI-ECN, or give its ports a drop profile and static ECN;
    remove other queues.
    """
    if not lossless_queues(subject.network):
        yield subject.not_judged(None, QUEUE_UNKNOWN, QUEUE)
        return
    for node in subject.network.nodes:
        for queue in lossless_queues(subject.network, node.name):
            yield from _marked(subject, node, queue)
        yield from _beyond(subject, node)


def _marked(subject: Subject, node: Node, queue: int) -> Iterator[Verdict]:
    ai_ecn = node.device.ai_ecn
    assigned = [row.queue for row in ai_ecn.queues]
    static = list(static_rows(node))
    marked = {interface.name for interface, row in static if row.queue == queue}
    learned = ai_ecn.enabled and queue in assigned
    if marked and not learned:
        yield from _unmarked_ports(subject, node, queue, marked)
    if not ai_ecn.enabled and not marked:
        yield subject.finding(
            node,
            f"AI-ECN is not enabled, so queue {queue} is paused before any sender slows down",
            "add «AI-ECN» under «the AI service», «its AI-ECN»",
            path="ai_ecn",
        )
    if queue not in assigned and not marked:
        yield subject.finding(
            node,
            f"AI-ECN does not mark lossless queue {queue}; it is assigned to "
            + (f"queue {listing(assigned)}" if assigned else "no queue"),
            f"add «queue of AI-ECN: {queue}» with its model under ai-ecn",
            path="ai_ecn.queues",
        )


def _beyond(subject: Subject, node: Node) -> Iterator[Verdict]:
    """Marks of more queues than AI-ECN takes, and of queues that are not lossless."""
    assigned = [row.queue for row in node.device.ai_ecn.queues]
    static = list(static_rows(node))
    if len(assigned) > MOST_AI_ECN_QUEUES:
        yield subject.finding(
            node,
            f"AI-ECN is assigned to queues {listing(assigned)}; a switch takes "
            f"{MOST_AI_ECN_QUEUES} at most",
            "remove «queue of AI-ECN» of the queues that are not lossless",
            path="ai_ecn.queues",
        )
    for other in sorted(set(assigned) - paused_queues(node)):
        yield subject.finding(
            node,
            f"AI-ECN is assigned to queue {other}, which PFC does not pause",
            f"pause queue {other} in the PFC profile, or remove its «queue of AI-ECN»",
            path=f"ai_ecn.queues[{other}]",
        )
    for other in sorted({row.queue for _, row in static} - paused_queues(node)):
        ports = [interface.name for interface, row in static if row.queue == other]
        yield subject.finding(
            node,
            f"static ECN marks queue {other}, which PFC does not pause, on {_port_list(ports)}",
            f"pause queue {other} in the PFC profile, or remove its «ECN of queue: {other}»",
            path=f"interfaces[{ports[0]}].markings[{other}]",
            severity=Severity.WARNING,  # TCP may be marked on purpose
        )


def _unmarked_ports(
    subject: Subject, node: Node, queue: int, marked: set[str]
) -> Iterator[Verdict]:
    bare = [i.name for i in node.device.interfaces if i.pfc and i.name not in marked]
    if bare:
        yield subject.finding(
            node,
            f"static ECN does not mark lossless queue {queue} on {_port_list(bare)}",
            f"add «drop profile of queue: {queue}» and «ECN of queue: {queue}» there",
            path=f"interfaces[{bare[0]}].markings",
        )


def _port_list(ports: list[str]) -> str:
    return ports[0] + (f" and {len(ports) - 1} more" if len(ports) > 1 else "")


@rule(
    "ECN002",
    severity=Severity.WARNING,
    source="DCQCN, SIGCOMM 2015, section 4 (ECN before PFC); «the vendor's reference», AI ECN "
    "(the model chooses the thresholds)",
)
def marks_before_pauses(subject: Subject) -> Iterator[Verdict]:
    """ECN marks before PFC pauses.

    Senders should slow down before PFC stops them. The traffic of one ingress may spread over all
    egresses of a switch, and each egress may hold just under Kmin unmarked. Marks can come first
    for any traffic only if Kmin is below xoff divided by the number of lossless ports. AI-ECN
    chooses its thresholds while it runs: compare «the limits that AI-ECN chose» on the switch with
    the limit in the message.

    Static thresholds get one of three grades. Strict: Kmin is below that limit, so that
    marks may begin before a pause; there is no finding. It promises no mark: the chance of one
    rises from 0 at Kmin to Pmax at Kmax, and is 1 above it. Single-egress: Kmax is below xoff, so
    that marks come first where the traffic of an ingress leaves by one egress. Dynamic: marks slow
    down a many-to-one from all other lossless ports before the queue exceeds the sum of their
    xoff, if senders are marked at Kmin and slow down within 20 us.

    Example: Kmin 200 KB, Kmax 600 KB: PFC may pause before ECN marks (no grade holds)
    Fix: Lower Kmax below xoff, and Kmin with it; or accept the grade.
    """
    if not lossless_queues(subject.network):
        yield subject.not_judged(None, QUEUE_UNKNOWN, QUEUE)
        return
    queues = ((s, q) for s in subject.switches for q in lossless_queues(subject.network, s.name))
    for switch, queue in queues:
        node = switch.node
        ai_ecn = node.device.ai_ecn
        assigned = next((row for row in ai_ecn.queues if row.queue == queue), None)
        if ai_ecn.enabled and assigned is not None:  # else ECN001 reports it
            yield subject.not_judged(
                node,
                f"AI-ECN ({assigned.model or 'its default model'}) chooses Kmin and Kmax"
                f"{_limit(node, queue)}",
                CHOSEN,
                path="ai_ecn",
            )
        else:
            intent = subject.network.lossless_of(node.name)
            yield from judge_static(subject, switch, queue, intent)


def _limit(node: Node, queue: int) -> str:
    """Limit of Kmin to compare with the switch's output; empty without a static xoff."""
    ports = [interface for interface in node.device.interfaces if interface.pfc]
    rows = (row for port in ports for row in port.thresholds if row.queue == queue)
    xoff = min((row.xoff_kbytes for row in rows), default=None)
    if xoff is None:
        return ""
    limit = float(strict_kmin_limit(xoff, len(ports)))
    return (
        f"; marks can come first for any traffic only while Kmin is below {limit:.4g} KB "
        f"(xoff {xoff} KB over {count_of(len(ports), 'lossless port')})"
    )
