"""The dialogue of one user with an emulated CloudEngine: prompts, views, questions, errors.

Pure: a line goes in, a Reply comes out; sockets live in transport.py. Texts are the vendor's
(V300R023C00 command reference, Basic Configuration) or, for the errors and the question on
leaving with uncommitted lines, those that published clients of these switches wait for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from rocefort.dialects.vrp.execute import BEHIND, TOO_MANY, UNRECOGNIZED, WRONG
from rocefort.dialects.vrp.interpret import View, VrpRefusal, prompt_name
from rocefort.lab import display
from rocefort.lab.switch import (
    TRIAL_SECONDS,
    CommitError,
    CommitOrder,
    EmulatedSwitch,
    PeerState,
)

BANNER = (
    "This is an emulator of a CloudEngine command line, not a switch.\n"
    "It models configuration, commit and trial. It does not model ASIC buffers, PFC, ECN,\n"
    "counters, optics or forwarding, and states of BGP are those of the lab's model.\n"
)
DIRTY = (
    "Warning: Uncommitted configurations found, commit them before exiting? "
    "[Y(yes)/N(no)/C(cancel)]:"
)
ABORT = "Warning: The trial configuration will be rolled back. Continue? [Y/N]:"
SAVE = "Warning: all configuration will be written to the device.\nAre you sure to continue?[Y/N]"
ROLLBACK = (
    "Warning: This operation will revert configuration changes to the previous status. During "
    "the rollback configuration process, some configurations involving differences may be "
    "temporarily invalid. Continue? [Y/N]:"
)
ROLLED_BACK = (
    "Checking changes...\nLoading rollback changes\nCommitting\nCheck rollback result\n"
    "Configuration rollback succeeded."
)
LENGTH = "Info: The configuration takes effect on the current user terminal interface only."
WIDTH = "Warning: This command will change the default screen width. Continue? [Y/N]:"
UNKNOWN_QUESTION = "Warning: This operation may affect an unexpected service. Proceed? [Y/N]:"

DESCRIPTION_LIMIT = 60  # characters of `commit .. description`, V300R023C00

COMMIT = re.compile(
    r"commit(?: (?P<trial>trial)(?: (?P<seconds>\d+))?)?(?: label (?P<label>\S+))?"
    r"(?: persist (?P<persist>\S+))?(?: description (?P<description>.+))?"
)
ABORT_LINE = r"abort trial(?: session (?P<session>\d+)| persist (?P<persist>\S+))?"
ROLLBACK_LINE = (
    r"rollback configuration "
    r"(?:to commit-id (?P<id>\d+)|last (?P<last>\d+)|to label (?P<label>\S+))"
)
COMMIT_LIST = re.compile(
    r"display configuration commit list(?P<verbose> verbose)?(?: (?P<count>\d+))?"
)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the switch answers: text without the prompt, and how the line goes on."""

    text: str = ""
    asks: bool = False  # the text ends in a question: no prompt follows
    closes: bool = False
    hangs: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """An open question: what each answer does; without `cancel` only Y and N are answers."""

    text: str
    yes: Callable[[], Reply]
    no: Callable[[], Reply]
    cancel: Callable[[], Reply] | None = None


