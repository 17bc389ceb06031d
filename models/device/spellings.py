"""One spelling for lines of equal meaning, so that a comparison finds differences of effect only.

A plan still sends the exact lines of the intent: this form is for judgements, never for a patch.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from rocefort.models.base import Frozen
from rocefort.models.device.bgp import HOLD_S, KEEPALIVE_S, Bfd, Bgp, BgpPeer, BgpSettings
from rocefort.models.device.defaults import without_built_in
from rocefort.models.device.device import Device
from rocefort.models.device.drop_profile import DropLimits, DropProfile
from rocefort.models.hardware.hardware import Family

# What a session has without a line.
DEFAULTS = {"keepalive_s": KEEPALIVE_S, "hold_s": HOLD_S, "bfd": Bfd()}
Rows = tuple[Any, ...]
Settings = TypeVar("Settings", bound=BgpSettings)


def in_one_spelling(device: Device, family: Family | None) -> Device:
    """Return the Device without lines of the switch itself, and without repeated ones of peers.

    ECN limits are in bytes.
    """
    device = without_built_in(device)
    profiles = device.drop_profiles
    if family and family.cell_bytes:
        profiles = tuple(_in_bytes(row, int(family.cell_bytes.value)) for row in profiles)
    bgp = _without_repetition(device.bgp) if device.bgp else None
    return device.model_copy(update={"bgp": bgp, "drop_profiles": profiles})


def _in_bytes(profile: DropProfile, cell: int) -> DropProfile:
    ecn = _limits_in_bytes(profile.ecn, cell) if profile.ecn else None
    colours = tuple(_limits_in_bytes(row, cell) for row in profile.colours)
    return profile.model_copy(update={"ecn": ecn, "colours": colours})


def _limits_in_bytes(limits: DropLimits, cell: int) -> DropLimits:
    if limits.unit != "cells":
        return limits
    update = {"low": limits.low * cell, "high": limits.high * cell, "unit": "bytes"}
    return limits.model_copy(update=update)


def _without_repetition(bgp: Bgp) -> Bgp:
    """Remove what a peer repeats of its group, and what a group or a single peer has by default."""
    groups = tuple(_unset(group, DEFAULTS) for group in bgp.groups)
    lent = {group.name: vars(group) for group in groups}
    fields = BgpSettings.model_fields.keys()

    def own(peer: BgpPeer) -> BgpPeer:
        of_group = lent.get(peer.group or "", {})
        repeated = {name: of_group[name] for name in fields if of_group.get(name)}
        return _unset(peer, DEFAULTS | repeated)

    return bgp.model_copy(update={"groups": groups, "peers": tuple(map(own, bgp.peers))})


def _unset(row: Settings, values: dict[str, Any]) -> Settings:
    """Return a row without the settings that have these values."""
    model = type(row).model_fields
    update = {
        name: model[name].default for name, value in values.items() if getattr(row, name) == value
    }
    return row.model_copy(update=update) if update else row


class Numbering:
    """Numbers of rules, entries and nodes, where only their order has an effect.

    Rows that are equal and in the same order get the numbers that the first Device with them has.
    """

    def __init__(self) -> None:
        """Start without any Device."""
        self._rows: dict[tuple[str, str, Rows], Rows] = {}

    def apply(self, device: Device) -> Device:
        """Return the Device with the numbers of the first one that has the same rows."""
        update: dict[str, object] = {
            "acls": self._lists("acls", device.acls, "rules"),
            "prefix_lists": self._lists("prefix_lists", device.prefix_lists, "entries"),
            "route_policies": self._lists("route_policies", device.route_policies, "nodes"),
        }
        acls = self._lists("filters", device.filters.acls, "rules")
        update["filters"] = device.filters.model_copy(update={"acls": acls})
        return device.model_copy(update=update)

    def _lists(self, kind: str, lists: Iterable[Any], field: str) -> Rows:
        return tuple(self._numbered(kind, each, field) for each in lists)

    def _numbered(self, kind: str, each: Any, field: str) -> Frozen:  # noqa: ANN401 - any list
        rows: Rows = getattr(each, field)
        number = "node" if field == "nodes" else "index"
        content = tuple(row.model_copy(update={number: 0}) for row in rows)
        first = self._rows.setdefault((kind, str(each.key), content), rows)
        result: Frozen = each if first is rows else each.model_copy(update={field: first})
        return result
