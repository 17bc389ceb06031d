"""Progress of commands: events of each, and the display on a real terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from batfish_server import HOST, answering
from outputs import refusals
from progress_events import steps_of

from rocefort.base.progress import ProgressEvent, reported_to
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.subject import subject_of_derived
from rocefort.emulator.emulated_site import rehearse
from rocefort.validators.batfish.snapshot import CHECK_QUESTIONS, collect_checks

Rocefort = Callable[..., Any]
ROCEFORT = Path(sys.executable).with_name("rocefort")
SIDE = ["derive", "render", "read back"]


def events_of(done: Any) -> list[dict[str, Any]]:
    """Events on standard error, which fit the schema; other lines are notes."""
    events = [json.loads(line) for line in done.err.splitlines() if line.startswith("{")]
    assert [refusals("progress", event) for event in events] == [[]] * len(events)
    return events


@pytest.mark.parametrize(
    ("words", "steps"),
    [
        ("check heps", [*SIDE, "rules"]),
        ("verify heps", [*SIDE, "routing", "failures"]),
        ("verify heps --failures sample:50", [*SIDE, "routing", "failures"]),
        (
            "verify heps --against HEAD:heps --failures none",
            [*SIDE, *SIDE, "routing", "earlier state", "earlier state: routing"],
        ),
        ("report heps --out out", [*SIDE, "routing", "failures", "places", "page", "page: rules"]),
        ("render heps --out out", SIDE),
        ("capacity heps", [*SIDE, "routing", "failures"]),
    ],
)
def test_events_of_a_command_are_nested_and_complete(
    words: str, steps: list[str], rocefort: Rocefort, tmp_path: Path
) -> None:
    words = words.replace("--out out", f"--out {tmp_path / 'out'}")
    done = rocefort(*words.split(), "--progress=json")
    events = events_of(done)
    found = steps_of(events)
    assert [name for name in dict.fromkeys(found) if name in steps] == list(dict.fromkeys(steps))
    assert {event["command"] for event in events} == {words.split()[0]}
    quiet = rocefort(*words.split(), "--progress=none")
    assert (quiet.out, quiet.code) == (done.out, done.code)
    assert events_of(quiet) == []


def test_a_review_reports_both_sides(rocefort: Rocefort, clone: Any, tmp_path: Path) -> None:
    clone.edit(("xoff_kbytes: 600", "xoff_kbytes: 640"))
    done = rocefort("review", "--out", tmp_path / "out", "--progress=json")
    found = steps_of(events_of(done))
    fabric = "inventory/heps/fabric.yaml"
    for name in ("compare", "read back", "routing", "failures", "rules", "lines"):
        assert f"{fabric}: {name}" in found
    sides = [name for name in found if name.endswith(": derive")]
    assert len(sides) == 2
    assert found[-1] == "pages"


def test_an_interrupted_step_ends_before_its_total(rocefort: Rocefort, heps_file: Path) -> None:
    pytest.importorskip("pybatfish", reason="pip install 'rocefort[batfish]'")
    with answering(silent) as port:
        words = ("--batfish", f"{HOST}:{port}", "--batfish-limit", "0.5", "--progress=json")
        done = rocefort("verify", heps_file, *words)
    events = events_of(done)
    found = steps_of(events, interrupted=True)
    assert found[-3:] == ["Batfish", "Batfish: version", "failures"]
    (note,) = (event for event in events if event["phase"] == "note")
    assert note["detail"].startswith(f"no answer of Batfish: {HOST}:{port}: ")
    assert [event["limit_s"] for event in events if event["step"] == "version"] == [0.5, 0.5]


def test_switches_that_start_or_are_read_are_counted(
    rocefort: Rocefort, heps: DerivedNetwork, tmp_path: Path
) -> None:
    started: list[ProgressEvent] = []
    subject = subject_of_derived(heps)
    with ExitStack() as lab:
        with reported_to(started.append):
            running = lab.enter_context(rehearse(subject.network, subject.texts, tmp_path / "lab"))
        assert (started[-1].step, started[-1].phase, started[-1].done) == ("start", "end", 10)
        access = ("--connections", running.file, "--progress=json")
        devices = ("--device", "leaf03", "--device", "leaf04")
        health = events_of(rocefort("health", "heps", *access, *devices))
        plan = events_of(rocefort("plan", "heps", *access, "--out", tmp_path / "plan.json"))
    assert steps_of(health) == ["derive", "devices", "routing", "rules"]
    assert steps_of(plan)[:3] == ["derive", "devices", "devices"]
    ends = [e for e in (*health, *plan) if (e["step"], e["phase"]) == ("devices", "end")]
    assert [event["done"] for event in ends] == [2, 10, 10, 10]


def test_the_number_of_questions_for_checks_is_right() -> None:
    asked: list[str] = []

    def ask(question: str, **_parameters: object) -> list[Any]:
        asked.append(question)
        return []

    collect_checks(ask)
    assert len(asked) == CHECK_QUESTIONS


def silent(connection: socket.socket) -> None:
    connection.recv(65536)
    time.sleep(30)


class Terminal:
    """Command whose standard error and input are a terminal of its own."""

    def __init__(self, port: int, columns: int = 80, **environment: str) -> None:
        self.written = b""
        own = {"COLUMNS", "NO_COLOR", "ROCEFORT_PROGRESS"}
        inherited = {name: value for name, value in os.environ.items() if name not in own}
        environment = {**inherited, "TERM": "xterm", **environment}
        words = [str(ROCEFORT), "verify", "heps", "--batfish", f"{HOST}:{port}"]
        self._reader, writer = os.pipe()
        self.process, self._main = pty.fork()
        if not self.process:
            os.dup2(writer, 1)
            os.execve(ROCEFORT, words, environment)
        os.close(writer)
        fcntl.ioctl(self._main, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def until(self, text: bytes) -> None:
        """Read until the terminal got a text."""
        before = time.monotonic()
        while text not in self.written:
            assert time.monotonic() - before < 60, self.written
            self._read()

    def _read(self) -> bool:
        if not select.select([self._main], [], [], 1)[0]:
            return True
        try:
            self.written += os.read(self._main, 4096)
        except OSError:  # its last process has ended
            return False
        return True

    def press(self, keys: bytes) -> None:
        os.write(self._main, keys)

    def end(self) -> tuple[int, str]:
        """Exit code and standard output."""
        while self._read():
            pass
        _, status = os.waitpid(self.process, 0)
        with open(self._reader, encoding="utf-8") as out:  # noqa: PTH123 - a descriptor
            text = out.read()
        os.close(self._main)
        return os.waitstatus_to_exitcode(status), text

    @property
    def drawn(self) -> list[str]:
        """Every state of the line that is drawn again."""
        plain = re.sub(r"\x1b\[[0-9;]*m", "", self.written.decode())
        return [part.rstrip() for part in re.findall(r"\r([^\r\n]+)\x1b\[K", plain)]

    @property
    def screen(self) -> list[str]:
        """Lines at the end; the only control sequences are colors and `erase to the right`."""
        plain = re.sub(r"\x1b\[[0-9;]*m", "", self.written.decode())
        lines, column = [""], 0
        for part in re.findall(r"\r\n|\r|\x1b\[K|[^\r\x1b]+", plain):
            if part == "\r\n":
                lines, column = [*lines, ""], 0
            elif part == "\r":
                column = 0
            elif part == "\x1b[K":
                lines[-1] = lines[-1][:column]
            else:
                lines[-1] = lines[-1][:column] + part + lines[-1][column + len(part) :]
                column += len(part)
        assert "\x1b" not in "".join(lines)
        return lines


def test_a_live_line_on_a_terminal_is_removed_before_the_result() -> None:
    pytest.importorskip("pybatfish", reason="pip install 'rocefort[batfish]'")
    with answering(silent) as port:
        terminal = Terminal(port)
        terminal.until(b"limit 5 s), ")
        code, out = terminal.end()
    announced = f"engine auto: embedded, and Batfish at {HOST}:{port} (limit 600 s a question)"
    assert terminal.screen == [announced, ""]
    question = re.compile(r"verify: Batfish: version \(\d s, limit 5 s\), \d+ s")
    assert any(map(question.fullmatch, terminal.drawn)), terminal.drawn
    assert code == 0
    assert "\x1b" not in out
    assert "server pairs delivered by every path: 124 of 124 that the policy allows\n" in out


def test_ctrl_c_leaves_a_clean_terminal() -> None:
    with answering(silent) as port:
        terminal = Terminal(port, NO_COLOR="1")
        terminal.until(b"limit 5 s), ")
        before = terminal.written
        terminal.press(b"\x03")
        code, out = terminal.end()
    assert (code, out) == (130, "")
    assert terminal.screen[1:] == ["rocefort: interrupted before its end", ""]
    assert b"\x1b[?25l" not in terminal.written  # the cursor stays
    assert b"m" not in b"".join(re.findall(rb"\x1b\[[0-9;]*([A-Za-z])", before))


def test_a_narrow_terminal_gets_one_line() -> None:
    with answering(silent) as port:
        terminal = Terminal(port, columns=30)
        terminal.until(b"version (")
        terminal.press(b"\x03")
        terminal.end()
    assert terminal.drawn
    assert max(map(len, terminal.drawn)) <= 29
    assert terminal.drawn[-1].startswith("verify: Batfish: version")


def test_a_dumb_terminal_gets_no_control_sequence() -> None:
    with answering(silent) as port:
        terminal = Terminal(port, TERM="dumb")
        terminal.until(b"engine auto")
        time.sleep(2)  # a live line would be there
        terminal.press(b"\x03")
        terminal.end()
    assert b"\x1b" not in terminal.written
    assert terminal.screen[-2:] == ["^Crocefort: interrupted before its end", ""]


@pytest.mark.parametrize(("kind", "to"), [("auto", "2>&-"), ("json", "2>/dev/full")])
def test_a_lost_standard_error_changes_no_result(kind: str, to: str) -> None:
    command = f"{ROCEFORT} check heps --format json --progress {kind} {to}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["network"] == "heps"


def test_a_setting_and_a_variable_choose_the_display(
    rocefort: Rocefort, clone: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ROCEFORT_PROGRESS")
    (clone.top / "rocefort.toml").write_text('progress = "json"\n')
    assert steps_of(events_of(rocefort("check", "heps")))
    monkeypatch.setenv("ROCEFORT_PROGRESS", "none")
    assert rocefort("check", "heps").err == ""
    assert steps_of(events_of(rocefort("check", "heps", "--progress=json")))


def test_a_signal_that_kills_leaves_the_cursor() -> None:
    with answering(silent) as port:
        terminal = Terminal(port)
        terminal.until(b"limit 5 s), ")
        os.kill(terminal.process, signal.SIGKILL)
        code, _ = terminal.end()
    assert code == -signal.SIGKILL
    assert b"\x1b[?25l" not in terminal.written
