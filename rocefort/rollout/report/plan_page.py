"""A sealed plan as one HTML page: order, risk, changes of each switch, the way back."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from rocefort.change.differences_report import (
    DescribedChange,
    change_groups,
    condition_lines,
    edit_lines,
    headline,
    kept_line,
    service_lines,
    unjudged_lines,
)
from rocefort.models.change.plan import Change, Plan, Wave
from rocefort.models.wording import count_of, listing
from rocefort.reports.blocks import (
    Block,
    CollapsibleSection,
    Items,
    Note,
    Section,
    Tone,
    code,
    first_words,
)
from rocefort.reports.page_parts import PageColumn, PageTable, as_json_value
from rocefort.reports.wording import name_ranges
from rocefort.reports.writers.pages import PageHead, framed_page, html_of
from rocefort.rollout.planning.plan_policy import PlanPolicy
from rocefort.rollout.planning.wave_windows import WaveWindow
from rocefort.rollout.report.plan_report import (
    CHECKS,
    DRAINED,
    drift_text,
    gate_text,
    stuck_text,
    warnings_of,
    windows_blocks,
)
from rocefort.rollout.report.timeline import Stage, stages_of, wave_ranges

FILES = ("plan.css", "page_common.js", "page_tables.js", "page_data.js")
SHORT = 6  # names of one list
AFFECTS = "affects service"
OWN = "its switch"  # of a wave


@dataclass(frozen=True, slots=True)
class PlanPageContent:
    """Content of the page. file, signature: paths; signature is "" without one.

    made: passed in, so that the same content is always the same page. policy: as `apply` uses it.
    windows: of each wave, at that time.
    """

    plan: Plan
    file: str
    signature: str
    made: datetime
    policy: PlanPolicy
    windows: tuple[WaveWindow, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownStage:
    """A stage in words: its size, its switches, and what is special about it."""

    name: str
    size: str
    switches: str
    facts: tuple[str, ...]


def plan_page(content: PlanPageContent) -> str:
    """The page; the template escapes every value."""
    plan = content.plan
    tables = (_waves_table(plan), *_files_table(plan))
    sections = [
        ("order", "Order"),
        ("waves", "Waves"),
        ("changes", "Changes"),
        ("checks", "Checks and approvals"),
        ("back", "The way back"),
        *([("limit", "Left out")] if plan.limit else []),
        *[(table.id, table.title) for table in tables[1:]],
    ]
    affected = [change for change in plan.changes if change.service_affecting]
    unknown = any(change.unknown for change in plan.changes)
    effect = "effect not fully judged" if unknown else "does not affect service"
    head = PageHead(
        title=f"Plan for {plan.fabric}: {_size(plan)}",
        heading=f"Plan for {plan.fabric}",
        verdict=AFFECTS if affected else effect,
        tone="stopped" if affected or unknown else "clean",
        sizes=(_size(plan), f"{plan.trial_s:,} s commit trial"),
        tiles=list(_tiles(plan, len(affected))),
        provenance=list(_provenance(content)),
        sections=sections,
    )
    shown: dict[str, object] = {
        "alerts": list(_alerts(plan)),
        "stages": list(map(_shown, stages_of(plan))),
        "waves": tables[0],
        "files": tables[1:],
        "changes": html_of(*_changes(plan), level=3),
        "checks": html_of(*_checks(content), level=3),
        "back": html_of(*_back(content)),
        "limit": html_of(*_left_out(plan)) if plan.limit else "",
    }
    data = {"tables": as_json_value(tables)}
    return framed_page("plan.html.j2", head, shown, files=FILES, data=data)


def _size(plan: Plan) -> str:
    switches = sum(len(wave.devices) for wave in plan.waves)
    if not switches:
        return "no switch changes"
    verb = "changes" if switches == 1 else "change"
    of = count_of(switches, "switch")
    return f"{of} {verb} in {count_of(len(plan.waves), 'wave')}"


def _tiles(plan: Plan, affected: int) -> Iterator[tuple[str, str]]:
    changing = [change for change in plan.changes if not change.empty]
    if affected:
        yield "warning", f"{count_of(affected, 'switch')} affected in service"
    if drained := sum(len(wave.drained) for wave in plan.waves):
        yield "info", f"{drained:,} drained first"
    if number := len(list(_merged_warnings(plan))):
        yield "warning", count_of(number, "warning")
    if unjudged := sum(bool(change.unknown) for change in changing):
        yield "unjudged", f"lines of {count_of(unjudged, 'switch')} not judged"
    if plan.limit and (number := len(plan.limit.left_out)):
        yield "quiet", f"{count_of(number, 'differing switch')} left out"
    if unchanged := len(plan.changes) - len(changing):
        yield "quiet", f"{unchanged:,} unchanged"


def _provenance(content: PlanPageContent) -> Iterator[tuple[str, str]]:
    plan = content.plan
    proof = "" if content.signature else " (as the plan states, without a signature)"
    by = f" by {plan.author}{proof}" if plan.author else ""
    yield "Made", f"{content.made.astimezone(UTC):%Y-%m-%d %H:%M} UTC{by}, {plan.tool}"
    yield "Plan", code(plan.digest[:12])
    yield "File", content.file
    yield "Signature", content.signature or "none"
    yield "Fabric", plan.source
    if plan.undoes:
        yield "Undoes", plan.undoes
    if plan.base:
        yield "Base", plan.base
    if plan.rotated:
        yield "Secrets set again", listing(plan.rotated)


def _alerts(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """Kind, sentence and waves of each warning, and what the plan leaves out."""
    if plan.limit:
        yield "warning", plan.limit.sentence, ""
        for text in plan.limit.warnings:
            yield "warning", f"of the fabric that results: {text}", ""
    for text, names in _merged_warnings(plan):
        yield "warning", text, first_words(wave_ranges(plan, names), SHORT)
    if plan.adopted:
        yield "warning", drift_text(plan), ""


def _merged_warnings(plan: Plan) -> Iterator[tuple[str, set[str]]]:
    """Warnings with their waves; those that differ in the wave's own switch only are one."""
    devices = {wave.name: wave.devices for wave in plan.waves}
    merged: defaultdict[str, list[tuple[str, list[str]]]] = defaultdict(list)
    for text, names in warnings_of(plan):
        own = devices[names[0]]
        key = text.replace(own[0], OWN) if len(own) == len(names) == 1 else text
        merged[key].append((text, names))
    for key, alike in merged.items():
        yield key if alike[1:] else alike[0][0], {name for _, names in alike for name in names}


