"""Documents that a person writes: loaded with the place of every error; their JSON Schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rocefort.base.documents.read import Document, YamlPath, read_document
from rocefort.base.documents.schema import schema_of
from rocefort.base.documents.suggest import near, nearest
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput, Problem, Refused
from rocefort.base.repository import (
    FABRIC_FILE,
    INVENTORY,
    SHIPPED,
    Site,
    places_of,
    shortest,
    site_of,
)
from rocefort.design.load.beamlines import with_beamlines
from rocefort.design.load.hardware_catalogue import Catalogue, load_catalogue
from rocefort.models.fabric.bench import REPLACED
from rocefort.models.fabric.fabric import Fabric, Profiles
from rocefort.models.hardware.site_data import SiteCommands
from rocefort.models.network.demand import DAY_S, GBPS_OF_TB_A_DAY, Demand, members
from rocefort.models.network.network import Network, SwitchRole

__all__ = ["Catalogue", "LoadedFabric", "find_fabric", "load_catalogue", "load_fabric"]


@dataclass(frozen=True)
class LoadedFabric:
    """Fabric with its document, for positions, and the site whose hardware and profiles it uses."""

    fabric: Fabric
    document: Document
    site: Site = SHIPPED

    def problem(self, path: YamlPath, what: str, how: str = "") -> Problem:
        """Return a problem at a YAML path."""
        return self.document.problem(path, what, how)

    def refuse_bench(self) -> None:
        """Raise Refused for a bench, which has no spines, leaves and segments to change."""
        if self.fabric.bench is not None:
            what = "a bench has two hosts and at most one switch, and does not grow"
            how = "edit it by hand, or write a fabric: rocefort new"
            raise Refused(problems=[self.document.problem(("bench",), what, how, of_key=True)])


def find_fabric(name: Path) -> Path:
    """Find a fabric by file, by directory with fabric.yaml, or by name in an inventory.

    The inventory of the site around the current directory precedes the one that Rocefort ships.
    """
    places = (*places_of(name), INVENTORY / name)
    files = [place / FABRIC_FILE if place.is_dir() else place for place in places]
    if found := next((file for file in files if file.is_file()), None):
        return shortest(found)
    if folder := next((place for place in places if place.is_dir()), None):
        return shortest(folder / FABRIC_FILE)  # its reader reports that it is missing
    site = site_of(Path.cwd()) or SHIPPED
    listed = (path for each in {site, SHIPPED} for path in each.inventory.glob(f"*/{FABRIC_FILE}"))
    names = sorted({path.parent.name for path in listed})
    how = f"name a {FABRIC_FILE}, its directory, or one of: {', '.join(names)}"
    if similar := near(str(name), names):
        how = f"did you mean {similar!r}?"
    raise BadInput("no such fabric", where=str(name), how=how)


def load_fabric(name: Path, site: Site | None = None) -> LoadedFabric:
    """Read a fabric; raises BadInput with all problems of structure and types.

    site: of a file that is not in its place, such as a copy; by default that of the file.
    """
    return loaded_fabric(read_document(find_fabric(name)), site)


def loaded_fabric(document: Document, site: Site | None = None) -> LoadedFabric:
    """Return the fabric of a document; raises as `load_fabric` does."""
    of_file = site or site_of(Path(document.file)) or SHIPPED
    return fabric_of(validate(Fabric, document), document, of_file)


def fabric_of(fabric: Fabric, document: Document, site: Site) -> LoadedFabric:
    """Return a fabric with what follows from its beamlines, or from its bench."""
    if fabric.bench is not None:
        return LoadedFabric(fabric, replace(document, written=WRITTEN_OF_BENCH), site)
    return LoadedFabric(*with_beamlines(fabric, document), site)


# Where the values of a bench are written, by their paths in a fabric.
WRITTEN_OF_BENCH: Mapping[YamlPath, YamlPath] = {
    **{(key,): ("bench",) for key in REPLACED},
    ("cables", "server_m"): ("bench", "cable_m"),
    ("cables", "server"): ("bench", "cable"),
    ("segments", 0): ("bench", "prefix"),
    ("segments", 0, "vlan"): ("bench", "switch", "vlan"),
    ("segments", 1): ("bench", "switch", "management"),
    ("leaves", 0): ("bench", "switch"),
    ("leaves", 0, "id"): ("bench", "switch"),
    ("leaves", 0, "segments"): ("bench", "prefix"),
    ("leaves", 0, "pins", "management"): ("bench", "switch", "management"),
    **{("servers", number): ("bench", "hosts", number) for number in range(2)},
    **{("servers", number, "speed_gbps"): ("bench", "speed_gbps") for number in range(2)},
}


DEMAND_FILE = "demand.yaml"
SENDERS, RECEIVERS = "senders", "receivers"
KINDS = {"segments": "segment", "leaves": "leaf", "servers": "server"}  # keys of a group


@dataclass(frozen=True)
class LoadedDemand:
    """Demand with its document."""

    demand: Demand
    document: Document

    def problem(self, path: YamlPath, what: str, how: str) -> Problem:
        """Return a problem at a YAML path."""
        return self.document.problem(path, what, how)


def demand_beside(fabric: Path) -> Path | None:
    """Return the demand.yaml beside a fabric's file; None if there is none."""
    path = find_fabric(fabric).parent / DEMAND_FILE
    return shortest(path) if path.is_file() else None


