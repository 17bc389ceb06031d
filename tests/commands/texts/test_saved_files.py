"""Files as people keep them: every form gives the findings of the plain text, every file a note.

Oxidized: `lib/oxidized/model/vrp.rb` (comments `# `, no line with `uptime`, `display device`).
RANCID: a comment with the content type, lines with a secret turned into comments.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.subject import read_directory, subject_of_texts
from rocefort.dialects.network_text import render_all
from rocefort.validators.checks import check

Rocefort = Callable[..., Any]
SWITCHES = ("leaf01", "spine01")
VERSION = """\
Huawei Versatile Routing Platform Software
VRP (R) software, Version 8.220 (CE8850EI V200R022C00SPC500)
Copyright (C) 2012-2022 Huawei Technologies Co., Ltd.
HUAWEI CE8850-64CQ-EI uptime is 70 days, 0 hour, 3 minutes
Patch Version: V200R022SPH110
"""
DEVICE = """\
CE8850-64CQ-EI's Device status:
--------------------------------------------------------------------------------
Slot  Card   Type                     Online   Power Register     Alarm     Primary
--------------------------------------------------------------------------------
1     -      CE8850-64CQ-EI           Present  On    Registered   Normal    Master
--------------------------------------------------------------------------------
"""
LLDP = """\
Local Interface         Exptime(s) Neighbor Interface      Neighbor Device
-------------------------------------------------------------------------------
100GE1/0/57                    96  100GE1/1/1              spine01
"""
CIPHER = re.compile(r"^( *)(\S.*) (\S*%\^%#\S*)$", re.MULTILINE)

Form = Callable[[str, str], tuple[str, bytes]]  # (sysname, text) -> file name, content


def comments(text: str, mark: str) -> str:
    """Write lines as comments."""
    return "".join(f"{mark}{line}\n" for line in text.splitlines())


def oxidized(name: str, text: str) -> tuple[str, bytes]:
    """Write a file of Oxidized, which removes the line of the uptime."""
    version = "\n".join(line for line in VERSION.splitlines() if "uptime" not in line)
    return name, (comments(version, "# ") + comments(DEVICE, "# ") + text).encode()


def oxidized_secrets(name: str, text: str) -> tuple[str, bytes]:
    """Write a file of Oxidized with `remove_secret: true`; the name is one of the DNS."""
    file, content = oxidized(name, text)
    return f"{file}.example.net", CIPHER.sub(r"\1\2 <secret hidden>", content.decode()).encode()


def rancid(name: str, text: str) -> tuple[str, bytes]:
    """Write a file of RANCID."""
    head = "!RANCID-CONTENT-TYPE: huawei\n!\n" + comments(VERSION, "!") + comments(DEVICE, "!")
    return name, (head + CIPHER.sub(r"!\1\2 <removed>", text)).encode()


def session(name: str, text: str) -> tuple[str, bytes]:
    """Write a log of a terminal with several outputs; the last ones are of other views."""
    lines = (
        "Warning: The initial password poses security risks.\n"
        f"Info: The max number of VTY users is 5.\n<{name}>screen-length 0 temporary\n"
        f"<{name}>display version\n{VERSION}<{name}>dis dev\n{DEVICE}"
        f"<{name}>display current-configuration\n{text}<{name}>sys\n"
        f"Enter system view, return user view with return command.\n[~{name}]int 100GE1/0/57\n"
        f"[~{name}-100GE1/0/57]dis lldp nei b\n{LLDP}[~{name}-100GE1/0/57]return\n<{name}>quit\n"
    )
    return f"putty-{name}.log", lines.replace("\n", "\r\n").encode()


def twice(name: str, text: str) -> tuple[str, bytes]:
    """Write a log in which the configuration is before and after a change."""
    before = text.replace("lldp enable\n", "")
    lines = (
        f"<{name}>display version\n{VERSION}<{name}>display saved-configuration\n{before}"
        f"<{name}>display current-configuration all\n{before}"
        f"<{name}>dis cu | no-more\n{text}<{name}>display device\n{DEVICE}"
    )
    return f"{name}.txt", lines.encode("utf-16")


def above(name: str, text: str) -> tuple[str, bytes]:
    """Write outputs above and below a configuration, without prompts."""
    return f"{name}.cfg", f"{VERSION}{text}{DEVICE}".encode()


FORMS: dict[str, Form] = {
    "Oxidized": oxidized,
    "Oxidized without secrets": oxidized_secrets,
    "RANCID": rancid,
    "session": session,
    "two configurations": twice,
    "without prompts": above,
}

IOS = "!RANCID-CONTENT-TYPE: cisco\n!\nversion 15.2\nservice timestamps debug\nhostname core1\n"
COMWARE = "#\n version 7.1.070, Release 2710\n#\n sysname sw1\n#\n irf member 1 priority 1\n"


@pytest.fixture(scope="module")
def texts(heps: DerivedNetwork) -> dict[str, str]:
    every = render_all(heps.network)
    return {name: every[name] for name in SWITCHES}


def _plain(directory: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        (directory / f"{name}.cfg").write_text(text)
        (directory / f"{name}.txt").write_text(f"<{name}>display version\n{VERSION}")


def _kept(directory: Path, texts: Mapping[str, str], form: str) -> None:
    for name, text in texts.items():
        file, content = FORMS[form](name, text)
        (directory / file).write_bytes(content)


def _findings(directory: Path) -> list[tuple[str, ...]]:
    """Findings and verdicts without their files, and the content of the lines that they name."""
    try:
        subject = subject_of_texts(directory)
    except BadInput as error:  # wrapped lines have other numbers
        return sorted(("refused", re.sub(r"line \d+", "line N", p.what)) for p in error.problems)
    report = check(subject.network, subject.sources)
    verdicts = [(f.rule, f.where.device, f.where.interface, f.message) for f in report.findings]
    verdicts += [(n.rule, n.where.device, n.where.interface, n.reason) for n in report.not_judged]
    names = {str(path) for path in directory.iterdir()}
    return sorted(
        tuple(re.sub("|".join(map(re.escape, names)), "FILE", str(part)) for part in row)
        for row in verdicts
    )


@given(st.data(), st.sampled_from(sorted(FORMS)))
def test_every_form_gives_the_findings_of_the_plain_text(
    texts: dict[str, str], data: st.DataObject, form: str
) -> None:
    """Law: a wrapped text, with a line of it removed, is judged, or refused, as the text itself."""
    lines = texts["leaf01"].splitlines(keepends=True)
    kept = ("#\n", "return\n", "sysname leaf01\n", "lldp enable\n")
    removable = [number for number, line in enumerate(lines) if line not in kept]
    number = data.draw(st.sampled_from(removable))
    changed = texts | {"leaf01": "".join(lines[:number] + lines[number + 1 :])}
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        _plain(Path(one), changed)
        _kept(Path(other), changed, form)
        (plain, wrapped) = (_findings(Path(each)) for each in (one, other))
        if form == "session":  # its LLDP adds evidence
            plain, wrapped = (
                [row for row in rows if row[0][:3] != "TOP"] for rows in (plain, wrapped)
            )
        assert wrapped == plain


@pytest.mark.parametrize("form", FORMS)
def test_lines_of_findings_are_those_of_the_file(
    texts: dict[str, str], tmp_path: Path, form: str
) -> None:
    changed = {
        name: text.replace("lldp enable\n", "lldp enable\nfrobnicate\n")
        for name, text in texts.items()
    }
    _kept(tmp_path, changed, form)
    subject = subject_of_texts(tmp_path)
    unknown = [f for f in check(subject.network, subject.sources).findings if f.rule == "TXT002"]
    assert [f.where.device for f in unknown] == list(SWITCHES)
    for finding in unknown:
        data = Path(finding.where.file or "").read_bytes()
        lines = data.decode("utf-16" if data[:2] == b"\xff\xfe" else "utf-8").splitlines()
        assert lines[(finding.where.line or 0) - 1] == "frobnicate"


@pytest.mark.parametrize("form", FORMS)
def test_facts_of_an_archive_are_those_of_the_switch(
    texts: dict[str, str], tmp_path: Path, form: str
) -> None:
    _kept(tmp_path, texts, form)
    for node in subject_of_texts(tmp_path).network.nodes:
        assert node.hardware is not None
        assert (node.hardware.model, node.software) == ("CE8850-64CQ-EI", "V200R022C00SPC500")


@pytest.mark.parametrize("form", ["Oxidized without secrets", "RANCID"])
def test_secrets_that_a_tool_took_out_count_as_set(
    texts: dict[str, str], tmp_path: Path, form: str
) -> None:
    cipher = "%^%#Q2b$xyz%^%#"
    text = re.sub(
        r"( peer \S+) as-number .*\n", rf"\g<0>\1 password cipher {cipher}\n", texts["leaf01"]
    )
    text = text.replace("aaa\n", f"aaa\n local-user ops password irreversible-cipher {cipher}\n", 1)
    assert text.count(cipher) > 1
    (tmp_path / "plain.cfg").write_text(text)
    (plain,) = read_directory(tmp_path).configs
    plain.path.unlink()
    _kept(tmp_path, {"leaf01": text}, form)
    (config,) = read_directory(tmp_path).configs
    assert cipher not in config.text
    assert config.parsed.device == plain.parsed.device
    unmodelled = ([line.text for line in each.parsed.unmodelled] for each in (plain, config))
    assert next(unmodelled) == next(unmodelled)


def test_a_banner_is_no_prompt(texts: dict[str, str], tmp_path: Path) -> None:
    banner = 'header login information "\n<leaf01>keep out\n[b]display nothing\n"\n'
    text = texts["leaf01"].replace("lldp enable\n", f"{banner}lldp enable\n")
    (tmp_path / "leaf01").write_text(text)
    saved = read_directory(tmp_path)
    (config,) = saved.configs
    assert (config.text, config.parsed.device.lldp, saved.notes) == (text, True, ())


def test_one_log_of_two_switches_is_two_configurations(
    texts: dict[str, str], tmp_path: Path
) -> None:
    log = b"".join(session(name, text)[1] for name, text in texts.items())
    (tmp_path / "today.log").write_bytes(log)
    saved = read_directory(tmp_path)
    assert {config.parsed.device.name for config in saved.configs} == set(SWITCHES)
    assert {file.device for file in saved.displays} == set(SWITCHES)
    assert saved.notes == ()


NOTES = [
    ("README.md", b"# Configurations\n\nSaved each night.\n", ["not read: no sysname, so this is "]),
    ("example.md", b"Begin with\nsysname leaf77\nand go on.\nDone.\n", ["not read: most of "]),
    ("quote.md", b"Begin with\n\n    sysname leaf77\n", ["not read: no sysname, so this is "]),
    ("core1", IOS.encode(), ["not read: this looks like Cisco IOS (`service timestamps debug`), "]),
    ("sw1", COMWARE.encode(), ["not read: this looks like H3C Comware ("]),
    ("config.tar.gz", b"\x1f\x8b\x08\x00", ["not read: a binary file (byte 0x1F)"]),
    ("leaf01.cfg.bak", b"SAME", ["not read: sysname leaf01 is also that of "]),
    ("leaf01-ping.log", b"<leaf01>ping 10.0.0.1\nReply\n<leaf01>dis clock\n12:00\n", [
        "not read: the output of `dis clock` (line 3)"]),
    ("more.txt", b"<leaf01>display clock\n12:00\n<leaf01>display patch-information\nnone\n", [
        "not read: the output of `display clock` (line 1) and the output of `display "
        "patch-information` (line 3)"]),
    ("leaf99.lldp", LLDP.encode(), ["not used, for no configuration of leaf99 is here"]),
    (".gitignore", b"*.bak\n", []),
    ("leaf01.lldp", LLDP.encode(), []),
    ("device.log", f"<leaf01>display device\n{DEVICE}".encode(), []),
    ("empty.swp", b"", ["not read: an empty file"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "notes"), NOTES, ids=[row[0] for row in NOTES])
@pytest.mark.parametrize(
    "command", ["check --configs", "verify --engine embedded --configs", "import"]
)
def test_a_file_that_is_not_read_is_one_note(
    rocefort: Rocefort,
    heps: DerivedNetwork,
    tmp_path: Path,
    name: str,
    content: bytes,
    notes: list[str],
    command: str,
) -> None:
    configs = tmp_path / "configs"
    configs.mkdir()
    for switch, text in render_all(heps.network).items():
        (configs / f"{switch}.cfg").write_text(text)
        if name == f"{switch}.cfg.bak":
            content = text.encode()
    (configs / name).write_bytes(content)
    (configs / "old").mkdir()
    words = [*command.split(), configs]
    done = rocefort(*words, *(["--out", tmp_path / "site"] if command == "import" else []))
    shown = " ".join((done.out + done.err).split())
    assert shown.count(f"{configs / name}: ") == len(notes)
    for note in notes:
        assert f"{configs / name}: {note}" in shown
    assert shown.count(f"{configs / 'old'}: not read: not a file") == 1


@pytest.mark.parametrize(
    "command",
    ["check --configs", "check heps --configs", "verify --engine embedded --configs", "diff heps"],
)
def test_commands_read_an_archive_as_plain_texts(
    rocefort: Rocefort,
    texts: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    monkeypatch.setenv("COLUMNS", "400")  # one line of positions
    outputs = []
    for folder in ("plain", "saved"):
        directory = tmp_path / folder / "configs"
        directory.mkdir(parents=True)
        for name, text in texts.items():
            head = oxidized(name, "")[1].decode()
            if folder == "plain":
                (directory / f"{name}.cfg").write_text(text.replace("lldp enable\n", ""))
                (directory / f"{name}.txt").write_text(f"<{name}>display version\n{VERSION}")
            else:
                (directory / name).write_text(head + text.replace("lldp enable\n", ""))
        done = rocefort(*command.split(), directory)
        shown = re.sub(
            rf"{re.escape(str(directory))}/(\w+)(\.cfg)?:\d+", r"\1", done.out + done.err
        )
        lines = shown.replace(str(directory), "DIR").splitlines()
        outputs.append(
            (done.code, [line for line in lines if not line.startswith(" " * 8 + "in: ")])
        )
    assert outputs[0] == outputs[1]
