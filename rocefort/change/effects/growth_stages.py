"""Stages of a growing fabric; the routing engine proves for each that no traffic is lost.

One spine after the other, then all leaves: isolated (configured, no cable to the existing fabric),
cabled (existing switches have no configuration for it), sessions up (it announces nothing), taking
traffic. A switch takes no traffic while the first node of its export policy denies every route.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocefort.change.effects.drain import drain_commands, remaining_capacity, with_drained
from rocefort.change.growth_results import GrowthStage, StagedGrowth
from rocefort.dialects.network_text import read_back, render_all
from rocefort.models.network.network import Link, Network, Node, SwitchRole
from rocefort.models.wording import count_of
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing.reachability_classes import reachability_of
from rocefort.validators.routing_results import Reachability, SessionStatus

ISOLATED, CABLED, SESSIONS, TRAFFIC = "isolated", "cabled", "sessions up", "taking traffic"


@dataclass(frozen=True)
class GrowthStep:
    """One part of a growth: the Networks without and with its switches."""

    before: Network
    after: Network
    new: tuple[str, ...]
    title: str


@dataclass(frozen=True)
class _StageJudge:
    """Check that every state keeps the server pairs of the beginning."""

    start: Reachability

    def stage(
        self, network: Network, title: str, spines: int, serving: Sequence[Node]
    ) -> GrowthStage:
        """Solve a state. spines, serving: spines and leaves that take traffic."""
        solution = analyse(network)
        capacity = remaining_capacity(solution, self.start, {leaf.name for leaf in serving})
        up = sum(session.status is SessionStatus.ESTABLISHED for session in solution.sessions)
        least = spines * min((leaf.links_per_pair or 1 for leaf in serving), default=1)
        wrong = [f"{count_of(capacity.lost, 'server pair')} lost"] if capacity.lost else []
        if capacity.widths and capacity.least < least:
            wrong.append(f"ECMP width {capacity.least} instead of {least}")
        return GrowthStage(
            title=title,
            sessions=(up, len(solution.sessions)),
            in_service=(spines, len(serving)),
            widths=capacity.widths,
            pairs=(capacity.now.delivered, capacity.now.pairs),
            lost=capacity.lost,
            wrong=tuple(wrong),
        )


def staged(steps: Sequence[GrowthStep]) -> StagedGrowth:
    """Every checked state of a growth; raises Refused if the routing engine refuses a state."""
    first = _from_text(steps[0].before)
    judge = _StageJudge(reachability_of(analyse(first).trips))
    serving = first.role(SwitchRole.LEAF)
    spines = len(first.role(SwitchRole.SPINE))
    stages = [judge.stage(first, "as it is", spines, serving)]
    for step in steps:
        stages += _states(judge, step)
    drain, lift = drain_commands(steps[0].after.by_name[steps[0].new[0]])
    return StagedGrowth(fabric=first.name, stages=tuple(stages), drain=drain, lift=lift)


def _states(judge: _StageJudge, step: GrowthStep) -> Iterator[GrowthStage]:
    old, final = step.before, _from_text(step.after)
    drained = _from_text(with_drained(step.after, step.new))
    old_devices = {node.name: node.device for node in old.nodes}
    waiting = drained.model_copy(
        update={
            "nodes": tuple(
                node.model_copy(update={"device": old_devices.get(node.name, node.device)})
                for node in drained.nodes
            )
        }
    )
    apart = [link for link in final.links or () if not _joins_old_and_new(link, step.new)]
    isolated = waiting.model_copy(update={"links": tuple(apart)})
    spines, leaves = len(old.role(SwitchRole.SPINE)), old.role(SwitchRole.LEAF)
    for state, word in ((isolated, ISOLATED), (waiting, CABLED), (drained, SESSIONS)):
        yield judge.stage(state, f"{step.title} {word}", spines, leaves)
    all_spines, all_leaves = len(final.role(SwitchRole.SPINE)), final.role(SwitchRole.LEAF)
    yield judge.stage(final, f"{step.title} {TRAFFIC}", all_spines, all_leaves)


def _joins_old_and_new(link: Link, new: Sequence[str]) -> bool:
    return (link.a.device in new) != (link.b.device in new)


def _from_text(network: Network) -> Network:
    """Return the Network with every Device parsed from its own text."""
    return read_back(network, render_all(network))
