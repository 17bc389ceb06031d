"""Result of `trust`, for programs."""

from __future__ import annotations

from rocefort.models.base import Frozen


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
