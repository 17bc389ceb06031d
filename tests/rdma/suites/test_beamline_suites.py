"""Suites of a beamline: pairs along its data paths, and its rate as an expectation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from beamlines import entry, with_beamlines
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.models.network.beamlines import ExpectedRate, expected_rates
from rocefort.rdma.acceptance.stage import incast_sinks, judged_run
from rocefort.rdma.designed_plan import RdmaRequest, designed_plan
from rocefort.rdma.judge.measurement import beamline_rates
from rocefort.rdma.judge.verdicts import verdicts
from rocefort.rdma.plan.site import RdmaPlanOptions
from rocefort.rdma.plan.suites import plan_suite
from rocefort.rdma.rdma_plan import Program, RdmaHost, RdmaPlan, RdmaRun, Round, Suite
from rocefort.rdma.results import Figures, Measurement, MeasurementVerdict, RdmaResult
from rocefort.rollout.plan.acceptance import ItemState

COMPUTE = ("k8sgn08", "k8sgn09", "k8sgn12", "daisygn01")
BURSTS = "40 Gb/s, duty: 0.25, burst_ms: 200"


@pytest.fixture(scope="module")
def tomography(tmp_path_factory: pytest.TempPathFactory) -> DerivedNetwork:
    """HEPS with a beamline of three servers that sends to compute, and half of it to storage."""
    path = tmp_path_factory.mktemp("beamline") / "fabric.yaml"
    text = entry(7, "bl7", "leaf05", "25GE1/0/11-13", BURSTS, "compute")
    text = text.replace("sends_to: [", "sends_to: [{to: storage, share: 0.5}, ")
    path.write_text(with_beamlines(f"\nbeamlines:{text}"), encoding="utf-8")
    return derive(path)


def planned(
    derived: DerivedNetwork,
    suite: Suite,
    names: Sequence[str],
    limit: float | None = None,
    **more: object,
) -> RdmaPlan:
    rdma = derived.fabric.rdma.model_copy(update={"rate_limit_gbps": limit})
    hosts = [RdmaHost(name=name, device="mlx5_0", gid_index=3) for name in names]
    options = RdmaPlanOptions.model_validate({"beamline": "bl7"} | more)
    return plan_suite(derived.network, rdma, suite, hosts, options)


def own(count: int = 3) -> list[str]:
    return [f"bl7-{number + 1}" for number in range(count)]


def measured(plan: RdmaPlan, gbps: float, conditions: dict[str, str] | None = None) -> RdmaResult:
    """Return a run in which each test reached the same rate."""
    measurements = tuple(
        Measurement(
            run=run,
            outcome="measured",
            sentence=f"{run.pair} {gbps} Gb/s",
            figures=Figures(gbps=gbps),
            verdict=MeasurementVerdict.PASSED,
        )
        for run in plan.runs
    )
    return RdmaResult.model_validate(
        {
            "id": "1",
            "plan": plan,
            "began": "2026-11-28T00:00:00Z",
            "measurements": measurements,
            "conditions": conditions or {},
        }
    )


def test_the_expected_rates_are_those_of_the_data_paths(tomography: DerivedNetwork) -> None:
    (beamline,) = tomography.network.beamlines
    keys = {"beamline": "bl7", "burst_ms": 200}
    assert expected_rates(beamline) == (
        ExpectedRate(to=("storage",), gbps=20, average_gbps=5, **keys),
        ExpectedRate(to=("compute",), gbps=40, average_gbps=10, **keys),
        ExpectedRate(to=("storage", "compute"), gbps=60, average_gbps=15, **keys),
    )


@settings(max_examples=tries(20))
@given(st.integers(1, 3), st.integers(1, 4))
def test_a_mesh_has_each_sender_with_each_receiver_once(
    tomography: DerivedNetwork, senders: int, receivers: int
) -> None:
    """Law: the senders of a round have an equal part of the rate, or fill their receivers."""
    names = [*own(senders), *COMPUTE[:receivers]]
    plan = planned(tomography, Suite.MESH, names)
    pairs = [(run.client, run.server) for run in plan.runs]
    assert sorted(pairs) == sorted((a, b) for a in own(senders) for b in COMPUTE[:receivers])
    for each in plan.rounds:
        assert [run.client for run in each.runs] == own(senders)
        assert len({run.server for run in each.runs}) == min(senders, receivers)
        assert each.expected_gbps == pytest.approx(40 * senders / 3)


def test_a_mesh_that_covers_reaches_each_leaf(tomography: DerivedNetwork) -> None:
    everything = [*own(), *COMPUTE, "daisycn01", "storage01"]
    plan = planned(tomography, Suite.MESH, everything, covering=True)
    homes = {s.name: s.port.device for s in tomography.network.servers or ()}
    met = {homes[run.server] for run in plan.runs}
    assert met == {homes[name] for name in everything} - {"leaf05"}
    assert len(plan.rounds) == 1 + 2  # one to storage, and three servers to four leaves


def test_an_incast_is_to_one_then_to_several_then_on_all_paths(tomography: DerivedNetwork) -> None:
    plan = planned(tomography, Suite.INCAST, [*own(), *COMPUTE[:3], "storage01"], target="k8sgn12")
    assert [(each.note, each.expected_gbps, each.total_gbps) for each in plan.rounds] == [
        ("one of bl7 to storage01", pytest.approx(20 / 3), None),
        ("3 of bl7 to storage01", 20, 75),
        ("one of bl7 to k8sgn12", pytest.approx(40 / 3), None),
        ("3 of bl7 to k8sgn12", 40, 75),
        ("3 of bl7 to 3 of compute", 40, None),
        ("3 of bl7 to 4 of storage and compute", 60, None),
    ]
    assert plan.unmeasured == ()


def test_a_receiver_takes_less_than_the_beamline_sends(tomography: DerivedNetwork) -> None:
    """A port of 25 Gb/s bounds what must come through by its line rate."""
    slow = tuple(
        s.model_copy(update={"speed_gbps": 25}) if s.name == "k8sgn08" else s
        for s in tomography.network.servers or ()
    )
    network = tomography.network.model_copy(update={"servers": slow})
    hosts = [RdmaHost(name=n, device="mlx5_0", gid_index=3) for n in [*own(), "k8sgn08"]]
    options = RdmaPlanOptions(beamline="bl7")
    plan = plan_suite(network, tomography.fabric.rdma, Suite.INCAST, hosts, options)
    assert plan.rounds[-1].expected_gbps == pytest.approx(0.92 * 25)
    assert plan.unmeasured == ("bl7 to storage: no server of storage may be loaded",)


def test_a_sweep_has_the_rate_for_large_messages_alone(tomography: DerivedNetwork) -> None:
    plan = planned(tomography, Suite.SWEEP, [*own(2), "k8sgn08"])
    assert {(run.client, run.server) for run in plan.runs} == {("bl7-1", "k8sgn08")}
    sized = {each.runs[0].size_bytes for each in plan.rounds if each.expected is not None}
    assert min(size or 0 for size in sized) == 65_536
    assert all(not each.runs[0].program.measures_latency for each in plan.rounds if each.expected)
    assert plan.unmeasured == (
        "2 of 3 servers of bl7 send: bl7-3 may not be loaded",
        "bl7 to storage: no server of storage may be loaded",
    )


@pytest.mark.parametrize(
    ("gbps", "more", "ok", "sentence"),
    [
        (
            13.5,
            {},
            True,
            "bl7 to compute: 40.50 Gb/s in round 1 (bl7 to compute, each server to another one), at "
            "least 40.00 expected: its detectors at peak in bursts of 200 ms, 10.00 on average",
        ),
        (
            13.0,
            {},
            False,
            "bl7 to compute: 39.00 Gb/s in round 1 (bl7 to compute, each server to another one), at "
            "least 40.00 expected: its detectors at peak in bursts of 200 ms, 10.00 on average",
        ),
        (5.0, {"limit": 5}, None, "not judged: the senders are limited to 15 Gb/s together"),
        (13.5, {"limit": 20}, True, "40.50 Gb/s"),
        (13.5, {"note": "emulated servers"}, None, "not judged: emulated servers"),
    ],
)
def test_verdicts(
    tomography: DerivedNetwork,
    gbps: float,
    more: dict[str, object],
    ok: bool | None,
    sentence: str,
) -> None:
    limit, note = more.get("limit"), str(more.get("note", ""))
    plan = planned(
        tomography, Suite.MESH, [*own(), *COMPUTE[:3]], float(str(limit)) if limit else None
    )
    result = measured(plan, gbps, {"servers": note} if note else None)
    found = verdicts(tomography.network, tomography.fabric.rdma, result, {})
    (rate,) = [each for each in found if each.subject == "bl7 to compute"]
    assert rate.ok is ok
    assert sentence in rate.sentence


def test_a_burst_that_is_longer_than_the_measured_time_is_not_judged() -> None:
    rate = ExpectedRate(beamline="b", to=("c",), gbps=10, average_gbps=1, burst_ms=9000)
    run = RdmaRun(id="1.1", program=Program.WRITE_BW, client="b-1", server="c", duration_s=10)
    each = Round(number=1, runs=(run,), note="b", expected=rate, expected_gbps=10)
    one = Measurement(run=run, outcome="measured", sentence="", figures=Figures(gbps=20))
    (verdict,) = beamline_rates([each], [one])
    assert verdict.ok is None
    assert verdict.sentence.endswith("not judged: a burst lasts 9 s, and 5 s are measured")
    (lost,) = beamline_rates([each], [])
    assert (lost.ok, lost.sentence) == (
        None,
        "b to c: not measured, so its rate is not judged",
    )


def test_a_run_lasts_for_a_burst(tmp_path: Path) -> None:
    path = tmp_path / "fabric.yaml"
    text = entry(7, "bl7", "leaf05", "25GE1/0/11", BURSTS.replace("200", "30000"), "compute")
    text = text.replace("40 Gb/s", "20 Gb/s")
    path.write_text(with_beamlines(f"\nbeamlines:{text}"), encoding="utf-8")
    names = ("bl7-1", "k8sgn08", "readout01")
    plan = designed_plan(path, RdmaRequest(Suite.MESH, names, RdmaPlanOptions(beamline="bl7")))
    assert [run.duration_s for run in plan.runs] == [60]
    assert [host.name for host in plan.hosts] == ["bl7-1", "k8sgn08"]


@pytest.mark.parametrize(
    ("suite", "names", "message"),
    [
        (Suite.WRITE, ["bl7-1", "k8sgn08"], "--beamline: the suite write does not use it"),
        (Suite.MESH, ["k8sgn08"], "no server of bl7 may be loaded; name them: --servers bl7-1,"),
        (
            Suite.MESH,
            ["bl7-1"],
            "no server that bl7 sends to may be loaded; name servers of storage",
        ),
    ],
)
def test_refusals(tomography: DerivedNetwork, suite: Suite, names: list[str], message: str) -> None:
    with pytest.raises(BadInput) as raised:
        planned(tomography, suite, names)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("gbps", "limit", "state", "sentence"),
    [
        (25.0, None, ItemState.PASSED, "75.00 Gb/s in round 2 (3 of bl7 to k8sgn08), at least 40"),
        (12.0, None, ItemState.FAILED, "12.00 Gb/s in round 1 (one of bl7 to k8sgn08), at least"),
        (12.0, 12, ItemState.NOT_JUDGED, "not judged: the senders are limited to 12 Gb/s together"),
    ],
)
def test_an_item_of_an_acceptance_has_the_rate(
    tomography: DerivedNetwork, gbps: float, limit: float | None, state: ItemState, sentence: str
) -> None:
    names = [*own(), *COMPUTE]
    sinks = {sink.name: sink for sink in incast_sinks(tomography.network, names)}
    sink = sinks["incast-bl7-compute"]
    assert sink.beamline == "bl7"
    assert len(sink.servers) == 6  # as many receivers as its own servers
    plan = planned(tomography, Suite.INCAST, sink.servers, limit, target=sink.server)
    result = measured(plan, gbps)
    judged = verdicts(tomography.network, tomography.fabric.rdma, result, {})
    item = judged_run(result.model_copy(update={"judged": judged}))
    assert item[0] is state
    assert any(sentence in text for text in item[1])
