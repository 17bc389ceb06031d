"""Every failure of a service is one message with exit code 3, and keeps the snapshot."""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest
from batfish_server import HOST, serving

from rocefort.base.errors import ServiceFailed
from rocefort.models.network.network import Network
from rocefort.validators.batfish.batfish_engine import (
    BatfishAnswers,
    RouteRow,
    SessionRow,
    ask,
    interpret,
    server_version,
)

Clos = Callable[..., Network]


@pytest.fixture
def free_port() -> int:
    with socket.create_server((HOST, 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder for snapshots of failures during the test."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def said(error: ServiceFailed, kept: Path) -> str:
    """The sentence without the folder's random name, after a look into the folder."""
    assert error.exit_code == 3
    folder = re.search(r"the snapshot is kept in (\S+)$", str(error))
    assert folder is not None
    assert Path(folder[1]).parent == kept
    text = (Path(folder[1]) / "configs/leaf1.cfg").read_text(encoding="utf-8")
    assert text.startswith("!RANCID-CONTENT-TYPE: arista\n!\nhostname leaf1\n")
    return str(error).removesuffix(folder[0]).rstrip("; ")


def test_where_nothing_listens_the_error_says_how_to_start_a_service(
    clos: Clos, free_port: int
) -> None:
    with pytest.raises(ServiceFailed) as caught:
        ask(clos(), HOST, free_port)
    assert caught.value.exit_code == 3
    assert str(caught.value) == (
        f"{HOST}:{free_port}: no Batfish service answers: [Errno 111] Connection refused; "
        "start one with `docker run -d -p 127.0.0.1:9996:9996 batfish/allinone`"
    )


def test_a_host_that_does_not_exist_is_no_service() -> None:
    with pytest.raises(ServiceFailed, match=r"nowhere\.invalid:9996: no Batfish service answers"):
        server_version("nowhere.invalid", 9996, timeout_s=2.0)


@pytest.mark.parametrize("answer", [{"name": "something else"}, ["Batfish"], "Batfish"])
def test_something_else_that_answers_is_not_taken_for_batfish(answer: object) -> None:
    with (
        serving({"version": answer}) as port,
        pytest.raises(ServiceFailed, match=f"{HOST}:{port}: what answers is not Batfish"),
    ):
        server_version(HOST, port, timeout_s=2.0)


def test_a_service_that_answers_tells_its_version() -> None:
    with serving({"version": {"Batfish": "0.36.0"}}) as port:
        assert server_version(HOST, port, timeout_s=2.0) == "0.36.0"


def test_a_missing_extra_is_named(clos: Clos, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "rocefort.validators.batfish.client", raising=False)
    monkeypatch.delattr("rocefort.validators.batfish.client", raising=False)
    monkeypatch.setitem(sys.modules, "pybatfish.client.options", None)
    with serving({}) as port, pytest.raises(ServiceFailed) as caught:
        ask(clos(), HOST, port)
    assert str(caught.value) == (
        f"{HOST}:{port}: pybatfish is not installed; "
        "pip install 'rocefort[batfish] @ URL' with the URL of Rocefort's wheel"
    )
    assert list(kept.iterdir()) == []


def test_a_service_that_dies_on_the_way_is_one_sentence(clos: Clos, kept: Path) -> None:
    pytest.importorskip("pybatfish")
    with serving({}, dies_at="/snapshots/") as port, pytest.raises(ServiceFailed) as caught:
        ask(clos(), HOST, port)
    assert said(caught.value, kept) == f"{HOST}:{port}: the Batfish service stopped answering"


def test_work_that_batfish_gives_up_is_told_with_its_status(clos: Clos, kept: Path) -> None:
    pytest.importorskip("pybatfish")
    work = {"workstatuscode": "REQUEUEFAILURE", "task": {}}
    with serving({"work": work}) as port, pytest.raises(ServiceFailed) as caught:
        ask(clos(), HOST, port)
    what = "Batfish gave up: Work finished with status REQUEUEFAILURE"
    assert said(caught.value, kept) == f"{HOST}:{port}: {what}"


def test_an_answer_in_an_unknown_form_is_a_failure_of_the_service(clos: Clos, kept: Path) -> None:
    pytest.importorskip("pybatfish")
    work = {"workstatuscode": "UNHEARD"}
    with serving({"work": work}) as port, pytest.raises(ServiceFailed) as caught:
        ask(clos(), HOST, port)
    what = "Batfish answered in an unknown form: ValueError(\"'UNHEARD' is not a valid WorkStatusCode\")"
    assert said(caught.value, kept) == f"{HOST}:{port}: {what}"


def test_answers_that_leave_a_peer_out_are_not_taken_for_an_answer(clos: Clos) -> None:
    nothing = BatfishAnswers(version="0", sessions=(), routes=(), hosts_up=(), traces=())
    with pytest.raises(ServiceFailed, match=r"Batfish reports no state of leaf1 peer 10\.0\.1\.0"):
        interpret(clos(), nothing)


def test_a_route_on_a_host_that_runs_no_bgp_is_not_taken_for_an_answer(clos: Clos) -> None:
    hop, prefix = IPv4Address("10.0.1.0"), IPv4Network("10.1.2.0/24")
    routes = (RouteRow(node="server1", prefix=prefix, next_hop=hop),)
    network = clos()
    sessions = tuple(
        SessionRow(node=n.name, peer=p.address, status="ESTABLISHED")
        for n in network.nodes
        if n.device.bgp
        for p in n.device.bgp.peers
    )
    answers = BatfishAnswers(version="0", sessions=sessions, routes=routes, hosts_up=(), traces=())
    with pytest.raises(ServiceFailed) as caught:
        interpret(network, answers)
    assert str(caught.value) == "Batfish shows a BGP route on server1, which runs no BGP"
