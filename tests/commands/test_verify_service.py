"""`verify` with a Batfish service that is not named, is not there, dies or never ends."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from batfish_server import HOST, answering, serving, without_end

Rocefort = Callable[..., Any]
NOWHERE = "127.0.0.1:1"
UNASKED = "Batfish was not asked: no service is named; to ask it: --batfish HOST:PORT\n"
DELIVERED = "server pairs delivered by every path: 124 of 124 that the policy allows\n"


@pytest.fixture(autouse=True)
def _kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def test_auto_asks_no_service_that_nobody_names(rocefort: Rocefort, heps_file: Path) -> None:
    done = rocefort("verify", heps_file)
    assert (done.code, done.err) == (0, UNASKED)
    assert "verified by: embedded\n" in done.out
    assert DELIVERED in done.out
    chosen = rocefort("verify", heps_file, "--engine", "embedded")
    assert (chosen.code, chosen.err, chosen.out) == (0, "", done.out)


def test_auto_asks_the_service_of_the_environment(
    rocefort: Rocefort, heps_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCEFORT_BATFISH", NOWHERE)
    done = rocefort("verify", heps_file)
    assert done.code == 0
    assert done.err == (
        f"engine auto: embedded, and Batfish at {NOWHERE} (limit 600 s a question)\n"
    )
    assert (
        f"verified by: embedded (no answer of Batfish: {NOWHERE}: no Batfish service answers: "
        "[Errno 111] Connection refused; start one with "
    ) in done.words
    assert DELIVERED in done.out


def test_auto_keeps_the_embedded_answer_when_the_service_dies(
    rocefort: Rocefort, heps_file: Path
) -> None:
    pytest.importorskip("pybatfish", reason="pip install 'rocefort[batfish]'")
    with serving({}, dies_at="/snapshots/") as port:
        address = f"{HOST}:{port}"
        done = rocefort("verify", heps_file, "--batfish", address)
        both = rocefort("verify", heps_file, "--batfish", address, "--engine", "both")
        data = rocefort("verify", heps_file, "--batfish", address, "--format", "json")
    announced = f"engine auto: embedded, and Batfish at {address} (limit 600 s a question)\n"
    note = f"no answer of Batfish: {address}: the Batfish service stopped answering; the snapshot"
    assert (done.code, done.err) == (0, announced)
    assert f"verified by: embedded ({note} is kept in " in done.words
    assert DELIVERED in done.out
    assert (both.code, both.out) == (3, "")
    assert len(both.err.splitlines()) == 1
    assert data.err.startswith(announced)
    assert (data.code, data.err.count(note), len(data.err.splitlines())) == (0, 1, 2)


@pytest.mark.parametrize("pause_s", [0.0, 0.05])
def test_a_version_without_end_costs_the_limit(
    rocefort: Rocefort, heps_file: Path, pause_s: float
) -> None:
    before = time.monotonic()
    with answering(without_end(b" " * 4096, pause_s)) as port:
        words = ("--batfish", f"{HOST}:{port}", "--batfish-limit", "1")
        auto = rocefort("verify", heps_file, *words)
        both = rocefort("verify", heps_file, *words, "--engine", "both")
    assert time.monotonic() - before < 15.0  # it was without end
    assert auto.code == 0
    assert f"verified by: embedded (no answer of Batfish: {HOST}:{port}: " in auto.out
    assert DELIVERED in auto.out
    assert (both.code, both.out, len(both.err.splitlines())) == (3, "", 1)
