"""`rocefort trust`: keys by a handshake, fingerprints to compare, and a record never half written."""

from __future__ import annotations

import io
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import paramiko
import pytest

from napalm_cloudengine import CloudEngineDriver
from rocefort.design.derive.derive import derive
from rocefort.emulator.cli.server import LabServer, run_in_thread
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.fleet.connections import Connections, SshAccess, save_connections
from rocefort.models.hardware.hardware import SyntaxFamily

Rocefort = Callable[..., Any]
NAMES = [node.name for node in derive(Path("heps")).network.nodes]


def switch(name: str) -> EmulatedSwitch:
    return EmulatedSwitch(name, f"#\nsysname {name}\n#\nreturn\n", SyntaxFamily.V300_G1)


class Site:
    """HEPS's switches on the loopback, their connections, and the record to write."""

    def __init__(self, folder: Path) -> None:
        self.lab = LabServer({name: switch(name) for name in NAMES}, folder / "lab")
        self.record = folder / "site" / "known_hosts"
        self.file = folder / "connections.yaml"

    def connect(self, **ports: int) -> None:
        """Write the connections; `ports` sends a switch elsewhere."""
        devices = tuple(
            SshAccess(
                name=name,
                host="127.0.0.1",
                port=ports.get(name, self.lab.ports[name]),
                user="nobody",  # nothing is logged in to
                credential="env:NO_SUCH_VARIABLE",
            )
            for name in NAMES
        )
        connections = Connections(known_hosts=self.record, connect_timeout_s=5, devices=devices)
        save_connections(connections, self.file)

    def lines(self) -> list[str]:
        return self.record.read_text().splitlines()


