"""Directories of configurations with any content: one clear error with its place, or findings."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort import tasks
from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.subject import ReadNetwork, read_directory, subject_of_texts
from rocefort.dialects.network_text import render_all
from rocefort.validators.checks import check

NESTED = "".join(f"{' ' * (n % 50)}interface 100GE1/0/{n % 64}\n" for n in range(1000))
GOOD = "#\nsysname leaf01\n#\nvlan batch 10\n#\nreturn\n"
WANTED = "give the text of `display current-configuration`"
IOS = "!\nversion 15.2\nservice timestamps debug datetime msec\nhostname sw1\n"
NXOS = "!Command: show running-config\nversion 9.3(5) Bios:version\nfeature bgp\nhostname sw1\n"
EOS = "! Command: show running-config\n! device: leaf1 (DCS-7060, EOS-4.30.1F)\nhostname sw1\n"
JUNOS = "system {\n    host-name sw1;\n}\n"
JUNOS_SET = "set system host-name sw1\nset interfaces xe-0/0/0 unit 0\n"
COMWARE = (
    "#\n version 7.1.070, Release 2710\n#\n sysname sw1\n#\n irf member 1 priority 1\n#\nreturn\n"
)
XR = "!! IOS XR Configuration 7.3.2\nhostname r1\n"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (IOS.encode(), ":3: this looks like Cisco IOS (`service timestamps debug datetime msec`)"),
        (NXOS.encode(), ":2: this looks like Cisco NX-OS (`version 9.3(5) Bios:version`)"),
        (
            EOS.encode(),
            ":2: this looks like Arista EOS (`! device: leaf1 (DCS-7060, EOS-4.30.1F)`)",
        ),
        (JUNOS.encode(), ":1: this looks like Junos (`system {`)"),
        (JUNOS_SET.encode(), ":1: this looks like Junos (`set system host-name sw1`)"),
        (COMWARE.encode(), ":2: this looks like H3C Comware (`version 7.1.070, Release 2710`)"),
        (XR.encode(), ":1: this looks like Cisco IOS XR (`!! IOS XR Configuration 7.3.2`)"),
        (b"\x1f\x8b\x08\x00packed", ":1: a binary file (byte 0x1F)"),
        (b"#\nsysname a\n\x01\n", ":3: a binary file (byte 0x01)"),
        (b"PK\x03\x04" + b"\xff" * 20, ":1: a binary file (byte 0x03)"),
        ("#\n description Zürich\n".encode("latin-1"), ":2: not UTF-8 (byte 0xFC)"),
        ("sysname a\n".encode("utf-16")[:-1], ": not UTF-16 (byte 0x0A)"),
        (b"just a letter to somebody\n", ": no sysname, so this is no configuration"),
        (b"#\n#\nreturn\n", ": no sysname, so this is no configuration"),
        (b" \r\n\t", ": an empty file"),
        (b"sysname a\nsysname b\n", ":2: name is b here and a on line 1"),
        (
            b"sysname a\n" + NESTED.encode() * 800,
            f": larger than 4 MB; no switch has so much; {WANTED}",
        ),
    ],
)
def test_what_is_no_configuration_is_one_error_with_its_line(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    path = tmp_path / "a.cfg"
    path.write_bytes(content)
    with pytest.raises(BadInput) as refused:
        read_directory(tmp_path)
    (problem,) = refused.value.problems
    assert str(problem).startswith(f"{path}{sentence}")
    assert problem.how


@pytest.mark.parametrize(
    "content",
    [
        GOOD.encode("utf-8-sig"),
        GOOD.encode("utf-16"),
        GOOD.encode("utf-16-le").replace(b"#", b"\xff\xfe#", 1),
        b"\xfe\xff" + GOOD.encode("utf-16-be"),
        GOOD.replace("\n", "\r\n").encode(),
        GOOD.replace("\n", "\r\r\n").encode(),
        GOOD.replace("\n", "\r").encode(),
        GOOD.replace("vlan batch 10", "vlan\tbatch\t10").encode(),
        f"<leaf01>display current-configuration\n{GOOD}<leaf01>\n".encode(),
        GOOD.replace("vlan", "  ---- More ----\x1b[16D                \x1b[16Dvlan").encode(),
    ],
    ids=["BOM", "UTF-16", "LE", "BE", "CRLF", "CRCRLF", "CR", "tabs", "session", "pager"],
)
def test_encodings_line_ends_and_sessions_are_read(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.cfg").write_bytes(content)
    (config,) = read_directory(tmp_path).configs
    assert (config.parsed.device.name, config.parsed.device.vlans) == ("leaf01", (10,))
    assert config.parsed.unmodelled == ()
    assert config.parsed.cut_off_at is None


@pytest.mark.parametrize(
    "gone",
    ["\x1b[42D" + " " * 42 + "\x1b[42D", "\b" * 16 + " " * 16 + "\b" * 16, "\x1b[16D\x1b[K"],
    ids=["codes", "backspaces", "erased"],
)
def test_a_recorded_session_says_what_the_switch_says(
    heps: DerivedNetwork, tmp_path: Path, gone: str
) -> None:
    plain = render_all(heps.network)["leaf01"]
    shown = [
        f"  ---- More ----{gone}{line}" if number % 3 == 0 else line
        for number, line in enumerate(plain.splitlines())
    ]
    before = (
        "Info: 2 users are online.\n<leaf01>system-view\n[~leaf01]display current-configuration"
    )
    text = "\n".join([before, *shown, "[~leaf01]quit", "Warning: not saved.", "<leaf01>quit", ""])
    (tmp_path / "a.cfg").write_bytes(text.encode())
    (config,) = read_directory(tmp_path).configs
    assert config.parsed.device == heps.network.by_name["leaf01"].device
    assert config.parsed.unmodelled == ()
    assert config.parsed.cut_off_at is None


ODD = "A\x1b[31mB ---- More ---- C\x1b[16D D\rundo stp enable E"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_only_a_pager_is_removed_from_a_file(
    tmp_path: Path, end: str, rocefort: Callable[..., Any]
) -> None:
    """Other control characters are the text's own; a person sees them spelled."""
    lines = ["#", "sysname leaf01", "#", "interface 100GE1/0/1", f" description {ODD}"]
    text = end.join([*lines, "#", f"frobnicate {ODD}", "#", "return", ""])
    (tmp_path / "a.cfg").write_bytes(text.encode())
    (config,) = read_directory(tmp_path).configs
    assert config.text.split("\n")[4] == f" description {ODD}"
    assert [line.text for line in config.parsed.unmodelled] == [f"frobnicate {ODD}"]
    shown = rocefort("check", "--configs", tmp_path)
    spelled = ODD.replace("\x1b", "\\u001b").replace("\r", "\\u000d")
    assert f"frobnicate {spelled}" in shown.words
    assert not {"\x1b", "\r"} & set(shown.out)


