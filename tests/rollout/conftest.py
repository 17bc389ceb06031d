"""Rollouts on emulated switches and servers over real SSH, which are fresh for each test."""

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
from rocefort.models.rollout.events import ApplyRules, Event, Phase, RolloutOutcome
from rocefort.models.rollout.plan import Plan
from rocefort.rollout.controller import controller
from rocefort.rollout.controller.apply_options import ApplyOptions
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.planning.sealed_files import sealed_files
from rocefort.steps.lab.emulated_site import Rehearsal
from rocefort.steps.rollout.apply import apply_plan
from rocefort.steps.rollout.plan import make_plan, running_of

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
    """The lab's fabric with another threshold: the change that is rolled out."""
    return edit_hall(("xoff_kbytes: 600", "xoff_kbytes: 640"))


@pytest.fixture
def described(edit_hall: EditHeps) -> Path:
    """The lab's fabric with other words on one port of leaf07 and one of leaf08: two waves."""
    return edit_hall(
        *(
            (f"  - name: readout0{n}\n", f"  - name: readout0{n}\n    description: detector {n}\n")
            for n in (3, 4)
        )
    )


@pytest.fixture(scope="session")
def made() -> dict[tuple[object, ...], Plan]:
    """Plans by the fabric's bytes and by what ran."""
    return {}


@pytest.fixture
def plan_of(lab: Rehearsal, made: dict[tuple[object, ...], Plan]) -> Callable[[Path], Plan]:
    """Seal a plan against what the lab runs; where another test has made it, only its file differs."""

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
    """Apply a plan to the lab; gives how it ended and every event."""

    def apply(plan: Plan) -> tuple[RolloutOutcome, list[Event]]:
        events: list[Event] = []
        return apply_plan(
            plan, lab.connections, RunDirectory.of_journal(tmp_path / "journal"), [events.append]
        ), events

    return apply


@pytest.fixture
def typed(lab: Rehearsal) -> Callable[..., None]:
    """Let a switch run and have saved what somebody has typed there before the test."""

    def run(name: str, *lines: str) -> None:
        switch = lab.switches[name]
        switch.running = switch.saved = apply_lines(switch.running, lines, switch.family)

    return run


@pytest.fixture
def apart(typed: Callable[..., None]) -> None:
    """leaf08 and spine01 know nothing of each other: their session can be set up with a password.

    Of one that is up, both ends would have to get it at once.
    """
    typed("leaf08", "bgp 65108", "undo peer 10.1.0.112", "quit")
    typed("spine01", "bgp 65000", "undo peer 10.1.0.113", "quit")


class Killed(BaseException):
    """Nothing that this controller does gets through any more."""


@pytest.fixture
def kill(lab: Rehearsal) -> Callable[..., None]:
    """Let a controller die at a moment; it does and writes nothing after it.

    what: of the event's detail, as the leg of a drain.
    """

    def run(
        plan: Plan,
        journal: Path,
        act: str,
        phase: Phase,
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
    """How a command ended, and what it printed."""

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
    """Run a command in this process, as somebody types it."""

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["rocefort", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            tasks.app()
        said = capsys.readouterr()
        assert "Traceback" not in said.out + said.err
        hold([str(each) for each in arguments], said.out)
        return Ran(int(ended.value.code or 0), said.out, said.err)

    return run
