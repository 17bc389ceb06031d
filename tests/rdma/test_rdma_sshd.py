"""Servers with a real sshd, for root and for a user: a run, its faults, a killed controller.

The programs replay recordings, or are Debian's perftest on a machine without RDMA.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from host_root import HostRoot

from rocefort.base.errors import DeviceFailed
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.derive.host_plans import host_plans
from rocefort.dialects.server_configuration import SCRIPT, host_files
from rocefort.emulator.servers import sandbox
from rocefort.emulator.servers.sandbox import RdmaRoot, write_servers
from rocefort.fleet.connections import Connections, ServerAccess, SshAccess, save_connections
from rocefort.fleet.server_scripts import EVERY
from rocefort.fleet.ssh_exec import guarded_words
from rocefort.rdma.designed_plan import RdmaRequest
from rocefort.rdma.plan.site import RdmaPlanOptions
from rocefort.rdma.rdma_plan import Suite
from rocefort.rdma.results import MeasurementVerdict, RdmaResult
from rocefort.rdma.run_suite import RunDialogue, run_tests
from rocefort.rdma.server_readings import check_servers

PAIR = ("k8sgn08", "k8sgn12")
PATIENCE_S = 60.0  # for a busy machine
UID = 1000  # of the unprivileged user
SSHD = shutil.which("sshd") or next((p for p in ("/usr/sbin/sshd",) if Path(p).exists()), None)
OWN_MOUNTS = "mount -t tmpfs none /run && mkdir -m 755 /run/sshd && "
OWN_USERS = "mount --bind {} /etc/passwd && exec "
NO_RIGHTS = f"setpriv --reuid={UID} --regid={UID} --clear-groups "
START = [sys.executable, "-c", "from rocefort.tasks import app; app()"]


def _mounts() -> bool:
    tried = ["unshare", "-m", "sh", "-c", f"{OWN_MOUNTS}true"]
    return not os.getuid() and shutil.which("unshare") is not None and not _code(tried)


def _code(words: list[str]) -> int:
    return subprocess.run(words, capture_output=True, check=False).returncode


@dataclass
class Daemon:
    """The sshd of one server."""

    port: int
    process: subprocess.Popen[bytes]


@dataclass
class Bench:
    """Servers with sshd, and the connections to them."""

    roots: dict[str, RdmaRoot]
    access: Connections
    file: Path
    fabric: Path
    history: Path

    @property
    def processes(self) -> dict[str, list[str]]:
        found = {name: list(root.processes().values()) for name, root in self.roots.items()}
        return {name: commands for name, commands in found.items() if commands}

    def measure(self) -> RdmaResult:
        options = RdmaPlanOptions(duration_s=4, iterations=100)
        asked = RdmaRequest(Suite.WRITE, tuple(self.roots), options, switches=False)
        return run_tests(self.fabric, self.access, asked, self.history, RunDialogue(lambda _: None))


class Gate:
    """Starter of an sshd with a separate configuration, for one user, with one key."""

    def __init__(self, directory: Path, opened: ExitStack, *, rights: bool) -> None:
        self.directory, self.opened, self.rights = directory, opened, rights
        directory.mkdir()
        directory.chmod(0o755)
        for name in ("host", "user"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(directory / name)]
            subprocess.run(words, check=True)
        self.user = "root" if rights else "rdma"
        if not rights:
            os.chown(directory / "host", UID, UID)
        own = f"rdma:x:{UID}:{UID}::{directory}:/bin/bash\n"
        (directory / "passwd").write_text(
            f"root:x:0:0::{directory}:/bin/bash\n{own}sshd:x:{UID + 1}:65534::/run/sshd:/bin/false\n"
        )
        # Output of a login shell is no output of the program.
        (directory / ".bashrc").write_text("echo .bashrc: no such colour >&2\n")

    def start(self, environment: Mapping[str, str]) -> Daemon:
        """Start an sshd that sets this environment, and wait until it listens."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        given = " ".join(f'"{name}={value}"' for name, value in environment.items())
        rows = {
            "ListenAddress": "127.0.0.1",
            "Port": port,
            "HostKey": self.directory / "host",
            "AuthorizedKeysFile": self.directory / "user.pub",
            "PidFile": "none",
            "PasswordAuthentication": "no",
            "UsePAM": "no",
            "StrictModes": "no",
            "PermitRootLogin": "prohibit-password",
            "SetEnv": given,
        }
        file = self.directory / f"{port}.conf"
        file.write_text("".join(f"{name} {value}\n" for name, value in rows.items()))
        users = OWN_USERS.format(self.directory / "passwd")
        user = "" if self.rights else NO_RIGHTS
        script = f"{OWN_MOUNTS}{users}{user}{SSHD} -D -e -f {file}"
        log = (self.directory / f"{port}.log").open("wb")
        process = subprocess.Popen(["unshare", "-m", "sh", "-c", script], stderr=log)
        self.opened.callback(log.close)
        self.opened.callback(_end, process)
        assert until(lambda: _listens(port)), (self.directory / f"{port}.log").read_text()
        return Daemon(port, process)

    def give(self, place: Path) -> None:
        """Give a directory, with all below it, to the user that logs in."""
        for each in (place, *place.rglob("*")):
            if not self.rights:
                os.chown(each, UID, UID, follow_symlinks=False)

    def known_hosts(self, daemons: Mapping[str, Daemon]) -> str:
        key = " ".join((self.directory / "host.pub").read_text().split()[:2])
        return "".join(f"[127.0.0.1]:{daemon.port} {key}\n" for daemon in daemons.values())


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def until(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)  # a scan of all processes is slow
    return True


