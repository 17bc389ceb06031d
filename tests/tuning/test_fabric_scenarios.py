"""Scenarios of a fabric: its servers, paths, cables and buffers, and its demand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from efforts import tries

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import derive
from rocefort.tune.fabric_scenarios import FabricServers, scenarios_of
from rocefort.tune.fabric_search import FabricSearch, fabric_ground, fabric_of, fabric_search
from rocefort.tune.run import load_scenario, simulate_file
from rocefort.tune.scenario import Buffer, Scenario
from rocefort.tune.simulator.layout import Cable, Ground, layout_of
from rocefort.tune.simulator.simulate import simulate
from rocefort.verification.capacity import demand_of


def write(directory: Path, **keys: Any) -> Path:
    path = directory / "scenario.yaml"
    start = {"scenario": "test", "topology": {"kind": "fabric", "fabric": "heps"}}
    path.write_text(yaml.safe_dump({**start, **keys}, sort_keys=False), encoding="utf-8")
    return path


def ground(path: Path) -> tuple[Scenario, Ground]:
    scenario, document = load_scenario(path)
    return scenario, fabric_ground(scenario, document, *fabric_of(scenario))


def test_cables_have_the_speeds_and_lengths_of_the_fabric(tmp_path: Path) -> None:
    between = {"pattern": "between", "senders": ["readout01"], "receivers": ["storage01"]}
    scenario, heps = ground(write(tmp_path, flows=between))
    assert Cable("spine01", "leaf01", 100, 0.25) in heps.cables  # 50 m
    assert Cable("readout01", "leaf05", 25, 0.025) in heps.cables  # 5 m
    assert len(heps.cables) == 16 + 12
    assert heps.buffers["leaf01"] == 43008 * 1024  # CE8850-64CQ-EI
    assert "spine01" not in heps.buffers  # no source has that of a CE9860
    ways = {flow.nodes for seed in range(20) for flow in layout_of(scenario, heps, seed).flows}
    assert ways == {
        ("readout01", "leaf05", spine, "leaf04", "storage01") for spine in ("spine01", "spine02")
    }


def test_all_to_all_on_heps_loses_nothing(tmp_path: Path) -> None:
    """Pauses alone hold the senders, and data in both directions delays the pause frames."""
    names = [server.name for server in derive(Path("heps")).network.servers or ()]
    path = write(
        tmp_path,
        congestion_control="pfc_only",
        flows={"pattern": "between", "senders": names, "receivers": [*names], "bytes": 500_000},
        port_gbps=25,
        packet_bytes=4158,
        header_bytes=62,
        buffer={"xoff_kbytes": 614.4, "xon_kbytes": 563.2},
        seeds=list(range(1, tries(20) + 1)),
    )
    result = simulate_file(path)
    assert result.pauses > 0
    assert [run.drops for run in result.runs] == [0] * len(result.runs)


def test_the_demand_is_carried_at_its_rates(tmp_path: Path) -> None:
    demand = tmp_path / "demand.yaml"
    demand.write_text(
        "demand: mine\npeak: 30 Gb/s\nflows:\n"
        "  - senders: {servers: [transfer01]}\n    receivers: {servers: [storage01, k8sgn09]}\n"
        "    share: 1\n",
        encoding="utf-8",
    )
    shipped = Path("inventory/heps/fabric.yaml").read_text(encoding="utf-8")
    (tmp_path / "fabric.yaml").write_text(shipped, encoding="utf-8")
    path = write(
        tmp_path,
        flows={"pattern": "demand"},
        topology={"kind": "fabric", "fabric": str(tmp_path / "fabric.yaml")},
        duration_ms=2,
        seeds=[1],
    )
    _, fabric = ground(path)
    pairs = [("transfer01", "k8sgn09"), ("transfer01", "storage01")]
    assert [(pair.sender, pair.receiver) for pair in fabric.pairs] == pairs
    assert [pair.most_gbps for pair in fabric.pairs] == pytest.approx([15, 15])
    result = simulate_file(path)
    assert result.goodput_gbps == pytest.approx(30 * 1000 / 1048, rel=0.01)
    assert (result.marks, result.pauses, result.drops) == (0, 0, 0)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"flows": {"pattern": "between", "senders": ["readout1"], "receivers": ["storage01"]}},
            "flows.senders[0]: the fabric has no server 'readout1'; did you mean 'readout01'?",
        ),
        (
            {"flows": {"pattern": "incast", "count": 2}},
            "flows: a fabric has pattern between or demand; write one of them",
        ),
        (
            {"flows": {"pattern": "demand", "count": 2}},
            "flows: pattern demand has no count; remove it",
        ),
    ],
)
def test_a_scenario_that_does_not_fit_is_one_clear_error(
    tmp_path: Path, keys: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput) as raised:
        simulate_file(write(tmp_path, **keys))
    assert str(raised.value).endswith(message)


def with_a_server_without_roce(directory: Path, senders: str) -> Path:
    """HEPS, where readout04 has no RoCE, with a demand to it and storage01."""
    shipped = Path("inventory/heps/fabric.yaml").read_text(encoding="utf-8")
    name = "  - name: readout04\n"
    assert shipped.count(name) == 1
    fabric = directory / "fabric.yaml"
    fabric.write_text(shipped.replace(name, name + "    roce: false\n"), encoding="utf-8")
    (directory / "demand.yaml").write_text(
        f"demand: mine\npeak: 30 Gb/s\nflows:\n  - senders: {{servers: [{senders}]}}\n"
        "    receivers: {servers: [storage01, readout04]}\n    share: 1\n",
        encoding="utf-8",
    )
    return fabric


def test_a_search_has_only_servers_with_roce(tmp_path: Path) -> None:
    fabric = with_a_server_without_roce(tmp_path, "readout01, readout02, readout04")
    search = fabric_search(fabric, None, nic=False)
    assert any("detector bursts" in base.scenario.scenario for base in search.bases)
    for base in search.bases:
        assert "readout04" not in {end for p in base.ground.pairs for end in (p.sender, p.receiver)}
    derived = derive(fabric)
    demand = demand_of(fabric, None, derived.network).demand
    own = FabricServers.of(derived, demand)
    assert own.rates.keys() == own.speeds.keys()
    assert "readout04" not in own.rates
    sent = sum(out for out, _ in own.rates.values())
    assert sent == pytest.approx(sum(into for _, into in own.rates.values()))
    assert own.rates["storage01"] == pytest.approx((0, sent))
    assert 0 < sent < 30


def test_a_group_of_roce_has_the_demand_between_servers_with_roce(tmp_path: Path) -> None:
    fabric = with_a_server_without_roce(tmp_path, "readout01, readout04")
    topology = {"kind": "fabric", "fabric": str(fabric)}
    ends = {}
    for transport in ("roce", "tcp"):
        flows = {"pattern": "demand", "transport": transport}
        _, own = ground(write(tmp_path, flows=flows, topology=topology))
        ends[transport] = {(pair.sender, pair.receiver) for pair in own.pairs}
    assert ends["roce"] == {("readout01", "storage01")}
    assert ends["tcp"] == {
        ("readout01", "storage01"),
        ("readout01", "readout04"),
        ("readout04", "storage01"),
    }
    with_a_server_without_roce(tmp_path, "readout04")
    path = write(tmp_path, flows={"pattern": "demand"}, topology=topology)
    with pytest.raises(BadInput, match=r"flows.pattern: the demand has no servers with RoCE at"):
        simulate_file(path)


# --- scenarios of a search ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def heps() -> FabricSearch:
    """The search of HEPS."""
    return fabric_search(Path("heps"), None, nic=False)


def test_names_of_scenarios_are_their_true_numbers_and_speeds(heps: FabricSearch) -> None:
    seen = 0
    for base in heps.bases:
        match = re.search(r"(\d+):(\d+)(?: at (\d+)G)?", base.scenario.scenario)
        if match is None:
            continue
        flows = base.scenario.flows
        counts = len(set(flows.senders)), len(set(flows.receivers))
        assert counts == (int(match[1]), int(match[2]))
        assert set(flows.receivers).isdisjoint(flows.senders)
        speeds = {cable.a: cable.gbps for cable in base.ground.cables}
        assert not match[3] or {speeds[name] for name in flows.receivers} == {int(match[3])}
        assert sum(speeds[name] for name in flows.senders) >= speeds[flows.receivers[0]]
        seen += 1
    assert seen == 7


def test_each_scenario_depends_on_the_thresholds(heps: FabricSearch) -> None:
    points = list(heps.space.points())
    settings = [heps.space.at(points[0]), heps.space.at(points[-1])]
    for base in heps.bases:
        low, high = (
            simulate(each.applied(base.scenario).like(seeds=(1,)), base.profile, base.ground)
            for each in settings
        )
        figures = [(r.goodput_gbps, r.queue_kbytes.mean, r.completion_us) for r in (low, high)]
        # of an incast whose senders wait at a ConnectX's lowest rate, only the queue differs so much
        ratios = [low.goodput_gbps / high.goodput_gbps, figures[0][1] / figures[1][1]]
        assert max(abs(ratio - 1) for ratio in ratios) > 0.01, base.scenario.scenario
        assert all(a != b for a, b in zip(*figures, strict=True)), base.scenario.scenario
        assert (low.drops, high.drops, low.unfinished, high.unfinished) == (0, 0, 0, 0)


def test_a_victim_shares_leaves_with_an_incast_and_not_its_receiver(heps: FabricSearch) -> None:
    base = next(b for b in heps.bases if "victim" in b.scenario.scenario)
    leaf = {cable.a: cable.b for cable in base.ground.cables}
    victim, flows = base.scenario.beside["victim"], base.scenario.flows
    assert {*victim.senders, *victim.receivers}.isdisjoint({*flows.senders, *flows.receivers})
    senders, receivers = ({leaf[n] for n in names} for names in (flows.senders, flows.receivers))
    assert {leaf[name] for name in victim.senders} <= senders
    assert {leaf[name] for name in victim.receivers}.isdisjoint(receivers)
    rates = []
    for xoff in (40, 6000):  # without marks, so that only pauses hold back
        scenario = base.scenario.like(
            congestion_control="pfc_only",
            buffer=Buffer(xoff_kbytes=xoff, xon_kbytes=20),
            seeds=(1, 2),
        )
        rates.append(simulate(scenario, None, base.ground))
    assert rates[0].pauses > rates[1].pauses == 0
    victims = [result.groups["victim"].goodput_gbps for result in rates]
    assert victims[0] < 0.6 * victims[1]
    assert victims[1] > 90


def test_tcp_has_the_weights_of_the_scheduling_profile(heps: FabricSearch) -> None:
    base = next(b for b in heps.bases if "TCP" in b.scenario.scenario)
    assert (base.scenario.tcp.roce_weight, base.scenario.tcp.weight) == (65, 15)
    assert base.scenario.beside["tcp"].transport == "tcp"


def servers(speeds: dict[str, int], rates: dict[str, tuple[float, float]]) -> FabricServers:
    """Servers on leaves of two each."""
    leaves = {name: f"leaf{n // 2}" for n, name in enumerate(speeds)}
    return FabricServers(speeds, leaves, ("s1",), rates)


@pytest.mark.parametrize(
    ("speeds", "rates", "names"),
    [
        ({"s1": 100}, {}, []),
        ({"s1": 100, "s2": 100}, {}, ["incast 1:1 at 100G"]),
        ({"s1": 100, "s2": 25}, {}, ["incast 1:1 at 25G"]),
        (
            dict.fromkeys(("s1", "s2", "s3", "s4", "s5", "s6"), 100),
            {},
            [
                "incast 5:1 at 100G",
                "all-to-all of 6",
                "reads 4:2 at 100G",
                "incast 3:1 at 100G beside a victim",
                "incast 3:1 at 100G beside TCP 2:1",
            ],
        ),
        (
            {"s1": 100, "d1": 25, "d2": 25},
            {"s1": (0, 50), "d1": (25, 0), "d2": (25, 0)},
            [
                "incast 2:1 at 25G",
                "all-to-all of 3",
                "reads 1:2 at 25G",
            ],
        ),
        (
            {"s1": 25, "d1": 25, "d2": 25},
            {"s1": (0, 60), "d1": (30, 0), "d2": (30, 0)},
            [
                "incast 2:1 at 25G",
                "all-to-all of 3",
                "detector bursts 2:1, duty 50 %",
                "demand at its rates",
            ],
        ),
    ],
)
def test_a_fabric_has_the_scenarios_that_congest_it(
    heps: FabricSearch,
    speeds: dict[str, int],
    rates: dict[str, tuple[float, float]],
    names: list[str],
) -> None:
    own = scenarios_of(servers(speeds, rates), heps.derived.lossless)
    assert [keys["scenario"] for keys in own] == names
