"""`tune search --write`: profiles in the YAML in place, which pass `check` and are planned."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from typer.testing import CliRunner, Result

from rocefort.base.documents.edit import with_entry
from rocefort.base.errors import Refused
from rocefort.base.repository import ROOT
from rocefort.design.derive.derive import derive
from rocefort.design.subject import subject_of
from rocefort.models.finding import Severity
from rocefort.tasks import cli
from rocefort.tune.fabric_search import fabric_search
from rocefort.tune.run import Searched, SearchRequest, plan_of, search
from rocefort.tune.switch_values import ecn_thresholds
from rocefort.tune.write import write_choice
from rocefort.validators.checks import check


class Written(NamedTuple):
    """A fabric to which a search has written its choice."""

    file: Path
    before: str
    run: Result


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("site") / "heps"
    shutil.copytree(ROOT / "inventory/heps", folder)
    file = folder / "fabric.yaml"
    before = file.read_text(encoding="utf-8")
    options = ("--objective", "throughput", "--nic", "--method", "annealing", "--evaluations", "3")
    command = ["tune", "search", str(folder), *options, "--workers", "2", "--write"]
    run = CliRunner().invoke(cli, [*command, "--results", str(folder.parent / "results")])
    return Written(file, before, run)


def errors(path: Path, *severities: Severity) -> set[str]:
    """Messages of `check`: errors, and those of further severities."""
    subject = subject_of(path, None)
    found = check(subject.network, subject.sources).findings
    return {f"{f.rule} {f.message}" for f in found if f.severity in (Severity.ERROR, *severities)}


def test_the_fabric_uses_the_profiles_and_has_no_new_error(written: Written) -> None:
    assert written.run.exit_code == 0, written.run.exception
    fabric = derive(written.file).fabric
    assert (fabric.lossless, fabric.congestion_control) == ("tuned-throughput", "tuned-throughput")
    ecn = fabric.profiles.ecn["tuned-throughput"]
    assert ecn.source is not None
    assert ecn.source.startswith("rocefort tune search, 20")
    assert not ecn.confirmed
    lossless = fabric.profiles.lossless["tuned-throughput"]
    assert lossless.ecn == "tuned-throughput"
    assert lossless.source_of("xoff_kbytes") == ecn.source
    assert lossless.source_of("queue") == fabric.profiles.lossless["heps"].source
    assert lossless.deadlock == fabric.profiles.lossless["heps"].deadlock
    assert fabric.profiles.congestion_control["tuned-throughput"].lossless == "tuned-throughput"
    assert errors(written.file) == errors(ROOT / "inventory/heps/fabric.yaml") == set()


def test_all_other_lines_stay(written: Written) -> None:
    after = written.file.read_text(encoding="utf-8").splitlines()
    gone = [line for line in written.before.splitlines() if line not in after]
    assert gone == [
        "lossless: heps",
        "congestion_control: connectx-dcqcn  # assumed: the NICs' own defaults",
    ]
    assert "congestion_control: tuned-throughput  # assumed: the NICs' own defaults" in after


def test_the_result_names_the_profiles(written: Written) -> None:
    text = "".join(written.run.stdout.split())
    sentence = (
        f"{written.file} now uses lossless and ECN profile tuned-throughput, "
        "and congestion control profile tuned-throughput"
    )
    assert sentence.replace(" ", "") in text


def test_a_second_search_replaces_the_profiles(written: Written) -> None:
    first = written.file.read_text(encoding="utf-8")
    request = SearchRequest(
        fabric=written.file,
        objective="throughput",
        method="annealing",
        evaluations=2,
        nic=True,
        workers=2,
        results=written.file.parents[1] / "results",
    )
    write_choice(search(request), ", measured")  # of a search alone it may be refused
    again = written.file.read_text(encoding="utf-8")
    assert yaml.safe_load(again).keys() == yaml.safe_load(first).keys()
    assert again.count("    tuned-throughput:\n") == 3


def test_allowed_candidates_bring_no_error_to_check(tmp_path: Path) -> None:
    """The corners of the space, written as profiles, are checked by all rules."""
    own = fabric_search(Path("heps"), None, nic=False)
    text = (ROOT / "inventory/heps/fabric.yaml").read_text(encoding="utf-8")
    points = list(own.space.points())
    before = errors(ROOT / "inventory/heps/fabric.yaml", Severity.WARNING)
    for point in (points[0], points[len(points) // 2], points[-1]):
        values = own.space.values(point)
        limits = ecn_thresholds(own.switch_values(own.space.at(point)))
        ecn = {"kind": "static", "thresholds": limits}
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}" / "fabric.yaml"
        path.parent.mkdir()
        changed = with_entry(text, ("profiles", "ecn", "tried"), ecn)
        lossless = ("profiles", "lossless", "heps")
        xoff = round(values["xoff_kbytes"])
        changed = with_entry(changed, (*lossless, "ecn"), "tried")
        changed = with_entry(changed, (*lossless, "xoff_kbytes"), xoff)
        gap = round(values["xon_gap_kbytes"])
        changed = with_entry(changed, (*lossless, "xon_kbytes"), xoff - gap)
        path.write_text(changed, encoding="utf-8")
        assert errors(path, Severity.WARNING) <= before


QUICK = ("--method", "annealing", "--evaluations", "3", "--workers", "2", "--write")


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A fabric of two servers, of `rocefort new`."""
    size = ("--spines", "1", "--leaves", "2", "--servers-per-leaf", "1")
    run = CliRunner().invoke(cli, ["new", "tiny", *size, "--directory", str(tmp_path)])
    assert run.exit_code == 0, run.exception
    return tmp_path / "tiny/fabric.yaml"


