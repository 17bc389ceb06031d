"""Spread of pauses between beamlines: the analysis of paths beside the packet simulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from beamlines import FOUR, with_beamlines

from rocefort.beamline.facility import view_of
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


def _ends(names: Sequence[str]) -> dict[str, Sending]:
    return {name: Sending(_servers(name), (RECEIVER[name],)) for name in names}


def _simulated(fabric: Path, ends: Mapping[str, Sending], main: str, directory: Path) -> Simulation:
    """Simulate beamlines whose servers all send at line rate."""

    def flows(name: str) -> Mapping[str, Any]:
        own = {"senders": [*ends[name].senders], "receivers": [*ends[name].receivers]}
        return {"pattern": "between", **own, "queue_pairs": 8}

    keys = {
        "scenario": "pauses",
        "topology": {"kind": "fabric", "fabric": str(fabric)},
        "congestion_control": "pfc_only",
        "port_gbps": 25,
        "flows": flows(main),
        "beside": {name: flows(name) for name in ends if name != main},
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
    result = _simulated(fabric, _ends([*RECEIVER]), "bl1", tmp_path)
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
    result = _simulated(fabric, _ends(["bl2", "bl3", "bl4"]), "bl2", tmp_path)
    assert result.paused_ports == {}
    assert min(own.goodput_gbps for own in result.groups.values()) > 0.95 * LINE


PORTS = (("25GE1/0/21", "25GE1/0/21-26"), ("25GE1/0/11]", "25GE1/0/11-16]"))  # six servers each
RECEIVERS = {**{name: (to,) for name, to in RECEIVER.items()}, "bl3": ("daisygn01", "k8sgn08")}


@pytest.mark.parametrize("name", RECEIVERS)
def test_the_simulator_stops_exactly_those_that_beamline_show_lists(
    name: str, tmp_path: Path
) -> None:
    """All servers of one beamline congest its receivers, one after the other.

    The others send what fits without it: three servers to the same receiver, else one. Of the five
    receivers of bl3, those are left out that no other beamline's packets meet.
    """
    text = FOUR
    for old, new in PORTS:
        text = text.replace(old, new)
    path = tmp_path / "fabric.yaml"
    path.write_text(with_beamlines(text), encoding="utf-8")
    solution = analyse(derive(path).network)
    counts = {n: 3 if RECEIVERS[n] == RECEIVERS[name] else 1 for n in RECEIVERS} | {name: 6}
    senders = {n: tuple(f"{n}-{i + 1}" for i in range(count)) for n, count in counts.items()}
    others = {n: Sending(senders[n], RECEIVERS[n]) for n in RECEIVERS if n != name}
    assert _simulated(path, others, next(iter(others)), tmp_path).paused_ports == {}
    stopped = set[str]()
    for receiver in RECEIVERS[name]:
        ends = {**others, name: Sending(senders[name], (receiver,))}
        result = _simulated(path, ends, name, tmp_path)
        paused = {tuple(port.split(">")) for port in result.paused_ports}
        carried = pause_spread(solution, {n: [own] for n, own in ends.items()}).by_group
        stopped |= {n for n in others if not paused.isdisjoint(carried[n])}
        assert result.drops == 0
    assert stopped == {stop.name for stop in view_of(path, name).stops}


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
