"""Settings: an option precedes its variable, the variable `rocefort.toml`, and that the default."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from json_schema import refused
from typer.core import TyperGroup
from typer.main import get_command

from rocefort.base import options
from rocefort.base.documents.read import read_toml
from rocefort.base.repository import ROOT
from rocefort.site.settings import SiteSettings, setting_of, settings_schema
from rocefort.tasks import cli
from rocefort.validators.batfish.access import LIMIT_S

Rocefort = Callable[..., Any]
PAGE = ROOT / "docs/reference/settings.md"
ROOT_GROUP = get_command(cli)
assert isinstance(ROOT_GROUP, TyperGroup)


def parameters(group: TyperGroup, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every option with a variable, by the command that has it."""
    yield from ((path.strip() or "rocefort", p) for p in group.params if setting_of(p))
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from parameters(command, f"{path}{name} ")
        else:
            yield from ((f"{path}{name}", p) for p in command.params if setting_of(p))


OPTIONS = list(parameters(ROOT_GROUP))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site without settings; the test runs in a folder below it."""
    for variable in [name for name in os.environ if name.startswith("ROCEFORT_")]:
        monkeypatch.delenv(variable)
    (tmp_path / "inventory").mkdir()
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    return tmp_path


def test_every_option_with_a_variable_has_a_key_and_every_key_an_option() -> None:
    assert {setting_of(option) for _, option in OPTIONS} == set(SiteSettings.model_fields)


def test_the_limit_of_a_question_is_that_of_the_service() -> None:
    assert options.QUESTION_LIMIT_S == LIMIT_S


def test_the_page_lists_every_setting(golden_update: bool) -> None:
    text = PAGE.read_text(encoding="utf-8")
    head = "|---|---|---|---|---|\n"
    rows = ""
    for key, field in SiteSettings.model_fields.items():
        having = [(path, option) for path, option in OPTIONS if setting_of(option) == key]
        flags = {option.opts[-1] for _, option in having}
        variables = {option.envvar for _, option in having}
        assert len(flags) == len(variables) == 1
        commands = ", ".join(sorted(f"`{path}`" for path, _ in having))
        value = str(field.description).rstrip(".")
        rows += f"| `{key}` | {variables.pop()} | `{flags.pop()}` | {value} | {commands} |\n"
    written = re.sub(re.escape(head) + r"(?:\|.*\n)*", lambda _: head + rows, text)
    if golden_update:
        PAGE.write_text(written, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == written, "run `make golden`"


def test_each_precedes_the_next(
    site: Path, rocefort: Rocefort, monkeypatch: pytest.MonkeyPatch
) -> None:
    def form(*words: str) -> str:
        out = rocefort("check", "heps", "--select", "PFC001", *words).out
        return "json" if out.startswith("{") else "xml" if out.startswith("<?xml") else "text"

    assert form() == "text"
    (site / "rocefort.toml").write_text('format = "json"\n')
    assert form() == "json"
    monkeypatch.setenv("ROCEFORT_FORMAT", "junit")
    assert form() == "xml"
    assert form("--format", "text") == "text"


def test_colors_follow_the_setting(
    site: Path, rocefort: Rocefort, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for variable in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.setenv(variable, "1")  # so that the environment is restored
        monkeypatch.delenv(variable)

    def colored(*words: str) -> bool:
        return "\x1b[" in rocefort(*words, "check", "heps", "--select", "PFC004").out

    assert not colored()
    assert colored("--color", "always")
    assert not colored("--color", "never")
    (site / "rocefort.toml").write_text('color = "always"\n')
    monkeypatch.delenv("NO_COLOR")
    assert colored()
    assert not colored("--color", "never")


def test_a_path_starts_at_the_folder_of_the_file(site: Path, rocefort: Rocefort) -> None:
    (site / "rocefort.toml").write_text('connections = "own.yaml"\n')
    (site / "own.yaml").write_text("known_hosts: k\ndevices: []\n")
    done = rocefort("plan", "heps")
    assert (done.code, done.out) == (2, "")
    assert f"{site / 'own.yaml'}: no entry for spine01; add under devices: " in done.err
    (site / "own.yaml").unlink()
    assert rocefort("lab", "cli", "--help").code == 0
    done = rocefort("health", "heps")
    assert done.err == f"rocefort: {site / 'own.yaml'}: no such file; check the path\n"


def test_a_required_option_without_any_is_missing(site: Path, rocefort: Rocefort) -> None:
    done = rocefort("plan", "heps")
    assert done.code == 2
    assert "Missing option '--connections' (env var: 'ROCEFORT_CONNECTIONS')" in done.err


def test_the_file_names_a_service_for_auto(site: Path, rocefort: Rocefort) -> None:
    (site / "rocefort.toml").write_text('batfish = "127.0.0.1:1"\nbatfish_limit = 2.5\n')
    done = rocefort("verify", "heps", "--failures", "none")
    assert done.code == 0
    assert done.err.startswith(
        "engine auto: embedded, and Batfish at 127.0.0.1:1 (limit 2.5 s a question)\n"
    )
    assert "verified by: embedded (no answer of Batfish: 127.0.0.1:1: " in done.words


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            'engine = "embeded"',
            "1:10: engine: 'embeded' cannot be used; did you mean 'embedded'?",
        ),
        ('engine = "fast"', "1:10: engine: 'fast' cannot be used; known here: auto, batfish, "),
        (
            '\nformat="sarif"',
            "2:8: format: 'sarif' cannot be used; known here: json, text",
        ),
        ('conections = "a"', "1:1: conections: unknown key 'conections'; did you mean "),
        ("[batfish]\nhost = 1", "1:10: batfish: a mapping cannot be used; write text"),
        ('batfish = "here"', "1:11: batfish: 'here' is not HOST:PORT; for example: 127.0.0.1:"),
        (
            "batfish_limit = 0",
            "1:17: batfish_limit: 0 is out of range; write a time limit in seconds above 0",
        ),
        ("batfish_limit = true", "1:17: batfish_limit: true and false are no numbers"),
        ('engine = "both', "1:1: not TOML: unterminated string; write each key once: KEY = "),
        ("engine = both", "1:10: not TOML: invalid value; write each key once: KEY = "),
        pytest.param("x = " + 5000 * "[", " nested too deep, or a number is too long", id="deep"),
        pytest.param("x = " + 5000 * "9", " nested too deep, or a number is too long", id="long"),
        ('engine = "both"\nengine = "auto"', "2:1: not TOML: cannot overwrite a value"),
    ],
)
def test_a_broken_file_is_one_error(
    site: Path, rocefort: Rocefort, text: str, sentence: str
) -> None:
    file = site / "rocefort.toml"
    file.write_text(text)
    done = rocefort("rules")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"rocefort: {file}:{sentence}")
    if sentence.startswith(" "):  # it has no line
        assert len(done.err.splitlines()) == 1
        return
    _, row, mark = done.err.splitlines()  # the message, its line of the file, a mark below
    number, column = map(int, sentence.split(":")[:2])
    assert row == f"  {number} | {text.splitlines()[number - 1]}"
    assert mark.index("^") == row.index("|") + 1 + column


def test_help_and_the_version_work_with_a_broken_file(site: Path, rocefort: Rocefort) -> None:
    (site / "rocefort.toml").write_text("engine = ")
    assert rocefort("--version").out.startswith("rocefort ")
    for words in ((), ("lab",), ("verify",), ("rdma", "run")):
        assert rocefort(*words, "--help").out.startswith("Usage: ")


def test_help_names_the_variable(rocefort: Rocefort) -> None:
    words = rocefort("plan", "--help").words
    assert "[env var: ROCEFORT_CONNECTIONS; required]" in words


def test_a_current_directory_that_is_gone_is_one_error(
    tmp_path: Path, rocefort: Rocefort, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    done = rocefort("rules")
    assert (done.code, done.out) == (2, "")
    assert done.err == ("rocefort: the current directory does not exist; change to one that does\n")


def test_the_schema_accepts_the_example_and_refuses_an_unknown_key(tmp_path: Path) -> None:
    schema = json.loads(settings_schema())
    example = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
    (tmp_path / "rocefort.toml").write_text(example)
    data = read_toml(tmp_path / "rocefort.toml").data
    assert list(refused(schema, data)) == []
    assert data == {
        "connections": "connections.yaml",
        "engine": "both",
        "batfish": "batfish.example.org:9996",
    }
    assert list(refused(schema, {"conections": "a"})) != []
