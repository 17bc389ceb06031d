"""What switches ran when a plan was made, and what they are to run, of the plan alone.

A plan does not keep texts, but all that leads from one to the other: the fabric's own text, the
patches, the way back, and the lines that nobody owns. What comes of them is compared with the
digests that the plan was sealed with, so it is what ran in meaning, or nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rocefort.dialects.choose import dialect_of
from rocefort.dialects.network_text import render_node
from rocefort.errors import BadInput, Problem, Refused
from rocefort.models.hardware.hardware import Family
from rocefort.models.network.network import Network, Node
from rocefort.models.rollout.plan import Change, Plan
from rocefort.rollout.planning.plan import running_digest

UNTOLD = "what it ran before the plan cannot be told from the plan"
ANOTHER = "what is named as running is not what the plan was made against"
HOW = "name a directory of what ran: --running DIR"


@dataclass(frozen=True)
class PlannedTexts:
    """Text of every switch before a plan and after it.

    backwards: the plan leads away from what its fabric intends, as one that takes another back.
    """

    before: Mapping[str, str]
    after: Mapping[str, str]
    backwards: bool = False


def both_sides(
    plan: Plan, network: Network, running: Mapping[str, str] | None = None
) -> PlannedTexts:
    """Texts before and after a plan of this network; running: what ran, where somebody kept it.

    Raises Refused with every switch whose text is not the one that the plan was made against.
    """
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    problems, backwards = [], False
    for node in network.nodes:
        change, family = plan.change(node.name), _family(node)
        kept = [line.split(" / ") for line in change.kept]
        intended = dialect_of(family).with_kept(render_node(node), kept, family)
        named = None if running is None else running.get(node.name, "")
        old = _baseline_text(intended, change, family) if named is None else named
        if old is None or not _ran(old, change, family):
            problems.append(Problem(node.name, UNTOLD if named is None else ANOTHER, HOW))
            continue
        before[node.name] = old
        after[node.name] = dialect_of(family).applied(old, change.patch, family)
        backwards |= not (change.empty or change.only_secrets) and _ran(intended, change, family)
    if problems:
        raise Refused(problems=problems)
    return PlannedTexts(before, after, backwards)


def _family(node: Node) -> Family:
    if node.family is None:
        raise Refused("its syntax family is not known", where=node.name, how="name its hardware")
    return node.family


def _baseline_text(intended: str, change: Change, family: Family) -> str | None:
    """What ran, by the way back from what is intended; None where that leads nowhere."""
    if _ran(intended, change, family):
        return intended
    try:
        return dialect_of(family).applied(intended, change.reverse, family)
    except BadInput:
        return None


def _ran(text: str, change: Change, family: Family) -> bool:
    """Whether a text means what a switch ran when the plan was made."""
    parsed = dialect_of(family).parse(text, f"{change.device} (before)")
    return running_digest(parsed, family) == change.running_digest
