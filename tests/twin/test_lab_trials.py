"""Trials of a running lab: faults of its command lines, chaos, opinions, spread, failover, load."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from outputs import document_of, fields_of, hold, refusals
from twin_labs import PATIENT_S, Run, law_holds, whole

from rocefort.base.errors import DeviceFailed
from rocefort.base.json_output import OUTPUT_VERSION
from rocefort.fleet.connections import load_connections
from rocefort.fleet.nornir_session import open_fleet
from rocefort.fleet.switch_steps import collect_running
from rocefort.lab.experiments.ecmp_spread import BOUND, measure_spread
from rocefort.lab.experiments.fault_injection import (
    FailoverOptions,
    FaultSampler,
    measure_failover,
    run_chaos,
)
from rocefort.lab.experiments.opinions import Batfish, after, opinions_of
from rocefort.lab.experiments.under_load import under_load
from rocefort.lab.lab_report import Chaos, Opinions, failover_report
from rocefort.lab.network import SessionTimers, running_network, timers_of
from rocefort.lab.twin.faults import active_faults, break_lab, broken_file, mend_lab
from rocefort.lab.twin.registry import lines_directory
from rocefort.lab.twin.twin import Twin
from rocefort.reports.writers.terminal import text_of
from rocefort.validators.failures.study import single_failures
from rocefort.validators.routing.engine import analyse

pytestmark = pytest.mark.twin
RECORDED = Path(__file__).parents[1] / "recorded"


@pytest.fixture(scope="module")
def twin(heps_twin: Twin) -> Twin:
    return heps_twin


ALIEN = "leaf01 198.51.100.0/24: the kernel has 10.1.0.0, the engine no route"


def alien(twin: Twin, what: str) -> None:
    """Add a route to a kernel that no engine predicts, or delete it."""
    words = f"ip route {what} 198.51.100.0/24 via 10.1.0.0 proto bgp".split()
    assert twin.run("leaf01", words) == (0, "")


# --- faults of command lines ---


def running(twin: Twin, *switches: str) -> dict[str, str]:
    """Return the running configuration of switches over SSH."""
    access = load_connections(lines_directory(twin.registry, twin.record) / "connections.yaml")
    with open_fleet(running_network(twin), access) as nornir:
        return dict(collect_running(nornir, switches))


def test_nobody_gets_in_until_it_is_mended(run: Run, twin: Twin) -> None:
    for fault, switch in (("refuse-login", "leaf01"), ("wrong-host-key", "leaf02")):
        assert run("lab", "break", "heps", fault, switch)[0] == 0
        with pytest.raises(DeviceFailed, match=switch):
            running(twin, switch)
        assert "sysname leaf03" in running(twin, "leaf03")["leaf03"]
    assert run("lab", "mend", "heps", "all") == (
        0,
        "repaired: wrong-host-key leaf02\nrepaired: refuse-login leaf01\n",
        "",
    )
    assert set(running(twin, "leaf01", "leaf02")) == {"leaf01", "leaf02"}


def test_counters_rise_until_it_is_mended(run: Run, twin: Twin) -> None:
    connections = lines_directory(twin.registry, twin.record) / "connections.yaml"
    health = ("health", "heps", "--connections", connections, "--interval", "1")
    assert run("lab", "break", "heps", "input-errors", "leaf01@100GE1/0/57=7/s")[0] == 0
    output = json.loads((lines_directory(twin.registry, twin.record) / "faults.json").read_text())
    assert output == {"there": ["input-errors leaf01@100GE1/0/57=7/s"], "refused": {}}
    code, out, _ = run(*health, "--select", "LIV010")
    assert (code, "leaf01" in out, "100GE1/0/57" in out) == (1, True, True), out
    assert run("lab", "mend", "heps")[0] == 0
    assert run(*health, "--select", "LIV010")[0] == 0


BAD = [
    (("hang", "leaf01"), "hang needs a part of a line; add it behind @"),
    (("full-flash", "leaf01@x"), "full-flash takes no line; remove @ and the text behind it"),
    (("input-errors", "leaf01@100GE1/0/99=7"), "no port is called 100GE1/0/99"),
    (
        ("refuse-login", "leaf99"),
        "'leaf99' names no switch; write NODE with one of: spine01, spine02, leaf01, leaf02, "
        "leaf03, leaf04, leaf05, leaf06, leaf07, leaf08",
    ),
]


@pytest.mark.parametrize(("words", "message"), BAD, ids=[words[0] for words, _ in BAD])
def test_no_fault_of_a_command_line(
    run: Run, twin: Twin, words: tuple[str, str], message: str
) -> None:
    code, out, err = run("lab", "break", "heps", *words)
    assert (code, out) == (2, "")
    assert err.removeprefix("rocefort: ").removeprefix(f"{words[1]}: ") == f"{message}\n"
    assert active_faults(twin.registry, twin.record) == ()


def test_only_all_can_be_mended(run: Run) -> None:
    assert run("lab", "mend", "heps", "leaf01") == (
        2,
        "",
        "rocefort: 'leaf01' cannot be fixed alone; leave it out, or write all: faults that "
        "share cables are fixed together\n",
    )


# --- chaos ---


def test_the_same_seed_draws_the_same_faults(twin: Twin) -> None:
    network = running_network(twin)
    sampler, same, other = (
        list(islice(FaultSampler(network, Random(n)).rounds(), 200)) for n in (7, 7, 8)
    )
    assert sampler == same != other
    drawn = {fault for faults in sampler for fault, _ in faults}
    assert len(drawn) > 15
    assert {len(faults) for faults in sampler} == {1, 2}


def test_the_law_holds_after_each_step_of_a_chaos(twin: Twin) -> None:
    """Faults that are visible without BFD; the others are in test_lab_bfd.py."""
    law_holds(twin, seed=2, steps=3)


def test_what_breaks_the_law_ends_a_chaos_and_is_mended(
    twin: Twin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No fault of the chaos explains a route that no switch announces.

    None of its faults changes routing: routes are stable on any machine, so that the deadline may
    be short.
    """
    monkeypatch.setattr(
        "rocefort.lab.experiments.fault_injection.GROUPS", (("full-flash", "fail-commit"),)
    )
    monkeypatch.setattr(
        "rocefort.lab.experiments.fault_injection.WITH_ANOTHER", (("lie-ok @commit*1",),)
    )
    monkeypatch.setattr("rocefort.lab.experiments.fault_injection.PATIENCE_S", 1.0)
    monkeypatch.setattr("rocefort.lab.experiments.fault_injection.detection_s", lambda _: 0.0)
    reports: list[Chaos] = []

    def gain_a_route(chaos: Chaos) -> None:
        reports.append(chaos)
        if len(reports) == 1:
            alien(twin, "add")

    try:
        result = run_chaos(twin, 2, 60, lambda: False, gain_a_route)
    finally:
        alien(twin, "del")
    assert result == reports[-1]
    assert (result.failed, result.stopped) == (True, "the law did not hold")
    assert [(step.differing, step.first) for step in result.steps] == [(1, ALIEN)] * 2
    assert result.steps[-1].done == "fixed: 1 fault"
    assert active_faults(twin.registry, twin.record) == ()
    assert whole(twin)


