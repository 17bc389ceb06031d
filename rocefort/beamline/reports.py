"""Reports of `beamline`: the list, one beamline, and a new one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocefort.beamline.facility import BeamlineView, Facility, FailureShare, Stop
from rocefort.beamline.onboard import Onboarding
from rocefort.beamline.stages import StageRow, Stages
from rocefort.change.growth import (
    additions_text,
    cable_table,
    check_text,
    kept_text,
    lengths_text,
    proof_table,
)
from rocefort.change.growth import optics_text as transceivers_text
from rocefort.models.wording import count_of, listing
from rocefort.reports.blocks import Block, Note, Section, Table, TableColumn, Tone, columns
from rocefort.reports.wording import group_items, name_ranges
from rocefort.verification.capacity import number, percent

SHARE = (
    "Share of its peak that arrives while all of the demand flows; a full port serves its demand "
    "in proportion."
)
PAUSES = (
    "By paths, not by rates: a beamline can congest each port that its packets leave by, and the "
    "switch then pauses the links to it. A failure, or a sender that is not in the demand, can "
    "cause other pauses."
)


def list_report(facility: Facility) -> Iterator[Block]:
    """Show the beamlines of a facility, and the sum of their rates."""
    total = sum(row.peak_gbps for row in facility.beamlines)
    head = f"{facility.fabric}: {count_of(len(facility.beamlines), 'beamline')}"
    if not facility.beamlines:
        yield Note(f"{head}; docs/how-to/add-beamline.md shows how to add one")
        return
    heads = (
        TableColumn("beamline"),
        TableColumn("leaf"),
        TableColumn("ports", wraps=True),
        TableColumn("peak, Gb/s", "right"),
        TableColumn("average", "right"),
        TableColumn("sends to", wraps=True),
    )
    rows = tuple(
        (
            row.name,
            row.leaf,
            ", ".join(row.ports),
            number(row.peak_gbps),
            number(row.average_gbps),
            ", ".join(row.sends_to),
        )
        for row in facility.beamlines
    )
    yield Table(heads, rows)
    average = sum(row.average_gbps for row in facility.beamlines)
    text = f"{head}, {number(total)} Gb/s at peak, {number(average)} Gb/s on average"
    if facility.published_gbps is not None:
        text += f"; peak of the facility: {number(facility.published_gbps)} Gb/s"
    yield Note(text)
    assumed = list(dict.fromkeys(key for row in facility.beamlines for key in row.assumed))
    if assumed:
        yield Note(f"assumed, which no source confirms: {', '.join(assumed)}")


def view_report(view: BeamlineView) -> Iterator[Block]:
    """Show one beamline: servers, path, share after failures, pauses, RDMA pairs."""
    peak = f"{number(view.peak_gbps)} Gb/s at peak, {number(view.average_gbps)} on average"
    yield Note(f"{view.name} of {view.fabric}: {peak}, by {view.transport}")
    yield Section("", (Table((TableColumn(), TableColumn(wraps=True)), tuple(_facts(view))),))
    yield Section("path", (_path(view),))
    yield Section("share of its peak", (_shares(view), Note(SHARE)))
    yield Section("pauses", tuple(_pauses(view)))
    if view.pairs:
        yield Section("RDMA pairs", tuple(_pairs(view)))


def _facts(view: BeamlineView) -> Iterator[tuple[str, str]]:
    for one in view.detectors:
        burst = ""
        if one.burst_ms is not None and one.period_ms is not None:
            burst = f", bursts of {one.burst_ms:g} ms every {one.period_ms:g} ms"
        yield f"detector {one.name}", f"{number(one.rate_gbps)} Gb/s{burst}"
    yield "sends to", f"{', '.join(view.sends_to)}: {count_of(view.receivers, 'server')}"
    if view.runs:
        yield "runs", view.runs
    if view.owner:
        yield "owner", view.owner
    yield "segment", view.segment
    for name, port, address in view.servers:
        yield name, f"{view.leaf} {port}, {address}"
    if view.assumed:
        yield "assumed", ", ".join(view.assumed)


def _path(view: BeamlineView) -> Table:
    heads = (
        TableColumn("layer", wraps=True),
        TableColumn("cables", "right"),
        TableColumn("Gb/s", "right"),
        TableColumn("used", "right"),
        TableColumn("fullest", wraps=True),
    )
    rows = tuple(
        (step.between, step.cables, number(step.gbps), percent(step.utilisation), step.fullest)
        for step in view.path
    )
    return Table(heads, rows)


def _shares(view: BeamlineView) -> Table:
    heads = (
        TableColumn("after the loss of", wraps=True),
        TableColumn("share", "right"),
        TableColumn("Gb/s", "right"),
        TableColumn("limit", wraps=True),
    )
    whole = ("nothing", percent(view.whole_share), number(view.whole_share * view.sent_gbps), "")
    rows = [
        (_failed(one), percent(one.share), number(one.gbps), one.fullest) for one in view.failures
    ]
    return Table(heads, (whole, *rows))


def _failed(one: FailureShare) -> str:
    names = list(name_ranges(one.at))
    if one.kind == "link":
        count = len(one.failures)
        return f"{one.failures[0]}" if count == 1 else f"one of {count} links of {listing(names)}"
    return f"one of {listing(names)}" if len(one.failures) > 1 else names[0]


def _pauses(view: BeamlineView) -> Iterator[Block]:
    if view.transport != "roce":
        yield Note("no pauses: its packets are not in the lossless queue")
        return
    yield from _stops(f"{view.name} can stop", view.stops)
    yield from _stops(f"{view.name} can be stopped by", view.stopped_by)
    yield Note(PAUSES)


def _stops(title: str, stops: Sequence[Stop]) -> Iterator[Block]:
    if not stops:
        yield Note(f"{title}: none")
        return
    alike = group_items(stops, lambda stop: (stop.link, stop.congested))
    rows = tuple(
        (", ".join(name_ranges(stop.name for stop in same)), link, congested)
        for (link, congested), same in alike.items()
    )
    heads = (TableColumn(title, wraps=True), *columns("paused link", "congested link"))
    yield Table(heads, rows)


def _pairs(view: BeamlineView) -> Iterator[Block]:
    heads = columns("client", "server")
    rows = tuple((pair.client, pair.server, number(pair.gbps)) for pair in view.pairs)
    yield Table((*heads, TableColumn("at least, Gb/s", "right")), rows)
    for rate in view.expected:
        burst = "" if rate.burst_ms is None else f", in bursts of {rate.burst_ms:g} ms"
        yield Note(f"to {listing(rate.to)} together: at least {number(rate.gbps)} Gb/s{burst}")
    yield Note(f"latency of small messages across spines: {view.latency_us:g} us")
    yield Note(
        f"to measure it: rocefort rdma run {view.fabric} --suite incast --beamline {view.name}"
    )


def onboarding_report(done: Onboarding) -> Iterator[Block]:
    """Show a new beamline: ports, cables, transceivers, capacity, and the proof."""
    lines = count_of(done.lines, "line")
    changed = f"{done.file}: {lines} added, every other byte kept"
    would = f"{done.file}: not written; {lines} would be added, every other byte kept"
    yield Note(
        f"{done.fabric}: beamline {done.name}, number {done.id}, like {done.pattern}: "
        f"{number(done.peak_gbps)} Gb/s at peak, {number(done.sent_gbps)} Gb/s sent"
    )
    yield Note(changed if done.written else would)
    rows = tuple((s.name, f"{s.leaf} {s.port}", s.address, s.gbps) for s in done.servers)
    heads = (*columns("new server", "port", "address"), TableColumn("Gb/s", "right"))
    yield Section("", (Table(heads, rows),))
    yield Section("", tuple(_material(done)))
    yield Section("", tuple(_capacity(done)))
    checked = check_text(done.warnings, done.not_judged)
    comes = additions_text(done.proof)
    yield Section(
        "",
        (proof_table((("stays", kept_text(done.proof)), ("comes", comes), ("check", checked))),),
    )
    for warning in done.warnings:
        yield Note(f"warning: {warning}", Tone.WARNING)


def _material(done: Onboarding) -> Iterator[Block]:
    """Show the bill of materials."""
    yield cable_table("plug", "into", done.cables)
    yield Note(f"order {lengths_text(done.cables)}; {transceivers_text(done.cables)}")
    speeds = listing(sorted({f"{s.gbps} Gb/s" for s in done.servers}))
    text = f"order {count_of(len(done.servers), 'server')} with a NIC of {speeds}"
    if done.nic_models:
        text += f", profile {done.nic}: one of {listing(done.nic_models)} ({done.nic_source})"
    elif done.nic:
        text += f", profile {done.nic}; the inventory has no speeds of its NICs"
    yield Note(text)


def _capacity(done: Onboarding) -> Iterator[Block]:
    def text(value: float | None) -> str:
        return "not computed" if value is None else percent(value)

    rows = (
        ("fullest cable", text(done.before[0]), text(done.after[0])),
        ("after the worst single failure", text(done.before[1]), text(done.after[1])),
        ("with a spine drained and a cable lost", text(done.before[2]), text(done.after[2])),
    )
    sides = (TableColumn(title, "right") for title in ("before", "after"))
    yield Table((TableColumn("capacity", wraps=True), *sides), rows)
    free = listing(f"{count} of {leaf}" for leaf, count in done.free)
    yield Note(f"configuration changes: {listing(name_ranges(done.touched))}")
    yield Note(f"free ports like these: {free}")


STAGE_SHARES = (
    "used: the fullest cable. failure: after the worst single failure. cable: with one spine "
    "drained and any cable lost."
)


def stages_report(done: Stages) -> Iterator[Block]:
    """Show the size, the demand and the fullest cable of each stage, and that nothing moves."""
    figures = ("beamlines", "leaves", "spines", "servers", "demand", "used", "failure", "cable")
    heads = (TableColumn("stage"), *(TableColumn(title, "right") for title in figures))
    yield Note(f"{done.fabric}: {count_of(len(done.stages) - 1, 'stage')}; servers, demand in Gb/s")
    yield Section("", (Table(heads, tuple(map(_stage, done.stages))), Note(STAGE_SHARES)))
    if done.sound:
        first, *later = done.stages
        kept = sum(row.lines_kept or 0 for row in later)
        added = sum(row.lines_added or 0 for row in later)
        yield Note(
            f"fits: each stage carries its demand, also after any single failure, and with a spine "
            f"drained and a cable lost; from {first.name} on {kept:,} lines of switches stay in "
            f"their order, and {added:,} come beside them"
        )
    for row in done.stages:
        if not row.fits:
            yield Note(f"does not fit: {row.name}", Tone.ERROR)
        for text in row.moved:
            yield Note(f"{row.name} moves {text}", Tone.ERROR)
    if done.files:
        yield Note(f"written: {listing(done.files)}")


def _stage(row: StageRow) -> tuple[str | int, ...]:
    return (
        row.name,
        row.beamlines,
        row.leaves,
        row.spines,
        number(row.servers_gbps),
        number(row.demand_gbps),
        *(percent(share) for share in (row.whole, row.after, row.drained)),
    )
