"""One controller of a switch at a time on one machine, for any user, TMPDIR, plan or site."""

from __future__ import annotations

import errno
import os
import platform
import re
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from planned import make_event

from rocefort.base.errors import Refused, RocefortError, ServiceFailed
from rocefort.rollout import operator
from rocefort.rollout.journal import lock
from rocefort.rollout.journal.events import ActPhase
from rocefort.rollout.journal.journal import open_journal
from rocefort.rollout.journal.lock import holder, locked, one_controller, shared_directory
from rocefort.rollout.journal.runs import status
from rocefort.rollout.operator import user

NOBODY = 65534
ONE, TWO, THREE = "192.0.2.1:22", "192.0.2.2:22", "192.0.2.3:22"
ALONE = pytest.mark.skipif(os.getuid() != 0, reason="needs root, to be two users")


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Directory for the locks of all users; those of pytest are for one user alone."""
    with tempfile.TemporaryDirectory(prefix="rocefort-locks-", dir="/var/tmp") as name:
        directory = Path(name)
        directory.chmod(0o1777)
        monkeypatch.setattr(lock, "SHARED", (directory,))
        yield directory


def as_nobody(do: Callable[[], None]) -> str:
    """Error of a process of another user with a separate TMPDIR; empty without one."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        message = "it did not come to its end"
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.environ["TMPDIR"] = "/var/tmp"
            do()
            message = ""
        except RocefortError as error:
            message = f"{type(error).__name__} {error}"
        finally:
            os.write(writing, message.encode())
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        message = pipe.read()
    os.waitpid(child, 0)
    return message


def hold(*switches: str) -> None:
    with one_controller(switches):
        pass


def mine() -> str:
    return f"process {os.getpid()} of {user()} on {platform.node()}, since TIME"


def said(error: object) -> str:
    return re.sub(r"since \S+ \S+ UTC", "since TIME", str(error))


