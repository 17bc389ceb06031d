"""Options of a measured experiment: what does not apply is refused before a switch is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from rocefort.tasks import cli

STORAGE = ("--suite", "storage")
REFUSED: list[tuple[tuple[str, ...], str]] = [
    (
        ("--workers", "2", "--results", "cache"),
        "--workers: a measured experiment does not use it; use it with --simulate\n"
        "--results: a measured experiment does not use it; use it with --simulate",
    ),
    (
        STORAGE,
        "--storage-directory: no directory of remote storage is named; name one that is mounted on all servers, by its whole path: --storage-directory /mnt/data",
    ),
    (
        (*STORAGE, "--storage-directory", "/mnt/a", "--targets", "1,4"),
        "--targets: 4 targets, and 1 directory; name a directory for each target: --storage-directory /mnt/a,/mnt/b",
    ),
    (
        (*STORAGE, "--storage-directory", "/mnt/a,/mnt/a"),
        "--storage-directory: a directory is there twice; name each target's directory once",
    ),
    (
        ("--storage-directory", "/mnt/a"),
        "--storage-directory: the suite mpi does not use it; use it with storage",
    ),
    (
        ("--servers", "k8sgn08"),
        "heps: mpi takes 2 RoCE servers, 1 may be used; name more with --servers, or list more under rdma.servers",
    ),
    (
        ("--servers", "k8sgn08,k8sgn12", "--sizes", "48"),
        "--sizes: 48 bytes for alltoall; MPI benchmarks double the size from row to row: use powers of two",
    ),
    (
        ("--suite", "write", "--sizes", "64"),
        "--sizes: the suite write does not use it; use it with sweep, storage and mpi",
    ),
]


@pytest.mark.parametrize(("words", "sentence"), REFUSED, ids=[" ".join(w) for w, _ in REFUSED])
def test_an_option_that_does_not_apply_is_one_error(
    tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    connections = tmp_path / "connections.yaml"
    connections.write_text("known_hosts: known_hosts\ndevices: []\n", encoding="utf-8")
    command = ["experiment", "heps", "--factor", "ecn=static,ai", "--progress", "none"]
    done = CliRunner().invoke(cli, [*command, "--connections", str(connections), *words])
    assert str(done.exception) == sentence
    assert done.exit_code == 1 and not (tmp_path / "experiments").exists()