def test_a_choice_that_the_verdict_does_not_recommend_is_not_written(
    tiny: Path, tmp_path: Path
) -> None:
    before = tiny.read_bytes()
    results = ("--results", str(tmp_path / "results"))
    run = CliRunner().invoke(cli, ["tune", "search", str(tiny), *QUICK, *results])
    assert isinstance(run.exception, Refused)
    first, last = run.exception.problems
    assert first.what.startswith("Keep today's values: none of 3 candidates is better for goodput")
    assert first.what.endswith(
        "fresh seeds of incast 1:1 at 100G): no searched value changes the objective"
    )
    assert last.how == "the file is untouched"
    assert tiny.read_bytes() == before


def test_leaves_keep_a_profile_of_their_own(tiny: Path, tmp_path: Path) -> None:
    text, leaf = tiny.read_text(encoding="utf-8"), derive(tiny).fabric.leaves[-1].name
    named = text.replace(f"name: {leaf}\n", f"name: {leaf}\n    lossless: ai-fabric-hpc\n", 1)
    tiny.write_text(named, encoding="utf-8")
    request = SearchRequest(fabric=tiny, method="annealing", evaluations=2, workers=1)
    searched = search(replace(request, results=tmp_path / "results"))
    own = f"{leaf} has a lossless profile of its own (ai-fabric-hpc)"
    whole = f"{own}: the search takes the fabric's profile there, too, and changes no other"
    assert whole in searched.result.notes
    done = write_choice(searched, ", measured")
    assert f"{own}, which stays as it is" in done.written
    assert derive(tiny).lossless_of(leaf).name == "ai-fabric-hpc"


def test_a_choice_with_todays_marks_keeps_the_ecn_profile(tiny: Path, tmp_path: Path) -> None:
    request = SearchRequest(fabric=tiny, method="annealing", evaluations=2, workers=1)
    searched = search(replace(request, results=tmp_path / "results"))
    result = searched.result
    settings = result.chosen.settings.like(ecn=result.start.settings.ecn)
    chosen = result.chosen.like(settings=settings)
    same = replace(searched, result=result.like(chosen=chosen))
    done = write_choice(same, ", measured")  # the search alone recommends nothing
    assert done.written[0] == f"{tiny} now uses lossless profile tuned-both"
    fabric = derive(tiny).fabric
    assert fabric.profiles.lossless["tuned-both"].ecn == "ai-ecn-hpc"
    assert not fabric.profiles.ecn


def test_comments_of_kept_values_stay_with_them(written: Written) -> None:
    text = written.file.read_text(encoding="utf-8")
    new = text[text.index("\n    tuned-throughput:\n", text.index("\n  lossless:\n")) :]
    assert "      roce_dscp: 34  # assumed: AF41, queue 4 by a CloudEngine's default map" in new
    assert "      scheduling:  # assumed: weights of the vendor's AI Fabric HPC case" in new
    assert "detect_time: 10  # assumed: as seen on public V200 configurations" in new
    assert "\n      xon_kbytes: " in new
    assert "# published\n" not in new, "a value of the search is not the published one"


def test_a_result_names_the_kind_of_ecn_that_is_replaced(written: Written) -> None:
    assert "AI-ECN (ai-ecn-hpc) gives way to the choice's static thresholds" in " ".join(
        written.run.stdout.split()
    )


def test_a_fabric_that_changed_is_not_written(tmp_path: Path) -> None:
    folder = tmp_path / "heps"
    shutil.copytree(ROOT / "inventory/heps", folder)
    plan = plan_of(SearchRequest(fabric=folder))
    file = folder / "fabric.yaml"
    file.write_text(file.read_text(encoding="utf-8") + "# more\n", encoding="utf-8")
    with pytest.raises(Refused, match="the fabric has changed since the search began"):
        write_choice(Searched(None, plan))  # type: ignore[arg-type]
