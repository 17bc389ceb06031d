"""Published tables beside simulations and stored runs: each cell has a value or a reason."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import typer
from outputs import fields_of
from pydantic import ValidationError
from typer.testing import CliRunner, Result

from rocefort.base.errors import BadInput
from rocefort.base.repository import INVENTORY, ROOT
from rocefort.models.network.observed import NicCounters
from rocefort.paper.model import Paper, PaperRow, Papers
from rocefort.paper.paper import PAPERS, configured_lines, paper_of, references_of
from rocefort.paper.report import bench_plots, papers_page
from rocefort.paper.simulated import SimulatedFigures, SimulationRequest, simulated_figures
from rocefort.paper.stored_runs import StoredRuns, stored_runs
from rocefort.rdma.compare import compare_with
from rocefort.rdma.judge.path_difference import bootstrap
from rocefort.rdma.judge.run_store import open_history
from rocefort.rdma.publications import (
    PublishedItem,
    PublishedItemState,
    load_reference,
    reference_names,
)
from rocefort.rdma.rdma_plan import RdmaPlan, RdmaRun, Round, Suite
from rocefort.rdma.results import Figures, Measurement, RdmaResult
from rocefort.rdma.run_record import CounterReading, FabricState, RunRecord
from rocefort.tasks import cli
from rocefort.tune.run import evaluators

NOW = datetime(2026, 11, 1, tzinfo=UTC)
CONDITIONS = {
    "nic": "ConnectX-5", "driver": "mlx5_core 24.10-1.1.4", "system": "AlmaLinux 9.3",
    "congestion_control": "DCQCN", "repetitions": "10000",
}  # fmt: skip


def _stored(*, link: str = "mlx5_0/1", counter: str = "out_of_sequence") -> RdmaResult:
    """A run of ib_write_bw between two servers on different leaves."""
    run = RdmaRun.model_validate(
        {
            "id": "x", "program": "ib_write_bw", "client": "a", "server": "b", "switches": 3,
            "size_bytes": 65536, "reach_gbps": 100,
        }
    )  # fmt: skip
    nic = NicCounters(server="a", link=link, values={counter: 0})
    reading = CounterReading(at=NOW, nics=(nic,))
    measured = Measurement(run=run, outcome="measured", sentence="", figures=Figures(gbps=91.5))
    plan = RdmaPlan(
        fabric="heps", suite=Suite.WRITE, hosts=(), rounds=(Round(number=1, runs=(run,)),)
    )
    state = FabricState(source="fabric.yaml", digest="0" * 64)
    return RdmaResult(
        id="r1", plan=plan, began=NOW, measurements=(measured,), conditions=CONDITIONS,
        record=RunRecord(fabric=state, before=reading, after=reading),
    )  # fmt: skip


def _rows(paper: Paper) -> dict[str, PaperRow]:
    return {row.name: row for table in paper.tables for row in table.rows}


def _without_simulation(name: str, runs: StoredRuns, monkeypatch: pytest.MonkeyPatch) -> Paper:
    monkeypatch.setattr("rocefort.paper.paper.simulated_figures", lambda *_: SimulatedFigures())
    request = SimulationRequest((1,), lambda: pytest.fail("nothing is simulated"), Path("heps"))
    return paper_of(name, request, runs)


@pytest.mark.parametrize("name", reference_names())
def test_every_printed_figure_has_a_row_and_every_empty_cell_a_reason(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = _without_simulation(name, StoredRuns("rdma.db"), monkeypatch)
    rows = [row for table in paper.tables for row in table.rows]
    figures = load_reference(name).figures
    assert sorted(row.name for row in rows) == sorted(figure.name for figure in figures)
    assert all(row.printed for row in rows)
    cells = [cell for row in rows for cell in (row.simulated, row.guests, row.site)]
    assert all(cell.text == "" and cell.origin for cell in cells)


def test_a_table_has_the_numbers_as_they_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = _rows(_without_simulation("bytetuning", StoredRuns(""), monkeypatch))
    assert rows["operations, ByteTuning"].printed == "43.20 K IOPS"
    assert rows["queue, DCTCP"].printed == "1,160 K cells"
    assert rows["queue, DCTCP"].doubt == "that of DCTCP is printed as 1.16 M"


def test_a_stored_run_fills_the_cells_of_its_conditions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a run that is deleted leaves them empty, with the reason."""
    file = tmp_path / "rdma.db"
    with open_history(file, make=True) as past:
        past.keep(_stored(), ())
    paper = _without_simulation("heps-paper", stored_runs(file), monkeypatch)
    cell = _rows(paper)["bandwidth with DCQCN"].site
    assert cell.text == "91.5 Gb/s"
    assert cell.origin == "run r1; not published: message size"
    other = _rows(paper)["bandwidth with HPCC"].site
    assert (other.text, other.origin) == ("", "run r1: congestion control: theirs HPCC, ours DCQCN")
    assert [each.site for each in paper.apparatus if each.name == "nic"] == ["ConnectX-5"]
    file.unlink()
    paper = _without_simulation("heps-paper", stored_runs(file), monkeypatch)
    cell = _rows(paper)["bandwidth with DCQCN"].site
    assert (cell.text, cell.origin) == ("", f"no run between real servers in {file}")


