"""Switches of a rollout over Nornir and NAPALM; results are data, never exceptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from nornir.core import Nornir
from nornir.core.inventory import Host

from rocefort.base.clock import Clock
from rocefort.base.errors import RocefortError
from rocefort.base.secret_references import Secret
from rocefort.fleet.inventory import NEW_SESSION, SESSION
from rocefort.fleet.switch_steps import SessionLost, run_on_switches
from rocefort.models.change.plan import Change
from rocefort.models.fabric.trial_time import SETTLE_S, TrialLength
from rocefort.models.network.network import Network
from rocefort.rollout.controller.device_steps import DeviceSteps, RolloutDriver, pending_trial
from rocefort.rollout.controller.protocols import Baseline, Outcome
from rocefort.rollout.journal.events import RolloutProblem, SwitchState
from rocefort.rollout.journal.pending_trials import ForeignTrial, TrialLabel

Step = Callable[[RolloutDriver, Change], object]


def collect_trials(
    nornir: Nornir, devices: Sequence[str]
) -> dict[str, ForeignTrial | RocefortError | None]:
    """Trial of each device, or the error of reading it; None if no trial runs."""
    results = run_on_switches(nornir, devices, lambda driver, _: pending_trial(driver))
    return cast("dict[str, ForeignTrial | RocefortError | None]", results)


class NapalmSwitches:
    """Switches by name in a Nornir inventory; implements
    rocefort.rollout.controller.controller.Switches."""

    def __init__(  # noqa: PLR0913, PLR0917 - switches, identity and waits
        self,
        nornir: Nornir,
        network: Network,
        label: TrialLabel,
        secrets: Mapping[str, Secret] | None = None,
        settle_s: float = SETTLE_S,
        clock: Clock | None = None,
    ) -> None:
        self._nornir = nornir
        families = {node.name: node.family for node in network.nodes}
        clock = clock or Clock()
        self._steps = DeviceSteps(
            label, families, secrets or {}, settle_s, clock=clock.now, sleep=clock.sleep
        )
        for node in network.nodes:
            _name_trials(nornir.inventory.hosts[node.name], label.persist_id)

    @property
    def running(self) -> Mapping[str, str]:
        """Running text of each switch from its last observation."""
        return self._steps.running

    def observe(self, ways: Sequence[Sequence[Change]]) -> dict[str, SwitchState]:
        """State of each switch; a switch with a lost session is read once more in a new one."""
        by_device = {parts[0].device: parts for parts in ways}
        changes = [parts[0] for parts in ways]

        def look(driver: RolloutDriver, change: Change) -> SwitchState:
            return self._steps.observe(driver, by_device[change.device])

        states = self._each(changes, look)
        again = [c for c in changes if isinstance(states[c.device], SessionLost)]
        states |= self._each(again, look) if again else {}
        return {name: _switch_state(value) for name, value in states.items()}

    def precheck(self, changes: Sequence[Change]) -> dict[str, Baseline | RocefortError]:
        """State before the first act."""
        return cast(
            "dict[str, Baseline | RocefortError]", self._each(changes, self._steps.precheck)
        )

    def load(self, changes: Sequence[Change]) -> Outcome:
        """Load the patch; running and candidate together must be what was planned."""
        return _errors(self._each(changes, self._steps.load))

    def trial(
        self, changes: Sequence[Change], length: TrialLength, words: Mapping[str, str]
    ) -> Outcome:
        """Begin a trial commit; its description has plan, run and the words of the drain step."""
        steps = self._steps
        return _errors(self._each(changes, lambda d, c: steps.trial(d, c, length, words[c.device])))

    def check(self, changes: Sequence[Change], before: Mapping[str, frozenset[str]]) -> Outcome:
        """Check configuration and BGP sessions, and that a new login is possible."""
        outcome = _errors(
            self._each(changes, lambda d, c: self._steps.check(d, c, before[c.device]))
        )
        # The session that made the change stays open beside the new one: on some releases a trial
        # ends with the session that it began in.
        passed = [change for change in changes if change.device not in outcome]
        return {
            **outcome,
            **_errors(self._each(passed, self._steps.check_in_new_session, NEW_SESSION)),
        }

    def confirm(self, changes: Sequence[Change], before: Mapping[str, frozenset[str]]) -> Outcome:
        """Check again, confirm, and read the configuration back."""
        return _errors(
            self._each(changes, lambda d, c: self._steps.confirm(d, c, before[c.device]))
        )

    def save(self, changes: Sequence[Change]) -> Outcome:
        """Save the running configuration."""
        return _errors(self._each(changes, lambda driver, _: driver.save_config()))

    def abort(self, changes: Sequence[Change]) -> Outcome:
        """End the trial and the candidate of this rollout."""
        return _errors(self._each(changes, self._steps.abort))

    def _each(
        self, changes: Sequence[Change], step: Step, session: str = SESSION
    ) -> dict[str, object]:
        by_device = {change.device: change for change in changes}
        return run_on_switches(self._nornir, list(by_device), step, by_device, session)


def _name_trials(host: Host, name: str) -> None:
    """Set the persist id of a switch's trials, by which a later controller finds them."""
    for session in (SESSION, NEW_SESSION):
        extras = host.connection_options[session].extras or {}
        extras = {**extras, "optional_args": {**extras["optional_args"], "persist_id": name}}
        host.connection_options[session].extras = extras


def _switch_state(value: object) -> SwitchState:
    if isinstance(value, RocefortError):
        return SwitchState(trouble=RolloutProblem(str(value), value.exit_code))
    return cast("SwitchState", value)


def _errors(results: Mapping[str, object]) -> Outcome:
    return {name: value for name, value in results.items() if isinstance(value, RocefortError)}
