"""Stages of a facility: what each adds to a base fabric, and whether it carries its demand.

A file `stages.yaml` lists numbers: spines, leaves and servers by segment, and beamlines. New items
are like the last one of their kind, and get the next ids, names and ports. The texts of a stage's
`fabric.yaml` and of its switches contain those of the stage before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import Field

from rocefort.base.atomic_files import put_together
from rocefort.base.documents.edit import appended, spliced, with_values
from rocefort.base.documents.read import Document, YamlPath, document_of, read_document, read_text
from rocefort.base.documents.suggest import nearest
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput, Refused
from rocefort.base.progress import tracked
from rocefort.beamline.entry import (
    BeamlineEntry,
    Item,
    NewBeamline,
    server_ports,
    used_ports,
    with_items,
)
from rocefort.design.derive.derive import derive_loaded
from rocefort.design.expand import GrowthRequest, grow, numbered_on
from rocefort.design.load.documents import LoadedFabric, find_fabric, load_catalogue, loaded_fabric
from rocefort.design.load.hardware_catalogue import Catalogue
from rocefort.design.subject import ReadNetwork, subject_of_derived
from rocefort.models.base import Frozen, Name
from rocefort.models.fabric.topology import Leaf
from rocefort.models.hardware.hardware import Hardware
from rocefort.models.hardware.media import whole_port
from rocefort.models.network.network import SwitchRole
from rocefort.models.wording import named
from rocefort.validators.rules.verification.growth_subject import prove
from rocefort.verification.capacity import capacity_of, demand_of, maintenance_of

STAGES_FILE = "stages.yaml"
FABRIC_FILE = "fabric.yaml"
SERVER_OF_ONE = ("name", "leaf", "port", "bond", "address", "description", "host", "owner")
BEAMLINE_OF_ONE = ("id", "name", "assumed")  # keys that a stage does not mark as assumed


class StageAdditions(Frozen):
    """Numbers of items that one stage adds."""

    name: Name = Field(description="The stage's name; a folder is called after it.")
    spines: int = Field(default=0, ge=0, json_schema_extra=named("a number of spines"))
    leaves: dict[Name, int] = Field(default_factory=dict, description="By segment.")
    servers: dict[Name, int] = Field(
        default_factory=dict, description="By segment, each on its emptiest leaf."
    )
    beamlines: int = Field(default=0, ge=0, json_schema_extra=named("a number of beamlines"))


class StagePlan(Frozen):
    """Content of a `stages.yaml`. base: directory, beside its own, of the fabric that grows."""

    fabric: Name = Field(description="Name of the fabric in all stages.")
    base: Name = Field(description="Fabric that the first stage is added to.")
    title: str = Field(description="First lines of the fabric.yaml of each stage, as comments.")
    stages: tuple[StageAdditions, ...] = Field(min_length=1)


@dataclass(frozen=True)
class StageFabric:
    """Fabric at the end of a stage: the text of its `fabric.yaml`, and its content."""

    name: str
    text: str
    loaded: LoadedFabric

    @cached_property
    def subject(self) -> ReadNetwork:
        """Network as its rendered texts describe it."""
        return subject_of_derived(derive_loaded(self.loaded))


def stage_fabrics(fabric: Path) -> tuple[StageFabric, ...]:
    """Return the base of a fabric with stages, and the fabric of each stage, in memory.

    Raises BadInput for a fabric without stages.yaml and for its problems, Refused for a stage that
    the capacity or the ports do not have room for.
    """
    path = find_fabric(fabric)
    file = path.parent / STAGES_FILE
    if not file.is_file():
        how = f"write {STAGES_FILE} beside its {FABRIC_FILE}: docs/how-to/stages.md"
        raise BadInput("has no stages", where=str(fabric), how=how)
    document = read_document(file)
    plan = validate(StagePlan, document)
    return tuple(_fabrics(plan, document, path))


def _fabrics(plan: StagePlan, document: Document, path: Path) -> Iterator[StageFabric]:
    base = path.parent.parent / plan.base / FABRIC_FILE
    if not base.is_file():
        names = [one.parent.name for one in path.parent.parent.glob(f"*/{FABRIC_FILE}")]
        what = f"no fabric {plan.base!r}"
        raise BadInput(problems=[document.problem(("base",), what, nearest(plan.base, names))])
    text = _titled(read_text(base), plan)
    loaded = loaded_fabric(document_of(text, str(path)))
    loaded.refuse_bench()
    catalogue = load_catalogue(loaded.site)
    yield StageFabric(plan.base, text, loaded)
    for number, stage in enumerate(plan.stages):
        growth = _StageGrowth(text, loaded, catalogue, document, ("stages", number))
        growth.add(stage)
        text = growth.text
        loaded = loaded_fabric(document_of(text, str(path)))
        yield StageFabric(stage.name, text, loaded)


def _titled(text: str, plan: StagePlan) -> str:
    """Return the text of the base with the title and the name of the fabric with stages."""
    text = spliced(text, with_values(text, {("fabric",): plan.fabric}))
    lines = text.splitlines(keepends=True)
    first = next(n for n, line in enumerate(lines) if not line.startswith("#"))
    modeline = [line for line in lines[:1] if "$schema" in line]
    title = [f"# {line}".rstrip() + "\n" for line in plan.title.splitlines()]
    return "".join([*modeline, *title, *lines[first:]])


@dataclass
class _StageGrowth:
    """Text of a fabric that grows by one stage. at: place of the stage in its document."""

    text: str
    loaded: LoadedFabric
    catalogue: Catalogue
    document: Document
    at: YamlPath

    def add(self, stage: StageAdditions) -> None:
        """Add the items of a stage: switches, then servers, then beamlines."""
        if stage.spines:
            self._grow(GrowthRequest(spines=stage.spines))
        for segment, number in stage.leaves.items():
            like = self._leaves(segment, "leaves")[-1].name
            self._grow(GrowthRequest(leaves=number, like=(like,)))
        for segment, number in stage.servers.items():
            self._add_servers(segment, number)
        if stage.beamlines:
            self._add_beamlines(stage.beamlines)

    def _grow(self, request: GrowthRequest) -> None:
        grown = grow(self.text, self.loaded, self.catalogue, request)
        self.text, self.loaded = grown.text, grown.loaded

    def _leaves(self, segment: str, key: str) -> list[Leaf]:
        """Leaves with a gateway for a segment, by id."""
        fabric = self.loaded.fabric
        leaves = [leaf for leaf in fabric.leaves if segment in leaf.segments]
        if not leaves:
            what = f"no leaf serves segment {segment!r}"
            how = nearest(segment, [one.name for one in fabric.segments if one.vlan])
            problem = self.document.problem((*self.at, key, segment), what, how)
            raise BadInput(problems=[problem])
        return sorted(leaves, key=lambda leaf: leaf.id)

    def _hardware(self, leaf: Leaf) -> Hardware:
        return leaf.hardware_in_role(self.catalogue.hardware[leaf.hardware])

    def _rows(self, key: str) -> list[Item]:
        data = self.loaded.document.data
        return list(data.get(key) or ()) if isinstance(data, dict) else []

    def _add_servers(self, segment: str, number: int) -> None:
        """Add servers like the last one of a segment, each on the leaf with most free ports."""
        leaves, rows = self._leaves(segment, "servers"), self._rows("servers")
        own = [n for n, row in enumerate(rows) if row.get("segment") == segment and row.get("port")]
        if not own:
            problem = self.document.problem(
                (*self.at, "servers", segment),
                f"no server of segment {segment!r} that new ones are like",
                "add the first one to the base by hand",
            )
            raise BadInput(problems=[problem])
        like = rows[own[-1]]
        free = self._free_ports(like, leaves)
        name = numbered_on([str(row["name"]) for row in rows], str(like["name"]))
        copied = {key: value for key, value in like.items() if key not in SERVER_OF_ONE}
        items = []
        for count in range(1, number + 1):
            leaf = max(free, key=lambda one: len(free[one]))
            if not free[leaf]:
                what = f"{number} servers of {segment}, and its leaves have {count - 1} free ports"
                problem = self.document.problem(
                    (*self.at, "servers", segment), what, "add leaves in this stage"
                )
                raise Refused(problems=[problem])
            own_keys: Item = {"name": name(count), "leaf": leaf, "port": free[leaf].pop(0)}
            items.append(own_keys | copied)
        insertions = appended(self.text, {"servers": items}, {"servers": own[-1]}, "leaves")
        self._take(spliced(self.text, insertions), "servers", items)

    def _free_ports(self, like: Item, leaves: Sequence[Leaf]) -> dict[str, list[str]]:
        """Free ports of leaves with the speed of the port of a server."""
        fabric = self.loaded.fabric
        by_name = {leaf.name: leaf for leaf in fabric.leaves}
        own, port = by_name[str(like["leaf"])], str(like["port"])
        speed = self._hardware(own).speed_gbps(port, own.splits.get(whole_port(port)))
        free = {}
        for leaf in leaves:
            used = used_ports(fabric, leaf)
            ports = server_ports(leaf, self._hardware(leaf), speed or 0)
            free[leaf.name] = [one for one in ports if one not in used]
        return free

    def _add_beamlines(self, number: int) -> None:
        """Add beamlines like the last one, with the next ids; all their values are assumed."""
        fabric = self.loaded.fabric
        at = (*self.at, "beamlines")
        if not fabric.beamlines or fabric.capacity.beamline_ports is None:
            what = f"{fabric.fabric} has no beamline" if not fabric.beamlines else "ports are open"
            how = "give the base a beamline, and capacity.beamline_ports"
            raise BadInput(problems=[self.document.problem(at, what, how)])
        like = max(fabric.beamlines, key=lambda one: one.id)
        name = numbered_on([one.name for one in fabric.beamlines], like.name)
        hardware = {leaf.name: self._hardware(leaf) for leaf in fabric.leaves}
        items = []
        for count in range(1, number + 1):
            request = NewBeamline(name(count), like.name, id=like.id + count)
            item = BeamlineEntry(self.loaded, hardware, like, request).item()
            assumed = [key for key in item if key not in BEAMLINE_OF_ONE]
            items.append(item | {"assumed": assumed})
        edited = with_items(self.text, self.loaded, items)
        self.text, self.loaded = edited.text, edited.loaded

    def _take(self, text: str, key: str, items: Sequence[Item]) -> None:
        """Read the text with new items; raises Refused if it does not have them."""
        document = document_of(text, self.loaded.document.file)
        rows = document.data.get(key) if isinstance(document.data, dict) else None
        if rows != [*self._rows(key), *items]:
            what = f"new items of {key} do not read back as intended"
            raise Refused(what, file=document.file, how="write them by hand, and report it")
        self.text, self.loaded = text, loaded_fabric(document, self.loaded.site)


class StageRow(Frozen):
    """Fabric at the end of a stage. Gb/s of one direction; shares of the fullest cable.

    servers_gbps: ports of all servers. after: after the worst single failure. drained: with one
    spine drained and any one cable lost. switches_kept, lines_kept: of the stage before, unchanged
    and in their order; None: of the base. moved: what the stage would move, as text.
    """

    name: str
    beamlines: int
    leaves: int
    spines: int
    servers: int
    servers_gbps: int
    demand_gbps: float
    whole: float
    after: float
    drained: float
    fits: bool
    switches_kept: int | None = None
    lines_kept: int | None = None
    lines_added: int | None = None
    moved: tuple[str, ...] = ()


class Stages(Frozen):
    """Stages of a fabric, the base first. files: that were written."""

    fabric: str
    stages: tuple[StageRow, ...]
    files: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether each stage carries its demand and moves nothing."""
        return all(stage.fits and not stage.moved for stage in self.stages)


