"""Events of progress, and their displays with a clock that the test sets."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as some
from outputs import refusals
from progress_events import steps_of
from rich.console import Console

from rocefort.base import json_output
from rocefort.base.live_line import LiveLine
from rocefort.base.progress import ProgressEvent, Step, note, reported_to, tracked
from rocefort.base.progress_display import (
    FIRST_LINE_S,
    LIVE_AFTER_S,
    NEXT_LINE_S,
    JsonEvents,
    LateLine,
    PlainLines,
    ProgressState,
    progress_display,
)


class Clock:
    """Clock that the test sets."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


Tree = list["Tree"]  # steps with their items; an item is a list of steps
TREES: some.SearchStrategy[Tree] = some.recursive(
    some.just([]), lambda inner: some.lists(inner, max_size=4), max_leaves=12
)


def work(tree: Tree, fails_at: list[int], level: int = 0) -> None:
    """Run a tree of steps, by turns of each kind; raise at an item of a number."""
    for number, items in enumerate(tree):
        if (level + number) % 2:
            for item in tracked(items, f"{level}.{number}"):
                work(item, fails_at, level + 1)
        else:
            with Step(f"{level}.{number}", len(items)):
                for item in items:
                    with Step("item", counted=True):
                        work(item, fails_at, level + 1)
        fails_at[0] -= 1
        if not fails_at[0]:
            raise KeyError(number)


@given(tree=TREES, fails_at=some.integers(0, 12))
def test_steps_are_nested_and_reach_their_totals(tree: Tree, fails_at: int) -> None:
    events: list[ProgressEvent] = []
    caught = []
    with reported_to(events.append):
        try:
            with Step("first"):
                work(tree, [fails_at])
        except KeyError as error:
            caught.append(error)  # its traceback keeps the iterators of the steps
        with Step("second"):
            work(tree, [0])
    before = len(events)
    work(tree, [0])
    assert len(events) == before  # nothing after the end
    seen = [{**asdict(event), "within": list(event.within)} for event in events]
    second = next(i for i, event in enumerate(seen) if event["step"] == "second")
    assert steps_of(seen[:second], interrupted=bool(caught))[0] == "first"
    assert steps_of(seen[second:])[0] == "second"


