"""Difference of two fabrics, directories of texts or git revisions, switch by switch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from rocefort.base.errors import BadInput
from rocefort.base.progress import tracked
from rocefort.base.repository import FABRIC_FILE, Site
from rocefort.change.referenced_acls import with_used
from rocefort.change.results import (
    FabricDifference,
    OneSided,
    Ownership,
    Places,
    SwitchDifference,
    Unowned,
)
from rocefort.design.derive.derive import DerivedNetwork, derive, derive_loaded
from rocefort.design.git_revisions import checked_out, looks_like_revision, revision_of, site_beside
from rocefort.design.load.documents import load_fabric
from rocefort.design.load.hardware_catalogue import load_catalogue
from rocefort.design.subject import (
    ReadNetwork,
    live_configs,
    subject_of_configs,
    subject_of_texts,
    with_template_lines,
)
from rocefort.dialects.changes import Paths, change_of, conditions_of, replaced_lines
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.secrets import with_known_secrets
from rocefort.dialects.words import in_words
from rocefort.models.change.compare import classify, compare
from rocefort.models.change.edits import Edit
from rocefort.models.change.plan import Change, ChangeKind
from rocefort.models.device.device import Device
from rocefort.models.hardware.hardware import Family, Hardware
from rocefort.models.network.network import Network, Sources, TextLine

Families = Mapping[str, Family]


@dataclass(frozen=True)
class ComparedSwitch:
    """One switch of a side; a value that its text does not state is None or empty.

    `text` is empty for a switch of a fabric. `cut_off_at`: the last line of a text whose end is
    missing.
    """

    device: Device
    file: str
    family: Family | None = None
    read_by: str | None = None  # dialect of its text if its family is unknown
    hardware: Hardware | None = None
    software: str = ""
    text: str = ""
    unmodelled: tuple[TextLine, ...] = ()
    cut_off_at: int | None = None

    @property
    def is_text(self) -> bool:
        """Whether the switch comes from a text, which may have unowned lines."""
        return bool(self.text)

    @cached_property
    def rendered(self) -> str:
        """Its Device rendered for its own family; raises BadInput without a family."""
        if self.family is None:
            raise BadInput("its syntax family is not known", where=self.device.name)
        hardware = self.shipped if self.is_text else self.hardware
        return dialect_of(self).render(self.device, self.family, hardware)

    @property
    def shipped(self) -> Hardware | None:
        """Its hardware without templates of a site."""
        return self.hardware and self.hardware.shipped

    @property
    def dialect(self) -> str | None:
        """Dialect of its family, else the dialect that read its text."""
        return self.family.dialect if self.family else self.read_by

    @cached_property
    def unowned(self) -> Mapping[str, TextLine]:
        """Unmodelled lines by view and text, without those that a switch writes in any case."""
        written = dialect_of(self).written_by_itself
        lines = (
            line for line in self.unmodelled if self.is_text and not written(line, self.family)
        )
        return {" / ".join((*line.path, line.text)): line for line in lines}

    @cached_property
    def own(self) -> tuple[tuple[str, ...], ...]:
        """Lines that templates of a fabric's site add: their views and themselves."""
        return () if self.is_text else tuple((*line.path, line.text) for line in self.unmodelled)

    def shared(self, other: ComparedSwitch) -> tuple[tuple[str, ...], ...]:
        """Lines of templates: its own, or those of its text that the other side's templates add.

        A line of its text that a line of the other side replaces is one of them.
        """
        if not self.is_text or other.family is None:
            return self.own
        lines = tuple((*line.path, line.text) for line in self.unmodelled)
        replaced = replaced_lines(lines, other.own, other.family)
        return tuple(line for line in lines if line in replaced)


@dataclass(frozen=True)
class ComparedSide:
    """All switches of one side, in its order. `sources`: files and lines of their values.

    families: of the base of a review, with the only statements on effects that it relies on.
    """

    name: str
    switches: Mapping[str, ComparedSwitch]
    sources: Sources
    shown: Callable[[str], str] = str  # a position in the sources, formatted for a reader
    families: Families = field(default_factory=dict)


