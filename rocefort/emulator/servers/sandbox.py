"""An emulated server that runs its commands for real: a shell, a guard, programs.

Each server is a directory with a process table of its own (the processes that have its directory in
their environment). A command over SSH runs only if it is one of the configured texts, or a known
program within a known guard. No other command reaches a shell. As with sshd, a command's input ends
with its SSH channel, and the command itself continues until its guard ends it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import signal
import stat
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING

from rocefort.emulator.servers.ssh_hosts import KILL, NEWEST_VERSION, VERSION_EXIT
from rocefort.emulator.servers.ssh_hosts import TOOLS as PERFTEST
from rocefort.models.network.servers import HostPlan

if TYPE_CHECKING:
    import asyncssh

PROGRAM = Path(__file__).parent / "perftest_stub.py"
OTHERS = ("iperf3", "fio", "mpirun")
BASICS = (
    "awk",
    "cat",
    "date",
    "echo",
    "flock",
    "grep",
    "kill",
    "sed",
    "sh",
    "sleep",
    "timeout",
    "tr",
    "true",
)
STATISTIC = (
    "link {device}/1 sent_pkts {packets} rcvd_pkts {packets} duplicate_request 0 "
    "out_of_seq_request {lost} rcvd_rnr_err 0 send_rnr_err 0 rcvd_seq_err 0 ack_deferred 0 "
    "retry_exceeded_err 0 retry_rnr_exceeded_err 0 completer_retry_err 0 send_err 0 link_downed 0 "
    "rdma_sends 0 rdma_recvs 0 "
)
KERNEL = "emulated"  # its release: no kernel of its own runs
ETHTOOL = r"""case $1 in
-i) printf 'driver: emulated\nversion: \nfirmware-version: \n' ;;
-S) printf 'NIC statistics:\n     rx_discards_phy: 0\n' ;;
*) echo 'netlink error: Operation not supported' >&2; exit 75 ;;
esac"""
FAULTS = {
    "perftest-missing": "perftest is not installed",
    "no-device": "there is no RDMA device",
    "wrong-gid": "its GID has another address",
    "firewall-4791": "no RoCE packet comes through",
    "killed-midrun": "a perftest server is killed while its client measures",
    "disk-full": "no space is left where fio writes",
    "not-mounted": "the remote storage is not mounted",
    "kubelet": "it is a Kubernetes node",
}

ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}", re.ASCII)  # the server that a client names
Unwrap = Callable[[str], tuple[str, ...] | None]


@dataclass
class RdmaRoot:
    """One server below `root`; `wire` is the directory that all servers of a lab share.

    plan: intended settings; those of the kernel and of its port are laid out, so that the reader
    of servers finds them. Nothing answers for a NIC's firmware and DCQCN: it has none.
    unwrap: takes a guard off a command. texts: command lines that may run as they are, within a
    guard. share: part of its port's speed that it gives. pace: real seconds for a second of a test.
    """

    name: str
    root: Path
    wire: Path
    address: str
    leaf: str
    gbps: float
    unwrap: Unwrap
    texts: Collection[str]
    faults: Collection[str] = ()
    plan: HostPlan | None = None
    version: str = NEWEST_VERSION
    device: str = "rxe0"
    gid: int = 1
    share: float = 1.0
    pace: float = 0.02
    tick: float = 1.0
    routed: Callable[[str, str], bool] = lambda _near, _far: True  # between two servers' addresses
    calls: list[str] = field(default_factory=list)  # commands that were started, in order

    def make(self) -> RdmaRoot:
        """Create all files again; raises OSError."""
        for folder in ("bin", "tmp", "proc"):
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        self._programs()
        self._write("server.json", json.dumps(self._own()))
        self._write("etc/os-release", 'NAME="Debian GNU/Linux"\nVERSION_ID="12"\n')
        self._write("proc/sys/kernel/random/boot_id", self.name)
        self._write("proc/1/comm", "init")
        if "kubelet" in self.faults:
            self._write("proc/77/comm", "kubelet")
        if "no-device" not in self.faults:
            self._device()
        if self.plan is not None:
            self._settings(self.plan)
        return self

    def _settings(self, plan: HostPlan) -> None:
        """Lay out the kernel's files of the intended settings."""
        at = f"sys/class/net/{self.interface}"
        self._write(f"{at}/mtu", str(plan.mtu))
        self._write(f"{at}/speed", f"{self.gbps * 1000:.0f}")
        for name, value in plan.sysctl.items():
            self._write(f"proc/sys/{name.replace('.', '/')}", str(value))
        if plan.governor:
            self._write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", plan.governor)
        row = f"2: {self.interface}    inet {plan.address} scope global {self.interface}"
        self._script("ip", f'echo "{row}"')

    @property
    def interface(self) -> str:
        """Interface with its address."""
        return (self.plan.main if self.plan else None) or "eth0"

    def _own(self) -> dict[str, object]:
        return {
            "wire": str(self.wire),
            "address": self.address,
            "gbps": self.gbps,
            "device": self.device,
            "gid": self.gid,
            "faults": list(self.faults),
            "pace": self.pace,
            "tick": self.tick,
        }

    def _programs(self) -> None:
        for name in BASICS:
            program = next(p for d in ("/usr/bin", "/bin") if (p := Path(d, name)).exists())
            link_path = self.root / "bin" / name
            if not link_path.is_symlink():
                link_path.symlink_to(program)
        missing = PERFTEST if "perftest-missing" in self.faults else ()
        for name in (*PERFTEST, *OTHERS):
            if name not in missing:
                words = [sys.executable, "-I", "-S", str(PROGRAM), str(self.root), name]
                self._script(name, f'{self._version(name)}exec {shlex.join(words)} "$@"')
        self._script("uname", f'[ "$1" != -r ] || {{ echo {KERNEL}; exit 0; }}\necho {self.name}')
        self._script("stdbuf", 'shift; exec "$@"')
        self._script("mountpoint", "exit 32" if "not-mounted" in self.faults else "exit 0")
        link = STATISTIC.format(device=self.device, packets=1, lost=0)
        self._script("rdma", f'cat "$ROCEFORT_ROOT/statistic" 2>/dev/null || echo "{link}"')
        self._script("ethtool", ETHTOOL)

    def _version(self, name: str) -> str:
        """Return shell code for perftest's `--version`: every probe runs it."""
        answer = shlex.quote(f"Version: {self.version}")
        return (
            f'[ "$*" != --version ] || {{ echo {answer}; exit {VERSION_EXIT}; }}\n'
            if name in PERFTEST
            else ""
        )

    def _device(self) -> None:
        port = f"sys/class/infiniband/{self.device}/ports/1"
        theirs = "192.0.2.1" if "wrong-gid" in self.faults else self.address
        number = int(IPv4Address(theirs))
        mapped = f"{'0000:' * 5}ffff:{number >> 16:04x}:{number & 0xFFFF:04x}"
        link_local = "fe80:0000:0000:0000:5054:00ff:fe91:010a"
        for index, gid in enumerate((link_local, mapped)):
            self._write(f"{port}/gids/{index}", gid)
            self._write(f"{port}/gid_attrs/types/{index}", "RoCE v2")
            self._write(f"{port}/gid_attrs/ndevs/{index}", self.interface)
        self._write(f"sys/class/infiniband/{self.device}/device/numa_node", "-1")
        self._write(f"sys/class/infiniband/{self.device}/parent", self.interface)

    def _write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n", encoding="utf-8")

    def _script(self, name: str, text: str) -> None:
        self._write(f"bin/{name}", f"#!/bin/sh\n{text}")
        (self.root / "bin" / name).chmod(stat.S_IRWXU)

    @property
    def environment(self) -> dict[str, str]:
        """Environment of every process of this server."""
        return {"ROCEFORT_ROOT": str(self.root), "PATH": str(self.root / "bin")}

    def _fault_of(self, command: str) -> dict[str, str]:
        """Return the fault of one run: the switches have no route to a server that it names."""
        others = (word for word in (self.unwrap(command) or ()) if ADDRESS.fullmatch(word))
        lost = any(not self.routed(self.address, other) for other in others)
        return {"ROCEFORT_FAULT": "firewall-4791"} if lost else {}

    def processes(self) -> dict[int, str]:
        """Return its process table: command line by process id."""
        mark = f"ROCEFORT_ROOT={self.root}".encode()
        commands = {}
        for path in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark in (path / "environ").read_bytes().split(b"\0"):
                    words = (path / "cmdline").read_bytes().split(b"\0")
                    commands[int(path.name)] = b" ".join(words).decode(errors="replace").strip()
        return commands

    def kill_all(self) -> None:
        """Kill all processes, as a power loss does."""
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def allows(self, command: str | None) -> bool:
        """Whether a command over SSH may run here."""
        if command is None:
            return False
        if kill := KILL.fullmatch(command):
            return int(kill["pid"]) in self.processes()
        words = self.unwrap(command) or ()
        program = words[2:] if words[:2] == ("stdbuf", "-oL") else words
        emulated = bool(program) and program[0] in (*PERFTEST, *OTHERS, "mountpoint")
        return emulated or shlex.join(words) in self.texts

    async def serve(self, command: str, process: asyncssh.SSHServerProcess[bytes]) -> None:
        """Run an allowed command, and stream its output."""
        self.calls.append(command)
        done = await asyncio.create_subprocess_exec(
            str(self.root / "bin" / "sh"),
            "-c",
            command,
            env=self.environment | self._fault_of(command),
            cwd=self.root,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        pipes = (done.stdin, done.stdout, done.stderr)
        stdin, stdout, stderr = pipes
        if stdin is None or stdout is None or stderr is None:
            raise OSError("no pipes")
        closing = asyncio.ensure_future(_closed_with(process, stdin))
        try:
            await asyncio.gather(_copy(stdout, process.stdout), _copy(stderr, process.stderr))
            code = await done.wait()
        finally:
            closing.cancel()
            stdin.close()
            if done.returncode is None:  # the lab ends, and its processes too
                await asyncio.to_thread(self.kill_all)
                await done.communicate()
        with suppress(OSError):
            if code < 0:
                process.exit_with_signal(signal.Signals(-code).name.removeprefix("SIG"))
            else:
                process.exit(code)


async def _closed_with(
    process: asyncssh.SSHServerProcess[bytes], stdin: asyncio.StreamWriter
) -> None:
    """Close a command's input when its SSH channel has ended."""
    import asyncssh  # noqa: PLC0415 - belongs to an extra

    try:
        with suppress(OSError, EOFError, asyncssh.Error):
            while await process.stdin.read(1024):
                pass
    finally:
        stdin.close()


async def _copy(source: asyncio.StreamReader, target: asyncssh.SSHWriter[bytes]) -> None:
    while piece := await source.read(65536):
        with suppress(OSError):  # the channel has ended; the command continues
            target.write(piece)


def write_cables(wire: Path, lost: Mapping[str, float]) -> None:
    """Write when leaves lost a cable, s of the clock, for the programs of all servers."""
    partial = wire / "cables.part"
    partial.write_text(json.dumps(dict(lost)), encoding="utf-8")
    partial.replace(wire / "cables.json")


def write_servers(wire: Path, roots: Mapping[str, RdmaRoot]) -> None:
    """Write leaves and speeds of all servers, by address, for their programs."""
    wire.mkdir(parents=True, exist_ok=True)
    rows = {
        root.address: {"name": name, "leaf": root.leaf, "gbps": root.gbps, "share": root.share}
        for name, root in roots.items()
    }
    (wire / "servers.json").write_text(json.dumps(rows), encoding="utf-8")