def test_a_run_between_guests_is_in_its_own_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "rdma.db"
    with open_history(file, make=True) as past:
        past.keep(_stored(link="rxe0/1", counter="completer_retry_err"), ())
    row = _rows(_without_simulation("heps-paper", stored_runs(file), monkeypatch))[
        "bandwidth with DCQCN"
    ]
    assert (row.guests.text, row.site.text) == ("91.5 Gb/s", "")


def test_a_simulated_cell_moves_with_the_seed_and_with_the_fabric_s_ecn(tmp_path: Path) -> None:
    other = tmp_path / "fabric.yaml"
    text = (INVENTORY / "heps" / "fabric.yaml").read_text(encoding="utf-8")
    assert text.count("ecn: ai-ecn-hpc") == 1
    other.write_text(text.replace("ecn: ai-ecn-hpc", "ecn: huawei-delay-sensitive"), "utf-8")
    publication = load_reference("heps-paper")
    first, seed, ecn = (
        simulated_figures(
            publication,
            SimulationRequest(
                seeds, lambda: evaluators("processes", 2, tmp_path / "results"), fabric
            ),
        )
        for seeds, fabric in (((1,), Path("heps")), ((2,), Path("heps")), ((1,), other))
    )
    loaded = ("Table 2", "bandwidth with DCQCN")
    assert first.cells[loaded].text != seed.cells[loaded].text
    assert first.cells[loaded].text != ecn.cells[loaded].text


def test_the_configuration_has_the_published_thresholds_on_every_switch() -> None:
    lines = list(configured_lines(Path("heps")))
    switches = sum(
        each.switches for each in lines if "xoff static 600" in each.line and each.view == "ports"
    )
    assert switches == 10
    assert [e.switches for e in lines if e.line == "assign queue 4 model ai_ecn_hpc"] == [10]


def test_a_document_that_is_not_known_is_refused() -> None:
    with pytest.raises(BadInput) as caught:
        references_of(["hesp"])
    assert str(caught.value) == (
        "NAME: no document 'hesp'; did you mean 'heps'?; they are heps, eantc, redigo, "
        "bytetuning and lanl"
    )
    assert {each for own in PAPERS.values() for each in own} == {*reference_names()}


def _run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["paper", *words, "--progress", "none"])


def test_the_command_writes_text_json_and_a_page(tmp_path: Path) -> None:
    page = tmp_path / "papers.html"
    done = _run("redigo", "lanl", "--history", str(tmp_path / "none.db"), "--html", str(page))
    assert done.exit_code == 0, done.exception
    assert "latency at 8192 bytes" in done.stdout
    assert "site, " in done.stdout
    done = _run("lanl", "--format", "json")
    papers = Papers.model_validate(fields_of(done.stdout))
    assert [paper.reference for paper in papers.papers] == ["lanl-400g"]
    assert papers_page(papers).count("<table>") >= 3
    assert "<h2" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("words", [(), ("heps", "--all")])
def test_either_names_or_all(words: tuple[str, ...]) -> None:
    done = _run(*words)
    assert str(done.exception) == "NAME: one document or all; name one, or add --all"


def test_every_item_is_shown_by_commands_and_tests_that_exist() -> None:
    """The five documents have 106 items; at least 70 of them are whole."""
    items = [item for name in reference_names() for item in load_reference(name).items]
    assert len(items) == len({item.item for item in items}) == 106
    assert sum(item.state is PublishedItemState.WHOLE for item in items) >= 70
    shown = {text.strip() for item in items for text in (item.shown or "").split(";") if text}
    for text in shown:
        program, *words = text.split()
        if program.startswith("tests/"):
            assert (ROOT / text).exists(), text
            continue
        command: Any = typer.main.get_command(cli)
        while commands := getattr(command, "commands", {}):
            command = commands[words.pop(0)]
        for fabric in words:
            assert (INVENTORY / fabric).is_dir() or fabric in ("cabling", *PAPERS), text


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"state": "whole"}, "'x' is whole; `shown` belongs to whole and part"),
        ({"state": "part", "shown": "y"}, "'x' is part; `lacks` belongs to part and missing"),
        ({"state": "whole", "shown": "y", "lacks": "z"}, "belongs to part and missing"),
    ],
)
def test_an_item_has_what_its_state_needs(keys: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValidationError) as caught:
        PublishedItem.model_validate({"item": "x", **keys})
    assert sentence in str(caught.value)


