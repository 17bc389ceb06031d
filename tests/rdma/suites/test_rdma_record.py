"""Record of a run: which fabric ran, what was in force, and the counters before and after."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.derive.host_plans import host_plans
from rocefort.design.subject import subject_of_derived
from rocefort.emulator.emulated_site import Rehearsal, rehearse
from rocefort.emulator.options import LabOptions
from rocefort.fleet.nornir_session import open_fleet
from rocefort.fleet.switch_steps import run_on_switches
from rocefort.models.network.observed import (
    CpuSeen,
    DeviceSeen,
    MarkedSeen,
    MemorySeen,
    NicCounters,
    PfcCountersSeen,
    QueueSeen,
)
from rocefort.models.network.servers import HostSeen, NicDriver, NicSeen
from rocefort.rdma.designed_plan import RdmaRequest
from rocefort.rdma.judge.run_store import open_history
from rocefort.rdma.plan.site import RdmaPlanOptions
from rocefort.rdma.rdma_plan import Suite
from rocefort.rdma.record_report import record_report
from rocefort.rdma.recorder import fabric_state
from rocefort.rdma.results import RdmaResult
from rocefort.rdma.run_record import CounterReading, RunRecord
from rocefort.rdma.run_suite import RunDialogue, run_tests
from rocefort.reports.writers.terminal import text_of

SERVERS = ("leaf001-s01", "leaf002-s01")
SIZES = ("--spines", "2", "--leaves", "2", "--servers-per-leaf", "1")


@pytest.fixture
def fabric(tmp_path: Path, rocefort: Callable[..., tuple[int, str, str]]) -> DerivedNetwork:
    assert rocefort("new", "small", *SIZES, "--directory", tmp_path)[0] == 0
    return derive(tmp_path / "small/fabric.yaml")


@pytest.fixture
def site(fabric: DerivedNetwork, tmp_path: Path) -> Iterator[Rehearsal]:
    """The whole fabric emulated: switches, and servers that answer their readers."""
    subject = subject_of_derived(fabric)
    options = LabOptions(keep=True, time_scale=10, servers=host_plans(fabric))
    with rehearse(subject.network, subject.texts, tmp_path / "lab", options) as running:
        yield running


def measured(fabric: DerivedNetwork, site: Rehearsal, history: Path) -> RdmaResult:
    options = RdmaPlanOptions(duration_s=4, iterations=100)
    request = RdmaRequest(Suite.WRITE, SERVERS, options)
    file = Path(fabric.document.file)
    return run_tests(file, site.connections, request, history, RunDialogue(lambda _: None))


def of(result: RdmaResult) -> RunRecord:
    assert result.record is not None
    return result.record


def test_a_run_stores_what_ran_and_what_was_in_force(
    fabric: DerivedNetwork, site: Rehearsal, tmp_path: Path, rocefort: Callable[..., Any]
) -> None:
    history = tmp_path / "rdma.db"
    record = of(measured(fabric, site, history))
    with open_history(history) as past:
        assert of(past.load("last")) == record
    assert record.emulated
    assert [each.device for each in record.switches] == [
        "spine01",
        "spine02",
        "leaf001",
        "leaf002",
    ]
    assert all(each.digest == each.intended_digest and not each.edits for each in record.switches)
    assert {(setting.mode, setting.model) for each in record.switches for setting in each.ecn} == {
        ("dynamic", "ai_ecn_hpc")
    }
    assert {
        (s.xoff_kbytes, s.xon_kbytes, s.queues) for each in record.switches for s in each.pfc
    } == {(600, 550, (4,))}
    assert [(host.mtu, host.kernel) for host in record.hosts] == [(9000, "emulated")] * 2
    assert all(abs(host.clock_ahead_s or 9) < 9 for host in record.hosts)
    assert record.differences == ()
    assert {sentence.partition(": ")[0] for sentence in record.unread} == set(SERVERS)
    for reading in (record.before, record.after):
        assert [nic.server for nic in reading.nics] == [s for s in SERVERS for _ in range(2)]
        for seen in reading.switches:
            assert (seen.failed, seen.missing) == ((), {})
            assert seen.queues and seen.pfc_counters and seen.ecn_marks
            assert seen.cpu == CpuSeen(five_seconds=3, one_minute=2, five_minutes=2)
    assert record.conditions == {"ecn": "dynamic", "mtu": "9000", "kernel": "emulated"}
    code, text, _ = rocefort("rdma", "show", "last", "--record", "--history", history)
    assert code == 0
    assert "    the figures are constants of an emulator, and enter no comparison\n" in text
    assert "    4 of 4 switches run the configuration of the fabric\n" in text
    assert max(len(line) for line in text.splitlines() if str(tmp_path) not in line) <= 80
    page = tmp_path / "r.html"
    assert rocefort("rdma", "show", "last", "--history", history, "--html", page)[0] == 0
    assert '<section id="record">' in page.read_text(encoding="utf-8")


def test_what_is_not_the_intent_is_named(
    fabric: DerivedNetwork, site: Rehearsal, tmp_path: Path
) -> None:
    def change(driver: Any, _: object) -> None:
        driver.load_merge_candidate(config="ai-service\n ai-ecn\n  undo ai-ecn enable\n")
        driver.commit_config()

    with open_fleet(fabric.network, site.connections) as nornir:
        answers = run_on_switches(nornir, ["leaf001"], change)
    assert answers == {"leaf001": None}
    record = of(measured(fabric, site, tmp_path / "rdma.db"))
    ecn = [each for each in record.differences if each.startswith("leaf001 ECN")]
    assert ecn == [
        "leaf001 ECN: none (3 ports); intended dynamic (AI-ECN), model ai_ecn_hpc (3 ports)"
    ]
    whole = "leaf001 does not run the configuration of the fabric: ai_ecn.enabled"
    assert whole in record.differences
    assert record.conditions["ecn"] == "dynamic, none"


def test_the_state_of_a_fabric_is_its_commit(tmp_path: Path) -> None:
    file = tmp_path / "fabric.yaml"
    file.write_text("fabric: x\n")
    outside = fabric_state(file, "abc")
    assert (outside.commit, outside.uncommitted) == ("", None)
    assert outside.why.endswith("is not in a git repository")

    def git(*words: str) -> None:
        own = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", "-C", str(tmp_path), *own, *words], check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "x")
    (tmp_path / "rdma.db").write_text("other files of the site do not count")
    clean = fabric_state(file, "abc")
    assert (len(clean.commit), clean.uncommitted, clean.source) == (40, False, "fabric.yaml")
    file.write_text("fabric: y\n")
    assert fabric_state(file, "abc").uncommitted is True


AT = datetime(2026, 2, 2, tzinfo=UTC)


def reading(sent: int, marked: int, packets: int) -> CounterReading:
    port = {"interface": "100GE1/0/1"}
    seen = DeviceSeen(
        name="leaf01",
        at=AT,
        queues=(
            QueueSeen(**port, queue=4, dropped_packets=0, passed_bytes=sent),
            QueueSeen(**port, queue=0, dropped_packets=7, passed_bytes=9),
        ),
        ecn_marks=(MarkedSeen(**port, marked_packets=marked),),
        pfc_counters=(
            PfcCountersSeen(
                **port,
                queue=4,
                rx_frames=marked,
                tx_frames=1,
                rx_rate=0,
                tx_rate=0,
                deadlocks=0,
                recoveries=0,
            ),
        ),
        cpu=CpuSeen(five_seconds=1, one_minute=9, five_minutes=3),
        memory=MemorySeen(total_kbytes=1000, used_kbytes=270),
    )
    nic = NicCounters(server="gpu01", link="mlx5_0/1", values={"np_cnp_sent": packets, "x": 1})
    return CounterReading(at=AT, switches=(seen,), nics=(nic,))


def test_a_record_shows_growth_and_servers() -> None:
    nic = NicSeen(
        name="ens1",
        driver=NicDriver(name="mlx5_core", version="24.10", firmware="16.35.2000"),
        files={"roce_rp/enable/4": 1, "roce_np/enable/4": 1, "roce_rp/rpg_time_reset": 300},
        paused=(4,),
    )
    host = HostSeen(
        name="gpu01", interface="ens1", mtu=9000, kernel="5.14.0", nics=(nic,),
        clock_ahead_s=-0.25, clock_error_s=0.01,
    )  # fmt: skip
    record = RunRecord(
        fabric=fabric_state(Path("/"), "f" * 64),
        plan="d1",
        wave="canary",
        queue=4,
        before=reading(0, 0, 5),
        after=reading(2_500_000_000, 12, 30),
        hosts=(host,),
        differences=("leaf01: PFC: it is -, intended on with profile default",),
        unread=("leaf01: cpu: no", "leaf02: cpu: no"),
    )
    text = text_of(*record_report(record), width=80)
    for line in (
        "    plan d1, gate of wave canary",
        "    gpu01: ens1, MTU 9000; kernel 5.14.0; ens1 driver mlx5_core 24.10 firmware",
        "      16.35.2000; DCQCN on (rpg_time_reset=300); PFC of priorities 4; clock",
        "    leaf01: PFC: it is -, intended on with profile default",
        "    leaf01      9        27     2.50        0      12         12",
        "    gpu01 mlx5_0/1: np_cnp_sent +25",
        "    leaf01 and leaf02: cpu: no",
    ):
        assert line in text.splitlines(), text
    assert record.conditions == {
        "mtu": "9000",
        "kernel": "5.14.0",
        "firmware": "16.35.2000",
        "congestion_control": "DCQCN",
    }
    unread = nic.model_copy(update={"driver": None, "files": None})
    bare = host.model_copy(update={"kernel": None, "nics": (nic, unread)})
    failed = HostSeen(name="gpu02", failed="gpu02 does not answer")
    for other, known in ((bare, {"mtu": "9000"}), (failed, {})):
        partly = record.model_copy(update={"hosts": (host, other)})
        assert partly.conditions == known, "a part of the servers is not all of them"


def test_an_old_run_without_a_record_is_still_read(
    fabric: DerivedNetwork, site: Rehearsal, tmp_path: Path, rocefort: Callable[..., Any]
) -> None:
    history = tmp_path / "rdma.db"
    result = measured(fabric, site, history)
    old = RdmaResult.model_validate(result.model_dump(exclude={"record"}) | {"id": "old"})
    assert old.record is None
    with open_history(history) as past:
        past.keep(old, ())
    assert rocefort("rdma", "show", "old", "--history", history)[0] == 0
    code, _, error = rocefort("rdma", "show", "old", "--record", "--history", history)
    assert (code, error.splitlines()[0]) == (
        2,
        "rocefort: --record: run old has no record; it was stored by a version of rocefort without records; "
        "measure again",
    )
