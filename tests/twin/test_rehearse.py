"""`rehearse`: a sealed plan on a twin of its fabric, its report beside the plan, nothing left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from ipaddress import IPv4Network
from pathlib import Path

import pytest
from nornir.core import Nornir
from twin_labs import Run, commands_see

from rocefort.base.errors import Refused
from rocefort.change.effects.switch_configs import sides_of
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.subject import subject_of_derived
from rocefort.fleet.connections import Connections, ServerAccess, SshAccess
from rocefort.lab.rehearsal import rehearse
from rocefort.lab.rehearsal.rehearse import loaded_pairs
from rocefort.lab.twin.namespaces import NETNS
from rocefort.lab.twin.registry import Registry
from rocefort.models.change.plan import Gate, Plan
from rocefort.models.device.device import Device
from rocefort.models.network.network import Network
from rocefort.rdma.judge.run_store import open_history
from rocefort.rdma.run.gate import GateResult, run_gate
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.plan.make_plan import make_plan
from rocefort.rollout.plan.rollback_plan import plan_back
from rocefort.rollout.planning.baseline import both_sides
from rocefort.rollout.planning.rehearsal import (
    PlanRehearsal,
    attach,
    attached,
    rehearsal_record,
    require_rehearsal,
)
from rocefort.rollout.planning.sealed_files import read_plan, tool, write_plan

EditHeps = Callable[..., Path]
LEAF = "leaf002"
DESCRIBED = ("  - name: leaf002-s01\n", "  - name: leaf002-s01\n    description: detector 3\n")


@pytest.fixture
def run(run: Run, registry: Registry) -> Iterator[Run]:
    """Let commands use the labs of this module."""
    with commands_see(registry):
        yield run


@pytest.fixture(scope="module")
def texts(small_fabric: Path) -> Mapping[str, str]:
    """Running configurations of the small fabric before any plan."""
    return subject_of_derived(derive(small_fabric)).texts


@pytest.fixture(scope="module")
def plan(
    texts: Mapping[str, str], small_fabric: Path, tmp_path_factory: pytest.TempPathFactory
) -> Plan:
    """Return a plan for one switch, sealed for servers of hardware."""
    directory = tmp_path_factory.mktemp("planned")
    text = small_fabric.read_text(encoding="utf-8")
    assert text.count(DESCRIBED[0]) == 1
    fabric = directory / "fabric.yaml"
    fabric.write_text(text.replace(*DESCRIBED), encoding="utf-8")
    return make_plan(fabric, access_of(derive(fabric).network, directory), texts)


@pytest.fixture
def sealed(plan: Plan, tmp_path: Path) -> Path:
    write_plan(plan, tmp_path / "plan.json")
    return tmp_path / "plan.json"


def access_of(network: Network, directory: Path) -> Connections:
    """Return connections of a site that cannot be reached from here."""
    (directory / "known_hosts").touch()
    reached = {"host": "192.0.2.1", "user": "ops", "credential": "env:NOBODY"}
    return Connections(
        known_hosts=directory / "known_hosts",
        devices=tuple(SshAccess(name=node.name, **reached) for node in network.nodes),
        servers=tuple(
            ServerAccess(name=server.name, rdma_device="mlx5_0", gid_index=3, **reached)
            for server in network.servers or ()
        ),
    )


def spoilt(plan: Plan, texts: Mapping[str, str], change: Callable[[Device], Device]) -> Plan:
    """Return the plan with another change of a leaf than the fabric's, sealed as genuine."""
    network = derive(Path(plan.source)).network
    nodes = [
        n.model_copy(update={"device": change(n.device)}) if n.name == LEAF else n
        for n in network.nodes
    ]
    sides = sides_of(network.model_copy(update={"nodes": tuple(nodes)}), texts)
    changes = tuple(each.whole for each in sides)
    return plan.model_copy(update={"changes": changes}).seal()


def silent(device: Device) -> Device:
    """Stop announcing the servers of a leaf."""
    assert device.bgp is not None
    networks = tuple(n for n in device.bgp.networks if n != IPv4Network("10.64.1.0/24"))
    assert len(networks) + 1 == len(device.bgp.networks)
    return device.model_copy(update={"bgp": device.bgp.model_copy(update={"networks": networks})})


def narrow(device: Device) -> Device:
    """Limit the uplinks of a leaf to small packets; BGP passes."""
    interfaces = tuple(
        i.model_copy(update={"mtu": 1600}) if i.routed and i.mtu == 9000 and i.name[0] == "1" else i
        for i in device.interfaces
    )
    assert interfaces != device.interfaces
    return device.model_copy(update={"interfaces": interfaces})


@pytest.fixture
def bystander() -> Iterator[Path]:
    """Create a namespace of another owner."""
    name = f"bystander-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    yield NETNS / name
    subprocess.run(["ip", "netns", "del", name], check=True)


def nothing_left(registry: Registry) -> bool:
    return not registry.root.exists()


# --- on a twin ------------------------------------------------------------------------------------


@pytest.mark.twin
def test_a_good_plan_passes_and_its_report_is_beside_it(
    run: Run,
    registry: Registry,
    sealed: Path,
    bystander: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = sealed.read_bytes()
    gates: list[Gate] = []

    def seen(nornir: Nornir, gate: Gate, deadline_s: float) -> GateResult:
        gates.append(gate)
        return run_gate(nornir, gate, deadline_s)

    monkeypatch.setattr(rehearse, "run_gate", seen)
    code, out, err = run("rehearse", sealed, "--no-bfd")
    assert (code, err) == (0, "")
    (planned,) = (wave.gate for wave in read_plan(sealed).waves)
    assert (planned.latency_iterations, planned.speed_judged) == (10_000, True)
    assert [(gate.latency_iterations, gate.speed_judged) for gate in gates] == [(200, False)]
    digest = read_plan(sealed).digest
    assert f"rehearsal of plan {digest[:12]} of small PASSED\n" in out
    assert "canary         gate     1 pair measured, speed not judged\n" in out
    assert "BGP sessions   ok: all 8 intended sessions are up\n" in out
    assert "kernel routes  ok: 16 as the embedded engine has them\n" in out
    assert "server pairs   ok: 2 of 2 deliver RoCE packets, small and of full size," in out
    assert "  ASIC buffers, PFC, ETS, WRED and DCQCN: a kernel has no lossless queues\n" in out
    assert max(map(len, out.splitlines())) <= 80
    assert nothing_left(registry)
    assert not {path for path in NETNS.iterdir() if "rehearse" in path.name}
    assert bystander.exists()
    assert sealed.read_bytes() == before
    assert RunDirectory.of(sealed).rehearsal.stat().st_mode & 0o777 == 0o600
    code, out, _ = run("rehearse", sealed, "--show", "--format", "json")
    report = json.loads(out)
    assert (code, report["plan"], report["tool"]) == (0, digest, tool())
    assert report["loss"]["sent"] > 1000
    with open_history(RunDirectory.of(sealed).records) as past:
        (line,) = past.runs()
        record = past.load(line.id).record
    assert (line.suite, line.measured) == ("gate", 2)
    assert record is not None and record.emulated
    assert (record.plan, record.wave) == (digest, "canary")
    assert {each.device for each in record.switches if not each.why} == {"leaf001", "leaf002"}
    code, out, _ = run("status", sealed)
    assert "rehearsal: passed " in out


@pytest.mark.twin
def test_a_plan_that_breaks_something_fails(
    run: Run, registry: Registry, plan: Plan, texts: Mapping[str, str], tmp_path: Path
) -> None:
    sealed = tmp_path / "wrong.json"
    write_plan(spoilt(plan, texts, narrow), sealed)
    code, out, err = run("rehearse", sealed, "--no-bfd")
    assert (code, err) == (1, "")
    output = " ".join(out.split())
    digest = read_plan(sealed).digest
    assert f"rehearsal of plan {digest[:12]} of small FAILED: wave canary: " in output
    failure = attached(sealed, read_plan(sealed)).failure
    assert "the RDMA gate failed: leaf002-s01 -> " in failure
    assert "ib_write_bw: zero-iterations: " in failure
    assert "ib_write_lat" not in failure  # its packets are small
    assert "canary rolled back, " in output
    assert nothing_left(registry)
    code, out, _ = run("status", sealed)
    assert "rehearsal: FAILED " in out
    with pytest.raises(Refused, match="failed its rehearsal: wave canary"):
        require_rehearsal(sealed, read_plan(sealed))


@pytest.mark.twin
def test_what_no_gate_measures_is_found_behind_the_last_wave(
    run: Run, registry: Registry, plan: Plan, texts: Mapping[str, str], tmp_path: Path
) -> None:
    blind = {"pairs": (), "unmeasured": (f"{LEAF}, for the sake of this test",)}
    waves = [w.model_copy(update={"gate": w.gate.model_copy(update=blind)}) for w in plan.waves]
    wrong = spoilt(plan.model_copy(update={"waves": tuple(waves)}), texts, silent)
    write_plan(wrong, tmp_path / "wrong.json")
    code, out, err = run("rehearse", tmp_path / "wrong.json", "--no-bfd")
    assert (code, err) == (1, "")
    output = " ".join(out.split())
    assert "canary done, " in output
    assert "BGP sessions ok: " in output
    assert "FAILED: kernel routes: " in output
    assert "kernel routes FAILED: 3 routes not as intended, the first: " in output
    assert " 10.64.1.0/24: the kernel has no route, the engine 10.2." in output
    assert "server pairs FAILED: 1 pair lost, the first: " in output
    assert nothing_left(registry)


BEGIN = """
import os, signal, sys
from pathlib import Path
from rocefort.lab.twin.registry import Registry
from rocefort.tasks import app

root, until, *sys.argv[1:] = sys.argv[1:]
Registry.__init__.__defaults__ = (Path(root),)
write = sys.stdout.write

def stopping(text):
    if until and text.startswith(until):  # at this very line, however late its reader is
        os.kill(os.getpid(), signal.SIGINT)
    return write(text)

sys.stdout.write = stopping
app()
"""


def begun(registry: Registry, sealed: Path, until: str = "") -> subprocess.Popen[str]:
    """Run a rehearsal in a process of its own, and send it a SIGINT when it prints a line."""
    return subprocess.Popen(
        [
            *(sys.executable, "-c", BEGIN, str(registry.root), until),
            *("rehearse", str(sealed), "--no-bfd"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"ROCEFORT_PROGRESS": "none"},  # printed where it is slow
    )


@pytest.mark.thorough
@pytest.mark.twin
def test_interrupted_in_a_wave_it_speaks_of_the_rehearsal(registry: Registry, sealed: Path) -> None:
    with begun(registry, sealed, until="canary         load") as process:
        out, err = process.communicate(timeout=120)
    how = "the rehearsal is removed; rehearse the plan again"
    output = " ".join(out.split())
    assert f"canary stop wave canary: interrupted; {how}" in output, err
    assert (process.returncode, err) == (
        5,
        f"rocefort: the rehearsal was interrupted; {how}\n",
    )
    assert nothing_left(registry)
    assert not RunDirectory.of(sealed).rehearsal.exists()


@pytest.mark.thorough
@pytest.mark.twin
def test_it_ends_with_everything_when_it_is_told_to(registry: Registry, sealed: Path) -> None:
    with begun(registry, sealed) as process:
        while not registry.names() and process.poll() is None:
            time.sleep(0.05)
        (name,) = registry.names()
        assert name == f"rehearse-{read_plan(sealed).digest[:8]}-{process.pid}"
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (
        5,
        "rocefort: the rehearsal was interrupted by SIGTERM; nothing of it is left\n",
    )
    assert nothing_left(registry)
    assert not RunDirectory.of(sealed).rehearsal.exists()


def test_nothing_else_sends_where_guests_are_counted() -> None:
    delivered = {("a", "b"), ("b", "a"), ("b", "c"), ("a", "c")}
    loaded = [("a", "b"), ("b", "c"), ("b", "a"), ("a", "c")]
    assert loaded_pairs(["a", "b", "c"], delivered, ()) == loaded
    assert loaded_pairs(["a", "b", "c"], delivered, ("k8sgn08",)) == []


# --- bad input ------------------------------------------------------------------------------------


def test_no_root(
    run: Run, registry: Registry, sealed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert run("rehearse", sealed) == (
        3,
        "",
        "rocefort: a twin needs root, for its namespaces; run it with sudo\n",
    )
    assert nothing_left(registry)
    assert not RunDirectory.of(sealed).rehearsal.exists()


def test_not_linux(run: Run, sealed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert run("rehearse", sealed) == (
        3,
        "",
        "rocefort: a twin needs Linux, this is darwin; run it on a Linux machine or in a virtual "
        "one\n",
    )


def test_nothing_to_show(run: Run, sealed: Path) -> None:
    assert run("rehearse", sealed, "--show") == (
        4,
        "",
        f"rocefort: {sealed}: was not rehearsed; `rocefort rehearse PLAN` makes one\n",
    )


# --- the report beside its plan -------------------------------------------------------------------


def report_of(plan: Plan, failure: str = "") -> PlanRehearsal:
    at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    return PlanRehearsal(
        plan=plan.digest,
        fabric="small",
        tool="rocefort 0",
        by="ann",
        host="desk",
        began=at,
        ended=at,
        frr="8.4.4",
        kernel="6.1",
        failure=failure,
    )


def test_a_report_is_bound_to_its_plan(plan: Plan, sealed: Path, tmp_path: Path) -> None:
    make = "`rocefort rehearse PLAN` makes one"
    assert rehearsal_record(sealed, plan).sentence == f"none; {make}"
    with pytest.raises(Refused, match="was not rehearsed"):
        require_rehearsal(sealed, plan)
    attach(report_of(plan), sealed)
    require_rehearsal(sealed, plan)
    assert (
        rehearsal_record(sealed, plan).sentence == "passed 2026-03-01 12:00:00 UTC by ann on a twin"
    )
    other = plan.model_copy(update={"trial_s": plan.trial_s + 1}).seal()
    assert rehearsal_record(sealed, other).sentence == (
        f"none: plan.json.rehearsal is of plan {plan.digest[:12]}, and this is plan "
        f"{other.digest[:12]}; {make}"
    )
    with pytest.raises(Refused, match="is of plan"):
        require_rehearsal(sealed, other)
    text = RunDirectory.of(sealed).rehearsal.read_text()
    for spoil, said in (
        (text.replace('"ann"', '"bob"'), "was changed after it was sealed"),
        (text[:-20], "is not a report of a rehearsal"),
    ):
        RunDirectory.of(sealed).rehearsal.write_text(spoil)
        assert said in rehearsal_record(sealed, plan).sentence
        with pytest.raises(Refused, match=said):
            require_rehearsal(sealed, plan)
    attach(report_of(plan, "wave canary: lost"), sealed)
    assert rehearsal_record(sealed, plan).sentence.startswith(
        "FAILED 2026-03-01 12:00:00 UTC by ann"
    )


def test_an_approval_can_demand_one(run: Run, plan: Plan, sealed: Path) -> None:
    assert run("approve", sealed, "--wave", "canary", "--require-rehearsal") == (
        4,
        "",
        f"rocefort: {sealed}: was not rehearsed; `rocefort rehearse PLAN` makes one\n",
    )
    attach(report_of(plan, "wave canary: lost"), sealed)
    assert run("approve", sealed, "--wave", "canary", "--require-rehearsal") == (
        4,
        "",
        f"rocefort: {sealed}: failed its rehearsal: wave canary: lost; correct the fabric and plan "
        "again\n",
    )
    attach(report_of(plan), sealed)
    code, _, err = run("approve", sealed, "--wave", "canary", "--require-rehearsal")
    assert (code, err) == (  # it gets further: to a missing journal
        2,
        f"rocefort: {sealed}.journal: no such journal; `rocefort apply` creates it\n",
    )


# --- the baseline
# -----------------------------------------------------------------------------------


@pytest.fixture
def foreign(heps: DerivedNetwork) -> dict[str, str]:
    """Return HEPS's configurations, with lines on leaf07 that match no command here."""
    texts = subject_of_derived(heps).texts
    lines = "ftp server enable\n#\ninterface 25GE1/0/1\n weird thing\n#\nreturn"
    return {**texts, "leaf07": texts["leaf07"].replace("return", lines)}


def test_what_ran_is_told_by_the_plan_alone(
    edit_heps: EditHeps, heps: DerivedNetwork, foreign: dict[str, str], tmp_path: Path
) -> None:
    fabric = edit_heps(("xoff_kbytes: 600", "xoff_kbytes: 640"))
    plan = make_plan(fabric, access_of(heps.network, tmp_path), foreign)
    network = derive(fabric).network
    sides = both_sides(plan, network)
    assert not sides.backwards
    assert " weird thing\n" in sides.before["leaf07"]
    assert " xoff static 600 " in sides.before["leaf07"].replace("\n", " ")
    assert " xoff static 640 " in sides.after["leaf07"].replace("\n", " ")
    families = {node.name: node.family for node in network.nodes if node.family}
    back = plan_back(plan, [change.device for change in plan.changes], families)
    sides = both_sides(back, network)
    assert sides.backwards
    assert " xoff static 600 " in sides.after["leaf07"].replace("\n", " ")


def test_what_is_named_as_running_must_have_run(plan: Plan, texts: Mapping[str, str]) -> None:
    network = derive(Path(plan.source)).network
    wrong = {**texts, "leaf001": texts["leaf001"].replace("maximum load-balancing 8", "")}
    with pytest.raises(Refused) as refused:
        both_sides(plan, network, wrong)
    assert str(refused.value) == (
        "leaf001: its running text differs from the one that the plan was made against; name a directory "
        "with its running configuration: --running DIR"
    )
    assert both_sides(plan, network, texts).before["leaf001"] == texts["leaf001"]
