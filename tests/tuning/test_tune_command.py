"""`tune simulate` as a user types it: its text, its JSON, and bad scenarios."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from outputs import fields_of
from typer.testing import CliRunner, Result

from rocefort.base.errors import BadInput
from rocefort.tasks import cli
from rocefort.tune.model import Simulation
from rocefort.tune.simulator import simulate

SCENARIO = """\
scenario: two-to-one
flows: {count: 2, bytes: 500000}
ecn: {kmin_kbytes: 5, kmax_kbytes: 200, pmax_percent: 10}
seeds: [7, 8]
"""
Tune = Callable[..., Result]


@pytest.fixture
def tune(tmp_path: Path) -> Tune:
    """Run `tune simulate` on a text."""

    def run(text: str, *options: str) -> Result:
        path = tmp_path / "scenario.yaml"
        path.write_text(text, encoding="utf-8")
        return CliRunner().invoke(cli, ["tune", "simulate", str(path), *options])

    return run


def test_the_json_has_what_the_issue_lists_and_is_reproducible(tune: Tune) -> None:
    done = tune(SCENARIO, "--format", "json")
    assert done.exit_code == 0
    result = Simulation.model_validate(fields_of(done.stdout))
    assert (result.scenario, result.seeds) == ("two-to-one", (7, 8))
    assert [run.seed for run in result.runs] == [7, 8]
    times = result.completion_us
    assert times is not None
    assert times.min <= times.p50 <= times.mean + times.max
    assert times.p50 <= times.p99 <= times.max
    queue = result.queue_kbytes
    assert 0 <= queue.p50 <= queue.p95 <= queue.p99 <= queue.max
    ideal_us = 2 * 500_000 * 8 / 25_000 * 1048 / 1000
    assert ideal_us < times.max < 2 * ideal_us
    assert result.goodput_gbps == pytest.approx(2 * 500_000 * 8 / times.max / 1000, rel=0.02)
    assert result.not_modelled[0].startswith("AI-ECN")
    assert tune(SCENARIO, "--format", "json").stdout == done.stdout
    other = json.loads(tune(SCENARIO.replace("[7, 8]", "[9]"), "--format", "json").stdout)
    assert other["runs"][0]["queue_kbytes"] != result.runs[0].queue_kbytes.model_dump()


def test_the_text_has_means_and_spreads(tune: Tune) -> None:
    done = tune(SCENARIO)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "two-to-one: dcqcn, 2 runs; kbytes of 1,000 bytes"
    assert "The queue is that of the port with the longest one: switch>receiver." in lines
    assert any(line.startswith("goodput, Gb/s  ") for line in lines)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("count: 2", "count: 0", "2:16: flows.count: 0 is out of range; write from 1 to 512"),
        ("kmin_kbytes: 5", "kmin_kbytes: 500", "kmin_kbytes is above kmax_kbytes; exchange them"),
        ("ecn:", "ecm:", "3:1: ecm: unknown key 'ecm'; did you mean 'ecn'?"),
        ("seeds: [7, 8]", "seeds: []", "'seeds' is empty; give at least one"),
        (
            "seeds: [7, 8]",
            "nic: {profile: pfc-only}",
            "4:16: nic.profile: 'pfc-only' is no profile of DCQCN; "
            "write congestion_control: pfc_only, without nic",
        ),
        (
            "seeds: [7, 8]",
            "nic: {profile: conectx-dcqcn}",
            "there is no congestion control profile 'conectx-dcqcn'; did you mean 'connectx-dcqcn'?",
        ),
        (
            "seeds: [7, 8]",
            "buffer: {xoff_kbytes: 9}",
            "buffer: xoff_kbytes and xon_kbytes belong together; give both or none",
        ),
        (
            "seeds: [7, 8]",
            "measure_from_ms: 1000",
            "measure_from_ms is not before the end; reduce it",
        ),
    ],
)
def test_a_bad_scenario_is_one_clear_error(tune: Tune, old: str, new: str, message: str) -> None:
    done = tune(SCENARIO.replace(old, new))
    assert isinstance(done.exception, BadInput)
    assert message in str(done.exception)
    assert len(done.exception.problems) == 1


def test_without_numba_the_error_names_its_install_line(
    tune: Tune, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulate, "find_spec", lambda _name: None)
    done = tune(SCENARIO)
    assert isinstance(done.exception, BadInput)
    assert str(done.exception) == (
        "the simulator needs numba, which is not installed; "
        "pip install 'rocefort[tuning] @ URL' with the URL of Rocefort's wheel"
    )


def test_other_commands_do_not_import_the_simulator() -> None:
    code = "import sys, rocefort.tasks; print(sorted({'numba', 'numpy'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