def difference(before: ComparedSide, after: ComparedSide, families: Families) -> FabricDifference:
    """Change of each switch from one side to the other, and the switches of only one side.

    An encrypted secret of a switch counts as the one that the other side refers to.
    """
    both = [name for name in after.switches if name in before.switches]
    switches = (_switch(name, before, after, families) for name in tracked(both, "compare"))
    return FabricDifference(
        before=before.name,
        after=after.name,
        compared=len(both),
        switches=tuple(switch for switch in switches if switch is not None),
        only_before=tuple(_one_sided(before, after, families)),
        only_after=tuple(_one_sided(after, before, families)),
    )


def _one_sided(side: ComparedSide, other: ComparedSide, families: Families) -> Iterator[OneSided]:
    for name, switch in side.switches.items():
        if name not in other.switches:
            text = switch.text or _rendered(
                switch, switch.device, _family(switch, switch, families)
            )
            lines = len(dialect_of(switch).lines(text))
            yield OneSided(device=name, where=switch.file, lines=lines)


def _switch(
    name: str, before: ComparedSide, after: ComparedSide, families: Families
) -> SwitchDifference | None:
    old, new = before.switches[name], after.switches[name]
    unowned, facts = tuple(_unowned(old, new)), tuple(_facts(old, new))
    lines = (old.shared(new), new.shared(old))
    facts_or_lines = facts or {*lines[0]} != {*lines[1]}
    if old.device == new.device and not facts_or_lines:
        return SwitchDifference(change=_nothing(name), unowned=unowned) if unowned else None
    family = _family(old, new, families)
    running, intended = _comparable(old, new, family)
    if running == intended and not facts_or_lines:
        return SwitchDifference(change=_nothing(name), unowned=unowned) if unowned else None
    base = before.families.get(family.name)
    change, no_patch = _change(old, running, new, intended, family, lines, base)
    return SwitchDifference(
        change=change,
        places=tuple(_positions(name, edit, before, after) for edit in change.edits),
        facts=facts,
        notes=tuple(_notes(old, new)),
        no_patch=no_patch,
        unowned=unowned,
    )


def _nothing(name: str) -> Change:
    return _change_of_edits(name, (), {})


def _change_of_edits(name: str, edits: tuple[Edit, ...], disrupts: Mapping[str, str]) -> Change:
    kind, reasons = classify(edits, (), disrupts)
    return Change(
        device=name,
        kind=kind,
        service_affecting=reasons,
        edits=edits,
        patch=(),
        reverse=(),
        running_digest="",
        intended_digest="",
    )


def _comparable(old: ComparedSwitch, new: ComparedSwitch, family: Family) -> tuple[Device, Device]:
    """Both Devices in the form that a switch saves, without differences in form alone."""
    running, intended = old.device, new.device
    dialect, texts = dialect_of(family), old.is_text or new.is_text
    if texts:
        running, intended = (dialect.normal_form(each, family) for each in (running, intended))
    running = with_known_secrets(running, intended, ())
    intended = with_known_secrets(intended, running, ())
    if not new.is_text:  # objects that a remaining line uses remain too
        intended = with_used(intended, running, old.unmodelled, family)
    return running, dialect.spelled_as(intended, running, family) if texts else intended


def _change(  # noqa: PLR0913, PLR0917 - two sides, what each means, and their lines
    old: ComparedSwitch,
    running: Device,
    new: ComparedSwitch,
    intended: Device,
    family: Family,
    lines: tuple[Paths, Paths],
    base: Family | None,
) -> tuple[Change, str]:
    """The change, and the reason if there is no patch."""
    no_patch = _other_syntax(old, new)
    if not no_patch:
        try:
            change = change_of(
                _rendered(old, running, family),
                running,
                _rendered(new, intended, family),
                intended,
                family,
                tuple(_remaining(old, new)),
                lines,
                base,
            )
        except BadInput as error:
            no_patch = f"{error.problem.where}: {error.problem.what}"
        else:
            conditions = conditions_of(change.patch, family)
            return change.model_copy(update={"conditions": conditions}), ""
    disrupts = dialect_of(family).disrupts if old.dialect == new.dialect else {}
    without_patch = _change_of_edits(intended.name, compare(running, intended), disrupts)
    if without_patch.kind is ChangeKind.ADDITIVE:  # the change replaces existing values
        without_patch = without_patch.model_copy(update={"kind": ChangeKind.MODIFYING})
    return without_patch, no_patch


