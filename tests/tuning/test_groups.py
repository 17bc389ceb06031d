"""Groups of flows: victims of pauses, bursts with breaks, and their measures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st
from simulators import run_scenario
from typer.testing import CliRunner

from rocefort.base.errors import BadInput
from rocefort.base.repository import ROOT
from rocefort.tasks import cli
from rocefort.tune.run import load_scenario, simulate_file
from rocefort.tune.search.objectives import BESIDE, GOALS

PAYLOAD = 1000 / 1048  # of a packet
VICTIM = {"pattern": "between", "senders": ["sender1"], "receivers": ["other"], "gbps": 5}
BYSTANDER = {"pattern": "between", "senders": ["third"], "receivers": ["fourth"], "gbps": 5}


def congested(gbps: float, **keys: Any) -> dict[str, Any]:
    """Three senders of a rate to one at 25 Gb/s, a victim at the first one, and a bystander."""
    return {
        "congestion_control": "pfc_only",
        "flows": {"count": 3, "gbps": gbps},
        "beside": {"victim": VICTIM, "bystander": BYSTANDER},
        "buffer": {"xoff_kbytes": 60, "xon_kbytes": 30},
        "duration_ms": 4,
        "measure_from_ms": 1,
        "seeds": [1],
        **keys,
    }


# --- victims --------------------------------------------------------------------------------------


@settings(max_examples=tries(40))
@given(gbps=st.one_of(st.floats(4, 7.5), st.floats(10, 18)))
def test_a_victim_loses_goodput_exactly_while_its_link_is_paused(gbps: float) -> None:
    """Compared with the same traffic in a buffer that never pauses a link."""
    vast = {"total_kbytes": 1_000_000, "xoff_kbytes": 50_000, "xon_kbytes": 0}
    result, free = run_scenario(**congested(gbps)), run_scenario(**congested(gbps, buffer=vast))
    assert (free.pauses, free.drops, result.drops) == (0, 0, 0)
    paused = result.paused_ports.get("sender1>switch")
    share = paused.paused_us / 3000 if paused else 0.0
    victim, without = (each.groups["victim"].goodput_gbps for each in (result, free))
    assert (share > 0) == (3 * gbps > 25) == (victim < 0.99 * without)
    assert victim == pytest.approx(without * (1 - share), rel=0.1)
    if share == 0:
        assert victim == without
    bystanders = [each.groups["bystander"].goodput_gbps for each in (result, free)]
    assert bystanders[0] == bystanders[1] == pytest.approx(5 * PAYLOAD, rel=0.002)
    assert {"third>switch", "other>switch"}.isdisjoint(result.paused_ports)


def test_a_victim_behind_the_spines_of_a_paused_leaf_loses_goodput() -> None:
    """Head-of-line blocking: it shares no port with the incast but the leaf's way to the spines."""
    keys: dict[str, Any] = {
        "congestion_control": "pfc_only",
        "flows": {"count": 8, "bytes": 500_000},
        "topology": {"kind": "leaf_spine", "leaves": 3, "spines": 2, "uplink_gbps": 100},
        "buffer": {"xoff_kbytes": 40, "xon_kbytes": 20},
        "beside": {"victim": {"pattern": "between", "senders": ["a"], "receivers": ["b"]}},
        "seeds": [1],
    }
    blocked = run_scenario(**keys)
    free = run_scenario(**{**keys, "buffer": {"xoff_kbytes": 3000, "xon_kbytes": 20}})
    assert "a>leaf1" in blocked.paused_ports
    assert (free.pauses, free.drops, blocked.drops) == (0, 0, 0)
    rates = [result.groups["victim"].goodput_gbps for result in (blocked, free)]
    assert rates[0] < 0.7 * rates[1]
    assert rates[1] == pytest.approx(25 * PAYLOAD, rel=0.01)


def test_measures_of_groups_and_ports_add_up() -> None:
    result = run_scenario(**congested(14, seeds=[1, 2]))
    assert list(result.groups) == ["flows", "victim", "bystander"]
    total = sum(own.goodput_gbps for own in result.groups.values())
    assert total == pytest.approx(result.goodput_gbps)
    ports = result.paused_ports.values()
    assert sum(own.pauses for own in ports) == pytest.approx(result.pauses)
    assert sum(own.paused_us for own in ports) == pytest.approx(result.paused_us)
    slowest = [own.slowest_gbps for own in result.groups.values()]
    assert slowest[0] * 3 <= result.groups["flows"].goodput_gbps
    assert run_scenario(flows={"count": 2}, duration_ms=0.1).groups == {}


