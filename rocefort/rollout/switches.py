"""The switches of a rollout, reached by Nornir and NAPALM; results are data, never exceptions."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from napalm.base.exceptions import NapalmException
from nornir.core import Nornir
from nornir.core.inventory import Host
from nornir.core.task import Result, Task

from rocefort.dialects.vrp.parse import Parsed, parse
from rocefort.dialects.vrp.secrets import filled
from rocefort.errors import BadInput, DeviceFailed, Refused, RocefortError
from rocefort.fleet.credentials import Secret
from rocefort.fleet.inventory import NEW_SESSION, SESSION
from rocefort.models.change import Change
from rocefort.models.network import Network
from rocefort.rollout.apply import Outcome, Standing, Standings
from rocefort.rollout.plan import running_digest


class Driver(Protocol):
    """The part of napalm_cloudengine that a rollout uses."""

    def get_config(self, retrieve: str) -> dict[str, str]: ...  # noqa: D102 - NAPALM's
    def get_bgp_neighbors(self) -> dict[str, dict[str, Any]]: ...  # noqa: D102
    def has_pending_commit(self) -> bool: ...  # noqa: D102
    def load_merge_candidate(self, *, config: str) -> None: ...  # noqa: D102
    def commit_config(self, message: str, revert_in: int) -> None: ...  # noqa: D102
    def confirm_commit(self) -> None: ...  # noqa: D102
    def abort_commit(self) -> None: ...  # noqa: D102
    def discard_config(self) -> None: ...  # noqa: D102
    def save_config(self) -> None: ...  # noqa: D102


Step = Callable[[Driver, Change], object]


def collect_running(nornir: Nornir, devices: Sequence[str]) -> dict[str, str]:
    """Running configuration by device; raises DeviceFailed with every switch that gave none."""
    results = _run(nornir, devices, lambda driver, _: driver.get_config("running")["running"])
    failed = [value for value in results.values() if isinstance(value, RocefortError)]
    if failed:
        raise DeviceFailed("\n".join(map(str, failed)))
    return {device: str(text) for device, text in results.items()}


@dataclass
class NapalmSwitches:
    """Switches by name in a Nornir inventory; implements rocefort.rollout.apply.Switches."""

    nornir: Nornir
    network: Network
    plan_digest: str
    settle_s: float = 30.0  # how long sessions may take to come back after a commit
    secrets: Mapping[str, Secret] = field(default_factory=dict)  # by reference, of all patches
    _sessions: dict[str, frozenset[str]] = field(default_factory=dict)  # up before the change
    _tried: set[str] = field(default_factory=set)  # devices that a `commit trial` went to

    def precheck(self, changes: Sequence[Change]) -> Standings:
        """Right switch, no trial pending, running as planned against or as intended already."""
        return self._standings(changes, self._precheck)

    def _precheck(self, driver: Driver, change: Change) -> Standing:
        _refuse_pending(driver, change)
        running = _read(driver, change)
        if running.device.name != change.device:
            raise Refused(
                f"the switch calls itself {running.device.name!r}",
                where=change.device,
                how="check its management address; nothing was changed on it",
            )
        self._sessions[change.device] = _established(driver)
        standing = self._standing(driver, change, running)
        if standing is None:
            raise Refused(
                "its running configuration is not the one that the plan was made against",
                where=change.device,
                how="plan again",
            )
        return standing

    def save(self, changes: Sequence[Change]) -> Outcome:
        """Save what runs."""
        return _errors(self._each(changes, lambda driver, _: driver.save_config()))

    def load(self, changes: Sequence[Change]) -> Outcome:
        """Load the patch; running and candidate together must be what was planned."""
        return _errors(self._each(changes, self._load))

    def trial(self, changes: Sequence[Change], seconds: int) -> Outcome:
        """`commit trial`; the plan's digest goes into the description."""
        message = f"rocefort plan {self.plan_digest[:12]}"

        def step(driver: Driver, change: Change) -> None:
            _refuse_pending(driver, change)  # someone else's: it must not be taken for ours
            self._tried.add(change.device)
            driver.commit_config(message, seconds)

        return _errors(self._each(changes, step))

    def check(self, changes: Sequence[Change]) -> Outcome:
        """Configuration read back as intended, BGP back up, and a new login still possible."""
        outcome = _errors(self._each(changes, self._check))
        return outcome | self._log_in([c for c in changes if c.device not in outcome])

    def _log_in(self, changes: Sequence[Change]) -> Outcome:
        """Log in once more: the session under way does not show that a change locked us out.

        That session stays open: on some releases a trial may end with the session it began in.
        """

        def step(driver: Driver, change: Change) -> None:
            self._expect(_read(driver, change), change, "seen from a new session")

        by_device = {change.device: change for change in changes}
        return _errors(_run(self.nornir, list(by_device), step, by_device, NEW_SESSION))

    def _check(self, driver: Driver, change: Change) -> None:
        self._expect(_read(driver, change), change, "after the trial commit")
        removed = {e.path for e in change.edits if e.after is None}
        wanted = {
            peer for peer in self._sessions[change.device] if f"bgp.peers[{peer}]" not in removed
        }
        deadline = time.monotonic() + self.settle_s
        while missing := wanted - _established(driver):
            if time.monotonic() > deadline:
                raise DeviceFailed(
                    f"BGP sessions did not come back: {', '.join(sorted(missing))}",
                    where=change.device,
                )
            time.sleep(min(1.0, self.settle_s / 5))

    def confirm(self, changes: Sequence[Change]) -> Outcome:
        """Check once more, for the gate took its time; confirm, read back, save."""
        return _errors(self._each(changes, self._confirm))

    def abort(self, changes: Sequence[Change]) -> Standings:
        """End the trial and the candidate of this rollout; read back where each switch stands."""
        return self._standings(changes, self._abort)

    def _load(self, driver: Driver, change: Change) -> None:
        known = {name: secret.reveal() for name, secret in self.secrets.items()}
        driver.load_merge_candidate(config="\n".join(filled(line, known) for line in change.patch))
        candidate = driver.get_config("candidate")["candidate"]
        parsed = parse(candidate, f"{change.device} (candidate)")
        self._expect(parsed, change, "with the patch loaded")

    def _confirm(self, driver: Driver, change: Change) -> None:
        self._check(driver, change)
        driver.confirm_commit()
        self._expect(_read(driver, change), change, "after the confirmation")
        driver.save_config()

    def _abort(self, driver: Driver, change: Change) -> Standing:
        tried = change.device in self._tried
        if tried and driver.has_pending_commit():
            driver.abort_commit()
        else:  # nothing of ours runs there, though someone else's trial may
            driver.discard_config()
            if tried and change.only_secrets:
                raise DeviceFailed(
                    "whether its trial was confirmed cannot be told: it shows no secret",
                    where=change.device,
                    how="plan the rotation again; to set a secret twice does no harm",
                )
        standing = self._standing(driver, change, _read(driver, change))
        if standing is None:
            raise DeviceFailed(
                "does not run what it ran before the change",
                where=change.device,
                how=f"compare it with the plan; the way back is: {' / '.join(change.reverse)}",
            )
        if standing is Standing.UNSAVED:  # confirmed, and stopped on the way to the save
            driver.save_config()
            standing = Standing.NEW
        return standing

    def _standing(self, driver: Driver, change: Change, running: Parsed) -> Standing | None:
        """What the switch runs and would start with; None where it is neither old nor new."""
        digest = self._digest(running, change)
        if digest == change.running_digest:
            return Standing.OLD
        if digest != change.intended_digest:
            return None
        try:
            startup = driver.get_config("startup")["startup"]
            saved = self._digest(parse(startup, f"{change.device} (saved)"), change)
        except BadInput:  # there is none, or none that can be read
            return Standing.UNSAVED
        return Standing.NEW if saved == digest else Standing.UNSAVED

    def _expect(self, found: Parsed, change: Change, when: str) -> None:
        if self._digest(found, change) != change.intended_digest:
            what = f"{when}, the switch does not run what was planned"
            raise DeviceFailed(what, where=change.device)

    def _digest(self, parsed: Parsed, change: Change) -> str:
        family = self.network.by_name[change.device].family
        if family is None:
            raise Refused("its syntax family is not known", where=change.device)
        return running_digest(parsed, family)

    def _standings(
        self, changes: Sequence[Change], step: Callable[[Driver, Change], Standing]
    ) -> Standings:
        return cast("Standings", self._each(changes, step))

    def _each(self, changes: Sequence[Change], step: Step) -> dict[str, object]:
        by_device = {change.device: change for change in changes}
        return _run(self.nornir, list(by_device), step, by_device)


