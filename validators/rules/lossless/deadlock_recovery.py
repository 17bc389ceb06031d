"""Rule on the packets of a deadlocked queue during its recovery, in fabrics of several families."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.models.finding import Severity
from rocefort.models.wording import names_text
from rocefort.validators.rules.missing import Need, of_family
from rocefort.validators.rules.registry import Subject, Verdict, rule


@rule(
    "PFC008",
    severity=Severity.ERROR,
    source="«the vendor's guide», Configuring PFC Deadlock Detection; "
    "«the vendor's reference», DCB, «the recovery behavior»",
    wants=(Need.FAMILY,),
)
def equal_recovery(subject: Subject) -> Iterator[Verdict]:
    """All switches discard during recovery beside a G1 switch.

    While a deadlocked queue recovers, it ignores pauses. A V300 G1 switch discards its packets by
    default, and a V300 G2 switch forwards them. The vendor requires discarding on every switch of
    a PFC network that has a G1 switch. What a V200 switch does is not published.

    Example: packets of a deadlocked queue are forwarded; every switch must discard them beside
    V300 G1 (leaf01 and leaf02)
    Fix: Add «discarding during recovery» to the switch.
    """
    pausing = [n for n in subject.network.nodes if any(i.pfc for i in n.device.interfaces)]
    defaults = {n.name: n.family.recovery_behavior for n in pausing if n.family is not None}
    group_1 = [name for name, default in defaults.items() if default == "discard"]
    for node in pausing if group_1 else ():
        behavior = node.device.pfc.recovery_behavior or defaults.get(node.name)
        if node.family is not None and behavior is None:
            yield subject.not_judged(
                node,
                f"what {node.family.name} does with packets of a deadlocked queue is not published",
                of_family(node.family, "recovery_behavior", "the behavior during recovery"),
            )
        elif behavior == "forwarding":
            yield subject.finding(
                node,
                "packets of a deadlocked queue are forwarded; every switch must discard them "
                f"beside V300 G1 ({names_text(group_1)})",
                "add «discarding during recovery»",
                path="pfc.recovery_behavior",
            )
