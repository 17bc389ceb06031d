"""Secrets that were written into an input by mistake: no message, excerpt or JSON shows one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EditHeps = Callable[..., Path]
Rocefort = Callable[..., Any]
SECRET = "Gh3im-Wrt99"
LONG_USER = "u" * 50


def shown_by(rocefort: Rocefort, *command: object) -> str:
    """Return what a command shows as text and as JSON; both end with the same code."""
    ran = [rocefort(*command), rocefort(*command, "--format", "json")]
    assert ran[0].code == ran[1].code != 0
    return "".join(one.out + one.err for one in ran)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (f"http://u:{SECRET}@h:1/x", "'http://<removed>@h:1/x' is not HOST:PORT"),
        (f"https://{SECRET}@h/x", "'https://<removed>@h/x' is not HOST:PORT"),
        (f"https://u:{SECRET}/x@h", "'https://<removed>@h' is not HOST:PORT"),
    ],
)
def test_a_login_in_the_address_of_a_service(
    rocefort: Rocefort,
    edit_heps: EditHeps,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    shown: str,
) -> None:
    fabric = edit_heps()
    monkeypatch.chdir(fabric.parent)
    of_option = shown_by(rocefort, "verify", fabric, "--engine", "batfish", "--batfish", address)
    monkeypatch.setenv("ROCEFORT_BATFISH", address)
    of_variable = shown_by(rocefort, "verify", fabric, "--engine", "batfish")
    monkeypatch.delenv("ROCEFORT_BATFISH")
    (fabric.parent / "rocefort.toml").write_text(f'batfish = "{address}"\n')
    of_file = shown_by(rocefort, "check", fabric)
    for text in (of_option, of_variable, of_file):
        assert shown in text
        assert SECRET not in text


@pytest.mark.parametrize("login", [f"admin:{SECRET}", SECRET, f"{LONG_USER}:{SECRET}"])
def test_a_login_in_a_url_of_a_fabric(rocefort: Rocefort, edit_heps: EditHeps, login: str) -> None:
    """Also where the value is so long that it is shown in part."""
    fabric = edit_heps(("mtu: 9000", f"mtu: https://{login}@nb/"))
    text = shown_by(rocefort, "check", fabric)
    assert "'https://<removed>@nb/'" in text
    assert SECRET[:4] not in text


def test_a_login_in_a_path(rocefort: Rocefort) -> None:
    text = shown_by(rocefort, "check", f"https://admin:{SECRET}@nb/fabric.yaml")
    assert "https:/<removed>@nb/fabric.yaml: no such fabric" in text
    assert SECRET not in text
