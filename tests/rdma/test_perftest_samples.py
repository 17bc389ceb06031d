"""Every recorded perftest run has exactly one outcome, and only `measured` has figures."""

from __future__ import annotations

import re

import pytest

from rocefort.fleet.ssh_exec import CommandResult
from rocefort.lab.servers.ssh_hosts import PERFTEST_RUNS
from rocefort.models.results.rdma_plan import Program
from rocefort.models.results.rdma_result import Figures
from rocefort.rdma.parse.outcome import MEANING, Outcome
from rocefort.rdma.parse.perftest import PerftestOutcome, judge
from rocefort.rdma.parse.result_row import MessageSizeRow

MEASURED = {  # Gb/s, or us on average
    "ecn.guest_red_ecn": 0.088994,
    "ecn.tclass104": 0.52,
    "ecn.tclass106": 0.28,
    "ecn.tclass106_ce20pct": 0.43,
    "fail.duration_vs_iters": 0.33,  # perftest uses the client's option
    "fail.mtu_option_mismatch": 0.073608,  # the ends agree on the smaller MTU
    "ib_read_bw.gbits": 0.63,
    "ib_read_lat.iters": 373.20,
    "ib_read_lat.json.iters": 2929.33,
    "ib_send_bw.gbits": 0.41,
    "ib_send_lat.iters": 311.87,
    "ib_write_bw.all": 0.51,
    "ib_write_bw.bidir": 0.41,
    "ib_write_bw.counters": 0.24,
    "ib_write_bw.gbits": 0.69,
    "ib_write_bw.json.all": 0.57,
    "ib_write_bw.json.bidir": 0.35,
    "ib_write_bw.json.cpu_util": 0.54,
    "ib_write_bw.json.gbits": 0.14,
    "ib_write_bw.json.iters_mib": 28.27 * 2**20 * 8 / 1e9,
    "ib_write_bw.mib": 45.30 * 2**20 * 8 / 1e9,
    "ib_write_bw.mtu1024": 0.086776,
    "ib_write_bw.noPeak": 0.54,
    "ib_write_bw.port20001": 0.081840,
    "ib_write_bw.qp2": 0.47,
    "ib_write_bw.qp4": 0.64,
    "ib_write_bw.rdma_cm": 0.29,
    "ib_write_bw.size1M_qp2": 0.33,
    "ib_write_bw.sl3": 0.64,
    "ib_write_bw.tclass106": 0.40,
    "ib_write_lat.all": 3878.90,
    "ib_write_lat.duration": 517.80,
    "ib_write_lat.iters": 381.28,
    "ib_write_lat.json.duration": 1583.15,
    "ib_write_lat.json.iters": 4638.81,
    "ib_write_lat.rdma_cm": 631.99,
    "loss.10permille_u14": 0.14,
    "loss.10permille_u18": 0.038258,
    "loss.1permille_u14": 0.33,
    "loss.1permille_u18": 0.48,
    "path_mtu_1500.lat_small": 3357.32,
    "path_mtu_1500.with_m1024": 0.022679,
    "shaped.guest_netem5ms_bw": 0.15,
    "shaped.guest_netem_loss1pct_bw": 0.033707,
    "shaped.tbf100m_bw": 0.095716,
    "shaped.tbf100m_lat_idle": 4134.77,
}
FAILED = {  # outcome, side, the line that decides
    "fail.bad_host": (
        "bad-address", "client", "Name or service not known for no-such-host.lab:18515"
    ),
    "fail.bad_option": (
        "bad-option", "client", "ib_write_bw: unrecognized option '--no_such_option'"
    ),
    "fail.client_sigKILL_midrun": ("killed", "client", "exit code 255"),
    "fail.gid0_link_local": ("no-path", "client", "Failed to modify QP 104 to RTR"),
    "fail.gid_out_of_range": ("bad-gid", "client", "Gid index should be between 0 and 64"),
    "fail.lat_server_sigKILL_midrun": ("killed", "server", "Killed"),
    "fail.lat_vs_bw": ("remote-refused", "client", "Failed status 10: wr_id 0 syndrom 0x0"),
    "fail.memlock": ("memory-lock-limit", "client", "Couldn't allocate MR"),
    "fail.no_permission": ("no-permission", "client", "Couldn't get context for the device"),
    "fail.no_rdma_device": ("no-device", "client", "Did not detect devices"),
    "fail.no_server": ("no-server", "client", "Couldn't connect to 10.91.2.10:18515"),
    "fail.no_server_rdma_cm": ("no-server", "client", "Unexpected CM event bl blka 8"),
    "fail.path_mtu_1500": ("zero-iterations", "client", "65536 0 0.000000 0.000000 0.000000"),
    "fail.retry_exceeded_rdma_cm": (
        "retry-exceeded", "client", "Failed status 12: wr_id 0 syndrom 0x0"
    ),
    "fail.server_sigKILL_midrun": ("killed", "server", "Killed"),
    "fail.server_sigKILL_midrun_iters": ("killed", "client", "exit code 255"),
    "fail.server_sigTERM_midrun": ("killed", "server", "Terminated"),
    "fail.size_mismatch": ("remote-refused", "client", "Failed status 10: wr_id 0 syndrom 0x0"),
    "fail.test_mismatch_read_vs_write": (
        "remote-refused", "client", "Failed status 9: wr_id 0 syndrom 0x0"
    ),
    "fail.udp4791_blocked": ("zero-iterations", "client", "65536 0 0.000000 0.000000 0.000000"),
    "fail.udp4791_blocked_lat": ("killed", "client", "exit code 255"),
    "fail.udp4791_blocked_rdma_cm": ("killed", "client", "exit code 255"),
    "fail.unreachable_host": ("no-server", "client", "Couldn't connect to 10.91.77.10:18515"),
    "fail.wrong_device": ("no-device", "client", "IB device mlx5_0 not found"),
    "fail.wrong_port": ("no-server", "client", "Couldn't connect to 10.91.2.10:20003"),
    "ib_write_bw.output_bw": ("no-table", "client", "0.592021"),
}  # fmt: skip


