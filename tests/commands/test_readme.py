"""Every command that the README shows runs, and prints what the README says it prints."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from rocefort.paths import ROOT

README = ROOT / "README.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
NO_SERVICE = "127.0.0.1:9990"  # as long as the usual address, so that lines wrap alike
STARTED_BY = 30.0  # seconds until a lab must be up; a broken one fails here
# What differs from run to run, or from machine to machine.
VARIES = [
    (re.compile(r"\b[0-9a-f]{12}\b"), "0123456789ab"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "0123456789ab" * 5 + "0123"),
    (re.compile(r"journal: \d+ rows"), "journal: 266 rows"),
    (re.compile(r"(?m)^time +\d+ s$"), "time    6 s"),
    (re.compile(r"no service at \S+:\d+"), "no service at 127.0.0.1:9996"),
]


@dataclass(frozen=True)
class Shown:
    """One command of the README and the lines under it."""

    command: str
    output: str


def shown(block: str) -> list[Shown]:
    parts = re.split(r"(?m)^\$ ", block)[1:]
    pairs = [part.split("\n", 1) for part in parts]
    return [Shown(command, output) for command, output in pairs]


def settled(text: str) -> str:
    """Text with what varies replaced; wrapped lines joined where a value's length moves them."""
    for pattern, fixed in VARIES:
        text = pattern.sub(fixed, text)
    return text


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """A directory like a clone's, and an environment in which `rocefort` is this one."""
    (tmp_path / "inventory").symlink_to(ROOT / "inventory")
    bin_directory = tmp_path / "bin"
    bin_directory.mkdir()
    (bin_directory / "rocefort").symlink_to(Path(sys.executable).with_name("rocefort"))
    path = f"{bin_directory}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "ROCEFORT_BATFISH": NO_SERVICE, "COLUMNS": "80"}


def run(command: str, env: dict[str, str], cwd: Path) -> str:
    if command.startswith("make "):
        command = recipe(command.removeprefix("make "))
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        env=env,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    assert done.stderr == ""
    return done.stdout


def recipe(target: str) -> str:
    """The command that a target of the Makefile runs when everything is set up."""
    found = re.search(
        rf"(?m)^{target}: \$\(READY\)\n\t@\$\(BIN\)/(.+)$", (ROOT / "Makefile").read_text()
    )
    assert found, f"no simple target {target} in the Makefile"
    return found[1]


def start(command: str, env: dict[str, str], cwd: Path) -> subprocess.Popen[str]:
    """Start a command that goes on in the background, and wait until its lab is up."""
    text = command.removesuffix("&").strip()
    process = subprocess.Popen(["bash", "-c", f"exec {text}"], env=env, cwd=cwd, text=True)
    until = time.monotonic() + STARTED_BY
    while "Ctrl-C ends the lab" not in (
        (cwd / "lab.log").read_text() if (cwd / "lab.log").exists() else ""
    ):
        assert process.poll() is None, "the lab ended by itself"
        assert time.monotonic() < until, "the lab did not start"
        time.sleep(0.1)
    return process


def test_the_readme_tells_the_truth(
    shell: dict[str, str], tmp_path: Path, golden_update: bool
) -> None:
    text = README.read_text(encoding="utf-8")
    background: list[subprocess.Popen[str]] = []
    told: list[str] = []
    try:
        for block in BLOCK.findall(text):
            lines = []
            for entry in shown(block):
                lines.append(f"$ {entry.command}\n")
                if entry.command.endswith("&"):
                    background.append(start(entry.command, shell, tmp_path))
                else:
                    lines.append(settled(run(entry.command, shell, tmp_path)))
            told.append("".join(lines))
    finally:
        for process in background:
            process.send_signal(signal.SIGTERM)  # what `kill` sends to a background job
            assert process.wait(timeout=20) == 0
    if golden_update:
        fresh = iter(told)
        text = BLOCK.sub(lambda _: f"```console\n{next(fresh)}```", text)
        README.write_text(text, encoding="utf-8")
    assert [settled(block) for block in BLOCK.findall(text)] == told
    assert len(told) >= 4
