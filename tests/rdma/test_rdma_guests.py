"""Runs on servers with an emulated CPU: longer deadlines, retries, counters without loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import pytest

from rocefort.fleet.ssh_exec import CommandResult, SshExec
from rocefort.models.network.observed import NicCounters
from rocefort.rdma.plan.command_lines import argv
from rocefort.rdma.rdma_plan import Program, RdmaHost, RdmaRun
from rocefort.rdma.run.client_server import CLOCK_TRIES, EndCommands, run_ends
from rocefort.rdma.run.counters import judge_nics

NO_CLOCK = "Correlation coefficient r^2: 0.47 < 0.9\n"
RUN = RdmaRun(
    id="1",
    program=Program.WRITE_BW,
    client="a",
    server="b",
    client_address="192.0.2.1",
    server_address="192.0.2.2",
    traffic_class=138,
    switches=3,
    size_bytes=65536,
    duration_s=4,
)


def test_a_server_says_how_long_it_waits_for_answers() -> None:
    hosts = {
        name: RdmaHost(name=name, device="rxe0", gid_index=1, qp_timeout=timeout)
        for name, timeout in (("a", 18), ("b", None))
    }
    client, server = (argv(RUN, side, hosts) for side in ("client", "server"))
    assert client[client.index("-u") + 1] == "18"
    assert "-u" not in server


@dataclass
class Ends:
    """A session whose commands end at once, each with the next of these errors."""

    errors: list[str]
    ran: list[str] = field(default_factory=list)

    def start(self, command: str, *_: object) -> Ends:
        self.ran.append(command)
        return self

    def run(self, command: str, *_: object) -> CommandResult:
        return self.start(command).wait()

    def wait(self, *_: object) -> CommandResult:
        error = self.errors.pop(0) if self.errors else ""
        return CommandResult("out", error, 0)

    def running(self) -> bool:
        return False


@pytest.mark.parametrize(
    ("client", "server", "times"),
    [
        ([], [], 1),
        ([NO_CLOCK], [], 2),
        ([], [NO_CLOCK, NO_CLOCK], 3),
        ([NO_CLOCK] * 9, [], CLOCK_TRIES),
        (["Failed status 12: x\n", ""], [], 1),
    ],
)
def test_what_had_no_clock_is_run_again(client: list[str], server: list[str], times: int) -> None:
    here, there = Ends(list(client)), Ends(list(server))
    commands = EndCommands("ib_write_bw -D 4 192.0.2.2", "ib_write_bw -D 4")
    both = run_ends(commands, cast("SshExec", here), cast("SshExec", there), 10.0, "run")
    assert here.ran == [commands.client] * times
    assert there.ran == [commands.server] * times
    assert both.client.stderr == (client + [""] * times)[times - 1]


def _read(server: str, **values: int) -> NicCounters:
    names = ("sent_pkts", "rcvd_pkts", "completer_retry_err", "duplicate_request")
    rest = {"out_of_seq_request": 0, "rcvd_seq_err": 0}
    return NicCounters(
        server=server, link="rxe0/1", values={**dict.fromkeys(names, 0), **rest, **values}
    )


BEFORE = (_read("a"), _read("b"))


@pytest.mark.parametrize(
    ("sent", "received", "ok"),
    [(100, 100, None), (100, 99, False), (0, 0, False)],
)
def test_a_timer_that_ran_out_is_no_loss(sent: int, received: int, ok: bool | None) -> None:
    """A missing packet, or no proof that all arrived, is judged as before."""
    after = (
        _read("a", sent_pkts=sent, rcvd_pkts=40, completer_retry_err=3),
        _read("b", sent_pkts=40, rcvd_pkts=received, duplicate_request=3),
    )
    if not sent:
        after = (_read("a", completer_retry_err=3), _read("b", duplicate_request=3))
    found = judge_nics(BEFORE, after, 10.0, 4)
    assert [each.ok for each in found] == [ok, ok]
    why = {
        None: "resent when a timer expired; every packet that was sent has arrived",
        False: "requests were resent: packets were lost",
    }
    assert found[0].sentence == f"a rxe0/1: completer_retry_err grew by 3: {why[ok]}"


def test_a_packet_out_of_order_is_judged_all_the_same() -> None:
    after = (
        _read("a", sent_pkts=9, rcvd_pkts=9),
        _read("b", sent_pkts=9, rcvd_pkts=9, out_of_seq_request=1),
    )
    (found,) = judge_nics(BEFORE, after, 10.0, 4)
    assert found.ok is False


def test_one_end_alone_proves_nothing() -> None:
    after = (_read("a", sent_pkts=9, rcvd_pkts=9, completer_retry_err=1),)
    found = judge_nics(BEFORE, after, 10.0, 4)
    assert [each.ok for each in found] == [False, None]


def test_a_guests_port() -> None:
    def port(drops: int) -> NicCounters:
        values = {"rx_queue_0_packets": 5, "rx_queue_0_drops": drops, "tx_queue_0_tx_timeouts": 0}
        return NicCounters(server="a", link="eth0", values=values)

    assert judge_nics([port(0)], [port(0)], 1.0, 4) == ()
    (found,) = judge_nics([port(0)], [port(2)], 1.0, 4)
    assert (found.ok, found.sentence) == (
        False,
        "a eth0: rx_queue_0_drops grew by 2: the guest had no buffer for packets",
    )