def _remaining(old: ComparedSwitch, new: ComparedSwitch) -> Iterator[tuple[str, ...]]:
    """Yield the unowned lines of the first side that stay on the switch."""
    shared = set(old.shared(new))
    for text, line in old.unowned.items():
        path = (*line.path, line.text)
        if path not in shared and (not new.is_text or text in new.unowned):
            yield path


def _other_syntax(old: ComparedSwitch, new: ComparedSwitch) -> str:
    if old.dialect != new.dialect:
        return f"{_systems(old, new)}: no patch leads from one system to another"
    if old.family and new.family and old.family.name != new.family.name:
        return (
            f"{old.family.name} and {new.family.name} write the same configuration in different "
            "commands: load the whole configuration with the new release"
        )
    return ""


def _systems(old: ComparedSwitch, new: ComparedSwitch) -> str:
    return " -> ".join(dialect_of(switch).name for switch in (old, new))


def _rendered(switch: ComparedSwitch, device: Device, family: Family) -> str:
    own_form = device is switch.device and switch.family and family.name == switch.family.name
    if own_form and switch.hardware is switch.shipped:
        return switch.rendered
    return dialect_of(family).render(device, family, switch.shipped)


def _facts(old: ComparedSwitch, new: ComparedSwitch) -> Iterator[str]:
    """Differences besides the configuration: system, model, release."""
    if old.dialect != new.dialect:
        yield f"system: {_systems(old, new)}"
    if old.hardware and new.hardware and old.hardware.model != new.hardware.model:
        yield f"hardware: {old.hardware.model} -> {new.hardware.model}"
    was, will = old.software, new.software  # a text may have it with the service pack: ..SPC500
    if not (was.startswith(will) or will.startswith(was)):
        yield f"software: {was} -> {will}"


def _notes(old: ComparedSwitch, new: ComparedSwitch) -> Iterator[str]:
    for switch in (old, new):
        if switch.cut_off_at is not None:
            position = f"{switch.file}:{switch.cut_off_at}"
            what = "no «end of a text» ends this text, so it may have been cut off"
            yield f"{position}: {in_words(what, switch)}"


def _unowned(old: ComparedSwitch, new: ComparedSwitch) -> Iterator[Unowned]:
    sides = ((old, new), (new, old))
    owned = {" / ".join(path) for one, other in sides for path in (*one.own, *one.shared(other))}
    for text, line in old.unowned.items():
        if text in owned:
            continue
        goes = new.is_text and text not in new.unowned
        if goes or not new.is_text:
            ownership = Ownership.GOES if goes else Ownership.STAYS
            where = f"{old.file}:{line.line}"
            yield Unowned(text=line.shown_whole, ownership=ownership, where=where)
    for text, line in new.unowned.items():
        if text not in old.unowned and text not in owned:
            where = f"{new.file}:{line.line}"
            yield Unowned(text=line.shown_whole, ownership=Ownership.COMES, where=where)


def _positions(name: str, edit: Edit, before: ComparedSide, after: ComparedSide) -> Places:
    return Places(
        before="" if edit.before is None else _edit_position(name, edit, before),
        after="" if edit.after is None else _edit_position(name, edit, after),
    )


def _edit_position(name: str, edit: Edit, side: ComparedSide) -> str:
    position = side.sources.find(name, edit.path)
    return side.shown(f"{position.file}:{position.line}") if position else ""


def _family(old: ComparedSwitch, new: ComparedSwitch, families: Families) -> Family:
    """Family of a switch: from its fabric, else the one that renders most of its lines."""
    stated = new.family or old.family
    if stated:
        return stated
    released = [name for name in families if _may_be(old, name) and _may_be(new, name)]
    likely = released or families  # of two equally likely ones, the first of the file
    return max(
        (families[name] for name in likely),
        key=lambda family: sum(_common_lines(switch, family) for switch in (old, new)),
    )


