"""Rules of load: the servers that may be loaded, the time, and the rate; one module decides."""

from __future__ import annotations

import ast
import os
import time as clock
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nornir.core.inventory import Host
from planned import unchanged

import rocefort
from rocefort.base.errors import Refused
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.fleet.nornir_session import open_fleet
from rocefort.models.change.plan import Gate, Plan, Wave
from rocefort.models.fabric.rdma import is_within, left_s
from rocefort.rdma.plan.gate_pairs import plan_gate
from rocefort.rdma.plan.load_rules import Load, LoadRules, load_verdict
from rocefort.rdma.rdma_plan import Program
from rocefort.rdma.rollout_gate import GateLoad
from rocefort.rdma.run.gate import expectation, perftest_command

PACKAGE = Path(rocefort.__file__).parent
RULES = "rdma/plan/load_rules.py"
# Modules that follow the names of servers through a fabric, and load none.
NAMES_ONLY = {
    "design/derive/check_consistency.py",
    "design/remove.py",
    "experiment/measured.py",  # stops tests on them
}


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Set the time zone of this machine."""

    def choose(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        clock.tzset()

    yield choose
    monkeypatch.undo()
    clock.tzset()


# --- who decides ----------------------------------------------------------------------------------


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the package; a search does not follow the links to other folders."""
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for folder in (PACKAGE, PACKAGE / "models", PACKAGE / "validators")
        for path in folder.rglob("*.py")
    }


def keys_of(module: ast.Module) -> set[str]:
    """Keys of `rdma` and `rollout` that a module reads as attributes."""
    keys = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            base = ast.unparse(node.value)
            of_rdma = base.split(".")[-1] == "rdma"
            of_rollout = base.split(".")[-1] == "rollout"
            if (
                node.attr == "rate_limit_gbps"
                or (of_rdma and node.attr in ("servers", "window"))
                or (of_rollout and node.attr == "tuning_window")
            ):
                keys.add(node.attr)
    return keys


def test_one_module_reads_the_keys_of_load() -> None:
    found = {name: keys for name, module in modules().items() if (keys := keys_of(module))}
    assert found.pop(RULES) == {"servers", "rate_limit_gbps", "window", "tuning_window"}
    assert found == {name: {"servers"} for name in NAMES_ONLY}


def test_one_module_decides_by_a_drain_or_a_time_of_day() -> None:
    callers = {
        name: {
            file
            for file, module in modules().items()
            for node in ast.walk(module)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == name
        }
        for name in ("is_within", "left_s", "undrained")
    }
    rdma = "models/fabric/rdma.py"
    assert callers["is_within"] == {RULES, rdma}
    assert callers["left_s"] == {RULES}
    # Both put its answer into `Load`.
    assert callers["undrained"] == {"rdma/run_suite.py", "rdma/rollout_gate.py"}


# --- when -----------------------------------------------------------------------------------------

NIGHT = "it is {} {}, and RDMA tests run 22:00-05:30"
ENDS = "it is {} UTC, and RDMA tests run {}: {} s are left of the {} s that it may take"


@pytest.mark.parametrize(
    ("window", "at", "seconds", "why"),
    [
        (None, "11:48", 9000, ""),
        ("02:00-02:05", "11:48", 0, "it is 11:48 UTC, and RDMA tests run 02:00-02:05"),
        ("02:00-02:05", "01:59:59", 0, "it is 01:59 UTC, and RDMA tests run 02:00-02:05"),
        ("02:00-02:05", "02:00", 300, ""),
        ("02:00-02:05", "02:00", 301, ENDS.format("02:00", "02:00-02:05", 300, 301)),
        ("02:00-02:05", "02:04", 146, ENDS.format("02:04", "02:00-02:05", 60, 146)),
        ("02:00-02:05", "02:05", 0, "it is 02:05 UTC, and RDMA tests run 02:00-02:05"),
        ("22:00-05:30", "21:59", 0, NIGHT.format("21:59", "UTC")),
        ("22:00-05:30", "22:00", 7.5 * 3600, ""),
        ("22:00-05:30", "23:59", 5.5 * 3600, ""),
        ("22:00-05:30", "00:00", 5.5 * 3600, ""),
        ("22:00-05:30", "05:29", 120, ENDS.format("05:29", "22:00-05:30", 60, 120)),
        ("22:00-05:30", "05:30", 0, NIGHT.format("05:30", "UTC")),
        # Begin and end are within the window, the time between is not.
        ("22:00-05:30", "23:00", 24 * 3600, ENDS.format("23:00", "22:00-05:30", 23400, 86400)),
    ],
)
def test_time_of_a_load(
    zone: Callable[[str], None], window: str | None, at: str, seconds: float, why: str
) -> None:
    zone("UTC")
    begins = datetime.combine(datetime(2026, 11, 27, tzinfo=UTC), time.fromisoformat(at), UTC)
    load = Load(begins=begins, lasts_s=seconds)
    assert load_verdict(LoadRules(window=window), load).reason == why