def connections(
    heps: DerivedNetwork, gate: Gate, daemons: Mapping[str, Daemon], at: Path
) -> tuple[Connections, Path]:
    (at / "known_hosts").write_text(gate.known_hosts(daemons))
    switch = {"host": "127.0.0.1", "port": 1, "user": "x", "credential": "env:HOME"}
    access = Connections(
        known_hosts=at / "known_hosts",
        connect_timeout_s=30,
        devices=tuple(SshAccess(name=node.name, **switch) for node in heps.network.nodes),
        servers=tuple(
            ServerAccess(
                name=name,
                host="127.0.0.1",
                port=daemon.port,
                user=gate.user,
                credential=f"key:{gate.directory / 'user'}",
                rdma_device="rxe0",
                gid_index=1,
            )
            for name, daemon in daemons.items()
        ),
    )
    save_connections(access, at / "connections.yaml")
    return access, at / "connections.yaml"


@contextmanager
def opened_gate(at: Path, *, rights: bool) -> Iterator[Gate]:
    if SSHD is None or not _mounts():
        pytest.skip("needs openssh-server, root and unshare(1)")
    for place in (at, *at.parents):  # the unprivileged user must have access
        if place.stat().st_uid == os.getuid() and place != Path("/"):
            place.chmod(place.stat().st_mode | 0o055)
    with ExitStack() as opened:
        yield Gate(at / "gate", opened, rights=rights)


@pytest.fixture(params=[True, False], ids=["root", "without rights"])
def gate(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Gate]:
    with opened_gate(tmp_path, rights=request.param) as found:
        yield found


@pytest.fixture
def bench(
    gate: Gate,
    heps: DerivedNetwork,
    heps_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Bench]:
    if not gate.rights:  # who may perhaps read neither this checkout nor its Python
        python = shutil.which("python3", path="/usr/bin:/bin")
        if python is None:
            pytest.skip("no python3 for all users here")
        monkeypatch.setattr(sys, "executable", python)
        program = shutil.copy(sandbox.PROGRAM, tmp_path)
        monkeypatch.setattr(sandbox, "PROGRAM", Path(program))
    servers = {s.name: s for s in heps.network.servers or () if s.name in PAIR}
    wire = tmp_path / "wire"
    roots = {
        name: RdmaRoot(
            name, tmp_path / "servers" / name, wire, str(server.address.ip), server.port.device,
            server.flow_gbps, guarded_words, EVERY, pace=0.1,
        ).make()
        for name, server in servers.items()
    }  # fmt: skip
    write_servers(wire, roots)
    for place in (wire, *(root.root for root in roots.values())):
        gate.give(place)
    daemons = {name: gate.start(root.environment) for name, root in roots.items()}
    access, file = connections(heps, gate, daemons, tmp_path)
    yield Bench(roots, access, file, heps_file, tmp_path / "rdma.db")
    for root in roots.values():
        root.kill_all()


