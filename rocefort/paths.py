"""Where the repository keeps its data: an application that installs in place."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INVENTORY = ROOT / "inventory"
TEMPLATES = ROOT / "templates"
HARDWARE = INVENTORY / "hardware"
PROFILES = INVENTORY / "profiles"
