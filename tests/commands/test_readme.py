"""Every command of the README and the guides runs, and prints the output that they show.

Each block of commands runs in a directory of its own, where `inventory` is that of a clone. Git has
an author there.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from rocefort.paths import ROOT

README = ROOT / "README.md"
GUIDES = (
    README,
    ROOT / "docs/how-to/review.md",
    ROOT / "docs/how-to/deploy.md",
    ROOT / "docs/how-to/rdma.md",
    ROOT / "docs/how-to/grow.md",
    ROOT / "docs/reference/commands.md",
    ROOT / "docs/how-to/site.md",
)
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
# What differs from run to run, or from machine to machine.
VARIES = [
    (re.compile(r"\b[0-9a-f]{12}\b"), "0123456789ab"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "0123456789ab" * 5 + "0123"),
    (re.compile(r"journal: \d+ rows"), "journal: 206 rows"),
    (re.compile(r"(?m)^process \d+ runs"), "process 12345 runs"),
    (re.compile(r"(?m)^time +\d+ s$"), "time    25 s"),
]


class Block(NamedTuple):
    """A block of commands with their output."""

    guide: Path
    number: int  # in its guide
    text: str


BLOCKS = [
    Block(guide, number, text)
    for guide in GUIDES
    for number, text in enumerate(BLOCK.findall(guide.read_text(encoding="utf-8")))
]


def commands_of(block: str) -> list[str]:
    return re.findall(r"(?m)^\$ (.+)$", block)


def settled(text: str) -> str:
    """Text with what varies replaced."""
    for pattern, fixed in VARIES:
        text = pattern.sub(fixed, text)
    return text


@pytest.fixture
def shell(forked: str, tmp_path: Path, author: dict[str, str]) -> dict[str, str]:
    """The environment of a shell in a directory like a clone's."""
    (tmp_path / "inventory").symlink_to(ROOT / "inventory")
    own = {name: value for name, value in os.environ.items() if name != "ROCEFORT_BATFISH"}
    return {**own, **author, "PATH": forked, "COLUMNS": "80"}


def run(command: str, env: dict[str, str], cwd: Path) -> str:
    if command.startswith("make "):
        command = recipe(command.removeprefix("make "))
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        env=env,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    assert done.stderr == ""
    return done.stdout


def recipe(target: str) -> str:
    """The commands that a target of the Makefile runs when everything is set up."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.search(rf"(?m)^{target}: \$\(READY\)\n((?:\t@.+\n)+)", makefile)
    assert found, f"no simple target {target} in the Makefile"
    lines = found[1].replace("$(BIN)/rocefort", "rocefort").replace("$(BIN)", ".venv/bin")
    return " && ".join(line.removeprefix("\t@") for line in lines.splitlines())


def test_the_output_in_guides_fits_a_terminal() -> None:
    assert {block.guide for block in BLOCKS} == set(GUIDES)
    lines = [line for block in BLOCKS for line in block.text.splitlines() if line[:2] != "$ "]
    assert max(map(len, lines)) == 80  # of a demonstration, which fills its lines


def test_the_readme_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.parametrize("block", BLOCKS, ids=[commands_of(block.text)[0] for block in BLOCKS])
def test_a_guide_shows_what_its_commands_print(
    shell: dict[str, str], tmp_path: Path, golden_update: bool, block: Block
) -> None:
    printed, here = "", tmp_path
    try:
        for command in commands_of(block.text):
            printed += f"$ {command}\n"
            if command.startswith("cd "):
                here /= command.removeprefix("cd ")
            else:
                printed += settled(run(command, shell, here))
    finally:
        if "lab cli" in block.text:  # a failed block does not leave its lab running
            subprocess.run(
                ["rocefort", "lab", "stop"],
                env=shell,
                cwd=here,
                capture_output=True,
                check=False,
            )
    if golden_update:
        rewrite(block, printed)
    else:
        assert printed == settled(block.text)


def rewrite(block: Block, printed: str) -> None:
    """Replace a block of a guide."""
    text = block.guide.read_text(encoding="utf-8")
    old = list(BLOCK.finditer(text))[block.number]
    block.guide.write_text(text[: old.start(1)] + printed + text[old.end(1) :], encoding="utf-8")