@pytest.mark.parametrize("share", [0.2, pytest.param(0.6, marks=pytest.mark.thorough)])
def test_a_break_that_is_killed_anywhere_is_mended(twin: Twin, share: float) -> None:
    """Also while the cables are removed, and no record has them yet."""
    script = (
        "import sys; from pathlib import Path\n"
        "from rocefort.lab.twin.faults import break_lab\n"
        "from rocefort.lab.twin.registry import Registry\n"
        "print('begins', flush=True)\n"
        "break_lab(Registry(Path(sys.argv[1])), 'heps', 'node-down', 'spine02')\n"
    )
    words = [sys.executable, "-c", script, str(twin.registry.root)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"begins\n"
        until = time.monotonic() + PATIENT_S
        while not active_faults(twin.registry, twin.record) and time.monotonic() < until:
            time.sleep(0.001)
        time.sleep(share * 0.4)
        process.kill()
    mend_lab(twin.registry, "heps")
    assert whole(twin)
    assert len({frozenset(c.ends) for c in Twin.find("heps", twin.registry).topology.cables}) == 38


def test_the_commands_journal(run: Run, twin: Twin, tmp_path: Path) -> None:
    journal = tmp_path / "chaos.json"
    code, out, err = run("lab", "chaos", "heps", "--minutes", "0.01", "--journal", journal)
    assert (code, err) == (0, "")
    first, timers, *lines = out.splitlines()
    assert first == "chaos on heps: seed 1, 0.01 minutes"
    assert timers == "timers: BGP keepalive 10 s, hold 30 s, no BFD"
    assert lines[-1].endswith(" steps, 0 against the law; all faults are repaired")
    hold(["lab", "chaos"], journal.read_text())
    journal_text = Chaos.model_validate(fields_of(journal.read_text()))
    assert len(journal_text.steps) == len(lines) - 2 >= 2
    break_lab(twin.registry, "heps", "full-flash", "leaf01")
    assert run("lab", "chaos", "heps")[::2] == (
        4,
        "rocefort: heps: is broken on purpose: full-flash leaf01; rocefort lab mend heps\n",
    )
    mend_lab(twin.registry, "heps")
    assert broken_file(twin.registry, twin.record).read_text() == "[]"


# --- measurements ---


def test_three_opinions_on_heps(run: Run, twin: Twin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS")
    code, out, err = run("lab", "opinions", "--recordings", RECORDED)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "fabric  state  sets  differ: kernel, engine  differ: kernel, batfish  "
        "differ: engine, batfish",
        f"heps    whole   178{'0':>24}{'0':>25}{'0':>25}",
        "Batfish on heps: recorded heps",
        "178 next-hop sets in 1 state, 0 differences",
    ]


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(3, id="link", marks=pytest.mark.thorough),
        pytest.param(20, id="leaf"),
        pytest.param(25, id="spine", marks=pytest.mark.thorough),
    ],
)
def test_opinions_after_a_failure(twin: Twin, number: int) -> None:
    network = running_network(twin)
    failure = single_failures(network, analyse(network))[number]
    row = after(twin, network, Batfish.of(RECORDED), failure, PATIENT_S)
    assert (row.state, row.differing, row.batfish, row.first) == (
        f"without {failure}",
        {"kernel, engine": 0, "kernel, batfish": 0, "engine, batfish": 0},
        "recorded heps-forks",
        "",
    )
    assert 130 < row.compared < 178
    assert active_faults(twin.registry, twin.record) == ()


