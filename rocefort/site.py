"""A site's repository: its fabrics, and its own hardware files, profiles and templates.

What a site has precedes what Rocefort ships. The site of a fabric is found from the place of its
file alone, so that every command, in every current directory, reads the same data.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rocefort.paths import INVENTORY, ROOT

SETTINGS_FILE = "rocefort.toml"


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
    def templates(self) -> Path:
        """Folder of templates, with a folder for each dialect."""
        return self.root / "templates"


SHIPPED = Site(ROOT)


def site_of(path: Path) -> Site | None:
    """Return the site of a fabric's file or of a folder: the nearest folder that is one, upwards.

    A folder is a site if it has `rocefort.toml` or `inventory/`. None: there is none.
    """
    start = path.absolute()
    for folder in (start, *start.parents):
        if (folder / SETTINGS_FILE).is_file() or (folder / INVENTORY.name).is_dir():
            return Site(folder)
    return None
