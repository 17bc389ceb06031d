"""`init` and `connections`: a site's repository, in which every command works at once."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from json_schema import refused

from rocefort.base.documents.read import read_document, read_toml
from rocefort.base.repository import PACKAGE, ROOT
from rocefort.fleet.connections import load_connections
from rocefort.rollout.journal.run_directory import RunDirectory

Rocefort = Callable[..., Any]
SIZE = ("--spines", "2", "--leaves", "2", "--servers-per-leaf", "1")
SCHEMAS = ("fabric", "demand", "profiles", "catalogue", "connections", "settings")
PATHS = {
    "inventory/plant/fabric.yaml",
    "inventory/hardware/README.md",
    "inventory/catalogue/README.md",
    "inventory/profiles/README.md",
    "templates/vrp/README.md",
    "validators/README.md",
    "connections.yaml",
    "rocefort.toml",
    "README.md",
    "requirements.txt",
    "requirements.lock",
    "requirements-test.txt",
    "tests/test_network.py",
    "tasks.py",
    ".github/workflows/rocefort.yml",
    ".github/workflows/rocefort-comment.yml",
    ".gitlab-ci.yml",
    ".pre-commit-config.yaml",
    "renovate.json",
    ".gitignore",
    *(f"inventory/{name}.schema.json" for name in SCHEMAS),
}


@pytest.fixture
def site(tmp_path: Path, rocefort: Rocefort, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new repository of a fabric named plant; the test runs in it."""
    monkeypatch.chdir(tmp_path)
    done = rocefort("init", "plant", *SIZE)
    assert (done.code, done.err) == (0, "")
    monkeypatch.chdir(tmp_path / "plant")
    return tmp_path / "plant"


def files(top: Path) -> set[str]:
    return {path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file()}


def test_init_writes_these_files(site: Path, rocefort: Rocefort, tmp_path: Path) -> None:
    assert files(site) == PATHS
    done = rocefort("init", tmp_path / "other", "--name", "plant", *SIZE)
    assert files(tmp_path / "other") == PATHS
    assert set(done.out.splitlines()) == {
        *(str(tmp_path / "other" / path) for path in PATHS),
        "README.md lists the first commands.",
    }
    for path in PATHS:
        assert (tmp_path / "other" / path).read_text() == (site / path).read_text()


def test_the_fabric_is_that_of_new(site: Path, rocefort: Rocefort, tmp_path: Path) -> None:
    rocefort("new", "plant", *SIZE, "--directory", tmp_path)
    fabric = (tmp_path / "plant" / "inventory/plant/fabric.yaml").read_text()
    assert fabric == (tmp_path / "plant" / "fabric.yaml").read_text()


def test_init_in_a_repository_keeps_its_files(
    tmp_path: Path, rocefort: Rocefort, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "LICENSE").write_text("own")
    monkeypatch.chdir(tmp_path)
    assert rocefort("init", "--name", "plant", *SIZE).code == 0
    assert files(tmp_path) >= {*PATHS, "LICENSE", ".git/HEAD"}
    assert (tmp_path / "LICENSE").read_text() == "own"


def test_init_refuses_existing_files_and_names_all(tmp_path: Path, rocefort: Rocefort) -> None:
    (tmp_path / "README.md").write_text("own")
    (tmp_path / ".gitignore").write_text("own")
    done = rocefort("init", tmp_path, "--name", "plant", *SIZE)
    assert (done.code, done.out) == (4, "")
    assert done.err.splitlines() == [
        f"{tmp_path}/README.md: is there already; move it away first",
        f"{tmp_path}/.gitignore: is there already; move it away first",
    ]
    assert files(tmp_path) == {"README.md", ".gitignore"}


@pytest.mark.parametrize(
    ("words", "sentences"),
    [
        (
            (),
            [
                "--spines: is missing; give a number; the question appears on a terminal only",
                "--leaves: is missing; give a number; the question appears on a terminal only",
            ],
        ),
        (
            ("--spines", "2"),
            [
                "rocefort: --leaves: is missing; give a number; the question appears on a terminal only"
            ],
        ),
        (
            (*SIZE, "--credential", "secret"),
            [
                "rocefort: --credential: a credential that is not a reference; write env:NAME or "
                "file:PATH, or keyring:SERVICE/USER"
            ],
        ),
        (
            (*SIZE, "--name", "hardware"),
            [
                "rocefort: a fabric named 'hardware' would be mixed with other files of "
                "inventory/hardware; choose another name"
            ],
        ),
    ],
)
def test_bad_input_writes_nothing(
    tmp_path: Path, rocefort: Rocefort, words: tuple[str, ...], sentences: list[str]
) -> None:
    done = rocefort("init", tmp_path / "plant", *words)
    assert (done.code, done.out, done.err.splitlines()) == (2, "", sentences)
    assert not (tmp_path / "plant").exists()


