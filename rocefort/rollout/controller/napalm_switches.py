"""Switches of a rollout over Nornir and NAPALM; results are data, never exceptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from napalm.base.exceptions import ConnectionClosedException, NapalmException
from nornir.core import Nornir
from nornir.core.inventory import Host
from nornir.core.task import Result, Task

from rocefort.base import internal_errors
from rocefort.base.clock import Clock
from rocefort.base.errors import DeviceFailed, RocefortError
from rocefort.base.exit_codes import ExitCode
from rocefort.fleet.credentials import Secret
from rocefort.fleet.inventory import NEW_SESSION, SESSION
from rocefort.fleet.nornir_session import run_task
from rocefort.fleet.secret_masking import masked
from rocefort.models.fabric.trial_time import SETTLE_S, TrialLength
from rocefort.models.network.network import Network
from rocefort.models.rollout.events import RolloutProblem, SwitchState
from rocefort.models.rollout.plan import Change
from rocefort.rollout.controller.device_steps import DeviceSteps, RolloutDriver, pending_trial
from rocefort.rollout.controller.protocols import Baseline, Outcome
from rocefort.rollout.controller.trial_label import TrialLabel
from rocefort.rollout.planning.pending_trials import ForeignTrial

Step = Callable[[RolloutDriver, Change], object]


def collect_running(nornir: Nornir, devices: Sequence[str]) -> dict[str, str]:
    """Running configuration by device; raises DeviceFailed with every switch without one."""
    results = _run(nornir, devices, lambda driver, _: driver.get_config("running")["running"])
    failed = [value for value in results.values() if isinstance(value, RocefortError)]
    if failed:
        raise DeviceFailed("\n".join(map(str, failed)))
    return {device: str(text) for device, text in results.items()}


def collect_trials(
    nornir: Nornir, devices: Sequence[str]
) -> dict[str, ForeignTrial | RocefortError | None]:
    """Trial of each device, or the error of reading it; None if no trial runs."""
    results = _run(nornir, devices, lambda driver, _: pending_trial(driver))
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
        again = [c for c in changes if isinstance(states[c.device], _SessionLost)]
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
        return _run(self._nornir, list(by_device), step, by_device, session)


class _SessionLost(DeviceFailed):
    """Error of a lost session; a new session may work."""


def _name_trials(host: Host, name: str) -> None:
    """Set the persist id of a switch's trials, by which a later controller finds them."""
    for session in (SESSION, NEW_SESSION):
        extras = host.connection_options[session].extras or {}
        extras = {**extras, "optional_args": {**extras["optional_args"], "persist_id": name}}
        host.connection_options[session].extras = extras


def _run(
    nornir: Nornir,
    devices: Sequence[str],
    step: Callable[[RolloutDriver, Any], object],
    changes: Mapping[str, Change] | None = None,
    session: str = SESSION,
) -> dict[str, object]:
    """Run a step on all devices at once; return each device's result or error."""

    def task(task: Task) -> Result:
        change = changes[task.host.name] if changes else None
        try:
            return Result(host=task.host, result=step(_driver(task, session), change))
        finally:
            if session != SESSION and session in task.host.connections:
                task.host.close_connection(session)

    chosen = nornir.filter(filter_func=lambda host: host.name in set(devices))
    absent = [device for device in devices if device not in chosen.inventory.hosts]
    values: dict[str, object] = {
        name: DeviceFailed("is not in the connections", where=name, how="add its address")
        for name in absent
    }
    results = run_task(chosen, task)  # cleanup must reach failed hosts too
    for name, result in results.items():
        host = chosen.inventory.hosts[name]
        failed = result.exception
        values[name] = _error(host, failed) if failed else result[0].result
    return values


def _driver(task: Task, session: str) -> RolloutDriver:
    """Return the open session, or a new one if it was lost: an abort must remain possible."""
    driver = task.host.get_connection(session, task.nornir.config)
    if not driver.is_alive()["is_alive"]:
        task.host.close_connection(session)
        driver = task.host.get_connection(session, task.nornir.config)
    return cast("RolloutDriver", driver)


class _Defect(DeviceFailed):
    """Internal error at a device; its traceback is written to a file."""

    exit_code = ExitCode.INTERNAL

    def __init__(self, device: str, error: BaseException) -> None:
        what, how = internal_errors.error_report(error)
        super().__init__(what, where=device, how=how)


def _error(host: Host, error: BaseException) -> RocefortError:
    """Error of a device with its name once; the driver's messages begin with it too."""
    if isinstance(error, RocefortError):
        return error
    text = masked(" ".join(str(error).split()).removeprefix(f"{host.name}: "))
    if isinstance(error, ConnectionClosedException):
        return _SessionLost(text, where=host.name)
    if isinstance(error, NapalmException):
        return DeviceFailed(text, where=host.name)
    return _Defect(host.name, error)


def _switch_state(value: object) -> SwitchState:
    if isinstance(value, RocefortError):
        return SwitchState(trouble=RolloutProblem(str(value), value.exit_code))
    return cast("SwitchState", value)


def _errors(results: Mapping[str, object]) -> Outcome:
    return {name: value for name, value in results.items() if isinstance(value, RocefortError)}
