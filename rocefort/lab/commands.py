"""Which commands of the dialogue an emulated switch knows, and where; configuration is not here.

Formats are the reference's: V300R023C00, Configuration File Management and CLI-based Device Login.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from rocefort.dialects.vrp.command import Node, parse_format
from rocefort.dialects.vrp.parameters import Tokens
from rocefort.lab import committing, display_table, pending, views
from rocefort.lab.replies import Reply, Typed
from rocefort.lab.show import pinging
from rocefort.lab.words import Fit, Place, Refused

if TYPE_CHECKING:
    from rocefort.lab.session import Session

Act = Callable[["Session", Typed], Reply]
Stage = Literal["user", "two-stage", "immediate"]


@dataclass(frozen=True, slots=True)
class Command:
    """One command of the dialogue; `shows` marks a query, whose output can be filtered."""

    format: str
    act: Act
    shows: bool = False


def _ping(session: Session, typed: Typed) -> Reply:
    return Reply(pinging.ping(session.switch, typed.params))


USER: Mapping[str, Act] = {
    "system-view": views.system_view,
    "system-view immediately": views.immediate_view,
    "quit": views.log_out,
    "return": views.stay,
    "save [ <file> ]": committing.save,
    "screen-length <0-512> temporary": views.screen_length,
    "undo screen-length temporary": views.default_screen_length,
    "undo terminal monitor": views.stay,  # no log line is ever printed here
    "screen-width <60-512>": views.screen_width,  # FIELD: clients send it; its range is ours
    "rollback configuration to commit-id <word>": committing.rollback,
    "rollback configuration to label <label>": committing.rollback,
    "rollback configuration last <1-80>": committing.rollback,
    "kill user-interface vty <0-20>": views.kill,
}
EVERYWHERE: Mapping[str, Act] = {
    "configuration exclusive": committing.lock,
    "undo configuration exclusive": committing.unlock,
    pinging.FORMAT: _ping,
}
SYSTEM: Mapping[str, Act] = {
    "quit": views.leave,
    "return": views.leave_all,
    "configuration exclusive timeout <1-7200>": committing.lock_timeout,
    "undo configuration exclusive timeout": committing.default_lock_timeout,
}
TWO_STAGE: Mapping[str, Act] = {
    "clear configuration candidate": committing.clear,
    "refresh configuration candidate": committing.refresh,
    "commit label <label> [ description <rest:60> ]": committing.commit,
}
PERSIST: Mapping[str, Act] = {
    "commit [ trial [ <60-65535> ] [ label <label> ] ] [ persist <persist> ] "
    "[ description <rest:60> ]": committing.commit,
    "abort trial [ { session <0-65535> | persist <persist> } ]": committing.abort,
}
NO_PERSIST: Mapping[str, Act] = {  # releases before it, as NE40E V800R012
    "commit [ trial [ <60-65535> ] [ label <label> ] ] [ description <rest:60> ]": (
        committing.commit
    ),
    "abort trial [ session <0-65535> ]": committing.abort,
}


def _own(show: pending.Display) -> Act:
    return lambda session, typed: views.shown(session, typed, show(session, typed.params))


def _general(show: display_table.Show) -> Act:
    def act(session: Session, typed: Typed) -> Reply:
        state = display_table.Shown(session.switch, session.peers)
        return views.shown(session, typed, show(state, typed.params))

    return act


@lru_cache(maxsize=16)
def commands(
    stage: Stage, *, persist: bool = True, commit_list: bool = True
) -> tuple[tuple[Command, tuple[Node, ...]], ...]:
    """The commands of a stage, each with its format, read.

    persist, commit_list: whether the release has `persist` and the list of commits.
    """
    acts: dict[str, Act] = {**EVERYWHERE, **(USER if stage == "user" else SYSTEM)}
    if stage == "two-stage":
        acts |= {**TWO_STAGE, **(PERSIST if persist else NO_PERSIST)}
    shows = {text: _general(show) for text, show in display_table.DISPLAYS.items()}
    shows |= {text: _own(show) for text, show in pending.DISPLAYS.items()}
    if commit_list:
        shows |= {text: _own(show) for text, show in pending.COMMIT_LIST.items()}
    if stage == "user":
        shows |= {text: _general(show) for text, show in display_table.USER.items()}
    if stage != "user":
        shows |= {text: _own(show) for text, show in pending.IN_SYSTEM.items()}
    if stage == "two-stage":
        shows |= {text: _own(show) for text, show in pending.TWO_STAGE.items()}
    known = [Command(text, act) for text, act in acts.items()]
    known += [Command(text, act, shows=True) for text, act in shows.items()]
    return tuple((command, parse_format(command.format)) for command in known)


@lru_cache(maxsize=4096)  # the switches of a fabric are asked the same
def resolved(
    stage: Stage, tokens: Tokens, *, persist: bool, commit_list: bool
) -> Fit[Command] | Refused:
    """The command that the words mean at a stage, or why they mean none."""
    try:
        return Place(commands(stage, persist=persist, commit_list=commit_list)).resolve(tokens)
    except Refused as refused:
        return refused.with_traceback(None)
