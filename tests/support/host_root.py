"""Emulated server settings in a directory: files of /sys and /proc, and tools with state there.

The shell and the scripts that read or set are real. The tools print the published forms of
mlnx_qos, ethtool and iproute2. The settings of this machine are not changed. A command from outside
is run only if it is in `readers`.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncssh

CPUS = 4
LOCAL_CPUS = "0-1"  # of NUMA node 0
INTERRUPTS = (81, 82)
FACTORY_ENABLE = 1  # DCQCN is on for all priorities (ROCE_CC_PRIO_MASK 255)
TCLASS_SHOW = "Global tclass="  # the form of mlx5 in MLNX_OFED

TOOLS = Path(__file__).parent / "host_tools"  # shell scripts
BASICS = (  # the only programs of this machine in PATH
    *("awk", "basename", "cat", "date", "head", "ls", "mkdir", "mv", "ln", "readlink", "sed", "sh"),
    *("timeout", "tr", "rm", "true", "uname"),
)


@dataclass
class HostRoot:
    """Settings of one server below `root`, with the defaults of its NIC and its kernel.

    interfaces: its ports. address: `10.65.1.11/24`, on the first of them. sysctl, parameters: files
    that its kernel and its driver have, with their values. readers: texts that `serve` runs.
    """

    root: Path
    interfaces: Sequence[str] = ("ens1f0np0",)
    address: str = "192.0.2.10/24"
    speed_mbps: int = 100_000
    sysctl: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, int] = field(default_factory=dict)
    tools: Sequence[str] = ("ip", "ethtool", "mlnx_qos", "tc")
    readers: set[str] = field(default_factory=set)

    def make(self) -> HostRoot:
        """Lay out all files; raises OSError."""
        self._tools()
        self.write("state/addresses", f"{self.interfaces[0]} {self.address}")
        self.write("state/calls", "", end="")
        for name, value in self.sysctl.items():
            self.write(f"proc/sys/{name.replace('.', '/')}", value)
        for cpu in range(CPUS):
            self.write(f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor", "powersave")
        self.write("sys/devices/system/node/node0/cpulist", LOCAL_CPUS)
        for number, name in enumerate(self.interfaces):
            self._interface(number, name)
        return self

    def _tools(self) -> None:
        bin_ = self.root / "bin"
        bin_.mkdir(parents=True)
        for name in self.tools:
            shutil.copyfile(TOOLS / name, bin_ / name)
            (bin_ / name).chmod(0o755)
        for name in BASICS:
            program = next(p for d in ("/usr/bin", "/bin") if (p := Path(d, name)).exists())
            (bin_ / name).symlink_to(program)

    def _interface(self, number: int, name: str) -> None:
        at, device = f"sys/class/net/{name}", f"mlx5_{number}"
        self.write(f"{at}/mtu", "1500")
        self.write(f"{at}/speed", str(self.speed_mbps))
        self.write(f"{at}/device/numa_node", "0")
        for irq in INTERRUPTS:
            self.write(f"{at}/device/msi_irqs/{irq + 10 * number}", "msix")
            self.write(f"proc/irq/{irq + 10 * number}/smp_affinity_list", f"0-{CPUS - 1}")
        for path, value in self.parameters.items():
            self.write(f"{at}/ecn/{path}", str(value))
        for side in ("np", "rp"):
            for priority in range(8):
                self.write(f"{at}/ecn/roce_{side}/enable/{priority}", str(FACTORY_ENABLE))
        (self.root / at / "device/infiniband" / device).mkdir(parents=True)
        self.write(f"sys/class/infiniband/{device}/tc/1/traffic_class", "", end="")
        self.write(f"sys/kernel/config/rdma_cm/{device}/ports/1/default_roce_mode", "IB/RoCE v1")
        self.write(f"sys/kernel/config/rdma_cm/{device}/ports/1/default_roce_tos", "0")
        self.write(f"state/qdisc.{name}", "fq_codel")
        for ring in ("rx", "tx"):
            self.write(f"state/ring_{ring}.{name}", "1024")
        self.write(f"state/qos.{name}/dcbx", "Firmware controlled")
        self.write(f"state/qos.{name}/trust", "pcp")
        self.write(f"state/qos.{name}/pfc", "0 0 0 0 0 0 0 0")
        rows = (f"{dscp} {dscp >> 3}" for dscp in range(64))
        self.write(f"state/qos.{name}/map", "\n".join(rows))

    def write(self, path: str, text: str, end: str = "\n") -> None:
        """Write a file of the server."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + end, encoding="utf-8")

    def read(self, path: str) -> str:
        """Read a file of the server."""
        return (self.root / path).read_text(encoding="utf-8").strip()

    def state(self) -> dict[str, str]:
        """Return every file by its path, except the record of calls."""
        texts = {}
        for path in sorted(self.root.rglob("*")):
            if path.is_file() and path.name != "calls" and path.parent.name != "bin":
                texts[str(path.relative_to(self.root))] = path.read_text(encoding="utf-8")
        return texts

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of a command on this server: its root and its tools only."""
        return {"ROCEFORT_ROOT": str(self.root), "PATH": str(self.root / "bin")}

    def run(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Run a command of this machine against the server's files."""
        done = subprocess.run(
            list(command),
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        self._settle()
        return done

    def _settle(self) -> None:
        """Change written values to the form that the kernel shows: `138` to `Global tclass=138`."""
        for path in self.root.glob("sys/class/infiniband/*/tc/1/traffic_class"):
            text = path.read_text(encoding="utf-8")
            if text.strip().isdecimal():
                path.write_text(f"{TCLASS_SHOW}{text}", encoding="utf-8")

    def allows(self, command: str | None) -> bool:
        """Return whether a command over SSH is in `readers`, and so may run."""
        return command is not None and command in self.readers

    async def serve(self, command: str, process: asyncssh.SSHServerProcess[bytes]) -> None:
        """Run a command of `readers`, and send its output and exit code."""
        done = await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            command,
            env=self.environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await done.communicate()
        process.stdout.write(out)
        process.stderr.write(err)
        process.exit(done.returncode if done.returncode is not None else os.EX_SOFTWARE)
