"""The Change of one switch: its edits, the patch and the way back, and what is felt of it."""

from __future__ import annotations

from collections.abc import Collection

from rocefort.dialects.vrp.disruption import DISRUPTS
from rocefort.dialects.vrp.patch import make_patch
from rocefort.dialects.vrp.profile_moves import ProfileMove
from rocefort.models.change import Change, digest_of
from rocefort.models.compare import classify, compare
from rocefort.models.device import Device
from rocefort.models.hardware import SyntaxFamily
from rocefort.models.wording import listing


def change_of(  # noqa: PLR0913, PLR0917 - two texts, what each means, and how they are written
    running_text: str,
    running: Device,
    intended_text: str,
    intended: Device,
    family: SyntaxFamily,
    kept: tuple[str, ...],
) -> Change:
    """The Change of one switch. Both texts come from our renderer; `kept` are lines nobody owns."""
    patch = make_patch(running_text, intended_text, family)
    edits = compare(running, intended)
    kind, reasons = classify(edits, patch.commands, DISRUPTS)
    return Change(
        device=intended.name,
        kind=kind,
        service_affecting=(*reasons, *map(_unpaused, patch.unpaused)),
        edits=edits,
        patch=patch.commands,
        reverse=patch.reverse,
        running_digest=digest_of(running_text),
        intended_digest=digest_of(intended_text),
        kept=kept,
    )


def _unpaused(move: ProfileMove) -> str:
    return (
        f"traffic of {move.port} is not paused in {_queues(move.if_first)} while its PFC profile "
        f"changes ({_queues(move.if_last)} if the lines are reversed): stop RoCE on this port or "
        "drain the switch first"
    )


def _queues(queues: Collection[int]) -> str:
    return f"queue{'s' * (len(queues) > 1)} {listing(sorted(queues))}"
