"""Locks that allow one controller at a time; the kernel frees them when the holder ends."""

from __future__ import annotations

import fcntl
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import IO, NoReturn

from rocefort.base.errors import Refused, ServiceFailed
from rocefort.fleet.open_files import make_room
from rocefort.models.change.plan import digest_of
from rocefort.rollout import operator

HOLDER = re.compile(
    r"process (?P<process>\d+) of (?:uid )?\S+ on (?P<host>\S+), "
    r"since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"
)
LOCKS = Path("/proc/locks")  # of Linux
MAX_HOLDER_BYTES = 400  # bytes that are read of a lock file: every user may write there
# Directories in which every user may create files and remove only their own. The choice depends on
# neither TMPDIR nor the user: the first suitable one serves all users of a machine.
SHARED = (Path("/run/lock"), Path("/var/lock"), Path("/tmp"))  # noqa: S108 - made with care below
FOR_ALL = 0o666
MINE = 0o600
TRIES = 20  # for controllers that begin and end at the same moment


@contextmanager
def one_controller(switches: Iterable[str]) -> Iterator[None]:
    """Hold all switches for one controller or none, for any plan, journal and user.

    switches: `host:port` of every switch of the site. Two names of one switch give two locks.
    There, as between machines, the switch decides: it accepts one trial at a time. Raises Refused
    with a switch and its holder, and ServiceFailed.
    """
    switch_by_lock = {_lock_of(switch): switch for switch in switches}
    directory = shared_directory()
    make_room(len(switch_by_lock))
    with ExitStack() as held:
        for name in sorted(switch_by_lock):  # one order for all
            held.enter_context(locked(directory / name, FOR_ALL, switch_by_lock[name]))
        yield


def shared_directory() -> Path:
    """Directory of the switches' locks; raises ServiceFailed on a machine without one."""
    for directory in SHARED:
        try:
            attributes = directory.stat()
        except OSError:
            continue
        everybody = stat.S_IMODE(attributes.st_mode) & 0o1777 == 0o1777  # sticky
        if stat.S_ISDIR(attributes.st_mode) and everybody and attributes.st_uid == 0:
            return directory
    raise ServiceFailed(
        "none belongs to root with mode 1777, so controllers could not exclude each other",
        where=", ".join(map(str, SHARED)),
        how="create one: install -d -m 1777 -o root /run/lock",
    )


def _lock_of(switch: str) -> str:
    """Name of a switch's lock from `host:port`, the same for every form of an address."""
    host, _, port = switch.rpartition(":")
    with suppress(ValueError):
        host = str(ip_address(host.strip("[]")))
    return f"rocefort-{digest_of(f'{host.lower()} {int(port)}')[:20]}.lock"


@contextmanager
def locked(path: Path, mode: int = MINE, what: str = "") -> Iterator[None]:
    """Hold a lock file; raises Refused with the holder's name if it is held already.

    what: name of the locked object in the refusal, else the file. The file is removed at the end,
    unless a dead controller of another user left it.
    """
    with _held_file(path, mode, what or str(path)) as handle:
        _write_holder(
            handle,
            f"process {os.getpid()} of {operator.user()} on {operator.host()}, since "
            f"{_time_text()}",
        )
        try:
            yield
        finally:  # before the lock is released
            try:
                path.unlink(missing_ok=True)
            except OSError:  # of another user
                _write_holder(handle, "")


def _write_holder(handle: IO[str], words: str) -> None:
    """Write the holder's name into a lock; on a full disk the lock holds without a name."""
    with suppress(OSError):
        handle.truncate(0)
        os.pwrite(handle.fileno(), words.encode(), 0)


@contextmanager
def _held_file(path: Path, mode: int, what: str) -> Iterator[IO[str]]:
    """Locked file that is still at its path: its last holder may just have removed it."""
    for _ in range(TRIES):
        with _lock_file(path, mode) as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                _refuse(handle, what)
            if _is_at(handle, path):
                yield handle
                return
    raise Refused("another controller just ended", where=what, how="try again")


def _lock_file(path: Path, mode: int) -> IO[str]:
    """Open a regular file with one link; raises Refused for anything else at that path.

    An existing file is opened without O_CREAT: a kernel may refuse that flag for another user's
    file in a sticky directory (fs.protected_regular).
    """
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        try:
            number = os.open(path, flags)
        except FileNotFoundError:
            number = _created_file(path, flags, mode)
        attributes = os.fstat(number)
    except OSError as error:
        what, how = f"cannot be opened: {error.strerror}", _cure(error, path)
        raise ServiceFailed(what, file=str(path), how=how) from None
    if not stat.S_ISREG(attributes.st_mode) or attributes.st_nlink > 1:
        os.close(number)
        raise ServiceFailed(
            "is not a lock file: another process put something else there",
            file=str(path),
            how="find its owner, then remove it",
        )
    return os.fdopen(number, "r+", encoding="utf-8", errors="replace")


def _cure(error: OSError, path: Path) -> str:
    """Cure for a lock file of another user's controller, which may be dead."""
    try:
        owner = operator.name_of(path.lstat().st_uid)
    except OSError:
        return ""
    if not isinstance(error, PermissionError):
        return ""
    return f"it belongs to {owner}: wait, or remove it when no controller of {owner} runs"


def _created_file(path: Path, flags: int, mode: int) -> int:
    """Create the file with its final mode, or open one that another process just created."""
    try:
        before = os.umask(0)
        try:
            return os.open(path, flags | os.O_CREAT | os.O_EXCL, mode)
        finally:
            os.umask(before)
    except FileExistsError:
        return os.open(path, flags)


def _refuse(handle: IO[str], what: str) -> NoReturn:
    match = HOLDER.match(handle.read(MAX_HOLDER_BYTES))
    holder_text = f" ({match[0]})" if match else ""
    raise Refused(
        f"another controller{holder_text} applies a plan", where=what, how="wait for it to end"
    )


def holder(path: Path) -> str:
    """Holder of a lock: `process N of USER on HOST, since TIME`; empty if free. Takes no lock.

    The lock of a dead controller counts as free, even if another process now has its number. For a
    file that this user may not read, the text has only the process and its user.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")[:MAX_HOLDER_BYTES]
    except PermissionError:
        return _holder_by_kernel(path)
    except OSError:
        return ""
    match = HOLDER.match(text)
    if match is None:
        return ""
    if match["host"] == operator.host():
        try:
            os.kill(int(match["process"]), 0)
        except ProcessLookupError:
            return ""
        except PermissionError:  # it runs, as another user
            pass
        return match[0] if _locks(match["process"]) else ""
    return match[0]


def _holder_by_kernel(path: Path) -> str:
    """Holder of a lock file that this user may not read, from the kernel's list."""
    with suppress(OSError):
        attributes = path.stat()
        for process, inode in _flocks():
            ours = (
                inode == attributes.st_ino
                and Path("/proc", process).stat().st_uid == attributes.st_uid
            )
            if ours:
                return f"process {process} of {operator.name_of(attributes.st_uid)}"
    return ""


def _locks(process: str) -> bool:
    """Whether a process has any such lock; True if the system does not list locks."""
    try:
        return any(each == process for each, _ in _flocks())
    except OSError:
        return True


def _flocks() -> Iterator[tuple[str, int]]:
    """Process and inode of every such lock of this machine: lines of proc_locks(5)."""
    for line in LOCKS.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words[1] == "FLOCK":
            yield words[4], int(words[5].rpartition(":")[2])


def _time_text() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _is_at(handle: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle.fileno()), path.stat())
    except FileNotFoundError:
        return False
