"""Client of forking.py: `python -I -S forked.py SOCKET PROGRAM WORDS`.

It sends its words, directory, environment and files to the server, and forwards signals to the
command that the server forks. It ends with the exit code of the command.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys

PASSED_ON = (signal.SIGINT, signal.SIGTERM)


def main(path: str, *words: str) -> int:
    """Run one program; return its exit code in the form of a shell."""
    with socket.socket(socket.AF_UNIX) as call:
        call.connect(path)
        socket.send_fds(call, [b"\0"], [0, 1, 2])
        here = os.getcwd()  # noqa: PTH109 - importing pathlib takes longer than this program
        call.sendall(json.dumps([words, here, dict(os.environ)]).encode())
        call.shutdown(socket.SHUT_WR)
        with call.makefile() as answer:
            command = int(answer.readline())
            for number in PASSED_ON:
                signal.signal(number, lambda number, _: os.kill(command, number))
            code = int(answer.readline())
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
