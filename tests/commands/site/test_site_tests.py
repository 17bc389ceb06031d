"""Plugin of pytest in the repository of a site: green as written by `init`, and red with reasons."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from rocefort.base.repository import ROOT

Rocefort = Callable[..., Any]
ENTRY_POINTS = "[pytest11]\nrocefort = rocefort.pytest_plugin\n"
OWN = """
def test_without_spines(reach):
    assert reach("leaf001", "leaf002", down=["spine01", "spine02"])

def test_unknown_switch(config):
    config("leaf01")

def test_no_prefix(routes):
    assert routes.width("leaf001", "10.1.0.2/32") == 1
    routes.width("leaf001", "10.1.0.2/24")

def test_one_derivation(rocefort_fabric, network, fabric):
    assert rocefort_fabric.subject.network is network
    assert fabric.fabric == network.name
"""


@pytest.fixture
def plugin(tmp_path: Path) -> dict[str, str]:
    """Environment of a python in which Rocefort is installed, with its entry point."""
    info = tmp_path / "installed/rocefort_plugin-1.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rocefort-plugin\nVersion: 1\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return {**kept, "PYTHONPATH": f"{ROOT}{os.pathsep}{info.parent}"}


def run(where: Path, env: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "pytest", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=where, env=env, capture_output=True, text=True, check=False)


def test_the_entry_point_is_declared() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points.pytest11]\nrocefort = "rocefort.pytest_plugin"\n' in text


@pytest.mark.parametrize("size", [(2, 2, 1), (1, 1, 0), (2, 3, 0)])
def test_the_tests_of_init_are_true(
    rocefort: Rocefort, tmp_path: Path, plugin: dict[str, str], size: tuple[int, int, int]
) -> None:
    site = tmp_path / "plant"
    spines, leaves, servers = size
    words = ("--spines", spines, "--leaves", leaves, "--servers-per-leaf", servers)
    assert rocefort("init", site, *words).code == 0
    done = run(site, plugin)
    assert done.returncode == 0, done.stdout
    assert "5 passed" in done.stdout


def test_red_tests_and_cases_give_their_reasons(
    rocefort: Rocefort, tmp_path: Path, plugin: dict[str, str]
) -> None:
    site = tmp_path / "plant"
    assert rocefort("init", site, "--spines", "2", "--leaves", "2").code == 0
    fabric = site / "inventory/plant/fabric.yaml"
    fabric.write_text(re.sub(r"maximum_paths: \d+", "maximum_paths: 1", fabric.read_text()))
    (site / "tests/test_own.py").write_text(OWN)
    text = (site / "validators/README.md").read_text()
    rule = text.partition("```python\n")[2].partition("```")[0]
    (site / "validators/names.py").write_text(rule.replace("WARNING", "ERROR"))
    done = run(site, plugin, "--rocefort", "--junitxml", "junit.xml", "-n", "0")
    assert done.returncode == 1
    assert "Traceback" not in done.stdout
    for sentence in (
        "path of the packets",
        "without spine01 and spine02\n1 path, 0 delivered",
        "not delivered: leaf001 has no route to 10.1.0.2",
        "\ntests/test_own.py:6: no switch 'leaf01'; did you mean 'leaf001'?\n",
        "\ntests/test_own.py:10: '10.1.0.2/24' is no prefix: 10.1.0.2/24 has host bits set; write",
        "FAILED rocefort::BGP002[leaf001]",
        "FAILED rocefort::PLANT001[leaf002]",
        "leaf001 has no rack; fix: add `rack:` to the leaf",
    ):
        assert sentence in done.stdout
    assert "During handling" not in done.stdout
    cases = {c.get("name"): c for c in ET.parse(site / "junit.xml").iter("testcase")}
    assert cases["PFC004[leaf001]"].find("failure") is None
    assert cases["PLANT001[leaf001]"].find("failure") is not None
    assert any(case.find("skipped") is not None for case in cases.values())
    lost = cases["test_without_spines"].find("failure")
    assert lost is not None
    assert "1 path, 0 delivered" in (lost.text or "")
    words = ("--rocefort", "--rocefort-fabric", "plant", "-k", "PLANT001", "-q")
    selected = run(site, plugin, *words)  # its fabric has the name plant
    assert re.search(r"(?m)^2 failed, 3 passed, \d+ deselected", selected.stdout)


def test_it_costs_another_repository_nothing(tmp_path: Path, plugin: dict[str, str]) -> None:
    """No module of Rocefort but the plugin is loaded, and own fixtures precede."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other/test_other.py").write_text(
        "import sys, pytest\n"
        "@pytest.fixture\n"
        "def network():\n    return 5\n"
        "def test_it(network):\n"
        "    own = {n for n in sys.modules if n.startswith('rocefort')}\n"
        "    assert (network, own) == (5, {'rocefort', 'rocefort.pytest_plugin'})\n"
    )
    done = run(tmp_path / "other", plugin)
    assert done.returncode == 0, done.stdout
    (tmp_path / "other/test_other.py").write_text("def test_it(network):\n    assert network\n")
    done = run(tmp_path / "other", plugin)
    assert "no fabric is named" in done.stdout or "no fabric is here" in done.stdout
    done = run(tmp_path / "other", plugin, "--rocefort")
    assert done.returncode == 4
    assert "Traceback" not in done.stderr


def test_tasks_of_a_site(rocefort: Rocefort, tmp_path: Path) -> None:
    site = tmp_path / "plant"
    assert rocefort("init", site, "--spines", "1", "--leaves", "1").code == 0
    done = subprocess.run(
        [sys.executable, "tasks.py", "deploy"],
        cwd=site,
        capture_output=True,
        text=True,
        check=False,
    )
    usage = "usage: python tasks.py check|test|report|review|plan [OPTIONS]\n"
    assert (done.returncode, done.stderr) == (1, usage)
    fake = tmp_path / "lib/rocefort"
    fake.mkdir(parents=True)
    (fake / "__init__.py").touch()
    (fake / "__main__.py").write_text("import sys\nprint(*sys.argv[1:])\nsys.exit(3)\n")
    (site / "rocefort.py").write_text("")
    done = subprocess.run(
        [sys.executable, "tasks.py", "review", "--out", "x"],
        cwd=site,
        env={"PYTHONPATH": str(fake.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, "review --base main --out x\n")