def test_a_run_ends_with_its_last_finite_flow_beside_endless_ones() -> None:
    result = run_scenario(**congested(14, flows={"count": 3, "bytes": 300_000}))
    main, victim = result.groups["flows"], result.groups["victim"]
    assert main.completion_us is not None
    assert result.runs[0].end_ms * 1000 == pytest.approx(main.completion_us.max)
    assert (victim.completion_us, victim.unfinished, result.unfinished) == (None, 0, 0)


@pytest.mark.parametrize("transport", ["roce", "tcp"])
@pytest.mark.parametrize("measure_from_ms", [0, None, 1.9])
def test_goodput_of_finite_flows_is_all_they_sent_in_the_time_they_took(
    measure_from_ms: float | None, transport: str
) -> None:
    """Beside endless flows, and ended before the measured time begins."""
    small = {"pattern": "between", "senders": ["a", "b"], "receivers": ["c", "d"]}
    result = run_scenario(
        congestion_control="pfc_only",
        flows={"count": 2},
        beside={"small": {**small, "bytes": 100_000, "transport": transport}},
        duration_ms=2,
        measure_from_ms=measure_from_ms,
        seeds=[1],
    )
    own, main = result.groups["small"], result.groups["flows"]
    assert own.completion_us is not None
    assert own.completion_us.max < 200
    assert own.goodput_gbps == pytest.approx(4 * 100_000 * 0.008 / own.completion_us.max)
    assert own.slowest_gbps == pytest.approx(100_000 * 0.008 / own.completion_us.max)
    assert main.goodput_gbps == pytest.approx(25 * PAYLOAD, rel=0.05)
    assert main.goodput_gbps <= result.goodput_gbps < 30
    beside = next(goal for goal in GOALS if goal.name == BESIDE)
    assert beside.read(result) == pytest.approx(own.goodput_gbps)


def test_goodput_of_a_finite_group_is_of_its_own_time() -> None:
    """From its first start to its last end, or to the end of the run; fairness is of its flows."""
    keys: dict[str, Any] = {"congestion_control": "pfc_only", "duration_ms": 1, "seeds": [1]}
    keys["measure_from_ms"] = 0.9
    spread = {"count": 2, "bytes": 10_000, "start_spread_us": 500}
    late = run_scenario(flows={**spread, "pattern": "pairs"}, **keys)
    assert late.completion_us is not None
    assert late.fairness == pytest.approx(1)
    assert late.flows.mean_gbps == pytest.approx(10_000 * 0.008 / late.completion_us.mean)
    busy = late.runs[0].end_ms * 1000
    assert 20_000 * 0.008 / busy < late.goodput_gbps < 20_000 * 0.008 / late.completion_us.max
    cut = run_scenario(flows={"count": 2, "bytes": 10**8}, **keys)
    assert (cut.unfinished, cut.completion_us) == (2, None)
    assert cut.goodput_gbps == pytest.approx(25 * PAYLOAD, rel=0.02)
    assert cut.flows.mean_gbps == pytest.approx(cut.goodput_gbps / 2)


# --- bursts ---------------------------------------------------------------------------------------


@settings(max_examples=tries(30))
@given(
    gbps=st.sampled_from([5, 12.5, 25]),
    burst_us=st.integers(20, 200),
    duty=st.integers(10, 100),
    transport=st.sampled_from(["roce", "tcp"]),
)
def test_a_source_sends_its_rate_in_its_share_of_the_time(
    gbps: float, burst_us: int, duty: int, transport: str
) -> None:
    """The last of 10 bursts ends nine periods and one burst after the start, and the way."""
    packet, payload = (1048, 1000) if transport == "roce" else (1500, 1430)
    each = round(gbps * burst_us * 125 / packet)
    result = run_scenario(
        flows={
            "count": 1,
            "gbps": gbps,
            "burst_us": burst_us,
            "duty_percent": duty,
            "bytes": 10 * each * payload,
            "transport": transport,
        },
        seeds=[1],
    )
    assert result.completion_us is not None
    last = 9 * burst_us * 100 / duty + each * packet * 8 / gbps / 1000
    slow_start = 25 if transport == "tcp" else 0  # of the first windows, or a late burst
    assert last <= result.completion_us.max + packet * 8 / gbps / 1000 + 0.01
    assert result.completion_us.max < last + 6 + slow_start


