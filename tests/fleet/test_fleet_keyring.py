"""Passwords of the system's keyring: read by its library, with one-sentence errors."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import keyring
import keyring.backends.fail
import keyring.backends.null
import pytest
from keyrings.alt.file import PlaintextKeyring

from rocefort.base.errors import BadInput, RocefortError, ServiceFailed
from rocefort.base.secret_references import resolve
from rocefort.models.base import check_reference


@pytest.fixture(autouse=True)
def unchanged() -> Iterator[None]:
    before = keyring.get_keyring()
    yield
    keyring.set_keyring(before)


@pytest.fixture
def in_a_file(tmp_path: Path) -> PlaintextKeyring:
    backend = PlaintextKeyring()
    backend.file_path = str(tmp_path / "keyring.cfg")
    keyring.set_keyring(backend)
    return backend


def test_a_password_of_the_keyring(in_a_file: PlaintextKeyring) -> None:
    keyring.set_password("switches/site-a", "netops", "hunter2")
    secret = resolve("keyring:switches/site-a/netops")
    assert secret.reveal() == "hunter2"
    assert "hunter2" not in repr(secret)


def refused(reference: str) -> RocefortError:
    with pytest.raises(RocefortError) as caught:
        resolve(reference)
    return caught.value


def test_a_password_that_is_not_there() -> None:
    keyring.set_keyring(keyring.backends.null.Keyring())  # type: ignore[no-untyped-call]
    error = refused("keyring:switches/netops")
    assert isinstance(error, BadInput)
    assert str(error) == (
        "keyring:switches/netops: the keyring has no password of 'netops' for 'switches'; "
        "store it: keyring set switches netops"
    )


def test_a_machine_without_a_keyring() -> None:
    keyring.set_keyring(keyring.backends.fail.Keyring())  # type: ignore[no-untyped-call]
    error = refused("keyring:switches/netops")
    assert isinstance(error, ServiceFailed)
    assert error.exit_code == 3
    assert str(error).startswith("keyring:switches/netops: the keyring does not answer: ")
    assert str(error).endswith("see `keyring diagnose`, or use env:NAME or file:PATH")


def test_the_extra_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert str(refused("keyring:switches/netops")) == (
        "keyring:switches/netops: the extra that reads keyrings is not installed; "
        "pip install 'rocefort[keyring] @ URL' with the URL of Rocefort's wheel, "
        "or use env:NAME or file:PATH"
    )


@pytest.mark.parametrize("rest", ["netops", "/netops", "switches/"])
def test_a_reference_that_names_no_password(rest: str) -> None:
    with pytest.raises(ValueError, match="does not name a password; use keyring:SERVICE/USER"):
        check_reference(f"keyring:{rest}")
