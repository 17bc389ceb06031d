"""Sessions over real SSH on the loopback: strict keys, one-sentence errors, no remains."""

from __future__ import annotations

import asyncio
import logging
import shlex
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import asyncssh
import paramiko
import pytest
from nornir.core import Nornir
from paramiko import SSHException

from napalm_cloudengine.connect import NO_SESSION
from rocefort.base.errors import BadInput, DeviceFailed
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.emulator.servers.ssh_hosts import ProcessOutput, RdmaHosts, Sample
from rocefort.fleet import ssh_exec
from rocefort.fleet.connections import Connections, ServerAccess, SshAccess
from rocefort.fleet.errors import Unreachable, unreachable
from rocefort.fleet.nornir_session import open_fleet
from rocefort.fleet.ssh_exec import SshExec, guarded_command

HUNG = Sample("hung", ProcessOutput(), ProcessOutput())
SHORT = Sample(
    "short", ProcessOutput(b"client\n", b"warned\n", 3), ProcessOutput(b"server\n", b"", 0)
)


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[RdmaHosts]:
    samples = {"ib_write_bw": SHORT, "ib_write_lat": HUNG}
    addresses = {"k8sgn08": "10.65.1.10", "k8sgn09": "10.65.2.10"}
    with RdmaHosts(addresses, samples, tmp_path).in_thread() as running:
        (tmp_path / "known_hosts").write_text(running.known_hosts_text)
        yield running


def fleet(heps: DerivedNetwork, hosts: RdmaHosts, password: str = "env:SERVER_PASSWORD") -> Nornir:
    return open_fleet(
        heps.network,
        Connections(
            known_hosts=hosts.state_dir / "known_hosts",
            connect_timeout_s=5,
            devices=tuple(
                SshAccess(
                    name=node.name,
                    host="127.0.0.1",
                    port=hosts.ports["k8sgn08"],
                    user="netops",
                    credential=password,
                )
                for node in heps.network.nodes
            ),
            servers=tuple(
                ServerAccess(
                    name=name,
                    host="127.0.0.1",
                    port=port,
                    user="rdma",
                    credential=password,
                    rdma_device="mlx5_0",
                    gid_index=3,
                )
                for name, port in hosts.ports.items()
            ),
        ),
    )


@pytest.fixture
def nornir(
    heps: DerivedNetwork, hosts: RdmaHosts, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Nornir]:
    monkeypatch.setenv("SERVER_PASSWORD", "emulated-only")
    with fleet(heps, hosts) as opened:
        yield opened


def session(nornir: Nornir, name: str = "k8sgn08") -> SshExec:
    return ssh_exec.session(nornir.inventory.hosts[name], nornir.config)


def refusal(nornir: Nornir, name: str = "k8sgn08") -> Unreachable:
    with pytest.raises(Unreachable) as caught:
        session(nornir, name)
    assert caught.value.exit_code == 3
    return caught.value


def test_streams_and_exit_code_stay_apart(nornir: Nornir) -> None:
    server = session(nornir, "k8sgn09").start("ib_write_bw -d mlx5_0", 10)
    client = session(nornir).run("ib_write_bw -d mlx5_0 10.65.2.10", 10)
    assert (client.stdout, client.stderr, client.exit_code) == ("client\n", "warned\n", 3)
    assert server.wait().stdout == "server\n"


def test_an_unknown_command_is_127(nornir: Nornir) -> None:
    result = session(nornir).run("reboot now", 10)
    assert (result.exit_code, result.stderr) == (127, "reboot: command not found\n")


def test_a_command_past_its_deadline_is_ended_by_the_server(
    nornir: Nornir, hosts: RdmaHosts
) -> None:
    result = session(nornir).run("ib_write_lat -d mlx5_0", 1)
    assert (result.timed_out, result.exit_code) == (True, 124)
    assert hosts.running == ()


def test_kill_ends_what_was_started_by_its_id(nornir: Nornir, hosts: RdmaHosts) -> None:
    command = session(nornir).start("ib_write_lat -d mlx5_0", 60)
    other = session(nornir, "k8sgn09").start("ib_write_lat -d mlx5_0", 60)
    assert command.running()
    assert command.kill()
    assert [host for host, _ in hosts.running] == ["k8sgn09"]
    assert other.kill()


