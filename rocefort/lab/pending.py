"""What a session sees of configuration that is not, or was not always, running."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from rocefort.dialects.vrp.interpret import Lines
from rocefort.lab import display
from rocefort.lab.switch import CommitPoint, EmulatedSwitch

if TYPE_CHECKING:
    from rocefort.lab.session import Session

Params = Mapping[str, str]
Display = Callable[["Session", Params], "str | None"]  # None: a parameter names nothing
OUTDATED = (  # own wording; that a message comes is the reference's, as is what it recommends
    "Error: The running configuration has been changed. "
    "Run the refresh configuration candidate command."
)


def _this(session: Session, _params: Params) -> str:
    return display.this_view(session.switch, session.view)


def _candidate(session: Session, _params: Params) -> str:
    return display.pending(session.switch.candidate(session.number))


def _merge(session: Session, _params: Params) -> str:
    return display.whole(session.switch, session.switch.candidate(session.number).config)


def _changes(session: Session, _params: Params) -> str:
    switch = session.switch
    if switch.outdated(session.number):
        return OUTDATED
    return display.changes(switch, switch.running, switch.candidate(session.number).config)


def _trial(session: Session, _params: Params) -> str:
    return display.trial_status(session.switch)


def _list(session: Session, params: Params, *, verbose: bool = False) -> str:
    count = int(params.get("1-100", 100))
    return display.commit_list(session.switch.listed_points, verbose=verbose, count=count)


def _labelled(session: Session, _params: Params, *, verbose: bool = False) -> str:
    points = [point for point in session.switch.listed_points if point.label]
    return display.commit_list(points, verbose=verbose, count=len(points))


def point_of(switch: EmulatedSwitch, params: Params) -> CommitPoint | None:
    """The rollback point of a commit ID or label; the newest of that label."""
    label, number = params.get("label"), params.get("word")
    return next(
        (
            point
            for point in reversed(switch.points)
            if (label is not None and label == point.label) or number == str(point.number)
        ),
        None,
    )


def _at(session: Session, params: Params) -> str | None:
    point = point_of(session.switch, params)
    return display.whole(session.switch, point.after) if point else None


def _changes_at(session: Session, params: Params) -> str | None:
    point = point_of(session.switch, params)
    return _built(session, point.before, point.after) if point else None


def _changes_since(session: Session, params: Params) -> str | None:
    point = point_of(session.switch, params)
    return _built(session, point.after, session.switch.running) if point else None


def _changes_last(session: Session, params: Params) -> str | None:
    points = session.switch.points
    count = int(params["1-80"])
    return (
        _built(session, points[-count].before, points[-1].after) if count <= len(points) else None
    )


def _changes_each(session: Session, params: Params) -> str:
    rows = ["Building configuration"]
    for point in reversed(session.switch.points[-int(params.get("1-80", 80)) :]):
        title = f"Commit changes of commitId {point.number} {point.at:%Y-%m-%d %H:%M:%S}"
        body = display.changes(session.switch, point.before, point.after).partition("\n")[2]
        rows += [title, body.rstrip("\n") or "  #"]
    return "\n".join(rows)


def _built(session: Session, before: Lines, after: Lines) -> str:
    return display.changes(session.switch, before, after) or "Building configuration\n"


def _from_label(session: Session, params: Params) -> str | None:
    point = point_of(session.switch, params)
    return _built(session, point.after, session.switch.running) if point else None


def _to_label(session: Session, params: Params) -> str | None:
    point = point_of(session.switch, params)
    return _built(session, session.switch.running, point.after) if point else None


def _unsaved(session: Session, _params: Params) -> str:
    return _built(session, session.switch.saved, session.switch.running)


def _holder(session: Session, _params: Params) -> str:
    """`display configuration exclusive user`; nothing without a lock (V300R023C00)."""
    switch, lock = session.switch, session.switch.lock
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


def _sessions(session: Session, _params: Params) -> str:
    """`display configuration sessions`: a star marks one's own (V300R023C00)."""
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


# V300R023C00, Configuration File Management. First those of all views, then of two-stage ones.
DISPLAYS: Mapping[str, Display] = {
    "display configuration trial status": _trial,
    "display configuration commit at <word>": _at,
    "display configuration commit changes at <word>": _changes_at,
    "display configuration commit changes since <word>": _changes_since,
    "display configuration commit changes last <1-80>": _changes_last,
    "display configuration commit changes [ <1-80> ]": _changes_each,
    "display configuration changes": _unsaved,
    "display configuration changes running label <label>": _to_label,
    "display configuration changes label <label> running": _from_label,
    "display configuration exclusive user": _holder,
    "display configuration sessions": _sessions,
}
COMMIT_LIST: Mapping[str, Display] = {
    "display configuration commit list [ <1-100> ]": _list,
    "display configuration commit list verbose [ <1-100> ]": (
        lambda session, params: _list(session, params, verbose=True)
    ),
    "display configuration commit list label": _labelled,
    "display configuration commit list verbose label": (
        lambda session, params: _labelled(session, params, verbose=True)
    ),
}
IN_SYSTEM: Mapping[str, Display] = {"display this": _this}
TWO_STAGE: Mapping[str, Display] = {
    "display configuration candidate": _candidate,
    "display configuration candidate merge": _merge,
    "display configuration candidate changes": _changes,
}
