"""Secrets on the command line: references in what is shown, secrets in files of their owner alone."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EditHeps = Callable[..., Path]
Rocefort = Callable[..., Any]
SECRET = "s3cret-of-a-test"
OTHER = "0ther-of-a-test"


@pytest.fixture
def fabric(edit_heps: EditHeps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """HEPS with a password of all sessions, and another one of one pair."""
    monkeypatch.setenv("TEST_BGP", SECRET)
    key = tmp_path / "key"
    key.touch(mode=0o600)
    key.write_text(OTHER + "\n")
    return edit_heps(
        (
            "  hold_s: 30\n",
            "  hold_s: 30\n  authentication: {password: env:TEST_BGP, version: 2}\n",
        ),
        (
            "\nsecurity:",
            "\nlinks:\n  - spine: spine01\n    leaf: leaf08\n"
            f"    authentication: {{password: 'file:{key}'}}\n\nsecurity:",
        ),
    )


def test_what_is_rendered_names_references_and_files_of_secrets_are_private(
    rocefort: Rocefort, fabric: Path, tmp_path: Path
) -> None:
    shown = rocefort("render", fabric, "--device", "leaf08")
    assert " peer SPINE password cipher <secret env:TEST_BGP version 2>\n" in shown.out
    assert f" peer 10.1.0.112 password cipher <secret file:{tmp_path / 'key'}>\n" in shown.out
    out = tmp_path / "configs"
    done = rocefort("render", fabric, "--out", out, "--secrets")
    assert (done.code, done.err) == (0, "")
    files = sorted(out.iterdir())
    assert len(files) == 10
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    text = (out / "leaf08.cfg").read_text()
    assert f" peer SPINE password cipher {SECRET}\n" in text
    assert f" peer 10.1.0.112 password cipher {OTHER}\n" in text
    assert "<secret" not in text
    assert SECRET not in shown.out + done.out


def test_files_with_secrets_are_found_to_be_readable(
    rocefort: Rocefort, fabric: Path, tmp_path: Path
) -> None:
    out = tmp_path / "configs"
    rocefort("render", fabric, "--out", out, "--secrets")
    judged = rocefort("check", "--configs", out, "--select", "SEC004")
    assert judged.code == 1
    assert "the BGP password of group SPINE can be read" in " ".join(judged.out.split())
    line = 1 + (out / "leaf08.cfg").read_text().splitlines().index(
        f" peer SPINE password cipher {SECRET}"
    )
    as_json = rocefort("check", "--configs", out, "--select", "SEC004", "--format", "json").out
    assert f'"line": {line}' in as_json
    assert SECRET not in judged.out + as_json
    references = tmp_path / "references"
    assert rocefort("render", fabric, "--out", references).code == 0
    assert rocefort("check", "--configs", references, "--select", "SEC004").code == 0


def test_all_secrets_that_are_not_there_are_one_error_and_nothing_is_written(
    rocefort: Rocefort, fabric: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TEST_BGP")
    (tmp_path / "key").unlink()
    out = tmp_path / "configs"
    done = rocefort("render", fabric, "--out", out, "--secrets")
    assert (done.code, out.exists()) == (2, False)
    assert done.err.splitlines() == [
        "env:TEST_BGP: the environment has no variable TEST_BGP; export TEST_BGP with the "
        "password, or change the credential",
        f"file:{tmp_path / 'key'}: cannot be read: No such file or directory; check the path",
    ]


def test_a_secret_that_others_may_read_or_that_is_no_word_is_refused(
    rocefort: Rocefort, fabric: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_BGP", "two words")
    out = tmp_path / "configs"
    done = rocefort("render", fabric, "--out", out, "--secrets")
    assert (done.code, out.exists()) == (2, False)
    assert done.err.startswith("rocefort: env:TEST_BGP: the secret cannot be typed as one word;")
    monkeypatch.setenv("TEST_BGP", SECRET)
    (tmp_path / "key").chmod(0o644)
    done = rocefort("render", fabric, "--out", out, "--secrets")
    assert (done.code, out.exists()) == (4, False)
    assert "the file has mode 0644, not 0600" in done.err


def test_secrets_go_into_files_only(rocefort: Rocefort, fabric: Path) -> None:
    done = rocefort("render", fabric, "--secrets")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "rocefort: --secrets without --out; secrets go into files, never on a screen\n"
    )


def test_a_rotation_shows_between_two_versions_of_a_fabric(
    rocefort: Rocefort, fabric: Path, tmp_path: Path
) -> None:
    before = tmp_path / "before.yaml"
    before.write_text(fabric.read_text().replace(", version: 2", ""))
    told = rocefort("diff", before, fabric, "--patch")
    assert told.code == 0
    assert "bgp.groups[SPINE].password: env:TEST_BGP -> env:TEST_BGP version 2" in told.out
    assert "peer SPINE password cipher <secret env:TEST_BGP version 2>" in told.out


def test_a_password_in_the_fabric_is_refused_unseen(
    rocefort: Rocefort, edit_heps: EditHeps
) -> None:
    path = edit_heps(("  hold_s: 30\n", "  hold_s: 30\n  authentication: {password: hunter2}\n"))
    done = rocefort("check", path)
    assert done.code == 2
    assert "routing.authentication.password: a credential that is not a reference" in done.err
    assert "hunter2" not in done.err
