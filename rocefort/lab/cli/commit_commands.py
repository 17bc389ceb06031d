"""Commands of the two-stage configuration: commit, trial, rollback, save, lock, candidate.

Texts are the vendor's (V300R023C00, Configuration File Management) unless marked as ours.
"""

from __future__ import annotations

from collections.abc import Callable

from rocefort.dialects.vrp.commands.format import WRONG
from rocefort.dialects.vrp.interpreter.interpreter import Lines, VrpRefusal
from rocefort.lab.cli.candidate_view import point_of
from rocefort.lab.cli.dialogue import Dialogue
from rocefort.lab.cli.replies import Reply, Typed
from rocefort.lab.show.flash import STARTUP_FILE, back_up
from rocefort.lab.switch.switch import (
    FOREIGN_TRIAL,
    SYSTEM_USER,
    TRIAL_SECONDS,
    CommitError,
    CommitOrder,
)

TRIAL = (
    "Info: The system enters the trial configuration mode.\n"
    "The system will revert to previous configuration if the trial configuration is not "
    "confirmed in {seconds} seconds."
)
ABORT = "Warning: The trial configuration will be rolled back. Continue? [Y/N]:"
ABORTED = "Info: The trial configuration rollback succeeded."
SAVE = "Warning: all configuration will be written to the device.\nAre you sure to continue?[Y/N]"
SAVED = "Now saving all configuration to the slot 1\nInfo: Save the configuration successfully."
# The question is that of `save shareable-configuration`; of a backup no sample is shown.
BACKUP = "Warning: Are you sure to save the configuration to flash:/{name}? [Y/N]:"
BINARY = "Error: The emulator writes no .dat files; use .cfg or .zip."  # ours
ROLLBACK = (
    "Warning: This operation will revert configuration changes to the previous status. During "
    "the rollback configuration process, some configurations involving differences may be "
    "temporarily invalid. Continue? [Y/N]:"
)
ROLLED_BACK = (
    "Checking changes...\nLoading rollback changes\nCommitting\nCheck rollback result\n"
    "Configuration rollback succeeded.\n"
    "Please use 'display configuration commit changes last 1' to view the changes."
)
FULL = "Error: The flash memory has no space left."  # ours: no source shows it
FAILED = "Error: Failed to generate committed config."  # FIELD: what Netmiko takes as failed
NO_TRIAL = "Error: The trial configuration does not exist."  # ours
WRONG_PERSIST = "Error: The persist ID of the trial configuration is incorrect."  # ours


def commit(session: Dialogue, typed: Typed) -> Reply:
    """`commit [ trial [ N ] [ label L ] ] [ persist ID ] [ description D ]`, `commit label L`."""
    params, trial = typed.params, "trial" in typed.words[1:2]
    seconds = int(params.get("60-65535", TRIAL_SECONDS)) if trial else None
    order = CommitOrder(
        seconds, params.get("persist"), params.get("label", ""), params.get("rest:60", "")
    )
    return carry_out(session, order)


def carry_out(session: Dialogue, order: CommitOrder) -> Reply:
    """Commit, with the faults that a commit can meet."""
    switch = session.switch
    if switch.fault("hang-on-commit"):
        return Reply(hangs=True)
    if switch.fault("expire-before-commit"):
        switch.end_trial(SYSTEM_USER)
    if switch.fault("full-flash"):
        return Reply(FULL)
    if switch.fault("fail-commit"):
        return Reply(FAILED)
    starts = order.trial_seconds is not None and (
        switch.trial is not None or switch.dirty(session.number)
    )
    if switch.fault("lie-ok", "commit"):
        switch.clear(session.number)
    else:
        try:
            switch.commit(session.number, order)
        except CommitError as error:
            return Reply(str(error))
    if switch.fault("drop-session-on-commit"):
        return Reply(closes=True)
    return Reply(TRIAL.format(seconds=order.trial_seconds) if starts else "")


