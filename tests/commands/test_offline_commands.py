"""Commands that contact nothing load no library that opens sessions, and none that compiles."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rocefort.base.repository import INVENTORY

CONNECTING = ("napalm", "netmiko", "nornir", "paramiko", "lxml", "asyncssh")
COMPILING = ("annet", "numba")  # a patch needs annet, a simulation numba
SERVERS = "transfer01,k8sgn08"
RUN = f"""
import atexit, json, sys
from rocefort.tasks import app
sys.argv = ["rocefort", *json.loads(sys.argv[1])]
heavy = set({(*CONNECTING, *COMPILING)!r})
atexit.register(lambda: print("loaded", *sorted(heavy & set(sys.modules)), file=sys.stderr))
app()
"""
LIGHT = (
    ("check", "fabric.yaml"),
    ("check", "fabric.yaml", "--configs", "texts"),
    ("verify", "fabric.yaml", "--engine", "embedded"),
    ("host", "render", "fabric.yaml", "--out", "hosts"),
    ("rdma", "plan", "fabric.yaml", "--servers", SERVERS),
    ("new", "hall", "--spines", "2", "--leaves", "4", "--directory", "halls"),
    ("expand", "fabric.yaml", "--add-leaves", "1", "--like", "leaf05", "--dry-run"),
    ("render", "fabric.yaml"),
    ("show", "fabric.yaml", "links"),
    ("import", "texts", "--out", "again"),
    ("check", "--configs", "texts"),
    ("verify", "fabric.yaml", "--configs", "texts", "--engine", "embedded"),
    ("trace", "fabric.yaml", "transfer01", "k8sgn08"),
    ("report", "fabric.yaml", "--out", "page"),
    ("rules",),
    ("explain", "PFC003"),
    ("capacity", "fabric.yaml"),
    ("facts", "fabric.yaml"),
    ("schema",),
    ("connections", "fabric.yaml"),
    ("completion", "bash"),
    ("init", "site", "--name", "main", "--spines", "2", "--leaves", "4"),
    ("day0", "fabric.yaml", "leaf01"),
    ("host", "check", "fabric.yaml", "--outputs", "outputs"),
    ("lab", "faults"),
    ("tune", "--help"),
)
# These compare texts, and so make patches.
PATCHING = (
    ("diff", "fabric.yaml", "texts"),
    ("drift", "fabric.yaml", "--configs", "texts"),
    ("stages", "fabric.yaml", "--add-leaves", "1", "--like", "leaf05"),
    ("rename", "fabric.yaml", "readout04", "readout05", "--dry-run"),
    ("remove", "fabric.yaml", "readout04", "--dry-run"),
)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a fabric, its texts, and a directory of outputs."""
    place = tmp_path_factory.mktemp("offline")
    for file in (INVENTORY / "heps" / "fabric.yaml", INVENTORY / "heps" / "demand.yaml"):
        (place / file.name).write_bytes(file.read_bytes())
    assert _loaded(place, ("render", "fabric.yaml", "--out", "texts")) == []
    (place / "outputs").mkdir()
    (place / "outputs" / "storage01.mlnx_qos.txt").write_text("DCBX mode: OS controlled\n")
    return place


@pytest.mark.parametrize("command", LIGHT[:5], ids=" ".join)
def test_nothing_heavy_is_loaded_to_judge_a_fabric(work: Path, command: tuple[str, ...]) -> None:
    assert _loaded(work, command) == []


@pytest.mark.thorough
@pytest.mark.parametrize("command", LIGHT[5:], ids=" ".join)
def test_nothing_heavy_is_loaded(work: Path, command: tuple[str, ...]) -> None:
    assert _loaded(work, command) == []


@pytest.mark.thorough
@pytest.mark.parametrize("command", PATCHING, ids=" ".join)
def test_a_patch_needs_only_annet(work: Path, command: tuple[str, ...]) -> None:
    assert set(_loaded(work, command)) <= {"annet"}


def _loaded(place: Path, command: tuple[str, ...]) -> list[str]:
    """Return the heavy modules that a command loads; it must end with a result."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(command)],
        capture_output=True,
        text=True,
        check=False,
        cwd=place,
    )
    assert done.returncode in {0, 1}, (command, done.stderr)
    *_, last = done.stderr.splitlines()
    return last.split()[1:]