def test_the_count_of_items_is_printed_for_each_document_and_for_all() -> None:
    done = _run("redigo", "lanl", "--history", "none.db")
    items = [load_reference(name).items for name in ("redigo", "lanl-400g")]
    assert f"{len(items[0])} items: " in done.stdout
    assert f"all documents: {sum(map(len, items))} items: " in " ".join(done.stdout.split())


# --- a bench --------------------------------------------------------------------------------------


def _on_bench(run: str, switches: int, **latencies: tuple[float, ...]) -> RdmaResult:
    """A run between guests, back to back or through a switch; `b64` is of 64 bytes."""
    measurements = [
        Measurement(
            run=RdmaRun.model_validate(
                {
                    "id": f"{size}.{number}", "program": "ib_write_lat", "client": "host1",
                    "server": "host2", "switches": switches, "size_bytes": int(size[1:]),
                }
            ),
            outcome="measured", sentence="", figures=Figures(latency_us=value),
        )
        for size, values in latencies.items() for number, value in enumerate(values)
    ]  # fmt: skip
    rate = RdmaRun.model_validate(
        {
            "id": "rate", "program": "ib_write_bw", "client": "host1", "server": "host2",
            "switches": switches, "size_bytes": 8192, "reach_gbps": 10,
        }
    )  # fmt: skip
    measurements.append(
        Measurement(run=rate, outcome="measured", sentence="", figures=Figures(gbps=9.0 - switches))
    )
    base = _stored(link="rxe0/1", counter="completer_retry_err")
    plan = base.plan.model_copy(update={"suite": Suite.SWEEP})
    update = {"id": run, "measurements": tuple(measurements), "plan": plan}
    return base.model_copy(update=update)


A = _on_bench("a", 0, b32=(10.0, 10.2, 10.4), b64=(11.0, 11.0, 11.2))
B = _on_bench("b", 1, b32=(12.0, 12.2, 12.4), b64=(14.0, 14.5, 15.0))


def test_a_bench_has_both_configurations_and_their_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "rdma.db"
    with open_history(file, make=True) as past:
        past.keep(A, ())
        past.keep(B, ())
        compared = compare_with(past, "b", "a")
    assert compared.title == "run b through a switch less run a back to back"
    assert compared.lines[0] == (
        "ib_write_lat, 32 bytes: 2.00 us (95 %: 1.73 to 2.27): 10.20 back to back, 12.20 through "
        "the switch"
    )
    paper = _without_simulation("redigo", stored_runs(file), monkeypatch)
    rows = _rows(paper)
    cell = rows["latency at 64 bytes"].guests
    assert cell.text == "11.00 us back to back, 14.50 us through one switch"
    assert cell.origin == "run a and run b; theirs is their own program, ours ib_write_lat"
    assert rows["share of the line above 4096 bytes"].guests.text.startswith("90.00 % back to back")
    switch = rows["nominal latency of the switch"].guests
    assert switch.text == "2.00 us (95 %: 1.73 to 2.27)"
    assert "theirs is nominal" in switch.origin
    assert paper.bench is not None
    assert [row.size_bytes for row in paper.bench.rows] == [32, 64, 8192]
    assert [plot.title for plot in bench_plots(paper)] == [
        "Figure 1, latency",
        "Figure 2, throughput",
    ]
    page = papers_page(Papers(papers=(paper,)))
    assert page.count("<polyline") == 7  # A, B, calculated, printed; of rates A, B, printed
    file.unlink()
    paper = _without_simulation("redigo", stored_runs(file), monkeypatch)
    assert paper.bench is not None
    assert paper.bench.origin.startswith("none, no run back to back")
    assert _rows(paper)["nominal latency of the switch"].guests.text == ""


def test_an_interval_takes_two_repetitions_and_is_the_same_each_time() -> None:
    assert bootstrap([1.0], [2.0, 3.0]) is None
    low, high = bootstrap([1.0, 1.1, 0.9, 1.0], [3.0, 3.2, 2.8, 3.0]) or (0.0, 0.0)
    assert low < 2.0 < high
    assert (low, high) == bootstrap([1.0, 1.1, 0.9, 1.0], [3.0, 3.2, 2.8, 3.0])
