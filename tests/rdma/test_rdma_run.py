"""Whole runs over real SSH on emulated servers: every suite, every fault, no process remains."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import paramiko
import pytest

from rocefort.base.errors import DeviceFailed
from rocefort.design.derive.derive import derive
from rocefort.fleet.nornir_session import open_fleet
from rocefort.rdma.designed_plan import RdmaRequest
from rocefort.rdma.plan import sweep_suite
from rocefort.rdma.plan.site import RdmaPlanOptions
from rocefort.rdma.rdma_plan import Suite
from rocefort.rdma.results import MeasurementVerdict, RdmaResult
from rocefort.rdma.run.executor import hold_servers
from rocefort.rdma.run_suite import RunDialogue, run_tests


def measure(lab: Any, suite: Suite = Suite.WRITE, **more: Any) -> RdmaResult:
    options = RdmaPlanOptions(**{"duration_s": 4, "iterations": 100} | more.pop("options", {}))
    servers = more.pop("servers", tuple(lab.roots))
    asked = RdmaRequest(suite, servers, options, switches=False, **more)
    said: list[str] = []
    result = run_tests(lab.fabric, lab.access, asked, lab.history, RunDialogue(said.append))
    assert lab.processes == {}
    return result


def sentences(result: RdmaResult, verdict: MeasurementVerdict) -> list[str]:
    return [m.sentence for m in result.measurements if m.verdict is verdict]


def test_a_sound_fabric_passes(open_lab: Callable[..., Any]) -> None:
    result = measure(open_lab())
    assert (result.complete, result.passed) == (True, True)
    assert [m.verdict for m in result.measurements] == [MeasurementVerdict.PASSED] * 4
    assert {m.value for m in result.measurements} == {94.0, 3.75}


SUITES = [
    (Suite.READ, {}, 4),
    (Suite.SEND, {}, 4),
    (Suite.MESH, {}, 6),
    (Suite.INCAST, {}, 4),
    (Suite.MIXED, {}, 3),
    (Suite.STORAGE, {"storage_directory": "/mnt/beegfs"}, 24),
    (Suite.MPI, {}, 5),
]


@pytest.mark.parametrize(("suite", "options", "runs"), SUITES, ids=[s.value for s, *_ in SUITES])
def test_every_suite_is_measured_whole(
    open_lab: Callable[..., Any], suite: Suite, options: dict[str, Any], runs: int
) -> None:
    result = measure(open_lab(), suite, options=options)
    assert [m.sentence for m in result.measurements if m.value is None] == []
    assert (len(result.measurements), result.passed) == (runs, True)


def test_a_sweep_subtracts_the_switch(
    open_lab: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Smallest and largest sizes, and the first with fewer messages; others: test_rdma_suites."""
    sizes = (2, 8192, 16384, 2**23)
    monkeypatch.setattr(sweep_suite, "SIZES", sizes)
    lab = open_lab(("k8sgn08", "transfer01", "k8sgn12"))
    result = measure(lab, Suite.SWEEP)
    assert [m.sentence for m in result.measurements if m.value is None] == []
    assert {m.run.size_bytes for m in result.measurements} == set(sizes)
    (switch,) = [j.sentence for j in result.judged if j.subject == "switch latency"]
    assert switch == (
        "one switch takes 0.62 us of 2 bytes, by subtraction of 2 runs, 0.50 us of cable taken off"
    )


def test_failover_says_what_was_lost(open_lab: Callable[..., Any]) -> None:
    fields = {name: {"tick": 0.5} for name in ("k8sgn08", "k8sgn12")}
    lab = open_lab(("k8sgn08", "k8sgn12"), **fields)
    result = measure(lab, Suite.FAILOVER, options={"duration_s": 4})
    assert [len(m.series) >= 6 for m in result.measurements] == [True, True]
    told = [j.sentence for j in result.judged if "fails" in j.subject]
    assert told[0].startswith(
        "k8sgn08 -> k8sgn12, an uplink of leaf01 fails, near the sender: 94.00 Gb/s before, "
        "at worst 28.20, below half of it for 1 s, 65.8 Gbit less sent; the rate recovered"
    )


