"""Rules on lines that a commit does not complete, and on cards that drop above the ECN threshold.

Such a line needs a restart, or no rollback removes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocefort.dialects.changes import conditions_of
from rocefort.dialects.choose import dialect_of
from rocefort.models.finding import Severity
from rocefort.models.hardware.hardware import ConditionedLine, Family, Requirement
from rocefort.models.network.network import Node
from rocefort.models.wording import count_of, listing
from rocefort.validators.rules.missing import Need
from rocefort.validators.rules.registry import Subject, Verdict, rule

# A saved text has met the other conditions, for example an idle port while a line is entered.
LASTING = frozenset(
    {
        Requirement.SAVE,
        Requirement.REBOOT,
        Requirement.RESTART_FREES,
        Requirement.NO_ROLLBACK,
    }
)


@rule(
    "TXT003",
    severity=Severity.INFO,
    source="conditions of the syntax family in the hardware data, each with its own source",
    needs=(Need.FAMILY,),
)
def more_than_a_commit(subject: Subject) -> Iterator[Verdict]:
    """Lines that need a restart, or that no rollback removes.

    A commit trial cannot test such a line. Either the line has no effect until the switch restarts,
    or its effect remains after the trial ends.

    Fix: Set it by hand in a maintenance window before a rollout; a plan lists such lines of its
    change.
    """
    for node in subject.network.nodes:
        if node.family is not None:
            yield from _lasting(subject, node, node.family)


def _lasting(subject: Subject, node: Node, family: Family) -> Iterator[Verdict]:
    for line in node.unmodelled:
        for condition in _conditions_of(family, line.text):
            yield subject.finding(
                node,
                str(condition),
                "set it by hand, and restart the switch, before a rollout",
                path=f"unmodelled[{line.line}]",
            )
    if node.device.splits:
        first = node.device.splits[0]
        split = dialect_of(family).split_line(first.port, first.type)
        for condition in _conditions_of(family, split):
            yield subject.finding(
                node,
                f"{count_of(len(node.device.splits), 'port')} split; {condition}",
                "split ports by hand before a rollout: a commit trial cannot test it",
                path=f"splits[{first.port}]",
            )


def _conditions_of(family: Family, line: str) -> tuple[ConditionedLine, ...]:
    return tuple(c for c in conditions_of([line], family) if LASTING & set(c.needs))


@rule(
    "ECN007",
    severity=Severity.WARNING,
    source="vendor guide Configuring ECN, CE12800 and CE12800E V200: ED-E, EG-E and EGA-E cards",
    needs=(Need.HARDWARE,),
)
def marked_not_dropped(subject: Subject) -> Iterator[Verdict]:
    """Packets above the upper ECN threshold are marked, not dropped.

    Most switches mark every packet above the upper threshold. Some cards of a CE12800E drop these
    packets: RoCE loses packets there although its queue is lossless.

    Example: the 36CQ-EG-E in slot 1, with lossless ports, drops packets above the upper ECN
    threshold, and does not mark them
    Fix: Use other cards for RoCE, or keep the upper threshold above the depth at which PFC pauses.
    """
    for node in subject.network.nodes:
        cards = node.hardware.cards if node.hardware else ()
        dropping = {c.slot: c.model for c in cards if c.above_upper_ecn is not None}
        if not dropping:
            continue
        used = {slot for i in node.device.interfaces if i.pfc and (slot := _slot(i.name))}
        if slots := [slot for slot in dropping if slot in used]:
            models = listing(dict.fromkeys(dropping[slot] for slot in slots))
            yield subject.finding(
                node,
                f"the {models} in {'slots' if len(slots) > 1 else 'slot'} {listing(slots)}, with "
                "lossless ports, drops packets above the upper ECN threshold, and does not mark "
                "them",
                "use other cards for RoCE, or keep the threshold above where PFC pauses",
            )


def _slot(interface: str) -> str | None:
    match = re.match(r"\d+GE(\d+)/", interface)
    return match[1] if match else None