def test_one_switch_in_common_is_enough(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """All locks or none: the refused controller holds none of the other switches either."""
    with one_controller([ONE, TWO]):
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        monkeypatch.setattr(tempfile, "tempdir", None)
        with pytest.raises(Refused) as caught:
            hold(THREE, TWO)
        assert said(caught.value) == (
            f"{TWO}: another controller ({mine()}) applies a plan; wait for it to end"
        )
        hold(THREE)
        hold("192.0.2.1:2222")
    hold(ONE, TWO, THREE)


@pytest.mark.parametrize(
    ("one", "other"),
    [("2001:db8::1:22", "2001:DB8:0::1:22"), ("Leaf01.example:22", "leaf01.example:22")],
)
def test_another_way_of_writing_an_address_is_the_same_switch(one: str, other: str) -> None:
    with one_controller([one]), pytest.raises(Refused, match="another controller"):
        hold(other)


@ALONE
def test_another_user_is_excluded_and_told_by_whom(shared: Path) -> None:
    with one_controller([ONE, TWO]):
        refused = as_nobody(lambda: hold(TWO, THREE))
        assert said(refused) == (
            f"Refused {TWO}: another controller ({mine()}) applies a plan; wait for it to end"
        )
        assert as_nobody(lambda: hold(THREE)) == ""
    assert as_nobody(lambda: hold(ONE, TWO)) == ""
    assert list(shared.iterdir()) == []


@ALONE
def test_another_user_sees_that_a_run_is_under_way_by_a_lock_that_it_may_not_read(
    shared: Path,
) -> None:
    """Otherwise its controller would count as gone, and `status --follow` would end."""
    path = shared / "plan.json.journal.lock"

    def tell() -> None:
        raise Refused(holder(path))

    with locked(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert as_nobody(tell) == f"Refused process {os.getpid()} of {user()}"
    path.touch(0o600)  # its controller was killed
    assert as_nobody(tell) == "Refused "


@ALONE
def test_a_journal_that_another_user_may_not_read_is_one_error(shared: Path) -> None:
    path = shared / "plan.json.journal"
    with open_journal(path, "one") as journal:
        journal.append(make_event("w", "leaf01", "load", ActPhase.INTENT))

    def look() -> None:
        status(path)

    assert as_nobody(look) == (f"BadInput {path}: cannot be read: Permission denied")


@ALONE
def test_what_a_dead_controller_of_another_user_has_left_is_taken_over(shared: Path) -> None:
    with one_controller([ONE]):
        (file,) = shared.iterdir()
        assert stat.S_IMODE(file.stat().st_mode) == 0o666
        left = file.read_text()
    file.write_text(left)  # its holder was killed
    file.chmod(0o666)
    assert as_nobody(lambda: hold(ONE)) == ""
    assert file.read_text() == ""  # not its to remove
    hold(ONE)
    assert not file.exists()


@ALONE
def test_a_lock_of_another_user_is_told_to_be_theirs(shared: Path) -> None:
    path = shared / "journal.lock"
    path.touch(mode=0o600)

    def hold_it() -> None:
        with locked(path):
            pass

    assert as_nobody(hold_it) == (
        f"ServiceFailed {path}: cannot be opened: Permission denied; it belongs to root: wait, "
        "or remove it when no controller of root runs"
    )


@pytest.mark.parametrize("name", ["operator", "uid 1234"])  # who has no entry in a container
def test_whoever_has_it_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.setattr(operator, "user", lambda: name)
    path = tmp_path / "x.lock"
    with locked(path):
        assert said(holder(path)) == (
            f"process {os.getpid()} of {name} on {platform.node()}, since TIME"
        )
        refused = pytest.raises(Refused, match=f"another controller .process .* of {name} on ")
        with refused, locked(path):
            pass


def test_a_process_that_has_the_number_of_a_dead_controller_is_none(tmp_path: Path) -> None:
    """As after a power loss: the file is still there, and the number is some daemon's."""
    path = tmp_path / "x.lock"
    with subprocess.Popen(["sleep", "60"]) as daemon:
        path.write_text(
            f"process {daemon.pid} of {user()} on {platform.node()}, since 2026-01-01 00:00:00 UTC"
        )
        assert holder(path) == ""
        daemon.kill()


def test_a_full_disk_hides_who_has_it_and_no_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(_file: int, _words: bytes, _at: int) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "x.lock"
    monkeypatch.setattr(os, "pwrite", full)
    with locked(path):
        assert (path.read_text(), holder(path)) == ("", "")
        with pytest.raises(Refused) as caught, locked(path):
            pass
    assert str(caught.value) == f"{path}: another controller applies a plan; wait for it to end"
    assert not path.exists()


@pytest.mark.parametrize("trap", ["symlink", "hard link", "fifo"])
def test_what_somebody_has_put_in_its_place_is_neither_followed_nor_written(
    tmp_path: Path, trap: str
) -> None:
    path, precious = tmp_path / "x.lock", tmp_path / "precious"
    precious.write_text("precious")
    if trap == "symlink":
        path.symlink_to(precious)
    elif trap == "hard link":
        path.hardlink_to(precious)
    else:
        os.mkfifo(path)
    with pytest.raises(ServiceFailed) as caught, locked(path):
        pass
    assert str(caught.value) == f"{path}: " + (
        "cannot be opened: Too many levels of symbolic links"
        if trap == "symlink"
        else "is not a lock file: another process put something else there; find its owner, then "
        "remove it"
    )
    assert precious.read_text() == "precious"


def test_what_everybody_may_write_there_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    with locked(path):
        path.write_text("process 1 of \x1b[2Jme on h, since forever")
        with pytest.raises(Refused) as caught, locked(path):
            pass
        assert str(caught.value) == f"{path}: another controller applies a plan; wait for it to end"
        path.unlink()


def test_the_place_depends_on_the_machine_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert shared_directory() in lock.SHARED
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)  # without the sticky bit anybody removes anybody's file
    monkeypatch.setattr(lock, "SHARED", (tmp_path / "none", tmp_path / "open"))
    with pytest.raises(ServiceFailed) as caught:
        shared_directory()
    assert str(caught.value) == (
        f"{tmp_path}/none, {tmp_path}/open: none belongs to root with mode 1777, so controllers could "
        "not exclude each other; create one: install -d -m 1777 -o root /run/lock"
    )
