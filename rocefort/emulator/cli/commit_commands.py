"""Commands of the two-stage configuration: commit, trial, rollback, save, lock, candidate.

Texts are the vendor's (V300R023C00, Configuration File Management) unless marked as ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from rocefort.dialects.vrp.commands.format import WRONG
from rocefort.dialects.vrp.interpreter.interpreter import Lines, VrpRefusal
from rocefort.emulator.cli.dialogue import CliDialogue, CliReply, TypedCommand
from rocefort.emulator.show import Show, configuration
from rocefort.emulator.show.hardware import STARTUP_FILE, back_up
from rocefort.emulator.switch.switch import (
    FOREIGN_TRIAL,
    SYSTEM_USER,
    TRIAL_SECONDS,
    CommitError,
    CommitOrder,
    CommitPoint,
    EmulatedSwitch,
)

Own = Callable[[CliDialogue], str]
OUTDATED = (  # own wording; the reference states the message and its recommendation
    "Error: The running configuration has been changed. "
    "Run the refresh configuration candidate command."
)


def _changes(session: CliDialogue) -> str:
    switch = session.switch
    if switch.outdated(session.number):
        return OUTDATED
    return configuration.changes(switch, switch.running, switch.candidate(session.number).config)


def _sessions(session: CliDialogue) -> str:
    """`display configuration sessions`: a star marks the session itself (V300R023C00)."""
    switch = session.switch
    rule = "-" * 74
    rows = []
    for login in switch.logins.values():
        star = "*" if login.number == session.number else ""
        locks = "Exclusive" if switch.lock and switch.lock.session == login.number else "-"
        number = f"{login.number} {star}".rstrip()
        rows.append(
            f"{number:<7} {login.interface:<12} {login.user:<20} "
            f"{login.since:%Y-%m-%d %H:%M:%S} {locks}"
        )
    head = f"{'Session':<7} {'User-Intf':<12} {'User':<20} {'Date':<19} Lock"
    return "\n".join([rule, head, rule, *rows, rule])


def point_of(switch: EmulatedSwitch, number: str = "", label: str = "") -> CommitPoint | None:
    """Return the rollback point of a commit ID or label; the newest of that label."""
    return next(
        (
            point
            for point in reversed(switch.points)
            if (label and label == point.label) or number == str(point.number)
        ),
        None,
    )


def _entry_at(switch: EmulatedSwitch, number: str) -> str | None:
    point = point_of(switch, number)
    return configuration.whole(switch, point.after) if point else None


def _changes_at(switch: EmulatedSwitch, number: str) -> str | None:
    point = point_of(switch, number)
    return _comparison_text(switch, point.before, point.after) if point else None


def _changes_since(switch: EmulatedSwitch, number: str = "", label: str = "") -> str | None:
    point = point_of(switch, number, label)
    return _comparison_text(switch, point.after, switch.running) if point else None


def _changes_to(switch: EmulatedSwitch, label: str) -> str | None:
    point = point_of(switch, label=label)
    return _comparison_text(switch, switch.running, point.after) if point else None


def _changes_last(switch: EmulatedSwitch, count: str) -> str | None:
    points = switch.points[-int(count) :]
    return (
        _comparison_text(switch, points[0].before, points[-1].after)
        if len(points) == int(count)
        else None
    )


def _changes_each(switch: EmulatedSwitch, count: str = "80") -> str:
    rows = ["Building configuration"]
    for point in reversed(switch.points[-int(count) :]):
        title = f"Commit changes of commitId {point.number} {point.at:%Y-%m-%d %H:%M:%S}"
        body = configuration.changes(switch, point.before, point.after).partition("\n")[2]
        rows += [title, body.rstrip("\n") or "  #"]
    return "\n".join(rows)


def _comparison_text(switch: EmulatedSwitch, before: Lines, after: Lines) -> str:
    return configuration.changes(switch, before, after) or "Building configuration\n"


def _holder(switch: EmulatedSwitch) -> str:
    """`display configuration exclusive user`; empty without a lock (V300R023C00)."""
    lock = switch.lock
    if lock is None:
        return ""
    login = switch.logins[lock.session]
    rows = (
        f"User Index: {34 + login.vty}",  # VTY 0 is 34: the sample of the reference
        f"User Session Name: {login.interface}",
        f"User Name: {login.user}",
        "IP Address: 127.0.0.1",
        f"Locked Time: {lock.at:%Y-%m-%d %H:%M:%S}",
        f"Last Configuration Time: {lock.used_at:%Y-%m-%d %H:%M:%S}",
        f"The time out value of configuration right locked is: {switch.lock_seconds} second(s)",
    )
    return "\n".join(rows)


# V300R023C00, Configuration File Management. First those of all views.
DISPLAYS: Mapping[str, Show] = {
    "display configuration trial status": configuration.trial_status,
    "display configuration commit at <word>": _entry_at,
    "display configuration commit changes at <word>": _changes_at,
    "display configuration commit changes since <word>": _changes_since,
    "display configuration commit changes last <1-80>": _changes_last,
    "display configuration commit changes [ <1-80> ]": _changes_each,
    "display configuration changes": lambda switch: _comparison_text(
        switch, switch.saved, switch.running
    ),
    "display configuration changes running label <label>": _changes_to,
    "display configuration changes label <label> running": lambda switch, label: _changes_since(
        switch, label=label
    ),
    "display configuration exclusive user": _holder,
}
COMMIT_LIST: Mapping[str, Show] = {
    "display configuration commit list [ <1-100> ]": configuration.commit_list,
    "display configuration commit list verbose [ <1-100> ]": partial(
        configuration.commit_list, verbose=True
    ),
    "display configuration commit list label": partial(configuration.commit_list, labelled=True),
    "display configuration commit list verbose label": partial(
        configuration.commit_list, labelled=True, verbose=True
    ),
}
# Displays of a session, some only in the system view or in two-stage configuration.
OWN: Mapping[str, Own] = {"display configuration sessions": _sessions}
IN_SYSTEM: Mapping[str, Own] = {
    "display this": lambda session: configuration.this_view(session.switch, session.view)
}
TWO_STAGE: Mapping[str, Own] = {
    "display configuration candidate": lambda session: configuration.pending(
        session.switch.candidate(session.number)
    ),
    "display configuration candidate merge": lambda session: configuration.whole(
        session.switch, session.switch.candidate(session.number).config
    ),
    "display configuration candidate changes": _changes,
}


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