def ends(name: str) -> tuple[Program, CommandResult, CommandResult | None]:
    """Return the tool of a recorded run, and the outputs of both ends."""
    meta = (PERFTEST_RUNS / f"{name}.meta.txt").read_text()
    tool = re.search(r"^client\(.*?(ib_\w+)", meta, re.MULTILINE)
    client = end(name, "client", meta)
    assert client is not None
    return Program(tool[1] if tool else "ib_write_bw"), client, end(name, "server", meta)


def end(name: str, side: str, meta: str) -> CommandResult | None:
    code = re.search(rf"^{side}_rc: (\d+)$", meta, re.MULTILINE)
    return (
        CommandResult(text(name, side), text(name, f"{side}.err"), int(code[1])) if code else None
    )


def text(name: str, part: str) -> str:
    path = PERFTEST_RUNS / f"{name}.{part}.txt"
    return path.read_text() if path.exists() else ""


def judged(name: str) -> PerftestOutcome:
    return judge(*ends(name))


def test_every_sample_stands_in_the_tables() -> None:
    names = {path.name.removesuffix(".meta.txt") for path in PERFTEST_RUNS.glob("*.meta.txt")}
    assert names == MEASURED.keys() | FAILED.keys()


@pytest.mark.parametrize(("name", "figure"), MEASURED.items())
def test_measured_sample(name: str, figure: float) -> None:
    judgement = judged(name)
    assert judgement.outcome is Outcome.MEASURED, judgement.sentence
    found = judgement.gbps if judgement.gbps is not None else judgement.latency_us
    assert found == pytest.approx(figure)
    assert (judgement.gbps is None) == ("_lat" in ends(name)[0])


