"""No text from outside acts on a terminal or hides in an output: payloads x sources x outputs."""

from __future__ import annotations

import io
import json
import logging
import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from pydantic import BaseModel

from napalm_cloudengine.text import quotable
from rocefort import tasks
from rocefort.base import json_output, output
from rocefort.base.command_line.verbosity import _formatter
from rocefort.base.errors import BadInput, Problem
from rocefort.base.internal_errors import described
from rocefort.base.live_line import ERASE_REST, LiveLine
from rocefort.base.streams import VisibleOutput, visible_streams
from rocefort.models.finding import Finding, Report, Severity, Where
from rocefort.reports.blocks import (
    Block,
    Code,
    CollapsibleSection,
    Items,
    Note,
    Section,
    Table,
    Tone,
    columns,
)
from rocefort.reports.formats.ci_reports import as_junit, problems_junit, problems_sarif
from rocefort.reports.output import write_blocks
from rocefort.reports.problem_results import ProblemOutput, ProblemsOutput
from rocefort.reports.writers import terminal
from rocefort.reports.writers.markdown import markdown_of
from rocefort.reports.writers.pages import html_of

PAYLOADS = {
    "CSI": "\x1b[2J",
    "colour": "\x1b[31m",
    "C1 CSI": "\x9b2J",
    "OSC 8": "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
    "OSC 52": "\x1b]52;c;eA==\x07",
    "C1 OSC": "\x9d52;c;eA==\x9c",
    "BEL": "\x07",
    "backspace": "abc\x08\x08\x08",
    "CR": "bad\rgood",
    "DEL": "\x7f",
    "NEL": "a\x85b",
    "bidi override": "\u202egnp.exe",
    "bidi isolate": "\u2066x\u2069",
    "Arabic mark": "\u061c",
    "zero width": "a\u200bb\u200d\u2060",
    "BOM": "\ufeff",
    "soft hyphen": "a\u00adb",
    "separators": "a\u2028b\u2029c",
    "variation": "a\ufe0f\U000e0100",
    "tag": "\U000e0041\U000e007f",
    "surrogate": "\udc9b",
}
LEGIT = "存储网络 Prüfstand ─│█ é e\u0301 \U0001f600 naïve 東京"
OWN = re.compile(r"\x1b\[[0-9;]*m")


def raw(text: str) -> list[str]:
    """Return the characters that act on a terminal, or that no one sees; independent of the sink."""
    extra = "\u034f\u115f\u1160\u3164\uffa0"
    return [
        char
        for char in text
        if (unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in "\n\t")
        or "\ufe00" <= char <= "\ufe0f"
        or "\U000e0000" <= char <= "\U000e0fff"
        or char in extra
    ]


class Described(BaseModel):
    """A result with a text from outside."""

    text: str


def _blocks(text: str) -> tuple[Block, ...]:
    return (
        Note(text),
        Items((text, "b"), (text,)),
        Code((text,)),
        Table(columns(text, "b"), ((text, 1),)),
        CollapsibleSection(text, (Note(text),)),
        Section(text, (Note(text),), lead=text, badge=text),
    )


