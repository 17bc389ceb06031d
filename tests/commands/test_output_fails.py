"""Output, standard error and the temporary folder may each fail: one sentence, and no secret."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import typer

from rocefort.base.internal_errors import described, traceback_hint
from rocefort.base.output import lasting_output
from rocefort.base.secret_masking import remember

ROCEFORT = Path(sys.executable).with_name("rocefort")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("rules >&-", 0),
        ("check heps 2>&-", 0),
        ("check nowhere <&- >&- 2>&-", 2),
        ("new --help >&- 2>&-", 0),
        ("check heps --progress json 2>/dev/full", 0),
        ("-v check heps 2>/dev/full", 0),
        ("check heps --format json >&-", 0),
        ("new nowhere <&- >&-", 2),
    ],
)
def test_a_command_works_with_closed_streams(words: str, code: int, tmp_path: Path) -> None:
    """A process of a daemon or of cron has none; the next file would get the number of one."""
    done = subprocess.run(
        ["/bin/sh", "-c", f"{ROCEFORT} {words}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert "internal error" not in done.stderr + done.stdout


def test_a_full_disk_under_the_output_is_one_sentence() -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device, not a path of ours
        done = subprocess.run(
            [ROCEFORT, "rules"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.stderr == "rocefort: output cannot be written: No space left on device\n"
    assert done.returncode == 3


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])  # click goes another way with the second
def test_output_that_nobody_reads_goes_silent_and_says_so_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w", encoding=encoding) as pipe:  # noqa: PTH123 - a descriptor
        monkeypatch.setattr(sys, "stdout", pipe)
        with lasting_output("`rocefort status plan.json` shows it"):
            for _ in range(3):
                typer.echo("wave 1")
        assert sys.stdout is pipe
    assert capsys.readouterr().err == (
        "rocefort: output cannot be written: Broken pipe; `rocefort status plan.json` shows it\n"
    )


def test_a_closed_standard_output_is_written_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with lasting_output("the journal has it"):
        typer.echo("wave 1")


@pytest.mark.parametrize("text", ["leaf\N{LATIN SMALL LETTER E WITH ACUTE}", "a file \udcff"])
def test_what_the_encoding_of_the_output_lacks_is_spelled_out(
    text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with (tmp_path / "out").open("w", encoding="ascii") as ascii_only:
        monkeypatch.setattr(sys, "stdout", ascii_only)
        with lasting_output("the journal has it"):
            typer.echo(text)
            typer.echo("wave 2")
    first, second = (tmp_path / "out").read_text().splitlines()
    assert (first, second) == (text.encode("ascii", "backslashreplace").decode(), "wave 2")


def test_no_descriptor_and_no_standard_error_are_needed_to_go_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as pipe:  # noqa: PTH123 - a descriptor
        monkeypatch.setattr(sys, "stdout", pipe)
        monkeypatch.setattr(sys, "stderr", None)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with lasting_output("the journal has it"):
            free = os.dup(writer)
            os.close(free)
            resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
            try:
                typer.echo("wave 1")
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_stream_that_was_closed_meanwhile_is_silent(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with (tmp_path / "out").open("w") as file:
        monkeypatch.setattr(sys, "stdout", file)
        with lasting_output("the journal has it"):
            file.close()
            typer.echo("wave 1")
    assert capsys.readouterr().err == (
        "rocefort: output cannot be written: I/O operation on closed file; the journal has it\n"
    )


class Mute(Exception):  # noqa: N818 - as a library may call its own
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize("error", [Mute(), OSError("no file \udcff"), RecursionError()])
def test_no_error_is_such_that_telling_it_fails(error: Exception) -> None:
    """Neither its own text, nor what that holds, gets a raw traceback out."""
    described(error).encode()
    file = Path(traceback_hint(error).removeprefix("please report it with "))
    assert type(error).__name__ in file.read_text()
    file.unlink()


def test_a_traceback_that_cannot_be_kept_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """No temporary folder is writable: the error is one line, with its secret masked."""
    remember("c4nary-of-output")
    error = RuntimeError("login with c4nary-of-output\nfailed")

    def nowhere(*_: object, **__: object) -> None:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", nowhere)
    assert described(error) == "RuntimeError: login with <removed> failed"
    assert traceback_hint(error) == (
        "its traceback could not be kept: No usable temporary directory found"
    )


def test_a_traceback_is_kept_without_its_secret() -> None:
    remember("c4nary-of-output")
    said = traceback_hint(RuntimeError("login with c4nary-of-output"))
    file = Path(said.removeprefix("please report it with "))
    assert "RuntimeError: login with <removed>" in file.read_text()
    assert "c4nary" not in file.read_text()
    file.unlink()


def test_no_word_can_be_printed_and_the_exit_code_tells() -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        done = subprocess.run([ROCEFORT, "check", "nowhere"], stderr=full, check=False)
    assert done.returncode == 2
