"""Load fabric.yaml as a Fabric; every error has its place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rocefort.base.documents.read import Document, YamlPath, read_document
from rocefort.base.documents.suggest import near
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput, Problem
from rocefort.base.repository import (
    FABRIC_FILE,
    INVENTORY,
    SHIPPED,
    Site,
    places_of,
    shortest,
    site_of,
)
from rocefort.design.load.hardware_catalogue import Catalogue, load_catalogue
from rocefort.models.fabric.fabric import Fabric

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
    return LoadedFabric(validate(Fabric, document), document, of_file)
