"""Pages of the documentation whose commands run: their blocks, and a shell that runs them.

The blocks of a page run in their order, in one shell that begins in a directory of its own, as a
reader types them. A page that names the fabric of the tutorial begins in the tutorial's repository.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rocefort.base.repository import ROOT

TUTORIAL = ROOT / "docs/tutorials/first-fabric.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
COMMAND = re.compile(r"(?m)^\$ (.+(?:\n> .*)*)$")  # `> ` continues it, as in a shell
BEGINS_IN_TUTORIAL = "repository `plant` of the"
# What differs from run to run, or from machine to machine.
VARIES = [
    (re.compile(r"\b[0-9a-f]{12}\b"), "0123456789ab"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "0123456789ab" * 5 + "0123"),
    (re.compile(r"(?<=[( ])[0-9a-f]{7}(?=[)\]])"), "0123456"),  # of git
    (re.compile(r"(?m)^rocefort \d\S+$"), "rocefort VERSION"),
    (re.compile(r"journal: \d+ rows"), "journal: 206 rows"),
    (re.compile(r"(?m)^process \d+ runs"), "process 12345 runs"),
    (re.compile(r"(?m)^time +\d+ s$"), "time    25 s"),
    (re.compile(r"(?m)^[a-z ]+: .+ \d+ of \d+, \d+ s\n"), ""),  # progress on a slow machine
]
# The next command begins where this one ends, with its variables.
KEPT = "trap 'export -p >\"$SHELL_STATE\"' EXIT\n"
TAKEN = '[ ! -e "$SHELL_STATE" ] || { . "$SHELL_STATE"; cd "$PWD"; }\n'


@dataclass(frozen=True)
class Page:
    """A page with commands."""

    path: Path

    @property
    def blocks(self) -> list[str]:
        """Blocks with a command; a block without one is not for a shell of a user."""
        found = BLOCK.findall(self.path.read_text(encoding="utf-8"))
        return [block for block in found if commands_of(block)]

    @property
    def begins_in_tutorial(self) -> bool:
        """Whether it names the repository that the tutorial makes."""
        words = " ".join(self.path.read_text(encoding="utf-8").split())
        return BEGINS_IN_TUTORIAL in words

    def rewrite(self, printed: Mapping[str, str]) -> None:
        """Replace blocks by what was printed."""
        text = self.path.read_text(encoding="utf-8")
        self.path.write_text(
            BLOCK.sub(lambda one: f"```console\n{printed.get(one[1], one[1])}```", text),
            encoding="utf-8",
        )


def commands_of(block: str) -> list[str]:
    return COMMAND.findall(block)


def settled(text: str) -> str:
    """Text with what varies replaced."""
    for pattern, fixed in VARIES:
        text = pattern.sub(fixed, text)
    return text


@dataclass(frozen=True)
class Shell:
    """A shell of a reader: each command begins in the directory and with the variables of the last.

    `state` is a file of its own.
    """

    env: Mapping[str, str]
    directory: Path
    state: Path

    def play(self, block: str) -> str:
        """Run the commands of a block; return them with what they print."""
        return "".join(f"$ {command}\n{self.run(command)}" for command in commands_of(block))

    def run(self, command: str) -> str:
        """Run a command; return what a terminal shows, with the directory as a home."""
        typed = re.sub(r"\n> ?", "\n", command)
        if typed.startswith("make "):
            typed = recipe(typed.removeprefix("make "))
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", TAKEN + KEPT + typed],
            env={
                **self.env,
                "COLUMNS": "80",
                "ROCEFORT_PROGRESS": "none",  # printed where it is slow
                "SHELL_STATE": str(self.state),
            },
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}"
        return settled(done.stdout.replace(str(self.directory), "/home/me"))

    def stop_lab(self) -> None:
        """End the lab that a failed page leaves running."""
        stop = f"{TAKEN}rocefort lab stop"
        env = {**self.env, "SHELL_STATE": str(self.state)}
        subprocess.run(
            ["bash", "-c", stop], env=env, cwd=self.directory, capture_output=True, check=False
        )


def recipe(target: str) -> str:
    """The commands that a target of the Makefile runs when everything is set up."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.search(rf"(?m)^{target}: \$\(READY\)\n((?:\t@.+\n)+)", makefile)
    assert found, f"no simple target {target} in the Makefile"
    lines = found[1].replace("$(BIN)/rocefort", "rocefort").replace("$(BIN)", ".venv/bin")
    return " && ".join(line.removeprefix("\t@") for line in lines.splitlines())
