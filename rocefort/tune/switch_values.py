"""Values of a candidate as switches and NICs take them: kbytes of 1,024 bytes, by port speed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import get_args

from rocefort.models.fabric.congestion_control import DcqcnParameters
from rocefort.models.units import KBYTE
from rocefort.tune.model import Settings, SwitchValue
from rocefort.tune.scenario import KB, Limits, NicKey, Scenario
from rocefort.tune.simulator.simulate import with_profile

NIC_UNITS = {"us": "us", "mbps": "Mb/s", "percent": "%"}  # by the last word of a NIC's key


def switch_values(
    settings: Settings, base_gbps: int, speeds: Iterable[int]
) -> tuple[SwitchValue, ...]:
    """Return what a switch or NIC has to be given for settings; nothing for what they leave out.

    base_gbps: port speed of the settings' ECN. speeds: speeds of the ports, Gb/s; ECN has rows for
    each of them, other keys are alike for all ports. Settings of a fabric are whole kbytes of 1,024
    bytes; others are shown with three digits, as a CloudEngine takes whole kbytes only.
    """
    rows: list[SwitchValue] = []
    if settings.ecn is not None:
        for gbps in sorted(set(speeds)):
            rows += _marking(settings.ecn.of_port(gbps, base_gbps), gbps)
    if settings.alpha is not None:
        rows.append(SwitchValue(key="alpha", value=settings.alpha))
    for key in ("xoff_kbytes", "xon_kbytes", "headroom_kbytes"):
        size = getattr(settings, key)
        if size is not None:
            rows.append(_size(key, size, None))
    for name, number in settings.nic.items():
        unit = NIC_UNITS.get(name.rpartition("_")[2], "")
        rows.append(SwitchValue(key=f"nic.{name}", value=number, unit=unit))
    return tuple(rows)


def completed(scenario: Scenario, profile: DcqcnParameters | None, settings: Settings) -> Settings:
    """Return settings with what they leave to the scenario and the NIC's profile.

    A headroom by the formula stays left out.
    """
    from rocefort.tune.simulator.tables import marking_of  # noqa: PLC0415 - numba's numpy

    applied = settings.applied(scenario)
    buffer, parameters = applied.buffer, with_profile(applied, profile)
    static = buffer.xoff_kbytes is not None
    nic = {key: own for key in get_args(NicKey) if (own := getattr(parameters, key)) is not None}
    return Settings(
        ecn=marking_of(applied),
        alpha=None if static else buffer.alpha,
        xoff_kbytes=buffer.xoff_kbytes,
        xon_kbytes=buffer.xon_kbytes,
        headroom_kbytes=buffer.headroom_kbytes,
        nic=nic,
    )


def _marking(limits: Limits, gbps: int) -> Iterator[SwitchValue]:
    yield _size("kmin_kbytes", limits.kmin_kbytes, gbps)
    yield _size("kmax_kbytes", limits.kmax_kbytes, gbps)
    yield SwitchValue(gbps=gbps, key="pmax_percent", value=limits.pmax_percent, unit="%")


def _size(key: str, kbytes_1000: float, gbps: int | None) -> SwitchValue:
    value = round(kbytes_1000 * KB / KBYTE, 3)
    return SwitchValue(gbps=gbps, key=key, value=value, unit="kbytes")


def ecn_thresholds(rows: Iterable[SwitchValue]) -> dict[str, dict[str, int]]:
    """Return the thresholds of an ECN profile, by speed; a switch takes whole kbytes and percent.

    A threshold below 1 kbyte is written as 1, the least that a CloudEngine takes.
    """
    out: dict[str, dict[str, int]] = {}
    for row in rows:
        if row.gbps is not None:
            out.setdefault(str(row.gbps), {})[row.key] = max(1, round(row.value))
    return out
