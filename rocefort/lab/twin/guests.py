"""Soft-RoCE guests as servers of a lab: QEMU in the namespace of each, behind its cable."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shlex import join
from time import monotonic, sleep

from rocefort.base.errors import BadInput, Problem, ServiceFailed
from rocefort.lab.guest.image import Cache, Image
from rocefort.lab.guest.qemu import (
    FAILED,
    MANAGEMENT,
    READY,
    Accel,
    Machine,
    accel_for,
    require_qemu,
)
from rocefort.lab.twin.namespaces import inside, is_marked, run
from rocefort.lab.twin.port_forwarding import LOOPBACK, pid_file, ports_file, start_forwarding
from rocefort.lab.twin.registry import LabRecord, Registry, end_processes, namespace
from rocefort.lab.twin.topology import GUEST_TAP, MANAGEMENT_TAP, Host, TwinTopology

MEMORY_MB = 256
TAKES_MB = 360  # of this machine, with the memory of QEMU itself
LEAST_S, EACH_S = 90.0, 15.0  # until ready: two busy cores boot sixteen in a minute or more
USER = "root"
SSH = "ssh"
POLL_S = 0.1
MEMORY = Path("/proc/meminfo")


def prepare(accel: Accel, say: Callable[[str], None], guests: int) -> tuple[Image, str]:
    """Return the image and the accelerator of guests, before anything of a lab exists.

    Raises ServiceFailed for what is missing: QEMU, an image, memory.
    """
    require_qemu()
    if shutil.which(SSH) is None:
        how = "apt-get install -y openssh-client"
        raise ServiceFailed("is not installed: it reaches guests", where=SSH, how=how)
    cache = Cache()
    image = cache.require()
    free = _free_mb()
    if guests * TAKES_MB > free:
        take = "1 guest takes" if guests == 1 else f"{guests} guests take"
        what = f"{take} {guests * TAKES_MB} MB, {free} MB are free"
        raise ServiceFailed(what, where="--guests", how="name fewer")
    return image, accel_for(accel, image, cache, say)


def _free_mb() -> int:
    for line in MEMORY.read_text(encoding="ascii").splitlines():
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return int(rest.split()[0]) // 1024
    return 0


def with_guests(topology: TwinTopology, names: Collection[str]) -> TwinTopology:
    """Return a topology with some servers as guests. Raises BadInput for an unknown server."""
    hosts_by_name = topology.by_host
    if unknown := [name for name in names if name not in hosts_by_name]:
        how = f"use all, or some of: {', '.join(hosts_by_name)}"
        problems = [Problem("--guests", f"no server is called {n!r}", how) for n in unknown]
        raise BadInput(problems=problems)
    hosts = tuple(
        host.model_copy(update={"guest": True}) if host.name in names else host
        for host in topology.hosts
    )
    return topology.model_copy(update={"hosts": hosts})


@dataclass(frozen=True)
class Guests:
    """Guests of one lab."""

    registry: Registry
    record: LabRecord

    @property
    def directory(self) -> Path:
        """Folder of consoles, process ids, ports, known hosts; for root only."""
        return self.registry.directory(self.record.id) / "guests"

    @property
    def image(self) -> Image:
        """Image of the guests. Raises ServiceFailed if it was removed since the start."""
        directory = Path(self.record.image)  # the caller may have another cache: sudo does
        image = Cache(directory.parent.parent).find(directory.name)
        if image is None:
            raise ServiceFailed("the guests' image is gone", where=self.record.image)
        return image

    def machine(self, host: Host) -> Machine:
        """Return the machine of a server."""
        return Machine(
            name=host.name,
            address=host.links[0].addresses[0],
            gateway=host.gateway,
            nic=host.links[0].name,
            mtu=host.links[0].mtu or 1500,
            fabric=GUEST_TAP,
            management=MANAGEMENT_TAP,
            directory=self.directory / host.name,
        )

    def start(self, hosts: Iterable[Host], image: Image) -> None:
        """Start QEMU for servers whose namespaces and taps exist."""
        inside(
            (namespace(self.record.id, host.name), partial(self._start, host, image))
            for host in hosts
        )

    def _start(self, host: Host, image: Image) -> None:
        machine = self.machine(host)
        machine.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        machine.console.unlink(missing_ok=True)
        words = machine.command(image, self.record.accel, MEMORY_MB)
        run(self.record.id, words, where=host.name)

    def stop(self, names: Collection[str]) -> None:
        """End QEMU of some servers."""
        end_processes(self.record.id, {namespace(self.record.id, name) for name in names})

    def wait(self, hosts: Sequence[Host]) -> float:
        """Wait until all are ready; returns the seconds.

        Raises ServiceFailed for the first that is late, with its last line; the error has the place
        of its console log.
        """
        began = monotonic()
        until = began + LEAST_S + EACH_S * len(hosts)
        waiting = list(hosts)
        while waiting:
            waiting = [host for host in waiting if not self._ready(host)]
            if waiting and monotonic() > until:
                within = f"is not ready within {until - began:.0f} s"
                raise self._failure(self.machine(waiting[0]), within)
            sleep(POLL_S if waiting else 0)
        return monotonic() - began

    def _ready(self, host: Host) -> bool:
        machine = self.machine(host)
        alive, console = self.running(host.name), _console_text(machine)
        if FAILED in console:
            raise self._failure(machine, "does not boot")
        if not alive:
            raise self._failure(machine, "does not boot: QEMU ended")
        return READY in console

    def _failure(self, machine: Machine, what: str) -> ServiceFailed:
        lines = _console_text(machine).split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "no output")
        log, how = Cache().root / "consoles" / f"{self.record.name}-{machine.name}.log", ""
        with suppress(OSError):  # a full disk must not hide the error of the guest
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text(_console_text(machine), encoding="utf-8")
            how = f"see {log}"
        return ServiceFailed(f"guest {what}: {last}", where=machine.name, how=how)

    def running(self, name: str) -> bool:
        """Whether QEMU of a server runs."""
        return self._ours(self.directory / name / "qemu.pid")

    def forwarded(self) -> bool:
        """Whether the process that forwards ports on loopback to them runs."""
        return self._ours(pid_file(self.directory))

    def _ours(self, file: Path) -> bool:
        """Whether the process of a file runs, and not another one with its number.

        It has the lab's mark, as only processes of the lab do.
        """
        with suppress(OSError, ValueError):
            return is_marked(int(file.read_text(encoding="ascii")), self.record.id)
        return False

    def dead(self) -> list[str]:
        """Return guests whose QEMU does not run any more."""
        return [name for name in self.record.guests if not self.running(name)]

    # --- how they are reached ---------------------------------------------------------------------

    def open(self) -> None:
        """Forward ports on loopback to them, and record their host key."""
        ports = start_forwarding(self.registry, self.record, self.directory)
        key = self.image.host_key
        lines = [f"{MANAGEMENT[1]} {key}\n"]
        lines += [f"[{LOOPBACK}]:{port} {key}\n" for port in ports.values()]
        self.known_hosts.write_text("".join(lines), encoding="utf-8")

    @property
    def known_hosts(self) -> Path:
        """Host keys, by every address of the guests."""
        return self.directory / "known_hosts"

    @property
    def ports(self) -> dict[str, int]:
        """Port on loopback of each guest; empty before `open`."""
        file = ports_file(self.directory)
        ports: dict[str, int] = json.loads(file.read_text("utf-8")) if file.exists() else {}
        return ports

    def ssh(self, command: Sequence[str]) -> list[str]:
        """Return the command line that runs a command in a guest, from its server's namespace."""
        options = (
            *("BatchMode=yes", "StrictHostKeyChecking=yes", "LogLevel=ERROR"),
            *(f"UserKnownHostsFile={self.known_hosts}", "GlobalKnownHostsFile=none"),
            *("IdentitiesOnly=yes", "ConnectTimeout=30"),
        )
        words = [SSH, "-F", "none", "-i", str(self.image.key)]
        for option in options:
            words += ["-o", option]
        return [*words, f"{USER}@{MANAGEMENT[1]}", "--", join(command)]


def _console_text(machine: Machine) -> str:
    try:
        return machine.console.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""
