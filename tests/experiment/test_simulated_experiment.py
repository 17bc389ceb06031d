"""`experiment --simulate`: its runs, its result as text and JSON, its page, and its continuation."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from outputs import fields_of, hold
from typer.testing import CliRunner, Result

from rocefort.base.errors import Refused
from rocefort.experiment.collectives import COLLECTIVES, EXCHANGE, CollectiveCell, cells_of
from rocefort.experiment.model import ExperimentPlan, ExperimentResult
from rocefort.experiment.report import experiment_report
from rocefort.experiment.store import ExperimentFolder
from rocefort.reports.writers.terminal import text_of
from rocefort.tasks import cli

SERVERS = "k8sgn08,k8sgn12,readout04"
Experiment = Callable[..., Result]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


def words_of(folder: Path, results: Path, *words: str) -> list[str]:
    """Words of a small experiment: three servers, two repetitions, one size."""
    shared = ["--servers", SERVERS, "--repeat", "2", "--sizes", "16384", "--workers", "1"]
    shared += ["--results", str(results), "--progress", "none", "--directory", str(folder)]
    return ["experiment", "heps", "--factor", "ecn=static,ai", "--simulate", *shared, *words]


@pytest.fixture
def experiment(results: Path, tmp_path: Path) -> Experiment:
    def run(*words: str) -> Result:
        return CliRunner().invoke(cli, words_of(tmp_path / "own", results, *words))

    return run


def result_of(done: Result) -> ExperimentResult:
    assert done.exit_code == 0, (done.output, done.exception)
    hold(["experiment", "--format", "json"], done.stdout)
    return ExperimentResult.model_validate(fields_of(done.stdout))


STEPS: list[tuple[str, int, list[tuple[bool, int, int]]]] = [
    (EXCHANGE, 1, [(True, 6400, 1)]),
    (EXCHANGE, 36, [(True, 1296 * 6400, 1296)]),
    ("AllReduce", 1, [(True, 200, 1), (True, 200, 1)]),
    ("AllReduce", 36, [(True, 7200, 1296), (True, 7200, 1296)]),
    ("Gather", 36, [(False, 36 * 6400, 36)]),
    ("Reduce", 1, [(True, 200, 1), (False, 200, 1)]),
    ("Reduce", 36, [(True, 7200, 1296), (False, 200, 36)]),
]


@pytest.mark.parametrize(("collective", "processes", "steps"), STEPS)
def test_bytes_of_each_step(
    collective: str, processes: int, steps: list[tuple[bool, int, int]]
) -> None:
    own = CollectiveCell(collective, processes, 6400).steps(32)
    assert [(step.to_all, step.pair_bytes, step.connections) for step in own] == steps


def test_the_largest_cells_of_32_servers_are_left_out() -> None:
    cells, left_out = cells_of((), (1, 36), 32)
    assert {cell.collective for cell in cells} == set(COLLECTIVES)
    assert left_out == [
        "AllToAll, AllGather 256 KiB, 36 processes: 337 GB of payload, too much to simulate"
    ]


def test_all_runs_are_kept_in_their_order(experiment: Experiment, tmp_path: Path) -> None:
    result = result_of(experiment("--format", "json"))
    order = ["static", "ai-low", "ai-high", "ai-high", "ai-low", "static"]
    assert [run.run.level for run in result.runs] == order
    assert [run.id for run in result.runs] == ["seed 2002"] * 3 + ["seed 2003"] * 3
    assert [(c.first, c.other, len(c.cells)) for c in result.comparisons] == [
        ("static", "ai-low", 8),
        ("static", "ai-high", 8),
    ]
    folder = ExperimentFolder(tmp_path / "own")
    events = [(row["event"], row["run"]) for row in folder.journal()]
    assert events == [(event, n) for n in range(1, 7) for event in ("began", "ended")]
    text = text_of(*experiment_report(result), width=80)
    lines = [line for line in text.splitlines() if str(tmp_path) not in line]
    assert max(map(len, lines)) <= 80
    assert "ecn of heps: static, ai-low and ai-high; simulated, not measured" in text
    page = (folder.path / "index.html").read_text(encoding="utf-8")
    assert "ai-high against static" in page and "Assumed" in page
    assert json.loads((folder.path / "result.json").read_text())["state"] == "complete"


def test_the_same_command_adds_only_what_is_missing(experiment: Experiment, tmp_path: Path) -> None:
    first = result_of(experiment("--format", "json"))
    runs = sorted((tmp_path / "own/runs").iterdir())
    kept = {path: path.read_bytes() for path in runs}
    runs[3].unlink()
    again = result_of(experiment("--format", "json"))
    same = {path for path, content in kept.items() if path.read_bytes() == content}
    assert same == set(runs) - {runs[3]}
    assert [run.values for run in again.runs] == [run.values for run in first.runs]


def test_tcp_of_every_second_server_is_beside_the_collectives(experiment: Experiment) -> None:
    words = ("--servers", f"{SERVERS},transfer01", "--tcp-gbps", "5", "--repeat", "1")
    result = result_of(experiment(*words, "--processes-per-server", "1", "--format", "json"))
    assert result.plan.options["beside"] == "2 TCP senders at 5 Gb/s"
    assert result.plan.options["servers"] == "k8sgn08, readout04"
    exchange = result.runs[0].values[0]
    assert exchange.counters["Gb/s of all spines"] > 10
    assert any(line.startswith("TCP: 2 TCP senders") for line in result.assumptions)


def test_another_experiment_is_refused(experiment: Experiment, tmp_path: Path) -> None:
    result_of(experiment("--format", "json"))
    done = experiment("--repeat", "3")
    assert done.exit_code != 0
    assert str(done.exception) == (
        "repeat: is 3, and 2 in the folder\n"
        f"{tmp_path}/own: the folder has another experiment; name another folder with --directory"
    )


def test_another_version_or_another_profile_is_another_experiment(tmp_path: Path) -> None:
    """The text of the fabric is the same, and the runs would not be."""
    folder = ExperimentFolder(tmp_path)
    plan = ExperimentPlan(
        fabric="heps",
        source="heps/fabric.yaml",
        fabric_digest="1",
        version="1.0",
        factor="ecn",
        suite="mpi",
        simulated=True,
        repeat=1,
        levels=(),
        options={},
        runs=(),
    )
    folder.begin(plan, {})
    with pytest.raises(Refused) as refused:
        folder.begin(plan.model_copy(update={"version": "1.1", "fabric_digest": "2"}), {})
    assert str(refused.value) == (
        "heps/fabric.yaml: the fabric or a profile has changed since the experiment began\n"
        "version: is 1.1, and 1.0 in the folder\n"
        f"{tmp_path}: the folder has another experiment; name another folder with --directory"
    )


def test_a_torn_line_of_the_journal_is_skipped(tmp_path: Path) -> None:
    folder = ExperimentFolder(tmp_path)
    folder.note("began", run=1)
    with (tmp_path / "journal.jsonl").open("a") as file:
        file.write('{"at": "2026')
    folder.note("ended", run=1)
    assert [row["event"] for row in folder.journal()] == ["began", "ended"]


def test_a_killed_experiment_continues_with_exactly_its_runs(results: Path, tmp_path: Path) -> None:
    words = words_of(tmp_path / "own", results, "--repeat", "4")
    command = [sys.executable, "-m", "rocefort", *words]
    runs = tmp_path / "own/runs"
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as running:
        while not (runs.is_dir() and len(list(runs.glob("*.json"))) > 2):
            assert running.poll() is None, running.communicate()[1].decode()
            time.sleep(0.01)
        os.kill(running.pid, signal.SIGKILL)
    kept = {path: path.read_bytes() for path in runs.glob("*.json")}
    done = CliRunner().invoke(cli, [*words, "--format", "json"])
    result = result_of(done)
    assert [run.run.number for run in result.runs] == list(range(1, 13))
    assert len(list(runs.glob("*.json"))) == 12
    assert all(path.read_bytes() == content for path, content in kept.items())


REFUSED = [
    (
        ("--suite", "write"),
        "--suite: the suite write is not simulated; write --suite mpi, or leave --simulate out",
    ),
    (
        ("--sizes", "a"),
        "--sizes: 'a' is no number above 0; write numbers with commas, such as 2048,65536",
    ),
    (
        ("--servers", "readout99"),
        "--servers: the fabric has no server 'readout99' with RoCE; name one of its servers",
    ),
    (
        ("--servers", "k8sgn08"),
        "--servers: k8sgn08 alone exchanges nothing; name two servers or more",
    ),
    (
        ("--servers", "k8sgn08,k8sgn12,k8sgn08"),
        "--servers: a server is there twice; name each server once",
    ),
    (
        ("--sizes", "9" * 5000),
        "--sizes: '99999999999999999999' is no number above 0; write numbers with commas, such as 2048,65536",
    ),
    (
        ("--groups", "2", "--cable-by", "person"),
        "--groups: a simulated experiment does not use it; use it with --connections\n"
        "--cable-by: a simulated experiment does not use it; use it with --connections",
    ),
    (
        ("--restore", "--duration", "4"),
        "--duration: a simulated experiment does not use it; use it with --connections\n"
        "--restore: a simulated experiment does not use it; use it with --connections",
    ),
    (
        (
            "--iterations",
            "5",
            "--drained",
            "spine01",
            "--history",
            "a.db",
            "--storage-directory",
            "/mnt/a",
            "--targets",
            "1",
        ),
        "\n".join(
            f"{name}: a simulated experiment does not use it; use it with --connections"
            for name in (
                "--iterations",
                "--storage-directory",
                "--targets",
                "--drained",
                "--history",
            )
        ),
    ),
    (
        ("--sizes", "999999999999"),
        "--sizes: every collective is too large to simulate; name smaller sizes",
    ),
]


@pytest.mark.parametrize(("words", "sentence"), REFUSED)
def test_a_bad_option_is_one_error(
    experiment: Experiment, words: tuple[str, ...], sentence: str
) -> None:
    done = experiment(*words)
    assert str(done.exception) == sentence
