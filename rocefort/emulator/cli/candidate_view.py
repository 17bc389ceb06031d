"""Displays of candidate and committed configurations, as one session sees them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from rocefort.dialects.vrp.interpreter.interpreter import Lines
from rocefort.emulator.cli.dialogue import CliDialogue
from rocefort.emulator.show import Show, configuration
from rocefort.emulator.switch.switch import CommitPoint, EmulatedSwitch

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