def _broken(directory: Path) -> None:
    (directory / "a.cfg").mkdir()


def _dangling(directory: Path) -> None:
    (directory / "a.cfg").symlink_to(directory / "nowhere")


def _loop(directory: Path) -> None:
    (directory / "a.cfg").symlink_to(directory / "b.cfg")
    (directory / "b.cfg").symlink_to(directory / "a.cfg")


def _note(directory: Path) -> None:
    (directory / "a.lldp").write_text("nothing of use\n")


@pytest.mark.parametrize(
    ("make", "sentences"),
    [
        (_broken, ["a.cfg: not a file; "]),
        (_dangling, ["a.cfg: leads nowhere; "]),
        (_loop, ["a.cfg: ", "b.cfg: "]),
        (_note, ["a.lldp: no output of a command that is read; "]),
        (lambda _: None, [": no configurations in it; put *.cfg, *.txt, *.conf there"]),
    ],
)
def test_files_that_cannot_be_read_are_named_all_together(
    tmp_path: Path, make: Callable[[Path], None], sentences: list[str]
) -> None:
    make(tmp_path)
    with pytest.raises(BadInput) as refused:
        read_directory(tmp_path)
    told = [str(problem) for problem in refused.value.problems]
    assert len(told) == len(sentences)
    for line, sentence in zip(told, sentences, strict=True):
        assert sentence in line


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.cfg"
    path.write_text(GOOD)
    path.chmod(0)
    try:
        path.read_bytes()
    except PermissionError:
        with pytest.raises(BadInput, match=r"a\.cfg: cannot be read: Permission denied"):
            read_directory(tmp_path)
    else:
        pytest.skip("this user may read everything")


