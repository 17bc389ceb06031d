"""A plan as a table that a person can approve, and the procedures for what it cannot do."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from rocefort.models.change import Gate, Plan, Wave
from rocefort.models.wording import listing
from rocefort.reports.blocks import Block
from rocefort.reports.instructions import Instruction, instructions_report
from rocefort.reports.wording import WIDTH

CHECKS = (
    "checks of every switch: its own diff is the planned one, what it runs is read back, BGP "
    "sessions come back, a new login works, and the RDMA gate of its wave; then confirmed, read "
    "back, saved; what can break later than at once soaks on trial, then all checks are made again"
)
DRAINED = (
    "a switch that is drained takes three changes, each under a commit trial of its own: it "
    "announces nothing, it changes, it announces again"
)
HEADS = ("wave", "switches", "change", "gate")
COLUMNS = (15, 19, 20, WIDTH - 54)  # with the blanks between them


def plan_text(plan: Plan) -> str:
    """Waves with their switches, what each change is, who feels it, and its gate."""
    changed = sum(not change.empty for change in plan.changes)
    lines = [
        f"plan {plan.digest[:12]}  fabric {plan.fabric}  commit trial {plan.trial_s} s",
        *_indented(CHECKS, first=""),
        *(_indented(DRAINED, first="") if any(wave.drained for wave in plan.waves) else []),
        *_indented(_owned(plan), first=""),
        *_row(HEADS),
    ]
    for wave in plan.waves:
        cells = (wave.name, ", ".join(wave.devices), _change(plan, wave), _gate(wave.gate))
        lines += _row(cells)
        lines += _told(plan, wave)
    lines += _warnings(plan.waves)
    lines.append(f"{changed} of {len(plan.changes)} switches change")
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> Iterator[str]:
    parts = [
        textwrap.wrap(cell, width - 1, break_long_words=False) or [""]
        for cell, width in zip(cells, COLUMNS, strict=True)
    ]
    for number in range(max(map(len, parts))):
        row = (part[number] if number < len(part) else "" for part in parts)
        yield "".join(f"{cell:<{w}}" for cell, w in zip(row, COLUMNS, strict=True)).rstrip()


def _change(plan: Plan, wave: Wave) -> str:
    """`modifying, felt by traffic`."""
    changes = [plan.change(device) for device in wave.devices]
    kinds = listing(dict.fromkeys(change.kind.value for change in changes))
    felt = any(change.service_affecting for change in changes)
    return f"{kinds}, felt by traffic" if felt else kinds


def _gate(gate: Gate) -> str:
    pairs = [f"{pair.client} > {pair.server}" for pair in gate.pairs]
    return ", ".join([*pairs, *(f"not measured: {reason}" for reason in gate.unmeasured)])


def _told(plan: Plan, wave: Wave) -> Iterator[str]:
    drained = [each.meanwhile for each in wave.drained]
    yield from (line for text in drained for line in _indented(f"drained first: {text}"))
    for text in wave.unavailable:
        if text not in drained:
            yield from _indented(f"meanwhile: {text}")
    for soak in dict.fromkeys(_soaks(plan, wave)):
        yield from _indented(f"soaks on trial: {soak}")


def _soaks(plan: Plan, wave: Wave) -> Iterator[str]:
    """How long each switch waits before its checks are made again, and why."""
    for device in wave.devices:
        for part in plan.parts(wave, device):
            if part.soak:
                yield f"{device} {part.soak.seconds} s, {part.soak.why}"


def _warnings(waves: Iterable[Wave]) -> Iterator[str]:
    """Each warning once, with the waves that it is about."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for wave in waves:
        for text in wave.warnings:
            found[text].append(wave.name)
    for text, names in found.items():
        yield from _indented(f"WARNING of {listing(names)}: {text}", first="")


def _indented(text: str, first: str = "  ") -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=f"{first}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _owned(plan: Plan) -> str:
    """What is known of drift."""
    if plan.adopted:
        return f"drift that is overwritten: {listing(plan.adopted)}"
    if plan.base:
        return f"nothing runs that neither {plan.base} nor the fabric has, but lines that stay"
    return (
        "not known: whether somebody typed what is overwritten; --base names the intent that was "
        "rolled out last"
    )


class Step(Protocol):
    """One step of a procedure."""

    @property
    def what(self) -> str:
        """What to do."""

    @property
    def commands(self) -> tuple[str, ...]:
        """What to type."""


def procedure_report(device: str, why: Iterable[str], steps: Iterable[Step]) -> Iterator[Block]:
    """How to make by hand what no trial can make."""
    title = f"maintenance of {device}: {'; '.join(why)}"
    return instructions_report(title, [Instruction(step.what, step.commands) for step in steps])
