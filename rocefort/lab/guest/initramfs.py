"""Files of a guest, in memory, and their archive for the kernel: cpio "newc".

Source: the kernel's Documentation/driver-api/early-userspace/buffer-format.rst.
"""

from __future__ import annotations

import gzip
import stat
from dataclasses import dataclass, field
from pathlib import PurePosixPath

MAGIC = "070701"
END = "TRAILER!!!"


@dataclass
class Tree:
    """Files by path, without a leading slash; each with its mode and content."""

    _entries: dict[str, tuple[int, bytes]] = field(default_factory=dict)

    def __contains__(self, path: str) -> bool:
        return path in self._entries

    def file(self, path: str, content: bytes | str, mode: int = 0o644) -> None:
        """Add a file, and the directories above it."""
        data = content.encode() if isinstance(content, str) else content
        self._put(path, stat.S_IFREG | mode, data)

    def link(self, path: str, target: str) -> None:
        """Add a symbolic link."""
        self._put(path, stat.S_IFLNK | 0o777, target.encode())

    def directory(self, path: str, mode: int = 0o755) -> None:
        """Add a directory."""
        self._put(path, stat.S_IFDIR | mode, b"")

    def _put(self, path: str, mode: int, content: bytes) -> None:
        for parent in list(PurePosixPath(path).parents)[-2::-1]:
            self._entries.setdefault(str(parent), (stat.S_IFDIR | 0o755, b""))
        self._entries[path] = (mode, content)

    def archive(self) -> bytes:
        """Return the archive; equal files give equal bytes: owner root, time 0."""
        packed = bytearray()
        for number, (path, (mode, content)) in enumerate(sorted(self._entries.items()), 1):
            packed += _entry(number, path, mode, content)
        packed += _entry(0, END, 0, b"")
        return gzip.compress(bytes(packed), compresslevel=1, mtime=0)


def _entry(number: int, path: str, mode: int, content: bytes) -> bytes:
    name = path.encode() + b"\0"
    links = 2 if stat.S_ISDIR(mode) else 1
    fields = (number, mode, 0, 0, links, 0, len(content), 0, 0, 0, 0, len(name), 0)
    head = MAGIC.encode() + b"".join(b"%08x" % value for value in fields) + name
    return _padded(head) + _padded(content)


def _padded(content: bytes) -> bytes:
    return content + b"\0" * (-len(content) % 4)