@pytest.mark.parametrize(("name", "expected"), FAILED.items())
def test_failed_sample(name: str, expected: tuple[str, str, str]) -> None:
    judgement = judged(name)
    assert (judgement.outcome, judgement.side, judgement.line) == expected
    assert (judgement.rows, judgement.gbps, judgement.latency_us) == ((), None, None)
    assert judgement.line in judgement.sentence


def test_rows_of_a_sweep() -> None:
    rows = judged("ib_write_bw.all").rows
    assert [row.size_bytes for row in rows] == [2**n for n in range(1, 24)]
    assert rows[11] == MessageSizeRow(
        4096, Figures(gbps=0.11, peak_gbps=0.17, mpps=0.003420, iterations=50)
    )


def test_columns_of_latency_over_iterations() -> None:
    (row,) = judged("ib_write_lat.iters").rows
    assert row.size_bytes == 2
    assert row.figures == Figures(
        latency_us=381.28,
        least_us=114.48,
        typical_us=211.23,
        most_us=3424.87,
        stdev_us=491.03,
        p99_us=2449.97,
        p999_us=3217.38,
        iterations=2000,
    )


def test_peak_of_a_duration_run_is_unknown_not_zero() -> None:
    (row,) = judged("ib_write_bw.gbits").rows
    assert row.figures.gbps is not None
    assert row.figures.peak_gbps is None


def test_every_outcome_has_a_meaning() -> None:
    assert MEANING.keys() == set(Outcome)


# --- one thing changed in a good run ------------------------------------------------------------

ROW = " 65536      3950             0.00               0.69   \t\t   0.001315\n"
RULE = "-" * 87 + "\n"
HEADER = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
BROKEN = [
    ("iterations", ROW, ROW.replace("3950", "0   "), "zero-iterations"),
    ("bandwidth", ROW, ROW.replace("0.69", "0.00"), "zero-bandwidth"),
    ("nan", ROW, ROW.replace("0.69", "-nan"), "not-a-number"),
    ("inf", ROW, ROW.replace("0.69", " inf"), "not-a-number"),
    ("sum", ROW, ROW.replace("0.69", "6.90"), "sums-do-not-add-up"),
    ("just off", ROW, ROW.replace("0.69", "0.70"), "sums-do-not-add-up"),
    ("peak under average", ROW, ROW.replace("0.00  ", "0.50  "), "sums-do-not-add-up"),
    ("negative", ROW, ROW.replace("0.69", "-0.69"), "impossible-figure"),
    ("short row", ROW, " 65536      3950\n", "damaged-row"),
    ("words", ROW, ROW + "something else\n", "damaged-row"),
    ("no row", ROW, "", "missing-row"),
    ("row twice", ROW, ROW + ROW, "missing-row"),
    ("no end", ROW + RULE, ROW, "unterminated-table"),
    ("cut row", ROW + RULE, ROW[:20], "unterminated-table"),
    ("another table", ROW + RULE, ROW + RULE + HEADER + ROW + RULE, "two-tables"),
    ("unit", "BW average[Gb/sec]", "BW average[Gb/min]", "damaged-header"),
    ("column", "MsgRate[Mpps]", "MsgRate[Mpps]   Jitter[usec]", "damaged-header"),
    ("warning within", ROW, " WARNING: slow\n" + ROW, "damaged-row"),
    ("last digit", "0.001315", "0.00131", "damaged-row"),
    ("other test", "RDMA_Write BW Test", "RDMA_Read BW Test", "option-mismatch"),
    ("no title", "RDMA_Write BW Test", "", "no-title"),
]