class Session:
    """One login. `peers` gives the BGP states of this switch when they are asked for."""

    def __init__(
        self, switch: EmulatedSwitch, user: str, peers: Callable[[], list[PeerState]]
    ) -> None:
        self.switch = switch
        self.user = user
        self.peers = peers
        self.number = switch.open_session(user)
        self.in_system = False
        self.view: View = ()
        self.question: Question | None = None

    @property
    def prompt(self) -> str:
        """`<H>`, or `[~H-view]` with `*` for `~` while lines are uncommitted."""
        host = self.switch.hostname
        if not self.in_system:
            return f"<{host}>"
        mark = "*" if self.switch.dirty(self.number) else "~"
        return f"[{mark}{host}{prompt_name(self.view, self.switch.family)}]"

    def close(self) -> None:
        """The connection is gone."""
        self.switch.close_session(self.number)

    def handle(self, line: str) -> Reply:
        """Answer one line."""
        line = line.replace("\0", "")
        self.switch.tick()
        if self.question is not None:
            return self._answer(line)
        typed = " ".join(line.split())
        if not typed:
            return Reply()
        command, _, pipe = typed.partition(" | ")
        if command.startswith("display "):
            return self._display(line, command, pipe)
        known = self._system_command if self.in_system else self._user_command
        return known(line, typed)

    def _ask(
        self,
        text: str,
        yes: Callable[[], Reply],
        no: Callable[[], Reply] = Reply,
        cancel: Callable[[], Reply] | None = None,
    ) -> Reply:
        self.question = Question(text, yes, no, cancel)
        return Reply(text, asks=True)

    def _answer(self, line: str) -> Reply:
        question = self.question
        answer = line.strip().casefold()
        choices = {
            "y": "yes",
            "yes": "yes",
            "n": "no",
            "no": "no",
            "c": "cancel",
            "cancel": "cancel",
        }
        choice = choices.get(answer)
        if question is None or choice is None or getattr(question, choice) is None:
            words = "'YES', 'NO' or 'CANCEL'" if question and question.cancel else "'YES' or 'NO'"
            keys = "[Y/N/C]" if question and question.cancel else "[Y/N]"
            text = f"Error: Please choose {words} first before pressing 'Enter'. {keys}:"
            return Reply(text, asks=True)
        self.question = None
        reply: Reply = getattr(question, choice)()
        return reply

    def _refused(self, line: str, position: int, message: str) -> Reply:
        """The caret stands under the word as it was typed, behind the prompt."""
        width = len(self.prompt) + min(position, len(line.rstrip()))
        return Reply(f"{' ' * width}^\n{message}")

    def _user_command(self, line: str, typed: str) -> Reply:
        commands: dict[str, Callable[[re.Match[str]], Reply]] = {
            r"system-view": lambda _: self._to_system_view(),
            r"quit": lambda _: Reply(closes=True),
            r"return": lambda _: Reply(),
            r"save": lambda _: self._ask(SAVE, self._save),
            r"screen-length \d+ temporary": lambda _: Reply(LENGTH),
            r"screen-width \d+": lambda _: self._ask(WIDTH, Reply),
            ROLLBACK_LINE: lambda found: self._rollback(line, found),
        }
        return self._dispatch(commands, typed) or self._unknown(line)

    def _dispatch(
        self, commands: dict[str, Callable[[re.Match[str]], Reply]], typed: str
    ) -> Reply | None:
        for pattern, answer in commands.items():
            found = re.fullmatch(pattern, typed)
            if found:
                return answer(found)
        return None

    def _unknown(self, line: str) -> Reply:
        return self._refused(line, len(line) - len(line.lstrip()), UNRECOGNIZED)

    def _to_system_view(self) -> Reply:
        self.in_system = True
        return Reply("Enter system view, return user view with return command.")

    def _save(self) -> Reply:
        self.switch.save()
        return Reply(
            "Now saving all configuration to the slot 1\nInfo: Save the configuration successfully."
        )

    def _rollback(self, line: str, found: re.Match[str]) -> Reply:
        points = self.switch.points
        target = None
        if found["last"] and 1 <= int(found["last"]) <= len(points):
            target = points[-int(found["last"])].before
        for point in points:
            if found["id"] == str(point.number) or (found["label"] or "\n") == point.label:
                target = point.after
        if target is None:
            return self._refused(line, BEHIND, WRONG)
        to = target

        def back() -> Reply:
            self.switch.rollback(self.number, to)
            return Reply(ROLLED_BACK)

        return self._ask(ROLLBACK, back)

    def _system_command(self, line: str, typed: str) -> Reply:
        commands: dict[str, Callable[[re.Match[str]], Reply]] = {
            r"quit|return": lambda found: self._leave(found[0]),
            r"commit(?: .*)?": lambda _: self._commit(line, typed),
            ABORT_LINE: lambda found: self._abort(line, found),
            r"clear configuration candidate": lambda _: self._clear(),
            r"refresh configuration candidate": lambda _: self._refresh(),
        }
        return self._dispatch(commands, typed) or self._configure(line, typed)

    def _clear(self) -> Reply:
        self.switch.clear(self.number)
        self.view = ()  # it leads to the system view (V300R023C00)
        return Reply()

    def _refresh(self) -> Reply:
        try:
            self.switch.refresh(self.number)
        except VrpRefusal as refusal:
            return Reply(refusal.message)
        return Reply()

    def _leave(self, typed: str) -> Reply:
        if typed == "quit" and self.view:
            self.view = self.view[:-1]
            return Reply()
        if self.switch.dirty(self.number):
            return self._ask(DIRTY, self._commit_and_leave, self._discard_and_leave, Reply)
        return self._to_user_view()

    def _to_user_view(self) -> Reply:
        self.in_system, self.view = False, ()
        return Reply()

    def _commit_and_leave(self) -> Reply:
        reply = self._do_commit(CommitOrder())
        if not reply.text and not reply.closes and not reply.hangs:
            self._to_user_view()
        return reply

    def _discard_and_leave(self) -> Reply:
        self.switch.clear(self.number)
        return self._to_user_view()

    def _commit(self, line: str, typed: str) -> Reply:
        found = COMMIT.fullmatch(typed)
        if not found:
            return self._refused(line, line.index("commit") + len("commit "), UNRECOGNIZED)
        if found["persist"] and self.switch.persist == "absent":
            return self._refused(line, line.index("persist"), UNRECOGNIZED)
        if len(found["description"] or "") > DESCRIPTION_LIMIT:
            return self._refused(line, line.index("description") + len("description "), WRONG)
        seconds = int(found["seconds"] or TRIAL_SECONDS)
        if not 60 <= seconds <= 65535:  # "time": 60 to 65535
            return self._refused(line, line.index(found["seconds"]), WRONG)
        order = CommitOrder(
            seconds if found["trial"] else None,
            found["persist"],
            found["label"] or "",
            found["description"] or "",
        )
        return self._do_commit(order)

    def _do_commit(self, order: CommitOrder) -> Reply:
        if self.switch.fault("hang-on-commit"):
            return Reply(hangs=True)
        if self.switch.fault("expire-before-commit"):
            self.switch.end_trial("SYSTEM")
        had_trial = self.switch.trial is not None
        changed = self.switch.dirty(self.number)
        try:
            self.switch.commit(self.number, order)
        except CommitError as error:
            return Reply(str(error))
        if self.switch.fault("drop-session-on-commit"):
            return Reply(closes=True)
        if order.trial_seconds is None or not (changed or had_trial):
            return Reply()
        return Reply(
            "Info: The system enters the trial configuration mode.\n"
            "The system will revert to previous configuration if the trial configuration is not "
            f"confirmed in {order.trial_seconds} seconds."
        )

    def _abort(self, line: str, found: re.Match[str]) -> Reply:
        trial = self.switch.trial
        if found["persist"] and self.switch.persist == "absent":
            return self._refused(line, line.index("persist"), UNRECOGNIZED)
        if trial is None or (found["session"] and int(found["session"]) != trial.session):
            # Own wording: no source shows what is printed without a trial.
            return Reply("Error: The trial configuration does not exist.")
        if trial.persist != found["persist"] and not found["session"]:
            return Reply("Error: The persist ID of the trial configuration is incorrect.")

        def back() -> Reply:
            self.switch.end_trial(self.user)
            return Reply("Info: The trial configuration rollback succeeded.")

        return self._ask(ABORT, back)

    def _configure(self, line: str, typed: str, *, answered: bool = False) -> Reply:
        if self.switch.fault("refuse-line", typed):
            return self._unknown(line)
        try:
            applied = self.switch.enter(self.number, self.view, line)
        except VrpRefusal as refusal:
            return self._refused(line, refusal.position, refusal.message)
        question = applied.question
        if self.switch.fault("unknown-question", typed):
            question = UNKNOWN_QUESTION
        if question and not answered:
            # Interpreted again with the answer: others may commit while the question stands.
            return self._ask(question, lambda: self._configure(line, typed, answered=True))
        self.switch.keep(self.number, self.view, typed, applied)
        self.view = applied.view
        return Reply()

    def _display(self, line: str, command: str, pipe: str) -> Reply:
        text = self._displayed(command)
        if text is None:
            indent = len(line) - len(line.lstrip())
            return self._refused(line, indent + len("display "), UNRECOGNIZED)
        if pipe:
            if not re.fullmatch(r"(section include|include|exclude|begin) .+", pipe):
                return self._refused(line, line.index("|"), TOO_MANY)
            try:
                text = display.filtered(text, pipe)
            except re.error:
                return self._refused(line, line.index("|"), WRONG)
        return Reply(text.rstrip("\n"))

    def _displayed(self, command: str) -> str | None:
        switch = self.switch
        fixed: dict[str, Callable[[], str]] = {
            "display version": lambda: display.version(switch),
            "display device esn": lambda: display.esn(switch),
            "display interface brief": lambda: display.interface_brief(switch.running),
            "display bgp peer": lambda: display.bgp_peer(switch.running, self.peers()),
            "display configuration trial status": lambda: display.trial_status(switch),
            "display saved-configuration": lambda: display.configuration(switch, switch.saved),
            "display current-configuration": lambda: display.configuration(switch, switch.running),
        }
        if command in fixed:
            return fixed[command]()
        found = COMMIT_LIST.fullmatch(command)
        if found:
            count = int(found["count"] or 100)
            return display.commit_list(switch.points, verbose=bool(found["verbose"]), count=count)
        part = re.fullmatch(
            r"display current-configuration (?:configuration )?(interface(?: .+)?|[a-z][\w-]*)",
            command,
        )
        if part:
            wanted = re.sub(r"^interface (\S+) (\d)", r"interface \1\2", part[1])
            return display.section(switch.running, wanted)
        return self._candidate_displayed(command) if self.in_system else None

    def _candidate_displayed(self, command: str) -> str | None:
        candidate = self.switch.candidate(self.number)
        if command == "display this":
            return display.this_view(self.switch.running, self.view)
        if command == "display configuration candidate":
            return display.pending(candidate)
        if command == "display configuration candidate merge":
            return display.configuration(self.switch, candidate.config)
        if command == "display configuration candidate changes":
            return display.changes(self.switch.running, candidate.config)
        return None
