"""Every way to start the command line gives the same text, JSON and exit code."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

CLONE = Path(__file__).parents[3]
INSTALLED = (str(Path(sys.executable).with_name("rocefort")),)
TASKS = (sys.executable, "tasks.py")
MODULES = ((sys.executable, "-m", "rocefort"), (sys.executable, "-m", "rocefort.tasks"))
CHECK = ("check", "heps", "--select", "PFC001")
JSON = (*CHECK, "--format", "json")
COMMANDS = {
    ("--help",): 0,
    CHECK: 0,
    JSON: 0,
    ("check", "nope"): 2,
    ("check", "--unknown"): 2,
}


@cache
def ran(start: tuple[str, ...], words: tuple[str, ...]) -> tuple[int, str, str]:
    """Exit code and outputs of a command in the clone."""
    done = subprocess.run([*start, *words], cwd=CLONE, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("start", "words"),
    [
        *(
            pytest.param(TASKS, words, marks=pytest.mark.thorough if words == JSON else ())
            for words in COMMANDS
        ),
        *((module, ("check", "--unknown")) for module in MODULES),
        *(
            pytest.param(module, words, marks=pytest.mark.thorough)
            for module in MODULES
            for words in COMMANDS
        ),
    ],
    ids=lambda value: " ".join(value).removeprefix(sys.executable).strip(),
)
def test_every_start_is_the_same_command(start: tuple[str, ...], words: tuple[str, ...]) -> None:
    code, out, err = ran(start, words)
    assert (code, out, err) == ran(INSTALLED, words)
    assert code == COMMANDS[words]
    assert out or err
    if words == ("--help",):
        assert out.startswith("Usage: rocefort [OPTIONS] COMMAND")
