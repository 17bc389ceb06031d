"""Outcome of each sample file alone, text or JSON, as a table."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rocefort.emulator.servers.ssh_hosts import PERFTEST_RUNS
from rocefort.rdma.parse.outcome import TableError
from rocefort.rdma.parse.perftest_tables import PerftestTable, read_json, read_table

FILES = sorted(
    path.name
    for path in (PERFTEST_RUNS / "4.5").iterdir()
    if path.name.endswith((".client.txt", ".server.txt", ".client.json", ".server.json"))
)
OTHER = {  # all other files hold a consistent table; read as with `--report_gbits`
    "no-table": (
        "fail.bad_host.client.txt",
        "fail.bad_option.client.txt",
        "fail.bad_option.ib_write_lat.client.txt",
        "fail.client_sigKILL_midrun.client.txt",
        "fail.gid0_link_local.client.txt",
        "fail.gid0_link_local.server.txt",
        "fail.gid_out_of_range.client.txt",
        "fail.gid_out_of_range.ib_write_lat.client.txt",
        "fail.gid_out_of_range.ib_write_lat.server.txt",
        "fail.gid_out_of_range.server.txt",
        "fail.lat_server_sigKILL_midrun.server.txt",
        "fail.lat_vs_bw.server.txt",
        "fail.memlock.client.txt",
        "fail.memlock.ib_write_lat.client.txt",
        "fail.memlock.ib_write_lat.server.txt",
        "fail.memlock.server.txt",
        "fail.no_permission.client.txt",
        "fail.no_permission.ib_write_lat.client.txt",
        "fail.no_permission.ib_write_lat.server.txt",
        "fail.no_permission.server.txt",
        "fail.no_rdma_device.client.txt",
        "fail.no_server.client.txt",
        "fail.no_server.ib_write_lat.client.txt",
        "fail.no_server_rdma_cm.client.txt",
        "fail.port_down.ib_write_bw.client.txt",
        "fail.port_down.ib_write_bw.server.txt",
        "fail.port_down.ib_write_lat.client.txt",
        "fail.port_down.ib_write_lat.server.txt",
        "fail.port_down_midrun.server.txt",
        "fail.port_down_server.client.txt",
        "fail.port_down_server.server.txt",
        "fail.retry_exceeded_lat.client.txt",
        "fail.retry_exceeded_rdma_cm.server.txt",
        "fail.server_sigKILL_midrun.ib_read_bw.server.txt",
        "fail.server_sigKILL_midrun.ib_send_bw.server.txt",
        "fail.server_sigKILL_midrun.server.txt",
        "fail.server_sigKILL_midrun_iters.client.txt",
        "fail.server_sigKILL_midrun_iters.server.txt",
        "fail.server_sigTERM_midrun.server.txt",
        "fail.udp4791_blocked_lat.client.txt",
        "fail.udp4791_blocked_lat.server.txt",
        "fail.udp4791_blocked_rdma_cm.client.txt",
        "fail.udp4791_blocked_rdma_cm.server.txt",
        "fail.unreachable_host.client.txt",
        "fail.wrong_device.client.txt",
        "fail.wrong_device.ib_write_lat.client.txt",
        "fail.wrong_device.ib_write_lat.server.txt",
        "fail.wrong_port.client.txt",
        "fail.wrong_port.server.txt",
        "ib_read_lat.iters.server.txt",
        "ib_read_lat.json.iters.server.txt",
        "ib_write_bw.output_bw.client.txt",
        "ib_write_bw.output_bw.server.txt",
    ),
    "unterminated-table": (
        "fail.client_sigKILL_midrun.server.txt",
        "fail.lat_vs_bw.client.txt",
        "fail.port_down_midrun.client.txt",
        "fail.retry_exceeded_lat.server.txt",
        "fail.retry_exceeded_rdma_cm.client.txt",
        "fail.size_mismatch.client.txt",
        "fail.size_mismatch.server.txt",
        "fail.test_mismatch_read_vs_write.client.txt",
        "fail.test_mismatch_read_vs_write.server.txt",
        "ib_read_bw.infinitely.client.txt",
        "ib_read_bw.infinitely.server.txt",
        "ib_send_bw.infinitely.client.txt",
        "ib_send_bw.infinitely.server.txt",
        "ib_write_bw.infinitely.client.txt",
        "ib_write_bw.infinitely.server.txt",
    ),
    "zero-iterations": (
        "fail.path_mtu_1500.client.txt",
        "fail.path_mtu_1500.server.txt",
        "fail.udp4791_blocked.client.txt",
        "fail.udp4791_blocked.server.txt",
    ),
    "sums-do-not-add-up": (
        "ib_write_bw.json.iters_mib.client.json",
        "ib_write_bw.json.iters_mib.server.json",
    ),
}


def outcome(name: str) -> str:
    read: Callable[[str], PerftestTable] = read_json if name.endswith(".json") else read_table
    try:
        table = read((PERFTEST_RUNS / "4.5" / name).read_text())
    except TableError as flaw:
        return flaw.outcome.value
    assert table.rows
    return "table"


EXPECTED = {name: kind for kind, names in OTHER.items() for name in names}


def test_the_table_names_only_files_that_are_there() -> None:
    assert EXPECTED.keys() <= set(FILES)
    assert len(FILES) - len(EXPECTED) == 118


@pytest.mark.parametrize("name", FILES)
def test_outcome_of_a_file(name: str) -> None:
    assert outcome(name) == EXPECTED.get(name, "table")