# Each: a fault of k8sgn12 alone, and the line that reports it. The other runs are measured.
FAULTS: list[tuple[str, dict[str, Any], str]] = [
    (
        "unreachable",
        {"closed": ("k8sgn12",)},
        "k8sgn12: unreachable: the server cannot be logged in to (no SSH session with 127.0.0.1:1: "
        "[Errno None] Unable to connect to port 1 on 127.0.0.1; check the address, the port and "
        "that its SSH server runs)",
    ),
    (
        "perftest-missing",
        {"faults": {"k8sgn12": ("perftest-missing",)}},
        "k8sgn12: no-perftest: perftest is not installed there (ib_write_bw: not found)",
    ),
    (
        "no-device",
        {"faults": {"k8sgn12": ("no-device",)}},
        "k8sgn12: no-device: there is no such RDMA device (no GID of any RDMA device)",
    ),
    (
        "wrong-gid",
        {"faults": {"k8sgn12": ("wrong-gid",)}},
        "k8sgn12: bad-gid: there is no such GID index (no RoCE v2 GID has 10.65.2.10; there: "
        "rxe0 1 192.0.2.1 RoCE v2)",
    ),
]


@pytest.mark.parametrize(("kind", "how", "line"), FAULTS, ids=[kind for kind, *_ in FAULTS])
def test_a_server_that_cannot_measure_is_named_and_the_rest_measured(
    open_lab: Callable[..., Any], kind: str, how: dict[str, Any], line: str
) -> None:
    result = measure(open_lab(**how))
    assert result.unmeasured == (line,)
    assert [m.verdict for m in result.measurements] == [MeasurementVerdict.PASSED] * len(
        result.measurements
    )
    assert {n for m in result.measurements for n in m.run.servers} == {
        "k8sgn08",
        "k8sgn09",
        "daisygn01",
    }
    assert (result.complete, result.passed) == (False, False)


RUN_FAULTS: list[tuple[str, dict[str, Any], Suite, str]] = [
    (
        "versions-differ",
        {"k8sgn12": {"version": "6.20"}},
        Suite.MESH,
        "k8sgn12 -> daisygn01 ib_write_bw: versions-differ: the two ends have different versions of"
        " perftest (k8sgn12 has 6.20, daisygn01 has 6.29)",
    ),
    (
        "firewall-4791",
        {"k8sgn12": {"faults": ("firewall-4791",)}},
        Suite.MESH,
        "k8sgn12 -> daisygn01 ib_write_bw: zero-iterations: no message arrived: UDP 4791 is"
        " blocked, or the path MTU is smaller than the RoCE MTU"
        " (client: '65536 0 0.000000 0.000000 0.000000 2.00')",
    ),
    (
        "killed-midrun",
        {"daisygn01": {"faults": ("killed-midrun",)}},
        Suite.MESH,
        "k8sgn12 -> daisygn01 ib_write_bw: killed: ended by a signal, or with its session, before"
        " it finished (server: 'Killed')",
    ),
    (
        "disk-full",
        {"k8sgn12": {"faults": ("disk-full",)}},
        Suite.STORAGE,
        "k8sgn12 fio: disk-full: no space is left on the server (client: 'fio: pid=1,"
        " err=28/file:filesetup.c:240, func=write, error=No space left on device')",
    ),
    (
        "not-mounted",
        {"k8sgn12": {"faults": ("not-mounted",)}},
        Suite.STORAGE,
        "k8sgn12 fio: not run: k8sgn12: mountpoint -q /mnt failed: is the storage mounted?",
    ),
]


