"""Compare two Devices: edits, kind of change, and whether it is service-affecting."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import JsonValue

from rocefort.models.base import Frozen
from rocefort.models.change.edits import Edit, field_of, plain
from rocefort.models.change.plan import ChangeKind
from rocefort.models.device.device import EFFECTS, Device
from rocefort.models.effect import EditCondition, Effect, stated_fields


def compare(running: Device, intended: Device) -> tuple[Edit, ...]:
    """Return the semantic differences, in the order of the Device's fields."""
    return tuple(_model_edits("", running, intended))


def _model_edits(path: str, old: Frozen, new: Frozen) -> Iterator[Edit]:
    prefix = f"{path}." if path else ""
    for name in type(old).model_fields:
        a, b = getattr(old, name), getattr(new, name)
        if a == b:
            continue
        if isinstance(a, tuple) and isinstance(b, tuple):
            yield from _row_edits(prefix + name, a, b)
        elif isinstance(a, Frozen) and isinstance(b, Frozen):
            yield from _model_edits(prefix + name, a, b)
        else:
            before, after = (_stated_value(type(old), name, value) for value in (a, b))
            yield Edit(path=prefix + name, before=before, after=after)


def _stated_value(model: type[Frozen], name: str, value: object) -> JsonValue:
    """Return a value as the text states it; None if no line states it."""
    if name in stated_fields(model):
        return "none" if value is None else plain(value)
    default = model.model_fields[name].get_default(call_default_factory=True)
    return None if value == default else plain(value)


def _row_edits(path: str, old: Sequence[object], new: Sequence[object]) -> Iterator[Edit]:
    was, will = ({str(getattr(row, "key", row)): row for row in rows} for rows in (old, new))
    for key in [*was, *(key for key in will if key not in was)]:
        a, b, at = was.get(key), will.get(key), f"{path}[{key}]"
        if isinstance(a, Frozen) and isinstance(b, Frozen):
            yield from _model_edits(at, a, b)
        elif a is None or b is None:
            yield Edit(path=at, before=plain(a), after=plain(b))
    order = f"{path}.order"
    if field_of(order) in EFFECTS and _order_changes(list(was), list(will)):
        yield Edit(path=order, before=" ".join(was), after=" ".join(will))


def _order_changes(was: list[str], will: list[str]) -> bool:
    """Whether keys that stay change their order, or one of them becomes or ceases to be first."""
    stay = [key for key in was if key in will]
    if stay != [key for key in will if key in was]:
        return True
    return bool(stay) and was[0] != will[0] and stay[0] in (was[0], will[0])


def effect_of(edit: Edit) -> Effect:
    """Return the effect of an edit; for an unknown field, that of the enclosing field, always.

    Raises LookupError for a path outside of a Device.
    """
    field = edit.field
    if field in EFFECTS:
        return EFFECTS[field]
    enclosing = max(filter(field.startswith, EFFECTS), key=len, default=None)
    if enclosing is None:
        raise LookupError(f"{edit.path} is no path of a Device")
    return EFFECTS[enclosing].but(when=EditCondition.ALWAYS)


def counts(edit: Edit, when: EditCondition | None) -> bool:
    """Whether an edit meets a condition."""
    if when is EditCondition.ALWAYS:
        return True
    if when is EditCondition.COMES:
        return edit.before is None
    if when is EditCondition.GONE_OR_DENIES and _is_denial(edit.after):
        return True
    return when in (EditCondition.GONE, EditCondition.GONE_OR_DENIES) and edit.before is not None


def _is_denial(value: JsonValue) -> bool:
    if isinstance(value, dict):
        return value.get("action") == "deny" or any(map(_is_denial, value.values()))
    return isinstance(value, list) and any(map(_is_denial, value))


def classify(
    edits: Iterable[Edit], patch: Iterable[str], disrupts: Mapping[str, str]
) -> tuple[ChangeKind, tuple[str, ...]]:
    """Return the kind of a change, and one reason for each effect on traffic or sessions.

    disrupts: by field, what else a change of it disrupts on this vendor's switches while it is
    applied. A change without edits can still have commands (another form with the same meaning).
    It is modifying.
    """
    edits = tuple(edits)
    if any(edit.after is None for edit in edits):
        kind = ChangeKind.REMOVING
    elif any(edit.before is not None for edit in edits) or (not edits and any(True for _ in patch)):
        kind = ChangeKind.MODIFYING
    else:
        kind = ChangeKind.ADDITIVE
    fresh = put_into_service(edits)
    reasons = (
        reason
        for edit in edits
        if edit.port_and_rest[0] not in fresh and (reason := reason_of(edit, disrupts))
    )
    return kind, tuple(dict.fromkeys(reasons))


def put_into_service(edits: Iterable[Edit]) -> frozenset[str]:
    """Return interfaces that only get lines, and become routed or a member of a VLAN by them.

    They carried no traffic before, so the change does not affect service.
    """
    by_port: dict[str, list[Edit]] = {}
    for edit in edits:
        port, rest = edit.port_and_rest
        if port and rest:
            by_port.setdefault(port, []).append(edit)
    return frozenset(
        port
        for port, of_port in by_port.items()
        if all(edit.before is None for edit in of_port)
        and any(effect_of(edit).carries for edit in of_port)
    )


def reason_of(edit: Edit, disrupts: Mapping[str, str]) -> str:
    """Return the effect of an edit on traffic or sessions; empty: none."""
    effect, keys = effect_of(edit), edit.keys
    of_key, reason = effect.of_key, ""
    if of_key and counts(edit, of_key.when) and re.fullmatch(of_key.key, keys[-1]):
        reason = of_key.reason
    elif counts(edit, effect.when):
        reason = effect.reason or ""
    has_effect = effect.when not in (None, EditCondition.NEVER)
    added = disrupts.get(edit.field, "") if reason or not has_effect else ""
    return ": ".join(filter(None, (reason, added))).format(keys[0] if keys else "")
