"""Values to compare a search with: those of profiles, and the start point of ByteTuning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rocefort.design.load.profiles import Library
from rocefort.lab.state.counters import SAMPLE_HIGH, SAMPLE_LOW, SAMPLE_PERCENT
from rocefort.models.fabric.ecn import AiEcnProfile, SpeedGbps, StaticEcn
from rocefort.models.tuning.scenario import Limits, Marking, Scenario
from rocefort.models.tuning.settings import Settings
from rocefort.models.units import KBYTE
from rocefort.tuning.limits import Refusal
from rocefort.tuning.search import Reference
from rocefort.tuning.space import CELL_KBYTES

KB = 1000
AI_ECN_SAMPLE = "bounds of AI-ECN in the vendor's sample"


def marking_of_profile(
    profile: StaticEcn | AiEcnProfile, speeds: Iterable[int], base_gbps: int
) -> Marking | None:
    """Return the thresholds of a profile for ports of some speeds; None: it lacks one of them.

    The learnt model of AI-ECN is not public: the bounds of a sample stand for all speeds.
    """
    if isinstance(profile, AiEcnProfile):
        low, high = SAMPLE_LOW / KB, SAMPLE_HIGH / KB
        return Marking(kmin_kbytes=low, kmax_kbytes=high, pmax_percent=SAMPLE_PERCENT)
    limits: dict[SpeedGbps, Limits] = {
        speed: Limits(
            kmin_kbytes=own.kmin_kbytes * KBYTE / KB,
            kmax_kbytes=own.kmax_kbytes * KBYTE / KB,
            pmax_percent=own.pmax_percent,
        )
        for speed, own in profile.thresholds.items()
    }
    by_gbps: Mapping[int, Limits] = {int(speed): own for speed, own in limits.items()}
    if not {*speeds, base_gbps} <= by_gbps.keys():
        return None
    return Marking(**by_gbps[base_gbps].model_dump(), by_speed=limits)


def profile_references(
    library: Library, scenario: Scenario, speeds: Iterable[int], refusal: Refusal
) -> Iterator[Reference]:
    """Yield the static profiles that have thresholds for these speeds."""
    gbps = tuple(speeds)
    for name in library.names("ecn"):
        chosen = library.get("ecn", name)
        if chosen is None or not isinstance(chosen.profile, StaticEcn):
            continue
        marking = marking_of_profile(chosen.profile, gbps, scenario.port_gbps)
        if marking is not None:
            settings = Settings(ecn=marking)
            yield Reference(name, chosen.profile.source or "", settings, refusal(settings))


def byte_tuning_start(refusal: Refusal) -> Reference:
    """Return the start point of ByteTuning, experience values for H3C at 25 Gb/s."""
    settings = Settings(
        ecn=Marking(kmin_kbytes=200 * CELL_KBYTES, kmax_kbytes=1200 * CELL_KBYTES, pmax_percent=20),
        alpha=1 / 32,
        headroom_kbytes=140 * CELL_KBYTES,
    )
    source = "ByteTuning, doi 10.1109/TCC.2025.3525496 (experience values), cells of 208 bytes"
    return Reference("bytetuning-start", source, settings, refusal(settings))
