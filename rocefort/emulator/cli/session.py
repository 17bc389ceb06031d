"""Dialogue of one user with an emulated CloudEngine: prompts, views, questions, errors.

Pure: a line goes in, a CliReply comes out; transport.py has the sockets. Texts are the vendor's
(V300R023C00 command reference, Basic Configuration). The errors and the question on leaving with
uncommitted lines are those that published clients of these switches wait for.
"""

from __future__ import annotations

from dataclasses import replace

from rocefort.dialects.vrp.commands.format import UNRECOGNIZED
from rocefort.dialects.vrp.commands.parameters import Tokens
from rocefort.dialects.vrp.interpreter.interpreter import Lines, VrpRefusal
from rocefort.emulator.cli.commands import Command, commands, resolved
from rocefort.emulator.cli.completion import (
    AMBIGUOUS,
    CommandMatch,
    CommandRefused,
    CommandSet,
    config_commands,
    outer_commands,
)
from rocefort.emulator.cli.dialogue import (
    BAR,
    CliDialogue,
    CliReply,
    OpenQuestion,
    TypedCommand,
    filter_words,
)
from rocefort.emulator.cli.view_commands import leave_all
from rocefort.emulator.switch.switch import CommitError, CommitOrder, EmulatedSwitch

BANNER = (
    "This is an emulator of a CloudEngine command line, not a switch.\n"
    "It models configuration, commit and trial. No packet moves here: states of BGP and counters\n"
    "are those of a model, and nothing has buffers, PFC, ECN or optics.\n"
    "What else it leaves out: docs/reference/emulator.md and lab-displays.md\n"
)
UNKNOWN_QUESTION = "Warning: This operation may affect an unexpected service. Proceed? [Y/N]:"
ABORT_SESSION = ("abort", "trial", "session")  # help shows the session of the trial