@pytest.mark.parametrize("name", ["nowhere", "a.cfg"])
def test_what_is_no_directory_says_so(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.cfg").write_text(GOOD)
    with pytest.raises(BadInput) as refused:
        read_directory(tmp_path / name)
    assert re.search("no such directory|a file, not a directory", str(refused.value))


def judged(directory: Path, text: str) -> tuple[ReadNetwork, list[str]]:
    (directory / "a.cfg").write_text(text)
    subject = subject_of_texts(directory)
    found = check(subject.network, subject.sources).findings
    return subject, [f"{f.rule} {f.where.line}: {f.message}" for f in found if f.rule[:3] == "TXT"]


def test_text_that_is_cut_off_is_a_finding_at_its_last_line(tmp_path: Path) -> None:
    subject, found = judged(tmp_path, GOOD.removesuffix("#\nreturn\n"))
    assert found == ["TXT005 4: the text ends without `return`; it may be cut off here"]
    assert subject.notes == ()
    assert judged(tmp_path, GOOD)[1] == []


def test_a_line_that_is_known_is_told_from_one_that_is_not(tmp_path: Path) -> None:
    lines = "interface 100GE1/0/1\n stp edged-port disable\n frobnicate the port\n#\nreturn\n"
    subject, found = judged(tmp_path, GOOD.replace("return\n", lines))
    assert found == [
        "TXT002 8: `frobnicate the port` in interface 100GE1/0/1 is not understood",
        "TXT004 7: `stp edged-port` is known, but nothing judges what it sets",
    ]
    assert subject.notes == (
        "leaf01: 3 of 5 lines understood (60 %); 1 known, but not modelled, 1 unknown",
    )


def test_lines_of_another_design_are_counted_by_its_name(tmp_path: Path) -> None:
    lines = (
        "evpn-overlay enable\n#\nospf 1\n area 0.0.0.0\n#\nstp mode rstp\nfrobnicate\n#\nreturn\n"
    )
    subject, found = judged(tmp_path, GOOD.replace("return\n", lines))
    assert found == [
        "TXT002 6: EVPN is not modelled: 1 line on 1 switch (leaf01); a fabric routes IPv4 between "
        "its leaves, without an overlay",
        "TXT002 8: OSPF is not modelled: 2 lines on 1 switch (leaf01); Rocefort computes routes of "
        "eBGP only",
        "TXT002 12: `frobnicate` is not understood",
        "TXT004 11: `stp mode` is known, but nothing judges what it sets",
    ]
    assert subject.notes == (
        "leaf01: 2 of 7 lines understood (28 %); 3 of other designs, 1 known, but not modelled, "
        "1 unknown",
    )


def test_a_line_of_a_megabyte_is_shown_short(tmp_path: Path) -> None:
    _, found = judged(tmp_path, GOOD.replace("return", f"{'x ' * 2**19}\n#\nreturn"))
    (line,) = found
    assert line.startswith("TXT002 6: `x x x ")
    assert len(line) < 200


def test_two_hundred_thousand_lines_are_read_in_one_pass(tmp_path: Path) -> None:
    forms = (
        "interface Vlanif{}\n",
        " garbage {}\n",
        "vlan batch {}\n",
        "garbage {}\n",
    )
    body = "".join(forms[n % 4].format(n % 200 + 2) for n in range(200_000))
    (tmp_path / "a.cfg").write_text(f"sysname a\n{body}return\n")
    (config,) = read_directory(tmp_path).configs
    assert config.parsed.total_lines == 200_001


def test_nested_garbage_ends_in_findings(tmp_path: Path) -> None:
    deep = "".join(f"{' ' * n}level {n}\n" for n in range(2000))
    _, found = judged(tmp_path, GOOD.replace("return", f"{deep}#\nreturn"))
    assert len(found) == 2000


def test_outputs_go_to_the_switch_that_their_prompt_or_name_says(
    heps: DerivedNetwork, tmp_path: Path
) -> None:
    for name, text in render_all(heps.network).items():
        (tmp_path / f"{name}.cfg").write_text(text)
    head = "Local Interface  Exptime(s) Neighbor Interface  Neighbor Device\n"
    (tmp_path / "leaf01.lldp").write_text(f"{head}100GE1/0/57 96 100GE1/0/2 spine01\n")
    (tmp_path / "x.txt").write_text(
        f"<leaf02>dis lldp nei b\n{head}100GE1/0/57 9 100GE1/0/9 spine02\n"
    )
    (tmp_path / "y.txt").write_text(f"<leaf99>display lldp neighbor brief\n{head}")
    subject = subject_of_texts(tmp_path)
    assert subject.notes == (f"{tmp_path}/y.txt: not used, for no configuration of leaf99 is here",)
    report = check(subject.network, subject.sources)
    told = {(str(f.where), f.message) for f in report.findings if f.rule == "TOP007"}
    assert (
        f"leaf01 100GE1/0/57 ({tmp_path}/leaf01.lldp:2)",
        "LLDP reports spine01 100GE1/0/2 there; by its address it is cabled to spine01 100GE1/1/1",
    ) in told
    assert any(f"leaf02 100GE1/0/57 ({tmp_path}/x.txt:3)" == where for where, _ in told)


def test_the_command_ends_with_what_was_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.cfg").write_text(GOOD.replace("return", "frobnicate\n#\nreturn"))
    monkeypatch.setattr(sys, "argv", ["rocefort", "check", "--configs", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        tasks.app()
    assert ended.value.code == 1  # such a switch lets everybody in
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "leaf01: 2 of 3 lines understood (66 %); 1 unknown"
