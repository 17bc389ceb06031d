"""Windows of waves by real iCalendar files: recurrence, zones, summer time, and what is unclear."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planned import calendar_text, event, unchanged

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.models.change.plan import (
    Change,
    ChangeKind,
    DrainedChange,
    Gate,
    GatePair,
    Plan,
    Wave,
)
from rocefort.models.fabric.beamlines import Beamline, DataPath, Detector
from rocefort.models.fabric.calendar import Calendar
from rocefort.rollout.planning.wave_windows import (
    Period,
    WaveWindows,
    _common,
    _merged,
    _without,
)
from rocefort.rollout.planning.waves import worst_s

BERLIN = ZoneInfo("Europe/Berlin")
GATE = Gate(
    pairs=(),
    traffic_class=138,
    line_rate_fraction=0.9,
    latency_us=4,
    latency_tolerance=0.2,
    speed_judged=False,
)
LONGEST_S = 900.0
WEEKLY = ("RRULE:FREQ=WEEKLY",)
Judge = Callable[..., Any]


def wave_of(*devices: str, gate: Gate = GATE) -> Wave:
    return Wave(name="w", devices=devices, gate=gate)


def at(text: str, zone: ZoneInfo = BERLIN) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


@pytest.fixture
def judge(heps: DerivedNetwork, tmp_path: Path) -> Judge:
    """Window of a wave at a time, with a calendar of these events."""

    def window(
        now: datetime,
        *events: str,
        wave: Wave | None = None,
        longest_s: float = LONGEST_S,
        **keys: Any,
    ) -> Any:
        file = tmp_path / "operation.ics"
        file.write_bytes(calendar_text(*events))
        calendar = Calendar(file=str(file), time_zone="Europe/Berlin", **keys)
        windows = WaveWindows(heps.network, [calendar], lambda _: longest_s, lambda: now)
        return windows.window(wave or wave_of("leaf01"))

    return window


RUN = event(
    "Beam time",
    "20261005T100000",
    "20261005T120000",
    *WEEKLY,
    zone="Europe/Berlin",
    kinds="USER RUN",
)
STUDIES = event(
    "Studies",
    "20260301T010000",
    "20260301T040000",
    *WEEKLY,
    zone="Europe/Berlin",
    kinds="Machine-Studies",
)
SHUTDOWN = event("Shutdown", "20261224", "20270102", kinds="FREEZE")


@pytest.mark.parametrize(
    ("now", "events", "keys", "sentence"),
    [
        (at("2026-11-30 09:44"), [RUN], {}, ""),
        (
            at("2026-11-30 09:46"),
            [RUN],
            {},
            "'Beam time' (user run) is Mon 2026-11-30 10:00 to 12:00 CET, and the wave may take "
            "15 min 0 s; it may begin Mon 2026-11-30 12:00 CET (Europe/Berlin)",
        ),
        # Defined in summer time: 10:00 by the clock of the hall is 9:00 UTC in winter, 8:00 before.
        (
            at("2026-11-30 10:30"),
            [RUN],
            {},
            "'Beam time' (user run) is Mon 2026-11-30 10:00 to 12:00 CET; it may begin Mon "
            "2026-11-30 12:00 CET (Europe/Berlin)",
        ),
        (datetime(2026, 10, 19, 10, 30, tzinfo=UTC), [RUN], {}, ""),
        (
            datetime(2026, 10, 19, 9, 30, tzinfo=UTC),
            [RUN],
            {},
            "'Beam time' (user run) is Mon 2026-10-19 10:00 to 12:00 CEST; it may begin Mon "
            "2026-10-19 12:00 CEST (Europe/Berlin)",
        ),
        (datetime(2026, 10, 26, 10, 30, tzinfo=UTC), [RUN], {}, "'Beam time' (user run) is Mon "
            "2026-10-26 10:00 to 12:00 CET; it may begin Mon 2026-10-26 12:00 CET (Europe/Berlin)"),
        # The night in which the clock goes from 2:00 to 3:00 has a window of two hours.
        (
            at("2027-03-28 03:05"),
            [STUDIES],
            {"windows": ["machine studies"], "longest_s": 3600},
            "its window 'Studies' (machine-studies) ends Sun 2027-03-28 04:00 CEST, and the wave may "
            "take 1 h 0 min; it may begin Sun 2027-04-04 01:00 CEST (Europe/Berlin)",
        ),
        (at("2027-03-28 01:05"), [STUDIES], {"windows": ["machine studies"], "longest_s": 6000}, ""),
        (
            at("2027-03-28 00:30"),
            [STUDIES],
            {"windows": ["MACHINE STUDIES"], "longest_s": 7500},
            "no window (MACHINE STUDIES) is open; it may begin Sun 2027-04-04 01:00 CEST "
            "(Europe/Berlin)",
        ),
        (
            at("2026-12-31 23:59"),
            [SHUTDOWN],
            {},
            "'Shutdown' (freeze) is Thu 2026-12-24 00:00 to Sat 2027-01-02 00:00 CET; it may begin "
            "Sat 2027-01-02 00:00 CET (Europe/Berlin)",
        ),
        (at("2027-01-02 00:00"), [SHUTDOWN], {}, ""),
        (
            at("2026-12-23 23:50"),
            [SHUTDOWN, STUDIES],
            {"windows": ["machine studies"]},
            "'Shutdown' (freeze) is Thu 2026-12-24 00:00 to Sat 2027-01-02 00:00 CET, and the wave may "
            "take 15 min 0 s; it may begin Sun 2027-01-03 01:00 CET (Europe/Berlin)",
        ),
        (
            at("2026-11-30 09:50"),
            [STUDIES.replace("RRULE:FREQ=WEEKLY\r\n", "")],
            {"windows": ["machine studies"]},
            "no window (machine studies) is open; no time of the next 366 days has room "
            "for it",
        ),
    ],
)  # fmt: skip
def test_a_wave_begins_only_if_its_longest_time_is_free(
    judge: Judge, now: datetime, events: list[str], keys: dict[str, Any], sentence: str
) -> None:
    assert judge(now, *events, **keys).sentence == sentence


def test_a_date_left_out_is_free_and_a_moved_or_cancelled_one_counts_where_it_is(
    judge: Judge,
) -> None:
    left_out = RUN.replace("RRULE", "EXDATE;TZID=Europe/Berlin:20261130T100000\r\nRRULE")
    assert not judge(at("2026-11-30 10:30"), left_out).reason
    assert judge(at("2026-12-07 10:30"), left_out).reason
    moved = event(
        "Beam time", "20261130T150000", "20261130T160000",
        "RECURRENCE-ID;TZID=Europe/Berlin:20261130T100000", zone="Europe/Berlin", kinds="USER RUN",
    )  # fmt: skip
    assert not judge(at("2026-11-30 10:30"), RUN, moved).reason
    assert judge(at("2026-11-30 15:30"), RUN, moved).reason
    gone = moved.replace("RECURRENCE-ID", "STATUS:CANCELLED\r\nRECURRENCE-ID")
    assert not judge(at("2026-11-30 15:30"), RUN, gone).reason


def test_an_event_without_a_zone_is_local_and_one_of_another_zone_is_shown_in_local_time(
    judge: Judge,
) -> None:
    local = event("Shift", "20261130T100000", "20261130T110000")
    assert (
        judge(at("2026-11-30 10:30"), local).reason
        == "'Shift' is Mon 2026-11-30 10:00 to 11:00 CET"
    )
    assert not judge(at("2026-11-30 10:30", ZoneInfo("UTC")), local).reason  # 11:30 there
    tokyo = event("Shift", "20261130T180000", "20261130T190000", zone="Asia/Tokyo")
    assert (
        judge(at("2026-11-30 10:30"), tokyo).reason
        == "'Shift' is Mon 2026-11-30 10:00 to 11:00 CET"
    )
    night = event("Shift", "20261025T010000", "20261025T040000", zone="Europe/Berlin")
    window = judge(datetime(2026, 10, 25, 2, 30, tzinfo=UTC), night)  # the clock went back at 3:00
    assert window.reason == "'Shift' is Sun 2026-10-25 01:00 CEST to 04:00 CET"


def test_a_zone_may_be_defined_in_the_file(judge: Judge) -> None:
    zone = (
        "BEGIN:VTIMEZONE\r\nTZID:Ring\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\n"
        "TZOFFSETFROM:+0300\r\nTZOFFSETTO:+0300\r\nTZNAME:RT\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n"
    )
    ring = event("Shift", "20261130T120000", "20261130T130000", zone="Ring")
    assert judge(at("2026-11-30 10:30"), zone, ring).reason == (
        "'Shift' is Mon 2026-11-30 10:00 to 11:00 CET"
    )


def test_categories_decide_and_what_is_not_listed_closes(judge: Judge) -> None:
    now, keys = at("2026-11-30 10:30"), {"windows": ["maintenance"], "ignored": ["seminar"]}
    day = ("20261130", "20261201")
    open_day = event("Open", *day, kinds="Maintenance")
    assert not judge(now, open_day, **keys).reason
    assert not judge(now, open_day, event("Talk", *day, kinds="SEMINAR"), **keys).reason
    assert not judge(now, event("Open", *day, kinds="maintenance,seminar"), **keys).reason
    assert judge(now, open_day, event("Visit", *day), **keys).reason.startswith("'Visit' is")
    assert judge(now, open_day, event("Both", *day, kinds="maintenance,freeze"), **keys).reason
    tentative = open_day.replace("SUMMARY", "STATUS:TENTATIVE\r\nSUMMARY")
    assert judge(now, tentative, **keys).reason == "no window (maintenance) is open"


DAY = ("20261130", "20261201")
PAIR = GatePair(
    client="readout01", server="readout04", server_address="10.0.0.1", client_rate_gbps=25,
    server_rate_gbps=25,
)  # fmt: skip
ROWS: list[tuple[str, Wave, str]] = [
    ("heps", wave_of("leaf01"), "'Run' of heps"),
    ("leaf02", wave_of("leaf01"), ""),
    ("LEAF02; leaf01", wave_of("leaf01"), "'Run' of LEAF02, leaf01"),
    ("hall2", wave_of("leaf07"), "'Run' of hall2"),
    ("hall1", wave_of("leaf07"), ""),
    ("beamline", wave_of("leaf05"), "'Run' of beamline"),
    ("storage", wave_of("leaf05"), ""),
    ("readout03", wave_of("leaf07"), "'Run' of readout03"),
    ("readout03", wave_of("leaf08"), ""),
    ("readout03", wave_of("spine01"), "'Run' of readout03"),  # any traffic may pass it
    ("readout01", wave_of("leaf08", gate=GATE.model_copy(update={"pairs": (PAIR,)})), "'Run' of readout01 (the gate loads readout01)"),
    ("bl07", wave_of("leaf07"), "'Run' of bl07"),
    ("bl07", wave_of("leaf01"), "'Run' of bl07"),  # it sends to servers of this leaf
    ("bl07", wave_of("leaf08"), ""),
    ("Control room", wave_of("leaf08"),
     "'Run' of Control room (Control room is no place of heps, so it counts for all)"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("location", "wave", "name"), ROWS, ids=lambda each: getattr(each, "name", each)
)
def test_an_event_closes_what_its_location_names(
    heps: DerivedNetwork, tmp_path: Path, location: str, wave: Wave, name: str
) -> None:
    beamline = Beamline(
        id=7, name="bl07", leaf="leaf07", ports=("25GE1/0/3",), segment="beamline",
        detectors=(Detector.model_validate({"name": "d", "rate": "10 Gb/s"}),), sends_to=(DataPath(to="compute"),),
    )  # fmt: skip
    servers = tuple(
        each.model_copy(update={"name": "bl07-1"}) if each.name == "readout03" else each
        for each in heps.network.servers or ()
    )
    own = {"beamlines": (beamline,), "servers": servers} if location == "bl07" else {}
    network = heps.network.model_copy(update=own)
    (tmp_path / "o.ics").write_bytes(calendar_text(event("Run", *DAY, location=location)))
    calendar = Calendar(file="o.ics", time_zone="Europe/Berlin").beside(str(tmp_path))
    windows = WaveWindows(network, [calendar], lambda _: 60, lambda: at("2026-11-30 10:30"))
    reason = windows.window(wave).reason
    assert reason.partition(" is Mon")[0] == name


@pytest.mark.parametrize(
    ("location", "devices", "held"),
    [
        ("", ["leaf07", "spine01"], False),
        ("hall2", ["leaf07", "leaf08"], False),
        ("hall2", ["leaf06", "leaf07"], True),
        ("leaf07,leaf06", ["leaf06", "leaf07"], False),
        ("beamline", ["leaf07"], False),  # it has servers of this segment only
        ("compute", ["leaf01"], True),  # it has those of transfer, too
        ("compute,transfer", ["leaf01"], False),
        ("hall2", ["spine01"], True),
        ("Control room", ["leaf07"], True),
    ],
)
def test_a_window_opens_only_what_it_covers(
    judge: Judge, location: str, devices: list[str], held: bool
) -> None:
    studies = event("Studies", *DAY, kinds="studies", location=location)
    window = judge(at("2026-11-30 10:30"), studies, wave=wave_of(*devices), windows=["studies"])
    assert bool(window.reason) is held


def test_switches_of_a_wave_without_a_window_are_named(judge: Judge) -> None:
    studies = event("Studies", *DAY, kinds="studies", location="leaf07")
    window = judge(
        at("2026-11-30 10:30"), studies, wave=wave_of("leaf06", "leaf07"), windows=["studies"]
    )
    assert window.reason == "no window (studies) is open for leaf06"


def test_windows_that_touch_are_one(judge: Judge) -> None:
    first = event("Early", "20261130T080000", "20261130T100000", kinds="w")
    second = event("Late", "20261130T100000", "20261130T120000", kinds="w")
    assert not judge(at("2026-11-30 09:55"), first, second, windows=["w"]).reason
    assert judge(at("2026-11-30 09:55"), first, windows=["w"]).reason.startswith(
        "its window 'Early' (w)"
    )


SIXTY = ",".join(map(str, range(60)))
BROKEN: list[tuple[bytes, str]] = [
    (b"", "it has no whole VCALENDAR, from its BEGIN to its END"),
    (b"<html>log in</html>", "<html>log in</html>"),
    (b"\xff\xfe\x00", "it is no text in UTF-8"),
    (calendar_text(RUN)[:-30], "it has no whole VCALENDAR, from its BEGIN to its END"),
    (calendar_text(event("A", "2026-11-30", "20261201")), "event 'A': DTSTART: "),
    (calendar_text(event("A", "20261130T100000", "20261130T110000", zone="Mars/Base")),
     "event 'A': DTSTART: the time zone 'Mars/Base' is not known; "),
    (calendar_text(event("A", "20261130T100000", "20261130T090000")), "event 'A' ends before it begins"),
    (calendar_text(event("A", *DAY, "RRULE:FREQ=SOMETIMES")), "event 'A': RRULE: "),
    (calendar_text(event("A", *DAY, "RRULE:FREQ=SECONDLY")),
     "event 'A' recurs SECONDLY, which no window does"),
    (calendar_text(event("A", *DAY, f"RRULE:FREQ=DAILY;BYHOUR=8,9;BYMINUTE={SIXTY};BYSECOND={SIXTY}")),
     "event 'A' recurs 3600 times an hour, and at most 4 are read"),
    (calendar_text(event("A", *DAY, "RRULE:FREQ=HOURLY;BYMINUTE=0,10,20,30,40")),
     "event 'A' recurs 5 times an hour, and at most 4 are read"),
    (calendar_text("BEGIN:VFREEBUSY\r\nUID:1\r\nFREEBUSY:20261130T090000Z/PT3H\r\nEND:VFREEBUSY\r\n"),
     "it has components of another kind than VEVENT: VFREEBUSY"),
    (calendar_text(RUN, "BEGIN:VTODO\r\nUID:1\r\nDTSTART:20261130T090000Z\r\nEND:VTODO\r\n"),
     "it has components of another kind than VEVENT: VTODO"),
    (calendar_text(event("A", *DAY, "RRULE:FREQ=DAILY", "EXDATE:sometime")), "event 'A': EXDATE: "),
    (calendar_text("BEGIN:VEVENT\r\nUID:1\r\nSUMMARY:A\r\nEND:VEVENT\r\n"), "event 'A' has no DTSTART"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "why"), BROKEN, ids=range(len(BROKEN)))
def test_a_calendar_that_is_not_understood_holds_every_wave(
    heps: DerivedNetwork, tmp_path: Path, content: bytes, why: str
) -> None:
    file = tmp_path / "operation.ics"
    file.write_bytes(content)
    calendar = Calendar(file=str(file), time_zone="Europe/Berlin")
    windows = WaveWindows(heps.network, [calendar], lambda _: 60)
    window = windows.window(wave_of("leaf01"))
    assert window.reason.startswith(f"calendar {file} cannot be read: ")
    assert why.rstrip() in f"{window.reason}; "
    assert (window.next_begin, window.hint) == ("", "correct the calendar, or export it again")


def test_a_calendar_that_is_gone_a_folder_or_too_old_holds_every_wave(
    heps: DerivedNetwork, tmp_path: Path
) -> None:
    file = tmp_path / "operation.ics"
    calendar = Calendar(file=str(file), time_zone="Europe/Berlin", max_age_h=24)
    windows = WaveWindows(heps.network, [calendar], lambda _: 60)
    assert windows(wave_of("leaf01")) == (
        f"calendar {file} is not there; put the calendar there, or correct rollout.calendar.file"
    )
    file.write_bytes(calendar_text())
    assert windows(wave_of("leaf01")) == ""
    day_s = 25 * 3600
    os.utime(file, (file.stat().st_atime - day_s, file.stat().st_mtime - day_s))
    assert windows(wave_of("leaf01")) == (
        f"calendar {file} was written 25 h 0 min ago, rollout.calendar.max_age_h is 24; renew the "
        "copy of the calendar"
    )
    file.unlink()
    file.mkdir()
    assert "operation.ics cannot be read: Is a directory" in windows(wave_of("leaf01"))


def test_a_title_stays_in_its_line(judge: Judge) -> None:
    forged = event("Run\\nwave canary done\x1b[2J", *DAY)
    assert judge(at("2026-11-30 10:30"), forged).reason.startswith(
        "'Run wave canary done[2J' is Mon"
    )


def test_a_broken_value_that_decides_nothing_is_no_obstacle(judge: Judge) -> None:
    visited = event("A", "20261201", "20261202", "DTSTAMP:yesterday", "ATTENDEE;X")
    assert not judge(at("2026-11-30 10:30"), visited).reason


def test_all_calendars_of_a_run_have_to_agree(heps: DerivedNetwork, tmp_path: Path) -> None:
    names = ("a.ics", "b.ics")
    days = (("20261130", "20261201"), ("20261201", "20261203"))
    for name, day in zip(names, days, strict=True):
        (tmp_path / name).write_bytes(calendar_text(event(name, *day)))
    calendars = [Calendar(file=n, time_zone="Europe/Berlin").beside(str(tmp_path)) for n in names]
    windows = WaveWindows(heps.network, calendars, lambda _: 60, lambda: at("2026-11-30 10:30"))
    window = windows.window(wave_of("leaf01"))
    assert (window.reason[:12], window.next_begin) == ("'a.ics' is M", "2026-12-03T00:00:00+01:00")


def test_a_quarter_of_an_hour_and_a_journal_entry_are_read(judge: Judge) -> None:
    cycle = event(
        "Cycle",
        "20261130T100000",
        "20261130T100500",
        "RRULE:FREQ=DAILY;BYHOUR=10;BYMINUTE=0,15,30,45",
    )
    note = "BEGIN:VJOURNAL\r\nUID:1\r\nDTSTART:20261130T090000Z\r\nEND:VJOURNAL\r\n"
    window = judge(at("2026-11-30 10:31"), cycle, note, longest_s=60)
    assert window.reason == "'Cycle' is Mon 2026-11-30 10:30 to 10:35 CET"


def test_a_year_of_hourly_events_is_searched(judge: Judge) -> None:
    hourly = event("Cycle", "20260101T000000", "20260101T005500", "RRULE:FREQ=HOURLY", zone="UTC")
    window = judge(at("2026-11-30 10:30"), hourly)
    assert window.hint == "no time of the next 366 days has room for it"


def change(name: str) -> Change:
    return Change(
        device=name, kind=ChangeKind.MODIFYING, edits=(), patch=("a",), reverse=("b",),
        running_digest="0", intended_digest="1",
    )  # fmt: skip


def test_the_longest_time_has_the_timer_of_the_last_trial_and_the_way_back() -> None:
    plain, spine = wave_of("leaf01"), wave_of("spine01")
    drained = DrainedChange(
        device="spine01", drain=change("spine01"), change=change("spine01"), lift=change("spine01"),
        meanwhile="",
    )  # fmt: skip
    spine = spine.model_copy(update={"name": "spine", "drained": (drained,)})
    plan = Plan(
        fabric="heps", source="/f", tool="t", intent_digest="0", trial_s=600,
        changes=unchanged((plain, spine)), waves=(plain, spine),
    )  # fmt: skip
    # 45 s of checks first; act, checks, gate, confirmation; the timer; a last look at the switch.
    assert worst_s(plan, plain, 20) == 45 + (15 + 45 + 45 + 20 + 45) + 600 + 45
    assert worst_s(plan, spine, 20) == 45 + 3 * (15 + 45 + 45 + 20 + 45) + 600 + 45 + 2 * (15 + 600)


times = st.integers(0, 40).map(
    lambda minutes: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
)
periods = st.lists(st.tuples(times, times).map(sorted).map(lambda pair: Period(*pair)), max_size=6)


@given(periods, periods)
def test_laws_of_periods(some: list[Period], others: list[Period]) -> None:
    def covered(rows: list[Period], moment: datetime) -> bool:
        return any(row.begin <= moment < row.end for row in rows)

    left, right = _merged(some), _merged(others)
    free, both = _without(left, others), _common(left, right)
    for rows in (left, free, both):
        assert all(a.end <= b.begin for a, b in pairwise(rows))
    for minutes in range(41):
        moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes, seconds=30)
        assert covered(free, moment) == (covered(some, moment) and not covered(others, moment))
        assert covered(both, moment) == (covered(some, moment) and covered(others, moment))