def load_demand(path: Path, network: Network) -> LoadedDemand:
    """Read a demand and check its names; raises BadInput with all problems of a stage."""
    document = read_document(path, first="demand: NAME")
    loaded = LoadedDemand(validate(Demand, document), document)
    problems = [*_amounts(loaded), *_names(loaded, network)] or [*_flows(loaded, network)]
    if problems:
        raise BadInput(problems=sorted(problems, key=lambda problem: problem.line))
    return loaded


def _amounts(loaded: LoadedDemand) -> Iterator[Problem]:
    """Yield problems of volumes: a day cannot exceed 24 hours at peak."""
    peak = loaded.demand.peak
    most = peak / GBPS_OF_TB_A_DAY
    days = {"daily": loaded.demand.daily, "busiest_day": loaded.demand.busiest_day}
    for key, volume in days.items():
        if volume is not None and volume > most:
            what = f"{volume:,g} TB are more than {DAY_S // 3600} hours at the peak of {peak:,g} "
            how = "write a higher peak, or a smaller volume"
            yield loaded.problem((key,), f"{what}Gb/s bring: {most:,.0f} TB", how)
    daily, busiest = days.values()
    if daily is not None and busiest is not None and busiest < daily:
        what = f"{busiest:,g} TB are less than the {daily:,g} TB of an average day"
        yield loaded.problem(("busiest_day",), what, "write at least as much")


def _names(loaded: LoadedDemand, network: Network) -> Iterator[Problem]:
    """Yield problems of names: unknown to the fabric, without a server, or duplicate."""
    servers = network.servers or ()
    if not servers:
        what = f"fabric {network.name} has no server that could send"
        yield loaded.problem((), what, "add servers to the fabric")
        return
    with_servers = {
        "segments": {server.segment for server in servers},
        "leaves": {server.port.device for server in servers},
        "servers": {server.name for server in servers},
    }
    existing = {
        "segments": with_servers["segments"] | {one.name for one in network.segments or ()},
        "leaves": {node.name for node in network.role(SwitchRole.LEAF)},
        "servers": with_servers["servers"],
    }
    for path, key, names in _lists(loaded.demand):
        seen: dict[str, int] = {}
        for number, name in enumerate(names):
            here = (*path, key, number)
            if name in seen:
                what = f"{KINDS[key]} {name!r} is there twice"
                yield loaded.problem(here, what, f"the first is {key}[{seen[name]}]; remove one")
            elif name not in existing[key]:
                what = f"the fabric has no {KINDS[key]} {name!r}"
                yield loaded.problem(here, what, nearest(name, with_servers[key]))
            elif name not in with_servers[key]:
                what = f"{KINDS[key]} {name!r} has no server, so nothing sends or receives there"
                yield loaded.problem(here, what, "add servers to it in the fabric, or leave it out")
            seen.setdefault(name, number)


def _lists(demand: Demand) -> Iterator[tuple[YamlPath, str, Sequence[str]]]:
    for number, flow in enumerate(demand.flows):
        for side, group in ((SENDERS, flow.senders), (RECEIVERS, flow.receivers)):
            for key in KINDS if group else ():
                yield ("flows", number, side), key, getattr(group, key)


def _flows(loaded: LoadedDemand, network: Network) -> Iterator[Problem]:
    """Yield problems of flows: duplicates, or flows from a server only to itself."""
    seen: dict[object, int] = {}
    for number, flow in enumerate(loaded.demand.all_flows):
        path: YamlPath = ("flows", number) if loaded.demand.flows else ()
        ends = members(flow.senders, network), members(flow.receivers, network)
        key = tuple(frozenset(server.name for server in side) for side in ends)
        if key in seen:
            what = f"the same senders and receivers as flows[{seen[key]}]"
            yield loaded.problem(path, what, "write one flow with both amounts together")
        elif len(ends[1]) == 1 and key[0] == key[1]:
            what = f"{ends[1][0].name} alone would send to itself"
            yield loaded.problem(path, what, "name other senders or receivers")
        seen.setdefault(key, number)


SCHEMA_FILE = INVENTORY / "fabric.schema.json"
DEMAND_SCHEMA_FILE = INVENTORY / "demand.schema.json"
MODELINE = f"# yaml-language-server: $schema=../{SCHEMA_FILE.name}"


def fabric_schema() -> str:
    """Return the schema of a fabric.yaml."""
    return schema_of(Fabric, "fabric")


def demand_schema() -> str:
    """Return the schema of a demand.yaml."""
    return schema_of(Demand, "demand")


def profiles_schema() -> str:
    """Return the schema of a file of inventory/profiles."""
    return schema_of(Profiles, "profiles")


def catalogue_schema() -> str:
    """Return the schema of a file of inventory/catalogue."""
    return schema_of(SiteCommands, "catalogue")
