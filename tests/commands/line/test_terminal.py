"""Width and colors of output on real terminals and in pipes."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest

COLOR = "\x1b["
VARIABLES = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "ROCEFORT_COLOR", "TERM")


def run(words: str, variables: dict[str, str], columns: int = 0) -> str:
    """Output of a command; columns: of the terminal that it writes to, 0 for a pipe."""
    kept = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    command = [sys.executable, "-m", "rocefort", *words.split()]
    environment = {**kept, "TERM": "xterm-256color", **variables}
    if not columns:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with subprocess.Popen(command, env=environment, stdin=theirs, stdout=theirs) as process:
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 65536):
                text += part
        except OSError:  # the other end is closed
            pass
        os.close(ours)
    assert process.returncode == 0
    return text.decode().replace("\r\n", "\n")


FINDING = "check heps --select PFC001"


THOROUGH = pytest.mark.thorough


@pytest.mark.parametrize(
    ("variables", "options", "terminal", "pipe"),
    [
        ({}, "", True, False),
        ({"NO_COLOR": "1"}, "", False, False),
        ({"FORCE_COLOR": "1"}, "", True, True),
        ({"FORCE_COLOR": "1"}, "--color never ", False, False),
        ({"ROCEFORT_COLOR": "always"}, "", True, True),
        # An empty variable is none: no-color.org
        pytest.param({"NO_COLOR": ""}, "", True, False, marks=THOROUGH),
        pytest.param({"FORCE_COLOR": ""}, "", True, False, marks=THOROUGH),
        # Any value but an empty one: force-color.org
        pytest.param({"FORCE_COLOR": "0"}, "", True, True, marks=THOROUGH),
        pytest.param({"NO_COLOR": "1", "FORCE_COLOR": "1"}, "", False, False, marks=THOROUGH),
        pytest.param({"TERM": "dumb"}, "", False, False, marks=THOROUGH),
        pytest.param({"NO_COLOR": "1"}, "--color always ", True, True, marks=THOROUGH),
        pytest.param({"ROCEFORT_COLOR": "never"}, "", False, False, marks=THOROUGH),
    ],
)
def test_colors(variables: dict[str, str], options: str, terminal: bool, pipe: bool) -> None:
    assert (COLOR in run(options + FINDING, variables, 100)) is terminal
    assert (COLOR in run(options + FINDING, variables)) is pipe


@pytest.mark.parametrize(
    "columns",
    [60, 200, pytest.param(80, marks=THOROUGH), pytest.param(120, marks=THOROUGH)],
)
def test_text_and_tables_take_the_width_of_the_terminal(columns: int) -> None:
    for words in (FINDING, "show heps cabling", "-h", "verify -h"):
        lines = run(words, {"NO_COLOR": "1"}, columns).splitlines()
        longest = max(map(len, lines))
        assert longest <= columns
        if words == FINDING:
            assert longest > min(columns - 40, 80)
    one_line = r"(?m)^spine01 .* / spine01 100GE1/1/1$"
    assert bool(re.search(one_line, run("show heps cabling", {"NO_COLOR": "1"}, columns))) is (
        columns == 200
    )


def test_a_pipe_is_not_folded_unless_columns_are_given() -> None:
    for words in (FINDING, "show heps cabling"):
        wide = run(words, {})
        assert max(map(len, wide.splitlines())) > 90
        narrow = run(words, {"COLUMNS": "60"})
        assert max(map(len, narrow.splitlines())) <= 60
        plain = {"COLUMNS": "60", "NO_COLOR": "1"}
        assert run(words, plain, 200) == narrow  # the variable precedes the terminal
