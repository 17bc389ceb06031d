"""A command that ends without a result reports its problems in the requested format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from outputs import refusals

from rocefort.base.errors import ExitCode
from rocefort.verification import judged

Rocefort = Callable[..., Any]
EditHeps = Callable[..., Path]
OPEN_BRACKET = ("mtu: 9000  #", "mtu: [9000  #")


def _problems(ran: Any, command: str) -> list[dict[str, Any]]:
    document = json.loads(ran.out)
    assert refusals(command, document) == []
    assert (document["command"], document["exit_code"]) == (command, ran.code)
    problems: list[dict[str, Any]] = document["problems"]
    return problems


@pytest.mark.parametrize(
    ("edit", "text", "subject", "what"),
    [
        (OPEN_BRACKET, "[9000", "", "the `[` that opens here is not closed"),
        (("canary: leaf08", "canary: leaf80"), "leaf80", "rollout.canary", "no leaf 'leaf80'"),
        (("name: leaf03", "name: ../leaf03"), "../leaf03", "leaves[2].name", "is not a name"),
        (("  canary: leaf08", "  x: 1\n  canary: leaf08"), "x", "rollout.x", "unknown key 'x'"),
    ],
)
def test_a_problem_of_a_file_has_its_line_and_column(
    rocefort: Rocefort,
    edit_heps: EditHeps,
    edit: tuple[str, str],
    text: str,
    subject: str,
    what: str,
) -> None:
    path = edit_heps(edit)
    ran = rocefort("check", path, "--format", "json")
    (problem, *_) = _problems(ran, "check")
    line = path.read_text().splitlines()[problem["line"] - 1]
    assert (ran.code, problem["file"], problem["subject"]) == (2, str(path), subject)
    assert line[problem["column"] - 1 :].startswith(text)
    assert what in problem["what"]
    assert problem["what"] in ran.err


def test_a_syntax_error_annotates_its_line(rocefort: Rocefort, edit_heps: EditHeps) -> None:
    path = edit_heps(OPEN_BRACKET)
    ran = rocefort("check", path, "--format", "sarif")
    (run,) = json.loads(ran.out)["runs"]
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    line = path.read_text().splitlines()[place["region"]["startLine"] - 1]
    assert line[place["region"]["startColumn"] - 1 :].startswith("[9000")
    assert place["artifactLocation"]["uri"] == path.as_uri()
    assert result["message"]["text"].startswith("the `[` that opens here is not closed. Fix: ")
    assert run["invocations"][0]["executionSuccessful"] is False
    assert run["invocations"][0]["exitCode"] == ran.code == 2


def test_a_problem_without_a_file_is_a_notification(rocefort: Rocefort) -> None:
    ran = rocefort("check", "heps", "--select", "XYZ", "--format", "sarif")
    (run,) = json.loads(ran.out)["runs"]
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert run["results"] == []
    assert note["message"]["text"].startswith("no rule or family 'XYZ'")


def test_junit_and_markdown(rocefort: Rocefort, edit_heps: EditHeps) -> None:
    path = edit_heps(OPEN_BRACKET)
    suite = ET.fromstring(rocefort("verify", path, "--format", "junit").out)
    (error,) = suite.iter("error")
    assert str(error.text).startswith(f"{path}:")
    comment = rocefort("check", path, "--format", "markdown").out
    assert comment.startswith("### Rocefort: no result\n\n- ")
    assert "is not closed" in comment


@pytest.mark.parametrize(
    ("words", "command", "what"),
    [
        (("--no-such",), "", "No such option"),
        (("chek", "heps"), "", "No such command"),
        (("check", "heps", "--selekt", "PFC"), "check", "No such option"),
        (("new", "hall2"), "new", "Missing option"),
        (("rdma", "show"), "rdma show", "Missing argument"),
    ],
)
def test_a_wrong_command_line(
    rocefort: Rocefort, words: tuple[str, ...], command: str, what: str
) -> None:
    ran = rocefort(*words, "--format", "json")
    (problem,) = _problems(ran, command)
    assert problem["what"].startswith(what)


def test_the_format_of_the_environment_and_of_the_settings(
    rocefort: Rocefort, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ROCEFORT_FORMAT", "json")
    assert _problems(rocefort("explain", "XYZ"), "explain")
    monkeypatch.delenv("ROCEFORT_FORMAT")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rocefort.toml").write_text('format = "json"\n')
    assert _problems(rocefort("explain", "XYZ"), "explain")
    assert rocefort("explain", "XYZ", "--format", "text").out == ""
    (tmp_path / "rocefort.toml").write_text('format = "jsn"\n')
    (problem,) = _problems(rocefort("explain", "PFC001", "--format", "json"), "explain")
    assert (Path(problem["file"]).name, problem["line"]) == ("rocefort.toml", 1)


def test_an_internal_error(rocefort: Rocefort, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("1/0")

    monkeypatch.setattr(judged, "subject_of", fail)
    ran = rocefort("check", "heps", "--format", "json")
    (problem,) = _problems(ran, "check")
    assert ran.code == ExitCode.INTERNAL
    assert problem["what"] == "ZeroDivisionError: 1/0"
    assert problem["how"].startswith("please report it with /")


def test_an_interruption(rocefort: Rocefort, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(judged, "subject_of", interrupt)
    ran = rocefort("check", "heps", "--format", "json")
    assert ran.code == ExitCode.INTERRUPTED
    (problem,) = _problems(ran, "check")
    assert problem["what"] == "interrupted before its end"


def test_rules_are_named_in_any_case(rocefort: Rocefort) -> None:
    lower = json.loads(rocefort("check", "heps", "--select", "pfc,buf001", "--format", "json").out)
    assert lower["rules"][0] == "PFC001" and lower["rules"][-1] == "BUF001"
    found = json.loads(rocefort("explain", "pfc004", "txt", "--format", "json").out)["rules"]
    assert [rule["id"] for rule in found][:2] == ["PFC004", "TXT001"]
    assert found[0]["commands"] == ["check", "report", "review"] and found[0]["waivable"]
    (problem,) = _problems(rocefort("explain", "pcf004", "--format", "json"), "explain")
    assert problem["how"] == "did you mean 'PFC004'?"
