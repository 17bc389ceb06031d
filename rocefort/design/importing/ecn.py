"""The ECN profile of a fabric: one that ships with Rocefort if it says the same, else its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rocefort.design.importing.notes import Data, Notes, Source
from rocefort.design.profiles import Library
from rocefort.models.drop_profile import DropProfile
from rocefort.models.fabric_ecn import (
    LONGEST_ECN_PROFILE,
    AiEcnProfile,
    EcnThresholds,
    StaticEcn,
    drop_profile_name,
)
from rocefort.models.units import KBYTE

NAMED = re.compile(r"(?P<name>.+)-(?P<gbps>\d+)g")  # as derivation names drop profiles
NONE = "ai-ecn-distributed-storage"  # the AI-ECN that a switch has with `ai-ecn enable` alone
HERE = ("profiles", "lossless", "site", "ecn")
Thresholds = dict[str, EcnThresholds]


def ecn_profile(
    sources: Sequence[Source], queue: int, speeds: Sequence[int], library: Library, notes: Notes
) -> tuple[str, Data | None]:
    """(name, the profile itself where none of that content ships with Rocefort)."""
    static = _static(sources)
    models = {s.name: _ai_model(s, queue) for s in sources if s.device.ai_ecn.enabled}
    if models and len(models) >= sum(bool(s.device.drop_profiles) for s in sources):
        model = notes.agreed("the model of AI-ECN", models)
        return _ai_profile(model, library)
    if static:
        return _static_profile(static, speeds, library, notes)
    notes.assume(HERE, "no text marks the lossless queue")
    return NONE, None


def _ai_model(source: Source, queue: int) -> str | None:
    rows = source.device.ai_ecn.queues
    return next((row.model for row in rows if row.queue == queue), None)


def _ai_profile(model: str | None, library: Library) -> tuple[str, Data | None]:
    for name in library.names("ecn"):
        chosen = library.get("ecn", name)
        profile = chosen.profile if chosen else None
        if isinstance(profile, AiEcnProfile) and profile.model == model:
            return name, None
    return "site-ecn", {"kind": "ai-ecn"} | ({"model": model} if model else {})


def _static(sources: Sequence[Source]) -> dict[str, dict[str, dict[str, EcnThresholds]]]:
    """Thresholds by profile, speed and switch, of the drop profiles that ports mark by."""
    found: dict[str, dict[str, dict[str, EcnThresholds]]] = {}
    for source in sources:
        for profile, name, gbps in _marking(source):
            limits = profile.ecn
            if (
                limits is None
                or limits.unit != "bytes"
                or limits.low % KBYTE
                or limits.high % KBYTE
            ):
                continue
            row = EcnThresholds(
                kmin_kbytes=limits.low // KBYTE,
                kmax_kbytes=limits.high // KBYTE,
                pmax_percent=limits.percent,
            )
            found.setdefault(name, {}).setdefault(gbps, {})[source.name] = row
    return found


def _marking(source: Source) -> Iterator[tuple[DropProfile, str, str]]:
    used = {row.profile for i in source.device.interfaces for row in i.markings if row.ecn}
    for profile in source.device.drop_profiles:
        match = NAMED.fullmatch(profile.name)
        if profile.name in used and match and len(match["name"]) <= LONGEST_ECN_PROFILE:
            yield profile, match["name"], match["gbps"]


def _static_profile(
    static: Mapping[str, Mapping[str, Mapping[str, EcnThresholds]]],
    speeds: Sequence[int],
    library: Library,
    notes: Notes,
) -> tuple[str, Data | None]:
    name = Counter({n: sum(map(len, by_speed.values())) for n, by_speed in static.items()})
    chosen = name.most_common(1)[0][0]
    rows: Thresholds = {}
    for gbps, by_switch in static[chosen].items():
        taken = notes.agreed(f"drop profile {drop_profile_name(chosen, int(gbps))}", by_switch)
        if taken is not None:
            rows[gbps] = taken
    shipped = library.get("ecn", chosen)
    if shipped is not None:
        profile = shipped.profile
        wanted = {str(gbps) for gbps in speeds} | rows.keys()
        if (
            isinstance(profile, StaticEcn)
            and _covers(profile, rows)
            and wanted <= {*profile.thresholds}
        ):
            return chosen, None
        chosen = f"site-{chosen}"[:LONGEST_ECN_PROFILE]
    for gbps in (str(speed) for speed in speeds if str(speed) not in rows):
        rows[gbps] = next(iter(rows.values()))
        notes.assume(("profiles", "ecn", chosen, "thresholds", gbps), "no port of that speed marks")
    return chosen, {
        "kind": "static",
        "thresholds": {gbps: rows[gbps].model_dump() for gbps in sorted(rows, key=int)},
    }


def _covers(profile: StaticEcn, rows: Thresholds) -> bool:
    """Whether a profile says of all these speeds what a text says."""
    known: dict[str, EcnThresholds] = {str(gbps): row for gbps, row in profile.thresholds.items()}
    return all(known.get(gbps) == row for gbps, row in rows.items())