def _shown(stage: Stage) -> ShownStage:
    facts: list[str] = []
    drained = sum(len(wave.drained) for wave in stage.waves)
    if drained:
        facts.append("drained first")
    down = [text for wave in stage.waves for text in wave.unavailable if not wave.drained]
    if down:
        facts.append("its servers lose redundancy or service meanwhile")
    pairs = sum(len(wave.gate.pairs) for wave in stage.waves)
    facts.append(f"gate: {count_of(pairs, 'pair')} measured" if pairs else "no gate")
    names = first_words(name_ranges(stage.devices), SHORT)
    return ShownStage(stage.name, stage.size, names, tuple(facts))


def _waves_table(plan: Plan) -> PageTable:
    columns = (
        PageColumn("#", "number"),
        PageColumn("Wave"),
        PageColumn("Switches", "prose"),
        PageColumn("Change", "prose"),
        PageColumn("Gate", "prose"),
        PageColumn("Meanwhile", "prose"),
        PageColumn("Soak (s)", "number"),
    )
    rows = tuple(
        (
            number,
            wave.name,
            ", ".join(wave.devices),
            _kinds(plan, wave),
            gate_text(wave.gate) or "none",
            "; ".join(_away_texts(wave)) or "nothing is down",
            plan.soak_s(wave),
        )
        for number, wave in enumerate(plan.waves, 1)
    )
    note = "One wave after the other; a wave begins when all switches before it are confirmed."
    return PageTable("waves", "Waves", columns, rows, note)


def _kinds(plan: Plan, wave: Wave) -> str:
    changes = [plan.change(device) for device in wave.devices]
    kinds = listing(dict.fromkeys(change.kind.value for change in changes))
    affects = f", {AFFECTS}" if any(change.service_affecting for change in changes) else ""
    return kinds + affects


def _away_texts(wave: Wave) -> Iterator[str]:
    drained = [each.meanwhile for each in wave.drained]
    yield from (f"drained first: {text}" for text in drained)
    yield from (text for text in wave.unavailable if text not in drained)