def test_a_step_advances_in_other_threads_which_begin_none() -> None:
    events: list[ProgressEvent] = []

    def in_thread(step: Step) -> None:
        with Step("of a thread"):
            for _ in range(200):
                step.advance()

    with reported_to(events.append), Step("devices", 1600) as step:
        threads = [threading.Thread(target=in_thread, args=(step,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [event.done for event in events] == [0, *range(1, 1601), 1600]


def lines_of(clock: Clock, seconds: Iterator[float]) -> str:
    """Plain lines of a run of 1,088 failures, one at each of the seconds."""
    out: list[str] = []
    lines = PlainLines(ProgressState("verify", clock), out.append)
    with reported_to(lines):
        for _ in tracked(range(1088), "failures", even=True):
            clock.seconds = next(seconds)
            lines.tick()
    lines.tick()
    return "".join(out)


def test_plain_lines_begin_late_and_are_seconds_apart(clock: Clock) -> None:
    assert lines_of(clock, (100 + i / 50 for i in range(1088))) == (
        "verify: failures 500 of 1,088, 10 s, about 10 s left\n"
        "verify: failures 750 of 1,088, 15 s, about 5 s left\n"
        "verify: failures 1,000 of 1,088, 20 s, about 5 s left\n"
    )


def test_a_thread_writes_the_lines_of_a_step_without_events(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("rocefort.base.progress_display.FIRST_LINE_S", 0.0)
    monkeypatch.setattr("rocefort.base.progress_display.NEXT_LINE_S", 0.0)
    monkeypatch.setattr(PlainLines, "every_s", 0.01)
    written = ""
    with progress_display("auto", "lab start"), Step("Batfish", limit_s=600.0):
        while written.count("\n") < 3:
            written += capsys.readouterr().err
    assert set(written.splitlines()) == {"lab start: Batfish (0 s, limit 600 s), 0 s"}
    assert "progress" not in {thread.name for thread in threading.enumerate()}


def test_a_quick_command_prints_no_plain_line(clock: Clock) -> None:
    assert lines_of(clock, (100 + i / 110 for i in range(1088))) == ""
    assert NEXT_LINE_S < FIRST_LINE_S < 1088 / 50


@pytest.mark.parametrize(
    ("even", "seconds", "done", "rest"),
    [
        (True, 4.9, 400, ""),  # too early
        (True, 20.0, 49, ""),  # too few
        (True, 20.0, 250, ", about 60 s left"),
        (True, 20.0, 999, ", about 5 s left"),
        (False, 20.0, 250, ""),  # items of other kinds follow
    ],
)
def test_an_estimate_is_given_only_where_it_is_honest(
    even: bool, seconds: float, done: int, rest: str, clock: Clock
) -> None:
    state = ProgressState("verify", clock)
    with reported_to(state.take), Step("failures", 1000, even=even) as step:
        clock.seconds += seconds
        step.advance(done)
        assert state.sentence() == f"verify: failures {done} of 1,000, {seconds:.0f} s{rest}"


def test_a_question_to_batfish_has_its_time_and_its_limit(clock: Clock) -> None:
    state = ProgressState("verify", clock)
    with reported_to(state.take), Step("Batfish"), Step("paths", 480) as paths:
        paths.advance(12)
        clock.seconds += 41
        with Step("traceroute", limit_s=600.0, counted=True):
            clock.seconds += 3
            assert state.sentence() == (
                "verify: Batfish: paths 12 of 480: traceroute (3 s, limit 600 s), 44 s"
            )
        assert state.sentence() == "verify: Batfish: paths 13 of 480, 44 s"
    assert state.sentence() == "verify, 44 s"


def test_json_has_every_step_and_few_advances(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_output.request, "command", "verify")
    out: list[str] = []
    with reported_to(JsonEvents(out.append, clock)):
        for _ in tracked(range(100), "failures"):
            clock.seconds += 0.125
        note("no answer of Batfish")
    events = [json.loads(line) for line in out]
    assert steps_of(events) == ["failures"]
    assert [refusals("progress", event) for event in events] == [[]] * len(events)
    done = [event["done"] for event in events if event["phase"] == "advance"]
    assert done == list(range(4, 101, 4))  # each half of a second
    assert events[-1] == {
        "schema_version": 1,
        "command": "verify",
        "elapsed_s": 12.5,
        "phase": "note",
        "step": "",
        "within": [],
        "done": 0,
        "total": 0,
        "limit_s": 0.0,
        "detail": "no answer of Batfish",
    }


def test_a_live_line_begins_late_and_is_gone_after_the_last_step(clock: Clock) -> None:
    written: list[str] = []
    line = LateLine(ProgressState("check", clock), written.append)
    with reported_to(line):
        with Step("derive"):
            line.tick()
            assert written == []
            clock.seconds += LIVE_AFTER_S
            line.tick()
            assert "check: derive, 1 s" in written[-1]
        assert written[-1] == "\r\x1b[K"
        before = len(written)
        line.tick()  # between two steps: a result may be written
        assert len(written) == before
        with Step("rules"):
            line.tick()
    assert "check: rules, 1 s" in written[before]
    assert written[before + 1 :] == ["\r\x1b[K"]


@pytest.mark.parametrize(
    ("width", "encoding", "drawn"),
    [
        (80, "utf-8", "━━━━━━━━━━╺━━━━━━━━━ verify: failures 544 of 1,088, 12 s"),
        (80, "ascii", "---------- --------- verify: failures 544 of 1,088, 12 s"),
        (60, "utf-8", "verify: failures 544 of 1,088, 12 s"),
        (20, "utf-8", "verify: failures 5…"),
        (20, "ascii", "verify: failures 54"),
    ],
)
def test_a_live_line_has_the_width_of_the_terminal(width: int, encoding: str, drawn: str) -> None:
    written: list[str] = []
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=file, width=width, force_terminal=True, legacy_windows=False)
    line = LiveLine(written.append, console)
    line.draw("verify: failures 544 of 1,088, 12 s", 0.5)
    plain = "".join(part.partition("m")[2] for part in f"m{written[0]}".split("\x1b["))
    assert plain.strip("\rK") == drawn
    assert len(drawn) < width


@pytest.mark.parametrize("stream", ["/dev/full", None, "closed"])
@pytest.mark.parametrize("kind", ["plain", "json", "auto"])
def test_a_lost_standard_error_ends_nothing(
    kind: str, stream: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = open("/dev/full", "w", encoding="utf-8")  # noqa: PTH123, SIM115 - it cannot be flushed
    monkeypatch.setattr("sys.stderr", file if stream else None)
    if stream != "/dev/full":
        file.close()
    with progress_display(kind, "check"):
        assert list(tracked(range(3), "rules")) == [0, 1, 2]
    monkeypatch.undo()
    with suppress(OSError):
        file.close()
