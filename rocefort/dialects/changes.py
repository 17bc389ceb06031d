"""The Change of one switch: its edits, the patch, the rollback, and the disruption."""

from __future__ import annotations

from collections.abc import Sequence

from rocefort.dialects.choose import dialect_of
from rocefort.dialects.dialect import Dialect
from rocefort.models.device.device import Device
from rocefort.models.hardware.hardware import Family
from rocefort.models.rollout.compare import classify, compare
from rocefort.models.rollout.plan import Change, ChangeKind, digest_of
from rocefort.models.wording import count_of

Path = tuple[str, ...]  # the lines that open the views of a line, and the line itself
Paths = Sequence[Path]


def change_of(  # noqa: PLR0913, PLR0917 - two texts, what each means, and how they are written
    running_text: str,
    running: Device,
    intended_text: str,
    intended: Device,
    family: Family,
    kept: tuple[str, ...],
    lines: tuple[Paths, Paths] = ((), ()),
) -> Change:
    """Return the Change of one switch. Our renderer wrote both texts; `kept`: unowned lines.

    lines: those of the site's templates in each text. Their effect is not known: a change of them
    counts as one that affects service.
    """
    dialect = dialect_of(family)
    was, will = lines
    texts = (_with_lines(dialect, running_text, was), _with_lines(dialect, intended_text, will))
    patch = dialect.patch(*texts, family)
    edits = compare(running, intended)
    kind, reasons = classify(edits, patch.commands, dialect.disrupts)
    unjudged = (
        *(f"- {' / '.join(path)}" for path in was if path not in will),
        *(f"+ {' / '.join(path)}" for path in will if path not in was),
    )
    if unjudged:
        reasons = (*reasons, f"{count_of(len(unjudged), 'line')} of templates: not judged")
        kind = ChangeKind.MODIFYING if kind is ChangeKind.ADDITIVE else kind
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
        unjudged=unjudged,
    )


def _with_lines(dialect: Dialect, text: str, lines: Paths) -> str:
    return dialect.with_lines(text, lines) if lines else text
