"""A plan as results for programs, as a table for approval, and as instructions to type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Protocol

from rocefort.change.differences_report import changes_report
from rocefort.models.base import Frozen
from rocefort.models.change.plan import Gate, Plan, Wave
from rocefort.models.wording import duration, listing
from rocefort.reports.blocks import Block, Code, Items, Note, Section, Table, Tone, columns
from rocefort.rollout.planning.plan_policy import PlanPolicy
from rocefort.rollout.planning.wave_windows import WaveWindow


class PlanOutput(Frozen):
    """Sealed plan, its file, and the files of its signature and its page, "" without one.

    policy: the policy that `apply` uses, and where it comes from. windows: of each wave, as if it
    began now; empty without a calendar.
    """

    file: str
    signature: str
    page: str = ""
    policy: PlanPolicy
    windows: tuple[WaveWindow, ...] = ()
    plan: Plan


class PlanWindows(Frozen):
    """Windows of the waves of a plan, as if each began at one time.

    at: the time, ISO 8601. calendars: files that decide; empty: any time will do.
    """

    plan: str
    at: str
    calendars: tuple[str, ...]
    windows: tuple[WaveWindow, ...]


class ProcedureStep(Frozen):
    """Manual step: a sentence, and the lines to type."""

    what: str
    commands: tuple[str, ...] = ()


class Procedure(Frozen):
    """Manual steps for one switch, in their order."""

    title: str
    steps: tuple[ProcedureStep, ...]


class Procedures(Frozen):
    """Manual procedures."""

    procedures: tuple[Procedure, ...]


class Approval(Frozen):
    """Approval of a wave; policy, rehearsal: of its run and its plan, as sentences.

    outside: user and reason of the request to begin outside its window; empty: none.
    """

    plan: str
    wave: str
    by: str
    outside: str = ""
    policy: str
    rehearsal: str


def approval_report(given: Approval) -> Code:
    """Show who approved a wave, the policy of its run, and the rehearsal of its plan."""
    approved = f"wave {given.wave} of plan {given.plan[:12]} approved by {given.by}"
    outside = [f"also outside its window, {given.outside}"] if given.outside else []
    return Code((approved, *outside, given.policy, f"rehearsal: {given.rehearsal}"))


@dataclass(frozen=True)
class Instruction:
    """Manual step: a sentence, and the lines to type, which are never wrapped."""

    what: str
    lines: tuple[str, ...] = ()


def procedure_of(title: str, steps: Iterable[Instruction]) -> Procedure:
    """Return a procedure for programs."""
    return Procedure(
        title=title, steps=tuple(ProcedureStep(what=s.what, commands=s.lines) for s in steps)
    )


def procedures_report(done: Procedures) -> Iterator[Block]:
    """Show procedures one after the other."""
    for each in done.procedures:
        steps = [Instruction(step.what, step.commands) for step in each.steps]
        yield from instructions_report(each.title, steps)


def instructions_report(title: str, steps: Sequence[Instruction]) -> Iterator[Block]:
    """Show a title and numbered steps; lines to type are indented below their step."""
    yield Note(title)
    for number, step in enumerate(steps, 1):
        yield Section(f"{number}. {step.what}", (Code(step.lines),) if step.lines else ())


CHECKS = (
    "checks of every switch: its own diff is the planned one, the configuration is read back, BGP "
    "sessions come back, a new login works, and the RDMA gate of its wave; then confirmed, read "
    "back, saved; changes with delayed effects soak on trial, then all checks run again"
)
DRAINED = (
    "a drained switch takes three changes, each in its own commit trial: stop announcements, "
    "change, start announcements"
)
HEADS = columns("wave", "switches", "change", "gate", wraps=("switches", "change", "gate"))


def stuck_text(plan: Plan) -> str:
    """Return how long a switch is on trial if its controller dies, and who can end the trial."""
    named, plain = map(duration, plan.trial_length)
    return (
        f"if the controller dies, a switch stays on trial for at most {named}, then restores its "
        "configuration itself; any session can end the trial earlier by its persist id; where the "
        f"release has no persist id, it stays for at most {plain}, and only the session that began "
        "the trial can end it"
    )


def plan_report(plan: Plan) -> Iterator[Block]:
    """Show waves with their switches, changes, effects on traffic and gates."""
    title = f"plan {plan.digest[:12]}: {plan.fabric}, commit trial {plan.trial_s} s"
    drained = [DRAINED] if any(wave.drained for wave in plan.waves) else []
    notes = (title, CHECKS, *drained, stuck_text(plan), drift_text(plan))
    yield Section("", tuple(map(Note, notes)))
    rows = tuple(
        (wave.name, ", ".join(wave.devices), _change(plan, wave), gate_text(wave.gate))
        for wave in plan.waves
    )
    yield Table(HEADS, rows)
    for wave in plan.waves:
        if details := tuple(_details(plan, wave)):
            yield Section(f"{wave.name}:", (Items(details),))
    for text, names in warnings_of(plan):
        yield Note(f"WARNING of {listing(names)}: {text}", Tone.WARNING)
    changed = sum(not change.empty for change in plan.changes)
    yield Note(f"{changed} of {len(plan.changes)} switches change")
    if plan.limit:
        yield Note(plan.limit.sentence)
        for text in plan.limit.warnings:
            yield Note(f"WARNING of the fabric that results: {text}", Tone.WARNING)


def sealed_report(done: PlanOutput) -> Iterator[Block]:
    """Show the changes of a plan, its waves, and its file."""
    yield from changes_report(done.plan.changes)
    yield from plan_report(done.plan)
    yield Note(done.policy.sentence(done.plan))
    yield from windows_blocks(done.windows, [each.file for each in done.policy.calendars])
    yield Note(f"sealed in {done.file}{_files(done)}")


def windows_blocks(windows: Sequence[WaveWindow], calendars: Sequence[str]) -> Iterator[Block]:
    """Show which waves the calendars would hold; nothing without a calendar."""
    if calendars:
        files = listing(PurePath(each).name for each in calendars)
        yield Note(f"windows by {files}, read again when a wave begins:")
        yield Items(tuple(window_lines(windows)))


def window_lines(windows: Sequence[WaveWindow]) -> Iterator[str]:
    """Yield a line for each result, with the waves that share it."""
    waves_of: defaultdict[str, list[str]] = defaultdict(list)
    for each in windows:
        result = each.sentence or f"may begin, and may take {duration(each.longest_s)}"
        waves_of[result].append(each.wave)
    for result, waves in waves_of.items():
        yield f"{', '.join(waves)}: {result}"


def plan_windows_report(done: PlanWindows) -> Iterator[Block]:
    """Show the windows of a plan at one time."""
    yield Note(f"plan {done.plan[:12]} at {done.at}")
    if not done.calendars:
        yield Note("the fabric has no rollout.calendar: a wave may begin at any time")
    yield from windows_blocks(done.windows, done.calendars)


def reverse_report(done: PlanOutput) -> Iterator[Block]:
    """Show the changes of a plan that reverts another one, and its file."""
    yield from changes_report(done.plan.changes)
    yield Note(done.policy.sentence(done.plan))
    apply = f"`rocefort apply {done.file}` carries it out"
    yield Section("", (Code((f"sealed in {done.file}{_files(done)}; {apply}",)),))


def _files(done: PlanOutput) -> str:
    signed = f", signed in {done.signature}" if done.signature else ""
    return f"{signed}, page in {done.page}" if done.page else signed


def _change(plan: Plan, wave: Wave) -> str:
    """Return the change kinds of a wave: `modifying, service-affecting`."""
    changes = [plan.change(device) for device in wave.devices]
    kinds = listing(dict.fromkeys(change.kind.value for change in changes))
    is_affecting = any(change.service_affecting for change in changes)
    return f"{kinds}, service-affecting" if is_affecting else kinds


def gate_text(gate: Gate) -> str:
    """Return the pairs of a gate, its limits, and leaves that no pair measures."""
    parts = [f"{pair.client} > {pair.server}" for pair in gate.pairs]
    if parts and gate.limit_gbps is not None:
        parts.append(f"limited to {gate.limit_gbps:g} Gb/s")
    if parts and gate.window is not None:
        parts.append(f"only {gate.window}")
    return ", ".join([*parts, *filter(None, [gate.skipped])])


def _details(plan: Plan, wave: Wave) -> Iterator[str]:
    drained = [each.meanwhile for each in wave.drained]
    yield from (f"drained first: {text}" for text in drained)
    yield from (f"meanwhile: {text}" for text in wave.unavailable if text not in drained)
    yield from (f"soaks on trial: {soak}" for soak in dict.fromkeys(_soaks(plan, wave)))


def _soaks(plan: Plan, wave: Wave) -> Iterator[str]:
    """Return the soak time of each switch with its reason."""
    for device in wave.devices:
        for part in plan.parts(wave, device):
            if part.soak:
                yield f"{device} {part.soak.seconds} s, {part.soak.why}"


def warnings_of(plan: Plan) -> Iterator[tuple[str, list[str]]]:
    """Yield each warning once, with its waves; also the limits of their gates."""
    waves_of: defaultdict[str, list[str]] = defaultdict(list)
    for wave in plan.waves:
        for text in (*wave.warnings, *_gate_warnings(wave.gate)):
            waves_of[text].append(wave.name)
    yield from waves_of.items()


def _gate_warnings(gate: Gate) -> Iterator[str]:
    """Yield what the rules of load leave unmeasured, and the time that a wave waits for."""
    for reason in gate.uncovered:
        yield (
            f"its RDMA gate is not covered: {reason}; `apply` refuses the plan, unless "
            "--allow-unmeasured REASON permits it"
        )
    if gate.pairs and gate.window is not None:
        yield (
            f"its RDMA gate runs {gate.window} only, on the clock of the machine that applies the "
            "plan: the wave begins if all of it fits, otherwise it waits for `resume`"
        )


def drift_text(plan: Plan) -> str:
    """Return the drift that the plan overwrites, if known."""
    if plan.adopted:
        return f"drift that is overwritten: {listing(plan.adopted)}"
    if plan.base:
        return f"no drift: every running line is in {plan.base} or the fabric, or stays"
    return (
        "not known: whether the plan overwrites manual changes; --base names the intent of the "
        "last rollout"
    )


class ReportedStep(Protocol):
    """Step of a procedure."""

    @property
    def what(self) -> str:
        """Instruction in a sentence."""

    @property
    def commands(self) -> tuple[str, ...]:
        """Lines to type."""


def procedure_report(
    device: str, why: Iterable[str], steps: Iterable[ReportedStep]
) -> Iterator[Block]:
    """Show the manual procedure for a change that no trial can make."""
    title = f"maintenance of {device}: {'; '.join(why)}"
    return instructions_report(title, [Instruction(step.what, step.commands) for step in steps])
