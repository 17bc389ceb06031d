"""Commands of the two-stage configuration: commit, trial, rollback, save, lock, candidate.

Texts are the vendor's (V300R023C00, Configuration File Management) unless marked as ours.
"""

from __future__ import annotations

from collections.abc import Callable

from rocefort.dialects.vrp.commands.format import WRONG
from rocefort.dialects.vrp.interpreter.interpreter import Lines, VrpRefusal
from rocefort.emulator.cli.candidate_view import point_of
from rocefort.emulator.cli.dialogue import CliDialogue, CliReply, TypedCommand
from rocefort.emulator.show.hardware import STARTUP_FILE, back_up
from rocefort.emulator.switch.switch import (
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
# The question is that of `save shareable-configuration`; no sample shows that of a backup.
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
FAILED = "Error: Failed to generate committed config."  # FIELD: Netmiko reads it as failed
NO_TRIAL = "Error: The trial configuration does not exist."  # ours
WRONG_PERSIST = "Error: The persist ID of the trial configuration is incorrect."  # ours


def commit(session: CliDialogue, typed: TypedCommand) -> CliReply:
    """`commit [ trial [ N ] [ label L ] ] [ persist ID ] [ description D ]`, `commit label L`."""
    params, trial = typed.params, "trial" in typed.words[1:2]
    seconds = int(params.get("60-65535", TRIAL_SECONDS)) if trial else None
    order = CommitOrder(
        seconds, params.get("persist"), params.get("label", ""), params.get("rest:60", "")
    )
    return carry_out(session, order)


def carry_out(session: CliDialogue, order: CommitOrder) -> CliReply:
    """Commit, with the faults that a commit can meet."""
    switch = session.switch
    if switch.fault("hang-on-commit"):
        return CliReply(hangs=True)
    if switch.fault("expire-before-commit"):
        switch.end_trial(SYSTEM_USER)
    if switch.fault("full-flash"):
        return CliReply(FULL)
    if switch.fault("fail-commit"):
        return CliReply(FAILED)
    starts = order.trial_seconds is not None and (
        switch.trial is not None or switch.dirty(session.number)
    )
    if switch.fault("lie-ok", "commit"):
        switch.clear(session.number)
    else:
        try:
            switch.commit(session.number, order)
        except CommitError as error:
            return CliReply(str(error))
    if switch.fault("drop-session-on-commit"):
        return CliReply(closes=True)
    return CliReply(TRIAL.format(seconds=order.trial_seconds) if starts else "")


def abort(session: CliDialogue, typed: TypedCommand) -> CliReply:
    """`abort trial [ session N | persist ID ]`, after a question."""
    trial, params = session.switch.trial, typed.params
    number = params.get("0-65535")
    if trial is None or (number and int(number) != trial.session):
        return CliReply(NO_TRIAL)
    if session.switch.keeps_out(session.number):
        return CliReply(FOREIGN_TRIAL)
    if trial.persist != params.get("persist") and not number:
        return CliReply(WRONG_PERSIST)

    def back() -> CliReply:
        if session.switch.trial is None:
            return CliReply(NO_TRIAL)  # it ended while the question was open
        session.switch.end_trial(session.user)
        return CliReply(ABORTED)

    return session.ask(ABORT, back)


def save(session: CliDialogue, typed: TypedCommand) -> CliReply:
    """`save [ FILE ]`, after a question; a file other than the startup file is a backup."""
    name = typed.params.get("file", STARTUP_FILE)
    if name.casefold() != STARTUP_FILE:
        return _back_up(session, name)

    def write() -> CliReply:
        if session.switch.fault("full-flash"):
            return CliReply(FULL)
        session.switch.save()
        return CliReply(SAVED)

    return session.ask(SAVE, write)


def _back_up(session: CliDialogue, name: str) -> CliReply:
    if name.casefold().endswith(".dat"):
        return CliReply(BINARY)

    def write() -> CliReply:
        switch = session.switch
        if switch.flash is None or switch.fault("full-flash"):
            return CliReply(FULL)
        back_up(switch, name)
        return CliReply(SAVED.splitlines()[-1])

    return session.ask(BACKUP.format(name=name), write)


def rollback(session: CliDialogue, typed: TypedCommand) -> CliReply:
    """`rollback configuration { to commit-id N | last N | to label L }`, after a question."""
    target = _target(session, typed)
    if target is None:
        return session.refused(typed.line, len(typed.line.rstrip()), WRONG)
    to = target

    def back() -> CliReply:
        try:
            session.switch.rollback(session.number, to)
        except CommitError as error:
            return CliReply(str(error))
        return CliReply(ROLLED_BACK)

    return session.ask(ROLLBACK, back)


def _target(session: CliDialogue, typed: TypedCommand) -> Lines | None:
    params, points = typed.params, session.switch.points
    if last := params.get("1-80"):
        return points[-int(last)].before if int(last) <= len(points) else None
    point = point_of(session.switch, params.get("word", ""), params.get("label", ""))
    return point.after if point else None


def clear(session: CliDialogue, _typed: TypedCommand) -> CliReply:
    """`clear configuration candidate`; returns to the system view."""
    session.switch.clear(session.number)
    session.view = ()
    return CliReply()


def refresh(session: CliDialogue, _typed: TypedCommand) -> CliReply:
    """`refresh configuration candidate`."""
    try:
        session.switch.refresh(session.number)
    except VrpRefusal as refusal:
        return CliReply(refusal.message)
    return CliReply()


def lock(session: CliDialogue, _typed: TypedCommand) -> CliReply:
    """`configuration exclusive`."""
    return _silent_reply(session.switch.take_lock, session.number)


def unlock(session: CliDialogue, _typed: TypedCommand) -> CliReply:
    """`undo configuration exclusive`, by the session that locked it."""
    return _silent_reply(session.switch.release_lock, session.number)


def _silent_reply(act: Callable[[int], None], number: int) -> CliReply:
    """Run an action; print its error only."""
    try:
        act(number)
    except CommitError as error:
        return CliReply(str(error))
    return CliReply()


def lock_timeout(session: CliDialogue, typed: TypedCommand) -> CliReply:
    """`configuration exclusive timeout N`; here it takes effect at once, without a commit."""
    session.switch.lock_seconds = int(typed.params["1-7200"])
    return CliReply()


def default_lock_timeout(session: CliDialogue, _typed: TypedCommand) -> CliReply:
    """`undo configuration exclusive timeout`."""
    session.switch.lock_seconds = type(session.switch).lock_seconds
    return CliReply()
