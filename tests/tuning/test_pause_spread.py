"""Spread of pauses between beamlines: the analysis of paths beside the packet simulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from beamlines import with_beamlines

from rocefort.design.derive.derive import derive
from rocefort.tune.model import Simulation
from rocefort.tune.run import simulate_file
from rocefort.validators.capacity.pauses import PauseSpread, Sending, pause_spread
from rocefort.validators.routing.engine import analyse

RECEIVER = {"bl1": "storage01", "bl2": "transfer01", "bl3": "daisygn01", "bl4": "transfer01"}
SERVERS = {"bl1": 6, "bl2": 1, "bl3": 1, "bl4": 1}
FROM_LEAF06 = {("leaf06", "spine01"), ("leaf06", "spine02")}  # too few packets to reach xoff
LINE = 25 * 1000 / 1048  # Gb/s of payload in packets of the scenario


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("beamlines") / "fabric.yaml"
    path.write_text(with_beamlines(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def spread(fabric: Path) -> PauseSpread:
    groups = {name: [Sending(_servers(name), (receiver,))] for name, receiver in RECEIVER.items()}
    return pause_spread(analyse(derive(fabric).network), groups)


def _servers(name: str) -> tuple[str, ...]:
    return tuple(f"{name}-{number + 1}" for number in range(SERVERS[name]))


def _simulated(fabric: Path, names: Sequence[str], directory: Path) -> Simulation:
    """Simulate beamlines whose servers all send at line rate."""

    def flows(name: str, **keys: Any) -> Mapping[str, Any]:
        ends = {"senders": [*_servers(name)], "receivers": [RECEIVER[name]]}
        return {"pattern": "between", **ends, **keys}

    main, *others = names
    keys = {
        "scenario": "pauses",
        "topology": {"kind": "fabric", "fabric": str(fabric)},
        "congestion_control": "pfc_only",
        "port_gbps": 25,
        "flows": flows(main, queue_pairs=8),
        "beside": {name: flows(name, queue_pairs=8) for name in others},
        "buffer": {"xoff_kbytes": 100, "xon_kbytes": 90},
        "duration_ms": 2,
        "measure_from_ms": 0.5,
        "seeds": [1],
    }
    path = directory / "scenario.yaml"
    path.write_text(yaml.safe_dump(keys), encoding="utf-8")
    return simulate_file(path)


def test_the_simulator_stops_exactly_those_that_the_analysis_names(
    fabric: Path, spread: PauseSpread, tmp_path: Path
) -> None:
    """bl1 fills storage01: bl2 waits behind it on leaf05, bl3 at leaf04, and bl4 nowhere."""
    result = _simulated(fabric, [*RECEIVER], tmp_path)
    paused = {tuple(port.split(">")) for port in result.paused_ports}
    stopped = {
        name
        for name, carried in spread.by_group.items()
        if name != "bl1" and not paused.isdisjoint(carried)
    }
    assert stopped == spread.stopped_by("bl1").keys() == {"bl2", "bl3"}
    assert paused == spread.paused_by("bl1").keys() - {("bl3-1", "leaf06"), *FROM_LEAF06}
    assert result.groups["bl2"].goodput_gbps < 0.8 * LINE
    assert result.groups["bl4"].goodput_gbps > 0.99 * LINE
    assert result.drops == 0


def test_without_the_congestion_none_is_stopped(fabric: Path, tmp_path: Path) -> None:
    """bl2 could stop bl4 at transfer01, and does not while both fit."""
    result = _simulated(fabric, ["bl2", "bl3", "bl4"], tmp_path)
    assert result.paused_ports == {}
    assert min(own.goodput_gbps for own in result.groups.values()) > 0.95 * LINE


def test_links_of_a_pause(spread: PauseSpread) -> None:
    stops = spread.stopped_by("bl1")
    assert stops["bl3"].congested == ("leaf04", "storage01")
    assert stops["bl3"].link in {("spine01", "leaf04"), ("spine02", "leaf04")}
    assert (stops["bl2"].link, stops["bl2"].congested[0]) == (("bl2-1", "leaf05"), "leaf05")
    assert {*spread.stoppers_of("bl4")} == {"bl2"}
    assert {*spread.stopped_by("bl4")} == {"bl1", "bl2"}  # bl1 by the uplinks of leaf05


def test_packets_outside_the_lossless_queue_take_no_part(tmp_path: Path) -> None:
    path = tmp_path / "fabric.yaml"
    text = with_beamlines().replace("name: bl3\n", "name: bl3\n    transport: tcp\n")
    path.write_text(text, encoding="utf-8")
    groups = {name: [Sending(_servers(name), (end,))] for name, end in RECEIVER.items()}
    spread = pause_spread(analyse(derive(path).network), groups)
    assert "bl3" not in spread.stopped_by("bl1")
    assert spread.stopped_by("bl3") == {}
