"""Operational commands of an emulated switch by view; configuration commands are elsewhere.

Formats are the reference's: V300R023C00, Configuration File Management and CLI-based Device Login.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from rocefort.dialects.vrp.commands.format import FormatNode, parse_format
from rocefort.dialects.vrp.commands.parameters import Tokens
from rocefort.dialects.vrp.text.config_tree import ConfigLine
from rocefort.emulator.cli import commit_commands, view_commands
from rocefort.emulator.cli.completion import CommandMatch, CommandRefused, CommandSet
from rocefort.emulator.cli.dialogue import CliDialogue, CliReply, Stage, TypedCommand
from rocefort.emulator.show import IN_USER_VIEW, STATES, Show, configuration, routing
from rocefort.emulator.show.context import NO_INTERFACE, interface_of
from rocefort.emulator.switch.switch import EmulatedSwitch

Act = Callable[[CliDialogue, TypedCommand], CliReply]


@dataclass(frozen=True, slots=True)
class Command:
    """One operational command; `shows` marks a query, whose output can be filtered."""

    format: str
    act: Act
    shows: bool = False


USER: Mapping[str, Act] = {
    "system-view": view_commands.system_view,
    "system-view immediately": view_commands.immediate_view,
    "quit": view_commands.log_out,
    "return": view_commands.stay,
    "save [ <file> ]": commit_commands.save,
    "screen-length <0-512> temporary": view_commands.screen_length,
    "undo screen-length temporary": view_commands.default_screen_length,
    "undo terminal monitor": view_commands.stay,  # no log line is ever printed here
    "screen-width <60-512>": view_commands.screen_width,  # FIELD: clients send it; our range
    "rollback configuration to commit-id <word>": commit_commands.rollback,
    "rollback configuration to label <label>": commit_commands.rollback,
    "rollback configuration last <1-80>": commit_commands.rollback,
    "kill user-interface vty <0-20>": view_commands.kill,
}
EVERYWHERE: Mapping[str, Act] = {
    "configuration exclusive": commit_commands.lock,
    "undo configuration exclusive": commit_commands.unlock,
    routing.FORMAT: lambda session, typed: CliReply(routing.ping(session.switch, typed.params)),
}
SYSTEM: Mapping[str, Act] = {
    "quit": view_commands.leave,
    "return": view_commands.leave_all,
    "configuration exclusive timeout <1-7200>": commit_commands.lock_timeout,
    "undo configuration exclusive timeout": commit_commands.default_lock_timeout,
}
TWO_STAGE: Mapping[str, Act] = {
    "clear configuration candidate": commit_commands.clear,
    "refresh configuration candidate": commit_commands.refresh,
    "commit label <label> [ description <rest:60> ]": commit_commands.commit,
}
PERSIST: Mapping[str, Act] = {
    "commit [ trial [ <60-65535> ] [ label <label> ] ] [ persist <persist> ] "
    "[ description <rest:60> ]": commit_commands.commit,
    "abort trial [ { session <0-65535> | persist <persist> } ]": commit_commands.abort,
}
NO_PERSIST: Mapping[str, Act] = {  # releases before it, as NE40E V800R012
    "commit [ trial [ <60-65535> ] [ label <label> ] ] [ description <rest:60> ]": (
        commit_commands.commit
    ),
    "abort trial [ session <0-65535> ]": commit_commands.abort,
}


def _interface(switch: EmulatedSwitch, name: str) -> str:
    """Show one interface, even without a line of its own; an unknown one gives an error text."""
    heading = f"interface {name}"
    ports = configuration.with_ports(switch.running, switch.ports, switch.family)
    lines = configuration.only(ports, heading)
    if not lines and interface_of(switch, name) is None:
        return NO_INTERFACE
    return configuration.text_as_saved(lines or (ConfigLine(heading),), switch.family)


def _typed(switch: EmulatedSwitch, word: str) -> str | None:
    """Show a type of configuration; None if no line has it, as defaults are not modelled here."""
    return None if word.casefold() in NOT_SHOWN else configuration.section(switch, word)


def _part(switch: EmulatedSwitch, word: str) -> str | None:
    """Show `all`, or a type in the VRP5 form; a word that begins no line is a wrong parameter."""
    if word.casefold() == "all":
        return configuration.configuration(switch, switch.running)
    begins = any(line.text.startswith(word) for line in switch.running)
    return _typed(switch, word) if begins else None


# Formats of the reference that show nothing here: defaults, and lines of absent boards.
NOT_SHOWN = ("include-default", "inactive")
# `commit_commands.py` shows the pending lines of a session, `show/` the state of the switch.
DISPLAYS: Mapping[str, Show] = {
    **STATES,
    "display saved-configuration": lambda switch: configuration.configuration(switch, switch.saved),
    "display current-configuration": lambda switch: configuration.configuration(
        switch, switch.running
    ),
    "display current-configuration [ configuration ] interface": lambda switch: (
        configuration.section(switch, "interface")
    ),
    "display current-configuration [ configuration ] interface <interface>": _interface,
    "display current-configuration configuration <word>": _typed,
    "display current-configuration <word>": _part,
    **commit_commands.DISPLAYS,
}


def _of_switch(show: Show) -> Act:
    return lambda session, typed: view_commands.filtered_reply(
        session, typed, show(session.switch, *typed.params.values())
    )


def _of_session(show: commit_commands.Own) -> Act:
    return lambda session, typed: view_commands.filtered_reply(session, typed, show(session))


@lru_cache(maxsize=16)
def commands(
    stage: Stage, *, persist: bool = True, commit_list: bool = True
) -> tuple[tuple[Command, tuple[FormatNode, ...]], ...]:
    """Return the commands of a stage, each with its parsed format.

    persist, commit_list: whether the release has `persist` and the list of commits.
    """
    acts: dict[str, Act] = {**EVERYWHERE, **(USER if stage == "user" else SYSTEM)}
    if stage == "two-stage":
        acts |= {**TWO_STAGE, **(PERSIST if persist else NO_PERSIST)}
    displays = {**DISPLAYS, **(commit_commands.COMMIT_LIST if commit_list else {})}
    own = dict(commit_commands.OWN)
    if stage == "user":
        displays |= IN_USER_VIEW
    else:
        own |= commit_commands.IN_SYSTEM
    if stage == "two-stage":
        own |= commit_commands.TWO_STAGE
    shows = {text: _of_switch(show) for text, show in displays.items()}
    shows |= {text: _of_session(show) for text, show in own.items()}
    rows = [Command(text, act) for text, act in acts.items()]
    rows += [Command(text, act, shows=True) for text, act in shows.items()]
    return tuple((command, parse_format(command.format)) for command in rows)


@lru_cache(maxsize=4096)  # up to 0.2 ms a line without; all switches get the same lines
def resolved(
    stage: Stage, tokens: Tokens, *, persist: bool, commit_list: bool
) -> CommandMatch[Command] | CommandRefused:
    """Return the command that the words select at a stage, or the refusal."""
    try:
        return CommandSet(commands(stage, persist=persist, commit_list=commit_list)).resolve(tokens)
    except CommandRefused as refused:
        return refused.with_traceback(None)
