"""The Change of one switch: its edits, the patch, the rollback, and the disruption."""

from __future__ import annotations

from rocefort.dialects.choose import dialect_of
from rocefort.models.device.device import Device
from rocefort.models.hardware.hardware import Family
from rocefort.models.rollout.compare import classify, compare
from rocefort.models.rollout.plan import Change, digest_of


def change_of(  # noqa: PLR0913, PLR0917 - two texts, what each means, and how they are written
    running_text: str,
    running: Device,
    intended_text: str,
    intended: Device,
    family: Family,
    kept: tuple[str, ...],
) -> Change:
    """Return the Change of one switch. Our renderer wrote both texts; `kept`: unowned lines."""
    dialect = dialect_of(family)
    patch = dialect.patch(running_text, intended_text, family)
    edits = compare(running, intended)
    kind, reasons = classify(edits, patch.commands, dialect.disrupts)
    return Change(
        device=intended.name,
        dialect=family.dialect,
        kind=kind,
        service_affecting=(*reasons, *patch.disrupts),
        edits=edits,
        patch=patch.commands,
        reverse=patch.reverse,
        running_digest=digest_of(running_text),
        intended_digest=digest_of(intended_text),
        kept=kept,
    )
