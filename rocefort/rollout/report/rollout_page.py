"""A rollout as one HTML page: live while it runs, and its history afterwards."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from rocefort.base.errors import ExitCode
from rocefort.models.wording import count_of
from rocefort.reports.blocks import code
from rocefort.reports.page_parts import PageColumn, PageTable, as_json_value
from rocefort.reports.writers.pages import PageHead, framed_page
from rocefort.rollout.journal import history as words
from rocefort.rollout.journal.events import ActPhase
from rocefort.rollout.journal.history import FINISHED
from rocefort.rollout.journal.runs import RolloutStatus, Run
from rocefort.rollout.report.event_lines import to_continue
from rocefort.rollout.report.timeline import LEGEND, timeline_of

FILES = (
    *("plan.css", "rollout.css"),
    *("page_common.js", "page_tables.js", "page_data.js", "page_live.js"),
)
RELOAD_S = 3
MOST_TROUBLES = 8
Tone = Literal["failed", "clean", "busy", "stopped"]
TILES = {
    words.SAVED: "good",
    words.WAITING: "quiet",
    words.BACK: "warning",
    words.FAILED: "error",
    words.UNKNOWN: "error",
}


@dataclass(frozen=True, slots=True)
class RolloutPageContent:
    """Content of the page. arguments: those by which a command names plan and journal.

    live: whether a controller or `status --follow` renews the page, so that it loads itself again.
    """

    status: RolloutStatus
    arguments: Sequence[str]
    live: bool = False


def rollout_page(content: RolloutPageContent) -> str:
    """The page; the template escapes every value."""
    status = content.status
    tables = (_events_table(status), *_runs_table(status))
    verdict, tone = _verdict(status)
    head = PageHead(
        title=f"{verdict}: rollout on {status.fabric}",
        heading=f"Rollout on {status.fabric}",
        verdict=verdict,
        tone=tone,
        sizes=list(_sizes(status)),
        tiles=list(_tiles(status)),
        provenance=list(_provenance(content)),
        sections=(
            ("next", "What to do"),
            ("waves", "Waves"),
            *((table.id, table.title) for table in tables),
        ),
    )
    live = content.live and (status.run is None or bool(status.holder))
    shown: dict[str, object] = {
        "live": live,
        "runs_on": bool(status.holder),
        "reload_s": RELOAD_S,
        "tone": tone,
        "state": _state(status),
        "troubles": list(_troubles(status)),
        "steps": list(_next_steps(content)),
        "timeline": timeline_of(status),
        "legend": LEGEND,
        "trial_s": status.progress.plan.trial_s,
        "tables": tables,
    }
    data = {
        "tables": as_json_value(tables),
        "live": live,
        "reload_s": RELOAD_S,
        "written": status.now.timestamp(),
        "scale": status.progress.scale,
    }
    return framed_page("rollout.html.j2", head, shown, files=FILES, data=data)


def _verdict(status: RolloutStatus) -> tuple[str, Tone]:
    """State of the rollout in a few words."""
    run, history = status.run, status.progress.history
    if not status.progress.plan.waves:
        return "no switch changes", "clean"
    if run is None:
        return "not begun", "busy"
    if run.ended:
        stopped: tuple[str, Tone] = (
            ("stopped", "stopped") if run.code == ExitCode.STOPPED else ("failed", "failed")
        )
        return ("finished", "clean") if run.ended == FINISHED else stopped
    if history.failure:
        return ("rolling back" if status.holder else "failed, not yet rolled back"), "failed"
    if status.holder:
        return ("waits for approval", "stopped") if history.asks else ("under way", "busy")
    return ("paused", "stopped") if status.code == ExitCode.STOPPED else ("interrupted", "failed")


def _sizes(status: RolloutStatus) -> Iterator[str]:
    plan = status.progress.plan
    devices = [device for wave in plan.waves for device in wave.devices]
    done = sum(status.progress.word(device) == words.SAVED for device in devices)
    yield f"{done:,} of {count_of(len(devices), 'switch')} done"
    yield count_of(len(plan.waves), "wave")
    yield f"{plan.trial_s:,} s commit trial"


def _tiles(status: RolloutStatus) -> Iterator[tuple[str, str]]:
    plan = status.progress.plan
    states = (status.progress.word(d) for wave in plan.waves for d in wave.devices)
    for state, number in Counter(states).items():
        yield TILES.get(state, "info"), f"{number:,} {state}"


def _provenance(content: RolloutPageContent) -> Iterator[tuple[str, str]]:
    status = content.status
    run, journal = status.run, status.journal
    yield "Plan", f"{code(status.plan[:12])} in {content.arguments[0]}"
    if run:
        yield "Run", code(run.history.run[:8])
        for life in run.lives:
            name = "Begun" if life.mode == "apply" else "Resumed"
            user = life.user or "unknown user"
            yield name, f"{_moment(life.at)} by {user} on {life.host}, Rocefort {life.tool}"
        if run.ended_at:
            yield "Ended", _moment(run.ended_at)
    if status.policy:
        yield "Approvals", status.policy.removeprefix("approvals: ")
    if journal.rows:
        seal = f", newest link {code(journal.head[:12])}" if not journal.damage else ""
        yield "Journal", f"{journal.path}, {count_of(journal.rows, 'row')}{seal}"
    yield "Written", f"{status.now.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _moment(at: str) -> str:
    return f"{datetime.fromisoformat(at).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _state(status: RolloutStatus) -> str:
    """State as a sentence, with the wave that failed."""
    failure = status.progress.history.failure
    where = f"Wave {failure.wave}: " if failure and status.run and status.run.ended else ""
    return _sentence(f"{where}{status.state}")


def _troubles(status: RolloutStatus) -> Iterator[tuple[str, str]]:
    """Kind and sentence of everything that a person should read first."""
    history = status.progress.history
    if status.journal.damage:
        yield "error", f"The journal is damaged: {status.journal.damage}"
    if history.asks:
        yield "warning", _sentence(history.asks)
    ended = status.run.ended if status.run else ""
    failures = [text for text in dict.fromkeys(history.failures) if text not in ended]
    yield from (("error", _sentence(text)) for text in failures[-MOST_TROUBLES:])
    yield from (("warning", _sentence(note)) for note in history.notes[-MOST_TROUBLES:])
    if status.untouched:
        yield "info", _sentence(status.untouched)
    if status.progress.plan.limit:
        yield "info", _sentence(status.progress.plan.limit.sentence)


def _next_steps(content: RolloutPageContent) -> Iterator[tuple[str, str]]:
    """Sentence and command of what an operator may do in this state."""
    status = content.status
    plan = shlex.join(content.arguments)
    carry = f"{plan} --connections FILE"
    run, history = status.run, status.progress.history
    if not status.progress.plan.waves:
        return
    if run is None:
        yield "To begin it:", f"rocefort apply {carry}"
        return
    if status.holder:
        if history.asks:
            yield "To approve the wave:", f"rocefort approve {plan} --wave {_waiting(status)}"
        yield "To watch it in a terminal:", f"rocefort status --follow {plan}"
        yield "To stop before the next wave:", f"rocefort pause {plan}"
        yield "To roll the current wave back and stop:", f"rocefort abort {plan}"
        return
    if run.ended == FINISHED:
        yield "To revert it:", f"rocefort rollback {plan}"
        return
    if run.ended:
        yield _sentence(to_continue(plan)), ""
        if status.journal.confirmed:
            yield "To revert what is confirmed:", f"rocefort rollback {plan}"
        return
    if wave := _waiting(status):
        yield "To approve the wave:", f"rocefort approve {plan} --wave {wave}"
    yield "To continue:", f"rocefort resume {carry}"
    if not history.failure:
        yield "To roll back instead, first:", f"rocefort abort {plan}"


def _waiting(status: RolloutStatus) -> str:
    """Name of the first wave that waits for an approval, quoted for a shell."""
    progress = status.progress
    states = ((wave.name, progress.state_of(wave)) for wave in progress.plan.waves)
    name = next((name for name, state in states if state != words.DONE), "")
    needs = any(n == name and state == words.NEEDS_APPROVAL for n, state in _states(status))
    return shlex.quote(name) if needs else ""


def _states(status: RolloutStatus) -> Iterator[tuple[str, str]]:
    progress = status.progress
    return ((wave.name, progress.state_of(wave)) for wave in progress.plan.waves)


def _sentence(text: str) -> str:
    """Text with a capital letter and a full stop; a command at its beginning stays as it is."""
    text = text if text.endswith((".", "`")) else f"{text}."
    return f"{text[0].upper()}{text[1:]}"


def _events_table(status: RolloutStatus) -> PageTable:
    columns = (
        PageColumn("Time (UTC)"),
        PageColumn("Wave"),
        PageColumn("Switch"),
        PageColumn("Act"),
        PageColumn("Result"),
        PageColumn("Detail", "prose"),
    )
    events = status.run.events if status.run else ()
    rows = tuple(
        (
            each.at[11:19],
            each.event.wave,
            each.event.device,
            str(each.event.act),
            _result(each.event.phase, each.event.code),
            each.event.detail,
        )
        for each in events
        if each.event.phase is not ActPhase.INTENT
    )
    note = "" if rows else "Nothing has happened yet."
    return PageTable("events", "Events", columns, rows, note)


def _result(phase: ActPhase, exit_code: int) -> str:
    if phase is ActPhase.FAILED:
        return "stopped" if exit_code == ExitCode.STOPPED else "FAILED"
    return "ok"


def _runs_table(status: RolloutStatus) -> Iterator[PageTable]:
    """All runs of the plan, if there were more than one."""
    runs = status.journal.runs
    if len(runs) < 2:
        return
    columns = (
        PageColumn("Run"),
        PageColumn("Begun"),
        PageColumn("By"),
        PageColumn("Ended"),
        PageColumn("Outcome", "prose"),
    )
    yield PageTable("runs", "Runs of this plan", columns, tuple(map(_run_row, runs)))


def _run_row(run: Run) -> tuple[str, ...]:
    first = run.lives[0] if run.lives else None
    return (
        run.history.run[:8],
        _moment(first.at) if first else "",
        first.user if first else "",
        _moment(run.ended_at) if run.ended_at else "not ended",
        run.ended,
    )
