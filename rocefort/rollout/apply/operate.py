"""Steps of a rollout's operator: watch, request its end, approve, roll back, detach."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from rocefort.base.actions import BackgroundProcess
from rocefort.base.errors import BadInput, Refused
from rocefort.base.processes import in_background
from rocefort.base.streams import is_terminal
from rocefort.fleet.connections import Connections, load_connections
from rocefort.models.change.plan import Plan
from rocefort.models.fabric.approvals import WaveApproval
from rocefort.models.wording import count_of, listing
from rocefort.rollout import operator
from rocefort.rollout.controller import requests
from rocefort.rollout.controller.requests import allowed_by
from rocefort.rollout.journal.events import Act, ActPhase, ApplyRules, DrainStep, Event
from rocefort.rollout.journal.history import RunHistory
from rocefort.rollout.journal.journal import EventListener, restore_head
from rocefort.rollout.journal.lock import one_controller
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.journal.runs import (
    JournalContents,
    RolloutStatus,
    TimedEvent,
    contents_of,
    is_wave_done,
    rollout_status,
)
from rocefort.rollout.operator import user
from rocefort.rollout.planning.rehearsal import rehearsal_record, require_rehearsal
from rocefort.rollout.planning.sealed_files import principals_of, read_plan, write_plan
from rocefort.rollout.report.event_lines import JsonLines, WaveLines

LIVE, PLAIN, JSON, AUTO, NONE = "live", "plain", "json", "auto", "none"
Say = Callable[[str], None]


def plan_and_connections(sealed: Path, connections: Path) -> tuple[Plan, Connections]:
    """Read plan and connections; raises Refused for a changed plan, or one of another fabric."""
    plan, access = read_plan(sealed), load_connections(connections)
    names = {device.name for device in access.devices}
    if not names.intersection(change.device for change in plan.changes):
        raise Refused(
            f"plan is for fabric {plan.fabric}; {connections} lists none of its switches",
            file=str(sealed),
            how="name the connections of that fabric",
        )
    return plan, access


@contextmanager
def watched(
    kind: str, plan: Plan, access: Connections, journal: Path, say: Say
) -> Iterator[EventListener]:
    """Listener that shows progress: drawn on a terminal, as lines, as JSON lines, or not."""
    if kind == AUTO:
        kind = LIVE if is_terminal(sys.stdout) else PLAIN
    if kind != LIVE:
        yield _without_display if kind == NONE else (JsonLines if kind == JSON else WaveLines)(say)
        return
    from rocefort.rollout.report.live_progress import LiveProgress  # noqa: PLC0415 - rich is slow

    progress = status_of_plan(plan, journal).progress
    progress = replace(progress, scale=access.time_scale)
    with LiveProgress(plan, progress) as live:
        yield live


def _without_display(_event: Event, /) -> None:
    """Show nothing of an event."""


def hint_of_session(environment: Mapping[str, str], *, terminal: bool) -> str:
    """Hint for a rollout that would end with its SSH session; empty if none does.

    A hangup rolls the current wave back. tmux and screen set a variable of their own.
    """
    survives = environment.get("TMUX") or environment.get("STY")
    if not terminal or survives or not environment.get("SSH_CONNECTION"):
        return ""
    return (
        "if this SSH session is lost, the current wave is rolled back; --detach or tmux avoids that"
    )


def named_journal(sealed: Path, journal: Path | None) -> Path:
    """Journal of a plan; raises BadInput if the named file is missing."""
    if journal is not None and not journal.is_file():
        raise BadInput("no such journal", file=str(journal), how="check its name")
    return RunDirectory.of(sealed, journal).journal


def status_of_plan(plan: Plan, journal: Path) -> RolloutStatus:
    """Status of a plan from its journal alone."""
    return rollout_status(plan, journal, datetime.now(UTC))


def contents_at(sealed: Path | None, journal: Path | None) -> JournalContents:
    """All runs of a plan or of a journal; raises BadInput without either."""
    if sealed is not None:
        return contents_of(RunDirectory.of(sealed, journal).journal, read_plan(sealed).digest)
    if journal is None:
        raise BadInput("no plan and no journal is named", how="name a PLAN, or --journal FILE")
    return contents_of(journal)


def restored_head(sealed: Path | None, journal: Path | None, link: str) -> str:
    """Write the lost head of a journal again from a copy of the newest link; returns a message.

    Raises Refused as `journal.restore_head`, BadInput without a journal.
    """
    path = Path(contents_at(sealed, journal).path)
    rows = restore_head(path, link)
    return f"{path}: its head is restored; its chain of {count_of(rows, 'row')} ends in {link}"


def ask_to_end(sealed: Path, journal: Path | None, *, back: bool) -> str:
    """Request the end of a run; returns a message on what follows.

    back: the current wave is rolled back; otherwise no further wave begins. Raises Refused without
    an unfinished run. A running controller receives the request even if the journal is damaged
    meanwhile; no controller can resume with a damaged one.
    """
    plan, notes = read_plan(sealed), RunDirectory.of(sealed, journal).journal
    at_work = status_of_plan(plan, notes).holder
    history = requests.running_history(notes, plan, sound=not at_work)
    if back:
        requests.request_abort(notes, plan, user())
        comes = "the current wave is rolled back, except confirmed switches, then the run ends"
    else:
        requests.request_pause(notes, plan, user())
        comes = "the current wave is completed, and no further wave begins"
    now = status_of_plan(plan, notes)
    if now.holder:
        return f"asked {now.holder}: {comes}"
    if back:
        ends = "no controller is running; `rocefort resume` ends the run"
        noted = f"noted: {ends}: {_end_by_abort(plan, history)}"
    else:
        noted = f"noted: {comes}; no controller is running, `rocefort resume` does it"
    return "; ".join([noted, *now.trials])


def _end_by_abort(plan: Plan, history: RunHistory) -> str:
    """Sentence on the current wave of a run that an abort ends, by its history."""
    wave = next((w for w in plan.waves if not is_wave_done(plan, w, history)), None)
    if wave is None:
        return "every switch is confirmed and saved"
    touched = [name for name in wave.devices if history.touched(name)]
    if not touched:
        return f"no switch of wave {wave.name} was touched"
    ends: dict[str, list[str]] = {}
    for name in touched:
        last = DrainStep(len(plan.parts(wave, name)) - 1)
        event = history.devices[name].event
        if history.course(name, last).confirmed:
            end = "keeps its confirmed change, which is saved"
        elif event.act == Act.CONFIRM and event.leg == last and event.phase is ActPhase.INTENT:
            end = "is rolled back, or keeps and saves its change if it has confirmed it"
        else:
            end = "is rolled back"
        ends.setdefault(end, []).append(name)
    return "; ".join(f"{listing(names)} {end}" for end, names in ends.items())


def give_approval(
    sealed: Path, journal: Path | None, wave: str, by: str, key: Path | None
) -> WaveApproval:
    """Approve one wave as the user of this process, or as the owner of a key.

    Raises Refused if the approval would be invalid, and for another user's name.
    """
    plan, notes = read_plan(sealed), RunDirectory.of(sealed, journal).journal
    rules = None if key is None else requests.running_history(notes, plan).rules
    unnamed = "the rollout, which began without --allowed-signers"
    by = approver_of(by, key, rules, unnamed)
    return requests.approve(notes, plan, wave, by, plan.digest, key=key, user=user())


def approver_of(by: str, key: Path | None, rules: ApplyRules | None, unnamed: str) -> str:
    """Name of who approves: the user of this process, or the owner of a key.

    by: name that the user states; with a key, its signature proves it. unnamed: what names no
    signers. Raises Refused for another user's name without a key, and for a key of no signer.
    """
    if key is not None:
        return by or _owner_of(key, rules, unnamed)
    if by not in ("", user()):
        raise Refused(
            f"you are {user()}; an approval as {by} needs a key",
            where=f"--by {by}",
            how="sign the approval: --key FILE",
        )
    return user()


def of_rehearsal(sealed: Path, *, required: bool = False) -> str:
    """Sentence on a plan's rehearsal; raises Refused if it is required and did not pass."""
    plan = read_plan(sealed)
    if required:
        require_rehearsal(sealed, plan)
    return rehearsal_record(sealed, plan).sentence


