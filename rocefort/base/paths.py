"""Folders of the data that Rocefort ships.

A clone has them at its root, with links in `rocefort/`. A wheel has them in `rocefort/`.
"""

from __future__ import annotations

from pathlib import Path

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
