"""Spellings of equal meaning, from the rows of the command table, as equal Devices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from typing import Any, TypeVar

from rocefort.dialects.syntax_families import load_families
from rocefort.dialects.vrp.commands.catalogue import rows_by_view
from rocefort.dialects.vrp.commands.command import SYSTEM, Row
from rocefort.dialects.vrp.parse.bindings import fields_of, opened_by
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.models.base import Frozen
from rocefort.models.device.device import Device, without_defaults, without_saved
from rocefort.models.device.lossless_queue import DropLimits
from rocefort.models.device.routing import Bgp, BgpGroup, BgpPeer
from rocefort.models.effect import key_field_of
from rocefort.models.hardware.hardware import Family

Keys = tuple[object, ...]  # of the rows on a path
Steps = tuple[str, ...]  # fields of a path, with `[]` for rows
Rows = tuple[Any, ...]
Model = TypeVar("Model", bound=Frozen)
Settings = TypeVar("Settings", BgpGroup, BgpPeer)
GROUP = "g"  # has the settings that hold without a line


def in_one_spelling(devices: Iterable[tuple[Device, Family | None]]) -> list[Device]:
    """Return Devices in which what has an equal meaning is equal; limits are in bytes.

    Lines that a switch saves with nothing configured are left out, and those that state what holds
    without them, as far as the family is known. Numbers that only order rows are those of the first
    Device with the rows.
    """
    numbering = Numbering()
    return [numbering.apply(_plain(device, family)) for device, family in devices]


def _plain(device: Device, family: Family | None) -> Device:
    if family:
        device = without_defaults(device, family)
    else:
        of_any = (each.saved_lines for each in load_families().values())
        device = without_saved(device, chain.from_iterable(of_any))
    for steps, field in _sizes():

        def in_bytes(_: Keys, row: Frozen, field: str = field) -> Any:  # noqa: ANN401 - as given
            return _in_bytes(row, family, field)

        device = _mapped(device, steps, in_bytes)
    return device.model_copy(update={"bgp": _plain_bgp(device.bgp)}) if device.bgp else device


def spelled_as(device: Device, other: Device, family: Family) -> Device:
    """Return the Device in the spelling of another one wherever both mean the same.

    A patch between the two leaves these lines as they are.
    """
    numbering = Numbering()
    numbering.apply(other)
    device = numbering.apply(device)
    for steps, field in _sizes():
        rows = dict(_rows_at(other, steps))

        def spelled(keys: Keys, row: Frozen, rows: Any = rows, field: str = field) -> Frozen:  # noqa: ANN401 - rows by keys
            same = rows.get(keys, row)
            equal = _in_bytes(same, family, field) == _in_bytes(row, family, field)
            return same if equal else row

        device = _mapped(device, steps, spelled)
    if device.bgp and other.bgp:
        device = device.model_copy(update={"bgp": _bgp_spelled_as(device.bgp, other.bgp)})
    return device


# --- rows of the table ---


@cache
def _equal_rows() -> tuple[Row, ...]:
    return tuple(row for rows in rows_by_view().values() for row in rows if row.equal)


@cache
def _paths(row: Row) -> tuple[Steps, ...]:
    """Paths of the fields that a row fills, from the Device."""
    if row.view == SYSTEM:
        return tuple(tuple(path.split(".")) for path in fields_of(row))
    openers = [each for rows in rows_by_view().values() for each in rows if each.opens == row.view]
    heads = {head for each in openers if (head := opened_by(each))}
    return tuple(tuple(f"{head}.{path}".split(".")) for head in heads for path in fields_of(row))


@cache
def _sizes() -> tuple[tuple[Steps, str], ...]:
    """Paths of limits that have several units, each with the field of Family of the other unit."""
    return tuple(
        dict.fromkeys(
            (steps, row.equal.size[1])
            for row in _equal_rows()
            if row.equal and row.equal.size
            for steps in _paths(row)
        )
    )


@cache
def _ordered() -> tuple[Steps, ...]:
    """Paths of rows whose number only orders them."""
    return tuple(
        dict.fromkeys(
            steps[: max(n for n, step in enumerate(steps, 1) if step.endswith("[]"))]
            for row in _equal_rows()
            if row.equal and row.equal.number
            for steps in _paths(row)
        )
    )


@cache
def _lent_rows() -> tuple[Row, ...]:
    return tuple(row for row in _equal_rows() if row.equal and row.equal.lender)


@cache
def _lent() -> Mapping[str, object]:
    """Settings that a BGP peer takes from its group, with the value where neither has a line."""
    rows = _lent_rows()
    lines = {row.equal.otherwise for row in rows if row.equal}
    bgp = ["bgp 1", f" group {GROUP} external", *(f" {each.format(peer=GROUP)}" for each in lines)]
    parsed = parse("\n".join(("sysname a", *bgp)), "defaults").device.bgp
    fields = dict.fromkeys(path.rpartition(".")[2] for row in rows for path in fields_of(row))
    return {f: getattr(group, f) for group in (parsed.groups if parsed else ()) for f in fields}


# --- paths of a Device ---


def _rows_at(model: Frozen, steps: Steps, keys: Keys = ()) -> Iterator[tuple[Keys, Frozen]]:
    if not steps:
        yield keys, model
        return
    inner = getattr(model, steps[0].removesuffix("[]"))
    if steps[0].endswith("[]"):
        for row in inner:
            yield from _rows_at(row, steps[1:], (*keys, row.key))
    elif inner is not None:
        yield from _rows_at(inner, steps[1:], keys)


def _mapped(
    model: Model, steps: Steps, change: Callable[[Keys, Any], Frozen], keys: Keys = ()
) -> Model:
    """Return a model with each row of a path changed."""
    name = steps[0].removesuffix("[]")
    inner = getattr(model, name)

    def of(row: Any, own: Keys) -> Any:  # noqa: ANN401 - any model
        return _mapped(row, steps[1:], change, own) if steps[1:] else change(own, row)

    if inner is None:
        return model
    if steps[0].endswith("[]"):
        new = tuple(of(row, (*keys, row.key)) for row in inner)
    else:
        new = of(inner, keys)
    return model if new == inner else model.model_copy(update={name: new})


# --- kinds of spellings ---


def _in_bytes(limits: Any, family: Family | None, field: str) -> Any:  # noqa: ANN401 - as given
    """Return limits in bytes if they are in cells, of a size that the vendor states."""
    size = getattr(family, field) if family else None
    if not isinstance(limits, DropLimits) or limits.unit != "cells":
        return limits
    if size is None or not size.confirmed:
        return limits
    low, high = limits.low * size.value, limits.high * size.value
    return limits.model_copy(update={"low": low, "high": high, "unit": "bytes"})


class Numbering:
    """Numbers of rows that have an effect only by their order.

    Rows that are equal and in the same order get the numbers that the first Device with them has.
    """

    def __init__(self) -> None:
        """Start without any Device."""
        self._rows: dict[tuple[Steps, Keys, Rows], Rows] = {}

    def apply(self, device: Device) -> Device:
        """Return the Device with the numbers of the first one that has the same rows."""
        for steps in _ordered():
            *outer, last = steps
            field = last.removesuffix("[]")

            def change(keys: Keys, row: Frozen, steps: Steps = steps, field: str = field) -> Frozen:
                return self._numbered(row, field, (steps, keys))

            device = _mapped(device, tuple(outer), change)
        return device

    def _numbered(self, each: Frozen, field: str, at: tuple[Steps, Keys]) -> Frozen:
        rows: Rows = getattr(each, field)
        content = tuple(row.model_copy(update={key_field_of(type(row)): 0}) for row in rows)
        first = self._rows.setdefault((*at, content), rows)
        return each if first is rows else each.model_copy(update={field: first})


def _plain_bgp(bgp: Bgp) -> Bgp:
    """Remove what a peer repeats of its group, and what a group or a single peer has by default."""
    groups = tuple(_unset(group, _lent()) for group in bgp.groups)
    by_name = {group.name: group for group in groups}
    peers = tuple(_unset(peer, _without_line(by_name.get(peer.group or ""))) for peer in bgp.peers)
    return bgp.model_copy(update={"groups": groups, "peers": peers})


def _without_line(group: BgpGroup | None) -> Mapping[str, object]:
    """Values that a member of a group has without a line of its own."""
    own = {field: getattr(group, field, None) for field in _lent()}
    return {field: own[field] or default for field, default in _lent().items()}


def _unset(row: Settings, values: Mapping[str, object]) -> Settings:
    """Return a row without the settings that have these values."""
    model = type(row).model_fields
    update = {
        name: model[name].default for name, value in values.items() if getattr(row, name) == value
    }
    return row.model_copy(update=update) if update else row


def _bgp_spelled_as(bgp: Bgp, other: Bgp) -> Bgp:
    """Return a process whose equal settings of groups and peers are written as in another one."""
    plain, others = _plain_bgp(bgp), _plain_bgp(other)
    mine, theirs = ({row.key: row for row in own.groups} for own in (plain, others))
    same = {name: _alike(mine[name], theirs[name]) for name in mine.keys() & theirs.keys()}
    groups = _rows_spelled_as(bgp.groups, other.groups, lambda row: same.get(row.name, set()))
    single = {*_lent()}  # a peer without a group takes nothing from one
    equal = {
        peer.address: _alike(peer, its) & (same.get(peer.group, set()) if peer.group else single)
        for peer in plain.peers
        if (its := others.by_address.get(peer.address)) and its.group == peer.group
    }
    peers = _rows_spelled_as(bgp.peers, other.peers, lambda row: equal.get(row.address, set()))
    return bgp.model_copy(update={"groups": groups, "peers": peers})


def _alike(one: Settings, other: Settings) -> set[str]:
    """Return the settings that two rows have in common, those of one line together."""
    lines = ({path.rpartition(".")[2] for path in fields_of(row)} for row in _lent_rows())
    return {
        field
        for fields in lines
        if all(getattr(one, each) == getattr(other, each) for each in fields)
        for field in fields
    }


def _rows_spelled_as(
    rows: Iterable[Settings], others: Iterable[Settings], equal: Callable[[Settings], Iterable[str]]
) -> tuple[Settings, ...]:
    by_key = {row.key: row for row in others}
    return tuple(
        row.model_copy(update={field: getattr(by_key[row.key], field) for field in equal(row)})
        if row.key in by_key
        else row
        for row in rows
    )
