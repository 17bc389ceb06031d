"""Rollouts on emulated switches and servers over real SSH, reset for each test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from outputs import hold
from shared_lab import SharedLab

from rocefort import tasks
from rocefort.dialects.vrp.interpreter.interpreter import apply_lines
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.fleet.running_configs import running_of
from rocefort.models.change.plan import Plan
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.controller import controller
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.rollout.journal.events import ActPhase, ApplyRules, Event, RolloutOutcome
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.plan.make_plan import make_plan
from rocefort.rollout.planning.sealed_files import sealed_files

EditHeps = Callable[..., Path]


@pytest.fixture
def lab(request: pytest.FixtureRequest) -> Iterator[Rehearsal]:
    """Switches that run HEPS's hall2: leaf07, leaf08 and both spines.

    All HEPS where a test is parametrized by the other shared lab, for more would be shown by it.
    """
    shared: SharedLab = request.getfixturevalue(getattr(request, "param", "hall_shared"))
    yield shared.lab
    shared.reset()


@pytest.fixture
def raised(edit_hall: EditHeps) -> Path:
    """Lab fabric with another threshold: the change of the rollout."""
    return edit_hall(("xoff_kbytes: 600", "xoff_kbytes: 640"))


@pytest.fixture
def described(edit_hall: EditHeps) -> Path:
    """Lab fabric with another description on a port of leaf07 and of leaf08: two waves."""
    return edit_hall(
        *(
            (f"  - name: readout0{n}\n", f"  - name: readout0{n}\n    description: detector {n}\n")
            for n in (3, 4)
        )
    )


@pytest.fixture(scope="session")
def made() -> dict[tuple[object, ...], Plan]:
    """Plans by the fabric's bytes and the running texts."""
    return {}


@pytest.fixture
def plan_of(lab: Rehearsal, made: dict[tuple[object, ...], Plan]) -> Callable[[Path], Plan]:
    """Seal a plan against the lab's running texts; a plan of another test is written again."""

    def seal(fabric: Path) -> Plan:
        running = running_of(fabric, lab.connections, None)
        key = fabric.read_bytes(), *running.items()
        if key not in made:
            made[key] = make_plan(fabric, lab.connections, running)
        own = {"source": str(fabric.resolve()), "files": sealed_files([fabric])}
        return made[key].model_copy(update=own).seal()

    return seal


@pytest.fixture
def apply_to(
    lab: Rehearsal, tmp_path: Path
) -> Callable[[Plan], tuple[RolloutOutcome, list[Event]]]:
    """Apply a plan to the lab; returns its outcome and every event."""

    def apply(plan: Plan) -> tuple[RolloutOutcome, list[Event]]:
        events: list[Event] = []
        return apply_plan(
            plan, lab.connections, RunDirectory.of_journal(tmp_path / "journal"), [events.append]
        ), events

    return apply


@pytest.fixture
def typed(lab: Rehearsal) -> Callable[..., None]:
    """Function that types, commits and saves lines on a switch before the test."""

    def run(name: str, *lines: str) -> None:
        switch = lab.switches[name]
        switch.running = switch.saved = apply_lines(switch.running, lines, switch.family)

    return run


@pytest.fixture
def apart(typed: Callable[..., None]) -> None:
    """leaf08 and spine01 without configuration of their session, to set it up with a password.

    Of one that is up, both ends would have to get it at once.
    """
    typed("leaf08", "bgp 65108", "undo peer 10.1.0.112", "quit")
    typed("spine01", "bgp 65000", "undo peer 10.1.0.113", "quit")


class Killed(BaseException):
    """Error of a dead controller: none of its acts has an effect."""


@pytest.fixture
def kill(lab: Rehearsal) -> Callable[..., None]:
    """Let a controller die at a moment; it neither acts nor writes afterwards.

    what: of the event's detail, as the leg of a drain.
    """

    def run(
        plan: Plan,
        journal: Path,
        act: str,
        phase: ActPhase,
        device: str = "leaf08",
        what: str = "",
        rules: ApplyRules | None = None,
    ) -> None:
        dead = False

        def listener(event: Event) -> None:
            nonlocal dead
            here = (event.act, event.phase, event.device) == (act, phase, device)
            dead = dead or (here and what in event.detail)
            if dead:
                raise Killed

        def nothing_more(*_: object) -> None:
            raise Killed

        with pytest.MonkeyPatch.context() as patch:
            # the way back of a living controller that meets a defect is not what dies
            patch.setattr(controller.RolloutLoop, "_fail", nothing_more)
            with suppress(Killed):
                apply_plan(
                    plan,
                    lab.connections,
                    RunDirectory.of_journal(journal),
                    [listener],
                    ApplyOptions(rules=rules),
                )
        assert dead

    return run


@dataclass(frozen=True)
class Ran:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """Output without the breaks of its lines."""
        return " ".join(self.out.split())


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ran]:
    """Run a command in this process, as a user types it."""

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["rocefort", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            tasks.app()
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        hold([str(each) for each in arguments], captured.out)
        return Ran(int(ended.value.code or 0), captured.out, captured.err)

    return run