def test_a_late_burst_is_made_up() -> None:
    """Two sources of 25 Gb/s, half of the time at once: the receiver's port has no breaks."""
    flows = {"count": 2, "burst_us": 100, "duty_percent": 50, "bytes": 298_000 * 10}
    result = run_scenario(congestion_control="pfc_only", flows=flows, seeds=[1])
    assert result.goodput_gbps == pytest.approx(25 * PAYLOAD, rel=0.01)
    assert (result.drops, result.unfinished) == (0, 0)


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "beside: {victim: {pattern: betwen, senders: [a], receivers: [b]}}",
            "beside.victim.pattern",
        ),
        ("beside: {flows: {count: 2}}", "beside.flows is the name of the first group; rename it"),
        (
            "beside: {web: {pattern: between, senders: [a]}}",
            "beside.web: senders and receivers belong to pattern between; give both with it, or "
            "none",
        ),
        (
            "beside: {web: {pattern: demand, transport: tcp}}",
            "beside.web: pattern demand needs topology.kind fabric; add it",
        ),
        (
            "beside: {web: {count: 2, burst_us: 10}}",
            "beside.web: burst_us and duty_percent belong together; give both or none",
        ),
        (
            "tcp: {weight: 20}",
            "tcp has no flows; give a group transport: tcp, or remove the key",
        ),
        (
            "beside: {web: {pattern: between, senders: [a, a], receivers: [a]}}",
            "beside.web: senders and receivers are one server; name another one",
        ),
        (
            "beside: {web: {pattern: between, senders: [a], receivers: [b, switch]}}",
            "beside.web: switch is a switch of the topology; rename the server",
        ),
        (
            "topology: {kind: leaf_spine, leaves: 3}\n"
            "beside: {web: {pattern: between, senders: [leaf3], receivers: [b]}}",
            "beside.web: leaf3 is a switch of the topology; rename the server",
        ),
        (
            "topology: {kind: leaf_spine}\n"
            "beside: {web: {pattern: between, senders: [spine2], receivers: [b]}}",
            "beside.web: spine2 is a switch of the topology; rename the server",
        ),
        ("topology: {kind: fabric}", "topology.kind fabric and topology.fabric belong together"),
        ("beside: {web: {count: 2, transport: tcp}}\ntcp: {weight: 0}", "tcp.weight: "),
    ],
)
def test_a_wrong_group_is_one_error_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(f"scenario: wrong\nflows: {{count: 2}}\n{text}\n", encoding="utf-8")
    with pytest.raises(BadInput) as raised:
        simulate_file(path)
    assert message in str(raised.value)
    assert str(raised.value).count(f"{path}:") == 1


def test_wrong_names_of_the_first_group_are_one_error(tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    for names, message in (
        ("senders: [a], receivers: [a]", "flows: senders and receivers are one server; name"),
        ("senders: [switch], receivers: [a]", "flows: switch is a switch of the topology; rename"),
    ):
        path.write_text(f"flows: {{pattern: between, {names}}}\n", encoding="utf-8")
        with pytest.raises(BadInput, match=message):
            simulate_file(path)


def test_a_server_may_have_the_name_of_a_switch_that_the_topology_lacks() -> None:
    for topology in ({"kind": "one_switch"}, {"kind": "leaf_spine", "leaves": 2, "spines": 2}):
        names = {"senders": ["leaf3"], "receivers": ["spine3"]}
        flows = {"pattern": "between", **names, "bytes": 10_000}
        assert run_scenario(flows=flows, topology=topology, seeds=[1]).unfinished == 0


def test_the_text_of_a_simulation_has_its_groups_and_paused_ports(tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(
        "scenario: incast beside a victim\ncongestion_control: pfc_only\n"
        "flows: {count: 3, bytes: 200000}\nbuffer: {xoff_kbytes: 60, xon_kbytes: 30}\n"
        "beside:\n"
        "  victim: {pattern: between, senders: [sender1], receivers: [other]}\n"
        "  web: {pattern: between, senders: [w], receivers: [receiver], transport: tcp}\n"
        "seeds: [1]\n",
        encoding="utf-8",
    )
    run = CliRunner().invoke(cli, ["tune", "simulate", str(path)])
    assert run.exit_code == 0, run.exception
    lines = run.stdout.splitlines()
    groups = lines[lines.index("Groups of flows") + 1 :]
    assert [line.split()[0] for line in groups[1:4]] == ["flows", "victim", "web"]
    ports = lines[lines.index("Pauses by port") + 1 :]
    assert ports[0].strip() == "of 3 ports that peers paused"
    assert {line.split()[0] for line in ports[2:5]} == {f"sender{n}>switch" for n in (1, 2, 3)}
    assert "packets of TCP dropped" in run.stdout


def test_the_scenarios_of_the_guide_are_valid_and_its_victim_is_paused(tmp_path: Path) -> None:
    guide = (ROOT / "docs/how-to/tuning.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n(scenario: .*?)```", guide, re.DOTALL)
    assert len(blocks) == 3
    paths = [tmp_path / f"{number}.yaml" for number in range(len(blocks))]
    for path, block in zip(paths, blocks, strict=True):
        path.write_text(block, encoding="utf-8")
        load_scenario(path)
    result = simulate_file(next(p for p in paths if "victim" in p.read_text(encoding="utf-8")))
    assert list(result.groups) == ["flows", "victim", "web", "detector"]
    assert result.paused_ports["sender1>switch"].paused_us > 0
    assert result.drops == 0
