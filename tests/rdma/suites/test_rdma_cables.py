"""A cable that is away during a run: by a person, by a lab, and what it cost."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import sleep
from typing import Any, TextIO

import pytest

from rocefort.base.errors import BadInput, DeviceFailed, Refused, Stopped
from rocefort.fleet.connections import Connections, SshAccess, load_connections, save_connections
from rocefort.lab.cables import EmulatedCables, cables_of
from rocefort.rdma.judge.rounds import cable_verdicts, failed_at_s, loss_over_time
from rocefort.rdma.judge.run_store import open_history
from rocefort.rdma.plan.site import RdmaPlanOptions
from rocefort.rdma.plan.suites import plan_suite
from rocefort.rdma.rdma_plan import RdmaHost, RdmaPlan, Round, Suite
from rocefort.rdma.rdma_report import result_report
from rocefort.rdma.results import CableEvent, Figures, Measurement, MpiPoint, Point, RdmaResult
from rocefort.rdma.run import cables
from rocefort.rdma.run.cables import cables_away
from rocefort.rdma.run.executor import RunConditions, execute
from rocefort.rdma.run_page import RdmaPageContent, rdma_page
from rocefort.reports.writers.terminal import text_of

Rocefort = Callable[..., tuple[int, str, str]]
BEGAN = datetime(2026, 11, 20, 22, 5, tzinfo=UTC)
NAMES = ("k8sgn08", "k8sgn09", "k8sgn12", "daisygn01")


def plan(heps: Any, suite: Suite, **options: object) -> RdmaPlan:
    hosts = [RdmaHost(name=name, device="mlx5_0", gid_index=3) for name in NAMES]
    chosen = RdmaPlanOptions.model_validate(options)
    return plan_suite(heps.network, heps.fabric.rdma, suite, hosts, chosen)


def test_all_cables_of_a_leaf_to_one_spine_are_taken(heps: Any) -> None:
    made = plan(heps, Suite.FAILOVER, cable_by="lab", cable_at_s=8)
    assert [(each.cable_by, each.cable_at_s, each.fault) for each in made.rounds] == [
        ("lab", 8, "leaf01 loses its cables to spine01"),
        ("lab", 8, "leaf02 loses its cables to spine01"),
    ]
    taken = [set(each.fault_links) for each in made.rounds]
    uplinks = [set(each.fault_links) for each in plan(heps, Suite.FAILOVER).rounds]
    assert [one < every for one, every in zip(taken, uplinks, strict=True)] == [True, True]


def test_mpi_is_measured_without_and_with_the_failure(heps: Any) -> None:
    made = plan(heps, Suite.MPI, cable_by="person", repeat=2)
    assert len(made.rounds) == 20
    for before, through in zip(made.rounds[::2], made.rounds[1::2], strict=True):
        assert (before.cable_by, through.cable_by) == (None, "person")
        assert through.note == f"{before.note}, leaf01 loses its cables to spine01"
        assert made.shapes[before.runs[0].id] != made.shapes[through.runs[0].id]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--suite", "failover", "--cable-at", "10"), "--cable-at: it is not stated who takes the cable away; name it: --cable-by lab, or --cable-by person"),
        (("--suite", "failover", "--cable-by", "lab", "--cable-at", "26"), "--cable-at: a cable taken away at 26 s of 30 s; use at least 5 s, and 5 s less than --duration"),
        (("--suite", "failover", "--cable-by", "lab", "--duration", "8"), "--cable-at: a cable taken away at 10 s of 8 s; use at least 5 s, and 5 s less than --duration"),
        (("--suite", "mesh", "--cable-by", "lab"), "--cable-by: the suite mesh does not use it; use it with failover and mpi"),
        (("--suite", "mpi", "--cable-by", "lab", "--servers", "transfer01,k8sgn08"), "--cable-by: no cable can be taken away; choose servers of two leaves with two spines between them"),
    ],
)  # fmt: skip
def test_cables_that_cannot_be_taken(
    rocefort: Rocefort, words: tuple[str, ...], sentence: str
) -> None:
    servers = () if "--servers" in words else ("--servers", "k8sgn08,k8sgn09")
    code, out, err = rocefort("rdma", "plan", "heps", *words, *servers)
    assert (code, out, " ".join(err.split())) == (2, "", f"rocefort: {sentence}")


def test_a_person_is_asked_when_to_act(
    open_lab: Callable[..., Any], rocefort: Rocefort, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cables, "BACK_S", 0.4)
    monkeypatch.setattr(cables, "ROUTES_S", 0.2)
    lab = open_lab(NAMES[:2], **{name: {"tick": 0.5} for name in NAMES[:2]})
    common = (lab.fabric, "--connections", lab.file, "--history", lab.history, "--no-switches")
    words = ("--suite", "failover", "--cable-by", "person", "--cable-at", 5, "--duration", 10)
    code, out, _ = rocefort("rdma", "run", *common, "--servers", ",".join(lab.roots), *words)
    assert code == 0
    begins = ("now:", "routes", "round 1: after")
    printed = [line for line in out.splitlines() if line.startswith(begins)]
    port = printed[1].removeprefix("now: take ").removesuffix(" away")
    back = ["now: put the cables back within 0.4 s", "routes have 0.2 s to use the cables again"]
    assert printed == [
        f"round 1: after 5 s, at a message here, take {port} away",
        f"now: take {port} away",
        *back,
        f"now: take {port.replace('leaf01', 'leaf02')} away",
        *back,
    ]
    assert max(map(len, out.splitlines())) <= 80
    with open_history(lab.history) as past:
        result = past.load("last")
    back_at, begun = result.cables[0].back_at, result.measurements[1].at
    assert back_at is not None and begun is not None and back_at <= begun


@pytest.fixture
def terminal() -> Iterator[tuple[int, TextIO]]:
    """A terminal: the descriptor of its keyboard, and the stream that a program reads."""
    keyboard, screen = os.openpty()
    with os.fdopen(screen, encoding="utf-8") as stream:
        yield keyboard, stream
    os.close(keyboard)


def test_a_round_waits_until_a_person_presses_enter(
    terminal: tuple[int, TextIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cables, "ROUTES_S", 0)
    keyboard, stream = terminal
    lines: list[str] = []
    pressed: list[datetime] = []

    def answer(line: str) -> None:
        lines.append(line)
        if line.endswith("press Enter"):
            pressed.append(datetime.now(UTC))
            os.write(keyboard, b"\n")

    each = Round(number=1, runs=(), fault_links=("leaf01 p",), cable_by="person", cable_at_s=0)
    events: list[CableEvent] = []
    with cables_away(each, cables.PersonalCables(answer, terminal=stream), events):
        sleep(0.1)
    assert lines == [
        "now: take leaf01 p away",
        "now: put the cables back, then press Enter",
        "routes have 0 s to use the cables again",
    ]
    back_at = events[0].back_at
    assert back_at is not None and back_at >= pressed[0]


def test_keys_of_before_the_message_are_no_answer(terminal: tuple[int, TextIO]) -> None:
    keyboard, stream = terminal
    os.write(keyboard, b"\n")
    looks = iter((False, False, True))
    control = cables.PersonalCables(lambda _: None, lambda: next(looks), stream)
    with pytest.raises(Stopped, match="the run was stopped before the cables were back"):
        control.put_back()


def test_no_round_begins_without_its_cables(heps: Any) -> None:
    made = plan(heps, Suite.MPI, cable_by="lab")
    away = CableEvent(
        round=2, cables=("leaf01 p",), by="lab", taken_at=BEGAN, problem="heps is not whole"
    )
    terms = RunConditions(heps.fabric.rdma, "r1", events=[away])
    nornir: Any = None
    sentences = {
        ran.measurement.sentence for _, rans in execute(nornir, made, terms) for ran in rans
    }
    assert sentences == {
        "4 servers IMB-MPI1: not run: the cables of round 2 are not back: heps is not whole"
    }


class Refusing:
    """Cables that cannot be taken."""

    def take(self, cables: Sequence[str]) -> None:
        raise DeviceFailed("has no such port", where=cables[0])

    def put_back(self) -> None:
        """Nothing is away."""


class Broken(Refusing):
    """Cables whose control has a fault of its own."""

    def take(self, cables: Sequence[str]) -> None:
        raise OSError(f"no space left for {cables[0]}")


def test_any_fault_of_a_control_is_reported() -> None:
    each = Round(number=1, runs=(), fault_links=("leaf01 p",), cable_by="lab", cable_at_s=0)
    events: list[CableEvent] = []
    with cables_away(each, Broken(), events):
        sleep(0.1)
    assert [event.problem for event in events] == ["OSError: no space left for leaf01 p"]


def test_a_cable_that_cannot_be_taken_is_reported() -> None:
    each = Round(number=1, runs=(), fault_links=("leaf01 p",), cable_by="lab", cable_at_s=0)
    events: list[CableEvent] = []
    with cables_away(each, Refusing(), events):
        sleep(0.1)
    assert [event.problem for event in events] == ["leaf01 p: has no such port"]


def test_a_round_that_ends_earlier_leaves_the_cable() -> None:
    each = Round(number=1, runs=(), fault_links=("leaf01 p",), cable_by="lab", cable_at_s=60)
    events: list[CableEvent] = []
    with cables_away(each, Refusing(), events):
        pass
    assert [(event.taken_at, event.problem) for event in events] == [(None, "")]


def result_of(made: RdmaPlan, measurements: Sequence[Measurement], taken_s: float | None) -> Any:
    events = tuple(
        CableEvent(
            round=each.number,
            cables=each.fault_links,
            by="lab",
            taken_at=None if taken_s is None else BEGAN + timedelta(seconds=taken_s),
        )
        for each in made.rounds
        if each.cable_by
    )
    return RdmaResult(
        id="1", plan=made, began=BEGAN, measurements=tuple(measurements), cables=events
    )


def test_loss_over_time_is_that_around_the_failure(heps: Any) -> None:
    made = plan(heps, Suite.FAILOVER, cable_by="lab")
    rates = [94.0] * 10 + [20.0, 50.0] + [94.0] * 18
    points = tuple(Point(at_s=s, gbps=gbps) for s, gbps in enumerate(rates, 1))
    each = Measurement(
        run=made.runs[0], outcome="measured", sentence="", figures=Figures(gbps=90.0),
        at=BEGAN, series=points,
    )  # fmt: skip
    result = result_of(made, [each], 12.0)
    rows = [(point.at_s, lost) for point, lost in loss_over_time(result, each)]
    assert rows == [(9, 0), (10, 0), (11, 74), (12, 44), (13, 0), (14, 0)]
    text = "".join(text_of(block, width=80) for block in result_report(result))
    assert "11  20.00          74.00\n" in text
    assert "at about 10 s: 118.0 Gbit not sent" in rdma_page(RdmaPageContent(result=result))


def test_a_guest_that_connects_slowly_has_its_failure_earlier_among_its_rows(heps: Any) -> None:
    made = plan(heps, Suite.FAILOVER, cable_by="lab")
    points = tuple(Point(at_s=s, gbps=0.3) for s in range(1, 24))
    each = Measurement(
        run=made.runs[0], outcome="measured", sentence="", at=BEGAN, series=points, seconds=30.0
    )
    assert failed_at_s(result_of(made, [each], 12.0), each) == 5.0


def test_sizes_that_take_longer_are_counted(heps: Any) -> None:
    made = plan(heps, Suite.MPI, cable_by="lab")
    usual, failed = (
        tuple(MpiPoint(size_bytes=size, average_us=us * times) for size, us, times in rows)
        for rows in (((1, 5.0, 1), (1024, 9.0, 1)), ((1, 5.0, 1), (1024, 9.0, 3)))
    )
    measurements = [
        Measurement(
            run=run, outcome="measured", sentence="", figures=Figures(latency_us=5.0),
            at=BEGAN, sizes=sizes,
        )
        for run, sizes in zip(made.runs[:2], (usual, failed), strict=True)
    ]  # fmt: skip
    result = result_of(made, measurements, 12.0)
    (sentence,) = [verdict.sentence for verdict in cable_verdicts(result)]
    port = made.rounds[1].fault_links[0]
    assert sentence == (
        f"alltoall over 4 servers, {port} away: 1 of 2 sizes took 1.5 times as long or longer, "
        "1024 bytes 3.0 times"
    )
    text = "".join(text_of(block, width=80) for block in result_report(result))
    assert " 1024     9.00        27.00   3.00\n" in text
    page = rdma_page(RdmaPageContent(result=result))
    assert "<h2>Cable away" in page
    missed = list(cable_verdicts(result_of(made, measurements, None)))
    assert {verdict.ok for verdict in missed} == {False}


def test_a_lab_is_known_by_its_connections(tmp_path: Path) -> None:
    file = tmp_path / "connections.yaml"
    access = SshAccess(name="leaf01", host="127.0.0.1", port=1, user="x", credential="env:HOME")
    save_connections(Connections(known_hosts=tmp_path / "known", devices=(access,)), file)
    with pytest.raises(BadInput) as caught:
        cables_of(load_connections(file))
    assert str(caught.value).startswith("--cable-by: ")
    assert "leads to no lab that runs on this machine" in str(caught.value)


def test_emulated_switches_with_a_fault_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocefort.lab.cables.runs_in", lambda _: True)
    file = tmp_path / "connections.yaml"
    access = SshAccess(name="leaf01", host="127.0.0.1", port=1, user="x", credential="env:HOME")
    save_connections(Connections(known_hosts=tmp_path / "known", devices=(access,)), file)
    assert cables_of(load_connections(file)) == EmulatedCables(tmp_path)
    fault = {"fault": "link-down", "where": "leaf01@100GE1/0/1"}
    (tmp_path / "faults.json").write_text(json.dumps([fault]))
    with pytest.raises(Refused) as caught:
        cables_of(load_connections(file))
    assert str(caught.value) == (
        f"{tmp_path}: is broken on purpose: link-down leaf01@100GE1/0/1; end this lab, and start it "
        "again"
    )


def test_emulated_switches_refuse_an_unknown_cable(tmp_path: Path) -> None:
    answer = {"there": [], "refused": {"link-down leaf01@100GE9/9/9": "no port is called 9/9/9"}}
    (tmp_path / "faults-in-force.json").write_text(json.dumps(answer))
    with pytest.raises(BadInput) as caught:
        EmulatedCables(tmp_path).take(["leaf01 100GE9/9/9"])
    assert str(caught.value) == "link-down leaf01@100GE9/9/9: no port is called 9/9/9"
    assert json.loads((tmp_path / "faults.json").read_text()) == [
        {"fault": "link-down", "where": "leaf01@100GE9/9/9"}
    ]
