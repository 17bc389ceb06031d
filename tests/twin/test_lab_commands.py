"""Commands of a lab as a user types them: up, list, status, trace, exec, snapshot, down."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from twin_labs import PATIENT_S, Run, commands_see

from rocefort.lab.bring_up import one_lab
from rocefort.lab.lab_report import lab_trace_report, labs_report, status_report
from rocefort.lab.twin.registry import Registry, pid_file
from rocefort.lab.twin.status import LabHop, LabStatus, LabTrace
from rocefort.models.device.packet_filters import ROCE_PORT
from rocefort.reports.writers.terminal import text_of

DEFAULTS = Registry.__init__.__defaults__


@pytest.fixture
def labs(registry: Registry) -> Iterator[Registry]:
    """Registry for commands, without this machine's own labs."""
    with commands_see(registry):
        yield registry


@pytest.mark.twin
def test_a_lab_from_up_to_down(run: Run, labs: Registry, small_fabric: Path) -> None:
    assert run("lab", "list") == (0, "no twin is up\n", "")
    assert run("lab", "status")[2] == (
        "rocefort: no twin is up; `rocefort lab up FABRIC` starts one\n"
    )
    code, out, err = run("lab", "up", small_fabric, "--no-bfd")
    assert (code, err) == (0, "")
    assert "note: PFC, its thresholds and deadlock timers do nothing: a kernel" in out
    assert "note: BFD is left out: a dead link without loss of light shows by the hold" in out
    state = "4 switches, 2 servers, 8 of 8 sessions up\n"
    assert f"small: fabric small, {state}" in out
    assert run("lab", "list") == (0, f"lab    fabric  state\nsmall  small   {state}", "")
    assert run("lab", "up", small_fabric) == (
        4,
        "",
        "rocefort: a lab called small is up; rocefort lab down small, or use --name\n",
    )
    code, out, _ = run("lab", "trace", "leaf001-s01", "leaf002-s01")
    assert (code, out.splitlines()[-1]) == (0, "    arrives")
    code, out, _ = run("lab", "trace", "leaf001", "leaf002", "--format", "json")
    assert [hop["node"] for hop in json.loads(out)["hops"]][::2] == ["leaf001", "leaf002"]
    assert run("lab", "trace", "leaf001", "unknown")[2] == (
        "rocefort: no node is called 'unknown'; "
        "known here: leaf001, leaf001-s01, leaf002, leaf002-s01, spine01, spine02\n"
    )
    code, out, _ = run("lab", "exec", "leaf001", "vtysh", "-c", "show bgp summary")
    assert (code, "4      64512" in out) == (0, True)
    assert run("lab", "exec", "leaf001", "sh", "-c", "exit 7")[0] == 7
    assert run("lab", "exec", "leaf001", "--", "sh", "-c", "exit 7")[0] == 7
    assert run("lab", "exec", "leaf001", "no-such-command")[2] == (
        "rocefort: leaf001: this machine has no command 'no-such-command'\n"
    )
    code, out, _ = run("lab", "snapshot")
    assert len(json.loads(out)["switches"]) == 4
    os.kill(int(pid_file(labs, labs.find("small")).read_text("ascii")), signal.SIGKILL)
    until = time.monotonic() + PATIENT_S
    while not one_lab("small").wrong and time.monotonic() < until:
        time.sleep(0.01)
    assert one_lab("small").wrong == ("the command lines of its switches do not run",)
    assert run("lab", "down", "small") == (0, "lab small is down\n", "")
    assert run("lab", "down", "small")[0] == 2
    assert not labs.root.exists()


def test_no_root(run: Run, labs: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    for words in (
        ("up", "heps"),
        ("list",),
        ("snapshot",),
        ("exec", "leaf01", "ls"),
        ("down", "x"),
    ):
        code, _, err = run("lab", *words)
        assert (code, err) == (
            3,
            "rocefort: a twin needs root, for its namespaces; run it with sudo\n",
        )
    assert not labs.root.exists()


@pytest.mark.twin
def test_several_labs_want_a_name(run: Run, labs: Registry) -> None:
    for name in ("a", "b"):
        with labs.lock(name):
            labs.begin(name, "heps", bfd=False, frr="8.4.4", lacks=())
    assert run("lab", "snapshot")[2] == "rocefort: labs are up: a, b; name one with --name\n"
    assert run("lab", "list")[1].splitlines()[:2] == [
        "lab  fabric  state",
        "a    heps    not whole: it was left starting; `rocefort lab down a`",
    ]
    for name in ("a", "b"):
        assert run("lab", "down", name)[0] == 0


def test_a_status_in_words() -> None:
    lab = LabStatus(
        name="x",
        fabric="heps",
        whole=True,
        started=datetime(2026, 3, 1, 12, tzinfo=UTC),
        frr="8.4.4",
        lacks=("no VRF: left out",),
        switches=1,
        servers=0,
        cables=2,
        sessions=3,
        established=2,
        wrong=("leaf01 to 10.1.0.0: Active",),
    )
    assert text_of(status_report(lab), width=80).splitlines() == [
        "x: fabric heps, 1 switch, 0 servers, 2 of 3 sessions up",
        "    up since 2026-03-01 12:00:00 UTC, FRR 8.4.4, 2 cables",
        "    wrong: leaf01 to 10.1.0.0: Active",
        "    this kernel has no VRF: left out",
    ]
    assert text_of(*labs_report([]), width=80) == "no twin is up\n"


def test_a_trace_in_words() -> None:
    trace_of_flow = LabTrace.model_validate(
        {
            "source": "10.65.0.11",
            "destination": "10.64.4.10",
            "hops": [
                LabHop.model_validate({"node": "a", "leaves": "eth0", "via": "10.65.0.1"}),
                LabHop(node="leaf01", arrives="Vlanif120"),
            ],
            "stopped": "leaf01: Network is unreachable",
        }
    )
    assert text_of(*lab_trace_report(trace_of_flow), width=80).splitlines() == [
        f"UDP 10.65.0.11:49152 to 10.64.4.10:{ROCE_PORT}",
        "    0  a       out eth0 to 10.65.0.1",
        "    1  leaf01  in Vlanif120",
        "    stops at leaf01: Network is unreachable",
    ]


def test_the_registry_is_where_a_reboot_clears_it() -> None:
    (root,) = DEFAULTS or ()
    assert root == Path("/run/rocefort")
