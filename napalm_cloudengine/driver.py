"""NAPALM driver for Huawei CloudEngine: candidate, trial commit, confirm, and getters.

The V300 command reference states on a trial and its session: without `persist` the trial takes
effect only in the current session. With `persist` it continues when the session ends, and any
session confirms it with `commit persist ID` or cancels it with `abort trial persist ID`;
`abort trial session N` cancels that of another session. Users report for a CloudEngine that a plain
trial continues without its session and that no other session can confirm or abort it: then only the
timer ends it. So every step reads the status, tries the applicable commands, and relies on the
status alone. An error states when the timer ends.

Steps of a change: `load_merge_candidate` -> `compare_config` (the device's own diff) ->
`commit_config(revert_in=600)` (`commit trial`) -> checks -> `confirm_commit` or `abort_commit` ->
`save_config`. The state of a change is on the switch, not in this class: every step reads it from
there. Nothing is saved unless `save_config` is called.

`dialogue.py` exchanges lines with the switch, `changing.py` has the candidate, its commit and the
status of trials, `reading.py` and `network_getters.py` have the getters.
"""

import re
import time

from napalm.base.base import NetworkDriver
from napalm.base.exceptions import (
    CommandErrorException,
    CommitConfirmException,
    CommitError,
)

from napalm_cloudengine import framing, parse
from napalm_cloudengine.changing import COMMIT_UNKNOWN, CandidateEditor
from napalm_cloudengine.dialogue import NOTHING_CHANGED, same_configuration
from napalm_cloudengine.displays.commits import LIST, CommitEntry, TrialStatus, commit
from napalm_cloudengine.errors import CandidateNotOursError, QuestionRefusedError
from napalm_cloudengine.framing import SwitchReply
from napalm_cloudengine.network_getters import NetworkReader

_CONFIRM_UNKNOWN = (
    "outcome unknown: the trial is confirmed, still running, or reverted; "
    "reconnect, ask the device (has_pending_commit) and read the running configuration"
)
_ROLLED_BACK = r"(?:Info: )?Configuration rollback succeeded\.?"
_ROLLING_BACK = (
    r"(?:Checking changes|Loading rollback changes|Committing|Check rollback result)[ .]*"
    r"|Please use '[^']*' to view the changes\.?"
)

_LAST_TWO = "display configuration commit changes last 2"  # the differences of both together
_ASK_AGAIN_S = 0.5  # while a switch cancels a trial