@pytest.mark.parametrize("side", ["client", "server"])
@pytest.mark.parametrize(
    ("old", "new", "outcome"), [b[1:] for b in BROKEN], ids=[b[0] for b in BROKEN]
)
def test_one_thing_off_at_either_end(old: str, new: str, outcome: str, side: str) -> None:
    tool, client, server = ends("ib_write_bw.gbits")
    assert server is not None
    broken = {"client": client, "server": server}
    good = broken[side]
    assert good.stdout.count(old) == 1
    broken[side] = CommandResult(good.stdout.replace(old, new), "", 0)
    judgement = judge(tool, broken["client"], broken["server"])
    assert (judgement.outcome, judgement.side, judgement.gbps) == (outcome, side, None)


def test_mib_of_later_versions_is_the_same_unit() -> None:
    tool, client, server = ends("ib_write_bw.mib")
    later = CommandResult(client.stdout.replace("MB/sec", "MiB/sec"), "", 0)
    assert judge(tool, later, server) == judge(tool, client, server)


@pytest.mark.parametrize(
    ("stderr", "code", "timed_out", "outcome"),
    [
        ("", 1, False, "exit-code"),
        ("", None, False, "killed"),
        ("", 124, True, "timed-out"),
        ("what is this\n", 1, False, "exit-code"),
        ("Correlation coefficient r^2: 0.84 < 0.9\n", 0, False, "no-clock"),
        ("sh: ib_write_bw: command not found\n", 127, False, "no-perftest"),
        (" Failed status 13: wr_id 0 syndrom 0x0\n", 1, False, "receiver-not-ready"),
        (" Failed status 5: wr_id 0 syndrom 0x0\n", 1, False, "completion-error"),
    ],
)
@pytest.mark.parametrize("side", ["client", "server"])
def test_a_good_table_does_not_outweigh_how_an_end_ended(
    stderr: str, code: int | None, timed_out: bool, outcome: str, side: str
) -> None:
    tool, client, server = ends("ib_write_bw.gbits")
    assert server is not None
    both = {"client": client, "server": server}
    both[side] = CommandResult(both[side].stdout, stderr, code, timed_out)
    judgement = judge(tool, both["client"], both["server"])
    assert (judgement.outcome, judgement.side, judgement.gbps) == (outcome, side, None)


def test_a_server_that_cannot_start_explains_the_client() -> None:
    tool, client, _ = ends("fail.no_server")
    server = CommandResult("", text("fail.wrong_device", "client.err"), 1)
    assert judge(tool, client, server).sentence == (
        "no-device: there is no such RDMA device (server: 'IB device mlx5_0 not found')"
    )


def test_without_the_server_nothing_is_measured() -> None:
    tool, client, _ = ends("ib_write_bw.gbits")
    assert judge(tool, client, None).sentence == (
        "exit-code: ended with an error (server: 'its exit code is not known')"
    )


def test_different_sizes_at_the_two_ends() -> None:
    tool, client, _ = ends("ib_write_bw.size1M_qp2")
    _, _, server = ends("ib_write_bw.qp2")
    assert judge(tool, client, server).sentence == (
        "option-mismatch: the two ends did not run the same test"
        " (server: '65536 bytes, the client 1048576')"
    )


@pytest.mark.parametrize(
    ("name", "old", "new", "outcome"),
    [
        ("ib_write_lat.iters", "381.28", "114.00", "sums-do-not-add-up"),
        ("ib_write_lat.iters", "211.23", "9211.23", "sums-do-not-add-up"),
        ("ib_write_lat.iters", "2449.97", "3300.00", "sums-do-not-add-up"),
        ("ib_write_lat.iters", "381.28", "0.00", "zero-latency"),
        ("ib_write_lat.duration", "517.80", "317.80", "sums-do-not-add-up"),
        ("ib_write_lat.duration", "517.80", "0.00", "zero-latency"),
    ],
)
def test_latency_that_contradicts_itself(name: str, old: str, new: str, outcome: str) -> None:
    tool, client, server = ends(name)
    assert client.stdout.count(old) == 1
    judgement = judge(tool, CommandResult(client.stdout.replace(old, new), "", 0), server)
    assert (judgement.outcome, judgement.latency_us) == (outcome, None)