def abort(session: Dialogue, typed: Typed) -> Reply:
    """`abort trial [ session N | persist ID ]`, after a question."""
    trial, params = session.switch.trial, typed.params
    number = params.get("0-65535")
    if trial is None or (number and int(number) != trial.session):
        return Reply(NO_TRIAL)
    if session.switch.keeps_out(session.number):
        return Reply(FOREIGN_TRIAL.format(trial.session))
    if trial.persist != params.get("persist") and not number:
        return Reply(WRONG_PERSIST)

    def back() -> Reply:
        if session.switch.trial is None:
            return Reply(NO_TRIAL)  # it ended while the question stood
        session.switch.end_trial(session.user)
        return Reply(ABORTED)

    return session.ask(ABORT, back)


def save(session: Dialogue, typed: Typed) -> Reply:
    """`save [ FILE ]`, after a question; a file that is not the next startup's is a backup."""
    name = typed.params.get("file", STARTUP_FILE)
    if name.casefold() != STARTUP_FILE:
        return _back_up(session, name)

    def write() -> Reply:
        if session.switch.fault("full-flash"):
            return Reply(FULL)
        session.switch.save()
        return Reply(SAVED)

    return session.ask(SAVE, write)


def _back_up(session: Dialogue, name: str) -> Reply:
    if name.casefold().endswith(".dat"):
        return Reply(BINARY)

    def write() -> Reply:
        switch = session.switch
        if switch.flash is None or switch.fault("full-flash"):
            return Reply(FULL)
        back_up(switch, name)
        return Reply(SAVED.splitlines()[-1])

    return session.ask(BACKUP.format(name=name), write)


def rollback(session: Dialogue, typed: Typed) -> Reply:
    """`rollback configuration { to commit-id N | last N | to label L }`, after a question."""
    target = _target(session, typed)
    if target is None:
        return session.refused(typed.line, len(typed.line.rstrip()), WRONG)
    to = target

    def back() -> Reply:
        try:
            session.switch.rollback(session.number, to)
        except CommitError as error:
            return Reply(str(error))
        return Reply(ROLLED_BACK)

    return session.ask(ROLLBACK, back)


def _target(session: Dialogue, typed: Typed) -> Lines | None:
    params, points = typed.params, session.switch.points
    if last := params.get("1-80"):
        return points[-int(last)].before if int(last) <= len(points) else None
    point = point_of(session.switch, params.get("word", ""), params.get("label", ""))
    return point.after if point else None


def clear(session: Dialogue, _typed: Typed) -> Reply:
    """`clear configuration candidate`: it leads to the system view."""
    session.switch.clear(session.number)
    session.view = ()
    return Reply()


def refresh(session: Dialogue, _typed: Typed) -> Reply:
    """`refresh configuration candidate`."""
    try:
        session.switch.refresh(session.number)
    except VrpRefusal as refusal:
        return Reply(refusal.message)
    return Reply()


def lock(session: Dialogue, _typed: Typed) -> Reply:
    """`configuration exclusive`."""
    return _done(session.switch.take_lock, session.number)


def unlock(session: Dialogue, _typed: Typed) -> Reply:
    """`undo configuration exclusive`, of the session that locked it."""
    return _done(session.switch.release_lock, session.number)


def _done(act: Callable[[int], None], number: int) -> Reply:
    """Nothing is printed of what succeeds."""
    try:
        act(number)
    except CommitError as error:
        return Reply(str(error))
    return Reply()


def lock_timeout(session: Dialogue, typed: Typed) -> Reply:
    """`configuration exclusive timeout N`; here it holds at once, without a commit."""
    session.switch.lock_seconds = int(typed.params["1-7200"])
    return Reply()


def default_lock_timeout(session: Dialogue, _typed: Typed) -> Reply:
    """`undo configuration exclusive timeout`."""
    session.switch.lock_seconds = type(session.switch).lock_seconds
    return Reply()