def test_init_asks_on_a_terminal(tmp_path: Path, forked: str) -> None:
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        ["rocefort", "init", "plant"],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=tmp_path,
        env={**os.environ, "PATH": forked},
        text=True,
    )
    os.write(controller, b"hall1\n\n3\n1\n")
    out, _ = process.communicate(timeout=60)
    os.close(controller)
    os.close(terminal)
    assert process.returncode == 0, out
    for question in (
        "Name of the fabric [plant]: ",
        "Number of spines [2]: ",
        "Number of leaves: ",
        "Number of servers on each leaf [0]: ",
    ):
        assert question in out
    fabric = yaml.safe_load((tmp_path / "plant/inventory/hall1/fabric.yaml").read_text())
    assert [len(fabric[key]) for key in ("spines", "leaves", "servers")] == [2, 3, 3]


def test_every_file_fits_its_schema_and_names_it(site: Path) -> None:
    fabric = site / "inventory/plant/fabric.yaml"
    for path, schema in ((fabric, "fabric"), (site / "connections.yaml", "connections")):
        data = json.loads((site / f"inventory/{schema}.schema.json").read_text())
        assert list(refused(data, read_document(path).data)) == []
        named = re.match(r"# yaml-language-server: \$schema=(\S+)\n", path.read_text())
        assert named
        assert (path.parent / named[1]).resolve() == site / f"inventory/{schema}.schema.json"
    settings = site / "rocefort.toml"
    data = json.loads((site / "inventory/settings.schema.json").read_text())
    assert list(refused(data, read_toml(settings).data)) == []
    assert settings.read_text().startswith("#:schema ./inventory/settings.schema.json\n")


def test_connections_have_addresses_and_no_secret(site: Path) -> None:
    found = load_connections(site / "connections.yaml")
    rows = [(each.name, each.host, each.user, each.credential) for each in found.devices]
    assert rows == [
        ("spine01", "10.255.0.1", "netops", "env:SWITCH_PASSWORD"),
        ("spine02", "10.255.0.2", "netops", "env:SWITCH_PASSWORD"),
        ("leaf001", "10.255.0.9", "netops", "env:SWITCH_PASSWORD"),
        ("leaf002", "10.255.0.10", "netops", "env:SWITCH_PASSWORD"),
    ]
    assert found.known_hosts == site / "known_hosts"
    assert not found.known_hosts.exists()  # `rocefort trust` writes it