def judged_stages(stages: Sequence[StageFabric]) -> Stages:
    """Judge the capacity of each stage, and that it moves nothing of the stage before."""
    rows = []
    before: StageFabric | None = None
    for stage in tracked(stages, "judge stages"):
        rows.append(_row(stage, before))
        before = stage
    return Stages(fabric=stages[0].subject.network.name, stages=tuple(rows))


def _row(stage: StageFabric, before: StageFabric | None) -> StageRow:
    subject = stage.subject
    network = subject.network
    given = demand_of(None, None, network)
    if given.demand is None:
        raise BadInput(
            "no beamline, so no demand", where=stage.name, how="add beamlines to the base"
        )
    report = capacity_of(subject, given, scope="single")
    apart = maintenance_of(subject, given, report)
    worst = report.worst
    after = worst.utilisation if worst else report.utilisation
    row = StageRow(
        name=stage.name,
        beamlines=len(network.beamlines),
        leaves=len(network.role(SwitchRole.LEAF)),
        spines=len(network.role(SwitchRole.SPINE)),
        servers=len(network.servers or ()),
        servers_gbps=sum(use.capacity_gbps for use in report.of("servers")),
        demand_gbps=round(given.demand.peak, 3),
        whole=report.utilisation,
        after=after,
        drained=apart.worst.utilisation if apart else after,
        fits=report.fits
        and all(one.fits for one in report.failures)
        and (apart is None or apart.worst.fits),
    )
    if before is None:
        return row
    old = before.subject
    proof, findings = prove(old.network, network, old.texts, subject.texts)
    return row.model_copy(
        update={
            "switches_kept": proof.switches,
            "lines_kept": proof.lines,
            "lines_added": proof.lines_added,
            "moved": tuple(f"{one.where}: {one.message}" for one in findings),
        }
    )


def write_stages(stages: Sequence[StageFabric], directory: Path) -> tuple[str, ...]:
    """Write the fabric.yaml of the base and of each stage into folders of their names."""
    return tuple(
        str(path)
        for stage in stages
        for path in put_together({FABRIC_FILE: stage.text}, directory / stage.name)
    )
