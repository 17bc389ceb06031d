"""Folders of the data that Rocefort ships, and a site's repository.

A clone has them at its root, with links in `rocefort/`. A wheel has them in `rocefort/`.

What a site has precedes what Rocefort ships. The site of a fabric is found from the place of its
file alone, so that every command, in every current directory, reads the same data.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from rocefort.base.errors import BadInput, Refused

PACKAGE = Path(__file__).resolve().parents[1]
INVENTORY = (PACKAGE / "inventory").resolve()
ROOT = INVENTORY.parent
TEMPLATES = ROOT / "templates"
HARDWARE = INVENTORY / "hardware"
PROFILES = INVENTORY / "profiles"


def shortest(path: Path) -> Path:
    """Return the path relative to the current directory, if it is below it."""
    absolute = path.absolute()
    here = Path.cwd()
    return absolute.relative_to(here) if absolute.is_relative_to(here) else path


SETTINGS_FILE = "rocefort.toml"
DATA_FILES = "*.yaml"
TEMPLATE_FILES = "*.j2"
CODE = Path("rocefort", "__init__.py")
SiteState = tuple[str | int, ...]


@dataclass(frozen=True)
class Site:
    """Repository, or folder of one, that holds `inventory/`; every part may be absent."""

    root: Path

    @property
    def inventory(self) -> Path:
        """Folder of the fabrics: `inventory/NAME/fabric.yaml`."""
        return self.root / INVENTORY.name

    @property
    def hardware(self) -> Path:
        """Folder of switch models."""
        return self.inventory / "hardware"

    @property
    def profiles(self) -> Path:
        """Folder of named profiles."""
        return self.inventory / "profiles"

    @property
    def catalogue(self) -> Path:
        """Folder of commands that the site adds to the command table."""
        return self.inventory / "catalogue"

    @property
    def facts(self) -> Path:
        """Folder of the answers of its switches to a probe."""
        return self.inventory / "facts"

    @property
    def data(self) -> tuple[tuple[Path, str], ...]:
        """Folders and patterns of files that determine lines, besides those of fabrics."""
        folders = (self.hardware, self.profiles, self.catalogue, self.facts)
        return tuple((folder, DATA_FILES) for folder in folders)

    @property
    def files(self) -> list[Path]:
        """All files that determine lines, besides those of fabrics."""
        return [path for data in self.data for path in files_in(*data)]

    @property
    def own_files(self) -> list[Path]:
        """The same with templates, without those that Rocefort ships."""
        if self not in self.layers[1:]:
            return []
        own = [] if self.is_clone else files_in(self.templates, TEMPLATE_FILES)
        return [*self.files, *own]

    @property
    def layers(self) -> tuple[Site, ...]:
        """Sites whose data it uses; a later one precedes."""
        return (SHIPPED,) if self.inventory.resolve() == INVENTORY else (SHIPPED, self)

    @property
    def state(self) -> SiteState:
        """Key of a cache of what is read here: the files with their times and sizes.

        Names in errors are relative to the current directory. Shipped files do not change, except
        that a probe writes facts into a clone.
        """
        key: list[str | int] = [str(Path.cwd())]
        for path in sorted({*self.own_files, *files_in(self.facts, DATA_FILES)}):
            state = path.stat()
            key += str(path), state.st_mtime_ns, state.st_size
        return tuple(key)

    def copy_to(self, directory: Path) -> None:
        """Copy the own files, so that a changed fabric there is derived with the same data."""
        for path in self.own_files:
            target = directory / path.relative_to(self.root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)

    @property
    def templates(self) -> Path:
        """Folder of templates, with a folder for each dialect."""
        return self.root / "templates"

    @property
    def code(self) -> Path:
        """File that only a clone of Rocefort has."""
        return self.root / CODE

    @property
    def is_clone(self) -> bool:
        """Whether it is a clone of Rocefort, whose templates are the shipped ones.

        A site with settings is none, so that no file can turn its rules and templates off.
        """
        return self.code.is_file() and not (self.root / SETTINGS_FILE).is_file()


SHIPPED = Site(ROOT)


def refuse_shipped(path: Path) -> None:
    """Raise Refused for a file that Rocefort ships: an update replaces it, and all sites have it.

    In a clone, its inventory is edited from within the clone alone.
    """
    if not path.resolve().is_relative_to(INVENTORY):
        return
    if SHIPPED.is_clone and Path.cwd().is_relative_to(ROOT):
        return
    raise Refused(
        "Rocefort ships it, and does not edit it",
        where=str(path),
        how="make a repository of your own with `rocefort init`, and copy the fabric there",
    )


def files_in(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a folder and of those in it, in order; hidden ones are an editor's."""
    found = sorted(folder.rglob(pattern))
    return [path for path in found if path.is_file() and not path.name.startswith(".")]


def this_site() -> Site:
    """Return the site of the current directory, or what Rocefort ships."""
    return site_of(Path.cwd()) or SHIPPED


def places_of(name: Path) -> tuple[Path, ...]:
    """Return the paths that an argument can mean: itself, or a name in this site's inventory.

    This site is that of the current directory, so that a name is found from any folder of it.
    """
    site = site_of(Path.cwd())
    return (name, site.inventory / name) if site else (name,)


def site_of(path: Path) -> Site | None:
    """Return the site of a fabric's file or of a folder: the nearest folder that is one, upwards.

    A folder is a site if it has `rocefort.toml` or `inventory/`. The top of a git repository ends
    the search, so that a worktree has the site of its revisions. None: there is none.
    """
    start = path.absolute()
    for folder in (start, *start.parents):
        if (folder / SETTINGS_FILE).is_file() or (folder / INVENTORY.name).is_dir():
            return Site(folder)
        if (folder / ".git").exists():
            break
    return None


FABRIC_FILE = "fabric.yaml"


def only_fabric() -> Path:
    """Return the directory of the only fabric of this site; raises BadInput if there is no one."""
    site = site_of(Path.cwd())
    found = sorted(site.inventory.glob(f"*/{FABRIC_FILE}")) if site else []
    if len(found) == 1:
        return shortest(found[0].parent)
    names = ", ".join(path.parent.name for path in found)
    where = str(shortest(site.inventory)) if site else str(Path.cwd())
    what = f"no fabric is named, and {len(found)} are here" if found else "no fabric is here"
    start = "" if site else ", `rocefort init` a repository for one"
    how = f"name one of: {names}" if names else f"name one; `rocefort new NAME` writes one{start}"
    raise BadInput(what, where=where, how=how)
