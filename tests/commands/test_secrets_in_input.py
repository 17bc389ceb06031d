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
AAA = " local-user netops level 3\n"
END = "#\nreturn\n"
PEER = " peer 10.1.0.0 description spine01\n"
FORMS = ((), ("--format", "json"))


@pytest.fixture
def texts(rocefort: Rocefort, heps_file: Path, tmp_path: Path) -> Path:
    """Texts of all switches of HEPS."""
    assert rocefort("render", heps_file, "--out", tmp_path / "texts").code == 0
    return tmp_path / "texts"


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


@pytest.mark.parametrize(
    ("at", "lines", "shown"),
    [
        (END, f"backup configuration to ftp://u:{SECRET}@10.0.0.1/x\n", "ftp://<removed>@10.0.0.1"),
        (END, f"Password: {SECRET}\n", "`Password: ..` is not"),
        (END, f"Password:\n{SECRET}\n", "`..` is not"),
        (AAA, f" local-user netops password simple\n{SECRET}\n", "`..` is not"),
        (AAA, f" local-user netops password simple\n {SECRET}\n", "`..` in aaa is not"),
        (AAA, f" local-user netops password\n  {SECRET}\n", "`..` in aaa / local-user netops pass"),
        (AAA, f" local-user netops pwd {SECRET}\n", "`local-user netops pwd ..` in aaa is not"),
        (
            AAA,
            f" local-user netops pwd {SECRET}\n  more\n",
            "`more` in aaa / local-user netops pwd ..",
        ),
        (AAA, f" local-user netops pasword {SECRET}\n", "`local-user netops pasword ..` in aaa"),
        (AAA, f" local-user netops pw={SECRET}\n", "`local-user netops pw=..` in aaa"),
        (END, f"dot1x passphrase {SECRET}\n", "`dot1x passphrase ..` is not"),
        (
            END,
            f"radius server group g\n radius server shared {SECRET}\n",
            "`radius server shared ..`",
        ),
        (END, f"keychain K\n key-id 1\n  keystring {SECRET}\n", "`keystring ..` in keychain"),
        (END, f"ntp authentcation-keyid 1 md5 {SECRET}\n", "`ntp authentcation-keyid ..` is not"),
        (PEER, f" peer 10.1.0.0 md5 {SECRET}\n", "`peer 10.1.0.0 md5 ..` in bgp 65101 is not"),
    ],
)
def test_a_secret_in_a_line_that_is_not_understood(
    rocefort: Rocefort, texts: Path, at: str, lines: str, shown: str
) -> None:
    file = texts / "leaf01.cfg"
    before = file.read_text()
    assert at in before
    file.write_text(before.replace(at, (at + lines) if at == AAA else (lines + at), 1))
    ran = [rocefort("check", "--configs", texts, "--select", "TXT", *form) for form in FORMS]
    ran += [rocefort("verify", "--configs", texts, *form) for form in FORMS]
    text = " ".join("".join(one.out + one.err for one in ran).split())
    assert shown in text
    assert SECRET not in text


def test_a_wrapped_secret_is_no_view_of_the_lines_below(rocefort: Rocefort, texts: Path) -> None:
    file = texts / "leaf01.cfg"
    wrapped = f" local-user netops password simple\n{SECRET}\n{AAA}"
    file.write_text(file.read_text().replace(AAA, wrapped, 1))
    ran = [rocefort("check", "--configs", texts, "--select", "TXT002", *form) for form in FORMS]
    text = "".join(one.out + one.err for one in ran)
    assert "`local-user netops level 3` in .. is not understood" in text
    assert SECRET not in text


def test_ordinary_lines_that_are_not_understood_are_shown_whole(
    rocefort: Rocefort, texts: Path
) -> None:
    lines = ("load-balance hash-fields ip 5", "qos buffer shared 7", "frobnicate 100GE1/0/1 9")
    file = texts / "leaf01.cfg"
    file.write_text(file.read_text().replace(END, "\n".join((*lines, END)), 1))
    shown = rocefort("check", "--configs", texts, "--select", "TXT002").out
    for line in lines:
        assert f"`{line}` is not understood" in shown


@pytest.mark.parametrize(
    "users",
    [
        f"  users: {{netops: {SECRET}}}\n",
        f"  users:\n    - netops: {SECRET}\n",
        f"  users:\n  - netops: {SECRET}\n",
        f"  users:\n    - [netops, {SECRET}]\n",
        f"  users:\n    - netops:{SECRET}\n",
        f"  users:\n    - netops {SECRET}\n",
        f"  users:\n    - name: netops\n      level: {SECRET}\n",
        f"  users:\n    - name: netops/{SECRET}\n      level: 3\n",
        f"  users:\n    - name: netops\n      login: {SECRET}\n",
        f"  users:\n    - name: netops\n      {SECRET}: 3\n",
        f"  users:\n    - name: netops\n      {SECRET}\n",
        f"  users: [netops, {SECRET}\n",
    ],
)
def test_a_password_beside_a_user(rocefort: Rocefort, edit_heps: EditHeps, users: str) -> None:
    fabric = edit_heps(("  users:\n    - name: netops\n      level: 3\n", users))
    text = shown_by(rocefort, "check", fabric)
    assert "fabric.yaml:22" in text
    assert not any(part in text for part in SECRET.split("-"))
