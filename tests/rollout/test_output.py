"""A rollout whose output cannot be written: it completes, and the journal has its events."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rocefort.base import options
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.rollout import run_output
from rocefort.rollout.journal.events import RolloutOutcome, RunEnded
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.journal.runs import status
from rocefort.rollout.planning.sealed_files import read_plan, write_plan

ROCEFORT = Path(sys.executable).with_name("rocefort")


@contextmanager
def unread() -> Iterator[int]:
    """A pipe without a reader."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


@contextmanager
def full() -> Iterator[int]:
    """A file on a full disk."""
    number = os.open("/dev/full", os.O_WRONLY)
    yield number
    os.close(number)


@pytest.mark.parametrize(
    ("output", "why"),
    [
        (unread, "Broken pipe"),
        pytest.param(full, "No space left", marks=pytest.mark.thorough),
    ],
)
def test_it_comes_to_its_end_without_its_output(
    lab: Rehearsal,
    described: Path,
    plan_of: Callable[[Path], Any],
    tmp_path: Path,
    output: Callable[[], Any],
    why: str,
) -> None:
    plan = tmp_path / "plan.json"
    write_plan(plan_of(described), plan)
    with output() as number:
        words = list(map(str, (ROCEFORT, "apply", plan, "--connections", lab.file)))
        done = subprocess.run(
            words, stdout=number, stderr=subprocess.PIPE, text=True, check=False, timeout=240
        )
    assert done.returncode == 0, done.stderr
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith(f"rocefort: output cannot be written: {why}")
    assert sentence.endswith(f"; the rollout continues: `rocefort status {plan}` shows it")
    reading = status(Path(f"{plan}.journal"))
    assert not reading.damage
    assert not reading.history(read_plan(plan).digest).running
    ended = reading.entries[-1].event
    assert isinstance(ended, RunEnded) and ended.ended == "finished"
    for name in ("leaf07", "leaf08"):
        switch = lab.switches[name]
        assert any("detector" in line.text for top in switch.running for _, line in top.walk())
        assert (switch.trial, switch.saved) == (None, switch.running)


@pytest.mark.parametrize(
    "streams",
    [
        "<&- >&- 2>&-",
        *(
            pytest.param(each, marks=pytest.mark.thorough)
            for each in (">&-", "2>&-", "2>/dev/full", "--format json >&- 2>/dev/full")
        ),
    ],
)
def test_it_comes_to_its_end_with_closed_streams(
    streams: str, lab: Rehearsal, described: Path, plan_of: Callable[[Path], Any], tmp_path: Path
) -> None:
    """A closed stream is no file of the rollout: the journal does not get the number of one."""
    plan, page = tmp_path / "plan.json", tmp_path / "page.html"
    write_plan(plan_of(described), plan)
    words = f"{ROCEFORT} apply {plan} --connections {lab.file} --html {page} {streams}"
    done = subprocess.run(["/bin/sh", "-c", words], check=False, timeout=240)
    assert done.returncode == 0
    reading = status(Path(f"{plan}.journal"))
    ended = reading.entries[-1].event
    assert isinstance(ended, RunEnded) and (ended.ended, reading.damage) == ("finished", "")


def test_a_journal_that_cannot_be_read_at_the_end_hides_no_switch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_output._report_outcome(
        RolloutOutcome(confirmed=("leaf08",)),
        RunDirectory.of_journal(tmp_path / "none"),
        options.ProgressOption.PLAIN,
        options.TraceFormat.TEXT,
    )
    assert (
        capsys.readouterr().out.split()
        == (
            "1 switch confirmed, read back and saved: leaf08 "
            f"{tmp_path / 'none'}: no such journal; `rocefort apply` creates it"
        ).split()
    )
