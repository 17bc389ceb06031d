"""Both ends of one run over SSH: the server first, then its client, both with deadlines.

The one way in which programs run on two servers, for the gate of a rollout as for every suite.
Whatever happens to the one end, nothing is left of the other.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from rocefort.fleet.ssh_exec import CommandResult, SshExec
from rocefort.rdma.parse.outcome import Outcome
from rocefort.rdma.parse.perftest import cause_of

LISTEN_S = 5.0  # how long a server may take until it listens
RETRY_S = 0.05
LAST_WORDS_S = 1.0  # for a server whose client has failed to say why
CLOCK_TRIES = 4  # on a busy machine perftest may fail to time its own clock: nothing was measured
NOT_LISTENING = ("Connection refused", "unable to connect")  # of iperf3


@dataclass(frozen=True)
class EndCommands:
    """The command line of each end; server empty: the program has none."""

    client: str
    server: str = ""


@dataclass(frozen=True)
class BothOutputs:
    """What both ends left; server None: there is none, or it was ended as its client failed."""

    client: CommandResult
    server: CommandResult | None


def run_ends(
    commands: EndCommands, here: SshExec, there: SshExec | None, deadline_s: float, run: str
) -> BothOutputs:
    """Run a client, and its server where it has one; raises DeviceFailed where a session is lost.

    deadline_s: of the client, held by its server itself and by this side. run: its mark. What found
    no clock to measure by is run again.
    """
    for _ in range(CLOCK_TRIES):
        both = _run_once(commands, here, there, deadline_s, run)
        ends = (both.client,) if both.server is None else (both.client, both.server)
        causes = [cause_of(end.stderr) for end in ends]
        if not any(cause is not None and cause[0] is Outcome.NO_CLOCK for cause in causes):
            break
    return both


def _run_once(
    commands: EndCommands, here: SshExec, there: SshExec | None, deadline_s: float, run: str
) -> BothOutputs:
    if not commands.server or there is None:
        return BothOutputs(here.run(commands.client, deadline_s, run), None)
    # The server waits longer than its client may run, so that the client's end is seen first.
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
        end = server.wait(deadline_s if succeeded else LAST_WORDS_S)
        # A server that is ended because its client failed says nothing about itself.
        return BothOutputs(client, None if end.timed_out and not succeeded else end)
    finally:
        if server.running():
            server.kill()


def _is_refused(client: CommandResult) -> bool:
    """Whether a client found nobody listening, which a moment later may be otherwise."""
    cause = cause_of(client.stderr)
    if cause is not None:
        return cause[0] is Outcome.NO_SERVER
    return any(word in client.stdout + client.stderr for word in NOT_LISTENING)
