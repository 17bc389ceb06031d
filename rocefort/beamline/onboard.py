"""`beamline add`: what the entry of a new beamline brings is derived, checked and compared.

Nothing of the fabric before may move. The demand with the new beamline must fit in each state in
which that before fits: whole, after any single failure, and with a spine drained and a cable lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Self

from rocefort.base.errors import Problem
from rocefort.beamline.entry import BeamlineEntry, EditedText, NewBeamline, growth_first, with_items
from rocefort.beamline.facility import beamline_named
from rocefort.change.edit import FabricFile, Versions, read_fabric, versions_of
from rocefort.change.expand import GrowthOptions, by_place, new_cables
from rocefort.change.growth import ListedCable
from rocefort.design.subject import ReadNetwork
from rocefort.models.base import Frozen
from rocefort.models.fabric.beamlines import Beamline
from rocefort.models.network.network import Network
from rocefort.models.wording import count_of, listing
from rocefort.validators.capacity.capacity_results import AfterFailure, CapacityReport
from rocefort.validators.rules.verification.growth_subject import Proof, prove
from rocefort.verification.capacity import (
    MaintenanceState,
    capacity_of,
    demand_of,
    maintenance_of,
    percent,
)


class NewServer(Frozen):
    """Server of a new beamline."""

    name: str
    leaf: str
    port: str
    address: str
    gbps: int


class Onboarding(Frozen):
    """New beamline. pattern: the one that it is like. lines: of the file.

    before, after: use of the fullest cable: whole, after the worst single failure, and with a spine
    drained and the worst cable lost (None: no spine can be drained).

    nic: its profile; empty: not given. nic_models: of the inventory, with a port of that speed.
    peak_gbps, sent_gbps: of the new beamline. written: whether the file has it.
    """

    fabric: str
    file: str
    name: str
    id: int
    pattern: str
    peak_gbps: float
    sent_gbps: float
    lines: int
    servers: tuple[NewServer, ...]
    cables: tuple[ListedCable, ...]
    free: tuple[tuple[str, int], ...]  # ports of that speed, by leaf, that are still free
    before: tuple[float, float | None, float | None]
    after: tuple[float, float | None, float | None]
    worst: str
    proof: Proof
    touched: tuple[str, ...]
    nic: str = ""
    nic_models: tuple[str, ...] = ()
    nic_source: str = ""
    warnings: tuple[str, ...] = ()
    not_judged: int = 0
    written: bool = False


def onboard(fabric: Path, request: NewBeamline) -> tuple[Onboarding, Versions[EditedText]]:
    """Add a beamline in memory; no file is written.

    Raises BadInput for an unknown or used name, and for a bad rate. Raises Refused where ports or
    capacity are missing, with the numbers.
    """
    file = read_fabric(fabric, "the beamline is not added")
    like = beamline_named(file.start.network, request.like)
    hardware = {node.name: node.hardware for node in file.start.network.nodes if node.hardware}
    entry = BeamlineEntry(file.loaded, hardware, like, request, file.path)
    versions = versions_of(file, lambda: with_items(file.text, file.loaded, [entry.item()]))
    old, new = versions.old, versions.new
    proof, moved = prove(old.network, new.network, old.texts, new.texts)
    versions.refuse(moved)
    before, after = (_Carried.of(file.path, side) for side in (old, new))
    beamline = versions.edited.beamline
    nics = _nics(file, new.network, beamline)
    if problems := list(_missing(file, beamline, before, after)):
        raise file.untouched(problems)
    worst = after.report.worst
    onboarding = Onboarding(
        fabric=new.network.name,
        file=str(file.path),
        name=beamline.name,
        id=beamline.id,
        pattern=like.name,
        peak_gbps=beamline.peak_gbps,
        sent_gbps=beamline.sent_gbps,
        lines=sum(len(one.text.strip().splitlines()) for one in versions.edited.insertions),
        servers=tuple(_servers(new.network, beamline)),
        cables=tuple(sorted(new_cables(old.network, new.network), key=by_place)),
        free=tuple(entry.free_after(beamline)),
        before=before.fullest,
        after=after.fullest,
        worst=worst.failures[0] if worst else "",
        proof=proof,
        touched=tuple(name for name in new.texts if new.texts[name] != old.texts.get(name)),
        warnings=tuple(versions.warnings),
        not_judged=versions.not_judged,
        **nics,
    )
    return onboarding, versions


@dataclass(frozen=True)
class _Carried:
    """State of a fabric under its demand: whole, after a failure, and during maintenance."""

    report: CapacityReport
    maintenance: MaintenanceState | None

    @classmethod
    def of(cls, file: Path, side: ReadNetwork) -> Self:
        given = demand_of(file, None, side.network)
        report = capacity_of(side, given)
        return cls(report, maintenance_of(side, given, report))

    @property
    def fullest(self) -> tuple[float, float | None, float | None]:
        worst, apart = self.report.worst, self.maintenance
        after = worst.utilisation if worst else None
        return self.report.utilisation, after, apart.worst.utilisation if apart else None


def _missing(
    file: FabricFile, beamline: Beamline, before: _Carried, after: _Carried
) -> Iterator[Problem]:
    """Yield what the demand with a new beamline lacks, if the demand before lacked nothing."""
    was, now = before.report, after.report
    if was.fits and not now.fits:
        top = max(now.of("servers"), key=lambda use: use.utilisation)
        if top.utilisation > 1:
            what = f"{top.fullest} on {top.name} would be loaded to {percent(top.utilisation)}"
            yield Problem(beamline.name, what, "add receivers first")
        if now.utilisation > 1:
            what = f"{now.fullest} would be loaded to {percent(now.utilisation)}"
            yield Problem(beamline.name, what, _more_spines(file, now, now.spines_needed))
    if now.worst and was.worst and was.worst.fits and not now.worst.fits and now.fits:
        what = f"after the loss of {now.worst.failures[0]}, {_load(now.worst)}"
        yield Problem(beamline.name, what, _more_spines(file, now, now.spines_needed_after))
    old, new = before.maintenance, after.maintenance
    if old and new and old.worst.fits and not new.worst.fits and now.fits:
        # Each cable then carries less by at least the part that a spine in service is more.
        needed = ceil((now.spines - 1) * new.worst.utilisation) + 1
        what = f"with {new.spine} drained and {new.worst.failures[0]} lost, {_load(new.worst)}"
        yield Problem(beamline.name, what, _more_spines(file, now, needed))


def _load(after: AfterFailure) -> str:
    return f"{after.fullest} would be loaded to {percent(after.utilisation)}"


def _more_spines(file: FabricFile, report: CapacityReport, needed: int | None) -> str:
    """Return what must grow first, or why more spines do not fit."""
    more = (needed or 0) - report.spines
    if more <= 0:
        return "grow first: more links_per_pair, or more spines"
    growth = growth_first(
        report.fabric, file.path, f"--add-spines {more}", GrowthOptions(more, 0, 0)
    )
    return f"{growth}, or more links_per_pair"


def _nics(file: FabricFile, network: Network, beamline: Beamline) -> dict[str, object]:
    """Return the NIC profile of a beamline, and the NICs of its make that fit its ports.

    Raises Refused if the inventory has NICs of the make, and none with a port of that speed.
    """
    hosts, name = network.hosts, beamline.nic
    profile = hosts.nics.get(name) if hosts and name else None
    adapter = hosts.adapters.get(profile.adapter or "") if hosts and profile else None
    servers = {server.name: server for server in network.servers or ()}
    speeds = {servers[own].flow_gbps for own in beamline.servers}
    if adapter is None or not adapter.nics:
        return {"nic": name or ""}
    models = set.intersection(*({*adapter.nics_of(speed)} for speed in speeds))
    if not models:
        most = max(gbps for own in adapter.nics.values() for gbps in own)
        what = (
            f"{count_of(len(beamline.servers), 'NIC')} of {listing(f'{s} Gb/s' for s in speeds)} "
            f"are missing: profile {name} is of {adapter.model}, and the inventory has them up to "
            f"{most} Gb/s"
        )
        how = "name another NIC profile in the entry that it is like, or add the NIC to `adapter`"
        raise file.untouched([Problem(beamline.name, what, how)])
    return {
        "nic": name or "",
        "nic_models": tuple(one for one in adapter.nics if one in models),
        "nic_source": adapter.source_of("nics") or "",
    }


def _servers(network: Network, beamline: Beamline) -> Iterator[NewServer]:
    servers = {server.name: server for server in network.servers or ()}
    for name in beamline.servers:
        server = servers[name]
        yield NewServer(
            name=name,
            leaf=server.port.device,
            port=server.port.interface,
            address=str(server.address),
            gbps=server.flow_gbps,
        )
