"""Hash chain of a journal: each row covers the row before; the head is in a separate file."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

from rocefort.base.errors import ServiceFailed

Row = tuple[object, ...]  # columns of an entry, without its hash
COLUMNS = "id, at, plan, wave, device, act, phase, detail, code, data"
FIRST = (0, "0" * 64)  # number and link before the first row
HEADLESS = "its head file is lost, or empty"
HEAD_BYTES = 84  # a number of 18 digits, a blank, 64 digits of the link, a line end


def row_link(before: str, row: Row) -> str:
    """Return the link of a row: SHA-256 over the link before it and its own columns."""
    text = json.dumps([before, *row], separators=(",", ":"), ensure_ascii=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


def sound_rows(rows: Sequence[Row]) -> int:
    """Number of unchanged rows, each with its link, before the first changed one."""
    before = FIRST[1]
    for number, (*row, link) in enumerate(rows):
        if row[0] != number + 1 or link != row_link(before, tuple(row)):
            return number
        before = link
    return len(rows)


def damage(rows: Sequence[Row], head: tuple[int, str]) -> str:
    """Damage of rows that each end with their link; empty if there is none.

    head: content of the head file. It may be one row behind: a controller can die between the two
    writes.
    """
    number, before = FIRST
    links = [before]
    for *row, link in rows:
        number += 1
        if row[0] != number:
            return f"row {number} is missing"
        before = row_link(before, tuple(row))
        if link != before:
            return f"row {number} was changed"
        links.append(before)
    head_number, link = head
    if head == FIRST and number > 1:
        return HEADLESS
    if head_number > number:
        return f"its last rows are missing: {head_number} were written, {number} remain"
    if links[head_number] != link or number - head_number > 1:
        return "its head file belongs to another journal"
    return ""


class ChainHead:
    """File with the newest link, one short record that is overwritten in place."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
            self._file = os.open(path, flags, 0o600)
            path.chmod(0o600)
        except OSError as error:
            raise ServiceFailed(f"cannot be opened: {error.strerror}", file=str(path)) from None
        self.fresh = os.fstat(self._file).st_size == 0
        self.link = FIRST[1]
        if not self.fresh:
            self.link = self.read()[1]

    def read(self) -> tuple[int, str]:
        """Return number and link of the file; those before the first row if it is empty."""
        return head_content(os.pread(self._file, HEAD_BYTES, 0))

    def move(self, number: int, link: str) -> None:
        """Make a newer link durable; raises OSError."""
        os.pwrite(self._file, f"{number:018d} {link}\n".encode(), 0)
        os.fdatasync(self._file)
        self.link, self.fresh = link, False

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def head_content(record: bytes) -> tuple[int, str]:
    """Number and link of a head file; unreadable content matches no journal."""
    if not record:
        return FIRST
    words = record.decode("ascii", "replace").split()
    if len(words) == 2 and words[0].isdecimal():
        return int(words[0]), words[1]
    return 0, "unreadable"
