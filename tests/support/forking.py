"""Server that forks a Python process for each call, with its modules already imported.

`forked.py` is its client. It runs `rocefort` for the PATH of a shell, and `python` as execnet starts a
worker of xdist. A call is a separate process with the caller's words, directory, environment and
files. The server ends when its standard input ends.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

IMPORTED = (  # modules that commands and workers import
    "rocefort.change.growth",
    "rocefort.verification.capacity",
    "rocefort.change.difference",
    "rocefort.lab.demo.emulated_demo",
    "rocefort.change.expand",
    "rocefort.emulator.emulated_site",
    "rocefort.lab.lab_cli",
    "rocefort.rdma.run_suite",
    "rocefort.verification.review.review",
    "rocefort.rollout.plan.base_policy",
    "rocefort.rollout.apply.apply",
    "rocefort.rollout.live.health",
    "rocefort.rollout.plan.rollback_plan",
    "rocefort.rollout.apply.operate",
    "rocefort.tasks",
)


@contextmanager
def fork_server(path: Path) -> Iterator[str]:
    """Run a server at a socket; yield its client's command line without the program."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        listening = server.fileno()
        serve = [sys.executable, __file__, str(listening)]
        process = subprocess.Popen(serve, stdin=subprocess.PIPE, pass_fds=[listening])
    with process:  # it ends when its input is closed
        client = Path(__file__).with_name("forked.py")
        yield shlex.join([sys.executable, "-I", "-S", str(client), str(path)])


def serve(listening: int) -> None:
    """Answer calls; returns in each forked process, and exits at the end of standard input."""
    for name in IMPORTED:
        importlib.import_module(name)
    gc.freeze()  # a collection in a fork would copy every page
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the caller, and so the input
    with socket.socket(fileno=listening) as server:
        while True:
            ready, _, _ = select.select([server, sys.stdin], [], [])
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if sys.stdin in ready:
                sys.exit()
            call, _ = server.accept()
            with call:
                if os.fork() == 0:
                    return answer(call)


def answer(call: socket.socket) -> None:
    """Fork the process of a call, and report its number and its end to the caller."""
    _, files, _, _ = socket.recv_fds(call, 1, 3)
    with call.makefile() as request:
        words, directory, environment = json.load(request)
    command = os.fork()
    if command == 0:
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os.chdir(directory)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = words
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return
    for file in files:
        os.close(file)  # the command's output belongs to the fork
    call.sendall(f"{command}\n".encode())
    _, status = os.waitpid(command, 0)
    call.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
    if sys.argv[0] == "rocefort":
        sys.modules["rocefort.tasks"].app()
    else:  # python -u -c LINE
        exec(sys.argv[-1], {"__name__": "__main__"})