@pytest.mark.parametrize(
    ("name", "at", "why", "left"),
    [
        ("UTC", "2026-11-27T21:30", NIGHT.format("21:30", "UTC"), 0),
        ("Asia/Shanghai", "2026-11-27T13:59", NIGHT.format("21:59", "CST"), 0),
        ("Asia/Shanghai", "2026-11-27T14:00", "", 7.5 * 3600),
        ("Europe/Zurich", "2026-11-27T20:59", NIGHT.format("21:59", "CET"), 0),
        ("Europe/Zurich", "2026-07-27T20:00", "", 7.5 * 3600),  # summer time
        ("Europe/Zurich", "2026-03-28T21:00", "", 6.5 * 3600),  # this night has no 02:30
        ("Europe/Zurich", "2026-10-24T20:00", "", 8.5 * 3600),  # and this one has it twice
    ],
)
def test_the_window_is_of_the_clock_of_this_machine(
    zone: Callable[[str], None], name: str, at: str, why: str, left: float
) -> None:
    zone(name)
    begins = datetime.fromisoformat(at).replace(tzinfo=UTC)
    verdict = load_verdict(LoadRules(window="22:00-05:30"), Load(begins=begins))
    assert (verdict.reason, left_s("22:00-05:30", begins)) == (why, left)


TIMES = st.times().map(lambda t: t.replace(microsecond=0))


@given(begin=TIMES, end=TIMES, at=TIMES, seconds=st.integers(0, 90_000))
def test_a_load_that_may_begin_is_within_its_window_all_the_time(
    begin: time, end: time, at: time, seconds: int
) -> None:
    window = f"{begin:%H:%M}-{end:%H:%M}"
    if window[:5] == window[6:]:
        return
    begins = datetime.combine(datetime(2026, 6, 1, tzinfo=UTC), at).astimezone()
    if load_verdict(LoadRules(window=window), Load(begins=begins, lasts_s=seconds)).reason:
        return
    steps = [begins + timedelta(seconds=n) for n in range(0, seconds, 59)]
    assert all(is_within(window, step.astimezone().time()) for step in steps)


def test_a_load_without_a_time_is_not_judged_by_the_window() -> None:
    assert not load_verdict(LoadRules(window="02:00-02:05"), Load()).refusals


# --- who, and how much ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("listed", "named", "others", "servers"),
    [
        ((), (), ("a", "b"), ("a", "b")),
        (("b",), (), ("a", "b"), ("b",)),
        (("b",), ("a",), ("c",), ("a",)),
        (("b", "b"), (), (), ("b",)),
        ((), (), (), ()),
    ],
)
def test_servers_of_a_load(
    listed: tuple[str, ...], named: tuple[str, ...], others: tuple[str, ...], servers: object
) -> None:
    verdict = load_verdict(LoadRules(servers=listed), Load(named=named, others=others))
    assert verdict.servers == servers


@pytest.mark.parametrize(
    ("keys", "devices", "pairs", "uncovered"),
    [
        ({}, {"leaf05"}, ["readout01>"], ()),
        ({"servers": ("readout01", "k8sgn08")}, {"leaf05"}, ["readout01>k8sgn08"], ()),
        ({"servers": ("k8sgn12", "readout01")}, {"leaf03"}, ["k8sgn12>readout01"], ()),
        (
            {"servers": ("transfer01", "daisygn01")},
            {"leaf05"},
            [],
            ("leaf05, none of its RoCE servers is in rdma.servers",),
        ),
        (
            {"servers": ("readout01",)},
            {"leaf05"},
            [],
            ("leaf05, no RoCE server of another leaf is in rdma.servers",),
        ),
        ({"rate_limit_gbps": 10}, {"leaf05"}, ["readout01>"], ()),
        (
            {"rate_limit_gbps": 0.1, "servers": ("readout01", "readout02")},
            {"leaf05"},
            [],
            (
                "readout01 > readout02, rdma.rate_limit_gbps is 0.1, less than 1% of a port of 25 "
                "Gb/s, and shows nothing about it",
            ),
        ),
    ],
)
def test_a_gate_loads_only_what_the_fabric_permits(
    heps: DerivedNetwork,
    keys: dict[str, Any],
    devices: set[str],
    pairs: list[str],
    uncovered: tuple[str, ...],
) -> None:
    rdma = heps.fabric.rdma.model_copy(update=keys)
    gate = plan_gate(heps.network, rdma, devices)
    made = [f"{pair.client}>{pair.server}" for pair in gate.pairs]
    assert len(made) == len(pairs)
    assert all(one.startswith(other) for one, other in zip(made, pairs, strict=True))
    assert gate.uncovered == uncovered
    assert gate.limit_gbps == keys.get("rate_limit_gbps")
    assert set(gate.servers) <= set(keys.get("servers") or gate.servers)