def _may_be(switch: ComparedSwitch, name: str) -> bool:
    """Whether a family supports a switch's release, if that is known: V300 does not fit V200."""
    return switch.software[:4].casefold() in ("", name[:4])


def _common_lines(switch: ComparedSwitch, family: Family) -> int:
    """Number of lines of a text that a family renders the same; 0 if it renders none."""
    try:
        text = dialect_of(family).render(switch.device, family)
    except BadInput:
        return -1
    return len(set(switch.text.splitlines()) & set(text.splitlines()))


Say = Callable[[str], None]


def compare_sides(before: str, after: str, say: Say | None = None) -> FabricDifference:
    """Compare two sides given on the command line; raises BadInput for one that is not a side.

    say: receives notes on files that are not read.
    """
    sides = side_of(before, after, say), side_of(after, before, say)
    return difference(*sides, load_catalogue().families)


def drift_of(
    fabric: Path, running: Path | Mapping[str, str], say: Say | None = None
) -> FabricDifference:
    """Drift: compare running configurations with the intended fabric.

    running: a directory, or the texts that the switches run now, by name. say: as in
    `compare_sides`.
    """
    loaded = load_fabric(fabric)
    intended = side_of_derived(derive_loaded(loaded), str(fabric))
    catalogue = load_catalogue(loaded.site)
    if isinstance(running, Path):
        side = side_of_texts(running, str(running), loaded.site, say)
    else:
        subject = subject_of_configs(live_configs(running), loaded.fabric.fabric, catalogue)
        side = _side_of_subject(subject, "the switches")
    return difference(side, intended, catalogue.families)


def side_of(text: str, other: str, say: Say | None = None) -> ComparedSide:
    """Read one side; `REV:` alone takes its path from the other side.

    `git_revisions.py` describes the files that a revision provides. The files of a revision are
    temporary: everything is read before they are removed.
    """
    if looks_like_revision(text):
        return _side_of_revision(text, other, say)
    path = Path(text)
    if path.is_dir() and not (path / FABRIC_FILE).exists():
        return side_of_texts(path, text, site_beside(other), say)
    return side_of_fabric(path, text)


def side_of_fabric(fabric: Path, name: str) -> ComparedSide:
    """Derive a fabric as a side, without rendering it."""
    return side_of_derived(derive(fabric), name)


def side_of_derived(fabric: DerivedNetwork, name: str) -> ComparedSide:
    """Return a derived fabric as a side."""
    derived = with_template_lines(fabric)
    switches = dict(switches_of(derived.network, derived.sources, {}))
    return ComparedSide(name, switches, derived.sources)


def side_of_texts(
    directory: Path, name: str, site: Site | None = None, say: Say | None = None
) -> ComparedSide:
    """Read a directory of configurations as a side; site: as in `subject_of_texts`."""
    subject = subject_of_texts(directory, site)
    if say is not None:
        for note in subject.unread:
            say(note)
    return _side_of_subject(subject, name)


def _side_of_subject(subject: ReadNetwork, name: str) -> ComparedSide:
    switches = dict(switches_of(subject.network, subject.sources, subject.texts))
    return ComparedSide(name, switches, subject.sources)


def switches_of(
    network: Network, sources: Sources, texts: Mapping[str, str]
) -> Iterator[tuple[str, ComparedSwitch]]:
    """Switches of a network by name; texts: configurations that were read from files."""
    for node in network.nodes:
        place = sources.find(node.name)
        switch = ComparedSwitch(
            device=node.device,
            file=place.file if place else "",
            family=node.family,
            read_by=node.read_by,
            hardware=node.hardware,
            software=node.software or "",
            text=texts.get(node.name, ""),
            unmodelled=node.unmodelled,
            cut_off_at=node.cut_off_at,
        )
        yield node.name, switch


def _side_of_revision(text: str, other: str, say: Say | None) -> ComparedSide:
    revision = revision_of(text, other)
    with checked_out(revision) as files:
        if not files.is_fabric:
            side = side_of_texts(files.source, text, files.site, say)
        else:
            side = side_of_derived(files.derive(), text)
    switches = {
        name: replace(switch, file=files.shown(switch.file))
        for name, switch in side.switches.items()
    }
    return ComparedSide(text, switches, side.sources, files.shown)
