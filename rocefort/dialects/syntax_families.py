"""The syntax families of switches, from `inventory/hardware/families.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from rocefort.base.documents.read import read_document
from rocefort.base.documents.validate import validate
from rocefort.base.repository import HARDWARE
from rocefort.models.hardware.hardware import Family, FamilyFile

FAMILY_FILE = "families.yaml"


@cache
def load_families() -> Mapping[str, Family]:
    """Return the shipped families."""
    return read_families(HARDWARE)


def read_families(directory: Path) -> Mapping[str, Family]:
    """Read ranges, defaults and conditions of each family; raises BadInput for a bad file."""
    document = read_document(directory / FAMILY_FILE, "families:")
    return validate(FamilyFile, document).with_lines
