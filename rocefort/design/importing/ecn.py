"""Import the ECN profile of a fabric: an equal one of Rocefort's library, else its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rocefort.design.importing.assumptions import Data, Notes, SwitchText
from rocefort.design.load.profiles import Library
from rocefort.models.fabric.ecn import (
    LONGEST_ECN_PROFILE,
    AiEcnProfile,
    EcnThresholds,
    StaticEcn,
    drop_profile_name,
)
from rocefort.models.units import KBYTE

NAMED = re.compile(r"(?P<name>.+)-(?P<gbps>\d+)g")  # names of drop profiles by derivation
NONE = "ai-ecn-distributed-storage"  # the AI-ECN that a switch has with `ai-ecn enable` alone
HERE = ("profiles", "lossless", "site", "ecn")


class _Marking(NamedTuple):
    """Marking thresholds of a switch, for one speed of a profile."""

    profile: str
    gbps: str
    switch: str
    thresholds: EcnThresholds


def ecn_profile(
    sources: Sequence[SwitchText], queue: int, speeds: Sequence[int], library: Library, notes: Notes
) -> tuple[str, Data | None]:
    """Return (name, the profile itself if Rocefort's library has no equal one)."""
    models = {
        s.name: next((row.model for row in s.device.ai_ecn.queues if row.queue == queue), None)
        for s in sources
        if s.device.ai_ecn.enabled
    }
    if models and len(models) >= sum(bool(s.device.drop_profiles) for s in sources):
        model = notes.majority("the model of AI-ECN", models)
        for name in library.names("ecn"):
            chosen = library.get("ecn", name)
            if (
                chosen
                and isinstance(chosen.profile, AiEcnProfile)
                and chosen.profile.model == model
            ):
                return name, None
        return "site-ecn", {"kind": "ai-ecn"} | ({"model": model} if model else {})
    if rows := [row for source in sources for row in _markings(source)]:
        return _static_profile(rows, speeds, library, notes)
    notes.assume(HERE, "no text marks the lossless queue")
    return NONE, None


def _markings(source: SwitchText) -> Iterator[_Marking]:
    used = {row.profile for i in source.device.interfaces for row in i.markings if row.ecn}
    for profile in source.device.drop_profiles:
        match, limits = NAMED.fullmatch(profile.name), profile.ecn
        derived = match and profile.name in used and len(match["name"]) <= LONGEST_ECN_PROFILE
        if not (match and derived and limits and limits.unit == "bytes"):
            continue
        (kmin, odd), (kmax, rest) = divmod(limits.low, KBYTE), divmod(limits.high, KBYTE)
        if not odd and not rest:
            row = EcnThresholds(kmin_kbytes=kmin, kmax_kbytes=kmax, pmax_percent=limits.percent)
            yield _Marking(match["name"], match["gbps"], source.name, row)


def _static_profile(
    rows: Sequence[_Marking], speeds: Sequence[int], library: Library, notes: Notes
) -> tuple[str, Data | None]:
    """Return the profile that most switches use."""
    name = Counter(row.profile for row in rows).most_common(1)[0][0]
    of_speed: dict[str, dict[str, EcnThresholds]] = {}
    for row in rows:
        if row.profile == name:
            of_speed.setdefault(row.gbps, {})[row.switch] = row.thresholds
    taken = {
        gbps: agreed
        for gbps, by_switch in of_speed.items()
        if (
            agreed := notes.majority(
                f"drop profile {drop_profile_name(name, int(gbps))}", by_switch
            )
        )
    }
    missing = [str(speed) for speed in speeds if str(speed) not in taken]
    if shipped := library.get("ecn", name):
        profile = shipped.profile
        limits = profile.thresholds.items() if isinstance(profile, StaticEcn) else ()
        existing: dict[str, EcnThresholds] = {str(gbps): row for gbps, row in limits}
        if existing.keys() >= {*missing} and all(existing.get(key) == taken[key] for key in taken):
            return name, None
        name = f"site-{name}"[:LONGEST_ECN_PROFILE]
    for gbps in missing:
        taken[gbps] = next(iter(taken.values()))
        notes.assume(("profiles", "ecn", name, "thresholds", gbps), "no port of that speed marks")
    thresholds = {gbps: taken[gbps].model_dump() for gbps in sorted(taken, key=int)}
    return name, {"kind": "static", "thresholds": thresholds}
