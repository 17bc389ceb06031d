"""Run both ends of one test over SSH: the server first, then its client, both with deadlines.

The gate of a rollout and every suite use this module. If one end fails, the other end is ended
and leaves no process.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

from rocefort.fleet.ssh_exec import CommandResult, SshExec
from rocefort.rdma.parse.causes import cause_of
from rocefort.rdma.parse.outcome import Outcome
from rocefort.rdma.results import RawEnd

LISTEN_S = 5.0  # longest time until a server listens
RETRY_S = 0.05
LAST_WORDS_S = 1.0  # time for a server to print the cause after its client has failed
LOST_PEER_S = 10.0  # the same if the client lost it: a busy server prints the cause late
CLOCK_TRIES = 6  # on a busy machine perftest may fail to calibrate its clock: nothing was measured
NOT_LISTENING = ("Connection refused", "unable to connect")  # messages of iperf3


@dataclass(frozen=True)
class EndCommands:
    """Command line of each end; server is empty for a program without one.

    endless: the server does not end after its client, so that it is ended.
    """

    client: str
    server: str = ""
    endless: bool = False


@dataclass(frozen=True)
class BothOutputs:
    """Outputs of both ends; server is None if there was none, or if its client failed."""

    client: CommandResult
    server: CommandResult | None

    def raw_ends(self, run: str, commands: EndCommands) -> tuple[RawEnd, ...]:
        """Return the outputs for the store of runs. run: id of the RdmaRun."""
        client = _raw_end(run, "client", commands.client, self.client)
        if self.server is None:
            return (client,)
        return (client, _raw_end(run, "server", commands.server, self.server))


def _raw_end(
    run: str, side: Literal["client", "server"], command: str, done: CommandResult
) -> RawEnd:
    return RawEnd(
        run=run,
        side=side,
        command=command,
        stdout=done.stdout,
        stderr=done.stderr,
        exit_code=done.exit_code,
        timed_out=done.timed_out,
    )


def run_ends(
    commands: EndCommands, here: SshExec, there: SshExec | None, deadline_s: float, run: str
) -> BothOutputs:
    """Run a client, and its server if it has one; raises DeviceFailed if a session is lost.

    deadline_s: deadline of the client, enforced on its host and by this side. run: mark of the
    processes. A run whose clock could not be calibrated is repeated.
    """
    for _ in range(CLOCK_TRIES):
        both = _run_once(commands, here, there, deadline_s, run)
        ends = (both.client,) if both.server is None else (both.client, both.server)
        causes = [cause_of(end) for end in ends]
        if not any(cause is not None and cause[0] is Outcome.NO_CLOCK for cause in causes):
            break
    return both


def _run_once(
    commands: EndCommands, here: SshExec, there: SshExec | None, deadline_s: float, run: str
) -> BothOutputs:
    if not commands.server or there is None:
        return BothOutputs(here.run(commands.client, deadline_s, run), None)
    # The server waits longer than its client may run, so the client ends first.
    server = there.start(commands.server, deadline_s + LISTEN_S, run)
    try:
        listening_until = time.monotonic() + LISTEN_S
        while True:
            client = here.run(commands.client, deadline_s, run)
            if (
                not _is_refused(client)
                or time.monotonic() > listening_until
                or not server.running()
            ):
                break
            time.sleep(RETRY_S)
        succeeded = client.exit_code == 0
        if succeeded and commands.endless:
            return BothOutputs(client, None)
        end = server.wait(deadline_s if succeeded else _last_words_s(client))
        # The output of a server that was ended because its client failed is no evidence.
        return BothOutputs(client, None if end.timed_out and not succeeded else end)
    finally:
        if server.running():
            server.kill()


def _last_words_s(client: CommandResult) -> float:
    cause = cause_of(client)
    return LOST_PEER_S if cause is not None and cause[0] is Outcome.PEER_LOST else LAST_WORDS_S


def _is_refused(client: CommandResult) -> bool:
    """Return whether the server did not listen yet, so that a retry may succeed."""
    cause = cause_of(client)
    if cause is not None:
        return cause[0] is Outcome.NO_SERVER
    return any(word in client.stdout + client.stderr for word in NOT_LISTENING)