class CliSession(CliDialogue):
    """One login, and the meaning of each of its lines."""

    def __init__(self, switch: EmulatedSwitch, user: str) -> None:
        super().__init__(switch, user)
        self._idle_limit: tuple[Lines, int] = (), 0

    def idle_limit(self) -> int:
        """Return the seconds without input after which the switch ends the session; 0 for never.

        Only `idle-timeout M S` of the VTYs in the running configuration counts. The 10 minutes of a
        switch without that line are not applied.
        """
        running, limit = self._idle_limit
        if running is not self.switch.running:  # once for a configuration, not for each line
            self._idle_limit = running, limit = self.switch.running, idle_seconds(self.switch)
        return limit

    def idle(self) -> bool:
        """Whether the session was idle for too long."""
        limit = self.idle_limit()
        return limit > 0 and self.switch.clock() - self.last_input >= limit

    def handle(self, line: str) -> CliReply:
        """Answer one line."""
        line = line.replace("\0", "")
        self.switch.tick()
        if self.idle():
            return CliReply(closes=True)
        self.last_input = self.switch.clock()
        if self.question is not None:
            return self._answer(self.question, line)
        typed = " ".join(line.split())
        return self._with_faults(line, typed) if typed else CliReply()

    def _with_faults(self, line: str, typed: str) -> CliReply:
        switch = self.switch
        if switch.fault("hang", typed):
            return CliReply(hangs=True)
        if switch.fault("drop-line", typed):
            return CliReply(closes=True)
        reply = self._carry_out(line)
        if switch.fault("drop-reply", typed):
            return CliReply(closes=True)
        if switch.fault("drop-after", typed):
            return replace(reply, closes=True, prompts=not reply.asks)
        return reply

    def _answer(self, question: OpenQuestion, line: str) -> CliReply:
        chosen = question.choose(line)
        if chosen is None:
            return CliReply(question.repeat_text(), asks=True)
        self.question = None
        return chosen()

    def escape(self) -> CliReply:
        """Handle Ctrl-Z: go to the user view from any other; it answers no question."""
        self.switch.tick()
        if self.question:
            return CliReply(self.question.repeat_text(), asks=True)
        if not self.in_system:
            return CliReply()
        return leave_all(self, TypedCommand("return", {}))

    def interrupt(self) -> None:
        """Handle Ctrl-C: drop an open question without an answer."""
        self.question = None

    @property
    def waits_with(self) -> str:
        """Text before the cursor: the prompt, or the open question."""
        return self.question.repeat_text() if self.question else self.prompt

    # --- what a line means -----------------------------------------------------------------

    def _release(self) -> dict[str, bool]:
        """Return the features that differ by release."""
        own = self.switch.personality
        return {"persist": own.persist == "present", "commit_list": own.commit_list != "absent"}

    def _carry_out(self, line: str) -> CliReply:
        tokens = tuple(line.split())
        query = _without_pipe(tokens)
        fit = resolved(self.stage, query, **self._release())
        if isinstance(fit, CommandRefused):
            return self._configure(line) if self.in_system else self._caret(line, fit)
        whole = [word.casefold() for word in fit.words] == [word.casefold() for word in query]
        if self.in_system and not whole:
            return self._configure(line)  # shortened, it may mean a configuration command
        return fit.command.act(self, TypedCommand(line, fit.params, fit.words))

    def _caret(self, line: str, refused: CommandRefused) -> CliReply:
        return self.refused(line, TypedCommand(line, {}).at(refused.index), refused.message)

    def _configure(self, line: str) -> CliReply:
        """Enter a line as configuration; if it is refused, try it as a shortened command."""
        try:
            return self._enter(line, line)
        except VrpRefusal as refusal:
            first = refusal
        tokens = tuple(line.split())
        query = _without_pipe(tokens)
        try:
            fit = self._resolve(query)
        except CommandRefused as refused:
            further = refused.index > TypedCommand(line, {}).index(first.position)
            if refused.message == AMBIGUOUS or further:
                return self._caret(line, refused)
            return self.refused(line, first.position, first.message)
        if fit.command is not None:
            return fit.command.act(self, TypedCommand(line, fit.params, fit.words))
        return self._expanded(line, fit.words, first)

    def _resolve(self, tokens: Tokens) -> CommandMatch[Command | None]:
        """Return the command of shortened words, with None in it for a configuration command."""
        try:
            return self._command_set().resolve(tokens)
        except CommandRefused as refused:
            switch = self.switch
            config = switch.candidate(self.number).config
            outer = [(None, nodes) for nodes in outer_commands(config, self.view, switch.family)]
            around: CommandSet[Command | None] = CommandSet(outer)
            if refused.message == AMBIGUOUS:
                raise
            try:
                return around.resolve(tokens)
            except CommandRefused as farther:
                raise max(refused, farther, key=lambda why: why.index) from None

    def _expanded(self, line: str, words: Tokens, first: VrpRefusal) -> CliReply:
        """Enter a line with its words in full; a refusal points at the typed word."""
        full = " ".join(words)
        if full.casefold() == " ".join(line.split()).casefold():
            return self.refused(line, first.position, first.message)
        try:
            return self._enter(line, full)
        except VrpRefusal as refusal:
            index = TypedCommand(full, {}).index(refusal.position)
            return self.refused(line, TypedCommand(line, {}).at(index), refusal.message)

    def _enter(self, line: str, full: str, *, answered: bool = False) -> CliReply:
        """Enter one line of configuration. Raises VrpRefusal."""
        typed, switch = " ".join(full.split()), self.switch
        if switch.fault("refuse-line", typed):
            return self.refused(line, len(line) - len(line.lstrip()), UNRECOGNIZED)
        applied = switch.enter(self.number, self.view, full)
        question = applied.question
        if switch.fault("unknown-question", typed) and not answered:
            question = UNKNOWN_QUESTION
        if question and not answered:
            # Interpreted again with the answer: others may commit while the question is open.
            return self.ask(question, lambda: self._after_yes(line, full))
        if not switch.fault("lie-ok", typed):
            switch.keep(self.number, self.view, typed, applied)
        self.view = applied.view
        return self._at_once() if self.stage == "immediate" else CliReply()

    def _after_yes(self, line: str, full: str) -> CliReply:
        try:
            return self._enter(line, full, answered=True)
        except VrpRefusal as refusal:  # others committed while the question was open
            return self.refused(line, refusal.position, refusal.message)

    def _at_once(self) -> CliReply:
        """One-stage configuration: commit the entered line, or drop it."""
        try:
            self.switch.commit(self.number, CommitOrder())
        except CommitError as error:
            self.switch.clear(self.number)
            return CliReply(str(error))
        return CliReply()

    # --- help ------------------------------------------------------------------------------

    def help(self, typed: str) -> CliReply:
        """Return the help of `?` behind some words: possible next words, without their meanings."""
        if self.question is not None:
            return CliReply()
        self.switch.tick()
        tokens = tuple(typed.split())
        beginning = tokens[-1] if tokens and not typed.endswith(" ") else ""
        if beginning:
            tokens = tokens[:-1]
        elif tokens == ABORT_SESSION and (trial := self.switch.trial) is not None:
            return CliReply(f"  {trial.session}  Session in trial configuration mode")
        try:
            words = self._known_words(tokens, beginning)
        except CommandRefused as refused:
            return self._caret(typed, refused)
        if not words:
            return self.refused(typed, len(typed), UNRECOGNIZED)
        return CliReply("\n".join(f"  {word}" for word in words), pages=True)

    def _known_words(self, tokens: Tokens, beginning: str) -> list[str]:
        if BAR in tokens:
            return filter_words(tokens, beginning)
        return self._command_set().following(tokens, beginning)

    def _command_set(self) -> CommandSet[Command | None]:
        """Return operational commands and, in the system view and below, configuration commands."""
        operational = commands(self.stage, **self._release())
        if not self.in_system:
            return CommandSet(operational)
        config, family = self.switch.candidate(self.number).config, self.switch.family
        own = ((None, nodes) for nodes in config_commands(config, self.view, family))
        return CommandSet([*operational, *own])


def idle_seconds(switch: EmulatedSwitch) -> int:
    """Return the seconds of `idle-timeout M S` of the VTYs; 0 without it."""
    for line in switch.running:
        if line.text.startswith("user-interface vty "):
            for child in line.children:
                if child.text.startswith("idle-timeout "):
                    minutes, seconds = (*map(int, child.text.split()[1:]), 0)[:2]
                    return minutes * 60 + seconds
    return 0


def _without_pipe(tokens: Tokens) -> Tokens:
    """Return the words before the pipe of a query; other lines have no pipe."""
    shows = tokens and "display".startswith(tokens[0].casefold())
    return tokens[: tokens.index("|")] if shows and "|" in tokens else tokens
