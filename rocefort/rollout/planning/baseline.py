"""Reconstruct the baseline and target configuration of each switch from the plan.

A plan does not store texts. It has what leads from one to the other: the fabric's own text, the
patches, the rollback commands, and the unowned lines. The result is compared with the digests of
the sealed plan: it has the meaning of the baseline, or it is not used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rocefort.base.errors import BadInput, Problem, Refused
from rocefort.change.effects.switch_configs import running_digest
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.network_text import render_node
from rocefort.models.change.plan import Change, Plan
from rocefort.models.hardware.hardware import Family
from rocefort.models.network.network import Network, Node

NO_BASELINE = "its baseline configuration does not follow from the plan"
OTHER_TEXT = "its running text differs from the one that the plan was made against"
HOW = "name a directory with its running configuration: --running DIR"


@dataclass(frozen=True)
class PlannedTexts:
    """Text of every switch before a plan and after it.

    backwards: the plan leads away from its fabric's intent, as a rollback plan does.
    """

    before: Mapping[str, str]
    after: Mapping[str, str]
    backwards: bool = False


def both_sides(
    plan: Plan, network: Network, running: Mapping[str, str] | None = None
) -> PlannedTexts:
    """Texts before and after a plan of this network. running: stored running texts, if any.

    Raises Refused with every switch whose text differs from the one the plan was made against.
    """
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    problems, backwards = [], False
    for node in network.nodes:
        change, family = plan.change(node.name), _family(node)
        intended = _with_kept(node, change.kept, family)
        stored = None if running is None else running.get(node.name, "")
        old = _baseline_text(node, intended, change, family) if stored is None else stored
        if old is None or not _ran(old, change, family):
            problems.append(Problem(node.name, NO_BASELINE if stored is None else OTHER_TEXT, HOW))
            continue
        before[node.name] = old
        after[node.name] = _applied(old, change.patch, change, family)
        backwards |= not (change.empty or change.only_secrets) and _ran(intended, change, family)
    if problems:
        raise Refused(problems=problems)
    return PlannedTexts(before, after, backwards)


def _family(node: Node) -> Family:
    if node.family is None:
        raise Refused("its syntax family is not known", where=node.name, how="name its hardware")
    return node.family


def _with_kept(node: Node, kept: Iterable[str], family: Family) -> str:
    """Return the fabric's own text of a switch, with unowned lines."""
    lines = [line.split(" / ") for line in kept]
    return dialect_of(family).with_kept(render_node(node), lines, family)


def _baseline_text(node: Node, intended: str, change: Change, family: Family) -> str | None:
    """Baseline text from the target text and the rollback commands; None if they do not fit."""
    if _ran(intended, change, family):
        return intended
    if change.unowned:
        intended = _with_kept(node, change.kept_after, family)
    try:
        return _applied(intended, change.reverse, change, family)
    except BadInput:
        return None


def _applied(text: str, commands: Iterable[str], change: Change, family: Family) -> str:
    """Return a text after commands of a change, with lines of no model that they set."""
    templates = (line[2:] for line in change.unjudged)
    lines = [line.split(" / ") for line in (*templates, *change.kept, *change.kept_after)]
    return dialect_of(family).applied(text, commands, family, lines)


def _ran(text: str, change: Change, family: Family) -> bool:
    """Whether a text has the meaning of the plan's baseline."""
    parsed = dialect_of(family).parse(text, f"{change.device} (before)")
    return running_digest(parsed, family) == change.running_digest
