"""Fixtures for commands: a command run in this process, and a review of a clone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import lanes
import pytest
from forking import fork_server
from outputs import hold

from rocefort import tasks
from rocefort.base.repository import INVENTORY

HEPS = INVENTORY / "heps" / "fabric.yaml"


class Ran:
    """Exit code and output of a command."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err
        self.words = " ".join(out.split())
        assert "Traceback" not in out + err


@pytest.fixture
def rocefort(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ran]:
    """Run a command in this process."""
    monkeypatch.delenv("ROCEFORT_BATFISH", raising=False)

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["rocefort", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            tasks.app()
        said = capsys.readouterr()
        hold([str(each) for each in arguments], said.out)
        return Ran(int(ended.value.code or 0), said.out, said.err)

    return run


@pytest.fixture(scope="session")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A PATH on which `rocefort` is this one, a process that forking.py forks."""
    directory = tmp_path_factory.mktemp("bin")
    with ExitStack() as stack:
        client = lanes.fork_client() or stack.enter_context(fork_server(directory / "server"))
        (directory / "rocefort").write_text(f'#!/bin/sh\nexec {client} rocefort "$@"\n')
        (directory / "rocefort").chmod(0o755)
        yield f"{directory}:{Path(sys.executable).parent}:{os.environ['PATH']}"


@pytest.fixture
def two_leaves(heps_file: Path, tmp_path: Path) -> Path:
    """HEPS with the last two of its leaves and their servers only."""
    item = re.compile(r"(?m)^  - .*\n(?:    .*\n)*")
    gone = re.compile(r"\b(name|leaf): leaf0[1-6]\n")
    text = heps_file.read_text(encoding="utf-8")
    path = tmp_path / "two_leaves.yaml"
    path.write_text(item.sub(lambda one: "" if gone.search(one[0]) else one[0], text))
    return path


FABRIC = "inventory/heps/fabric.yaml"
AUTHOR = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


def git(where: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(where), *words],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **AUTHOR},
    )
    return done.stdout.strip()


@pytest.fixture
def author() -> dict[str, str]:
    """Environment of git: an author, and no configuration of this machine."""
    return AUTHOR


@pytest.fixture(name="git")
def _git() -> Callable[..., str]:
    """Run git somewhere, by an author and a configuration of its own; gives what it printed."""
    return git


class Clone:
    """A site's repository."""

    def __init__(self, top: Path) -> None:
        self.top, self.fabric = top, top / FABRIC

    git_at = staticmethod(git)

    def git(self, *words: str) -> str:
        return self.git_at(self.top, *words)

    def edit(self, *replacements: tuple[str, str]) -> None:
        text = self.fabric.read_text()
        for old, new in replacements:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        self.fabric.write_text(text)

    def commit(self, message: str) -> None:
        git(self.top, "add", "-A")
        git(self.top, "commit", "--quiet", "-m", message)

    def line(self, text: str) -> int:
        return self.fabric.read_text()[: self.fabric.read_text().index(text)].count("\n") + 1


@pytest.fixture(scope="session")
def as_shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose first commit is HEPS as it is shipped."""
    made = Clone(tmp_path_factory.mktemp("as_shipped"))
    made.fabric.parent.mkdir(parents=True)
    shutil.copy(HEPS, made.fabric)
    made.git("init", "--quiet", "--initial-branch=main")
    made.commit("as shipped")
    return made.top


@pytest.fixture
def clone(as_shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clone:
    """A repository of the test's own; the test runs in it."""
    made = Clone(shutil.copytree(as_shipped, tmp_path / "clone"))
    monkeypatch.chdir(made.top)
    return made


class Reviewed:
    """Exit code, output and written files of a review."""

    def __init__(self, code: int, out: str, err: str, written: Path) -> None:
        self.code, self.out, self.err, self.written = code, out, err, written
        self.words = " ".join(out.split())
        assert "Traceback" not in out + err

    @property
    def json(self) -> Any:
        """The review of the only fabric."""
        (review,) = self.whole["reviews"]
        return review

    @property
    def whole(self) -> Any:
        text = (self.written / "review.json").read_text()
        hold(["review"], text)
        return json.loads(text)

    @property
    def sarif(self) -> Any:
        return json.loads((self.written / "review.sarif").read_text())["runs"][0]

    @property
    def markdown(self) -> str:
        return (self.written / "review.md").read_text()

    @property
    def page(self) -> str:
        return (self.written / "review.html").read_text()


@pytest.fixture
def review(rocefort: Callable[..., Any], tmp_path: Path) -> Callable[..., Reviewed]:
    def run(*arguments: str) -> Reviewed:
        out = tmp_path / "out"
        shutil.rmtree(out, ignore_errors=True)
        done = rocefort("review", *arguments, "--engine", "embedded", "--out", out)
        return Reviewed(done.code, done.out, done.err, out)

    return run
