"""The Change of one switch: its edits, the patch, the rollback, and lines that need more."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from rocefort.base.errors import BadInput
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.data import ConfigPatch, TakenLine
from rocefort.dialects.dialect import Dialect
from rocefort.models.change.compare import classify, compare
from rocefort.models.change.plan import Change, ChangeKind, StatedEffect, digest_of
from rocefort.models.device.device import Device
from rocefort.models.hardware.hardware import Condition, ConditionedLine, Family
from rocefort.models.hardware.site_data import SiteFamily
from rocefort.models.wording import count_of


def conditions_of(lines: Iterable[str], family: Family) -> tuple[ConditionedLine, ...]:
    """Return lines of a patch (`Change.patch`) or a saved text with a condition, in their order.

    Views are found by indentation, which both have.
    """
    return tuple(_conditioned_lines(lines, family.conditions)) if family.conditions else ()


def _conditioned_lines(
    lines: Iterable[str], conditions: tuple[Condition, ...]
) -> Iterator[ConditionedLine]:
    view = ""
    for raw in lines:
        line = raw.strip()
        if not raw.startswith(" "):
            view = line
        condition = condition_of(line, conditions)
        if condition is not None:
            inside = view if raw.startswith(" ") else ""
            yield ConditionedLine(
                line=line,
                view=inside,
                command=condition.command,
                needs=condition.needs,
                note=condition.note,
            )


def condition_of(line: str, conditions: Iterable[Condition]) -> Condition | None:
    """Return the condition of one unindented line; None where a commit is enough."""
    words = f"{line} "
    return next((each for each in conditions if words.startswith(f"{each.command} ")), None)


Path = tuple[str, ...]  # the lines that open the views of a line, and the line itself
Paths = Sequence[Path]


def joined(path: Path) -> str:
    """Return a line with its views, as a plan has it."""
    return " / ".join(path)


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
    kept: Paths,
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
    patch = _patch(dialect, intended.name, texts, family, kept)
    edits = compare(running, intended)
    kind, reasons = classify(edits, patch.commands, dialect.disrupts)
    unjudged = (
        *(f"- {joined(path)}" for path in was if path not in will),
        *(f"+ {joined(path)}" for path in will if path not in was),
    )
    stated = tuple(_stated(dialect, unjudged, family, base))
    unowned = tuple(_unowned(patch.taken))
    if unjudged:
        reasons = (*reasons, *_reasons(unjudged, stated))
    if unjudged or unowned:
        kind = ChangeKind.MODIFYING if kind is ChangeKind.ADDITIVE else kind
    return Change(
        device=intended.name,
        dialect=family.dialect,
        kind=kind,
        service_affecting=(*reasons, *_taken(patch.taken), *patch.disrupts),
        edits=edits,
        patch=patch.commands,
        reverse=patch.reverse,
        running_digest=digest_of(running_text),
        intended_digest=digest_of(intended_text),
        kept=tuple(map(joined, kept)),
        unowned=unowned,
        unjudged=unjudged,
        stated=stated,
    )


def _patch(
    dialect: Dialect, device: str, texts: tuple[str, str], family: Family, kept: Paths
) -> ConfigPatch:
    try:
        return dialect.patch(*texts, family, kept)
    except BadInput as error:  # a dialect has the view alone
        cause = error.problem
        where = ": ".join(filter(None, (device, cause.where)))
        raise BadInput(cause.what, where=where, how=cause.how) from None


def _unowned(taken: Iterable[TakenLine]) -> Iterator[str]:
    """Yield unowned lines that go for good, and both forms of one whose view is another line."""
    for line in taken:
        if line.after != line.path:
            yield f"- {joined(line.path)}"
            if line.after is not None:
                yield f"+ {joined(line.after)}"


def _taken(taken: Iterable[TakenLine]) -> Iterator[str]:
    for line in taken:
        if not line.command:
            continue
        view = f" of {joined(line.path[:-1])}" if line.path[1:] else ""
        end = "set again" if line.after else "not set again"
        back = "" if line.restored else "; nor do the commands back set it, a secret"
        yield f"`{line.path[-1]}`{view} goes with `{line.command}`, and is {end}{back}"


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
