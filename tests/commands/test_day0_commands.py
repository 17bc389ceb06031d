"""Day 0 and replacement: what is printed is true of the switch, and works when it is typed."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from ipaddress import IPv4Network
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.network_text import render_all, render_node
from rocefort.dialects.vrp.interpreter.interpreter import apply_lines
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.render import day0_device, day0_text
from rocefort.dialects.vrp.text.config_tree import tree_text
from rocefort.emulator.cli.session import CliSession
from rocefort.emulator.emulated_site import rehearse
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.device.management import Acl, AclRule
from rocefort.models.network.network import Node

EditHeps = Callable[..., Path]
Run = Callable[..., tuple[int, str, str]]

NAMES = ["spine01", "leaf01", "leaf03", "leaf08"]  # V200 and V300, spine and leaf
PASSWORD = "Correct-Horse-7"


@pytest.fixture
def run(rocefort: Callable[..., Any]) -> Run:
    """A command in this process: its exit code, what it printed, what it complained."""

    def command(*words: object) -> tuple[int, str, str]:
        done = rocefort(*words)
        return done.code, done.out, done.err

    return command


def typed(text: str, step: int = 1) -> list[str]:
    """Return the lines to type in one step of the instructions."""
    part = re.split(r"(?m)^\d+\. ", text)[step]
    return [line[4:] for line in part.splitlines() if line.startswith("    ")]


def config_lines(lines: list[str]) -> list[str]:
    """Return the lines typed in the system view and below."""
    assert (lines[0], lines[-3:]) == ("system-view", ["commit", "return", "save"])
    return lines[1:-3]


def leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Paths and values of a Device as JSON, rows by their own name."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}")
    elif isinstance(value, list) and value:
        for row in value:
            named = row.get("name", row.get("first")) if isinstance(row, dict) else row
            yield from leaves(row, f"{path}[{named}]")
    else:
        yield path, value


@pytest.mark.parametrize("name", NAMES)
def test_what_is_typed_is_part_of_the_whole_configuration(heps: DerivedNetwork, name: str) -> None:
    node = heps.network.by_name[name]
    assert node.family is not None
    lines = config_lines(day0_text(node, {"netops": PASSWORD}).splitlines())
    done = apply_lines((), lines, node.family.syntax)
    parsed = parse(tree_text(done), "console")
    masked = "local-user netops password irreversible-cipher <removed>"
    assert [line.text for line in parsed.unmodelled] == [masked]
    assert parsed.device == day0_device(node.device)
    empty = dict(leaves(type(node.device)(name=name).model_dump(mode="json")))
    whole = dict(leaves(node.device.model_dump(mode="json")))
    said = {
        path: value
        for path, value in leaves(parsed.device.model_dump(mode="json"))
        if path not in empty or value != empty[path]
    }
    assert len(said) > 10
    assert said.items() <= whole.items()


@pytest.mark.parametrize("name", NAMES)
def test_every_line_but_the_password_stands_in_the_rendered_text(
    heps: DerivedNetwork, name: str
) -> None:
    node = heps.network.by_name[name]
    rendered = {line.strip() for line in render_node(node).splitlines()}
    lines = config_lines(day0_text(node, {"netops": "<x>"}).splitlines())
    others = {line.strip() for line in lines} - rendered
    assert others == {"quit", "local-user netops password irreversible-cipher <x>"}


def test_it_makes_the_switch_reachable_and_nothing_else(heps: DerivedNetwork) -> None:
    device = day0_device(heps.network.by_name["leaf08"].device)
    assert device.ssh.stelnet
    assert [i.name for i in device.interfaces] == [device.ssh.source_interface]
    assert device.interfaces[0].addresses
    assert {u.name for u in device.users} == {u.name for u in device.ssh.users} == {"netops"}
    assert [(v.authentication, v.protocol) for v in device.vty] == [("aaa", "ssh")]
    assert device.bgp is None


def test_the_acl_of_the_vty_comes_with_it_and_no_other(heps: DerivedNetwork) -> None:
    node = heps.network.by_name["leaf08"]
    named = Acl(number=2000, rules=(AclRule(index=5, source=IPv4Network("10.255.0.0/24")),))
    other = Acl(number=2001, rules=(AclRule(index=5, action="deny"),))
    vty = tuple(line.model_copy(update={"acl": 2000}) for line in node.device.vty)
    guarded = node.device.model_copy(update={"acls": (named, other), "vty": vty})
    assert day0_device(guarded).acls == (named,)
    text = day0_text(node.model_copy(update={"device": guarded}), {"netops": PASSWORD})
    assert "\nacl number 2000\n rule 5 permit source 10.255.0.0 0.0.0.255\nquit\n" in text
    assert "2001" not in text
    type_in(console(node), text.splitlines())


def console(node: Node) -> EmulatedSwitch:
    assert node.family is not None
    return EmulatedSwitch(name="new", startup="#\nsysname HUAWEI\n#\n", family=node.family.syntax)


def type_in(switch: EmulatedSwitch, lines: list[str]) -> None:
    """Type lines on the console, Y to every question; no line may be refused."""
    session = CliSession(switch, "console")
    for line in lines:
        reply = session.handle(line)
        assert "Error" not in reply.text, f"{line}: {reply.text}"
        if session.question:
            assert "Error" not in session.handle("Y").text


@pytest.mark.parametrize("name", NAMES)
def test_a_new_switch_takes_it_and_saves_it(
    run: Run, heps: DerivedNetwork, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("NETOPS", PASSWORD)
    code, out, _ = run("day0", "heps", name, "--with-secrets", "--password", "netops=env:NETOPS")
    node = heps.network.by_name[name]
    switch = console(node)
    type_in(switch, typed(out))
    assert code == 0
    assert switch.hostname == name
    assert parse(tree_text(switch.running), "console").device == day0_device(node.device)
    assert switch.saved == switch.running


def test_without_secrets_a_placeholder_says_what_to_type(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETOPS", PASSWORD)
    _, plain, _ = run("day0", "heps", "leaf08")
    assert " local-user netops password irreversible-cipher <password of netops>\n" in plain
    _, named, _ = run("day0", "heps", "leaf08", "--password", "netops=env:NETOPS")
    assert "irreversible-cipher <password of netops, kept in env:NETOPS>\n" in named
    assert PASSWORD not in plain + named
    _, secret, _ = run(
        "day0", "heps", "leaf08", "--with-secrets", "--password", "netops=env:NETOPS"
    )
    assert f" local-user netops password irreversible-cipher {PASSWORD}\n" in secret
    assert secret.count(PASSWORD) == 1
    assert "<" not in secret


def test_what_a_person_reads_fits_80_columns(run: Run) -> None:
    out = run("day0", "heps", "spine01")[1]
    assert all(len(line) <= 80 or line.startswith("    ") for line in out.splitlines())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("leaf80",), "no switch 'leaf80'; did you mean 'leaf08'?"),
        (
            ("leaf08", "--with-secrets"),
            "--with-secrets, and no password for netops; give --password netops=env:NAME or "
            "--password netops=file:PATH",
        ),
        (
            ("leaf08", "--password", PASSWORD),
            "--password without a user; give USER=env:NAME or USER=file:PATH",
        ),
        (
            ("leaf08", "--password", f"netops={PASSWORD}"),
            "--password netops: a credential that is not a reference; write env:NAME or file:PATH, "
            "or keyring:SERVICE/USER",
        ),
        (
            ("leaf08", "--password", "netop=env:X"),
            "--password for 'netop', who is no user; did you mean 'netops'?",
        ),
        (
            ("leaf08", "--with-secrets", "--password", "netops=env:NOT_THERE"),
            "env:NOT_THERE: the environment has no variable NOT_THERE; "
            "export NOT_THERE with the password, or change the credential",
        ),
        (
            ("leaf08", "--with-secrets", "--password", "netops=env:BLANKS"),
            "env:BLANKS: the password of netops cannot be typed on a console; "
            "use 8 to 128 printable ASCII characters without blanks and '?'",
        ),
        (
            ("leaf08", "--with-secrets", "--password", "netops=env:HELP"),
            "env:HELP: the password of netops cannot be typed on a console; "
            "use 8 to 128 printable ASCII characters without blanks and '?'",
        ),
    ],
)
def test_bad_input(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.delenv("NOT_THERE", raising=False)
    monkeypatch.setenv("BLANKS", "two words here")
    monkeypatch.setenv("HELP", "who?goes?there")
    assert run("day0", "heps", *words) == (2, "", f"rocefort: {sentence}\n")


def test_the_file_of_the_console_is_closed_to_others(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "console.txt"
    file.write_text("older, and longer than what comes\n" * 999)
    file.chmod(0o644)
    assert run("day0", "heps", "leaf08", "--out", file)[0] == 0
    assert file.stat().st_mode & 0o777 == 0o600
    lines = file.read_text().splitlines()
    assert (lines[0], lines[-1]) == ("system-view", "save")


def test_what_is_no_file_keeps_its_mode(run: Run, tmp_path: Path) -> None:
    folder, pipe, other, name = (tmp_path / each for each in ("folder", "pipe", "other", "name"))
    folder.mkdir(mode=0o755)
    os.mkfifo(pipe, 0o644)
    other.write_text("kept")
    name.symlink_to(other)
    for path, what in (
        (folder, "cannot be written: Is a directory"),
        (pipe, "cannot be written: No such device or address"),
        (name, "cannot be written: Too many levels of symbolic links"),
        (Path("/dev/null"), "no regular file; name a file"),
    ):
        before = path.stat().st_mode
        code, out, complaint = run("day0", "heps", "leaf08", "--out", path)
        assert (code, out, complaint) == (2, "", f"rocefort: {path}: {what}\n")
        assert path.stat().st_mode == before
    assert other.read_text() == "kept"


def test_a_fabric_without_users_has_no_day_0(run: Run, edit_heps: EditHeps) -> None:
    path = edit_heps(("  users:\n    - name: netops\n      level: 3\n", "  users: []\n"))
    code, out, complaint = run("day0", path, "leaf08")
    assert (code, out) == (2, "")
    assert complaint == (
        "rocefort: leaf08: no user may log in by SSH; add a user to security.users\n"
    )
    with pytest.raises(BadInput):
        day0_device(parse("sysname x\n", "x").device)


def test_the_host_key_is_read_compared_and_only_then_kept(run: Run) -> None:
    _, out, _ = run("day0", "heps", "leaf08")
    assert typed(out, 2) == [
        "ssh-keyscan 10.255.0.16 > leaf08.hostkey",
        "ssh-keygen -l -f leaf08.hostkey",
    ]
    assert "The command that shows them is not confirmed" in " ".join(out.split())
    assert typed(out, 4) == [
        "cat leaf08.hostkey >> known_hosts",
        "ssh -o StrictHostKeyChecking=yes -o UserKnownHostsFile=known_hosts netops@10.255.0.16",
    ]


def shell(lines: list[str], directory: Path) -> None:
    for line in lines:
        done = subprocess.run(
            line, shell=True, cwd=directory, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{line}: {done.stderr}"


@pytest.mark.skipif(which("ssh-keyscan") is None, reason="needs OpenSSH's client")
def test_a_replaced_switch_runs_what_the_old_one_ran(
    run: Run, heps: DerivedNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the printed words only: day 0 on the console, keys by OpenSSH, plan, apply."""
    node = heps.network.by_name["leaf08"]
    texts = render_all(heps.network)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NETOPS", PASSWORD)
    with rehearse(heps.network, texts | {"leaf08": "#\nsysname HUAWEI\n#\n"}, tmp_path) as lab:
        _forget(lab.connections.known_hosts, lab.connections.devices[-1].port)
        code, steps, _ = run("replace", "heps", "leaf08", "--connections", lab.file)
        assert code == 0
        day0 = typed(steps, 3)[0].split()[1:]
        plan, apply = (typed(steps, n)[0].split()[1:] for n in (5, 6))

        code, _, complaint = run(*plan)
        assert code == 3
        assert "leaf08" in complaint

        code, out, _ = run(*day0, "--with-secrets", "--password", "netops=env:NETOPS")
        type_in(lab.switches["leaf08"], typed(out))
        shell(typed(steps, 2), tmp_path)
        shell(typed(out, 2), tmp_path)
        shell(typed(out, 4)[:1], tmp_path)

        code, out, complaint = run(*plan)
        assert code == 0, complaint
        assert "1 of 10 switches change" in out
        code, out, complaint = run(*apply)
        assert code == 0, out + complaint
        assert "1 switch confirmed, read back and saved: leaf08" in out
        running = parse(tree_text(lab.switches["leaf08"].running), "leaf08").device
    assert running == node.device