@pytest.fixture(autouse=True)
def _in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row a key, however long it is."""
    monkeypatch.delenv("COLUMNS")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path)
    with run_in_thread(made.lab):
        made.connect()
        yield made


def say(monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(words))


def test_new_keys_are_shown_below_each_other_and_recorded_after_a_yes(
    rocefort: Rocefort, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, "y\n")
    ran = rocefort("trust", "heps", "--connections", site.file)
    assert (ran.code, ran.err) == (0, "")
    head, *rows = ran.out.splitlines()[: len(NAMES) + 1]
    assert head.split() == ["host", "address", "key", "fingerprint", "record"]
    assert [row.split()[0] for row in rows] == NAMES
    assert {row.split()[4] for row in rows} == {"new"}
    assert {row.index("SHA256:") for row in rows} == {head.index("fingerprint")}
    assert ran.out.endswith(f"{len(NAMES)} host keys added to {site.record}\n")
    assert sorted(site.lines()) == sorted(site.lab.known_hosts.read_text().splitlines())


def test_the_fingerprint_is_that_of_the_hosts_own_key(rocefort: Rocefort, site: Site) -> None:
    ran = rocefort("trust", "heps", "--connections", site.file, "--yes")
    own = paramiko.HostKeys(str(site.lab.known_hosts))
    place = f"[127.0.0.1]:{site.lab.ports['leaf01']}"
    known = own.lookup(place)
    assert known is not None
    row = next(line for line in ran.out.splitlines() if line.startswith("leaf01 "))
    assert known["ssh-ed25519"].fingerprint in row


def test_a_second_time_all_are_the_same_and_nothing_is_asked(
    rocefort: Rocefort, site: Site
) -> None:
    rocefort("trust", "heps", "--connections", site.file, "--yes")
    before = site.record.read_bytes()
    ran = rocefort("trust", "heps", "--connections", site.file)
    assert ran.code == 0
    assert ran.words.count(" same") == len(NAMES)
    assert ran.out.endswith(f"nothing to add to {site.record}\n")
    assert site.record.read_bytes() == before


def test_one_new_switch_is_added_behind_what_stands_there(rocefort: Rocefort, site: Site) -> None:
    site.record.parent.mkdir()
    own = site.lab.known_hosts.read_text().splitlines()
    site.record.write_text("# kept by hand\n" + "\n".join(own[1:]))  # and no newline at the end
    ran = rocefort("trust", "heps", "--connections", site.file, "--yes")
    assert ran.out.endswith(f"1 host key added to {site.record}\n")
    assert site.lines() == ["# kept by hand", *own[1:], own[0]]


@pytest.mark.parametrize("words", ["n\n", "", "\n"])
def test_without_a_yes_nothing_is_written(
    rocefort: Rocefort, site: Site, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    say(monkeypatch, words)
    ran = rocefort("trust", "heps", "--connections", site.file)
    assert ran.code == 4
    assert ran.err.endswith(
        f"rocefort: {site.record}: not trusted, nothing was written; compare the fingerprints "
        "with the hosts' own, then run it again\n"
    )
    assert not site.record.exists()


def test_a_port_without_ssh_is_one_error_of_one_line(site: Site) -> None:
    """In a process of its own: what a library logs has no handler of a test there."""
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:
        answered = pool.submit(_answer_without_ssh, server)
        site.connect(leaf01=server.getsockname()[1])
        command = [sys.executable, "-m", "rocefort", "trust", "heps"]
        ran = subprocess.run(
            [*command, "--connections", site.file, "--yes"],
            capture_output=True,
            text=True,
            check=False,
        )
        answered.result(timeout=60)
    assert ran.returncode == 3
    (line,) = ran.stderr.splitlines()
    assert line.startswith("rocefort: leaf01: no SSH session with 127.0.0.1:")


def _answer_without_ssh(server: socket.socket) -> None:
    accepted, _ = server.accept()
    with accepted:
        accepted.recv(100)


def test_a_changed_key_is_refused_with_the_way_to_remove_the_old_line(
    rocefort: Rocefort, site: Site
) -> None:
    site.record.parent.mkdir()
    other = paramiko.RSAKey.generate(2048)
    place = f"[127.0.0.1]:{site.lab.ports['leaf03']}"
    site.record.write_text(f"{place} ssh-rsa {other.get_base64()}\n")
    before = site.record.read_bytes()
    ran = rocefort("trust", "heps", "--connections", site.file, "--yes")
    assert ran.code == 4
    assert re.fullmatch(r"leaf03 .* CHANGED", ran.out.splitlines()[1 + NAMES.index("leaf03")])
    assert re.fullmatch(
        rf"rocefort: leaf03: {re.escape(place)} shows the host key SHA256:\S+, on record is "
        rf"{re.escape(other.fingerprint)}; nothing was written; find out why; if it should have "
        rf"changed, remove the old line: ssh-keygen -R '{re.escape(place)}' -f "
        rf"'{re.escape(str(site.record))}'\n",
        ran.err,
    )
    assert site.record.read_bytes() == before  # nor the nine that are new


def test_a_silent_switch_is_named_and_the_others_are_recorded(
    rocefort: Rocefort, site: Site
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # not listening: refused
        site.connect(leaf02=taken.getsockname()[1])
        ran = rocefort("trust", "heps", "--connections", site.file, "--yes")
    assert ran.code == 3
    assert re.match(r"rocefort: leaf02: no SSH session with 127.0.0.1:\d+: ", ran.err)
    assert len(ran.err.splitlines()) == 1
    assert len(site.lines()) == len(NAMES) - 1


def test_a_damaged_record_stops_before_anybody_is_asked(rocefort: Rocefort, site: Site) -> None:
    site.record.parent.mkdir()
    site.record.write_text("leaf01 ssh-ed25519 not-base64\n")
    ran = rocefort("trust", "heps", "--connections", site.file, "--yes")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"rocefort: {site.record}: known hosts cannot be read: ")


def test_a_record_that_cannot_be_replaced_stays_as_it_was(
    rocefort: Rocefort, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.record.parent.mkdir()
    site.record.write_text("# mine\n")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    ran = rocefort("trust", "heps", "--connections", site.file, "--yes")
    assert ran.code == 3
    assert ran.err == (
        f"rocefort: {site.record}: known hosts cannot be written: No space left on device; "
        "the file is unchanged; check its folder and the free space\n"
    )
    assert site.record.read_text() == "# mine\n"
    assert [path.name for path in site.record.parent.iterdir()] == ["known_hosts"]


def test_another_record_by_option_and_a_switch_without_connections(
    rocefort: Rocefort, site: Site, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    rocefort("trust", "heps", "--connections", site.file, "--known-hosts", other, "--yes")
    assert len(other.read_text().splitlines()) == len(NAMES)
    assert not site.record.exists()
    text = site.file.read_text().replace("name: leaf01\n", "name: leaf99\n")
    site.file.write_text(text)
    ran = rocefort("trust", "heps", "--connections", site.file)
    assert (ran.code, ran.err) == (
        2,
        f"rocefort: {site.file}: no entry for leaf01; add under devices: "
        "- {name: leaf01, host: ADDRESS, user: USER, credential: REFERENCE}\n",
    )


def test_what_was_trusted_opens_the_driver(rocefort: Rocefort, site: Site) -> None:
    rocefort("trust", "heps", "--connections", site.file, "--yes")
    options = {"port": site.lab.ports["leaf01"], "ssh_known_hosts": str(site.record)}
    with CloudEngineDriver("127.0.0.1", "netops", site.lab.password, 10, options) as driver:
        assert driver.is_alive() == {"is_alive": True}
