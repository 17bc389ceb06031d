"""The NAPALM driver for Huawei CloudEngine: candidate, trial commit, confirm, and what it reads.

A change goes: `load_merge_candidate` -> `compare_config` (the device's own diff) ->
`commit_config(revert_in=600)` (`commit trial`) -> checks -> `confirm_commit` or `abort_commit` ->
`save_config`. The switch, not this class, knows where a change stands: every step asks it.
Nothing is saved unless `save_config` is called.
"""

from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any

from napalm.base.base import NetworkDriver
from napalm.base.exceptions import (
    CommandErrorException,
    CommitConfirmException,
    CommitError,
    ConnectionClosedException,
    MergeConfigException,
    ReplaceConfigException,
)

from napalm_cloudengine import parse
from napalm_cloudengine.answers import answers_from
from napalm_cloudengine.connect import connecting, ssh_options
from napalm_cloudengine.errors import (
    CandidateNotOursError,
    LineRefusedError,
    OutcomeUnknownError,
    QuestionRefusedError,
)
from napalm_cloudengine.load import Loader, RefusedError, config_text
from napalm_cloudengine.masking import mask_secrets
from napalm_cloudengine.shapes import napalm_facts, napalm_neighbors
from napalm_cloudengine.text import UnsendableError, check_description, config_lines, why_not_typed
from napalm_cloudengine.transport import (
    CloudEngineSSH,
    Reply,
    SessionBrokenError,
)

# What `commit trial` takes, in seconds (command reference); its own default is 600.
TRIAL_S = range(60, 65536)
# A commit of a large change takes minutes; annet's deploy table waits as long.
COMMIT_TIMEOUT_S = 180.0

_NOTHING_CHANGED = "it only reads, nothing was changed"
_CANDIDATE_UNKNOWN = "nothing was committed; whether the candidate still holds lines is unknown"
_COMMIT_UNKNOWN = "outcome unknown; reconnect and read the running configuration"
_TRIAL_UNKNOWN = (
    "outcome unknown; if the trial runs, it reverts by itself when its time is over: "
    "reconnect and ask the device (has_pending_commit)"
)
_CONFIRM_UNKNOWN = (
    "outcome unknown: the trial is confirmed, still running, or reverted; "
    "reconnect, ask the device (has_pending_commit) and read the running configuration"
)
_SAVE_UNKNOWN = "the running configuration is untouched; whether it was saved is unknown"


