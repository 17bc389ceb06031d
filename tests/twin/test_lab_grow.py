"""Growth of a running lab: a spine by `expand`, `lab grow`, `plan`, `apply`, while servers send."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from twin_labs import HARDWARE, HEPS, PATIENT_S, commands_see

from rocefort import tasks
from rocefort.base.errors import Refused, ServiceFailed
from rocefort.change.expand import GrowthOptions, expand, wanted_of
from rocefort.design.new import Size, new_fabric, write_new
from rocefort.fleet.connections import load_connections
from rocefort.fleet.running_configs import running_of
from rocefort.lab.bring_up import bring_up
from rocefort.lab.experiments.fault_injection import FailoverOptions
from rocefort.lab.experiments.under_load import session_counts, under_load
from rocefort.lab.grow_running import grow_running
from rocefort.lab.network import await_law, running_network
from rocefort.lab.twin.faults import break_lab, mend_lab
from rocefort.lab.twin.registry import Registry, lines_directory, namespaces_of, processes_of
from rocefort.lab.twin.status import status_of
from rocefort.lab.twin.twin import Twin, TwinOptions, take_down
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.journal.events import Event
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.plan.make_plan import make_plan

pytestmark = pytest.mark.twin
GROW = """
import sys
from pathlib import Path
from rocefort.lab.twin.registry import Registry
from rocefort.lab.twin.twin import Twin
from rocefort.lab.grow_running import grow_running

twin = Twin.find("small", Registry(Path(sys.argv[1])))
print("begins", flush=True)
grow_running(twin, Path(sys.argv[2]))
"""


def more_spines(fabric: Path, folder: Path) -> Path:
    """Return a copy of a fabric with one more spine."""
    path = folder / "fabric.yaml"
    path.write_bytes(fabric.read_bytes())
    expand(path, wanted_of(GrowthOptions(1, 0, 0))).versions.write()
    return path


@pytest.fixture(scope="module")
def grown(small_fabric: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return more_spines(small_fabric, tmp_path_factory.mktemp("grown"))


@pytest.fixture(scope="module")
def larger(grown: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return more_spines(grown, tmp_path_factory.mktemp("larger"))


@pytest.fixture(scope="module")
def lab(registry: Registry, small_fabric: Path) -> Iterator[Twin]:
    """Two spines and two leaves, which grow twice."""
    with commands_see(registry):
        yield bring_up(small_fabric, "small", TwinOptions(bfd=False), lambda _: None)
        if "small" in registry.names():
            take_down("small", registry)


@pytest.fixture
def twin(lab: Twin) -> Twin:
    """Return the lab as it is now."""
    return Twin.find("small", lab.registry)


def connections(twin: Twin) -> Path:
    return lines_directory(twin.registry, twin.record) / "connections.yaml"


def grow_by_command(fabric: Path) -> None:
    """Run the commands of a user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["rocefort", "lab", "grow", "small", str(fabric)])
        with pytest.raises(SystemExit) as ended:
            tasks.app()
    assert not ended.value.code


def rolled_out(twin: Twin, fabric: Path, journal: Path) -> tuple[str, ...]:
    """Grow, plan and apply; returns the confirmed switches."""
    lives = session_counts(twin)
    grow_by_command(fabric)
    assert all(life.is_same_session(session_counts(twin).get(name)) for name, life in lives.items())
    access = load_connections(connections(twin))
    plan = make_plan(fabric, access, running_of(fabric, access, None))
    events: list[Event] = []
    done = apply_plan(plan, access, RunDirectory.of_journal(journal), [events.append])
    assert done.failure == ""
    now = Twin.find("small", twin.registry)
    assert await_law(now, running_network(now), (), PATIENT_S).holds
    return done.confirmed


def test_what_cannot_be_grown_is_refused_and_nothing_changes(
    heps_twin: Twin,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    twin, topology = heps_twin, heps_twin.topology
    lives = session_counts(twin)
    grown = more_spines(HEPS, tmp_path)
    with pytest.raises(Refused, match="heps: this fabric adds nothing to the lab"):
        grow_running(twin, HEPS)
    write_new("other", new_fabric("other", Size(1, 2, 1), *HARDWARE), tmp_path)
    with pytest.raises(Refused, match="spine02: is in the lab, and not in this fabric"):
        grow_running(twin, tmp_path / "other" / "fabric.yaml")
    break_lab(twin.registry, "heps", "full-flash", "leaf01")
    with pytest.raises(Refused, match="heps: is broken on purpose: full-flash leaf01"):
        grow_running(twin, grown)
    mend_lab(twin.registry, "heps")
    failure = ServiceFailed("the command lines do not add the new switches", where="heps")

    def fails(*_: object) -> None:
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr("rocefort.lab.grow_running._grow_lines", fails)
        with pytest.raises(ServiceFailed) as failed:
            grow_running(twin, grown)
    assert failed.value is failure
    after = Twin.find("heps", twin.registry)
    assert set(after.topology.cables) == set(topology.cables)
    assert after.topology.switches == topology.switches
    assert not [name for name in namespaces_of(twin.record.id) if name.endswith("spine03")]
    assert status_of("heps", twin.registry).wrong == ()
    assert all(life.is_same_session(session_counts(twin).get(name)) for name, life in lives.items())


@pytest.mark.thorough
def test_a_spine_more_under_load_resets_no_session(
    twin: Twin, grown: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = load_connections(connections(twin))
    work: Callable[[], tuple[str, ...]] = lambda: rolled_out(twin, grown, tmp_path / "journal")  # noqa: E731
    result, confirmed = under_load(twin, FailoverOptions(12, 50), work)
    assert capfd.readouterr().out.splitlines() == [
        "lab small: added spine03 and 2 cables",
        "existing nodes are unchanged; `rocefort plan` and `apply` configure the rest",
    ]
    assert sorted(confirmed) == ["leaf001", "leaf002", "spine03"]
    assert (result.sessions, result.gained, result.reset) == (8, 4, ())
    assert result.sent > result.lost
    after = load_connections(connections(twin))
    assert after.devices[: len(before.devices)] == before.devices
    assert [device.name for device in after.devices[len(before.devices) :]] == ["spine03"]
    assert after.servers == before.servers
    now = Twin.find("small", twin.registry)
    assert {len(hops) for hops in now.fib("leaf001", ["bgp"]).values()} == {1, 3}
    assert status_of("small", twin.registry).wrong == ()


@pytest.mark.thorough
def test_a_growth_that_is_killed_leaves_what_down_removes(twin: Twin, larger: Path) -> None:
    words = [sys.executable, "-c", GROW, str(twin.registry.root), str(larger)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"begins\n"
        until = time.monotonic() + PATIENT_S
        while twin.registry.find("small").status == "up" and time.monotonic() < until:
            time.sleep(0.001)
        process.kill()
    assert status_of("small", twin.registry).wrong == (
        "it was left changing; `rocefort lab down small`",
    )
    with pytest.raises(Refused, match="lab small is not whole: a change was broken off"):
        grow_running(Twin.find("small", twin.registry), larger)
    lab = twin.record.id
    take_down("small", twin.registry)
    assert (namespaces_of(lab), list(processes_of(lab))) == ([], [])
