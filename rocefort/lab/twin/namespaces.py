"""Work inside network namespaces by threads, and their one shared kernel limit.

Beyond net.ipv4.neigh.default.gc_thresh3 (1024 by default) new neighbours are refused: at 8 spines
and 64 leaves BGP then took 146 s instead of 1. The limit is raised only if a lab needs more, and
restored when the last lab is removed.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TypeVar

from rocefort.base.errors import ServiceFailed

LIMITS = tuple(Path(f"/proc/sys/net/ipv4/neigh/default/gc_thresh{n}") for n in (1, 2, 3))
KEPT = "neighbours"  # file with the original limits


def raise_neighbour_limit(root: Path, needed: int) -> int | None:
    """Raise the kernel's neighbour limit; returns the new limit if it was too low."""
    before = [int(path.read_text(encoding="ascii")) for path in LIMITS]
    if before[-1] >= needed:
        return None
    if not (root / KEPT).exists():
        (root / KEPT).write_text(" ".join(map(str, before)), encoding="ascii")
    for path, value in reversed(list(zip(LIMITS, (needed // 2, needed, needed), strict=True))):
        path.write_text(str(value), encoding="ascii")
    return needed


def restore_neighbour_limit(root: Path) -> None:
    """Restore the limits before the first lab that needed more."""
    stored = root / KEPT
    if not stored.exists():
        return
    for path, value in zip(LIMITS, stored.read_text(encoding="ascii").split(), strict=True):
        path.write_text(value, encoding="ascii")
    stored.unlink()
    if not any(root.iterdir()):
        root.rmdir()


NETNS = Path("/run/netns")  # folder of `ip netns`
CLONE_NEWNET = 0x40000000
MARK = "ROCEFORT_LAB"  # in the environment of every process that a lab starts
T = TypeVar("T")


def enter(namespace: str) -> None:
    """Move the calling thread, and processes that it starts later, into a namespace."""
    descriptor = os.open(NETNS / namespace, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _call("setns", descriptor, CLONE_NEWNET)
    finally:
        os.close(descriptor)


def _call(name: str, *arguments: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def in_scratch_namespace(work: Callable[[], T]) -> T:
    """Run a function in a temporary namespace, which ends even when this process is killed."""
    done: list[T] = []

    def run() -> None:
        _call("unshare", CLONE_NEWNET)
        done.append(work())

    thread = Thread(target=run)
    thread.start()
    thread.join()
    if not done:
        raise ServiceFailed("no network namespace could be created", how="run it with sudo")
    return done[0]


def inside(jobs: Iterable[tuple[str, Callable[[], T]]]) -> list[T]:
    """Run jobs, each in a thread inside its namespace; all end before the first error rises.

    The threads end here: the calling thread never leaves its own namespace.
    """
    workers = 2 * (os.cpu_count() or 1)
    with ThreadPoolExecutor(workers, thread_name_prefix="inside") as pool:
        futures = [pool.submit(_job, namespace, work) for namespace, work in jobs]
    return [future.result() for future in futures]


def _job(namespace: str, work: Callable[[], T]) -> T:
    enter(namespace)
    return work()


def run(
    lab: str, arguments: Sequence[str], text: str = "", *, where: str = "", check: bool = True
) -> str:
    """Run a command for a lab, in the namespace of the calling thread; returns its output.

    Raises ServiceFailed with the first line of its error output.
    """
    done = subprocess.run(  # noqa: S603 - arguments are ours
        arguments, input=text, capture_output=True, text=True, check=False, env=marked(lab)
    )
    if check and done.returncode != 0:
        message = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()
        raise ServiceFailed(f"{arguments[0]} failed: {message[0]}", where=where)
    return done.stdout


def marked(lab: str) -> dict[str, str]:
    """Return the environment of a lab's processes; `down` finds them by it."""
    return {**os.environ, MARK: lab}


def is_marked(process: int, lab: str) -> bool:
    """Whether a process is a lab's; false for one that has ended."""
    with suppress(OSError):
        marks = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
        return f"{MARK}={lab}".encode() in marks
    return False


def ip_batch(lab: str, lines: Iterable[str], *, where: str = "") -> None:
    """Run lines of `ip -batch` in the calling thread's namespace; stops at the first error."""
    text = "\n".join(lines)
    if text:
        run(lab, ("ip", "-batch", "-"), text + "\n", where=where)


def set_sysctls(settings: Iterable[tuple[str, str]]) -> None:
    """Write sysctls of the calling thread's namespace."""
    for name, value in settings:
        path = Path("/proc/sys") / name.replace(".", "/")
        if path.exists() or not name.startswith("net.ipv6."):  # no error on a kernel without IPv6
            path.write_text(value, encoding="ascii")
