"""Commands of `rocefort rdma`: plan, run, show, compare, history, export, refusals."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sqlite3
import stat
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from rocefort.base.errors import Refused
from rocefort.emulator.servers.ssh_hosts import PERFTEST_RUNS
from rocefort.fleet.ssh_exec import guarded_command, guarded_words, watched
from rocefort.rdma.designed_plan import RdmaRequest
from rocefort.rdma.judge.run_store import open_history
from rocefort.rdma.plan.load_rules import Load, LoadRules, load_verdict
from rocefort.rdma.plan.probe import ServerProbe, undrained
from rocefort.rdma.plan.site import RdmaPlanOptions
from rocefort.rdma.rdma_commands import cli
from rocefort.rdma.rdma_plan import Suite
from rocefort.rdma.run_suite import RunDialogue, run_tests

Command = Callable[..., tuple[int, str, str]]


def arguments(lab: Any, *more: object) -> list[object]:
    places = ["--connections", lab.file, "--history", lab.history, "--no-switches"]
    short = ["--duration", "4", "--iterations", "100"]
    return ["rdma", "run", lab.fabric, "--servers", ",".join(lab.roots), *places, *short, *more]


def test_a_plan_asks_nobody(rocefort: Command, heps_file: Path) -> None:
    code, out, err = rocefort("rdma", "plan", heps_file, "--servers", "k8sgn08,k8sgn12")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "heps, write: 2 runs in 2 rounds, 11 s at least",
        "",
        "round 1: ib_write_bw, leaf to leaf",
        "    k8sgn08 -> k8sgn12: ib_write_bw, 65536 bytes, 10 s, up to 100 Gb/s (line",
        "      rate of k8sgn08)",
        "",
        "round 2: ib_write_lat, leaf to leaf",
        "    k8sgn08 -> k8sgn12: ib_write_lat, 2 bytes, 10000 messages",
    ]


def test_a_plan_that_asks_the_servers_has_what_they_have(rocefort: Command, open_lab: Any) -> None:
    lab = open_lab(("k8sgn08", "k8sgn12", "daisygn01"), {"daisygn01": ("no-device",)})
    names = ",".join(lab.roots)
    words = ("rdma", "plan", lab.fabric, "--servers", names, "--connections", lab.file)
    code, out, err = rocefort(*words)
    assert (code, err) == (0, "")
    assert out.splitlines()[2:5] == [
        "k8sgn08: rxe0, GID 1, perftest 6.29",
        "k8sgn12: rxe0, GID 1, perftest 6.29",
        "",
    ]
    assert out.splitlines()[-2:] == [
        "not measured: daisygn01: no-device: there is no such RDMA device (no GID of any",
        "  RDMA device)",
    ]
    assert lab.processes == {}
    assert len([call for root in lab.roots.values() for call in root.calls]) == 3  # one question
    options = {o.name for o in _options("plan")} - {"form"}
    assert options == {o.name for o in _options("run")} - {"form", "switches", "kept", "out"}


def _options(command: str) -> Any:
    return get_command(cli).commands[command].params  # type: ignore[attr-defined]


def test_what_a_run_says_as_it_goes_fits_a_terminal(rocefort: Command, open_lab: Any) -> None:
    quick = {"pace": 0.01, "tick": 0.1}
    lab = open_lab(("k8sgn08", "k8sgn12"), k8sgn08=quick, k8sgn12=quick)
    _, out, _ = rocefort(*arguments(lab, "--suite", "failover"))
    assert [line for line in out.splitlines() if len(line) > 80] == []
    assert "round 1: one uplink of leaf01 goes down: take leaf01 100GE1/0/57 or leaf01" in out


def test_production_is_not_loaded_unasked(rocefort: Command, heps_file: Path) -> None:
    code, out, err = rocefort("rdma", "plan", heps_file)
    assert (code, out) == (4, "")
    assert err == (
        "rocefort: heps: no server is listed for RDMA tests, and no other server is loaded; list "
        "servers under rdma.servers of the fabric, or name them: --servers transfer01,k8sgn08\n"
    )


def test_a_run_from_end_to_end(rocefort: Command, open_lab: Any, tmp_path: Path) -> None:
    lab = open_lab(("k8sgn08", "k8sgn12"))
    code, out, _ = rocefort(*arguments(lab, "--out", tmp_path / "run.json"))
    assert code == 0
    assert [line for line in out.splitlines() if len(line) > 80] == []
    lines = out.splitlines()
    assert re.fullmatch(r"run \d{8}-\d{6}-[0-9a-f]{4}: 2 runs in 2 rounds, 5 s at least", lines[0])
    assert lines[1] == "round 1 of 2: ib_write_bw, leaf to leaf: 1 measured"
    assert lines[5].startswith("record: ")
    assert re.sub(r" +", " ", lines[9]) == "k8sgn08 -> k8sgn12 ib_write_bw 65536 94.00 Gb/s passed"
    run = lines[0].split()[1].rstrip(":")
    assert json.loads((tmp_path / "run.json").read_text())["id"] == run
    for file in (lab.history, tmp_path / "run.json"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600

    code, out, _ = rocefort("rdma", "show", run, "--history", lab.history, "--format", "json")
    assert json.loads(out)["id"] == run
    code, out, _ = rocefort("rdma", "show", "last", "--history", lab.history)
    assert (code, out.splitlines()[0]) == (0, f"heps, write, run {run}: passed")
    page = tmp_path / "run.html"
    code, out, _ = rocefort("rdma", "show", run, "--history", lab.history, "--html", page)
    assert (code, out) == (0, f"run {run} in {page}\n")
    assert "94" in page.read_text()

    code, out, _ = rocefort(
        "rdma", "compare", run, "--with", "heps-paper", "--history", lab.history
    )
    words = " ".join(out.split())
    assert code == 0
    assert "ib_write_bw average: 92 Gb/s, here 94.00 (102%, median of 1)" in words
    assert "system: theirs AlmaLinux 9.3, ours Debian GNU/Linux 12" in words

    code, out, _ = rocefort("rdma", "history", "--history", lab.history)
    assert out.splitlines()[1].split()[0] == run
    code, out, _ = rocefort(
        "rdma", "history", "--history", lab.history, "--pair", "k8sgn12,k8sgn08"
    )
    assert [line.split()[-2:] for line in out.splitlines()[1:]] == [
        ["94.00", "Gb/s"],
        ["3.75", "us"],
    ]

    code, out, _ = rocefort("rdma", "export", run, "--history", lab.history, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(r["pair"], r["gbps"], r["latency_us"]) for r in rows] == [
        ("k8sgn08 -> k8sgn12", "94.0", ""),
        ("k8sgn08 -> k8sgn12", "", "3.75"),
    ]
    code, out, _ = rocefort("rdma", "export", run, "--history", lab.history, "--raw")
    outputs = json.loads(out)["outputs"]
    assert [(o["side"], o["exit_code"]) for o in outputs] == [("client", 0), ("server", 0)] * 2
    assert "RDMA_Write BW Test" in outputs[0]["stdout"]

    code, _, err = rocefort("rdma", "show", "nothing", "--history", lab.history)
    assert (code, err) == (
        2,
        f"rocefort: {lab.history}: no run 'nothing'; one of the latest: {run}; or `last`\n",
    )
    code, _, err = rocefort("rdma", "compare", run, "--with", "heps", "--history", lab.history)
    assert code == 2
    assert "nothing to compare with is called 'heps'" in err


def test_a_run_is_compared_with_good_runs_before_it(open_lab: Any) -> None:
    lab = open_lab(("k8sgn08", "k8sgn12"))
    asked = RdmaRequest(
        Suite.WRITE, tuple(lab.roots), RdmaPlanOptions(duration_s=4, iterations=100), switches=False
    )

    def measured() -> list[str]:
        result = run_tests(lab.fabric, lab.access, asked, lab.history, RunDialogue(lambda _: None))
        return [j.sentence for j in result.judged if j.subject.startswith("history")]

    assert measured() == []
    for _ in range(4):
        measured()
    assert measured()[0] == (
        "k8sgn08 -> k8sgn12 ib_write_bw of 65536 bytes: 94.00, 0.0% faster than 94.00: no "
        "regression (all good runs agree; 1 fresh against 5 good runs)"
    )


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda _: None, "no such history of RDMA runs; `rocefort rdma run` writes one; name it with --history"),
        (lambda p: p.write_text("no database, but text" * 100), "is no history of RDMA runs; name another file"),
        (lambda p: sqlite3.connect(p).execute("CREATE TABLE a (b)").connection.close(), "is no history of RDMA runs; name another file"),
    ],
    ids=["missing", "text", "another database"],
)  # fmt: skip
def test_a_file_that_is_no_history(
    rocefort: Command, tmp_path: Path, make: Callable[[Path], object], sentence: str
) -> None:
    file = tmp_path / "rdma.db"
    make(file)
    code, out, err = rocefort("rdma", "history", "--history", file)
    assert (code, out, err) == (2, "", f"rocefort: {file}: {sentence}\n")


def test_a_history_of_another_version_is_refused(rocefort: Command, tmp_path: Path) -> None:
    file = tmp_path / "rdma.db"
    with open_history(file, make=True) as past:
        assert past.runs() == ()
    database = sqlite3.connect(file)
    assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    database.execute("PRAGMA user_version = 9")
    database.close()
    code, _, err = rocefort("rdma", "history", "--history", file)
    assert (code, err) == (
        2, f"rocefort: {file}: is a history of version 9; this rocefort reads version 1\n",
    )  # fmt: skip


def test_no_test_runs_outside_its_window(
    rocefort: Command, edit_heps: Callable[..., Path], open_lab: Any
) -> None:
    lab = open_lab(("k8sgn08", "k8sgn12"))
    hour = datetime.now(UTC).astimezone().hour
    window = f"{(hour + 2) % 24:02}:00-{(hour + 3) % 24:02}:00"
    lab.fabric = edit_heps(("  latency_us: 3.72 ", f'  window: "{window}"\n  latency_us: 3.72 '))
    code, _, err = rocefort(*arguments(lab))
    assert code == 4
    assert f"and RDMA tests run {window}; wait for the window, or change rdma.window" in err
    assert sum(len(root.calls) for root in lab.roots.values()) == 0


# --- Kubernetes -----------------------------------------------------------------------------------

NODE = {"spec": {"unschedulable": True}}
DAEMON = {
    "metadata": {"name": "calico", "ownerReferences": [{"kind": "DaemonSet"}]},
    "status": {"phase": "Running"},
}
STATIC = {
    "metadata": {"name": "proxy", "annotations": {"kubernetes.io/config.mirror": "x"}},
    "status": {"phase": "Running"},
}
DONE = {"metadata": {"name": "job"}, "status": {"phase": "Succeeded"}}
WORK = {"metadata": {"name": "reco-7f"}, "status": {"phase": "Running"}}


@pytest.mark.parametrize(
    ("node", "pods", "why"),
    [
        (NODE, [DAEMON, STATIC, DONE], None),
        (NODE, [DAEMON, WORK], "is the Kubernetes node k8sgn08, on which pods run: reco-7f"),
        ({"spec": {}}, [], "is the Kubernetes node k8sgn08, which takes new pods"),
        (None, [], "is a Kubernetes node, and its drain cannot be confirmed (connection refused)"),
    ],
    ids=["drained", "cordoned only", "in service", "cluster silent"],
)  # fmt: skip
def test_a_kubernetes_node_is_refused_unless_drained(
    node: dict[str, Any] | None, pods: list[dict[str, Any]], why: str | None
) -> None:
    def ask(*words: str) -> Any:
        if node is None:
            raise OSError("connection refused")
        return node if words[1] == "node" else {"items": pods}

    probed = [
        ServerProbe("k8sgn08", node="K8sgn08", kubelet=True),
        ServerProbe("daisygn01", node="d"),
    ]
    verdict = load_verdict(LoadRules(), Load(undrained=undrained(probed, ask=ask)))
    if why is None:
        verdict.refuse("heps")
        return
    with pytest.raises(Refused) as caught:
        verdict.refuse("heps")
    how = "drain it: kubectl drain k8sgn08; or leave it out"
    assert str(caught.value) == f"k8sgn08: {why}; {how}"
    assert undrained(probed, ["k8sgn08"], ask) == {}  # the user declares it as drained


def test_kubectl_is_asked_on_this_machine(
    rocefort: Command, open_lab: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = open_lab(("k8sgn08", "k8sgn12"), {"k8sgn12": ("kubelet",)})
    tool = tmp_path / "kubectl"
    tool.write_text('#!/bin/sh\n[ "$2" = node ] && echo \'{"spec": {}}\' || exit 1\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    code, _, err = rocefort(*arguments(lab))
    assert (code, err) == (
        4,
        "rocefort: k8sgn12: is the Kubernetes node k8sgn12, which takes new pods; drain it: kubectl "
        "drain k8sgn12; or leave it out\n",
    )
    assert lab.processes == {}
    assert rocefort(*arguments(lab, "--drained", "k8sgn12", "--format", "json"))[0] == 0


def test_of_what_kubectl_says_the_last_line_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "kubectl"
    log = 'E1122 05:06:57 1 memcache.go:265] "Unhandled Error"'
    tool.write_text(f"#!/bin/sh\necho '{log}' >&2\necho 'The connection was refused' >&2\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    problem = undrained([ServerProbe("k8sgn08", node="k8sgn08", kubelet=True)])["k8sgn08"]
    assert problem.what.endswith("its drain cannot be confirmed (The connection was refused)")


def test_a_guard_is_taken_off_only_where_it_is_whole() -> None:
    for text in (
        guarded_command("ib_write_bw -d 'a b'", 5),
        watched("ib_write_bw -d 'a b'", 5, "r-1"),
    ):
        assert guarded_words(text) == ("ib_write_bw", "-d", "a b")
        assert guarded_words(text + "; reboot") is None
        assert guarded_words(text.replace("5 ib", "5 reboot; ib")) != ("ib_write_bw", "-d", "a b")
    assert guarded_words("ib_write_bw") is None
    assert guarded_words(guarded_command("a; reboot", 5)) is None


GOOD = PERFTEST_RUNS / "26.04" / "ib_read_bw.duration.client.txt"
FAILED = PERFTEST_RUNS / "26.04" / "fail.gid0_link_local.client.txt"


def test_files_are_judged_with_a_sentence_each(rocefort: Command) -> None:
    code, out, err = rocefort("rdma", "judge", GOOD, "--min-gbps", "0.1")
    assert (code, err) == (0, "")
    assert "ib_read_bw: 0.13 Gb/s, at least 0.10 expected: --min-gbps" in " ".join(out.split())
    code, out, err = rocefort("rdma", "judge", GOOD, FAILED, "--format", "json")
    outputs = json.loads(out)["outputs"]
    assert (code, err) == (1, "")
    assert [each["verdict"] for each in outputs] == ["not-judged", "not-measured"]
    assert rocefort("rdma", "judge", GOOD, "--min-gbps", "92")[0] == 1


def test_standard_input_holds_both_outputs(
    rocefort: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    pasted = (
        FAILED.with_name("fail.gid0_link_local.client.err.txt").read_text() + FAILED.read_text()
    )
    monkeypatch.setattr(sys, "stdin", io.StringIO(pasted))
    code, out, _ = rocefort("rdma", "judge", "-")
    assert (code, "no-path: the NIC has no path to the peer" in " ".join(out.split())) == (1, True)


def test_what_cannot_be_read_is_one_error(rocefort: Command, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("hello\n")
    code, out, err = rocefort("rdma", "judge", other)
    assert (code, out) == (2, "")
    assert err == (
        f"rocefort: {other}: no output of a measuring program is recognized; name its program "
        "with --program, such as ib_write_bw\n"
    )
    code, _, err = rocefort("rdma", "judge", GOOD, FAILED, "--exit-code", "0")
    assert code == 2
    assert "--exit-code: belongs to one output, and several are given" in err