def test_opinions_that_differ_are_told(twin: Twin) -> None:
    network = running_network(twin)
    alien(twin, "add")
    try:
        row = opinions_of(twin, network, Batfish.of(RECORDED))
    finally:
        alien(twin, "del")
    assert row.differing == {"kernel, engine": 1, "kernel, batfish": 1, "engine, batfish": 0}
    assert row.first == ALIEN
    head = {"schema_version": OUTPUT_VERSION, "command": "lab opinions"}
    found = Opinions(rows=(row,)).model_dump(mode="json")
    assert refusals("lab opinions", head | found) == []


def test_a_thousand_flows_spread_as_predicted(twin: Twin) -> None:
    spread = measure_spread(twin, "k8sgn08", "readout01", 1000)
    assert [(row.spine, row.expected) for row in spread.rows] == [
        ("spine01", 500),
        ("spine02", 500),
    ]
    assert sum(row.counted for row in spread.rows) == 1000
    assert [row.counted for row in spread.rows] == [row.foretold for row in spread.rows]
    assert spread.chance >= BOUND
    assert spread.fair
    hold(["lab", "spread"], document_of("lab spread", spread))


def test_one_path_has_nothing_to_spread(run: Run, twin: Twin) -> None:
    code, _, err = run("lab", "spread", "heps", "--from", "k8sgn08", "--to", "unknown")
    assert (code, err.startswith("rocefort: no server is called 'unknown'; ")) == (2, True)
    code, _, err = run("lab", "spread", "heps", "--from", "transfer01", "--to", "k8sgn08")
    assert (code, "on different leaves" in err) == (4, True), err


def test_a_failover_that_is_stopped_at_once_has_no_table(twin: Twin) -> None:
    failover = measure_failover(twin, None, None, FailoverOptions(), lambda _: None, lambda: True)
    assert failover.rows == ()
    hold(["lab", "failover"], document_of("lab failover", failover))
    assert text_of(failover_report(failover), width=80).splitlines()[2:] == ["nothing was measured"]


def test_sessions_that_are_reset_under_load_are_named(twin: Twin) -> None:
    def clear() -> int:
        with twin.daemons("leaf01").vty("bgpd") as vty:
            vty.ask("clear bgp 10.1.0.0")
        return int(whole(twin))

    result, done = under_load(twin, FailoverOptions(12, 20), clear)
    assert done
    assert {"leaf01 to 10.1.0.0", "spine01 to 10.1.0.1"} <= set(result.reset)
    assert (result.sessions, result.gained) == (32, 0)
    assert result.sent > result.lost
    hold(["lab", "load"], document_of("lab load", result))


def test_a_command_under_load_ends_as_it_ends(run: Run, twin: Twin) -> None:
    code, out, err = run("lab", "load", "heps", "--flows", "12", "--", "sh", "-c", "exit 7")
    assert (code, err) == (7, "")
    assert out.startswith("12 flows of UDP 4791 between all servers, each 100 packets/s, for ")
    assert "of 32 BGP sessions reset, 0 more than before" in out
    assert run("lab", "load", "heps", "--rate", "100000", "ls")[2] == (
        "rocefort: 24 flows of 100000 packets/s; at most 20000 packets/s, all flows together\n"
    )


def test_timers_in_words(twin: Twin) -> None:
    assert [str(each) for each in timers_of(twin)] == ["BGP keepalive 10 s, hold 30 s, no BFD"]
    with_bfd = SessionTimers(10, 30, "3 x 300 ms", 0.9)
    assert str(with_bfd) == "BGP keepalive 10 s, hold 30 s, BFD 3 x 300 ms"