def _run(
    nornir: Nornir,
    devices: Sequence[str],
    step: Callable[[Driver, Any], object],
    changes: Mapping[str, Change] | None = None,
    session: str = SESSION,
) -> dict[str, object]:
    """Run a step on every device at once; a device's value is its result or its error."""

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
    results = chosen.run(task=task, on_failed=True)  # cleanup must reach failed hosts too
    for name, result in results.items():
        host = chosen.inventory.hosts[name]
        values[name] = _error(host, result.exception) if result.failed else result[0].result
    return values


def _driver(task: Task, session: str) -> Driver:
    """The open session, or a new one where the last was lost: a wave must still be aborted."""
    driver = task.host.get_connection(session, task.nornir.config)
    if not driver.is_alive()["is_alive"]:
        task.host.close_connection(session)
        driver = task.host.get_connection(session, task.nornir.config)
    return cast("Driver", driver)


def _error(host: Host, error: BaseException | None) -> RocefortError:
    """What stopped a device, under its name, which the driver's sentences begin with."""
    if isinstance(error, RocefortError):
        return error
    text = " ".join(str(error).split()).removeprefix(f"{host.name}: ")
    if isinstance(error, NapalmException):
        return DeviceFailed(text, where=host.name)
    return DeviceFailed(f"{type(error).__name__}: {text}", where=host.name)


def _errors(results: Mapping[str, object]) -> Outcome:
    return {name: value for name, value in results.items() if isinstance(value, RocefortError)}


def _refuse_pending(driver: Driver, change: Change) -> None:
    if driver.has_pending_commit():
        raise Refused(
            "a trial is pending that this rollout did not start",
            where=change.device,
            how="wait for its timer, or confirm or abort it on the switch",
        )


def _read(driver: Driver, change: Change) -> Parsed:
    return parse(driver.get_config("running")["running"], f"{change.device} (running)")


def _established(driver: Driver) -> frozenset[str]:
    neighbours = driver.get_bgp_neighbors()
    return frozenset(
        peer
        for instance in neighbours.values()
        for peer, state in instance["peers"].items()
        if state["is_up"]
    )
