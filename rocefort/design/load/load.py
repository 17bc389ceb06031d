"""Load fabric.yaml as a Fabric; every error has its place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rocefort.design.load.hardware_catalogue import Catalogue, load_catalogue
from rocefort.documents.read import Document, YamlPath, path_text, read_document
from rocefort.documents.validate import validate
from rocefort.errors import BadInput, Problem
from rocefort.models.fabric.fabric import Fabric
from rocefort.paths import HARDWARE, INVENTORY, PROFILES

__all__ = ["Catalogue", "LoadedFabric", "find_fabric", "load_catalogue", "load_fabric", "shortest"]
FABRIC_FILE = "fabric.yaml"


@dataclass(frozen=True)
class LoadedFabric:
    """Fabric with its document, for positions."""

    fabric: Fabric
    document: Document

    def problem(self, path: YamlPath, what: str, how: str = "") -> Problem:
        """Return a problem at a YAML path."""
        position = self.document.at(path)
        return Problem(f"{position}: {path_text(path)}", what, how, position.line)


def find_fabric(name: Path) -> Path:
    """Find a fabric by file, by directory with fabric.yaml, or by name in an inventory.

    The inventory of the current directory precedes the one that Rocefort ships.
    """
    inventories = (Path("inventory"), INVENTORY)
    for candidate in (name, *(inventory / name for inventory in inventories)):
        if candidate.is_dir():
            return shortest(candidate / FABRIC_FILE)
        if candidate.is_file():
            return shortest(candidate)
    files = (path for inventory in inventories for path in inventory.glob(f"*/{FABRIC_FILE}"))
    names = sorted({path.parent.name for path in files})
    raise BadInput(
        "no such fabric",
        where=str(name),
        how=f"name a {FABRIC_FILE}, its directory, or one of: {', '.join(names)}",
    )


def refuse_site_data(fabric: Path) -> None:
    """Raise BadInput for hardware or profiles next to a fabric that differ from the installed ones.

    Only the installed ones are read, so a change of others would never reach a switch.
    """
    inventory = fabric.absolute().parent.parent
    for installed in (HARDWARE, PROFILES):
        for path in sorted((inventory / installed.name).glob("*.yaml")):
            own = installed / path.name
            if not own.is_file() or own.read_bytes() != path.read_bytes():
                raise BadInput(
                    "is not read: hardware and profiles are those of the installed Rocefort",
                    where=str(shortest(path)),
                    how="put a profile into `profiles:` of the fabric; add a switch model to "
                    "inventory/hardware of Rocefort",
                )


def shortest(path: Path) -> Path:
    """Return the path relative to the current directory, if it is below it."""
    absolute = path.absolute()
    here = Path.cwd()
    return absolute.relative_to(here) if absolute.is_relative_to(here) else path


def load_fabric(name: Path) -> LoadedFabric:
    """Read a fabric; raises BadInput with all problems of structure and types."""
    document = read_document(find_fabric(name))
    return LoadedFabric(validate(Fabric, document), document)
