"""SFTP of an emulated switch: download the saved configuration, transfer other files of its flash.

One flat folder a switch. Folders, links and attributes are refused. So is writing the saved
configuration, which `save` does: the choice of the next startup file is not modelled.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import PurePosixPath
from typing import Any, NoReturn

import asyncssh
from asyncssh.constants import FXF_APPEND, FXF_CREAT, FXF_TRUNC, FXF_WRITE

from rocefort.emulator.show.flash import STARTUP_FILE, free_kbytes, unpack_flash
from rocefort.emulator.switch.switch import EmulatedSwitch

Files = Callable[["asyncssh.SSHServerChannel[Any]"], asyncssh.SFTPServer]
WRITING = FXF_WRITE | FXF_APPEND | FXF_CREAT | FXF_TRUNC


def files_of(switch: EmulatedSwitch) -> Files:
    """Return the SFTP server factory of a switch with a flash folder."""
    return lambda channel: Flash(channel, switch)


class Flash(asyncssh.SFTPServer):
    """One SFTP session, confined to the folder of its switch."""

    def __init__(self, channel: asyncssh.SSHServerChannel[Any], switch: EmulatedSwitch) -> None:
        self.switch = switch
        super().__init__(channel, chroot=str(unpack_flash(switch)).encode())

    def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> object:
        """Open a file of the folder."""
        if pflags & WRITING:
            self._check_own(path)
        return super().open(path, pflags, attrs)

    def write(self, file_obj: object, offset: int, data: bytes) -> int | Awaitable[int]:
        """Write as long as there is space."""
        if free_kbytes(self.switch) * 1024 < len(data):
            raise asyncssh.SFTPFailure("no space left on flash:/")
        return super().write(file_obj, offset, data)

    def remove(self, path: bytes) -> None:
        """Remove a file, but not the saved configuration."""
        self._check_own(path)
        super().remove(path)

    def rename(self, oldpath: bytes, newpath: bytes) -> None:
        """Rename a file, but neither from nor to the saved configuration."""
        self._check_own(oldpath)
        self._check_own(newpath)
        super().rename(oldpath, newpath)

    def posix_rename(self, oldpath: bytes, newpath: bytes) -> None:
        """Rename as `rename` does."""
        self._check_own(oldpath)
        self._check_own(newpath)
        super().posix_rename(oldpath, newpath)

    @staticmethod
    def _check_own(path: bytes) -> None:
        name = PurePosixPath(os.fsdecode(path)).name
        if name.casefold() == STARTUP_FILE:
            raise asyncssh.SFTPPermissionDenied(
                f"{STARTUP_FILE} can only be written by the save command"
            )
        if name.startswith("."):
            raise asyncssh.SFTPPermissionDenied(
                "names that begin with a dot are reserved for the emulator"
            )

    @staticmethod
    def _refuse() -> NoReturn:
        raise asyncssh.SFTPOpUnsupported("not modelled by this emulator")

    def symlink(self, oldpath: bytes, newpath: bytes) -> None:  # noqa: ARG002
        """Refuse: a link could lead out of the folder."""
        self._refuse()

    def link(self, oldpath: bytes, newpath: bytes) -> None:  # noqa: ARG002
        """Refuse: a link could lead out of the folder."""
        self._refuse()

    def mkdir(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> None:  # noqa: ARG002
        """Refuse: the folder is flat."""
        self._refuse()

    def setstat(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> None:
        """Ignore attributes; clients set them after each put."""

    def fsetstat(self, file_obj: object, attrs: asyncssh.SFTPAttrs) -> None:
        """Ignore attributes; clients set them after each put."""
