"""`remove` and `rename`: edit a fabric in memory, prove what stays, and report it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocefort.base.documents.read import read_text
from rocefort.base.errors import Problem
from rocefort.change.advice.advice import advice_on, only_names
from rocefort.change.advice.drain_steps import PLAN_REFUSES, DrainStudy
from rocefort.change.advice.renames import (
    Renames,
    renamed_network,
    with_new_servers,
    with_old_sysnames,
)
from rocefort.change.difference import ComparedSide, difference, switches_of
from rocefort.change.edit import Versions, read_fabric, versions_of, whole_word
from rocefort.change.expand import by_place, lost_pairs, new_cables, new_switches
from rocefort.change.growth import (
    ChangedName,
    Removal,
    Renaming,
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
from rocefort.design.load.documents import DEMAND_FILE, load_catalogue
from rocefort.design.remove import EditedFabric
from rocefort.design.remove import remove as without
from rocefort.design.remove import rename as with_name
from rocefort.models.change.compare import compare, effect_of
from rocefort.models.finding import Finding
from rocefort.models.network.network import Network
from rocefort.models.wording import count_of, listing
from rocefort.reports.blocks import Block, Items, Note, Section, Table, Tone, columns
from rocefort.reports.wording import group_items, name_ranges
from rocefort.validators.rules.verification.growth_subject import prove
from rocefort.verification.review.advice_section import advice_section
from rocefort.verification.review.review import retired_ids


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


NAMES_BEFORE_PLAN = f"before `plan`: {{}} the connections file, because {PLAN_REFUSES}"
REFUSAL = "it cannot be changed so"
MOVED = "CHG203"  # an address, a cable or another fact of what stays is another one


@dataclass(frozen=True)
class ProvenRemoval:
    """Proven removal before it is written."""

    removal: Removal
    versions: Versions[EditedFabric]


@dataclass(frozen=True)
class ProvenRename:
    """Proven rename before it is written."""

    renaming: Renaming
    versions: Versions[EditedFabric]


def remove(name: Path, names: Sequence[str]) -> ProvenRemoval:
    """Remove switches and servers in memory; raises Refused if something that stays would move.

    A removal is a growth read backwards, and has its proof.
    """
    file = read_fabric(name, REFUSAL)
    versions = versions_of(file, lambda: without(file.text, file.loaded, names))
    old, new = versions.old, versions.new
    proof, moved = prove(new.network, old.network, new.texts, old.texts)
    versions.refuse(_moved(moved))
    before, after = versions.bandwidths
    if problems := list(lost_pairs(before, after)):
        raise file.untouched(problems)
    left = {server.name for server in new.network.servers or ()}
    servers = tuple(s.name for s in old.network.servers or () if s.name not in left)
    study = _study(versions, old.network, {})
    removal = Removal(
        fabric=new.network.name,
        file=str(file.path),
        lines=versions.edited.lines,
        switches=tuple(new_switches(new.network, old.network)),
        servers=servers,
        cables=tuple(sorted(new_cables(new.network, old.network), key=by_place)),
        beside=versions.edited.beside,
        comments=versions.edited.comments,
        mentions=tuple(_mentions(versions, names)),
        before=before,
        after=after,
        proof=proof,
        changes=tuple(_beside(old.network, new.network)),
        warnings=(*versions.warnings, *_last_one(old.network, new.network)),
        not_judged=versions.not_judged,
        advice=advice_on(study, ()),
        connections=NAMES_BEFORE_PLAN.format(f"take {listing(name_ranges(names))} out of"),
        unplug=tuple(
            f"{server.name}: stop its work, plan and apply the change, then unplug "
            f"{listing(map(str, server.ports))}"
            for server in old.network.servers or ()
            if server.name in servers and server.port.device in new.network.by_name
        ),
    )
    return ProvenRemoval(removal, versions)


def rename(name: Path, old_name: str, new_name: str) -> ProvenRename:
    """Rename a switch or server in memory; raises Refused if more than names would change."""
    file = read_fabric(name, REFUSAL)
    later = {old_name: new_name}
    versions = versions_of(
        file, lambda: with_name(file.text, file.loaded, old_name, new_name), later
    )
    before = _with_names(versions.old.network, later)
    after = versions.new.network
    texts = {later.get(device, device): text for device, text in versions.old.texts.items()}
    proof, moved = prove(before, after, texts, versions.new.texts)
    versions.refuse(_moved(moved))
    changed = list(_changed_values(before, after, later))
    if more := [path for _, path, *_ in changed if not only_names(path)]:
        what = f"more than names would change: {listing(more)}"
        raise file.untouched([Problem("", what, "choose another name")])
    alike = group_items(changed, lambda row: (row[2], row[3]))
    names = {new_name: old_name} if new_name in after.by_name else {}
    renaming = Renaming(
        fabric=after.name,
        file=str(file.path),
        old=old_name,
        new=new_name,
        paths=versions.edited.beside,
        mentions=tuple(_mentions(versions, [old_name])),
        kept=proof.kept,
        changed=tuple(
            ChangedName(devices=tuple(dict.fromkeys(r[0] for r in rows)), before=was, after=will)
            for (was, will), rows in alike.items()
        ),
        warnings=tuple(versions.warnings),
        advice=advice_on(_study(versions, before, names), ()),
        connections=NAMES_BEFORE_PLAN.format(f"write {new_name} for {old_name} in"),
    )
    return ProvenRename(renaming, versions)


def _moved(findings: Sequence[Finding]) -> list[Finding]:
    """Findings on facts of what stays; other changes are listed."""
    return [finding for finding in findings if finding.rule == MOVED]


def _study(versions: Versions[EditedFabric], before: Network, names: Renames) -> DrainStudy:
    """Data for the advice on a change; before: with the names that switches have after it."""
    after, fabric = versions.new.network, versions.end.fabric
    sides = [
        ComparedSide(title, dict(switches_of(network, side.sources, {})), side.sources)
        for title, network, side in (
            ("before", before, versions.old),
            ("after", after, versions.new),
        )
    ]
    old, new = sides
    families = load_catalogue(versions.edited.loaded.site).families
    return DrainStudy(
        before=before,
        after=after,
        change=difference(with_old_sysnames(old, names), new, families),
        intents={s.name: s for one in (versions.file.start.fabric, fabric) for s in one.servers},
        renames=names,
        server_renames={},
        file=str(versions.file.path),
        canary=fabric.rollout.canary,
        retired=tuple(retired_ids(fabric.capacity)),
    )


def _with_names(network: Network, later: Mapping[str, str]) -> Network:
    """A Network with its switches and servers renamed, except in texts."""
    return with_new_servers(renamed_network(network, later), later)


def _changed_values(
    before: Network, after: Network, later: Mapping[str, str]
) -> Iterator[tuple[str, str, str, str]]:
    """(switch, field, old value, new value) of each changed value of a configuration."""
    old_names = {new: old for old, new in later.items()}
    for node in before.nodes:
        device = node.device.model_copy(update={"name": old_names.get(node.name, node.name)})
        for edit in compare(device, after.by_name[node.name].device):
            yield node.name, edit.path, edit.before_text or "", edit.after_text or ""


def _beside(before: Network, after: Network) -> Iterator[str]:
    """Changes of remaining switches beyond removed interfaces, peers and list members."""
    edits = [
        (node.name, edit)
        for node in after.nodes
        for edit in compare(before.by_name[node.name].device, node.device)
        if edit.after is not None or not effect_of(edit).grows
    ]
    alike = group_items(edits, lambda row: (row[1].path, row[1].before_text, row[1].after_text))
    for (path, was, will), rows in alike.items():
        names = listing(name_ranges(name for name, _ in rows))
        yield f"{names}: {path} changes from {was or 'nothing'} to {will or 'nothing'}"


def _last_one(before: Network, after: Network) -> Iterator[str]:
    """Warning that one spine is left."""
    was, will = (sum(n.role == "spine" for n in side.nodes) for side in (before, after))
    if will == 1 < was:
        yield "one spine is left: its failure cuts every leaf off; `verify` lists the server pairs"


def _mentions(versions: Versions[EditedFabric], names: Sequence[str]) -> Iterator[str]:
    """Lines of the fabric and its demand that still have a name: comments, texts, groups."""
    path = versions.file.path
    texts = {path: versions.edited.text}
    demand = path.parent / DEMAND_FILE
    if demand.is_file():
        texts[demand] = read_text(demand)
    for name in names:
        word = whole_word(name)
        for file, text in texts.items():
            lines = [line.strip() for line in text.splitlines() if word.search(line)]
            yield from (f"{file} still names {name}: {line}" for line in lines)
