"""Growth, removal and rename: results for programs, and the report with the proof.

`rocefort/change/expand.py` and `rocefort/verification/review/edit.py` make them for reports. Gb/s
are of one direction.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Address, IPv4Interface

from rocefort.change.results import Advice
from rocefort.models.base import Frozen
from rocefort.models.hardware.media import CableMedium, whole_port
from rocefort.models.network.network import End
from rocefort.models.wording import count_of, listing
from rocefort.reports.blocks import Block, Note, Section, Table, TableColumn, Tone, columns
from rocefort.reports.wording import group_items, name_ranges
from rocefort.validators.capacity.bisection import Bandwidth
from rocefort.validators.rules.verification.growth_subject import Addition, Proof


class ListedSwitch(Frozen):
    """Switch that a change of the fabric adds or removes."""

    name: str
    role: str
    id: int
    hardware: str
    software: str
    rack: str | None = None
    asn: int
    loopback: IPv4Address | None = None
    management: IPv4Interface | None = None


class ListedCable(Frozen):
    """Cable that a change of the fabric adds or removes; `far`: a server's name, or a switch port.

    near_fits, far_fits: form factor of each end's port; None: not in the hardware data.
    """

    near: End
    far: End | str
    length_m: float | None = None
    medium: CableMedium | None = None
    speed_gbps: int | None = None
    near_fits: str | None = None
    far_fits: str | None = None


class GrowthStage(Frozen):
    """Stage of a growth, as the routing engine judged it; `wrong`: its errors.

    sessions: ends established, and configured. pairs: of servers, delivered by every path, and all
    that the policy does not deny. lost: pairs that are no longer delivered.
    """

    title: str
    sessions: tuple[int, int]
    in_service: tuple[int, int]  # spines and leaves that take traffic
    widths: tuple[int, int] | None
    pairs: tuple[int, int]
    lost: int = 0
    wrong: tuple[str, ...] = ()


class StagedGrowth(Frozen):
    """Growth by stages; drain and lift: commands that drain a switch, and end its drain."""

    fabric: str
    stages: tuple[GrowthStage, ...]
    drain: tuple[str, ...] = ()
    lift: tuple[str, ...] = ()

    @property
    def wrong(self) -> bool:
        """Whether any stage has an error."""
        return any(stage.wrong for stage in self.stages)


class Growth(Frozen):
    """Whole growth of a fabric. lines: number of lines that the file gets.

    without_rack: new switches without a rack, in a fabric that states racks.
    """

    fabric: str
    file: str
    lines: int
    switches: tuple[ListedSwitch, ...]
    servers: tuple[str, ...]
    without_rack: tuple[str, ...] = ()
    cables: tuple[ListedCable, ...]
    before: Bandwidth
    after: Bandwidth
    proof: Proof
    warnings: tuple[str, ...] = ()  # new findings below an error
    not_judged: int = 0  # new verdicts that need a missing fact


class Removal(Frozen):
    """Removal of switches and servers from a fabric.

    lines: of the file that are removed. beside: its other changes. comments: those above a removed
    item, which stay. mentions: lines that still name what is removed. proof: of the remaining
    switches; its additions and added lines are those that they lose. changes: what else changes on
    them. advice: steps for each switch; unplug: steps for servers whose leaf stays.
    """

    fabric: str
    file: str
    lines: int
    switches: tuple[ListedSwitch, ...]
    servers: tuple[str, ...]
    cables: tuple[ListedCable, ...]
    beside: tuple[str, ...]
    comments: tuple[str, ...]
    mentions: tuple[str, ...]
    before: Bandwidth
    after: Bandwidth
    proof: Proof
    changes: tuple[str, ...]
    warnings: tuple[str, ...]
    not_judged: int
    advice: tuple[Advice, ...]
    unplug: tuple[str, ...]
    connections: str


class ChangedName(Frozen):
    """Value of a configuration that changes with a name, on one or more switches."""

    devices: tuple[str, ...]
    before: str
    after: str


class Renaming(Frozen):
    """New name of a switch or server. paths: the values of the YAML that change."""

    fabric: str
    file: str
    old: str
    new: str
    paths: tuple[str, ...]
    mentions: tuple[str, ...]
    kept: tuple[Addition, ...]
    changed: tuple[ChangedName, ...]
    warnings: tuple[str, ...]
    advice: tuple[Advice, ...]
    connections: str


class GrowthOutput(Growth):
    """Growth of a fabric; written: whether the file has it."""

    written: bool


class RemovalOutput(Removal):
    """Removal from a fabric; written: whether the file has it."""

    written: bool


class RenamingOutput(Renaming):
    """New name in a fabric; written: whether the file has it."""

    written: bool


WITHOUT_OPTICS = ("dac", "aoc")  # cables with fixed connectors
Fields = tuple[str, ...]


def growth_report(growth: Growth, *, written: bool) -> Iterator[Block]:
    """Show the expansion; written: whether the file was changed."""
    lines = count_of(growth.lines, "line")
    done = f"{growth.file}: {lines} added, every other byte kept"
    would = f"{growth.file}: not written; {lines} would be added, every other byte kept"
    yield Note(f"{growth.fabric} grows: {size_text(growth.before)} -> {size_text(growth.after)}")
    yield Note(done if written else would)
    yield switch_table("new switch", growth.switches)
    if growth.without_rack:
        names = listing(name_ranges(growth.without_rack))
        yield Note(f"rack open: {names}; --racks leaves=RACK,RACK or spines=RACK states it")
    total = f"in all {lengths_text(growth.cables)}; {optics_text(growth.cables)}"
    yield Section("", (cable_table("plug", "into", growth.cables), Note(total)))
    yield Section("", tuple(capacity_blocks(growth.before, growth.after)))
    yield Section("", tuple(_proof(growth)))


def size_text(bandwidth: Bandwidth) -> str:
    """Return `2 spines x 8 leaves`."""
    return f"{count_of(bandwidth.spines, 'spine')} x {count_of(bandwidth.leaves, 'leaf')}"


def switch_table(title: str, switches: Sequence[ListedSwitch]) -> Table:
    """Show one row per switch; the rack if any switch has one."""
    heads = columns(title, "id", "hardware", "release", "AS", "loopback", "rack")
    rows = tuple(
        (s.name, s.id, s.hardware, s.software, s.asn, str(s.loopback or "-"), s.rack or "")
        for s in switches
    )
    if any(s.rack for s in switches):
        return Table(heads, rows)
    return Table(heads[:-1], tuple(row[:-1] for row in rows))


def _fields(cable: ListedCable) -> Fields:
    far = (cable.far.device, cable.far.interface) if isinstance(cable.far, End) else (cable.far, "")
    return cable.near.device, cable.near.interface, *far


def _runs(cables: Iterable[ListedCable]) -> Iterator[list[ListedCable]]:
    """Group consecutive cables whose names and ports increase by one."""
    run: list[ListedCable] = []
    steps: tuple[int, ...] = ()
    for cable in cables:
        increments = _steps(run[-1], cable) if run else ()
        if run and increments and (len(run) == 1 or increments == steps):
            steps = increments
        elif run:
            yield run
            run = []
        run.append(cable)
    if run:
        yield run


def _steps(a: ListedCable, b: ListedCable) -> tuple[int, ...]:
    """Return the increment of each name and port, 0 or 1; empty if the cables form no run."""
    if (a.length_m, a.medium) != (b.length_m, b.medium):
        return ()
    steps = []
    for was, will in zip(_fields(a), _fields(b), strict=True):
        (head, number), (other, following) = _numbered(was), _numbered(will)
        if was == will:
            steps.append(0)
        elif head == other and following == number + 1:
            steps.append(1)
        else:
            return ()
    return tuple(steps)


def _numbered(name: str) -> tuple[str, int]:
    match = re.fullmatch(r"(.*?)([0-9]{1,9})", name)
    return (match[1], int(match[2])) if match else (name, -1)


def _run_row(run: Sequence[ListedCable]) -> Fields:
    first, last = _fields(run[0]), _fields(run[-1])
    near, near_port, far, far_port = (_span(a, b) for a, b in zip(first, last, strict=True))
    length = f"{len(run)} x {_metres(run[0])}"
    return f"{near} {near_port}", f"{far} {far_port}".rstrip(), f"{length} {run[0].medium or ''}"


def _span(first: str, last: str) -> str:
    if first == last:
        return first
    return f"{first}-{_numbered(last)[1]}" if "/" in first else f"{first} to {last}"


def _metres(cable: ListedCable) -> str:
    return "? m" if cable.length_m is None else f"{cable.length_m:g} m"


def lengths_text(cables: Sequence[ListedCable]) -> str:
    """Return the cables to order, by length and medium."""
    kinds = Counter((_metres(cable), cable.medium or "") for cable in cables)
    each = (f"{number} of {m} {medium}".rstrip() for (m, medium), number in kinds.items())
    return f"{count_of(len(cables), 'cable')}: {listing(each)}"


def optics_text(cables: Sequence[ListedCable]) -> str:
    """Return the transceivers to order; a cable of unknown medium counts as optical."""
    plugged = [cable for cable in cables if cable.medium not in WITHOUT_OPTICS]
    modules: dict[tuple[str, str], str | None] = {}  # parts of a split port share one
    for cable in plugged:
        modules[cable.near.device, whole_port(cable.near.interface)] = cable.near_fits
        if isinstance(cable.far, End):
            modules[cable.far.device, whole_port(cable.far.interface)] = cable.far_fits
    fits = Counter(kind or "of unknown form" for kind in modules.values())
    nics = sum(not isinstance(cable.far, End) for cable in plugged)
    kinds = [f"{number} {kind}" for kind, number in fits.items()]
    parts = [f"{listing(kinds)} in switches"] if kinds else []
    parts += [f"{nics} in servers"] if nics else []
    open_ = any(cable.medium is None for cable in plugged)
    note = " (their medium is not given)" if open_ else ""
    return f"transceivers: {listing(parts) or 'none'}{note}"


def cable_table(near: str, far: str, cables: Iterable[ListedCable]) -> Table:
    """Show cables, consecutive ones in one row."""
    return Table(columns(near, far, "cables"), tuple(_run_row(run) for run in _runs(cables)))


def capacity_blocks(was: Bandwidth, will: Bandwidth) -> Iterator[Block]:
    """Show capacity before and after."""
    rows = (
        ("uplinks of a leaf, Gb/s", _range(was.uplinks_gbps), _range(will.uplinks_gbps)),
        ("for each spine, Gb/s", _uplinks_text(was), _uplinks_text(will)),
        ("bisection, Gb/s", _value_text(was.bisection_gbps), _value_text(will.bisection_gbps)),
        ("ECMP width from leaf to leaf", _range(was.widths), _range(will.widths)),
        ("server pairs by every path", _pairs_text(was.pairs), _pairs_text(will.pairs)),
        *_oversubscription(was, will),
    )
    sides = (TableColumn(title, "right") for title in ("before", "after"))
    yield Table((TableColumn("capacity", wraps=True), *sides), rows)
    if refused := will.refused or was.refused:
        yield Note(f"not verified: {refused}")


def _value_text(value: int | None) -> str:
    return "not known" if value is None else f"{value:,}"


def _range(limits: tuple[int, int] | None) -> str:
    if limits is None:
        return "not known"
    low, high = limits
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _uplinks_text(bandwidth: Bandwidth) -> str:
    """Return uplinks of a leaf per spine: equal before and after if throughput is linear."""
    if bandwidth.uplinks_gbps is None:
        return "not known"
    least, most = (gbps / bandwidth.spines for gbps in bandwidth.uplinks_gbps)
    return f"{least:g}" if least == most else f"{least:g} to {most:g}"


def _pairs_text(pairs: tuple[int, int] | None) -> str:
    return f"{pairs[0]} of {pairs[1]}" if pairs else "not known"


def _oversubscription(was: Bandwidth, will: Bandwidth) -> Iterator[Fields]:
    """Return one row for leaves with equal ratios."""
    ratios = [{load.leaf: _ratio(load.ratio) for load in side.loads} for side in (was, will)]
    alike = group_items(
        (load.leaf for load in will.loads), lambda leaf: tuple(r.get(leaf, "-") for r in ratios)
    )
    for (before, after), leaves in alike.items():
        yield f"servers to uplinks of {', '.join(name_ranges(leaves))}", before, after


def _ratio(ratio: float | None) -> str:
    return "not known" if ratio is None else f"{ratio:.2f} to 1"


def _proof(growth: Growth) -> Iterator[Block]:
    proof = growth.proof
    comes = f"{additions_text(proof)}; nothing else is allowed (CHG201 to CHG203)"
    checked = check_text(growth.warnings, growth.not_judged)
    yield proof_table((("stays", kept_text(proof)), ("comes", comes), ("check", checked)))
    for warning in growth.warnings:
        yield Note(f"warning: {warning}", Tone.WARNING)


def proof_table(rows: Iterable[Fields]) -> Section:
    """Show the rows of a proof."""
    table = Table((TableColumn(), TableColumn(wraps=True)), tuple(rows))
    return Section("", (Note("proof, from the configurations"), table))


def kept_text(proof: Proof) -> str:
    """Return counts of what is unchanged."""
    stays = [f"{proof.lines} lines in their order", *map(addition_text, proof.kept)]
    return f"{listing(stays)} of {count_of(proof.switches, 'switch')}"


def additions_text(proof: Proof) -> str:
    """Return counts of the lines and parts that only the larger fabric has."""
    lines = count_of(proof.lines_added, "line")
    parts = listing(map(addition_text, proof.additions))
    return f"{lines}: {parts}" if parts else lines


def addition_text(addition: Addition) -> str:
    """Return `1 address`, `3 members of prefix lists`."""
    irregular = {"address": "addresses", "announced prefix": "announced prefixes"}
    if addition.number != 1 and addition.what in irregular:
        return f"{addition.number} {irregular[addition.what]}"
    if addition.number != 1 and addition.what == "member of a prefix list":
        return f"{addition.number} members of prefix lists"
    return count_of(addition.number, addition.what)


def check_text(warnings: Sequence[str], not_judged: int) -> str:
    """Return counts of new findings; a new error is refused."""
    words = f"no new error, {count_of(len(warnings), 'new warning')}"
    return f"{words}, {max(not_judged, 0)} more not judged"


NOTES = (
    "isolated: configured, no cable to existing switches; cabled: existing switches have no line "
    "for it yet; sessions up: it announces nothing; then it takes traffic"
)


def staged_report(staged: StagedGrowth) -> Iterator[Block]:
    """Show every intermediate state with the verdict of the routing engine."""
    heads = columns("stage", "sessions", "ECMP", "server pairs")
    yield Table(heads, tuple(map(_stage, staged.stages)))
    yield Note(NOTES)
    if staged.drain:
        drain, lift = (" / ".join(map(str.strip, part)) for part in (staged.drain, staged.lift))
        yield Note(f"to announce nothing: `{drain}`; to take traffic: `{lift}`")
    wrong = [f"error {stage.title}: {what}" for stage in staged.stages for what in stage.wrong]
    yield from (Note(text, Tone.ERROR) for text in wrong)
    if not wrong:
        states = count_of(len(staged.stages), "state")
        yield Note(f"{staged.fabric}: {states}, no pair lost in any", Tone.GOOD)


def _stage(stage: GrowthStage) -> Fields:
    fate = f"{stage.lost} lost" if stage.lost else "none lost"
    delivered = f"{stage.pairs[0]} of {stage.pairs[1]}, {fate}"
    return (
        stage.title,
        f"{stage.sessions[0]} of {stage.sessions[1]}",
        _range(stage.widths),
        delivered,
    )
