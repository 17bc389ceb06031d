"""Which commands of the dialogue an emulated switch knows, and where; configuration is not here.

Formats are the reference's: V300R023C00, Configuration File Management and CLI-based Device Login.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from rocefort.dialects.vrp.command import Node, parse_format
from rocefort.dialects.vrp.parameters import Tokens
from rocefort.dialects.vrp.tree import ConfigLine
from rocefort.lab import committing, display, pending, views
from rocefort.lab.dialogue import Dialogue, Stage
from rocefort.lab.replies import Reply, Typed
from rocefort.lab.show import IN_USER_VIEW, STATES, Show, pinging
from rocefort.lab.show.asked import NO_INTERFACE, interface_of
from rocefort.lab.switch import EmulatedSwitch
from rocefort.lab.words import Fit, Place, Refused

Act = Callable[[Dialogue, Typed], Reply]


@dataclass(frozen=True, slots=True)
class Command:
    """One command of the dialogue; `shows` marks a query, whose output can be filtered."""

    format: str
    act: Act
    shows: bool = False


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
    pinging.FORMAT: lambda session, typed: Reply(pinging.ping(session.switch, typed.params)),
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


def _interface(switch: EmulatedSwitch, name: str) -> str:
    """One interface, also without a line of its own; where it is not there it says so."""
    wanted = f"interface {name}"
    ports = display.with_ports(switch.running, switch.ports, switch.family)
    lines = display.only(ports, wanted)
    if not lines and interface_of(switch, name) is None:
        return NO_INTERFACE
    return display.saved_form(lines or (ConfigLine(wanted),), switch.family)


def _typed(switch: EmulatedSwitch, word: str) -> str | None:
    """A type of configuration; one that has no line shows none, defaults are not known here."""
    return None if word.casefold() in NOT_SHOWN else display.section(switch, word)


def _part(switch: EmulatedSwitch, word: str) -> str | None:
    """`all`, or what VRP5 takes for a type; a word that begins no line is a wrong parameter."""
    if word.casefold() == "all":
        return display.configuration(switch, switch.running)
    begins = any(line.text.startswith(word) for line in switch.running)
    return _typed(switch, word) if begins else None


# Of the formats of the reference: defaults, and what boards hold that are not there.
NOT_SHOWN = ("include-default", "inactive")
# What a session has pending is shown by `pending.py`, the state behind the switch by `show/`.
DISPLAYS: Mapping[str, Show] = {
    **STATES,
    "display saved-configuration": lambda switch: display.configuration(switch, switch.saved),
    "display current-configuration": lambda switch: display.configuration(switch, switch.running),
    "display current-configuration [ configuration ] interface": lambda switch: display.section(
        switch, "interface"
    ),
    "display current-configuration [ configuration ] interface <interface>": _interface,
    "display current-configuration configuration <word>": _typed,
    "display current-configuration <word>": _part,
    **pending.DISPLAYS,
}


def _of_switch(show: Show) -> Act:
    return lambda session, typed: views.shown(
        session, typed, show(session.switch, *typed.params.values())
    )


def _of_session(show: pending.Own) -> Act:
    return lambda session, typed: views.shown(session, typed, show(session))


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
    displays = {**DISPLAYS, **(pending.COMMIT_LIST if commit_list else {})}
    own = dict(pending.OWN)
    if stage == "user":
        displays |= IN_USER_VIEW
    else:
        own |= pending.IN_SYSTEM
    if stage == "two-stage":
        own |= pending.TWO_STAGE
    shows = {text: _of_switch(show) for text, show in displays.items()}
    shows |= {text: _of_session(show) for text, show in own.items()}
    known = [Command(text, act) for text, act in acts.items()]
    known += [Command(text, act, shows=True) for text, act in shows.items()]
    return tuple((command, parse_format(command.format)) for command in known)


@lru_cache(maxsize=4096)  # up to 0.2 ms a line without; switches are asked the same
def resolved(
    stage: Stage, tokens: Tokens, *, persist: bool, commit_list: bool
) -> Fit[Command] | Refused:
    """The command that the words mean at a stage, or why they mean none."""
    try:
        return Place(commands(stage, persist=persist, commit_list=commit_list)).resolve(tokens)
    except Refused as refused:
        return refused.with_traceback(None)
