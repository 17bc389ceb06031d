"""The dialogue of one user with an emulated CloudEngine: prompts, views, questions, errors.

Pure: a line goes in, a Reply comes out; sockets live in transport.py. Texts are the vendor's
(V300R023C00 command reference, Basic Configuration) or, for the errors and the question on
leaving with uncommitted lines, those that published clients of these switches wait for.
"""

from __future__ import annotations

from dataclasses import replace

from rocefort.dialects.vrp.commands.format import UNRECOGNIZED
from rocefort.dialects.vrp.commands.parameters import Tokens
from rocefort.dialects.vrp.interpreter.interpreter import Lines, VrpRefusal
from rocefort.lab.cli.commands import Command, commands, resolved
from rocefort.lab.cli.completion import (
    AMBIGUOUS,
    CommandMatch,
    CommandRefused,
    CommandSet,
    config_commands,
    outer_commands,
)
from rocefort.lab.cli.dialogue import CliDialogue
from rocefort.lab.cli.pipe_filters import BAR, filter_words
from rocefort.lab.cli.replies import CliReply, OpenQuestion, TypedCommand
from rocefort.lab.cli.view_commands import leave_all
from rocefort.lab.switch.switch import CommitError, CommitOrder, EmulatedSwitch

BANNER = (
    "This is an emulator of a CloudEngine command line, not a switch.\n"
    "It models configuration, commit and trial. No packet moves here: states of BGP and counters\n"
    "are those of a model, and nothing has buffers, PFC, ECN or optics.\n"
    "What else it leaves out: docs/emulator.md, docs/lab-displays.md\n"
)
UNKNOWN_QUESTION = "Warning: This operation may affect an unexpected service. Proceed? [Y/N]:"
ABORT_SESSION = ("abort", "trial", "session")  # whose help names the session of the trial


class CliSession(CliDialogue):
    """One login, and what each of its lines means."""

    def __init__(self, switch: EmulatedSwitch, user: str) -> None:
        super().__init__(switch, user)
        self._idle_limit: tuple[Lines, int] = (), 0

    def idle_limit(self) -> int:
        """Seconds without input after which the switch ends the session; 0 for never.

        Only what the running configuration says (`idle-timeout M S` of the VTYs): the 10 minutes
        of a switch without that line are not applied.
        """
        running, limit = self._idle_limit
        if running is not self.switch.running:  # looked up once for what runs, not for each line
            self._idle_limit = running, limit = self.switch.running, idle_seconds(self.switch)
        return limit

    def idle(self) -> bool:
        """Whether the session was quiet for too long."""
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
        """Ctrl-Z: to the user view from any other; it answers no question."""
        self.switch.tick()
        if self.question:
            return CliReply(self.question.repeat_text(), asks=True)
        if not self.in_system:
            return CliReply()
        return leave_all(self, TypedCommand("return", {}))

    def interrupt(self) -> None:
        """Ctrl-C: nothing is done of what an open question asks."""
        self.question = None

    @property
    def waits_with(self) -> str:
        """What stands before the cursor: the prompt, or the open question."""
        return self.question.repeat_text() if self.question else self.prompt

    # --- what a line means -----------------------------------------------------------------

    def _release(self) -> dict[str, bool]:
        """What this release has and others have not."""
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
        """Take a line as configuration; where it is none, as a shortened command."""
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
        """The command of the dialogue, or of configuration (None), that shortened words mean."""
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
        """Enter a line with its words in full; a refusal points at the word that was typed."""
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
            # Interpreted again with the answer: others may commit while the question stands.
            return self.ask(question, lambda: self._after_yes(line, full))
        if not switch.fault("lie-ok", typed):
            switch.keep(self.number, self.view, typed, applied)
        self.view = applied.view
        return self._at_once() if self.stage == "immediate" else CliReply()

    def _after_yes(self, line: str, full: str) -> CliReply:
        try:
            return self._enter(line, full, answered=True)
        except VrpRefusal as refusal:  # what others did while the question stood
            return self.refused(line, refusal.position, refusal.message)

    def _at_once(self) -> CliReply:
        """One-stage configuration: what was entered is committed, or gone."""
        try:
            self.switch.commit(self.number, CommitOrder())
        except CommitError as error:
            self.switch.clear(self.number)
            return CliReply(str(error))
        return CliReply()

    # --- help ------------------------------------------------------------------------------

    def help(self, typed: str) -> CliReply:
        """What `?` prints behind some words: those that may follow, without their meanings."""
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
            found = self._known_words(tokens, beginning)
        except CommandRefused as refused:
            return self._caret(typed, refused)
        if not found:
            return self.refused(typed, len(typed), UNRECOGNIZED)
        return CliReply("\n".join(f"  {word}" for word in found), pages=True)

    def _known_words(self, tokens: Tokens, beginning: str) -> list[str]:
        if BAR in tokens:
            return filter_words(tokens, beginning)
        return self._command_set().following(tokens, beginning)

    def _command_set(self) -> CommandSet[Command | None]:
        """Commands of the dialogue and, in the system view and below, of configuration."""
        known = commands(self.stage, **self._release())
        if not self.in_system:
            return CommandSet(known)
        config, family = self.switch.candidate(self.number).config, self.switch.family
        own = ((None, nodes) for nodes in config_commands(config, self.view, family))
        return CommandSet([*known, *own])


def idle_seconds(switch: EmulatedSwitch) -> int:
    """What `idle-timeout M S` of the VTYs says; 0 without it."""
    for line in switch.running:
        if line.text.startswith("user-interface vty "):
            for child in line.children:
                if child.text.startswith("idle-timeout "):
                    minutes, seconds = (*map(int, child.text.split()[1:]), 0)[:2]
                    return minutes * 60 + seconds
    return 0


def _without_pipe(tokens: Tokens) -> Tokens:
    """The words before the pipe of a query; other lines have none."""
    shows = tokens and "display".startswith(tokens[0].casefold())
    return tokens[: tokens.index("|")] if shows and "|" in tokens else tokens
