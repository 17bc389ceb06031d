"""Commands that change the view, and commands of the terminal."""

from __future__ import annotations

from rocefort.dialects.vrp.commands.format import WRONG
from rocefort.emulator.cli.commit_commands import carry_out
from rocefort.emulator.cli.completion import CommandRefused
from rocefort.emulator.cli.dialogue import (
    SCREEN_LENGTH,
    CliDialogue,
    CliReply,
    TypedCommand,
    filtered_text,
    read_filters,
)
from rocefort.emulator.switch.switch import CommitOrder

ENTERED = "Enter system view, return user view with return command."
DIRTY = (
    "Warning: Uncommitted configurations found, commit them before exiting? "
    "[Y(yes)/N(no)/C(cancel)]:"
)
LENGTH = "Info: The configuration takes effect on the current user terminal interface only."
WIDTH = "Warning: This command will change the default screen width. Continue? [Y/N]:"
KILL = "Warning: User interface VTY {vty} will be freed. Continue? [Y/N]:"  # ours
NOT_USED = "Error: The user interface is not used."  # ours


def system_view(session: CliDialogue, _typed: TypedCommand) -> CliReply:
    """`system-view`: configuration in two stages."""
    session.stage = "two-stage"
    session.switch.intrude(session.number)
    return CliReply(ENTERED)


def immediate_view(session: CliDialogue, _typed: TypedCommand) -> CliReply:
    """`system-view immediately`: every line takes effect at once."""
    session.stage = "immediate"
    return CliReply(ENTERED)


def stay(_session: CliDialogue, _typed: TypedCommand) -> CliReply:
    """`return` in the user view, and other commands without an effect here."""
    return CliReply()


def log_out(_session: CliDialogue, _typed: TypedCommand) -> CliReply:
    """`quit` in the user view."""
    return CliReply(closes=True)


def leave(session: CliDialogue, typed: TypedCommand) -> CliReply:
    """`quit`: one view up; a question precedes leaving the system view with pending lines."""
    if session.view:
        session.view = session.view[:-1]
        return CliReply()
    return leave_all(session, typed)


def leave_all(session: CliDialogue, _typed: TypedCommand) -> CliReply:
    """`return` and Ctrl-Z: to the user view, after a question if lines are pending."""
    if session.stage == "two-stage" and session.switch.dirty(session.number):
        return session.ask(
            DIRTY, lambda: _commit_and_leave(session), lambda: _discard_and_leave(session), CliReply
        )
    return session.to_user_view()


def _commit_and_leave(session: CliDialogue) -> CliReply:
    reply = carry_out(session, CommitOrder())
    if not reply.text and not reply.closes and not reply.hangs:
        session.to_user_view()
    return reply


def _discard_and_leave(session: CliDialogue) -> CliReply:
    session.switch.clear(session.number)
    return session.to_user_view()


def screen_length(session: CliDialogue, typed: TypedCommand) -> CliReply:
    """`screen-length N temporary`: lines of a screen until the logout, 0 for no pages."""
    session.screen_length = int(typed.params["0-512"])
    return CliReply(LENGTH)


def default_screen_length(session: CliDialogue, _typed: TypedCommand) -> CliReply:
    """`undo screen-length temporary`."""
    session.screen_length = SCREEN_LENGTH
    return CliReply(LENGTH)


def screen_width(session: CliDialogue, _typed: TypedCommand) -> CliReply:
    """`screen-width N`, after a question; lines are not folded here at any width."""
    return session.ask(WIDTH, CliReply)


def kill(session: CliDialogue, typed: TypedCommand) -> CliReply:
    """`kill user-interface vty N`: ends that session, also the user's own."""
    vty = int(typed.params["0-20"])

    def end() -> CliReply:
        own = session.switch.logins[session.number].vty == vty
        if not own and not session.switch.kill(vty):
            return CliReply(NOT_USED)
        return CliReply(closes=own)

    return session.ask(KILL.format(vty=vty), end)


def filtered_reply(session: CliDialogue, typed: TypedCommand, text: str | None) -> CliReply:
    """Return a query's reply, filtered by its pipe; None is a parameter that matches nothing."""
    if text is None:
        return session.refused(typed.line, len(typed.line.rstrip()), WRONG)
    try:
        filters = read_filters(typed.tokens)
    except CommandRefused as refused:
        return session.refused(typed.line, typed.at(refused.index), refused.message)
    pages = all("no-more" not in output_filter.ways for output_filter in filters)
    return CliReply(filtered_text(text, filters).rstrip("\n"), pages=pages)
