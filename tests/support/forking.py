"""A server that forks a `rocefort` for each call: a command that starts without its imports.

`forked.py` is its client, for the PATH of a shell. A call is a process of its own, with the
caller's words, directory, environment and files; only its modules are imported already. The server
ends when its standard input does.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import socket
import sys
from contextlib import suppress

from rocefort import tasks

IMPORTED = (  # what commands import when they run
    "rocefort.reports.growth",
    "rocefort.steps.fabric.capacity",
    "rocefort.steps.fabric.comparing",
    "rocefort.steps.fabric.demo",
    "rocefort.steps.fabric.growing",
    "rocefort.steps.lab.emulating",
    "rocefort.steps.rdma.running",
    "rocefort.steps.review.reviewing",
    "rocefort.steps.rollout.health",
    "rocefort.steps.rollout.operating",
)


def serve(listening: int) -> None:
    """Answer calls; returns in each forked command, and ends where standard input did."""
    for name in IMPORTED:
        importlib.import_module(name)
    gc.freeze()  # a collection in a fork would copy every page
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
    """Fork the command that a call asks for, and report its process and its end to the caller."""
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
        sys.argv = ["rocefort", *words]
        return
    for file in files:
        os.close(file)  # the end of the command's output is not ours
    call.sendall(f"{command}\n".encode())
    _, status = os.waitpid(command, 0)
    call.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
    tasks.app()
