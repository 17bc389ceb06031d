"""Virtual machine that QEMU runs for a guest, and the check whether KVM works here.

Every option here was needed, or measured: `microvm` hung in two of three boots, without
`tsc=reliable` perftest's clock fails, and a NIC of unknown speed has none in RDMA's port data.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.lab.guest.image import Cache, Image

QEMU = "qemu-system-x86_64"
# A server does not wait for the other work of this machine: perftest fails if its clock does.
# `nice` starts QEMU in any case, also where no priority may be raised.
PRECEDENCE = ("nice", "-n", "-10")
INSTALL = "apt-get install -y --no-install-recommends qemu-system-x86"
KVM, TUN = Path("/dev/kvm"), Path("/dev/net/tun")
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
PROBE_S = 10  # a kernel under KVM prints its first line within one
FIRST_WORDS = "Linux version"
READY, FAILED = "ROCEFORT-READY", "ROCEFORT-FAILED"  # console messages of a guest
MANAGEMENT = ("169.254.99.1", "169.254.99.2", 30)  # of the lab's end, the guest's; in no fabric
Accel = Literal["auto", "tcg", "kvm"]
COMMON = ("-display", "none", "-no-reboot", "-nodefaults", "-M", "q35")
KERNEL_WORDS = "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable"


@dataclass(frozen=True)
class Machine:
    """One guest. address: with its prefix length; nic: name of its port to the fabric.

    fabric, management: taps in the namespace where QEMU runs. mtu: of its port. directory: its
    console log and its process id file.
    """

    name: str
    address: str
    gateway: str | None
    nic: str
    mtu: int
    fabric: str
    management: str
    directory: Path

    @property
    def console(self) -> Path:
        """Log of the guest's console."""
        return self.directory / "console.log"

    @property
    def pid_file(self) -> Path:
        """File with the process id of QEMU."""
        return self.directory / "qemu.pid"

    def command(self, image: Image, accel: str, memory_mb: int) -> list[str]:
        """Return the command that starts it; QEMU returns when the guest begins, and continues."""
        return [
            *(*PRECEDENCE, QEMU, "-name", self.name, *COMMON, *cpu(accel), "-smp", "1"),
            *("-m", str(memory_mb), "-device", "virtio-rng-pci"),
            *("-serial", f"file:{self.console}", "-pidfile", str(self.pid_file), "-daemonize"),
            *self._nic("fabric", self.fabric, self.mtu, 0),
            *self._nic("management", self.management, 1500, 1),
            *("-kernel", str(image.vmlinux), "-initrd", str(image.initrd)),
            *("-append", f"{KERNEL_WORDS} {self._words()}"),
        ]

    def _nic(self, name: str, tap: str, mtu: int, number: int) -> tuple[str, ...]:
        device = (
            f"virtio-net-pci,netdev={name},mac={mac(self.name, number)},romfile=,host_mtu={mtu},"
            "rx_queue_size=1024,speed=100000,duplex=full"
        )
        taps = f"tap,id={name},ifname={tap},script=no,downscript=no"
        return ("-netdev", taps, "-device", device)

    def _words(self) -> str:
        given = {
            "name": self.name,
            "address": self.address,
            "gateway": self.gateway or "",
            "nic": self.nic,
            "mtu": str(self.mtu),
            "management": f"{MANAGEMENT[1]}/{MANAGEMENT[2]}",
        }
        return " ".join(f"rocefort.{name}={value}" for name, value in given.items())


def mac(name: str, number: int) -> str:
    """Return a MAC address for a guest's NIC: QEMU's prefix, and a digest of the guest's name."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    return f"52:54:{number:02x}:{digest[:2]}:{digest[2:4]}:{digest[4:6]}"


def cpu(accel: str) -> tuple[str, ...]:
    """Return the options for the guest's CPU."""
    if accel == "kvm":
        return ("-accel", "kvm", "-cpu", "host,arch-capabilities=off")
    return ("-accel", "tcg", "-cpu", "qemu64")


def require_qemu() -> None:
    """Check that guests can run here. Raises ServiceFailed with the command that installs QEMU."""
    if shutil.which(QEMU) is None:
        raise ServiceFailed("is not installed", where=QEMU, how=INSTALL)
    if not TUN.exists():
        raise ServiceFailed(
            "does not exist: no tap can be created", where=str(TUN), how="modprobe tun"
        )


def accel_for(accel: Accel, image: Image, cache: Cache, say: Callable[[str], None]) -> str:
    """Return `kvm` if a kernel has really booted under it, `tcg` otherwise.

    The result is cached until this machine boots again. Raises BadInput if KVM is required and does
    not work.
    """
    if accel == "tcg" or (accel == "auto" and not KVM.exists()):
        return "tcg"
    cached = cache.root / "kvm.json"
    verdict = _cached_answer(cached)
    if verdict is None:
        say(f"trying KVM, for at most {PROBE_S} s")
        verdict = boots(image)
        with suppress(OSError):  # a full disk costs the next lab one more probe
            cached.write_text(json.dumps([_boot_id(), verdict]), encoding="utf-8")
    if verdict:
        return "kvm"
    if accel == "kvm":
        what = f"no kernel boots under KVM within {PROBE_S} s"
        raise BadInput(what, where="--accel", how="use tcg, which needs no KVM")
    return "tcg"


def _cached_answer(file: Path) -> bool | None:
    with suppress(FileNotFoundError, ValueError, TypeError):
        boot, verdict = json.loads(file.read_text(encoding="utf-8"))
        if boot == _boot_id():
            return bool(verdict)
    return None


def _boot_id() -> str:
    return BOOT_ID.read_text(encoding="ascii").strip()


def boots(image: Image, limit_s: float = PROBE_S) -> bool:
    """Whether a kernel prints its first line under KVM; /dev/kvm alone proves nothing."""
    command = [
        *(QEMU, *COMMON, *cpu("kvm"), "-m", "256", "-nic", "none", "-serial", "stdio"),
        *("-kernel", str(image.vmlinux), "-append", "console=ttyS0 panic=-1"),
    ]
    try:
        done = subprocess.run(  # noqa: S603 - our own words
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit_s, check=False
        )
    except subprocess.TimeoutExpired as late:
        output = late.stdout or b""
    else:
        output = done.stdout
    return FIRST_WORDS.encode() in output
