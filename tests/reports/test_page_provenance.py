"""Provenance in the head of the page, and colours by the findings of each switch alone."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from rocefort import __version__
from rocefort.models.device.device import Device
from rocefort.models.finding import Finding, Report, Severity, Where
from rocefort.models.network.network import Network, Node, SwitchRole
from rocefort.verification.page.fabric_page import PageContent, Provenance, page, provenance_of
from rocefort.verification.page.findings_section import groups_of, worst_of

MADE = Provenance(
    made=datetime(2026, 11, 23, 22, 29, tzinfo=timezone(timedelta(hours=2))),
    version="0.1.0",
    engine="embedded engine of Rocefort 0.1.0",
    source="inventory/heps/fabric.yaml",
    revision="0123456789abcdef",
)


def git(folder: Path, *words: str) -> None:
    person = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", "-C", folder, *person, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init")
    (tmp_path / "fabric.yaml").write_text("a: 1\n")
    return tmp_path


def test_the_head_has_time_version_and_revision(heps_content: PageContent) -> None:
    text = page(replace(heps_content, provenance=MADE))
    assert "<dd>2026-11-23 20:29 UTC by Rocefort 0.1.0</dd>" in text
    assert "<dd>inventory/heps/fabric.yaml, commit 0123456789ab</dd>" in text
    assert "<dd>not verified</dd>" in text
    assert 'class="provenance"' not in page(heps_content)


def test_a_clean_source_is_at_its_commit(repository: Path) -> None:
    git(repository, "add", ".")
    git(repository, "commit", "-m", "first")
    made = provenance_of(repository / "fabric.yaml")
    assert (len(made.revision), made.uncommitted) == (40, False)
    assert (made.version, made.engine) == (
        __version__,
        f"embedded engine of Rocefort {__version__}",
    )
    assert abs(datetime.now(UTC) - made.made) < timedelta(minutes=1)


@pytest.mark.parametrize("changed", ["fabric.yaml", "hardware.yaml", "other/fabric.yaml"])
def test_changes_of_tracked_files_and_a_new_source_are_uncommitted(
    repository: Path, changed: str
) -> None:
    (repository / "hardware.yaml").write_text("a: 1\n")
    git(repository, "add", ".")
    git(repository, "commit", "-m", "first")
    (repository / "other").mkdir()
    (repository / changed).write_text("b: 2\n")
    source = changed if changed.endswith("fabric.yaml") else "fabric.yaml"
    made = provenance_of(repository / source)
    assert made.revision_text == f"commit {made.revision[:12]} with uncommitted changes"


def test_a_page_written_beside_the_source_is_no_change(repository: Path) -> None:
    git(repository, "add", ".")
    git(repository, "commit", "-m", "first")
    (repository / "report.html").write_text("page")
    assert provenance_of(repository / "fabric.yaml").uncommitted is False


def test_without_a_commit_there_is_no_revision(repository: Path, tmp_path: Path) -> None:
    assert provenance_of(repository / "fabric.yaml").revision_text == "in no git commit"


def verdicts(*devices: str, rule: str = "SEC013") -> tuple[Finding, ...]:
    return tuple(
        Finding(rule=rule, severity=Severity.WARNING, where=Where(device=name), message=f"no {n}")
        for n, name in enumerate(devices)
    )


@pytest.mark.parametrize(
    ("devices", "colored"),
    [
        (("s1", "s2", "l1", "l2", "l3"), set()),  # every switch
        (("l1", "l2", "l3"), set()),  # every leaf
        (("l1", "l3"), {"l1", "l3"}),
        (("s1", "s2"), {"s1", "s2"}),  # two spines are few enough to be meant
    ],
)
def test_a_finding_of_every_switch_colors_none(devices: tuple[str, ...], colored: set[str]) -> None:
    roles = {
        "s1": SwitchRole.SPINE,
        "s2": SwitchRole.SPINE,
        "l1": SwitchRole.LEAF,
        "l2": SwitchRole.LEAF,
        "l3": SwitchRole.LEAF,
    }
    nodes = tuple(Node(device=Device(name=name), role=role) for name, role in roles.items())
    network = Network(name="small", origin="fabric", nodes=nodes)
    own = verdicts("l2", rule="PFC001")
    report = Report(network="small", rules=(), findings=(*verdicts(*devices), *own))
    worst = worst_of(network, groups_of(PageContent(network=network, report=report, texts={})))
    assert {name for name in roles if worst.of_device(name) != "none"} == colored | {"l2"}
    assert worst.common == (() if colored else (("warning", "SEC013"),))
