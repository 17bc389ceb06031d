"""The way back of a switch at its console, from whatever state a rollout has left it in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from rocefort.dialects.words import in_words, line
from rocefort.models.rollout.plan import Change, Plan
from rocefort.reports.blocks import Block
from rocefort.reports.rollout.instructions import Instruction, instructions_report


def console_report(plan: Plan, device: str, persist: str) -> Iterator[Block]:
    """What takes one switch back at its console, whatever state the rollout has left it in.

    persist: the id of the plan's trials, with RUN for what the run adds that began them.
    """
    title = f"the way back of {device}, plan {plan.digest[:12]} of {plan.fabric}"
    return instructions_report(title, list(_ways_back(plan, device, persist)))


def _ways_back(plan: Plan, device: str, persist: str) -> Iterator[Instruction]:
    change = plan.change(device)
    if change.empty:
        yield Instruction("The plan does not change this switch.")
        return
    yield Instruction(
        in_words(
            "While a trial is pending, end it and answer y: that is all. In the place of RUN type "
            f"what the newest commit's description has behind {plan.digest[:12]}/ and before a "
            f"comma. It ends by itself within {plan.trial_s} s, too. A release without persist ids "
            "takes «end of a trial» alone.",
            change,
        ),
        (
            line(change, "state of the trial"),
            line(change, "the newest commit"),
            line(change, "configure"),
            line(change, "end of trial", persist),
        ),
    )
    wave = next((wave for wave in plan.waves if device in wave.devices), None)
    drained = wave.drained_change(device) if wave else None
    if drained:
        yield _typed("Confirmed: drained, and not changed yet.", [drained.drain])
        yield _typed("Confirmed: drained and changed.", [drained.drain, drained.change])
    yield _typed("Confirmed: changed." + (" Not drained any more." if drained else ""), [change])
    yield Instruction(
        "Look whether it runs what it ran before; the rollout keeps the whole text of that beside "
        "its journal.",
        (line(change, "what the newest commit changed"), line(change, "state of BGP peers")),
    )


def _typed(state: str, changes: Sequence[Change]) -> Instruction:
    """What to paste to undo changes, the last one first."""
    typed = partial(line, changes[0])
    lines = [text.rstrip() for change in reversed(changes) for text in change.reverse]
    secret = any("<secret " in text for text in lines)
    note = " In the place of <secret ..> type the secret, which no plan holds." if secret else ""
    return Instruction(
        f"{state} Paste this, and answer y where it asks.{note}",
        (typed("configure"), *lines, typed("commit"), typed("leave"), typed("save")),
    )