def test_a_spine_wave_reports_each_leaf_that_listed_servers_do_not_cover(
    heps: DerivedNetwork,
) -> None:
    rdma = heps.fabric.rdma.model_copy(update={"servers": ("transfer01", "daisygn01")})
    gate = plan_gate(heps.network, rdma, {"spine01"})
    assert sorted(gate.servers) == ["daisygn01", "transfer01"]
    assert len(gate.uncovered) == len([n for n in heps.network.nodes if "leaf" in n.name]) - 2


def test_a_listed_server_without_a_connection_is_named(heps: DerivedNetwork) -> None:
    rdma = heps.fabric.rdma.model_copy(update={"servers": ("readout01", "k8sgn08")})
    with pytest.raises(Refused) as caught:
        plan_gate(heps.network, rdma, {"leaf05"}, accessible=("readout01", "readout02"))
    assert "add readout01, and one on another leaf, to the connections' servers" in str(
        caught.value
    )


def test_the_limit_is_in_the_command_of_the_sender_and_in_the_expectation(
    heps: DerivedNetwork,
) -> None:
    host = Host("k8sgn12", data={"rdma_device": "mlx5_0", "gid_index": 3})
    rdma = heps.fabric.rdma.model_copy(update={"rate_limit_gbps": 10})
    gate = plan_gate(heps.network, rdma, {"leaf03"})
    plain = "ib_write_bw -d mlx5_0 -x 3 -F --report_gbits -D 5 --cpu_util --tclass 138"
    limit = "--rate_limit=10 --rate_units=g --rate_limit_type=SW --burst_size=16"
    assert perftest_command(host, Program.WRITE_BW, gate) == plain
    assert perftest_command(host, Program.WRITE_BW, gate, "10.65.3.10") == (
        f"{plain} {limit} 10.65.3.10"
    )
    assert "rate_limit" not in perftest_command(host, Program.WRITE_LAT, gate, "10.65.3.10")
    assert [expectation(gate, pair).min_gbps for pair in gate.pairs] == [pytest.approx(9.2)]
    wide = gate.model_copy(update={"limit_gbps": 400.0})
    assert expectation(wide, wide.pairs[0]).min_gbps == pytest.approx(92)


# --- Kubernetes -----------------------------------------------------------------------------------


def plan_of(wave: Wave) -> Plan:
    """Plan of one wave without changes."""
    texts = dict.fromkeys(("fabric", "source", "tool", "intent_digest"), "heps")
    return Plan(**texts, trial_s=600, changes=unchanged([wave]), waves=(wave,))


def test_a_gate_does_not_load_a_node_that_is_not_drained(
    open_lab: Any, heps: DerivedNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = open_lab(("k8sgn08", "k8sgn12"), {"k8sgn12": ("kubelet",)})
    tool = tmp_path / "kubectl"
    tool.write_text('#!/bin/sh\n[ "$2" = node ] && echo \'{"spec": {}}\' || exit 1\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    rdma = heps.fabric.rdma.model_copy(update={"servers": ("k8sgn08", "k8sgn12")})
    gate: Gate = plan_gate(heps.network, rdma, {"leaf03"})
    wave = Wave(name="canary", devices=("leaf01",), gate=gate)
    plan = plan_of(wave)
    with open_fleet(heps.network, lab.access) as nornir:
        why = "k8sgn12 is the Kubernetes node k8sgn12, which takes new pods"
        assert [GateLoad(plan, nornir, (), 1)(wave, begun=b) for b in (False, True)] == [why, why]
        assert not GateLoad(plan, nornir, ("k8sgn12",), 1)(wave, begun=True)
    assert not any("ib_write" in call for root in lab.roots.values() for call in root.calls)


def test_a_server_whose_answer_is_not_read_may_be_a_node(
    heps: DerivedNetwork, open_lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = open_lab(("k8sgn08", "k8sgn12"))
    monkeypatch.setattr("rocefort.rdma.plan.probe.NODE", "sh -c 'echo @host; echo x'")
    rdma = heps.fabric.rdma.model_copy(update={"servers": ("k8sgn08", "k8sgn12")})
    wave = Wave(name="canary", devices=("leaf01",), gate=plan_gate(heps.network, rdma, {"leaf03"}))
    plan = plan_of(wave)
    with open_fleet(heps.network, lab.access) as nornir:
        why = GateLoad(plan, nornir, (), 1)(wave, begun=True)
    assert why.startswith("k8sgn12 may be a Kubernetes node: its answer is ")
    assert "; k8sgn08 may be" in why
