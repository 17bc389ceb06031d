"""A site's repository: its fabrics, and its own hardware files, profiles and templates.

What a site has precedes what Rocefort ships. The site of a fabric is found from the place of its
file alone, so that every command, in every current directory, reads the same data.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rocefort.paths import INVENTORY, ROOT

SETTINGS_FILE = "rocefort.toml"
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
    def data(self) -> tuple[Path, ...]:
        """Folders of files that determine lines of configuration, besides those of fabrics."""
        return (self.hardware, self.profiles)

    @property
    def layers(self) -> tuple[Site, ...]:
        """Sites whose data it uses; a later one precedes."""
        return (SHIPPED,) if self.inventory.resolve() == INVENTORY else (SHIPPED, self)

    def state(self, folder: Path) -> SiteState:
        """Return the key of a cache of a folder: its files with their times and sizes.

        Names in errors are relative to the current directory. Shipped files do not change.
        """
        key: list[str | int] = [str(Path.cwd())]
        if self.layers != (SHIPPED,):
            for path in sorted(folder.rglob("*.yaml")):
                if path.is_file():
                    state = path.stat()
                    key += str(path), state.st_mtime_ns, state.st_size
        return tuple(key)

    @property
    def templates(self) -> Path:
        """Folder of templates, with a folder for each dialect."""
        return self.root / "templates"


SHIPPED = Site(ROOT)


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
