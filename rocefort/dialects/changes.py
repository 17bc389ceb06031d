"""The Change of one switch: its edits, the patch, the rollback, and the disruption."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from rocefort.dialects.choose import dialect_of
from rocefort.dialects.dialect import Dialect
from rocefort.models.device.device import Device
from rocefort.models.hardware.hardware import Family
from rocefort.models.hardware.site_commands import SiteFamily
from rocefort.models.rollout.compare import classify, compare
from rocefort.models.rollout.plan import Change, ChangeKind, StatedEffect, digest_of
from rocefort.models.wording import count_of

Path = tuple[str, ...]  # the lines that open the views of a line, and the line itself
Paths = Sequence[Path]


def replaced_lines(lines: Iterable[Path], own: Collection[Path], family: Family) -> set[Path]:
    """Return the lines of a text that other lines replace, or that are among them."""
    if not own:
        return set()
    dialect = dialect_of(family)
    keys = {dialect.line_key(path, family) for path in own}
    return {path for path in lines if dialect.line_key(path, family) in keys}


def change_of(  # noqa: PLR0913, PLR0917 - two texts, what each means, and how they are written
    running_text: str,
    running: Device,
    intended_text: str,
    intended: Device,
    family: Family,
    kept: tuple[str, ...],
    lines: tuple[Paths, Paths] = ((), ()),
    base: Family | None = None,
) -> Change:
    """Return the Change of one switch. Our renderer wrote both texts; `kept`: unowned lines.

    lines: those of the site's templates in each text. A change of them counts as one that affects
    service, unless the site's catalogue states that it does not. base: the family before a change
    that is reviewed; it must have the same command then.
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
    stated = tuple(_stated(dialect, unjudged, family, base))
    if unjudged:
        reasons = (*reasons, *_reasons(unjudged, stated))
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
        stated=stated,
    )


def _stated(
    dialect: Dialect, lines: Iterable[str], family: Family, base: Family | None
) -> Iterator[StatedEffect]:
    """Yield the effects of lines that the site's catalogue states."""
    for line in lines:
        path = line[2:].split(" / ")
        command = dialect.site_command(path, family)
        if command is None:
            continue
        effect = StatedEffect(
            line=line,
            effect=command.effect,
            affects_service=command.affects_service,
            confirmed=command.confirmed,
        )
        if effect.harmless and base and dialect.site_command(path, base) != command:
            own_file = family.file_of(command) if isinstance(family, SiteFamily) else ""
            effect = effect.model_copy(update={"own_file": own_file})
        yield effect


def _reasons(unjudged: Sequence[str], stated: Sequence[StatedEffect]) -> Iterator[str]:
    yield from dict.fromkeys(str(each) for each in stated if not each.harmless)
    if rest := len(unjudged) - len(stated):
        yield f"{count_of(rest, 'line')} of templates: not judged"


def _with_lines(dialect: Dialect, text: str, lines: Paths) -> str:
    return dialect.with_lines(text, lines) if lines else text