def _echoed(write: Callable[[], object]) -> str:
    """Return what a function writes to both streams, as they are in `rocefort`."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
    try:
        with visible_streams():
            write()
        return sys.stdout.getvalue() + sys.stderr.getvalue()
    finally:
        sys.stdout, sys.stderr = before


def _progress(text: str) -> str:
    drawn: list[str] = []
    line = LiveLine(drawn.append)
    line.draw(text, 0.5)
    line.clear()
    return "".join(drawn).replace("\r", "").replace(ERASE_REST, "")


def _logged(text: str) -> str:
    record = logging.makeLogRecord({"msg": "read %s", "args": (text,), "levelname": "INFO"})
    return _formatter("%(message)s").format(record)


def _problems(text: str) -> ProblemsOutput:
    problem = ProblemOutput(file=text, line=1, column=1, subject=text, what=text, how=text)
    return ProblemsOutput(exit_code=2, problems=(problem,))


def _report(text: str) -> Report:
    finding = Finding(
        rule="PFC004",
        severity=Severity.ERROR,
        where=Where(
            device="leaf01",
        ),
        message=text,
        hint=text,
    )
    return Report(network="heps", rules=("PFC004",), findings=(finding,))


SINKS: dict[str, Callable[[str], str]] = {
    "terminal": lambda t: _echoed(lambda: write_blocks(*_blocks(t))),
    "terminal in colour": lambda t: OWN.sub("", terminal.text_of(*_blocks(t), colour=True)),
    "narrow terminal": lambda t: terminal.text_of(*_blocks(t), width=30),
    "echo": lambda t: _echoed(lambda: click.echo(t)),
    "stream": lambda t: _echoed(lambda: sys.stderr.writelines([t, t])),
    "note": lambda t: _echoed(lambda: output.write_note(t)),
    "error": lambda t: _echoed(
        lambda: output.print_error(output.text_of_error(BadInput(t, where=t, file=t)))
    ),
    "HTML": lambda t: str(html_of(*_blocks(t))),
    "Markdown": lambda t: markdown_of(*_blocks(t)),
    "short Markdown": lambda t: markdown_of(*_blocks(t * 50), limit=3000),
    "problems as JSON": lambda t: json_output.json_text(_problems(t)),
    "problems as SARIF": lambda t: _echoed(lambda: click.echo(problems_sarif(_problems(t)))),
    "problems as JUnit": lambda t: problems_junit(_problems(t)),
    "JUnit": lambda t: as_junit(_report(t), ()),
    "log": _logged,
    "progress": _progress,
    "internal error": lambda t: described(ValueError(t)),
    "message of the driver": quotable,
}


def _sources(text: str) -> Iterator[tuple[str, str]]:
    """Return positions of a foreign text in a sentence: alone, as a name, quoted, in an error."""
    yield "alone", text
    yield "name", f"leaf{text}01"
    yield "quoted line", f"`frobnicate {text} x`: unknown"
    yield "problem", str(Problem(text, f"no value {text}", "", f"{text}.yaml", 3))


@pytest.mark.parametrize("sink", SINKS)
def test_no_payload_passes_a_sink(sink: str) -> None:
    printed = 0
    for name, payload in PAYLOADS.items():
        for source, text in _sources(payload):
            got = SINKS[sink](text)
            assert not raw(got), (sink, name, source, raw(got))
            printed += 1
    assert printed >= 4 * (len(PAYLOADS) - 1)


@pytest.mark.parametrize("sink", [s for s in SINKS if s not in {"progress", "short Markdown"}])
def test_other_text_stays(sink: str) -> None:
    got = SINKS[sink](f"x{LEGIT}")
    for word in LEGIT.split():
        assert word in got or json.dumps(word)[1:-1] in got  # SARIF is ASCII


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_json_keeps_the_value(payload: str) -> None:
    text = _echoed(lambda: output.write_json(Described(text=payload)))
    assert not raw(text)
    assert json.loads(text)["text"] == payload


# Payloads that a configuration may hold: others make it a binary file, which is an error.
IN_FILES = "".join(
    p for n, p in PAYLOADS.items() if n not in {"BEL", "OSC 52", "CR", "DEL", "surrogate"}
)
CONFIG = (
    f"#\nsysname leaf01{IN_FILES}\n#\nvlan batch 10\n#\ninterface 100GE1/0/1\n"
    f" description to {IN_FILES} x\n frobnicate {IN_FILES} x\n#\nfrobnicate {IN_FILES} y\n#\nreturn\n"
)


def _run(*words: str, cwd: Path) -> str:
    """Return all that a command prints, with its log."""
    log = cwd / "log"
    done = subprocess.run(
        [sys.executable, "-m", "rocefort", "--log-file", str(log), *words],
        cwd=cwd,
        capture_output=True,
        check=False,
    )
    assert done.returncode in (0, 1, 2), done.stderr
    logged = log.read_text("utf-8") if log.exists() else ""
    return done.stdout.decode("utf-8") + done.stderr.decode("utf-8") + logged


def _configs(folder: Path) -> Path:
    directory = folder / "configs"
    directory.mkdir()
    (directory / "leaf\u202e\x9b01\x07\udcff.cfg").write_text(CONFIG, "utf-8")
    return directory


FORMATS = (
    "text",
    pytest.param("json", marks=pytest.mark.thorough),
    pytest.param("sarif", marks=pytest.mark.thorough),
    pytest.param("junit", marks=pytest.mark.thorough),
    pytest.param("markdown", marks=pytest.mark.thorough),
)


@pytest.mark.parametrize("form", FORMATS)
def test_a_hostile_configuration_is_visible(tmp_path: Path, form: str) -> None:
    printed = _run("check", "--configs", str(_configs(tmp_path)), "--format", form, cwd=tmp_path)
    assert not raw(printed)
    assert "\\u202e" in printed


@pytest.mark.parametrize("form", FORMATS)
def test_a_hostile_fabric_is_visible(tmp_path: Path, form: str) -> None:
    file = tmp_path / "fab\u202e\x1b[2J.yaml"
    file.write_text(
        'fabric: "a\\u202E\\u009B"\n"k\\u202E\\x1b": 1\nspines: [{name: "\\x9bx\\u200b"}]\n',
        "utf-8",
    )
    printed = _run("check", str(file), "--format", form, cwd=tmp_path)
    assert not raw(printed)
    assert "\\u202e" in printed


def test_a_bad_option_is_visible(tmp_path: Path) -> None:
    printed = _run("check", "--no\u202e\x9b", "x\x1b[2J", cwd=tmp_path)
    assert not raw(printed)


def test_streams_are_restored() -> None:
    before = sys.stdout, sys.stderr
    with visible_streams(), visible_streams():
        assert isinstance(sys.stdout, VisibleOutput)
    assert (sys.stdout, sys.stderr) == before
    assert tasks.cli is not None


def test_own_colours_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    shown = _echoed(lambda: write_blocks(Section("good", tone=Tone.GOOD)))
    assert OWN.search(shown)
    assert "good" in shown