def _owner_of(key: Path, rules: ApplyRules | None, unnamed: str) -> str:
    """Name of a key among the allowed signers."""
    names: tuple[str, ...] = ()
    if rules and rules.who_signs:
        with allowed_by(rules) as allowed:
            names = principals_of(key, allowed)
    if not names or not names[0]:
        signers = (rules.who_signs if rules else "") or unnamed
        raise Refused("is not a key that may approve", where=str(key), how=f"see {signers}")
    return names[0]


def make_back(
    sealed: Path, journal: Path | None, out: Path, key: Path | None = None
) -> tuple[Plan, str]:
    """Write the rollback plan of all confirmed devices, and sign it if a key is named.

    Also returns the file of its signature, or ""; raises Refused as `back_of`.
    """
    from rocefort.rollout.plan.make_plan import signed  # noqa: PLC0415
    from rocefort.rollout.plan.rollback_plan import back_of  # noqa: PLC0415 - see above

    back = back_of(RunDirectory.of(sealed, journal), user())
    write_plan(back, out)
    return back, signed(out, key)


@dataclass(frozen=True, slots=True)
class DetachedController:
    """Detached controller: running, or ended before its run began, with its output and code."""

    running: BackgroundProcess | None = None
    text: str = ""
    code: int = 0


def detach(words: Sequence[str], run: RunDirectory) -> DetachedController:
    """Run a command line in a separate process; returns when its run is in the journal.

    The process takes the locks itself. Its output is appended to a file beside the journal. Ctrl-C
    before the return ends the process too. words: `apply` or `resume` with its arguments. Raises
    ServiceFailed if it cannot be started.
    """
    plan = read_plan(run.plan)
    earlier = len(_live_controllers(run.journal, plan.digest))

    def has_begun(process: int) -> bool:  # another user may begin a run of the same plan meanwhile
        mine = operator.host(), process
        return mine in _live_controllers(run.journal, plan.digest)[earlier:]

    done = in_background(words, run.log, has_begun)
    if done.code is not None:
        return DetachedController(text=done.text, code=done.code)
    message = (
        f"process {done.process} continues without this terminal; its output is in {run.log}\n"
        f"to watch it: {shlex.join(['rocefort', 'status', '--follow', *run.arguments()])}\n"
        f"to stop it:  {shlex.join(['rocefort', 'abort', *run.arguments()])}\n"
    )
    return DetachedController(
        BackgroundProcess(process=done.process, log=str(run.log), message=message)
    )