class SlowToTell:
    """Server that reports the id of its process late, as a busy server does."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()

    def knows(self, command: str | None) -> bool:
        return bool(command)

    async def serve(self, command: str, process: asyncssh.SSHServerProcess[bytes]) -> None:
        if command.startswith("kill"):
            self.ended.set()
            process.exit(0)
            return
        await asyncio.sleep(0.3)
        process.stderr.write(b"rocefort-pid 4711\n")
        await self.ended.wait()
        process.exit_with_signal("TERM")


def test_kill_waits_for_an_id_that_is_told_late(
    nornir: Nornir, hosts: RdmaHosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "settings", {"k8sgn08": SlowToTell()})
    assert session(nornir).start("ib_write_lat -d mlx5_0", 60).kill()


def test_impatience_ends_the_command_too(nornir: Nornir, hosts: RdmaHosts) -> None:
    result = session(nornir).start("ib_write_lat -d mlx5_0", 60).wait(patience_s=0.2)
    assert (result.timed_out, result.exit_code) == (True, None)
    assert hosts.running == ()


def test_a_command_of_a_lost_session_is_given_up_in_peace(nornir: Nornir) -> None:
    lost = session(nornir)
    command = lost.start("ib_write_lat -d mlx5_0", 60)
    lost.close()
    assert command.wait(patience_s=0.2).exit_code is None
    with pytest.raises(DeviceFailed, match="k8sgn08: the SSH session accepts no command: "):
        lost.start("ib_write_lat -d mlx5_0", 60)


def test_a_signal_over_a_lost_session_is_left_to_the_servers_deadline(nornir: Nornir) -> None:
    lost = session(nornir)
    lost.close()
    lost.signal(1, "TERM")
    with pytest.raises(paramiko.SSHException, match="the session is closed"):
        lost.open_channel()


class Mute(paramiko.ServerInterface):
    """SSH server that admits every user and never answers a command request."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    def check_auth_password(self, username: str, password: str) -> int:  # noqa: ARG002 - paramiko's
        return 0  # AUTH_SUCCESSFUL

    def get_allowed_auths(self, username: str) -> str:  # noqa: ARG002 - paramiko's
        return "password"

    def check_channel_request(self, kind: str, chanid: int) -> int:  # noqa: ARG002 - paramiko's
        return 0  # OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:  # noqa: ARG002 - paramiko's
        self.ended.wait(60)
        return False


def test_a_server_that_never_takes_the_command_is_given_up(
    nornir: Nornir, hosts: RdmaHosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_exec, "GRACE_S", 1.0)
    key, mute = paramiko.ECDSAKey.generate(), Mute()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        known_hosts = f"[127.0.0.1]:{port} {key.get_name()} {key.get_base64()}\n"
        (hosts.state_dir / "known_hosts").write_text(known_hosts)
        nornir.inventory.hosts["k8sgn08"].port = port
        server: list[paramiko.Transport] = []

        def serve() -> None:
            server.append(paramiko.Transport(listening.accept()[0]))
            server[0].add_server_key(key)
            server[0].start_server(server=mute)

        serving = threading.Thread(target=serve)
        serving.start()
        with pytest.raises(DeviceFailed) as caught:
            session(nornir).start("ib_write_bw", 5)
        assert str(caught.value) == (
            "k8sgn08: the SSH session accepts no command: Channel closed.; check the server's SSH log"
        )
        mute.ended.set()
        serving.join()
        server[0].close()


def test_a_known_hosts_file_with_a_broken_line_is_named(nornir: Nornir, hosts: RdmaHosts) -> None:
    known_hosts = hosts.state_dir / "known_hosts"
    known_hosts.write_text("[127.0.0.1]:22 ssh-ed25519 AAAA=broken=\n")
    with pytest.raises(BadInput) as caught:
        session(nornir)
    assert str(caught.value).startswith(f"{known_hosts}: known hosts cannot be read: ")
    assert str(caught.value).endswith("; correct or remove that line")


def test_a_lost_session_is_opened_again(nornir: Nornir) -> None:
    first = session(nornir)
    first.close()
    assert session(nornir).run("ib_none", 5).exit_code == 127
    assert session(nornir) is not first


