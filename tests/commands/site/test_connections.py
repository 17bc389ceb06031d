"""Connections file of a fabric: its page, and its update after the fabric changed."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort.base.repository import ROOT
from rocefort.fleet.connections import load_connections

Rocefort = Callable[..., Any]
PAGE = ROOT / "docs/how-to/connections.md"
ENTRY = "- name: {}\n  host: {}\n  user: netops\n  credential: {}\n"
FILE = (
    "# by hand\nknown_hosts: known_hosts  # of the jump host\n"
    "devices:\n"
    "- name: spine01\n  host: spine01.example.org  # DNS\n  user: netops\n"
    "  credential: file:secrets/all\n  port: 2222\n"
    "- {name: leaf001, host: 10.255.0.9, user: root, credential: 'file:secrets/all'}\n"
    "# the last one\n"
    "- name: leaf002\n  host: 10.255.0.10\n  user: netops\n  credential: env:LEAF2\n"
)


# --- the page -------------------------------------------------------------------------------------


def test_the_example_of_the_page_is_a_connections_file(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "connections.yaml").write_text(example)
    access = load_connections(tmp_path / "connections.yaml")
    assert ([each.name for each in access.devices], [each.name for each in access.servers]) == (
        ["spine01", "leaf01"],
        ["gpu01"],
    )


# --- an update ------------------------------------------------------------------------------------


@pytest.fixture
def fabric(tmp_path: Path, rocefort: Rocefort, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fabric of two spines and two leaves in the current directory."""
    monkeypatch.chdir(tmp_path)
    size = ("--spines", "2", "--leaves", "2", "--servers-per-leaf", "1", "--directory", ".")
    assert rocefort("new", "beam", *size).code == 0
    return tmp_path / "beam"


@pytest.mark.parametrize(
    ("words", "before", "after", "sentence"),
    [
        (
            (),
            FILE,
            FILE + ENTRY.format("spine02", "10.255.0.2", '"file:secrets/all"'),
            "added spine02",
        ),
        (
            ("--credential", "env:NEW", "--user", "netops"),
            FILE.replace("leaf001", "leaf009"),
            FILE.replace(
                "- {name: leaf001, host: 10.255.0.9, user: root, credential: 'file:secrets/all'}\n",
                "",
            )
            + ENTRY.format("spine02", "10.255.0.2", '"env:NEW"')
            + ENTRY.format("leaf001", "10.255.0.9", '"env:NEW"'),
            "added spine02 and leaf001; removed leaf009",
        ),
        (
            (),
            FILE + ENTRY.format("spine02", "10.255.0.2", "env:X"),
            FILE + ENTRY.format("spine02", "10.255.0.2", "env:X"),
            "has every switch of the fabric",
        ),
    ],
)
def test_an_update_adds_and_removes_entries_and_keeps_every_other_byte(
    words: tuple[str, ...],
    before: str,
    after: str,
    sentence: str,
    fabric: Path,
    rocefort: Rocefort,
) -> None:
    file = fabric.parent / "connections.yaml"
    file.write_text(before)
    done = rocefort("connections", fabric, "--update", *words)
    assert (done.code, done.out.splitlines()[:2]) == (0, ["connections.yaml", sentence])
    assert file.read_text() == after
    assert ("`rocefort trust` records" in done.out) == ("added" in sentence)
    assert len(load_connections(file).devices) == 4
    assert rocefort("connections", fabric, "--update").words.endswith("every switch of the fabric")


def test_a_renamed_switch_keeps_its_own_entry(fabric: Path, rocefort: Rocefort) -> None:
    file = fabric.parent / "connections.yaml"
    assert rocefort("connections", fabric).code == 0
    before = load_connections(file)
    own = next(device for device in before.devices if device.name == "leaf002")
    text = file.read_text()
    head, entry = text[: text.index("- name: leaf002")], text[text.index("- name: leaf002") :]
    entry = re.sub("credential: .*", "credential: env:LEAF2\n  port: 2222", entry, count=1)
    file.write_text(head + entry)
    assert rocefort("rename", fabric, "leaf002", "edge").code == 0
    done = rocefort("connections", fabric, "--update")
    assert (done.code, done.out.splitlines()[1]) == (0, "added edge; removed leaf002")
    after = {device.name: device for device in load_connections(file).devices}
    assert "leaf002" not in after
    assert (after["edge"].host, after["edge"].port) == (own.host, 2222)
    assert after["edge"].credential.endswith("env:LEAF2")


def test_a_server_that_the_fabric_lost_is_removed(fabric: Path, rocefort: Rocefort) -> None:
    file = fabric.parent / "connections.yaml"
    assert rocefort("connections", fabric).code == 0
    entry = "{{name: {}, host: h, user: root, credential: env:X, rdma_device: m, gid_index: 3}}"
    text = file.read_text() + "servers:\n"
    text += "".join(f"- {entry.format(name)}\n" for name in ("server0001", "gone"))
    names = re.findall(
        r"^  - name: (\S*server\S*|\S+)", (fabric / "fabric.yaml").read_text(), re.MULTILINE
    )
    file.write_text(text.replace("server0001", names[-1]))
    assert rocefort("connections", fabric, "--update").out == "connections.yaml\nremoved gone\n"
    assert [server.name for server in load_connections(file).servers] == [names[-1]]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "rocefort: connections.yaml: no such file; check the path"),
        ("devices: []\n", "rocefort: connections.yaml:1:1: known_hosts: 'known_hosts' is missing"),
    ],
)
def test_a_file_that_is_no_connections_file_is_one_error(
    text: str | None, sentence: str, fabric: Path, rocefort: Rocefort
) -> None:
    if text is not None:
        (fabric.parent / "connections.yaml").write_text(text)
    done = rocefort("connections", fabric, "--update")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(sentence)
