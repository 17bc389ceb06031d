"""Load a change into the switch's candidate, show the device's own diff, and commit it."""

import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from napalm.base.exceptions import (
    CommandErrorException,
    CommitConfirmException,
    CommitError,
    MergeConfigException,
    ReplaceConfigException,
)

from napalm_cloudengine import framing, parse
from napalm_cloudengine.dialogue import NOTHING_CHANGED, Dialogue, same_configuration
from napalm_cloudengine.displays.commits import COMMAND as TRIAL_STATUS
from napalm_cloudengine.displays.commits import LIST as COMMITS
from napalm_cloudengine.displays.commits import TrialStatus, newest_commit, read_trial
from napalm_cloudengine.displays.lines import DisplayAnswer
from napalm_cloudengine.errors import (
    CandidateNotOursError,
    LineRefusedError,
    OutcomeUnknownError,
    QuestionRefusedError,
    TrialOfOtherSessionError,
)
from napalm_cloudengine.framing import SwitchReply
from napalm_cloudengine.load import Loader, RefusedError, config_text
from napalm_cloudengine.masking import mask_secrets
from napalm_cloudengine.text import (
    SendLine,
    UnsendableError,
    check_description,
    check_persist_id,
    config_lines,
    quotable,
)

# From the running and the intended configuration to the commands between them.
Patcher = Callable[[str, str], str | Iterable[str]]
# Range of `commit trial` in seconds (command reference); its own default is 600.
TRIAL_S = range(60, 65536)

_CANDIDATE_UNKNOWN = "nothing was committed; whether the candidate still holds lines is unknown"
COMMIT_UNKNOWN = "outcome unknown; reconnect and read the running configuration"
_TRIAL_UNKNOWN = (
    "outcome unknown; if the trial runs, it reverts automatically when its timer ends: "
    "reconnect and ask the device (has_pending_commit)"
)
# Words that a user of VRP8 routers quotes; the whole sentence is not confirmed.
_FOREIGN_TRIAL = re.compile(r"system is in (?:the )?trial configuration mode", re.IGNORECASE)
# Any other report of a save is checked against the startup configuration.
_SAVED = (
    r"(?:Info: )?(?:Save the configuration|(?:The )?(?:[Cc]urrent )?[Cc]onfiguration(?: file)? "
    r"(?:was|has been|had been) saved(?: to the device)?) successfully\.?"
)
_SAVING = (
    r"(?:Info: )?Now saving (?:all|the current) configuration(?: to the [a-z]+(?: \d+)?)?[ .]*"
)
_LOCK = "configuration exclusive"
_SAVE_UNKNOWN = "the running configuration is untouched; whether it was saved is unknown"