class Trials(CandidateEditor):
    """A running trial, which another session may have started."""

    def confirm_commit(self) -> None:
        """Make a running trial permanent.

        A trial may expire between the status query and the `commit`, which then confirms nothing
        and succeeds. Neither the trial's status nor, according to the command reference, the list
        of commits shows that: so the running configuration is compared with the one on trial.
        Raises CommitConfirmException when no trial runs, it has a persist id that is not ours, the
        switch refuses or another configuration runs afterwards, CandidateNotOursError when the same
        commit would include other changes, OutcomeUnknownError.
        """
        on_trial = self._running(NOTHING_CHANGED)  # before the status query: still on trial then
        trial = self._require_trial("confirm")
        if self.compare_config():
            raise self._more_than_the_trial()
        command, reply = self._first_accepted(self._ways("commit", trial, self._persist_id))
        self._require_accepted(command, reply)
        after = self._trial_status(_CONFIRM_UNKNOWN)
        if after.state != "INACTIVE":
            raise CommitConfirmException(
                f"{self.name}: the switch took the confirm but the trial is {after.state}, "
                f"{after.time_left} left"
            )
        if not same_configuration(self._running(_CONFIRM_UNKNOWN), on_trial):
            raise CommitConfirmException(
                f"{self.name}: the switch took the confirm but does not run what was on trial: the "
                "trial ended just before, or another user changed it; read the running "
                "configuration"
            )

    def abort_commit(self, persist_id: str = "") -> None:
        """Cancel a running trial: the switch restores its previous configuration at once.

        A trial that the switch is cancelling already is awaited. persist_id: of the trial, where it
        is not this driver's own. Raises CommitConfirmException when no trial runs, it has another
        id or is still there, OutcomeUnknownError.
        """
        trial = self._require_trial("abort")
        if trial.ending:
            self._require_ended("an abort")
            return
        ways = self._ways("abort trial", trial, persist_id or self._persist_id)
        command, reply = self._first_accepted(ways)
        refused = reply.failures and not reply.doubt
        if refused and not trial.persist_id and (other := self._trial_session()):
            command, reply = self._first_accepted((f"abort trial session {other}",))
        self._require_accepted(command, reply)
        self._require_ended(f"'{command}'")

    def has_pending_commit(self) -> bool:
        """Whether a trial runs or is being cancelled; CommitConfirmException if not reported."""
        return self.trial_status().state != "INACTIVE"

    def newest_commit(self) -> CommitEntry | None:
        """Return the newest commit in the switch's list; None: the release has no such list."""
        try:
            return commit(self._display(f"{LIST.command} verbose 1"))
        except CommandErrorException:
            return None

    def rollback(self) -> None:
        """Abort a running trial, otherwise undo the last commit (by any user).

        Raises CommitError, CommitConfirmException, CandidateNotOursError, OutcomeUnknownError.
        """
        if self.has_pending_commit():
            self.abort_commit()
            return
        self._user_view()
        command = "rollback configuration last 1"
        before = self._last_commit()
        reply = self._run(command, COMMIT_UNKNOWN, self._commit_timeout_s)
        if reply.refused and not reply.doubt:
            raise QuestionRefusedError(self.name, command, reply.refused, "nothing was rolled back")
        if reply.reports(_ROLLED_BACK, _ROLLING_BACK):
            return
        if reply.failures and not reply.doubt:
            self._refuse_foreign_trial(command, reply)
            raise CommitError(f"{self.name}: '{command}' failed: {reply.message}")
        if not self._was_rolled_back(before):
            raise self._lost(command, "no success was reported", COMMIT_UNKNOWN, reply.last)

    def _was_rolled_back(self, before: str | None) -> bool:
        """Whether there is a new commit that takes back the one before it.

        Another user's commit in between would leave a difference, and then it is not certain.
        """
        newest = self._last_commit()
        if not newest or before is None or newest == before:
            return False
        changes = self._displayed_twice(_LAST_TWO, COMMIT_UNKNOWN)
        return not parse.candidate_diff(changes)

    def _require_ended(self, command: str) -> None:
        """Wait while the switch cancels a trial; CommitConfirmException if it does not end."""
        deadline = time.monotonic() + self._commit_timeout_s
        while (now := self._trial_status(_CONFIRM_UNKNOWN)).ending and time.monotonic() < deadline:
            time.sleep(_ASK_AGAIN_S)
        if now.state != "INACTIVE":
            still = "still runs" if now.state == "ACTIVE" else f"is {now.state}"
            raise CommitConfirmException(
                f"{self.name}: the switch took {command} but the trial {still}, "
                f"{now.time_left} left"
            )

    def _more_than_the_trial(self) -> CommitError:
        if not self._loaded:
            return CandidateNotOursError(self.name, "a confirm would commit them too, so none went")
        return CommitError(
            f"{self.name}: a change that was loaded during the trial is not committed; a confirm "
            "would commit it too, so none went; discard it first"
        )

    def _require_trial(self, act: str) -> TrialStatus:
        self._system_view()
        status = self.trial_status()
        if status.state != "ACTIVE" and not (status.ending and act == "abort"):
            raise CommitConfirmException(
                f"{self.name}: no trial to {act} (it is {status.state}): it was confirmed, "
                "aborted, or has reverted; read the running configuration"
            )
        return status

    def _ways(self, verb: str, trial: TrialStatus, ours: str) -> tuple[str, ...]:
        """Return the commands that may finish this trial, the most certain first.

        The reference shows the id in the status of a trial that was started by NETCONF, and does
        not state whether the CLI shows it: so if no id is shown, our own id is tried, too.
        """
        shown = trial.persist_id
        if shown and shown != ours:
            raise CommitConfirmException(
                f"{self.name}: the trial has the persist id '{shown}', ours is "
                f"{repr(ours) if ours else 'not given'}: it is not touched; who started it "
                "finishes it (optional_args: persist_id)"
            )
        if shown or (ours and self._persists):
            return (f"{verb} persist {ours}",)
        if ours and self._persists is None:
            return (f"{verb} persist {ours}", verb)
        return (verb,)

    def _first_accepted(self, commands: tuple[str, ...]) -> tuple[str, SwitchReply]:
        """Send commands until one is not refused; return the last one sent and its reply."""
        for command in commands[:-1]:
            reply = self._run(command, _CONFIRM_UNKNOWN, self._commit_timeout_s)
            if not reply.failures or reply.doubt:
                return command, reply
        return commands[-1], self._run(commands[-1], _CONFIRM_UNKNOWN, self._commit_timeout_s)

    def _trial_session(self) -> str:
        """Return the number of the one session with a trial, as the CLI's help lists it; or "".

        Entered with `?`, the words before it are incomplete as a command: nothing is aborted.
        """
        helped = self._help("abort trial session", NOTHING_CHANGED)
        if framing.unsolicited(helped, self._connected().base_prompt):
            return ""  # a number may be truncated: another session could be aborted
        sessions: list[str] = re.findall(r"^\s*(\d+)\s+Session in trial", helped, re.MULTILINE)
        return sessions[0] if len(sessions) == 1 else ""

    def _require_accepted(self, command: str, reply: SwitchReply) -> None:
        """Raise CommitConfirmException for a refusal, with the trial's state from the switch.

        A reply that is mixed with other output is not a refusal: the running configuration decides.
        """
        if reply.doubt or not (reply.refused or reply.failures):
            return
        now = self._trial_status(_CONFIRM_UNKNOWN)
        if now.state == "INACTIVE":
            raise CommitConfirmException(
                f"{self.name}: '{command}' came too late, no trial runs any more: it ended by its "
                "timer, or another user confirmed or aborted it; read the running configuration"
            )
        self._refuse_foreign_trial(command, reply, now)
        within = "" if now.seconds_left is None else f" within {now.seconds_left} s"
        raise CommitConfirmException(
            f"{self.name}: '{command}' failed: {reply.refused or reply.message}; the trial keeps "
            f"its timer and reverts automatically{within}"
        )