def _live_controllers(journal: Path, plan: str) -> list[tuple[str, int]]:
    """Host and process of every controller that began or resumed a run of a plan."""
    runs = contents_of(journal, plan).runs if journal.is_file() else ()
    return [(life.host, life.process) for run in runs for life in run.lives]


@contextmanager
def holding(access: Connections) -> Iterator[None]:
    """Hold the locks of all reached switches; raises Refused with the holder's name."""
    with one_controller(device.endpoint for device in access.devices):
        yield


def refuse_second_controller(sealed: Path, connections: Path) -> None:
    """Raise Refused if another controller is running, before slow modules are loaded.

    A caller that is not refused here takes the lock a moment later, or is refused then. Without a
    plan at `sealed` there is no check here: the reader of the plan reports the missing file first.
    """
    if not sealed.exists():
        return
    with holding(load_connections(connections)):
        pass


LOOK_S = 0.5


def follow(
    plan: Plan,
    journal: Path,
    tell: Callable[[TimedEvent], None],
    wait: Callable[[float], None] = time.sleep,
) -> RolloutStatus:
    """Report every event of a plan's last run, old and new, until its controller ends.

    Takes no lock and writes nothing. Waits for a missing journal, and for a run of the plan.
    """
    run, events, damage = "", 0, ""
    while True:
        status = status_of_plan(plan, journal)
        if last := status.run:
            if last.history.run != run:
                run, events = last.history.run, 0
            for each in last.events[events:]:
                tell(each)
            events = len(last.events)
        ended = last is not None and not status.holder
        if ended or (status.journal.damage and status.journal.damage == damage):
            return status
        damage = status.journal.damage  # a journal in creation: it is sound at the next reading
        wait(LOOK_S)