@pytest.mark.parametrize(
    ("kind", "fields", "suite", "line"), RUN_FAULTS, ids=[kind for kind, *_ in RUN_FAULTS]
)
def test_a_run_that_fails_says_why_and_the_others_go_on(
    open_lab: Callable[..., Any], kind: str, fields: dict[str, Any], suite: Suite, line: str
) -> None:
    names = ("k8sgn08", "k8sgn12", "daisygn01")
    faults = {
        n: f.pop("faults") for n, f in ((n, dict(f)) for n, f in fields.items()) if "faults" in f
    }
    others = {n: f for n, f in fields.items() if "faults" not in f}
    lab = open_lab(names, faults, **others)
    result = measure(lab, suite, options={"storage_directory": "/mnt"})
    lost = sentences(result, MeasurementVerdict.NOT_MEASURED)
    assert line in lost
    assert 0 < len(lost) < len(result.measurements)
    assert not result.complete


def test_two_runs_at_once_do_not_share_a_server(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    network = derive(lab.fabric).network
    asked = RdmaRequest(
        Suite.WRITE, tuple(lab.roots), RdmaPlanOptions(duration_s=4), switches=False
    )
    two = RdmaRequest(Suite.WRITE, ("k8sgn08", "k8sgn12"), switches=False)
    busy = "k8sgn12: another RDMA run uses it; wait for it, or end it with `rdma stop`"
    with (
        open_fleet(network, lab.access) as nornir,
        hold_servers(nornir, ["k8sgn12"], "other") as hold,
    ):
        assert (hold.refused, hold.lost()) == ({}, frozenset())
        result = run_tests(lab.fabric, lab.access, asked, lab.history, RunDialogue(print))
        assert result.unmeasured == (busy,)
        assert {m.verdict for m in result.measurements} == {MeasurementVerdict.PASSED}
        with pytest.raises(DeviceFailed) as caught:
            run_tests(lab.fabric, lab.access, two, lab.history, RunDialogue(print))
        assert str(caught.value).splitlines() == [
            busy,
            "heps: write takes 2 RoCE servers, 1 may be used; name more with --servers, "
            "or list more under rdma.servers",
        ]
    assert lab.processes == {}
    assert measure(lab).passed


def test_a_slow_server_is_named_with_what_its_pairs_share(open_lab: Callable[..., Any]) -> None:
    result = measure(open_lab(k8sgn12={"share": 0.5}), Suite.MESH)
    slow = sentences(result, MeasurementVerdict.TOO_SLOW)
    assert len(slow) == 3
    assert all("k8sgn12" in sentence for sentence in slow)
    (outliers,) = [j.sentence for j in result.judged if j.subject == "slow pairs"]
    assert outliers == (
        "3 slow pairs pass through one of cable leaf03 100GE1/0/25 - spine01 100GE1/1/3, "
        "cable leaf03 100GE1/0/26 - spine02 100GE1/1/3, leaf03, server k8sgn12 or its cables"
    )


def test_counters_that_grow_are_judged(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    root = lab.roots["k8sgn08"]
    counter = 'n=$(cat "$ROCEFORT_ROOT/times" 2>/dev/null); echo "x$n" >"$ROCEFORT_ROOT/times"; '
    link = "link rxe0/1 sent_pkts 5 out_of_seq_request ${#n} rcvd_seq_err 0"
    root._script("rdma", counter + f'echo "{link}"')
    result = measure(lab)
    assert [j.sentence for j in result.judged if j.ok is False] == [
        "k8sgn08 rxe0/1: out_of_seq_request grew by 1: packets were lost or came out of order, "
        "towards this NIC"
    ]
    assert (result.complete, result.passed) == (True, False)


def test_a_server_that_takes_few_channels_gets_another_connection(
    open_lab: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[paramiko.Channel] = []
    one_by_one = threading.Lock()
    real = paramiko.Transport.open_session

    def limited(self: paramiko.Transport, *words: Any, **more: Any) -> paramiko.Channel:
        with one_by_one:
            live = [c for c in made if c.get_transport() is self and not c.closed]
            if len(live) >= 2:  # as sshd with MaxSessions 2
                raise paramiko.ChannelException(1, "administratively prohibited")
            made.append(real(self, *words, **more))
            return made[-1]

    monkeypatch.setattr(paramiko.Transport, "open_session", limited)
    assert measure(open_lab(), Suite.INCAST).passed
    assert len({c.get_transport() for c in made}) > 4