def test_a_run_over_a_real_sshd(bench: Bench) -> None:
    result = bench.measure()
    assert [
        m.sentence for m in result.measurements if m.verdict is not MeasurementVerdict.PASSED
    ] == []
    assert (len(result.measurements), result.unmeasured) == (2, ())
    assert bench.processes == {}


def test_debians_perftest_without_a_device_says_so(bench: Bench) -> None:
    real = shutil.which("ib_write_bw")
    if real is None:
        pytest.skip("no perftest here")
    for root in bench.roots.values():
        for name in ("ib_write_bw", "ib_write_lat"):
            (root.root / "bin" / name).unlink()
            (root.root / "bin" / name).symlink_to(Path(real).with_name(name))
    result = bench.measure()
    assert [(m.outcome, m.value) for m in result.measurements] == [("no-device", None)] * 2
    for each in result.measurements:
        assert f"{each.run.program}: no-device: there is no such RDMA device (" in each.sentence
        assert "Did not detect devices" in each.sentence
    assert bench.processes == {}


@pytest.mark.parametrize("gate", [False], ids=["without rights"], indirect=True)
def test_nothing_outlives_a_controller_that_is_killed(bench: Bench) -> None:
    for root in bench.roots.values():
        root.pace = 5.0
        root.make()
    command = [*START, "rdma", "run", str(bench.fabric), "--connections", str(bench.file)]
    command += ["--servers", ",".join(PAIR), "--history", str(bench.history), "--no-switches"]
    said = bench.history.with_suffix(".log")
    with said.open("wb") as log:
        running = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        started = until(lambda: "ib_write_bw -d" in str(bench.processes.get(PAIR[0])))
        assert started, said.read_text()
        assert len(bench.processes) == 2
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait()
    assert until(lambda: bench.processes == {}), bench.processes


def test_a_server_that_knows_another_key_is_one_line(bench: Bench, tmp_path: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(other)], check=True)
    sound, wrong = bench.access.servers
    wrong = wrong.model_copy(update={"credential": f"key:{other}"})
    bench.access = bench.access.model_copy(update={"servers": (sound, wrong)})
    with pytest.raises(DeviceFailed) as caught:
        bench.measure()
    assert str(caught.value).splitlines()[0] == (
        f"k8sgn12: unreachable: the server cannot be logged in to (127.0.0.1:{wrong.port} refuses "
        f"the login of {wrong.user!r}; check the user and its credential)"
    )


def test_host_check_over_a_real_sshd(
    gate: Gate, heps: DerivedNetwork, heps_file: Path, tmp_path: Path
) -> None:
    plan = host_plans(heps)[PAIR[0]]
    assert plan.nic is not None
    files = (*plan.nic.switches, *plan.nic.parameters)
    root = HostRoot(
        tmp_path / "host",
        address=str(plan.address),
        sysctl=plan.sysctl,
        parameters={file.path: file.value for file in files},
    ).make()
    script = tmp_path / SCRIPT
    script.write_text(host_files(plan)[SCRIPT], encoding="utf-8")
    assert root.run(["/bin/bash", str(script), "--apply"]).returncode == 0
    root.write("state/qos.ens1f0np0/trust", "pcp")
    gate.give(root.root)
    access, _ = connections(heps, gate, {PAIR[0]: gate.start(root.environment)}, tmp_path)
    found = check_servers(heps_file, access, [PAIR[0]])
    (finding,) = found.report.findings
    assert (finding.rule, found.exit_code) == ("HST105", 1)
    assert finding.message == "it trusts pcp, and RoCE of leaf01 100GE1/0/2 has a DSCP only"
