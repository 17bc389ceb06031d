"""Whether the lines that change say the values that change, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from rocefort.dialects.vrp.narrowed import narrowed
from rocefort.dialects.vrp.parse import Parsed, parse
from rocefort.errors import BadInput
from rocefort.models.base import Frozen
from rocefort.models.device import Device


@lru_cache(maxsize=1024)  # many switches of a fabric change by the same lines
def said(text: str) -> Parsed:
    """What is left of a text says, see `narrowed`; raises as `parse` does."""
    return parse(text, "the text of a change")


def says_change(before: str, old: Device, after: str, new: Device) -> bool:
    """Whether two texts differ as two Devices do, from the same values to the same values.

    So where the first text says the first Device, the second says the second: what neither shows
    here is equal on both sides, in the texts and in the Devices.
    """
    left = narrowed(before, after)
    try:
        was, will = said(left.before), said(left.after)
    except BadInput:
        return False
    if was.unmodelled or will.unmodelled:
        return False
    unnamed = {"name": will.device.name} if old.name == new.name else {}
    return _same_change(
        old.model_copy(update=unnamed), new.model_copy(update=unnamed), was.device, will.device
    )


def _same_change(old: object, new: object, was: object, will: object) -> bool:
    """Whether two values differ as two others do; in parts, where not all of them is said."""
    if old is new or old == new:
        return was == will
    if old == was and new == will:
        return True
    all_of_them = (old, new, was, will)
    if isinstance(old, Frozen) and {type(old)} == {*map(type, all_of_them)}:
        names = type(old).model_fields
        return all(_same_change(*(getattr(each, n) for each in all_of_them)) for n in names)
    rows = [_rows(each) for each in all_of_them]
    if None in rows:  # values that stand together, as the addresses of a port
        return False
    keys = {key: None for found in rows for key in found or ()}
    return all(_same_change(*((found or {}).get(key) for found in rows)) for key in keys)


def _rows(value: object) -> Mapping[object, Frozen] | None:
    """Rows of a collection by key; None for what is none."""
    if not isinstance(value, tuple) or not all(isinstance(row, Frozen) for row in value):
        return None
    return {getattr(row, "key", row): row for row in value}