def test_commands_work_at_once_from_a_subfolder(
    site: Path, rocefort: Rocefort, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(site / "templates" / "vrp")
    assert re.search(r"^plant: \d+ rules, 0 errors, ", rocefort("check", "plant").out, re.MULTILINE)
    verified = rocefort("verify", "plant")
    note = "Batfish was not asked: no service is named; to ask it: --batfish HOST:PORT\n"
    assert (verified.code, verified.err) == (0, note)
    assert "server pairs delivered by every path: 2 of 2\n" in verified.out
    assert "leaf002" in rocefort("show", "plant", "cabling").out
    assert rocefort("render", "plant", "--out", "../../configs").code == 0
    assert rocefort("report", "plant", "--out", "../../report").code == 0
    assert {path for path in files(site) if path.startswith(("configs/l", "report/"))} == {
        "configs/leaf001.cfg",
        "configs/leaf002.cfg",
        "report/index.html",
    }
    # connections.yaml by rocefort.toml, and the next step is named
    monkeypatch.setenv("SWITCH_PASSWORD", "secret")
    done = rocefort("plan", "plant", "--out", "../../plan.json")
    assert (done.code, done.out) == (2, "")
    assert f"{site}/known_hosts: no such known_hosts file; record the host keys" in done.err
    assert "`rocefort trust`" in done.err


def test_the_example_of_a_template_adds_its_line(site: Path, rocefort: Rocefort) -> None:
    folder = site / "templates/vrp"
    name = re.findall(r"With this file `(\S+)`", (folder / "README.md").read_text())[0]
    example = re.findall(r"```jinja\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)[0]
    before = rocefort("render", "plant", "--device", "leaf001").out.splitlines()
    (folder / name).write_text(example)
    after = rocefort("render", "plant", "--device", "leaf001").out.splitlines()
    assert [line for line in after if line not in before] == ["lldp transmit interval 10"]
    assert [line for line in after if line in before] == before
    done = rocefort("check", "plant", "--select", "TXT")
    assert "lldp transmit interval 10" in done.words
    assert "templates/vrp/ce8851.j2:4" in done.words


def test_nothing_is_written_into_the_installed_tool(site: Path, rocefort: Rocefort) -> None:
    def state() -> dict[str, tuple[int, int]]:
        own = (path for path in PACKAGE.rglob("*") if "__pycache__" not in path.parts)
        data = (path for top in ("inventory", "templates") for path in (ROOT / top).rglob("*"))
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in (*own, *data)}

    before = state()
    fabric = "inventory/plant/fabric.yaml"
    for words in (
        ("check", fabric),
        ("verify", fabric),
        ("render", fabric, "--out", "configs"),
        ("report", fabric),
        ("expand", fabric, "--add-leaves", "1"),
        ("new", "second", *SIZE),
        ("connections", "second", "--out", "second.yaml"),
        ("import", "configs", "--out", "inventory/third"),
    ):
        done = rocefort(*words)
        assert done.code == 0, (words, done.out, done.err)
    assert state() == before
    assert files(site) >= {"inventory/second/fabric.yaml", "inventory/third/fabric.yaml"}


def test_git_ignores_what_commands_write(site: Path, git: Callable[..., str]) -> None:
    git(site, "init", "--quiet")
    run = RunDirectory.of(Path("plan.json"))
    others = ("rdma.db", "configs/leaf01.cfg", "report/index.html", "review/review.md", "lab/keys")
    own = [
        *(run.plan, run.signature, run.rehearsal, run.journal, run.back, run.lock, run.head),
        run.records,
        *(run.log, run.texts / "a", run.fabrics / "a", RunDirectory.of(run.back).journal),
        *map(Path, others),
    ]
    assert git(site, "check-ignore", *map(str, own)).splitlines() == [str(path) for path in own]
    assert set(git(site, "ls-files", "--others", "--exclude-standard").splitlines()) == PATHS


def test_the_hook_checks_the_fabric(site: Path, forked: str) -> None:
    config = yaml.safe_load((site / ".pre-commit-config.yaml").read_text())
    ((hook,),) = (repo["hooks"] for repo in config["repos"])
    assert re.search(hook["files"], "inventory/plant/fabric.yaml")
    assert hook["language"] == "system"
    for text, code in (("", 0), ("nonsense: 1\n", 2)):
        with (site / "inventory/plant/fabric.yaml").open("a") as file:
            file.write(text)
        done = subprocess.run(
            hook["entry"].split(), cwd=site, env={"PATH": forked}, capture_output=True, check=False
        )
        assert done.returncode == code


def test_the_readme_lists_ten_commands_that_exist(site: Path, rocefort: Rocefort) -> None:
    block = re.findall(r"```\n(rocefort .*?)```", (site / "README.md").read_text(), re.DOTALL)[0]
    commands = [line.partition("  #")[0].split()[1:] for line in block.splitlines()]
    assert len(commands) == 10
    for words in commands:
        deep = 2 if words[0] == "lab" else 1
        assert rocefort(*words[:deep], "--help").code == 0
        assert {*words[deep:]} <= {"plant", "cabling", "plan.json", "main", "configs"} | {
            word for word in words if word.startswith("--")
        }


def test_connections_writes_a_file_and_replaces_none(
    tmp_path: Path, rocefort: Rocefort, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("connections", "heps", "--user", "operator", "--credential", "keyring:rocefort/heps")
    done = rocefort(*words)
    assert (done.code, done.out) == (0, "connections.yaml\n")
    found = load_connections(tmp_path / "connections.yaml")
    assert len(found.devices) == 10
    assert {(each.user, each.credential) for each in found.devices} == {
        ("operator", "keyring:rocefort/heps")
    }
    done = rocefort(*words)
    assert (done.code, done.out) == (4, "")
    assert done.err == "rocefort: connections.yaml: is there already; move it away first\n"


def test_connections_need_a_user_and_a_reference(
    tmp_path: Path, rocefort: Rocefort, edit_heps: Callable[..., Path]
) -> None:
    fabric = edit_heps(("  users:\n    - name: netops\n      level: 3\n", ""))
    done = rocefort("connections", fabric, "--credential", "secret", "--out", tmp_path / "c.yaml")
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines() == [
        "--credential: a credential that is not a reference; write env:NAME or file:PATH, or "
        "keyring:SERVICE/USER",
        f"--user: {fabric} has no user; name the user of the switches",
    ]
    assert not (tmp_path / "c.yaml").exists()
