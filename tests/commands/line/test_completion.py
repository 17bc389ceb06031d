"""Completion in the real shells: commands, options, and names of a site."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort.base.command_line import values
from rocefort.base.command_line.completion import answer
from rocefort.base.repository import INVENTORY
from rocefort.validators.rules.registry import registered

LIMIT_S = 30.0
PROMPT = r"\[\?2004h"  # zsh reads a line: bracketed paste is on


def shell(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"no {name}; as root: apt-get install --no-install-recommends {name}")
    return path


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site with HEPS as its only fabric; the test runs in it."""
    shutil.copytree(INVENTORY / "heps", tmp_path / "inventory" / "heps")
    (tmp_path / "saved.yaml").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


Complete = Callable[[str], list[str]]


@pytest.fixture
def complete(site: Path, forked: str) -> Complete:
    """Complete the last word of a line in bash, by the function that its script defines."""
    script = """eval "$(rocefort completion bash)"
        compopt() { echo "names of files"; }
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _rocefort_completion rocefort; printf '%s\\n' "${COMPREPLY[@]}" """

    def run(line: str) -> list[str]:
        done = subprocess.run(
            [shell("bash"), "--norc", "-c", script, "bash", *line.split(" ")],
            env={**os.environ, "PATH": forked},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        return done.stdout.split("\n")[:-1]

    return run


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rocefort che", ["check"]),
        ("rocefort lab st", ["stop", "status"]),
        ("rocefort rdma ex", ["export"]),
        ("rocefort check --sel", ["--select"]),
        ("rocefort --v", ["--version", "--verbose"]),
        ("rocefort rdma plan --qu", ["--quiet"]),
        ("rocefort check ", ["heps"]),
        ("rocefort verify --engine b", ["batfish", "both"]),
        ("rocefort show heps ca", ["cabling"]),
        ("rocefort schema --of c", ["catalogue", "connections"]),
        ("rocefort check --select PF", ["PFC", *(f"PFC00{n}" for n in range(1, 9)), "PFC201"]),
        ("rocefort check --select PFC001,BUF", ["PFC001,BUF", "PFC001,BUF001", "PFC001,BUF002"]),
        ("rocefort explain buf", ["buf001", "buf002"]),
        ("rocefort render --device spi", ["spine01", "spine02"]),
        ("rocefort render heps --device spi", ["spine01", "spine02"]),
        ("rocefort day0 heps leaf0", [f"leaf0{n}" for n in range(1, 9)]),
        ("rocefort remove heps readout01 readout", [f"readout0{n}" for n in (2, 3, 4)]),
        ("rocefort host render heps --server sto", ["storage01"]),
        ("rocefort trace heps transfer01 sto", ["storage01", "storage"]),
        ("rocefort rdma plan heps --servers k8sgn08,k8sgn1", ["k8sgn08,k8sgn12"]),
        ("rocefort new hall --leaf-hardware CE885", ["CE8850-64CQ-EI", "CE8851-32CQ8DQ-P", "CE8855-32CQ4BQ"]),
        ("rocefort expand heps --like leaf08", ["leaf08"]),
        ("rocefort completion ", ["bash", "zsh", "fish"]),
        ("rocefort plan --connections sa", ["names of files", ""]),
    ],
)  # fmt: skip
def test_bash_completes(line: str, expected: list[str], complete: Complete) -> None:
    assert complete(line) == expected


def test_a_broken_fabric_has_no_names(site: Path, complete: Complete) -> None:
    fabric = site / "inventory/heps/fabric.yaml"
    for text in ("spines: [", "- 1\n", "", "\0"):
        fabric.write_text(text)
        assert complete("rocefort render heps --device spi") == ["names of files", ""]
        assert complete("rocefort che") == ["check"]
    (site / "rocefort.toml").write_text("engine = [")
    assert complete("rocefort check ") == ["heps"]


UNSAFE = (
    "$(touch owned)",
    "`touch owned`",
    "a;touch owned",
    "a b",
    "a\nb",
    "'",
    "~root",
    "a*",
    "\u00e9",
)