def _forget(known_hosts: Path, port: int) -> None:
    """Give leaf08 another switch's key, as if it was the failed one's."""
    lines = known_hosts.read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if f"]:{port} " in line)
    other = lines[at - 1]
    lines[at] = f"{lines[at].split()[0]} {other.split(maxsplit=1)[1]}"
    known_hosts.write_text("\n".join(lines) + "\n")


def test_replacing_says_the_model_the_cables_and_the_keys(run: Run, tmp_path: Path) -> None:
    connections = tmp_path / "connections.yaml"
    connections.write_text(
        "known_hosts: site keys\n"
        "devices: [{name: leaf08, host: 10.255.0.16, user: netops, credential: 'env:P'}]\n"
    )
    code, out, _ = run("replace", "heps", "leaf08", "--connections", connections)
    assert code == 0
    assert out.startswith("a replacement of leaf08, a CE6866-48S8CQ-P with V300R023C00\n")
    assert typed(out, 1) == ["display version", "display device esn"]
    assert typed(out, 2) == [f"ssh-keygen -f '{tmp_path}/site keys' -R 10.255.0.16"]
    assert typed(out, 3) == [f"rocefort day0 heps leaf08 --connections {connections}"]
    assert typed(out, 4) == [
        "100GE1/0/1 - spine01 100GE1/1/8",
        "100GE1/0/2 - spine02 100GE1/1/8",
        "25GE1/0/1 - readout04",
    ]
    assert typed(out, 5) == [
        f"rocefort plan heps --connections {connections} --out leaf08.plan.json"
    ]
    assert typed(out, 6) == [f"rocefort apply leaf08.plan.json --connections {connections}"]
    code, out, complaint = run("replace", "heps", "leaf07", "--connections", connections)
    assert (code, out) == (2, "")
    assert complaint == (
        f"rocefort: {connections}: no entry for leaf07; add under devices: "
        "- {name: leaf07, host: ADDRESS, user: USER, credential: REFERENCE}\n"
    )
