"""Import secrets as references: those in a text, else one that the site must fill."""

from __future__ import annotations

import re

from rocefort.design.importing.assumptions import Data, Notes
from rocefort.models.device.secret import is_reference, reference_of


def authentication(stated: str, name: str, notes: Notes) -> Data:
    """Return `authentication` for the state of a password; name: purpose of the variable."""
    if is_reference(stated):
        _, _, version = stated.partition(" version ")
        row: Data = {"password": reference_of(stated)}
        return row | ({"version": int(version)} if version else {})
    variable = re.sub(r"\W+", "_", f"{name}_PASSWORD", flags=re.ASCII).upper()
    reference = f"env:{variable}"
    notes.assume(("secrets", reference), f"{reference} is to hold a password that the texts hide")
    return {"password": reference}
