"""Result of `trust`, for programs and as a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocefort.models.base import Frozen
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Code, Table, columns

HEADS = columns("host", "address", "key", "fingerprint", "record")


def keys_report(rows: Sequence[HostKeyRow]) -> Table:
    """Show the table; nothing without a row."""
    return Table(HEADS, tuple(tuple(vars(row).values()) for row in rows))


def recorded_report(done: TrustedKeys) -> Iterator[Code]:
    """Show the number of added keys; nothing if no host has answered."""
    if not done.added and done.keys:
        yield Code((f"nothing to add to {done.known_hosts}",))
    elif done.keys:
        yield Code((f"{count_of(done.added, 'host key')} added to {done.known_hosts}",))


class HostKeyRow(Frozen):
    """SSH host key of a switch or server; record: whether it is in the file of host keys."""

    host: str
    address: str
    key: str
    fingerprint: str
    record: str


class TrustedKeys(Frozen):
    """Host keys that were collected; added: number of new ones in the file.

    silent: switches and servers that did not answer.
    """

    known_hosts: str
    added: int
    keys: tuple[HostKeyRow, ...]
    silent: tuple[str, ...] = ()
