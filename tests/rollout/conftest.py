"""A HEPS lab for each test: ten emulated switches and twelve servers over real SSH."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from rocefort import tasks
from rocefort.design.derive import Derived
from rocefort.models.change import Plan
from rocefort.models.rollout import Applied, Event
from rocefort.steps.changing import apply_plan
from rocefort.steps.judging import subject_of_derived
from rocefort.steps.planning import make_plan, running_of
from rocefort.steps.rehearsal import Rehearsal, rehearse

EditHeps = Callable[..., Path]


@pytest.fixture
def lab(heps: Derived, tmp_path: Path) -> Iterator[Rehearsal]:
    """Switches that run HEPS as it is in the inventory."""
    subject = subject_of_derived(heps)
    with rehearse(subject.network, subject.texts, tmp_path / "lab") as running:
        yield running


@pytest.fixture
def raised(edit_heps: EditHeps) -> Path:
    """HEPS with another threshold: the change that is rolled out."""
    return edit_heps(("xoff_kbytes: 600", "xoff_kbytes: 640"))


@pytest.fixture
def described(edit_heps: EditHeps) -> Path:
    """HEPS with other words on one port of leaf07 and one of leaf08: two waves."""
    return edit_heps(
        *(
            (f"  - name: readout0{n}\n", f"  - name: readout0{n}\n    description: detector {n}\n")
            for n in (3, 4)
        )
    )


@pytest.fixture
def plan_of(lab: Rehearsal) -> Callable[[Path], Plan]:
    """Seal a plan against what the lab runs."""
    return lambda fabric: make_plan(
        fabric, lab.connections, running_of(fabric, lab.connections, None)
    )


@pytest.fixture
def apply_to(lab: Rehearsal, tmp_path: Path) -> Callable[[Plan], tuple[Applied, list[Event]]]:
    """Apply a plan to the lab; gives how it ended and every event."""

    def apply(plan: Plan) -> tuple[Applied, list[Event]]:
        events: list[Event] = []
        return apply_plan(plan, lab.connections, tmp_path / "journal", [events.append]), events

    return apply


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
        return Ran(int(ended.value.code or 0), said.out, said.err)

    return run


@pytest.fixture(scope="session")
def crashing() -> ModuleType:
    """Controllers that die where they are told to: crashing.py."""
    return helper("crashing")


@pytest.fixture(scope="session")
def killing() -> ModuleType:
    """Controller processes that are killed: killing.py."""
    return helper("killing")


def helper(name: str) -> ModuleType:
    """A module beside the tests that is no test."""
    spec = importlib.util.spec_from_file_location(
        f"rollout_{name}", Path(__file__).with_name(f"{name}.py")
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module
