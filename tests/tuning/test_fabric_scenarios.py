"""Scenarios of a fabric: its servers, paths, cables and buffers, and its demand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from efforts import tries

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import derive
from rocefort.tune.fabric_search import fabric_ground, fabric_of
from rocefort.tune.run import load_scenario, simulate_file
from rocefort.tune.scenario import Scenario
from rocefort.tune.simulator.layout import Cable, Ground, layout_of


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
            "patterns between and demand, topology.kind fabric and topology.fabric belong "
            "together; give all or none",
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