def test_wrong_password(
    heps: DerivedNetwork, hosts: RdmaHosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVER_PASSWORD", "wrong-one")
    with fleet(heps, hosts) as nornir:
        error = refusal(nornir)
    port = hosts.ports["k8sgn08"]
    assert str(error) == (
        f"k8sgn08: 127.0.0.1:{port} refuses the login of 'rdma'; check the user and its credential"
    )


def test_unknown_host_key(nornir: Nornir, hosts: RdmaHosts) -> None:
    known_hosts = hosts.state_dir / "known_hosts"
    known_hosts.write_text("")
    error = str(refusal(nornir))
    assert "shows the host key ssh-ed25519 SHA256:" in error
    assert error.endswith(
        "which is not on record; compare the fingerprint with the host's own at its console; "
        f"if it is the same, `rocefort trust` adds it to {known_hosts}"
    )
    assert known_hosts.read_text() == ""  # nothing was learnt


def test_wrong_host_key(nornir: Nornir, hosts: RdmaHosts) -> None:
    known_hosts = hosts.state_dir / "known_hosts"
    first, second = known_hosts.read_text().splitlines()
    known_hosts.write_text(f"{first.split()[0]} {' '.join(second.split()[1:])}\n")
    error = str(refusal(nornir))
    assert error.startswith(
        f"k8sgn08: 127.0.0.1:{hosts.ports['k8sgn08']} shows the host key SHA256:"
    )
    assert error.endswith(
        "not the one on record; find out why, and compare the fingerprint with the host's own at "
        f"its console; if it is the same, `rocefort trust` shows how to replace the old one in {known_hosts}"
    )


def test_nothing_listens(nornir: Nornir) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = taken.getsockname()[1]
    nornir.inventory.hosts["k8sgn08"].port = free
    assert str(refusal(nornir)).startswith(f"k8sgn08: no SSH session with 127.0.0.1:{free}: ")


def test_a_server_that_ends_the_connection_before_the_login() -> None:
    """Paramiko reports "No existing session"."""
    lost = unreachable("daisygn01", "h:22", "rdma", "known_hosts", SSHException(NO_SESSION))
    assert str(lost).startswith(
        "daisygn01: no SSH session with h:22: it ended the connection before the login: too many "
    )


def test_what_listens_is_silent(heps: DerivedNetwork, nornir: Nornir) -> None:
    host = nornir.inventory.hosts["k8sgn08"]
    extras = host.connection_options[ssh_exec.CONNECTION].extras
    assert extras is not None
    extras["connect_timeout_s"] = 0.3
    with socket.create_server(("127.0.0.1", 0)) as mute:
        host.port = mute.getsockname()[1]
        assert "no SSH session with" in str(refusal(nornir))


def test_a_switch_fails_in_one_sentence_too(nornir: Nornir, hosts: RdmaHosts) -> None:
    host = nornir.inventory.hosts["leaf01"]
    with pytest.raises(Unreachable) as caught:
        host.get_connection("napalm", nornir.config)
    at = f"127.0.0.1:{hosts.ports['k8sgn08']}"
    assert str(caught.value).startswith(f"leaf01: {at} refuses the login of 'netops'")


def test_the_inventory_holds_no_secret(nornir: Nornir) -> None:
    session(nornir)
    assert "emulated-only" not in str(nornir.inventory.dict())


def test_a_failing_task_prints_and_logs_nothing(
    nornir: Nornir,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    nornir.inventory.hosts["k8sgn08"].port = 1
    one = nornir.filter(name="k8sgn08")
    result = one.run(task=lambda task: ssh_exec.session(task.host, task.nornir.config), name="open")
    assert isinstance(result["k8sgn08"].exception, Unreachable)
    assert capfd.readouterr() == ("", "")
    assert not (tmp_path / "nornir.log").exists()


# --- the guard under a real shell -----------------------------------------------------------------


def shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: PLW1510 - the exit code is what is tested
        ["sh", "-c", guarded_command(command, 1)], capture_output=True, text=True
    )


def test_the_guard_ends_a_command_at_its_deadline() -> None:
    assert shell("sleep 60").returncode == ssh_exec.TIMEOUT_EXIT


def test_the_guard_keeps_streams_and_exit_code() -> None:
    ended = shell(f"sh -c {shlex.quote('echo out; echo err >&2; exit 7')}")
    assert (ended.stdout, ended.returncode) == ("out\n", 7)
    first, second = ended.stderr.splitlines()
    assert first.split()[0] == "rocefort-pid"
    assert second == "err"


def test_the_guard_names_the_process_to_signal() -> None:
    with subprocess.Popen(
        ["sh", "-c", guarded_command("sleep 60", 30)], stderr=subprocess.PIPE
    ) as running:
        assert running.stderr is not None
        pid = int(running.stderr.readline().split()[1])
        assert pid == running.pid
        subprocess.run(["kill", "-TERM", str(pid)], check=True)
        assert running.wait(timeout=20) != 0
