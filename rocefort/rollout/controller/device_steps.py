"""Commit-trial workflow for one device over NAPALM.

The steps are observe, precheck, load, trial, check, confirm, save and abort. Each receives the
driver of the session that is open now. A switch does not report which session a candidate or a
trial belongs to, so the object `DeviceSteps` remembers it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from napalm.base.exceptions import CommitError

from rocefort.base.errors import BadInput, DeviceFailed, Refused
from rocefort.base.secret_references import Secret
from rocefort.change.effects.switch_configs import running_digest
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.secrets import filled_line
from rocefort.models.change.plan import Change
from rocefort.models.fabric.trial_time import SETTLE_S, TrialLength
from rocefort.models.hardware.hardware import Family
from rocefort.rollout.controller.device_state import STEP_NAMES, UNDONE
from rocefort.rollout.controller.protocols import Baseline
from rocefort.rollout.journal.events import RolloutProblem, RunningConfig, SwitchState, TrialOwner
from rocefort.rollout.journal.pending_trials import (
    END_OF_FOREIGN,
    Commit,
    ForeignTrial,
    OwnTrial,
    ShownTrial,
    TrialClaim,
    TrialLabel,
    described,
    owner_of,
    run_on_switch,
    time_left,
)

LOG = logging.getLogger(__name__)


class RolloutDriver(Protocol):
    """The part of napalm_cloudengine that a rollout uses."""

    def get_config(self, retrieve: str) -> dict[str, str]: ...  # noqa: D102 - NAPALM's
    def get_bgp_neighbors(self) -> dict[str, dict[str, Any]]: ...  # noqa: D102
    def compare_config(self) -> str: ...  # noqa: D102
    def trial_status(self) -> ShownTrial: ...  # noqa: D102
    def newest_commit(self) -> Commit | None: ...  # noqa: D102
    def load_merge_candidate(self, *, config: str) -> None: ...  # noqa: D102
    def commit_trial(self, message: str, seconds: int, plain_seconds: int) -> None: ...  # noqa: D102
    @property
    def trial_has_id(self) -> bool | None: ...  # noqa: D102
    def confirm_commit(self) -> None: ...  # noqa: D102
    def abort_commit(self, persist_id: str = "") -> None: ...  # noqa: D102
    def discard_config(self) -> None: ...  # noqa: D102
    def save_config(self) -> None: ...  # noqa: D102


def pending_trial(driver: RolloutDriver) -> ForeignTrial | None:
    """Trial that runs on a switch, of any owner."""
    trial = driver.trial_status()
    if trial.state == "INACTIVE":
        return None
    plan, run = run_on_switch(trial.persist_id, described(driver.newest_commit()))
    return ForeignTrial(trial.seconds_left, plan, run, trial.persist_id)


@dataclass(frozen=True, slots=True)
class ConfigIdentity:
    """Identity of a configuration text: name of the switch, digest of its meaning."""

    name: str
    digest: str


@dataclass
class DeviceSteps:
    """Steps of one run; several switches may be changed at once.

    settle_s: the longest time for sessions to come back after a commit. clock, sleep: of this
    machine, for that wait; the time that a trial has left is read from its switch.
    """

    label: TrialLabel
    families: Mapping[str, Family | None]
    secrets: Mapping[str, Secret] = field(default_factory=dict)  # by reference, of all patches
    settle_s: float = SETTLE_S
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _loaded: dict[str, RolloutDriver] = field(
        default_factory=dict
    )  # session whose candidate holds the patch
    _began: dict[str, OwnTrial] = field(default_factory=dict)  # the newest trial
    running: dict[str, str] = field(default_factory=dict)  # by device, the newest text
    _words: dict[str, str] = field(default_factory=dict)  # words of the newest trial
    _identities: dict[tuple[str, str], ConfigIdentity] = field(
        default_factory=dict
    )  # by device and text

    # --- reading ----------------------------------------------------------------------------------

    def observe(self, driver: RolloutDriver, parts: Sequence[Change]) -> SwitchState:
        """State of the switch from its own output. parts: its change, or the three of a drain."""
        change = parts[0]
        running = driver.get_config("running")["running"]
        identity = self._config_identity(running, change, "running")
        if identity.name != change.device:
            what = f"the switch reports the name {identity.name!r}"
            how = "check its management address; nothing was changed on it"
            return SwitchState(trouble=RolloutProblem(f"{change.device}: {what}; {how}", 4))
        self.running[change.device] = running
        trial, newest = driver.trial_status(), driver.newest_commit()
        at = _state(identity.digest, parts, self._words_of(driver, change, newest))
        owner = self._owner(driver, trial, newest, parts, lambda: identity.digest)
        whose = owner.whose
        loaded = self._loaded.get(change.device) is driver
        if whose is TrialOwner.NONE and not loaded and driver.compare_config():
            what = "its candidate holds changes that this rollout did not load"
            how = "let their owner commit or clear them"
            return SwitchState(trouble=RolloutProblem(f"{change.device}: {what}; {how}", 4))
        pending = whose is not TrialOwner.NONE
        runs = _runs(at, len(parts))
        is_planned = runs is RunningConfig.TARGET or (
            len(parts) > 1 and runs is not RunningConfig.UNKNOWN
        )
        return SwitchState(
            runs=runs,
            at=max(at, 0),
            saved=is_planned and not pending and self._saved(driver, change, identity.digest),
            trial=whose,
            held=whose is TrialOwner.THIS_RUN and self._held(driver, change, trial),
            left_s=self._left_s(driver, change, trial) if pending else 0,
            trial_id=self._trial_id(driver, change, trial) if pending else None,
            loaded=loaded,
            other_run=owner.run if whose is TrialOwner.OTHER else "",
        )

    def _owner(
        self,
        driver: RolloutDriver,
        trial: ShownTrial,
        newest: Commit | None,
        parts: Sequence[Change],
        running: Callable[[], str],
    ) -> TrialClaim:
        """Owner of the trial. running: digest of what runs."""
        device, states = parts[0].device, _states(parts)
        begun = self.label.left_trials or device in self._began
        led = states if len(parts) > 1 else states[1:]  # a drain is rolled back by trials, too
        return owner_of(
            self.label,
            trial,
            newest,
            self._own_trial(driver, parts[0]),
            led_to=lambda words: running() == dict(enumerate(states)).get(_led_to(words, parts)),
            may_be_ours=lambda: begun and running() in led,
        )

    def _own_trial(self, driver: RolloutDriver, change: Change) -> OwnTrial | None:
        """Trial that this session began, until its timer may have ended it."""
        began = self._began.get(change.device)
        mine = began is not None and began.session is driver and self.clock() <= began.ends_by
        return began if mine else None

    def _words_of(self, driver: RolloutDriver, change: Change, newest: Commit | None) -> str | None:
        """Words of the newest commit if it is of this plan; None if it is not, or has none.

        If the switch does not list the commit, the words are those that this session committed. A
        commit that the switch makes at the end of a trial has no words.
        """
        began = self._began.get(change.device)
        if began is not None and began.session is driver and newest == began.newest:
            return self._words.get(change.device)
        mark = self.label.read(described(newest))
        return mark[1] if mark else None

    def _held(self, driver: RolloutDriver, change: Change, trial: ShownTrial) -> bool:
        """Whether this session can confirm a trial: it began the trial, or has its persist id."""
        if trial.state != "ACTIVE":
            return False
        mine = self._own_trial(driver, change) is not None
        return mine or trial.persist_id == self.label.persist_id

    def _left_s(self, driver: RolloutDriver, change: Change, trial: ShownTrial) -> int | None:
        """Seconds left of the trial; a lower bound by our clock if the switch does not show them.

        None if neither is available.
        """
        began = self._own_trial(driver, change)
        if trial.seconds_left is not None or began is None:
            return trial.seconds_left
        return max(0, int(began.ends_from - self.clock()))

    def _trial_id(self, driver: RolloutDriver, change: Change, trial: ShownTrial) -> str | None:
        """Id by which any session ends the trial; "": it has none, None: the switch shows none.

        A release may not show the id of a trial that has one.
        """
        if trial.persist_id or self._own_trial(driver, change) is None:
            return trial.persist_id or None
        ids = {None: None, True: self.label.persist_id, False: ""}
        return ids[driver.trial_has_id]

    def _saved(self, driver: RolloutDriver, change: Change, digest: str) -> bool:
        text = driver.get_config("startup")["startup"]
        try:
            return self._config_identity(text, change, "saved").digest == digest
        except BadInput:  # it is missing or unreadable
            return False

    def precheck(self, driver: RolloutDriver, change: Change) -> Baseline:
        """Return running text and BGP sessions; raises Refused if the text is not as planned."""
        refuse_pending(driver, change)
        text = driver.get_config("running")["running"]
        if self._config_identity(text, change, "running").digest != change.running_digest:
            raise Refused(
                "its running configuration is not the one that the plan was made against",
                where=change.device,
                how="plan again",
            )
        self._refuse_unsaved(driver, change)
        return Baseline(text, established(driver))

    def _refuse_unsaved(self, driver: RolloutDriver, change: Change) -> None:
        """Raise Refused if the switch would run another configuration after a reload."""
        saved = driver.get_config("startup")["startup"]
        try:
            same = self._config_identity(saved, change, "saved").digest == change.running_digest
        except BadInput:  # it is missing or unreadable
            same = False
        if not same:
            raise Refused(
                "its running configuration is not saved",
                where=change.device,
                how="save it on the switch, or restore the saved configuration and plan again",
            )

    # --- changes ----------------------------------------------------------------------------------

    def load(self, driver: RolloutDriver, change: Change) -> None:
        """Load the patch; the comparison and the candidate of the switch must match the plan."""
        passwords = {name: secret.reveal() for name, secret in self.secrets.items()}
        driver.load_merge_candidate(
            config="\n".join(filled_line(line, passwords) for line in change.patch)
        )
        self._loaded[change.device] = driver
        self._expect_planned(driver, change)
        candidate = driver.get_config("candidate")["candidate"]
        self._expect(
            self._config_identity(candidate, change, "candidate"), change, "with the patch loaded"
        )

    def _expect_planned(self, driver: RolloutDriver, change: Change) -> None:
        """Compare the loaded patch with the plan by meaning; discard a patch that differs."""
        text, comparison = driver.get_config("running")["running"], driver.compare_config()
        family = self._family(change)
        differs = dialect_of(family).same_change(change, comparison, text, family)
        if differs:
            del self._loaded[change.device]
            driver.discard_config()
            what = "the switch would not change what was planned: " + "; ".join(differs)
            raise DeviceFailed(what, where=change.device, how="plan again, or inspect the switch")

    def trial(
        self, driver: RolloutDriver, change: Change, length: TrialLength, word: str = ""
    ) -> None:
        """Begin a trial commit; its description has plan, run and the words of the drain step."""
        refuse_pending(driver, change)  # a trial of another owner must not count as ours
        newest, begins = driver.newest_commit(), self.clock()
        self._words.pop(change.device, None)
        self._loaded.pop(change.device, None)
        self._began.pop(change.device, None)
        refused = False
        try:
            LOG.info("%s: trial commit for %s s", change.device, length.named)
            driver.commit_trial(self.label.description(word), length.named, length.plain)
            self._words[change.device] = word
        except CommitError:  # a trial that runs now has another owner
            refused = True
            raise
        finally:  # the result may be unknown: the trial may run
            if not refused:
                least, most = length.bounds(driver.trial_has_id)
                ends = begins + least, self.clock() + most
                self._began[change.device] = OwnTrial(driver, newest, *ends)

    def check(self, driver: RolloutDriver, change: Change, before: Collection[str]) -> None:
        """Check that the switch runs the target, and that BGP sessions are up as before."""
        self._expect_running(driver, change, "after the trial commit")
        removed = {edit.path for edit in change.edits if edit.after is None}
        expected = {peer for peer in before if f"bgp.peers[{peer}]" not in removed}
        deadline = self.clock() + self.settle_s
        while missing := expected - established(driver):
            if self.clock() > deadline:
                raise DeviceFailed(
                    f"BGP sessions did not come back: {', '.join(sorted(missing))}",
                    where=change.device,
                )
            self.sleep(min(1.0, self.settle_s / 5))

    def check_in_new_session(self, driver: RolloutDriver, change: Change) -> None:
        """Read the target from a new session: the change may have caused a lockout."""
        self._expect_running(driver, change, "seen from a new session")

    def confirm(self, driver: RolloutDriver, change: Change, before: Collection[str]) -> None:
        """Check again after the gate, confirm the trial and read the configuration back."""
        self.check(driver, change, before)
        driver.confirm_commit()
        self._expect_running(driver, change, "after the confirmation")

    def abort(self, driver: RolloutDriver, change: Change) -> None:
        """End the trial or the candidate of this run, and no other."""
        trial, newest = driver.trial_status(), driver.newest_commit()

        def running() -> str:
            return self._config_identity(
                driver.get_config("running")["running"], change, "running"
            ).digest

        owner = self._owner(driver, trial, newest, [change], running)
        if owner.whose is TrialOwner.THIS_RUN:
            driver.abort_commit(trial.persist_id)  # perhaps of an earlier run of this journal
            self._words.pop(change.device, None)
        elif self._loaded.pop(change.device, None) is driver:
            driver.discard_config()

    def _expect_running(self, driver: RolloutDriver, change: Change, when: str) -> None:
        text = driver.get_config("running")["running"]
        self._expect(self._config_identity(text, change, "running"), change, when)

    @staticmethod
    def _expect(identity: ConfigIdentity, change: Change, when: str) -> None:
        if identity.digest != change.intended_digest:
            what = f"{when}, the switch does not run what was planned"
            raise DeviceFailed(what, where=change.device)

    def _config_identity(self, text: str, change: Change, kind: str) -> ConfigIdentity:
        """Identity of a text, cached: an unchanged switch shows the same text many times."""
        key = (change.device, text)
        if key not in self._identities:
            family = self._family(change)
            parsed = dialect_of(family).parse(text, f"{change.device} ({kind})")
            digest = running_digest(parsed, family)
            self._identities[key] = ConfigIdentity(parsed.device.name, digest)
        return self._identities[key]

    def _family(self, change: Change) -> Family:
        family = self.families[change.device]
        if family is None:
            raise Refused("its syntax family is not known", where=change.device)
        return family


def _state(digest: str, parts: Sequence[Change], newest: str | None) -> int:
    """Number of the state that a switch runs, -1 for none of the planned ones.

    No text shows a secret, so two states may have one digest. Then the words of the newest commit
    decide.
    """
    states = _states(parts)
    matches = [at for at, state in enumerate(states) if state == digest]
    if len(matches) > 1 and newest is not None:
        came = _led_to(newest, parts)
        return came if came in matches else matches[0]
    return matches[0] if matches else -1


def _states(parts: Sequence[Change]) -> tuple[str, ...]:
    """Digests of the successive states of a switch."""
    return (parts[0].running_digest, *(part.intended_digest for part in parts))


def _led_to(newest: str, parts: Sequence[Change]) -> int:
    """Number of the state that a commit with these words led to."""
    if len(parts) == 1:
        return 1
    name, back = newest.removesuffix(UNDONE), newest.endswith(UNDONE)
    return STEP_NAMES.index(name) + (not back) if name in STEP_NAMES else -1


def _runs(at: int, parts: int) -> RunningConfig:
    if at < 0:
        return RunningConfig.UNKNOWN
    return {0: RunningConfig.BASELINE, parts: RunningConfig.TARGET}.get(
        at, RunningConfig.INTERMEDIATE
    )


def refuse_pending(driver: RolloutDriver, change: Change) -> None:
    """Raise Refused if a trial is pending."""
    trial = driver.trial_status()
    if trial.state != "INACTIVE":
        what = f"a trial is pending that this rollout did not start{time_left(trial.seconds_left)}"
        raise Refused(what, where=change.device, how=END_OF_FOREIGN)


def established(driver: RolloutDriver) -> frozenset[str]:
    """BGP peers whose sessions are up."""
    neighbours = driver.get_bgp_neighbors()
    return frozenset(
        peer
        for instance in neighbours.values()
        for peer, state in instance["peers"].items()
        if state["is_up"]
    )
