"""Removal and rename of switches and servers: what goes, what stays, and the steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocefort.change.growth_results import Removal, Renaming
from rocefort.change.report.growth import (
    addition_text,
    additions_text,
    cable_table,
    capacity_blocks,
    check_text,
    kept_text,
    proof_table,
    size_text,
    switch_table,
)
from rocefort.models.wording import count_of, listing
from rocefort.reports.blocks import Block, Items, Note, Section, Table, Tone, columns
from rocefort.reports.wording import name_ranges
from rocefort.verification.review.advice_section import advice_section


def removal_report(removal: Removal, *, written: bool) -> Iterator[Block]:
    """Show the removal; written: whether the file was changed."""
    lines = count_of(removal.lines, "line")
    kept = f"every other byte kept{', except:' if removal.beside else ''}"
    done = f"{lines} removed, {kept}"
    would = f"not written; {lines} would be removed, {kept}"
    yield Note(
        f"{removal.fabric} shrinks: {size_text(removal.before)} -> {size_text(removal.after)}"
    )
    yield Note(f"{removal.file}: {done if written else would}")
    comments = (f"a comment above a removed item stays: {text}" for text in removal.comments)
    yield from _notes(removal.beside)
    yield from _notes((*comments, *removal.mentions))
    if removal.switches:
        yield switch_table("removed switch", removal.switches)
    if removal.servers:
        yield Note(f"removed servers: {listing(name_ranges(removal.servers))}")
    if removal.cables:
        yield Section("", (cable_table("unplug, when drained", "from", removal.cables),))
    yield Section("", tuple(capacity_blocks(removal.before, removal.after)))
    yield proof_table(
        (
            ("stays", kept_text(removal.proof)),
            ("goes", f"{additions_text(removal.proof)} of them"),
            *((("changes", text)) for text in removal.changes),
            ("check", check_text(removal.warnings, removal.not_judged)),
        )
    )
    yield from _warnings(removal.warnings)
    if removal.advice:
        yield advice_section(removal.advice, compared=True)
    in_steps = {name for each in removal.advice for name in (*each.devices, *each.servers)}
    others = {*(switch.name for switch in removal.switches), *removal.servers} - in_steps
    yield from _notes((*removal.unplug, *([removal.connections] if others else [])))


def renaming_report(renaming: Renaming, *, written: bool) -> Iterator[Block]:
    """Show the rename; written: whether the file was changed."""
    values = count_of(len(renaming.paths), "value")
    done = f"{values} changed, every other byte kept"
    would = f"not written; {values} would change, every other byte kept"
    yield Note(f"{renaming.fabric}: {renaming.old} is renamed {renaming.new}")
    yield Note(f"{renaming.file}: {done if written else would}")
    yield from _notes((", ".join(renaming.paths), *renaming.mentions))
    rows = tuple(
        (", ".join(name_ranges(one.devices)), one.before, one.after) for one in renaming.changed
    )
    if rows:
        yield Section("", (Table(columns("switch", "before", "after"), rows),))
    kept = listing(map(addition_text, renaming.kept))
    changed = "nothing but names and descriptions"
    checked = check_text(renaming.warnings, 0)
    yield proof_table((("stays", kept), ("changes", changed), ("check", checked)))
    yield from _warnings(renaming.warnings)
    if renaming.advice:
        yield advice_section(renaming.advice, compared=True)
    else:  # a server: the advice on a switch has this step
        yield from _notes((renaming.connections,))


def _notes(texts: Sequence[str]) -> Iterator[Block]:
    if texts:
        yield Items(tuple(texts))


def _warnings(warnings: Sequence[str]) -> Iterator[Block]:
    yield from (Note(f"warning: {warning}", Tone.WARNING) for warning in warnings)
