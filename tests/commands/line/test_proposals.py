"""Errors of a command line: each names the nearest name, in groups and values also."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort.base.repository import INVENTORY

Rocefort = Callable[..., Any]
TABLES = (
    "known here: addresses, bonds, cabling, devices, exits, kubernetes-labels, links, lossless, ports, "
    "profiles, slurm-blocks, slurm-topology"
)


@pytest.fixture(autouse=True)
def _site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(INVENTORY / "heps", tmp_path / "inventory" / "heps")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("chek heps", "Error: No such command 'chek'. Did you mean 'check', 'schema'?"),
        ("lab stat", "Error: No such command 'stat'. Did you mean 'status'?"),
        ("rdma exprt", "Error: No such command 'exprt'. Did you mean 'export'?"),
        ("--colr never check", "Error: No such option: --colr; did you mean '--color'?"),
        ("check --selct PFC", "Error: No such option: --selct; did you mean '--select'?"),
        ("rdma plan --sute x", "Error: No such option: --sute; did you mean '--suite'?"),
        ("check --foo heps", "Error: No such option: --foo"),
        ("check -z", "Error: No such option: -z"),
        (
            "verify --engine batfsh",
            "Error: Invalid value for '--engine' (env var: 'ROCEFORT_ENGINE'): 'batfsh' is not one of "
            "'auto', 'embedded', 'batfish', 'both'; did you mean 'batfish'?",
        ),
        (
            "completion bsh",
            "Error: Invalid value for 'SHELL': 'bsh' is not one of 'bash', 'zsh', 'fish'; "
            "did you mean 'bash'?",
        ),
        (
            "lab up --accel x",
            "Error: Invalid value for '--accel': 'x' is not one of 'auto', 'tcg', 'kvm'",
        ),
        (
            "rdma plan --iterations 2",
            "Error: Invalid value for '--iterations': it is at least 5",
        ),
        ("render --device leaf1", "rocefort: no switch 'leaf1'; did you mean 'leaf01'?"),
        ("day0 heps leaf1", "rocefort: no switch 'leaf1'; did you mean 'leaf01'?"),
        (
            "host render --server storage1",
            "rocefort: --server: no server 'storage1' in heps; did you mean 'storage01'?",
        ),
        (
            "rdma plan --servers k8sgn8",
            "rocefort: heps: no server k8sgn8; did you mean 'k8sgn08'?",
        ),
        ("check hesp", "rocefort: hesp: no such fabric; did you mean 'heps'?"),
        ("show heps linx", "rocefort: show heps: no table 'linx'; did you mean 'links'?"),
        ("show linx", "rocefort: show linx: no table is named; did you mean 'links'?"),
        ("show heps", f"rocefort: show heps: no table is named; {TABLES}"),
        (
            "rdma plan --duration 1 --servers k8sgn08,k8sgn09",
            "rocefort: a bandwidth run of 1 s; use at least 4 s: perftest leaves out a quarter "
            "at both ends",
        ),
    ],
)
def test_an_error_names_the_nearest(line: str, message: str, rocefort: Rocefort) -> None:
    done = rocefort(*line.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[-1] == message


def test_show_takes_fabric_and_table_in_either_order(rocefort: Rocefort) -> None:
    expected = rocefort("show", "heps", "links").out
    assert expected.startswith("heps links: 16 rows\n")
    assert rocefort("show", "links", "heps").out == expected
    assert rocefort("show", "links").out == expected