class CandidateEditor(Dialogue):
    """The candidate configuration: load, compare, commit, discard."""

    def __init__(
        self,
        hostname: str,
        username: str,
        password: str,
        timeout: int = 60,
        optional_args: Mapping[str, Any] | None = None,
    ) -> None:
        options = dict(optional_args or {})
        self._ssh = None  # __del__ may run after a failure below
        self._patcher = _patcher_from(options.pop("patcher", None))
        self._persist_id = check_persist_id(options.pop("persist_id", None))
        # whether the trial that this object started has the id; None before it started one
        self._persists: bool | None = None
        super().__init__(hostname, username, password, timeout, options)

    def load_merge_candidate(self, filename: str | None = None, config: str | None = None) -> None:
        """Enter the lines of a file (preferred) or a text into the candidate, one at a time.

        Raises LineRefusedError or QuestionRefusedError after discarding the candidate,
        CandidateNotOursError without touching it, MergeConfigException, OutcomeUnknownError.
        """
        self._load(config_text(filename, config))

    def load_replace_candidate(
        self, filename: str | None = None, config: str | None = None
    ) -> None:
        """Load the patch from the running configuration to that of a file (preferred) or a text.

        A CloudEngine has no replace candidate that can be reviewed before it takes effect, so the
        caller provides the patch: `optional_args["patcher"]`. The patcher is called again with the
        resulting candidate: the load is accepted only when no difference to the intended
        configuration remains. Raises ReplaceConfigException, and the errors of
        `load_merge_candidate`.
        """
        if self._patcher is None:
            raise ReplaceConfigException(
                f"{self.name}: this driver does not replace a whole configuration without a "
                "patcher (optional_args): give one, or compute the patch from running to intended "
                "configuration locally and load that with load_merge_candidate; nothing was loaded"
            )
        intended = config_text(filename, config)
        if all(line.text == "#" for line in config_lines_of(self.name, intended)):
            raise ReplaceConfigException(
                f"{self.name}: the intended configuration is empty; nothing was loaded"
            )
        if self._loaded:  # a patch starts from the running configuration
            self.discard_config()
        self._load(self._patch(self._running(NOTHING_CHANGED), intended))
        self._system_view()
        merged = self._configuration("display configuration candidate merge", NOTHING_CHANGED)
        if remaining := self._patch(merged, intended):
            outcome = self._clear_candidate()
            first = mask_secrets(remaining.split("\n", 1)[0].strip())
            raise ReplaceConfigException(
                f"{self.name}: with the patch loaded, the candidate is not the intended "
                f"configuration: '{first}' is still to be done; {outcome}"
            )

    def _patch(self, running: str, intended: str) -> str:
        """Return the patcher's commands as one text; "" when there are none."""
        assert self._patcher is not None  # noqa: S101  # its only caller has looked
        patch = self._patcher(running, intended)
        return (patch if isinstance(patch, str) else "\n".join(patch)).strip("\n")

    def _load(self, text: str) -> None:
        """Enter the lines of a text into the candidate."""
        lines = config_lines_of(self.name, text)
        if not text.isascii() and not self._config_read:
            self._running(NOTHING_CHANGED)  # its descriptions show the encoding to send
        prompt = self._connected().prompt
        if prompt.system and not prompt.uncommitted:
            self._user_view()  # the text starts in the system view; `cli` may have left another
        prompt = self._system_view()
        if not prompt.mark:
            raise MergeConfigException(
                f"{self.name}: the switch is in immediate mode, where each line takes effect "
                "at once; nothing was loaded"
            )
        if prompt.uncommitted and not self._loaded:
            raise CandidateNotOursError(self.name)
        self._loaded = True
        try:
            Loader(self._enter, self._settle, prompt).load(lines)
        except RefusedError as refused:
            raise self._after_refusal(refused) from None

    def _enter(self, line: str) -> SwitchReply:
        """Send one line of configuration; output after its prompt is part of the next reply."""
        enter = self._connected().enter
        return self._reply_or_error(
            line, _CANDIDATE_UNKNOWN, lambda: enter(line, self._answers, self.timeout)
        )

    def _settle(self) -> SwitchReply:
        return self._reply_or_error("", _CANDIDATE_UNKNOWN, self._connected().settle)

    def compare_config(self) -> str:
        """Return the device's own diff between candidate and running; "" when there is none."""
        return self._changes(NOTHING_CHANGED)

    def _changes(self, unknown: str) -> str:
        self._system_view()
        return parse.candidate_diff(
            self._displayed_twice("display configuration candidate changes", unknown)
        )

    def commit_config(self, message: str = "", revert_in: int | None = None) -> None:
        """Commit the loaded change; with `revert_in` seconds (60..65535) only on trial.

        The message, at most 60 ASCII characters, becomes the description of the rollback point.
        Raises CommitError (its message states whether the candidate was discarded),
        TrialOfOtherSessionError, OutcomeUnknownError.
        """
        self._commit(message, revert_in, revert_in)

    def commit_trial(self, message: str, seconds: int, plain_seconds: int) -> None:
        """Commit on trial as `commit_config`; plain_seconds: where the release has no `persist`.

        There perhaps no other session can end the trial.
        """
        self._commit(message, seconds, plain_seconds)

    def _commit(self, message: str, revert_in: int | None, plain_s: int | None) -> None:
        command, plain = (
            "commit" if seconds is None else f"commit trial {self._trial_s(seconds)}"
            for seconds in (revert_in, plain_s)
        )
        description = f" description {self._description(message)}" if message else ""
        if not self._loaded or not self._system_view().uncommitted:
            raise CommitError(f"{self.name}: nothing to commit: no change is loaded")
        trial = self.trial_status()
        if trial.state != "INACTIVE":
            cure = "wait for its end" if trial.ending else "confirm or abort it first"
            raise CommitError(
                f"{self.name}: not committed: a trial is {trial.state} "
                f"({trial.time_left} left); {cure}"
            )
        unknown = COMMIT_UNKNOWN if revert_in is None else _TRIAL_UNKNOWN
        before = self._last_commit() if revert_in is None else None
        persist = f" persist {self._persist_id}" if self._persist_id and revert_in else ""
        command = command if persist else plain
        self._persists = False if revert_in and not persist else None
        reply = self._run(command + persist + description, unknown, self._commit_timeout_s)
        if persist and (_unknown_words(reply) or not reply.errors):
            self._persists = not reply.errors
        if persist and _unknown_words(reply):  # not in older VRP8
            command, persist = plain, ""
            reply = self._run(command + description, unknown, self._commit_timeout_s)
        sent = command + persist + description
        if reply.doubt:
            self._require_evidence(sent, reply, before, on_trial=revert_in is not None)
            return
        self._check_committed(sent, reply, on_trial=revert_in is not None)
        if before is not None and self._last_commit() == before:
            raise CommitError(
                f"{self.name}: '{command}' was accepted, but the switch has no new rollback point: "
                "nothing was committed; read the running configuration"
            )

    def _require_evidence(
        self, command: str, reply: SwitchReply, before: str | None, *, on_trial: bool
    ) -> None:
        """Check the switch's state when other output is mixed with the reply to a commit."""
        if on_trial:
            done = self._trial_status(_TRIAL_UNKNOWN).state == "ACTIVE"
        else:
            newest = self._last_commit()
            done = (
                bool(newest) and newest != before is not None and not self._changes(COMMIT_UNKNOWN)
            )
        if not done:
            why = "other output was mixed with the reply"
            unknown = _TRIAL_UNKNOWN if on_trial else COMMIT_UNKNOWN
            raise self._lost(command, why, unknown, reply.last)
        self._loaded = False

    def _last_commit(self) -> str | None:
        """Return the id of the newest rollback point; "" if there is none, None if not known."""
        reply = self._ask(f"{COMMITS.command} 1", COMMIT_UNKNOWN)
        if reply.errors or reply.refused:
            return None
        return newest_commit(reply.text)

    def discard_config(self) -> None:
        """Clear the candidate; CandidateNotOursError when its changes were not loaded here."""
        prompt = self._system_view()
        if prompt.uncommitted and not self._loaded:
            raise CandidateNotOursError(self.name)
        if prompt.uncommitted:
            outcome = self._clear_candidate()
            if self._loaded:
                raise CommandErrorException(f"{self.name}: {outcome}")
        self._loaded = False

    def lock(self) -> None:
        """Keep other users from commits until `unlock`, or until the session ends.

        Raises CommandErrorException where another user has locked the configuration.
        """
        self._accepted(_LOCK, self._run(_LOCK, _CANDIDATE_UNKNOWN))

    def unlock(self) -> None:
        """Permit other users to commit; raises CommandErrorException if another user locked it."""
        self._accepted(f"undo {_LOCK}", self._run(f"undo {_LOCK}", _CANDIDATE_UNKNOWN))

    def get_help(self, words: str, views: Iterable[str] = ()) -> str:
        """Return the help of `?` behind some words, in the view that lines of configuration open.

        The words must be incomplete as a command: the CLI repeats them behind the help, and the
        line then ends there. The lines are in the candidate, which is discarded. Raises
        CandidateNotOursError, CommandErrorException for a line that is refused.
        """
        if self._system_view().uncommitted and not self._loaded:
            raise CandidateNotOursError(self.name)
        self._user_view()
        self._system_view()
        self._loaded = True
        try:
            for line in views:
                self._accepted(line, self._run(line, _CANDIDATE_UNKNOWN))
            return self._help(words, _CANDIDATE_UNKNOWN)
        finally:
            if self._ssh is not None:  # else the candidate ended with its session
                self.discard_config()

    def _help(self, words: str, unknown: str) -> str:
        """Return the words that the CLI lists behind `?`, without the line that follows them."""
        reply = self._run(f"{words} ?", unknown)
        return reply.refused or reply.text.split(framing.prompt_text(reply.prompt))[0]

    def trial_status(self) -> TrialStatus:
        """Return the state of the trial and its remaining seconds, as the switch reports them."""
        return self._trial_status(NOTHING_CHANGED)

    def _trial_status(self, unknown: str) -> TrialStatus:
        command = TRIAL_STATUS
        try:
            return read_trial(DisplayAnswer(command, self._display(command, unknown)))
        except (ValueError, CommandErrorException) as error:
            if unknown != NOTHING_CHANGED:
                raise self._lost(command, f"not understood: {error}", unknown, "") from None
            raise CommitConfirmException(
                f"{self.name}: the switch does not report whether a trial runs: {error}"
            ) from None

    @property
    def trial_has_id(self) -> bool | None:
        """Whether the trial that this object began has the persist id; None if it is not known."""
        return self._persists

    def _refuse_foreign_trial(
        self, command: str, reply: SwitchReply, trial: TrialStatus | None = None
    ) -> None:
        """Raise TrialOfOtherSessionError if another session's trial is the reason of a refusal.

        trial: its status, if it was just read.
        """
        if _FOREIGN_TRIAL.search(reply.message):
            left = (trial or self._trial_status(COMMIT_UNKNOWN)).seconds_left
            raise TrialOfOtherSessionError(self.name, command, reply.message, left)

    def save_config(self) -> None:
        """Write the running configuration to the startup file; CommandErrorException if not.

        Where the reply does not show whether that was done, the startup configuration decides.
        """
        self._user_view()
        reply = self._run("save", _SAVE_UNKNOWN, self._commit_timeout_s)
        if reply.refused and not reply.doubt:
            raise QuestionRefusedError(self.name, "save", reply.refused, "nothing was saved")
        if reply.reports(_SAVED, _SAVING):
            return
        if reply.failures and not reply.doubt:
            raise CommandErrorException(f"{self.name}: 'save' failed: {reply.message}")
        startup = self._configuration("display saved-configuration", _SAVE_UNKNOWN)
        if not same_configuration(startup, self._running(_SAVE_UNKNOWN)):
            raise CommandErrorException(
                f"{self.name}: 'save' did not report a success, and the startup configuration is "
                f"not the running one: {reply.message}"
            )

    def _clear_candidate(self) -> str:
        """Clear the loaded lines, return to the user view, and report the outcome."""
        try:
            reply = self._run("clear configuration candidate", _CANDIDATE_UNKNOWN)
        except OutcomeUnknownError as broken:
            return str(broken)
        if reply.failures or reply.refused or reply.prompt.uncommitted:
            return f"the candidate could not be cleared: {reply.message}"
        self._loaded = False
        with suppress(OutcomeUnknownError):  # the next call reports that the session is lost
            self._run("return", NOTHING_CHANGED)
        return "the candidate was discarded"

    def _after_refusal(self, refused: RefusedError) -> MergeConfigException:
        outcome, line = self._clear_candidate(), quotable(mask_secrets(refused.line.text))
        if refused.question:
            position = f"line {refused.line.number} '{line}'"
            return QuestionRefusedError(self.name, position, refused.question, outcome)
        reply = mask_secrets(refused.reply)
        return LineRefusedError(self.name, refused.line.number, line, reply, outcome)

    def _trial_s(self, revert_in: int) -> int:
        if type(revert_in) is not int or revert_in not in TRIAL_S:  # 60.0 would be sent as `60.0`
            raise CommitError(
                f"{self.name}: revert_in is {TRIAL_S.start} to {TRIAL_S.stop - 1} seconds on "
                f"a CloudEngine, not {revert_in!r}; nothing was committed"
            )
        return revert_in

    def _description(self, message: str) -> str:
        try:
            return check_description(message)
        except (TypeError, ValueError) as error:
            raise CommitError(f"{self.name}: {error}; nothing was committed") from None

    def _check_committed(self, command: str, reply: SwitchReply, *, on_trial: bool) -> None:
        if reply.refused:
            outcome = self._clear_candidate()
            raise QuestionRefusedError(self.name, f"'{command}'", reply.refused, outcome)
        if reply.errors or reply.failures or (reply.prompt.uncommitted and not on_trial):
            outcome = self._clear_candidate()
            self._refuse_foreign_trial(command, reply)
            raise CommitError(f"{self.name}: '{command}' failed: {reply.message}; {outcome}")
        if on_trial and (state := self._trial_status(_TRIAL_UNKNOWN).state) != "ACTIVE":
            still = f"; {self._clear_candidate()}" if self._connected().prompt.uncommitted else ""
            self._loaded = False
            raise CommitError(
                f"{self.name}: '{command}' was accepted, but the trial is {state}: it has "
                f"ended already or the change is permanent; read the running configuration{still}"
            )
        self._loaded = False


def config_lines_of(name: str, text: str) -> tuple[SendLine, ...]:
    """Return the lines to send; MergeConfigException names the first that must not be sent."""
    try:
        return config_lines(text)
    except UnsendableError as error:
        raise MergeConfigException(
            f"{name}: line {error.number} '{quotable(mask_secrets(error.line))}': {error.why}; "
            "nothing was loaded"
        ) from None


def _unknown_words(reply: SwitchReply) -> bool:
    """Whether the CLI rejected the syntax of a line: a caret marks the word, nothing was done."""
    return any("found at '^' position" in line for line in reply.errors)


def _patcher_from(value: object) -> Patcher | None:
    """Return the function; an inventory in YAML gives it as `module:function`.

    None for None; ValueError when there is no such function.
    """
    function = value
    if isinstance(value, str):
        try:
            function = pkgutil.resolve_name(value)
        except (ImportError, AttributeError, ValueError) as error:
            raise ValueError(f"patcher: there is no function '{value}': {error}") from None
    if function is not None and not callable(function):
        raise ValueError(
            "patcher: give a function of running and intended configuration, or its name as "
            f"'module:function', not {value!r}"
        )
    return function
