"""JSON Schemas of the documents that a person writes, for completion and checks in editors."""

from __future__ import annotations

from rocefort.base.json_schema import schema_of
from rocefort.base.repository import INVENTORY
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.profiles import Profiles
from rocefort.models.hardware.site_commands import SiteCommands
from rocefort.models.network.demand import Demand

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