def _changes(plan: Plan) -> Iterator[Block]:
    """Changes in the order of the waves; equal ones once."""
    described = (_described(plan, wave, device) for wave in plan.waves for device in wave.devices)
    groups = change_groups(described)
    yield from groups or (Note("No switch changes."),)
    if empty := [change.device for change in plan.changes if change.empty]:
        names = ", ".join(name_ranges(empty))
        yield CollapsibleSection(f"{count_of(len(empty), 'switch')} unchanged", (Note(names),))


def _described(plan: Plan, wave: Wave, device: str) -> DescribedChange:
    change = plan.change(device)
    effects = tuple(service_lines(change))
    soaks = dict.fromkeys(
        f"soaks on trial {part.soak.seconds:,} s: {part.soak.why}"
        for part in plan.parts(wave, device)
        if part.soak
    )
    stay = [kept_line(change)] if change.kept else []
    secrets = ["only secrets change, which a switch does not show"] if change.only_secrets else []
    return DescribedChange(
        device=device,
        head=headline(change) + (", drained first" if wave.drained_change(device) else ""),
        lines=(
            *edit_lines(change.edits),
            *unjudged_lines(change),
            *condition_lines(change),
            *soaks,
            *stay,
            *secrets,
        ),
        effects=effects,
        commands=tuple(_commands(plan, wave, device, change)),
        badge=AFFECTS if effects else "",
    )


def _commands(
    plan: Plan, wave: Wave, device: str, change: Change
) -> Iterator[tuple[str, tuple[str, ...]]]:
    parts = plan.parts(wave, device)
    if len(parts) == 1:
        yield "commands", change.patch
    else:
        names = ("commands of the drain", "commands while drained", "commands that end the drain")
        yield from ((name, part.patch) for name, part in zip(names, parts, strict=True))
    yield "the way back", change.reverse


def _checks(content: PlanPageContent) -> Iterator[Block]:
    plan = content.plan
    lines = [f"{text[0].upper()}{text[1:]}." for text in (CHECKS, stuck_text(plan))]
    if any(wave.drained for wave in plan.waves):
        lines.append(f"{DRAINED[0].upper()}{DRAINED[1:]}.")
    drift = drift_text(plan)
    lines.append(f"{drift[0].upper()}{drift[1:]}.")
    yield Items(tuple(lines))
    yield Section("Approvals", (Items(tuple(_approvals(content))),))
    if blocks := tuple(windows_blocks(content.windows, [c.file for c in content.policy.calendars])):
        yield Section("Windows", blocks)


def _approvals(content: PlanPageContent) -> Iterator[str]:
    policy, plan = content.policy.approvals, content.plan
    sentence = content.policy.sentence(plan)
    yield f"{sentence[0].upper()}{sentence[1:]}."
    if policy is None:
        return
    if plan.needs_approval(policy):
        command = shlex.join(["rocefort", "approve", content.file, "--wave", _first(plan)])
        yield f"Every wave waits for its approval: {code(command)}"
    else:
        yield "`rocefort apply --approve-each-wave` waits before every wave."


def _first(plan: Plan) -> str:
    return plan.waves[0].name if plan.waves else "WAVE"


def _back(content: PlanPageContent) -> Iterator[Block]:
    file = shlex.quote(content.file)
    yield Items(
        (
            f"During the rollout: `rocefort abort {file}` rolls the current wave back and stops.",
            "A failed check, gate or health check rolls its wave back; no further wave begins.",
            f"Afterwards: `rocefort rollback {file}` seals a plan with the commands back.",
            f"Without Rocefort: `rocefort plan-console {file}` prints console commands to keep.",
        )
    )


def _left_out(plan: Plan) -> Iterator[Block]:
    if plan.limit is None:
        return
    yield Note(f"{plan.limit.sentence[0].upper()}{plan.limit.sentence[1:]}.")
    for text in plan.limit.warnings:
        yield Note(text, Tone.WARNING)


def _files_table(plan: Plan) -> Iterator[PageTable]:
    if plan.files:
        columns = (PageColumn("File", "prose"), PageColumn("SHA-256"))
        rows = tuple((file.name, file.sha256) for file in plan.files)
        note = "`rocefort apply` refuses the plan if one of them has changed."
        yield PageTable("files", "Sealed files", columns, rows, note)
