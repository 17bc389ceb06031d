"""Calendar of a fabric in a rollout: it is read when a wave begins, and holds it; overrides."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from planned import calendar_text, event

from rocefort.dialects.vrp.text.config_tree import tree_text
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.rollout.controller.requests import approve
from rocefort.rollout.operator import user
from rocefort.rollout.planning.sealed_files import read_plan
from rocefort.rollout.planning.wave_windows import WaveWindows

Command = Callable[..., Any]
Planned = Callable[..., tuple[Path, str]]
BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime.now(BERLIN)
REASON = "a broken fan of leaf08"
FREE = calendar_text()


def freeze(title: str = "Freeze", *lines: str, location: str = "") -> str:
    """An all-day event around the present time."""
    days = (f"{NOW + timedelta(days=days):%Y%m%d}" for days in (-1, 2))
    return event(title, *days, *lines, kinds="FREEZE", location=location)


@pytest.fixture
def calendar(tmp_path: Path) -> Path:
    """Calendar of the fabric."""
    return tmp_path / "operation.ics"


@pytest.fixture
def planned(
    lab: Rehearsal, edit_hall: Callable[..., Path], command: Command, tmp_path: Path, calendar: Path
) -> Planned:
    """Plan other descriptions of both leaves, with a calendar; the file and the text."""

    def seal(content: bytes, *keys: str) -> tuple[Path, str]:
        calendar.write_bytes(content)
        settings = ["file: operation.ics", "time_zone: Europe/Berlin", *keys]
        fabric = edit_hall(
            *(
                (f"  - name: readout0{n}\n", f"  - name: readout0{n}\n    description: det {n}\n")
                for n in (3, 4)
            ),
            ("rollout:\n", "rollout:\n  calendar:\n" + "".join(f"    {key}\n" for key in settings)),
        )
        file = tmp_path / "plan.json"
        done = command("plan", fabric, "--connections", lab.file, "--out", file)
        assert done.code == 0, done.err
        return file, done.words

    return seal


def changed(lab: Rehearsal) -> list[str]:
    """Switches that run the change."""
    return [name for name, s in lab.switches.items() if "det " in tree_text(s.running)]


def rows(command: Command, plan: Path, *acts: str) -> list[str]:
    """Details of acts in the journal."""
    runs = json.loads(command("history", plan, "--format", "json").out)["runs"]
    done = (row for row in runs[-1]["events"] if row["phase"] == "done")
    return [row["detail"] for row in done if row["act"] in acts]


def test_an_all_day_freeze_holds_waves_until_it_ends_or_the_calendar_changes(
    lab: Rehearsal, planned: Planned, command: Command, calendar: Path
) -> None:
    file, text = planned(calendar_text(freeze()))
    begin, end = (f"{NOW + timedelta(days=days):%a %Y-%m-%d} 00:00" for days in (-1, 2))
    why = f"'Freeze' (freeze) is {begin} to {end} "
    assert "windows by operation.ics, read again when a wave begins:" in text
    assert f"canary, leaves 1 of 1: {why}" in text
    held = f"wave canary waits for its window: {why}"
    at = ("--connections", lab.file)
    for verb in ("apply", "resume"):
        ran = command(verb, file, *at)
        assert (ran.code, changed(lab)) == (5, [])
        assert held in ran.words
        assert f"it may begin {end} " in ran.words
        assert "`rocefort resume --outside-window REASON` begins it with an approval" in ran.words
    assert f"state: {held}" in command("status", file).words
    shown = command("windows", file, *at)
    assert (shown.code, why in shown.words) == (1, True)
    after = command("windows", file, *at, "--at", f"{NOW + timedelta(days=2):%Y-%m-%d}T00:00")
    assert (after.code, "canary, leaves 1 of 1: may begin, and may take" in after.words) == (
        0,
        True,
    )

    calendar.write_bytes(calendar_text(freeze(location="leaf07")))  # it is no part of the plan
    ran = command("resume", file, *at)
    assert (ran.code, changed(lab)) == (5, [])
    assert "'Freeze' (freeze) of leaf07 (the gate loads readout03) is" in ran.words
    calendar.write_bytes(FREE)
    ran = command("resume", file, *at)
    assert (ran.code, changed(lab)) == (0, ["leaf07", "leaf08"])
    digest = sha256(FREE).hexdigest()[:12]
    for text in rows(command, file, "window"):
        assert text.startswith("may take ")
        assert text.endswith(f" and may begin; by calendar {calendar} ({digest})")


def test_a_wave_waits_for_a_window_of_its_switches(
    lab: Rehearsal, planned: Planned, command: Command, calendar: Path
) -> None:
    canary = freeze("Studies", location="leaf08").replace("FREEZE", "STUDIES")
    file, _ = planned(calendar_text(canary), "windows: [studies]")
    at = ("--connections", lab.file)
    ran = command("apply", file, *at)
    assert (ran.code, changed(lab)) == (5, ["leaf08"])
    assert "wave leaves 1 of 1 waits for its window: no window (studies) is open" in ran.words
    calendar.write_bytes(
        calendar_text(canary, freeze("All", location="hall2").replace("FREEZE", "STUDIES"))
    )
    ran = command("resume", file, *at)
    assert (ran.code, changed(lab)) == (0, ["leaf07", "leaf08"])


def test_a_wave_waits_while_its_calendar_is_gone_or_unclear(
    lab: Rehearsal, planned: Planned, command: Command, calendar: Path
) -> None:
    file, _ = planned(FREE)
    at = ("--connections", lab.file)
    calendar.unlink()
    ran = command("apply", file, *at)
    assert (ran.code, changed(lab)) == (5, [])
    gone = f"wave canary waits for its window: calendar {calendar} is not there"
    assert gone in ran.words
    calendar.write_bytes(FREE[:-8])
    ran = command("resume", file, *at)
    assert (ran.code, changed(lab)) == (5, [])
    assert f"calendar {calendar} cannot be read: it has no whole VCALENDAR" in ran.words
    calendar.write_bytes(FREE)
    ran = command("resume", file, *at)
    assert (ran.code, changed(lab)) == (0, ["leaf07", "leaf08"])


def test_a_weekly_event_of_summer_time_closes_its_local_hours_in_winter(
    lab: Rehearsal, planned: Planned, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    weekly = event(
        "Beam time", "20260907T100000", "20260907T110000", "RRULE:FREQ=WEEKLY",
        zone="Europe/Berlin", kinds="USER RUN", location="hall2",
    )  # fmt: skip
    file, _ = planned(calendar_text(weekly))
    at = ("--connections", lab.file)
    now = [datetime(2026, 10, 26, 10, 30, tzinfo=BERLIN)]  # a day after the end of summer time
    monkeypatch.setattr(
        "rocefort.rollout.planning.wave_windows.WaveWindows.of", of_clock(lambda: now[0])
    )
    ran = command("apply", file, *at)
    assert (ran.code, changed(lab)) == (5, [])
    assert (
        "wave canary waits for its window: 'Beam time' (user run) of hall2 is Mon 2026-10-26 10:00 "
        "to 11:00 CET; it may begin Mon 2026-10-26 11:00 CET (Europe/Berlin)" in ran.words
    )
    now[0] = datetime(2026, 10, 26, 9, 30, tzinfo=BERLIN)  # 8:30 UTC, at which it began in summer
    ran = command("resume", file, *at)
    assert (ran.code, changed(lab)) == (0, ["leaf07", "leaf08"])


def of_clock(now: Callable[[], datetime]) -> Any:
    """Windows by another clock than that of this machine."""
    made = WaveWindows.of

    def of(*args: Any) -> WaveWindows:
        windows = made(*args)
        return WaveWindows(windows.network, windows.calendars, windows.longest_s, now)

    return of


def test_a_window_shorter_than_the_longest_time_of_a_wave_is_none(
    lab: Rehearsal, planned: Planned, command: Command, calendar: Path
) -> None:
    def short() -> bytes:
        now = datetime.now(BERLIN)
        begin, end = (f"{now + timedelta(seconds=s):%Y%m%dT%H%M%S}" for s in (-3600, 55))
        studies = event("Studies", begin, end, zone="Europe/Berlin", kinds="machine studies")
        return calendar_text(studies)

    file, _ = planned(short(), "windows: [machine studies]")
    calendar.write_bytes(short())  # the window is still open when the wave begins
    ran = command("apply", file, "--connections", lab.file)
    assert (ran.code, changed(lab)) == (5, [])
    assert (
        "wave canary waits for its window: its window 'Studies' (machine studies) ends "
        in ran.words
    )
    assert "and the wave may take 1 min " in ran.words  # the timers of the lab run faster
    assert "no time of the next 366 days has room for it" in ran.words


def test_an_override_needs_a_reason_and_another_person(
    lab: Rehearsal, planned: Planned, command: Command, calendar: Path
) -> None:
    file, _ = planned(calendar_text(freeze()))
    journal, at = file.with_name("plan.json.journal"), ("--connections", lab.file)
    assert command("apply", file, *at, "--outside-window", "a\nb").code == 2
    ran = command("apply", file, *at, "--outside-window", REASON)
    assert (ran.code, changed(lab)) == (5, [])
    waits = "wave canary waits for an approval to begin although 'Freeze' (freeze) is"
    assert waits in ran.words
    state = command("status", file).words
    assert waits in state
    assert "`rocefort approve`, then `rocefort resume`" in state
    mine = command("approve", file, "--wave", "canary")
    assert (mine.code, f"the approval is by {user()}, who requested that" in mine.err) == (4, True)

    plan = read_plan(file)
    approve(journal, plan, "canary", "bob", plan.digest)
    ran = command("resume", file, *at)
    assert (ran.code, changed(lab)) == (5, ["leaf08"])
    assert "wave leaves 1 of 1 waits for an approval to begin although 'Freeze'" in ran.words
    other = command("resume", file, *at, "--outside-window", "it is urgent")
    assert (other.code, changed(lab)) == (5, ["leaf08"])
    approve(journal, plan, "leaves 1 of 1", "bob", plan.digest)
    ran = command("resume", file, *at, "--outside-window", "another reason")
    assert (ran.code, changed(lab)) == (5, ["leaf08"])  # he did not read that reason
    approve(journal, plan, "leaves 1 of 1", "bob", plan.digest)
    calendar.unlink()
    page = file.with_name("rollout.html")
    ran = command("resume", file, *at, "--html", page)
    assert (ran.code, changed(lab)) == (0, ["leaf07", "leaf08"])
    first, second = rows(command, file, "window")
    outside = f"begins outside its window by {user()}:"
    assert first.startswith(f"{outside} {REASON}, approved by bob: 'Freeze' (freeze) is ")
    assert second.startswith(
        f"{outside} another reason, approved by bob: calendar {calendar} is not"
    )
    text = command("status", file).words
    assert f"outside-window by {user()}: {REASON}" in text
    assert f"outside-window by {user()}: another reason" in text
    assert f"{outside} another reason, approved by bob" in page.read_text(encoding="utf-8")


def test_break_glass_skips_the_approval_of_an_override(
    lab: Rehearsal, planned: Planned, command: Command
) -> None:
    file, _ = planned(calendar_text(freeze()))
    words = ("--connections", lab.file, "--break-glass", "night")
    ran = command("apply", file, *words)
    assert (ran.code, changed(lab)) == (5, [])  # it is no word on windows
    ran = command("resume", file, *words, "--outside-window", REASON)
    assert (ran.code, changed(lab)) == (0, ["leaf07", "leaf08"])
    first, *_ = rows(command, file, "window")
    assert first.startswith(
        f"begins outside its window by {user()}: {REASON}, without an approval: 'Freeze'"
    )


def test_a_rollback_waits_for_its_window_too(
    lab: Rehearsal, planned: Planned, command: Command, calendar: Path
) -> None:
    file, _ = planned(FREE)
    at = ("--connections", lab.file)
    assert command("apply", file, *at).code == 0
    calendar.write_bytes(calendar_text(freeze()))
    ran = command("rollback", file, "--apply", *at)
    assert (ran.code, changed(lab)) == (5, ["leaf07", "leaf08"])
    assert "waits for its window: 'Freeze' (freeze) is" in ran.words


def run_git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True)


def test_a_change_cannot_remove_the_calendar_that_holds_it(
    lab: Rehearsal, planned: Planned, command: Command
) -> None:
    file, _ = planned(calendar_text(freeze()))
    fabric = Path(read_plan(file).source)
    commit = ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q")
    git = partial(run_git, fabric.parent)
    git("init", "-q", "--initial-branch=main")
    git("add", fabric.name, "operation.ics")
    git(*commit, "-m", "with a calendar")
    text = fabric.read_text(encoding="utf-8")
    begin = text.index("  calendar:\n")
    end = text.index("  canary:")
    fabric.write_text(text[:begin] + text[end:], encoding="utf-8")
    git(*commit, "-am", "without it")
    at = ("--connections", lab.file)
    done = command("plan", fabric, *at, "--out", file)
    assert "canary, leaves 1 of 1: 'Freeze' (freeze) is" in done.words
    ran = command("apply", file, *at)
    assert (ran.code, changed(lab)) == (5, [])
    assert "waits for its window: 'Freeze' (freeze) is" in ran.words


def test_no_calendar_no_windows(
    lab: Rehearsal, described: Path, command: Command, tmp_path: Path
) -> None:
    file = tmp_path / "plan.json"
    done = command("plan", described, "--connections", lab.file, "--out", file)
    assert "windows by" not in done.words
    shown = command("windows", file)
    assert (shown.code, shown.out.splitlines()[1:]) == (
        0, ["the fabric has no rollout.calendar: a wave may begin at any time"],
    )  # fmt: skip
    wrong = command("windows", file, "--at", "tomorrow")
    assert (wrong.code, "'tomorrow' is not a time" in wrong.err) == (2, True)


def test_a_wrong_calendar_of_a_fabric_is_an_error_with_its_line(
    edit_hall: Callable[..., Path], command: Command
) -> None:
    keys = "  calendar: {file: operation.ics, time_zone: Berlin}\n"
    fabric = edit_hall(("rollout:\n", f"rollout:\n{keys}"))
    ran = command("check", fabric)
    assert ran.code == 2
    assert (
        "rollout.calendar.time_zone: 'Berlin' is not a time zone of the IANA database; write one as "
        "Asia/Shanghai or Europe/Berlin" in ran.err
    )