def test_names_that_a_shell_would_read_are_not_offered(site: Path, complete: Complete) -> None:
    fabric = site / "inventory/heps/fabric.yaml"
    servers = [{"name": name} for name in (*UNSAFE, "good01")]
    fabric.write_text(json.dumps({"servers": servers, "segments": servers}))
    assert complete("rocefort host render heps --server ") == ["good01"]
    assert complete("rocefort trace heps ") == ["good01", "good01"]
    (site / "plan.json").write_text(json.dumps({"waves": servers}))
    assert complete("rocefort approve plan.json --wave ") == ["good01"]
    fabric.unlink()
    for folder in (*(f"z{name}" for name in UNSAFE), "good"):
        (site / "inventory" / folder).mkdir()
        (site / "inventory" / folder / "fabric.yaml").write_text("")
    assert complete("rocefort check ") == ["good"]


def test_two_fabrics_are_offered_and_no_device_of_them(site: Path, complete: Complete) -> None:
    shutil.copytree(site / "inventory/heps", site / "inventory/other")
    assert complete("rocefort check ") == ["heps", "other"]
    assert complete("rocefort render --device spi") == ["names of files", ""]
    assert complete("rocefort render other --device spi") == ["spine01", "spine02"]


@pytest.mark.parametrize(
    "instruction", ["bash", "tcsh_complete", "bash_nothing", "_", "zsh_complete"]
)
def test_an_instruction_of_no_script_is_answered_with_nothing(instruction: str) -> None:
    assert answer(None, instruction) == ""


def test_ids_of_rules_are_those_of_the_registry() -> None:
    ids = {rule.id for rule in registered()}
    assert {name for name in values.rule_names() if len(name) > 3} == ids
    assert {name for name in values.rule_names() if len(name) == 3} == {each[:3] for each in ids}


def test_fish_completes(site: Path, forked: str) -> None:
    def run(line: str) -> list[str]:
        script = f"rocefort completion fish | source; complete -C '{line}'"
        done = subprocess.run(
            [shell("fish"), "--no-config", "-c", script],
            env={**os.environ, "PATH": forked, "HOME": str(site)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        return done.stdout.splitlines()

    assert run("rocefort rdm") == ["rdma\tPlan, run, judge and compare RDMA tests between servers."]
    assert run("rocefort render heps --device spi") == ["spine01", "spine02"]
    assert run("rocefort render heps --device=spi") == ["--device=spine01", "--device=spine02"]
    assert run("rocefort rdma plan heps --servers k8sgn08,k8sgn1") == ["k8sgn08,k8sgn12"]
    assert run("rocefort plan --connections sa") == ["saved.yaml"]


def test_zsh_completes(site: Path, forked: str) -> None:
    path = shell("zsh")
    pid, terminal = pty.fork()
    if not pid:
        os.execve(
            path,
            [path, "-f", "-i"],
            {"PATH": forked, "HOME": str(site), "TERM": "xterm"},
        )
    screen = ""

    def until(pattern: str, typed: str = "") -> None:
        nonlocal screen
        screen, end = "", time.monotonic() + LIMIT_S
        os.write(terminal, typed.encode())
        while not re.search(pattern, screen + re.sub(r"\x1b\[[\d;?]*\w", "", screen)):
            assert time.monotonic() < end, screen
            if select.select([terminal], [], [], 0.1)[0]:
                screen += os.read(terminal, 4096).decode()

    try:
        until(PROMPT)
        until("ready", "autoload -Uz compinit; compinit -u -D; echo rea''dy\n")
        until("loaded", 'eval "$(rocefort completion zsh)"; echo load"ed"\n')
        until(r"check ", "rocefort che\t")
        until(r"heps ", "he\t")
        until(r"--select ", "--sel\t")
        until(r"BUF001\b.*BUF002", "BUF00\t")
        until("=spine02 ", "\x15rocefort render heps --device=spine02\t")
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)


def test_the_scripts_parse(rocefort: Any, tmp_path: Path) -> None:
    for name in ("bash", "zsh", "fish"):
        script = tmp_path / name
        script.write_text(rocefort("completion", name).out)
        subprocess.run([shell(name), "-n", str(script)], check=True)
