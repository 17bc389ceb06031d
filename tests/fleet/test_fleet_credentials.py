"""Secrets by reference: refused if other users can read them, and never shown."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput, Refused, ServiceFailed
from rocefort.base.secret_references import Secret, resolve
from rocefort.design.git_revisions import git
from rocefort.models.base import check_reference
from rocefort.rdma.plan.probe import kubectl
from rocefort.rollout.planning.sealed_files import sign_text


def test_a_secret_never_shows() -> None:
    secret = Secret("hunter2")
    shown = [repr(secret), str(secret), f"{secret}", f"{secret:>20}", f"{[secret]}"]
    assert "hunter2" not in "".join(shown)
    assert not hasattr(secret, "__dict__")
    assert secret.reveal() == "hunter2"


@pytest.mark.parametrize("write", [pickle.dumps, json.dumps, copy.deepcopy])
def test_a_secret_is_not_written(write: object) -> None:
    assert callable(write)
    with pytest.raises(TypeError):
        write(Secret("hunter2"))


def test_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAF_PASSWORD", "hunter2")
    assert resolve("env:LEAF_PASSWORD").reveal() == "hunter2"


def test_a_variable_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEAF_PASSWORD", raising=False)
    with pytest.raises(BadInput) as caught:
        resolve("env:LEAF_PASSWORD")
    assert str(caught.value) == (
        "env:LEAF_PASSWORD: the environment has no variable LEAF_PASSWORD;"
        " export LEAF_PASSWORD with the password, or change the credential"
    )


def secret_file(tmp_path: Path, content: bytes, mode: int) -> Path:
    path = tmp_path / "secret"
    path.write_bytes(content)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_from_a_file_of_its_owner(tmp_path: Path, mode: int) -> None:
    path = secret_file(tmp_path, b"hunter2\n", mode)
    assert resolve(f"file:{path}").reveal() == "hunter2"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602, 0o700])
def test_a_file_open_to_others_is_refused(tmp_path: Path, mode: int) -> None:
    path = secret_file(tmp_path, b"hunter2\n", mode)
    with pytest.raises(Refused) as caught:
        resolve(f"file:{path}")
    assert str(caught.value) == (
        f"file:{path}: the file has mode 0{mode:o}, not 0600; chmod 600 {path}"
    )
    assert caught.value.exit_code == 4


@pytest.mark.parametrize("content", [b"", b"\n", b"one\ntwo\n", b"nul\x00", b"\xff"])
def test_a_file_that_is_no_password(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(BadInput, match=r"on one line|plain text"):
        resolve(f"file:{secret_file(tmp_path, content, 0o600)}")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cannot be read: No such file or directory"):
        resolve(f"file:{tmp_path}/none")


@pytest.mark.parametrize("value", ["hunter2", "env:", "plain:hunter2"])
def test_what_is_no_reference_is_not_repeated(value: str) -> None:
    with pytest.raises(ValueError, match="write env:NAME or file:PATH") as caught:
        check_reference(value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("program", ["git", "ssh-keygen", "kubectl"])
def test_programs_that_are_run_do_not_inherit_secrets(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither before a reference was read, nor after, nor by a name that looks like git's.

    Of kubectl any variable may be needed: it does not get what a reference has named.
    """
    seen, script = tmp_path / "seen", tmp_path / "bin" / program
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\nenv > {seen}\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(script.parent), prepend=":")
    if program != "kubectl":
        monkeypatch.setenv("LEAF_PASSWORD", "c4nary-of-children")
    monkeypatch.setenv("AWS_PROFILE", "cluster")
    monkeypatch.setenv("GIT_PASSWORD", "c4nary-of-children")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "ada")
    resolve("env:GIT_PASSWORD")
    key = tmp_path / "key"
    key.touch()
    run: dict[str, Callable[[], object]] = {
        "git": lambda: git(tmp_path, "status"),
        "ssh-keygen": lambda: sign_text("a plan", key, "test"),
        "kubectl": lambda: kubectl("get", "node"),
    }
    with pytest.raises((BadInput, ServiceFailed, OSError)):
        run[program]()
    assert ("AWS_PROFILE" in seen.read_text()) is (program == "kubectl")
    assert "GIT_AUTHOR_NAME=ada" in seen.read_text()
    assert "c4nary" not in seen.read_text()
