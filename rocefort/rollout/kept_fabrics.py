"""The fabric that a run began with, kept by its content beside the journal.

Who goes on with a run, ends it or takes it back uses that one: the fabric's files may have been
edited meanwhile, and a switch that is drained or on trial must not wait for them.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from rocefort.errors import Refused
from rocefort.models.kept_fabric import KeptFabric
from rocefort.rollout.texts import KeptTexts


def keep_fabric(directory: Path, fabric: KeptFabric) -> str:
    """Keep a fabric, for its owner alone; returns its digest. Raises ServiceFailed."""
    return KeptTexts(directory, "the fabric").keep(fabric.model_dump_json())


def read_fabric(place: Path) -> KeptFabric:
    """A kept fabric; raises BadInput where it is not there or was changed, Refused as another."""
    try:
        return KeptFabric.model_validate_json(KeptTexts(place.parent).read(place.name))
    except ValidationError:
        how = "go on by the version that kept it"
        raise Refused("is no fabric of this version", where=str(place), how=how) from None
