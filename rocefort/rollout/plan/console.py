"""Rollback of a switch at its console, from any state of a rollout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from rocefort.dialects.words import in_words, line
from rocefort.models.change.plan import Change, Plan
from rocefort.rollout.outputs import Procedure
from rocefort.rollout.report.instructions import Instruction, procedure_of


def console_procedure(plan: Plan, device: str, persist: str) -> Procedure:
    """Instructions that roll one switch back at its console, for every state of the rollout.

    persist: persist id of the plan's trials, with RUN in place of the run's part.
    """
    title = f"rollback of {device}, plan {plan.digest[:12]} of {plan.fabric}"
    return procedure_of(title, _rollback_steps(plan, device, persist))


def _rollback_steps(plan: Plan, device: str, persist: str) -> Iterator[Instruction]:
    change = plan.change(device)
    if change.empty:
        yield Instruction("The plan does not change this switch.")
        return
    yield Instruction(
        in_words(
            "While a trial is pending, end it and answer y: nothing else is needed. Replace RUN by "
            f"the text after {plan.digest[:12]}/ and before a comma in the newest commit's "
            f"description. The trial ends automatically within {plan.trial_s} s. A release without "
            "persist ids takes «end of a trial» alone.",
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
    yield _typed("Confirmed: changed." + (" No longer drained." if drained else ""), [change])
    yield Instruction(
        "Check that it runs its configuration from before the change; the rollout stores that "
        "text beside its journal.",
        (line(change, "what the newest commit changed"), line(change, "state of BGP peers")),
    )


def _typed(state: str, changes: Sequence[Change]) -> Instruction:
    """Commands that undo changes, the last change first."""
    typed = partial(line, changes[0])
    lines = [text.rstrip() for change in reversed(changes) for text in change.reverse]
    secret = any("<secret " in text for text in lines)
    note = " Type the secret instead of <secret ..>; no plan contains it." if secret else ""
    return Instruction(
        f"{state} Paste this, and answer y to its questions.{note}",
        (typed("configure"), *lines, typed("commit"), typed("leave"), typed("save")),
    )
