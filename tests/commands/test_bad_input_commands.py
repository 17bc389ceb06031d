"""Fabrics with errors: each command reports the error, exits with 2, and writes nothing."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from outputs import messages

from rocefort import tasks

EditHeps = Callable[..., Path]

COMMANDS = [
    ("check", "FABRIC"),
    ("render", "FABRIC", "--out", "OUT"),
    ("show", "FABRIC", "devices"),
    ("verify", "FABRIC", "--engine", "embedded"),
    ("report", "FABRIC", "--out", "OUT"),
    ("diff", "heps", "FABRIC"),
    ("drift", "FABRIC", "--configs", "OUT"),
    ("plan", "FABRIC", "--connections", "CONNECTIONS", "--out", "OUT"),
    ("demo", "FABRIC"),
    ("day0", "FABRIC", "leaf08"),
    ("replace", "FABRIC", "leaf08", "--connections", "CONNECTIONS"),
    ("lab", "cli", "FABRIC", "--state", "OUT"),
]
CONNECTIONS = """\
known_hosts: known_hosts
devices:
  - {name: leaf08, host: 10.255.0.16, user: netops, credential: "env:NETOPS_PASSWORD"}
"""
FABRICS = {  # one for each stage: the syntax, the shape, what contradicts itself, what clashes
    "syntax": (("mtu: 9000  #", "mtu: [9000  #"), "the `[` that opens here is not closed"),
    "shape": (("name: leaf03", "name: ../leaf03"), "leaves[2].name: '../leaf03' is not a name; "),
    "intent": (("canary: leaf08", "canary: leaf80"), "rollout.canary: no leaf 'leaf80'; "),
    "fit": (
        ("    name: leaf08\n", "    name: leaf08\n    pins: {management: 10.9.0.1}\n"),
        "management address 10.9.0.1 of leaf08 is not one of 10.255.0.0/24; ",
    ),
}


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize("fabric", FABRICS)
def test_no_command_begins_with_a_bad_fabric(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    edit_heps: EditHeps,
    tmp_path: Path,
    words: tuple[str, ...],
    fabric: str,
) -> None:
    edit, sentence = FABRICS[fabric]
    path = edit_heps(edit)
    connections = tmp_path / "connections.yaml"
    connections.write_text(CONNECTIONS)
    given = {"FABRIC": path, "OUT": tmp_path / "out", "CONNECTIONS": connections}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["rocefort", *(str(given.get(w, w)) for w in words)])
    before = sorted(tmp_path.iterdir())
    with pytest.raises(SystemExit) as ended:
        tasks.app()
    told = capsys.readouterr()
    assert ended.value.code == 2
    assert told.out == ""
    assert len(messages(told.err).splitlines()) == 1
    message, row, mark = told.err.splitlines()  # the message, its line of the file, a mark below
    line, column = message.split(":")[2:4]
    assert row == f"  {line} | {path.read_text().splitlines()[int(line) - 1]}"
    assert mark.index("^") == row.index("|") + 1 + int(column)
    assert told.err.startswith("rocefort: fabric.yaml:")
    assert sentence in told.err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("begins", "code", "said"),
    [
        (
            lambda: os.kill(os.getpid(), signal.SIGINT),
            130,
            "rocefort: interrupted before its end\n",
        ),
        (lambda: sys.exit(130), 130, ""),  # the exit code of a command that it ran
        (lambda: (_ for _ in ()).throw(typer.Exit(130)), 130, ""),
    ],
    ids=["ctrl-c", "exit", "of another command"],
)
def test_a_command_that_is_interrupted_says_so(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    begins: Callable[[], None],
    code: int,
    said: str,
) -> None:
    def subject_of(*_: object) -> None:
        begins()

    monkeypatch.setattr("rocefort.verification.judged.subject_of", subject_of)
    monkeypatch.setattr(sys, "argv", ["rocefort", "check", "heps"])
    with pytest.raises(SystemExit) as ended:
        tasks.app()
    told = capsys.readouterr()
    assert (ended.value.code, told.out, told.err) == (code, "", said)


def test_an_interrupt_before_the_commands_are_known_is_told_alike(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def get_command(_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("typer.main.get_command", get_command)
    with pytest.raises(SystemExit) as ended:
        tasks.app()
    told = capsys.readouterr()
    assert (ended.value.code, told.out, told.err) == (
        130,
        "",
        "rocefort: interrupted before its end\n",
    )
