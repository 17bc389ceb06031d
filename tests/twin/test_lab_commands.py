"""The commands of a lab as a user types them: up, list, status, trace, exec, snapshot, down."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rocefort import tasks
from rocefort.lab.twin import registry as registries
from rocefort.lab.twin.registry import Registry
from rocefort.models.traffic import ROCE_PORT
from rocefort.models.twin import LabHop, LabStatus, LabTrace
from rocefort.reports.lab import lab_trace_text, labs_text, status_text

Said = tuple[int, str, str]
Run = Callable[..., Said]
DEFAULTS = Registry.__init__.__defaults__


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process: exit code, output, errors."""

    def ran(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["rocefort", *arguments])
        with pytest.raises(SystemExit) as ended:
            tasks.app()
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return int(ended.value.code or 0), out, err

    return ran


@pytest.fixture
def labs(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Registry:
    """The registry that commands use: none of this machine's own labs."""
    monkeypatch.setattr(registries.Registry.__init__, "__defaults__", (registry.root,))
    return registry


@pytest.mark.twin
def test_a_lab_from_up_to_down(run: Run, labs: Registry) -> None:
    assert run("lab", "list") == (0, "no lab is up\n", "")
    assert run("lab", "status")[2] == (
        "rocefort: no lab is up; `rocefort lab up FABRIC` starts one\n"
    )
    code, out, err = run("lab", "up", "heps", "--no-bfd")
    assert (code, err) == (0, "")
    assert "note: PFC, its thresholds and deadlock timers do nothing: a kernel" in out
    assert "note: BFD is left out: a dead link without loss of light shows by the hold" in out
    assert "heps             fabric heps, 10 switches, 12 servers, 32 of 32 sessions up" in out
    code, out, _ = run("lab", "list")
    assert out == "heps             fabric heps, 10 switches, 12 servers, 32 of 32 sessions up\n"
    assert run("lab", "up", "heps") == (
        4,
        "",
        "rocefort: a lab called heps is up; rocefort lab down heps, or use --name\n",
    )
    code, out, _ = run("lab", "trace", "k8sgn08", "readout01")
    assert (code, out.splitlines()[-1]) == (0, "  arrives")
    code, out, _ = run("lab", "trace", "leaf01", "leaf05", "--format", "json")
    assert [hop["node"] for hop in json.loads(out)["hops"]][::2] == ["leaf01", "leaf05"]
    assert run("lab", "trace", "leaf01", "nobody")[2].startswith(
        "rocefort: no node is called 'nobody'; use one of: spine01, spine02, leaf01, "
    )
    code, out, _ = run("lab", "exec", "leaf01", "vtysh", "-c", "show bgp summary")
    assert (code, "10.1.0.2        4      65000" in out) == (0, True)
    assert run("lab", "exec", "leaf01", "sh", "-c", "exit 7")[0] == 7
    assert run("lab", "exec", "leaf01", "no-such-command")[2] == (
        "rocefort: leaf01: this machine has no command 'no-such-command'\n"
    )
    code, out, _ = run("lab", "snapshot")
    assert len(json.loads(out)["switches"]) == 10
    assert run("lab", "down", "heps") == (0, "lab heps is down\n", "")
    assert run("lab", "down", "heps")[0] == 2
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
    assert run("lab", "list")[1].splitlines()[0] == (
        "a                fabric heps, not whole: it was left starting; `rocefort lab down a`"
    )
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
    assert status_text(lab).splitlines() == [
        "x                fabric heps, 1 switch, 0 servers, 2 of 3 sessions up",
        "  up since 2026-03-01 12:00:00 UTC, FRR 8.4.4, 2 cables",
        "  wrong: leaf01 to 10.1.0.0: Active",
        "  this kernel has no VRF: left out",
    ]
    assert labs_text([]) == "no lab is up\n"


def test_a_trace_in_words() -> None:
    found = LabTrace.model_validate(
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
    assert lab_trace_text(found).splitlines() == [
        f"UDP 10.65.0.11:49152 to 10.64.4.10:{ROCE_PORT}",
        "  0 a                out eth0 to 10.65.0.1",
        "  1 leaf01           in Vlanif120",
        "  stops at leaf01: Network is unreachable",
    ]


def test_the_registry_is_where_a_reboot_clears_it() -> None:
    (root,) = DEFAULTS or ()
    assert root == Path("/run/rocefort")
