"""Recorded runs of perftest, as the executor has them: `4.5/fail.no_server`."""

from __future__ import annotations

import re

from rocefort.fleet.ssh_exec import CommandResult
from rocefort.lab.servers.ssh_hosts import PERFTEST_RUNS, TIMED_OUT
from rocefort.models.results.rdma_plan import Program

Ends = tuple[Program, CommandResult, CommandResult | None]


def recordings() -> list[str]:
    """Return the names of all recordings."""
    metas = PERFTEST_RUNS.glob("*/*.meta.txt")
    return sorted(str(path.relative_to(PERFTEST_RUNS)).removesuffix(".meta.txt") for path in metas)


def ends(name: str) -> Ends:
    """Return the tool of a recording, and the outputs of both ends.

    There is no output of a server that the executor ended itself.
    """
    command, meta = command_line(name), text(name, "meta")
    tool = re.search(r"ib_\w+", command)
    client = _end(name, "client", meta)
    assert client is not None
    server = None if "server_ended: by the runner" in meta else _end(name, "server", meta)
    return Program(tool[0] if tool else "ib_write_bw"), client, server


def command_line(name: str) -> str:
    """Return the command line of the client; empty if it was not recorded."""
    line = re.search(r"^client\(\S+\): (.*)$", text(name, "meta"), re.MULTILINE)
    return line[1] if line else ""


def text(name: str, part: str) -> str:
    """Return one text of a recording, such as `client.err`; empty if there is none."""
    path = PERFTEST_RUNS / f"{name}.{part}.txt"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _end(name: str, side: str, meta: str) -> CommandResult | None:
    code = re.search(rf"^{side}_rc: (\d+)$", meta, re.MULTILINE)
    if code is None:
        return None
    out, err, exit_code = text(name, side), text(name, f"{side}.err"), int(code[1])
    return CommandResult(out, err, exit_code, exit_code == TIMED_OUT)