class CloudEngineDriver(NetworkDriver):  # type: ignore[misc]  # napalm is untyped here
    """A CloudEngine switch (VRP8 V200, YunShan OS V300) in two-stage configuration mode.

    `optional_args`, besides what Netmiko's connection takes (`port`, `key_file`, `keepalive`, ..):

    - `name`: what messages call the switch; without it its address. A connection that fails is
      always told with address and port, which are what to look at then.
    - `ssh_known_hosts` (or `alt_key_file`): the known_hosts file; without it the user's own. An
      unknown or changed host key is always refused; `ssh_strict` cannot be turned off.
    - `answers`: mapping of regular expression -> answer, before the default table of questions
      (see `answers.py`). A question that no row fits is answered no, and fails the call.
    - `commit_timeout_s`: longest silence during a commit, a rollback or a save (180).
    """

    def __init__(
        self,
        hostname: str,
        username: str,
        password: str,
        timeout: int = 60,
        optional_args: Mapping[str, Any] | None = None,
    ) -> None:
        """`timeout`: longest silence of the switch, in seconds. ValueError on wrong options."""
        self._ssh: CloudEngineSSH | None = None  # first: __del__ may run after a failure below
        options = dict(optional_args or {})
        self.name = str(options.pop("name", None) or hostname)
        self.hostname, self.username, self.password = hostname, username, password
        self.timeout = timeout
        self._answers = answers_from(options.pop("answers", None))
        self._commit_timeout_s = float(options.pop("commit_timeout_s", COMMIT_TIMEOUT_S))
        self._ssh_options = ssh_options(options, timeout)
        self._loaded = False  # whether the candidate holds lines that this object loaded

    # --- connection -----------------------------------------------------------------------

    def open(self) -> None:
        """Connect and log in.

        Raises HostKeyError, ConnectAuthError, ConnectTimeoutError, ConnectionException.
        """
        if self._ssh is not None and self._ssh.is_open():
            return
        self.close()  # a session that was lost leaves its socket behind
        with connecting(self.hostname, self._ssh_options, self.username):
            self._ssh = CloudEngineSSH(
                device_type="huawei_vrpv8",
                host=self.hostname,
                username=self.username,
                password=self.password,
                timeout=self.timeout,
                **self._ssh_options,
            )
        self._loaded = False

    def close(self) -> None:
        """Clear what was loaded and not committed, then end the session.

        A trial that needs its session (the reference: a trial without `persist` takes effect only
        in the current session) ends with it.
        """
        ssh, self._ssh = self._ssh, None
        if ssh is None:
            return
        # a session that breaks here was to end anyway, and an unfinished candidate with it
        with suppress(SessionBrokenError):
            if self._loaded and ssh.is_open():
                ssh.exchange("clear configuration candidate", (), self.timeout)
            if ssh.is_open() and ssh.prompt.system and not ssh.prompt.uncommitted:
                ssh.exchange("return", self._answers, self.timeout)
        self._loaded = False
        ssh.disconnect()

    def is_alive(self) -> dict[str, bool]:
        """Whether the SSH session stands, as NAPALM's dictionary; sends nothing."""
        return {"is_alive": self._ssh is not None and self._ssh.is_open()}

    def __enter__(self) -> "CloudEngineDriver":
        self.open()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        exc_traceback: TracebackType | None,
    ) -> None:
        self.close()

    # --- change ---------------------------------------------------------------------------

    def load_merge_candidate(self, filename: str | None = None, config: str | None = None) -> None:
        """Enter the lines of a file (it wins) or a text into the candidate, one at a time.

        Raises LineRefusedError or QuestionRefusedError after discarding the candidate,
        CandidateNotOursError without touching it, MergeConfigException, OutcomeUnknownError.
        """
        try:
            lines = config_lines(config_text(filename, config))
        except UnsendableError as error:
            raise MergeConfigException(
                f"{self.name}: line {error.number} '{mask_secrets(error.line)}': {error.why}; "
                "nothing was loaded"
            ) from None
        prompt = self._connected().prompt
        if prompt.system and not prompt.uncommitted:
            self._user_view()  # whichever view `cli` left: the text starts in the system view
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
            Loader(lambda line: self._run(line, _CANDIDATE_UNKNOWN), prompt.view).load(lines)
        except RefusedError as refused:
            raise self._after_refusal(refused) from None

    def load_replace_candidate(
        self,
        filename: str | None = None,  # noqa: ARG002  # the signature is NAPALM's
        config: str | None = None,  # noqa: ARG002
    ) -> None:
        """Refuse: a CloudEngine has no replace candidate that can be reviewed before it acts."""
        raise ReplaceConfigException(
            f"{self.name}: this driver does not replace a whole configuration: compute the "
            "patch from running to wanted configuration locally and load that with "
            "load_merge_candidate; nothing was loaded"
        )

    def compare_config(self) -> str:
        """The device's own difference between candidate and running; "" when there is none."""
        self._system_view()
        return parse.candidate_diff(self._display("display configuration candidate changes"))

    def commit_config(self, message: str = "", revert_in: int | None = None) -> None:
        """Commit what was loaded; with `revert_in` seconds (60..65535) only on trial.

        The message, at most 60 ASCII characters, becomes the description of the rollback point.
        Raises CommitError (the candidate was discarded where it says so), OutcomeUnknownError.
        """
        command = "commit" if revert_in is None else f"commit trial {self._trial_s(revert_in)}"
        if message:
            command += f" description {self._description(message)}"
        if not self._loaded or not self._system_view().uncommitted:
            raise CommitError(f"{self.name}: nothing to commit: no change is loaded")
        trial = self.trial_status()
        if trial.state != "INACTIVE":
            raise CommitError(
                f"{self.name}: not committed: a trial is {trial.state} "
                f"({trial.seconds_left} s left); confirm or abort it first"
            )
        unknown = _COMMIT_UNKNOWN if revert_in is None else _TRIAL_UNKNOWN
        reply = self._run(command, unknown, self._commit_timeout_s)
        self._check_committed(command, reply, on_trial=revert_in is not None)

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

    def confirm_commit(self) -> None:
        """Make a running trial permanent.

        A trial may expire between the question for it and the `commit`, which then confirms nothing
        and succeeds. Neither the trial's status nor, as far as the command reference tells, the
        list of commits shows that: so what runs is compared with what ran on trial.
        Raises CommitConfirmException when no trial runs, the switch refuses or something else runs
        afterwards, CandidateNotOursError when the same commit would carry other changes,
        OutcomeUnknownError.
        """
        on_trial = self._running_lines(_NOTHING_CHANGED)  # before the question: still on trial then
        self._require_trial("confirm")
        if self.compare_config():
            raise CandidateNotOursError(self.name, "a confirm would commit them too, so none went")
        reply = self._run("commit", _CONFIRM_UNKNOWN, self._commit_timeout_s)
        self._require_accepted("commit", reply)
        after = self._trial_status(_CONFIRM_UNKNOWN)
        if after.state != "INACTIVE":
            raise CommitConfirmException(
                f"{self.name}: the switch took the confirm but the trial is {after.state}, "
                f"{after.seconds_left} s left"
            )
        if self._running_lines(_CONFIRM_UNKNOWN) != on_trial:
            raise CommitConfirmException(
                f"{self.name}: the switch took the confirm but does not run what was on trial: the "
                "trial ended just before, or somebody changed it; read the running configuration"
            )

    def abort_commit(self) -> None:
        """Cancel a running trial: the switch goes back to what it ran before, at once.

        Raises CommitConfirmException when no trial runs or it is still there, OutcomeUnknownError.
        """
        self._require_trial("abort")
        reply = self._run("abort trial", _CONFIRM_UNKNOWN, self._commit_timeout_s)
        self._require_accepted("abort trial", reply)
        after = self._trial_status(_CONFIRM_UNKNOWN)
        if after.state == "ACTIVE":
            raise CommitConfirmException(
                f"{self.name}: the switch took 'abort trial' but the trial still runs, "
                f"{after.seconds_left} s left"
            )

    def has_pending_commit(self) -> bool:
        """Whether a trial runs, as the switch says; CommitConfirmException when it cannot say."""
        return self.trial_status().state == "ACTIVE"

    def trial_status(self) -> parse.TrialStatus:
        """Where the trial stands and for how many more seconds, as the switch says."""
        return self._trial_status(_NOTHING_CHANGED)

    def _trial_status(self, unknown: str) -> parse.TrialStatus:
        try:
            return parse.trial_status(self._display("display configuration trial status", unknown))
        except (ValueError, CommandErrorException) as error:
            raise CommitConfirmException(
                f"{self.name}: the switch does not tell whether a trial runs: {error}"
            ) from None

    def rollback(self) -> None:
        """Undo: abort a running trial, otherwise take back the last commit (whoever made it).

        Raises CommitError, CommitConfirmException, CandidateNotOursError, OutcomeUnknownError.
        """
        if self.has_pending_commit():
            self.abort_commit()
            return
        self._user_view()
        command = "rollback configuration last 1"
        reply = self._run(command, _COMMIT_UNKNOWN, self._commit_timeout_s)
        if reply.refused:
            raise QuestionRefusedError(self.name, command, reply.refused, "nothing was rolled back")
        if reply.errors or "rollback succeeded" not in reply.text:
            raise CommitError(f"{self.name}: '{command}' failed: {reply.said}")

    def save_config(self) -> None:
        """Write the running configuration to the startup file; CommandErrorException if not."""
        self._user_view()
        reply = self._run("save", _SAVE_UNKNOWN, self._commit_timeout_s)
        if reply.refused:
            raise QuestionRefusedError(self.name, "save", reply.refused, "nothing was saved")
        if reply.errors or "successfully" not in reply.text:
            raise CommandErrorException(f"{self.name}: 'save' failed: {reply.said}")

    # --- reading --------------------------------------------------------------------------

    def get_config(
        self,
        retrieve: str = "all",
        full: bool = False,
        sanitized: bool = False,
        format: str = "text",  # noqa: A002  # the signature is NAPALM's
    ) -> dict[str, str]:
        """Texts by kind: running, startup, and candidate (running and pending lines merged).

        The candidate is "" while nothing is loaded. ValueError on an unknown kind or format.
        """
        kinds = ("running", "candidate", "startup")
        if retrieve not in ("all", *kinds) or format != "text" or full:
            raise ValueError(
                f"get_config(retrieve={retrieve!r}, full={full}, format={format!r}): "
                f"retrieve one of all, {', '.join(kinds)}; full and other formats do not exist"
            )
        wanted = {"running": "display current-configuration"}
        wanted["startup"] = "display saved-configuration"
        if self._loaded:
            wanted["candidate"] = "display configuration candidate merge"
        texts = dict.fromkeys(("running", "candidate", "startup"), "")
        for kind, command in wanted.items():
            if retrieve in ("all", kind):
                if kind == "candidate":
                    self._system_view()  # the user view does not know that command
                text = self._display(command)
                texts[kind] = mask_secrets(text) if sanitized else text
        return texts

    def get_facts(self) -> dict[str, Any]:
        """NAPALM's facts; `serial_number` is "" on a release without `display device esn`."""
        version = parse.version(self._display("display version"))
        interfaces = parse.interface_names(self._display("display interface brief"))
        esn = self._run("display device esn", _NOTHING_CHANGED)  # may not exist: not in every CLI
        serial = parse.serial_number(esn.text)
        return napalm_facts(self._connected().base_prompt, version, serial, interfaces)

    def get_bgp_neighbors(self) -> dict[str, dict[str, Any]]:
        """IPv4 peers of the public instance in NAPALM's shape.

        The table has no peer's router id and description (""), and no count of accepted or sent
        prefixes (-1).
        """
        return napalm_neighbors(parse.bgp_peers(self._display("display bgp peer")))

    def cli(self, commands: list[str], encoding: str = "text") -> dict[str, str]:
        """The reply to each command; CommandErrorException on the first that is refused.

        ValueError, before anything is sent, for what is not one line.
        """
        if encoding != "text":
            raise ValueError(f"cli(encoding={encoding!r}): a CloudEngine answers in text only")
        for command in commands:
            if why := why_not_typed(command):
                raise ValueError(f"cli: {mask_secrets(command)!r} {why}; nothing was sent")
        return {command: self._display(command) for command in commands}

    # --- talking to the switch ------------------------------------------------------------

    def _connected(self) -> CloudEngineSSH:
        if self._ssh is None:
            raise ConnectionClosedException(f"{self.name}: the connection is not open")
        return self._ssh

    def _run(self, command: str, unknown: str, timeout_s: float | None = None) -> Reply:
        """Send one line; a broken session is closed and told as OutcomeUnknownError."""
        ssh = self._connected()
        try:
            return ssh.exchange(command, self._answers, timeout_s or self.timeout)
        except SessionBrokenError as broken:
            self._ssh, self._loaded = None, False
            ssh.disconnect()
            sent = mask_secrets(command)
            raise OutcomeUnknownError(self.name, sent, broken.why, unknown) from None

    def _display(self, command: str, unknown: str = _NOTHING_CHANGED) -> str:
        reply = self._run(command, unknown)
        if reply.refused:
            raise QuestionRefusedError(
                self.name, mask_secrets(command), reply.refused, "nothing more was sent"
            )
        if reply.errors:
            raise CommandErrorException(f"{self.name}: '{mask_secrets(command)}': {reply.said}")
        return reply.text

    def _running_lines(self, unknown: str) -> list[str]:
        """What runs, comparable: no heading, no secrets (the switch encrypts them anew)."""
        text = mask_secrets(self._display("display current-configuration", unknown))
        return [line.rstrip() for line in text.splitlines() if not line.startswith("!")]

    def _system_view(self) -> parse.Prompt:
        prompt = self._connected().prompt
        if prompt.system:
            return prompt
        reply = self._run("system-view", _NOTHING_CHANGED)
        if reply.errors or not reply.prompt.system:
            raise CommandErrorException(
                f"{self.name}: the system view is closed to us: {reply.said}"
            )
        return reply.prompt

    def _user_view(self) -> None:
        prompt = self._connected().prompt
        if not prompt.system:
            return
        if prompt.uncommitted and self._loaded:
            raise CommitError(
                f"{self.name}: a loaded change is not committed; commit or discard it first"
            )
        if self._run("return", _NOTHING_CHANGED).prompt.system:
            raise CandidateNotOursError(self.name)

    def _clear_candidate(self) -> str:
        """Clear what was loaded, go back to the user view, and say what became of it."""
        try:
            reply = self._run("clear configuration candidate", _CANDIDATE_UNKNOWN)
        except OutcomeUnknownError as broken:
            return str(broken)
        if reply.errors or reply.refused or reply.prompt.uncommitted:
            return f"the candidate could not be cleared: {reply.said}"
        self._loaded = False
        with suppress(OutcomeUnknownError):  # the next call will tell that the session is lost
            self._run("return", _NOTHING_CHANGED)
        return "the candidate was discarded"

    def _after_refusal(self, refused: RefusedError) -> MergeConfigException:
        outcome, line = self._clear_candidate(), mask_secrets(refused.line.text)
        if refused.question:
            place = f"line {refused.line.number} '{line}'"
            return QuestionRefusedError(self.name, place, refused.question, outcome)
        said = mask_secrets(refused.said)
        return LineRefusedError(self.name, refused.line.number, line, said, outcome)

    # --- checks ---------------------------------------------------------------------------

    def _trial_s(self, revert_in: int) -> int:
        if isinstance(revert_in, bool) or revert_in not in TRIAL_S:
            raise CommitError(
                f"{self.name}: revert_in is {TRIAL_S.start} to {TRIAL_S.stop - 1} seconds on "
                f"a CloudEngine, not {revert_in!r}; nothing was committed"
            )
        return revert_in

    def _description(self, message: str) -> str:
        try:
            return check_description(message)
        except ValueError as error:
            raise CommitError(f"{self.name}: {error}; nothing was committed") from None

    def _check_committed(self, command: str, reply: Reply, *, on_trial: bool) -> None:
        if reply.refused:
            outcome = self._clear_candidate()
            raise QuestionRefusedError(self.name, f"'{command}'", reply.refused, outcome)
        if reply.errors or (reply.prompt.uncommitted and not on_trial):
            outcome = self._clear_candidate()
            raise CommitError(f"{self.name}: '{command}' failed: {reply.said}; {outcome}")
        self._loaded = False
        if on_trial and (state := self._trial_status(_TRIAL_UNKNOWN).state) != "ACTIVE":
            raise CommitError(
                f"{self.name}: '{command}' was accepted, but the trial is {state}: it has "
                "ended already or the change is permanent; read the running configuration"
            )

    def _require_trial(self, act: str) -> None:
        self._system_view()
        state = self.trial_status().state
        if state != "ACTIVE":
            raise CommitConfirmException(
                f"{self.name}: no trial to {act} (it is {state}): it was confirmed, aborted, "
                "or has reverted; read the running configuration"
            )

    def _require_accepted(self, command: str, reply: Reply) -> None:
        if reply.refused or reply.errors:
            raise CommitConfirmException(
                f"{self.name}: '{command}' failed: {reply.refused or reply.said}; "
                "the trial keeps its timer"
            )