class CloudEngineDriver(Trials, NetworkReader, NetworkDriver):  # type: ignore[misc]  # napalm is untyped
    """A CloudEngine switch (VRP8 V200, YunShan OS V300) in two-stage configuration mode.

    `timeout`: longest silence of the switch, in seconds. ValueError on wrong options.

    `optional_args`, besides the options of Netmiko's connection (`port`, `key_file`, `keepalive`,
    ..):

    - `name`: name of the switch in messages; the default is its address. A failed connection is
      always reported with address and port, because these have to be checked.
    - `ssh_known_hosts` (or `alt_key_file`): the known_hosts file; the default is the user's own. An
      unknown or changed host key is always refused; `ssh_strict` cannot be turned off.
    - `answers`: mapping of regular expression -> answer, before the default table of questions (see
      `parse.py`). A question that matches no row is answered no, and fails the call.
    - `commit_timeout_s`: longest silence during a commit, a rollback or a save (180).
    - `reply_timeout_s`: longest time of a whole reply (600); `timeout` bounds the whole login.
    - `persist_id`: id of the trials, so that a later session with the same id confirms or aborts
      them. Where the release does not support `persist`, the trial has no id; `trial_status` shows
      it.
    - `patcher`: a function of the running and the intended configuration, or its name
      `module:function`, which returns the commands between them; `load_replace_candidate` needs it.
    """

    platform = "cloudengine"  # as in NAPALM's own drivers; its tests require it
