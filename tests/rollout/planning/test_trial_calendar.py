"""Calendars hold `tune measure` as they hold the waves of a rollout."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from rocefort.base.repository import INVENTORY
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.models.fabric.calendar import Calendar
from rocefort.rdma.designed_plan import RdmaRequest, designed_plan
from rocefort.rdma.plan.site import RdmaPlanOptions
from rocefort.rdma.rdma_plan import Suite
from rocefort.tune.trial_calendar import TrialCalendar, calendars_in_force

HEPS = INVENTORY / "heps" / "fabric.yaml"
SERVERS = ("k8sgn08", "k8sgn12", "daisygn01")
HEAD = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//facility//operation//EN\n"
EVENT = (
    "BEGIN:VEVENT\nUID:{0}\nDTSTAMP:20260901T000000Z\nSUMMARY:{0}\nCATEGORIES:{1}\n"
    "DTSTART;TZID=Europe/Berlin:{2}\nDTEND;TZID=Europe/Berlin:{3}\n{4}END:VEVENT\n"
)
STUDIES = ("Studies", "MACHINE STUDIES", "20261129T010000", "20261129T040000", "")
AT = datetime(2026, 11, 29, 2, 40, tzinfo=UTC)  # 20 minutes before the studies end


def trials(
    heps: DerivedNetwork, file: Path, windows: tuple[str, ...] = ("machine studies",)
) -> TrialCalendar:
    options = RdmaPlanOptions(duration_s=4, target="k8sgn12")
    plan = designed_plan(HEPS, RdmaRequest(Suite.INCAST, SERVERS, options))
    calendar = Calendar(file=str(file), time_zone="Europe/Berlin", windows=windows)
    rdma = heps.fabric.rdma
    return TrialCalendar(heps.network, (calendar,), "leaf08", plan, rdma, 120, lambda: AT)


def written(path: Path, *events: tuple[str, ...]) -> Path:
    body = "".join(EVENT.format(*event) for event in events)
    path.write_text(f"{HEAD}{body}END:VCALENDAR\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("longest_s", "more", "sentence"),
    [
        (17 * 60, None, ""),
        (
            30 * 60,
            None,
            "its window 'Studies' (machine studies) ends Sun 2026-11-29 04:00 CET, and the "
            "measurement may take 32 min",
        ),
        (
            60,
            ("Beam time", "USER RUN", "20261129T030000", "20261129T060000", "LOCATION:k8sgn08\n"),
            "'Beam time' (user run) of k8sgn08 (the measurement loads k8sgn08) is Sun 2026-11-29 "
            "03:00 to 06:00 CET",
        ),
        (60, ("Run", "USER RUN", "20261129T030000", "20261129T060000", "LOCATION:leaf05\n"), ""),
        (
            60,
            ("Freeze", "FREEZE", "20261129T000000", "20261130T000000", ""),
            "'Freeze' (freeze) is Sun 2026-11-29 00:00 to Mon 2026-11-30 00:00 CET",
        ),
    ],
)
def test_trials(
    heps: DerivedNetwork,
    tmp_path: Path,
    longest_s: float,
    more: tuple[str, ...] | None,
    sentence: str,
) -> None:
    file = written(tmp_path / "operation.ics", STUDIES, *([more] if more else []))
    held = trials(heps, file).held(longest_s)
    assert held.startswith(sentence) if sentence else held == ""


def test_a_vanished_calendar_holds(heps: DerivedNetwork, tmp_path: Path) -> None:
    held = trials(heps, tmp_path / "operation.ics").held(60)
    assert "operation.ics is not there; put the calendar there" in held


def test_no_calendar_holds_nothing(heps: DerivedNetwork) -> None:
    assert calendars_in_force(HEPS, heps.fabric.rollout) == ()
