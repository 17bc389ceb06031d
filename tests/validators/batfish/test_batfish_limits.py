"""A limit ends a conversation with a service that hangs, and a signal leaves nothing on it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from batfish_server import HOST, Handler, answering, serving, without_end

from rocefort.base.errors import ServiceFailed
from rocefort.models.network.network import Network
from rocefort.validators.batfish.access import ENDING, ServiceAccess, server_version
from rocefort.validators.batfish.batfish_engine import ask

LIMIT_S = 1.0
SLACK_S = 4.0  # of a busy machine; pybatfish alone would take 7 s more
WORKING = {"work": {"workstatuscode": "ASSIGNED", "task": {}}}
Clos = Callable[..., Network]


@pytest.fixture(scope="module", autouse=True)
def _imported() -> None:
    """Import the client before a limit counts: it takes seconds."""
    pytest.importorskip("pybatfish", reason="pip install 'rocefort[batfish]'")
    pytest.importorskip("rocefort.validators.batfish.client")


@pytest.fixture(autouse=True)
def _kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


@pytest.mark.parametrize(
    ("hangs_at", "sentence"),
    [
        ("/v2/version", "no Batfish service answers: no answer in 1 s; start one with"),
        ("/v2/networks", "Batfish takes too long: network was not answered in 1 s; the"),
        ("/snapshots/", "Batfish takes too long: snapshot intended was not answered in 1 s; the"),
    ],
)
def test_a_service_that_hangs_costs_the_limit_and_no_more(
    hangs_at: str, sentence: str, clos: Clos
) -> None:
    before = time.monotonic()
    with serving({}, hangs_at=hangs_at) as port, pytest.raises(ServiceFailed) as caught:
        ask(clos(), HOST, port, ServiceAccess(limit_s=LIMIT_S))
    assert str(caught.value).startswith(f"{HOST}:{port}: {sentence}")
    assert time.monotonic() - before < 2 * LIMIT_S + SLACK_S  # the network's removal has its own


@pytest.mark.parametrize(
    ("piece", "pause_s", "sentence"),
    [
        (b" ", 0.05, "no Batfish service answers: no answer in 1 s"),
        (b" " * 65536, 0.0, "what answers is not Batfish"),
    ],
)
def test_a_version_without_end_is_one_sentence(piece: bytes, pause_s: float, sentence: str) -> None:
    before = time.monotonic()
    with answering(without_end(piece, pause_s)) as port, pytest.raises(ServiceFailed) as caught:
        server_version(HOST, port, LIMIT_S)
    assert str(caught.value).startswith(f"{HOST}:{port}: {sentence}; ")
    assert time.monotonic() - before < LIMIT_S + SLACK_S


def killing(number: int) -> dict[str, Any]:
    """A handler that sends this process a signal at the first poll and at the removal."""

    def get(handler: Handler) -> None:
        if "/work/" in handler.path:
            os.kill(os.getpid(), number)
        Handler.do_GET(handler)

    def delete(handler: Handler) -> None:
        os.kill(os.getpid(), number)
        time.sleep(0.1)  # the client has the signal before the answer
        Handler.do_DELETE(handler)

    return {"do_GET": get, "do_DELETE": delete}


@pytest.fixture(params=ENDING)
def number(request: pytest.FixtureRequest) -> Iterator[signal.Signals]:
    """A signal that ends a program; pytest may handle it in its own way."""
    found: signal.Signals = request.param
    before = signal.signal(found, ENDING[found])
    yield found
    signal.signal(found, before)


def test_a_signal_removes_the_network_from_the_service(number: signal.Signals, clos: Clos) -> None:
    before = {each: signal.getsignal(each) for each in (*ENDING, signal.SIGALRM)}
    deleted: list[str] = []
    with (
        serving(WORKING, deleted=deleted, **killing(number)) as port,
        pytest.raises(KeyboardInterrupt),
    ):
        ask(clos(), HOST, port, ServiceAccess(limit_s=20.0))
    assert [path.rpartition("/")[0] for path in deleted] == ["/v2/networks"]
    assert {each: signal.getsignal(each) for each in before} == before


def test_a_signal_that_somebody_handles_is_theirs(clos: Clos) -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _frame: heard.append(number))
    try:
        with serving(WORKING, **killing(signal.SIGTERM)) as port, pytest.raises(ServiceFailed):
            ask(clos(), HOST, port, ServiceAccess(limit_s=LIMIT_S))
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard
