"""Which GID index of a server is right: RoCE v2, with the server's address in its segment.

Rows as sysfs tells them, one GID a line: device, port, index, GID, type, network interface
(`/sys/class/infiniband/DEVICE/ports/PORT/gids/INDEX`, `gid_attrs/types`, `gid_attrs/ndevs`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from rocefort.rdma.outcome import Outcome
from rocefort.rdma.rows import FlawError

ROW = re.compile(
    r"\s*(?P<device>\S+)\s+(?P<port>\d+)\s+(?P<index>\d+)\s+(?P<gid>[0-9a-f:]{39})\s+"
    r"(?P<type>IB/RoCE v1|RoCE v2)\s+(?P<interface>\S+)\s*"
)
V2 = "RoCE v2"


@dataclass(frozen=True)
class Gid:
    """One GID of a device; address is None where it maps no IPv4 address (a link-local one)."""

    device: str
    port: int
    index: int
    address: IPv4Address | None
    type: str
    interface: str


def read_gids(text: str) -> tuple[Gid, ...]:
    """Read all rows; raises FlawError for none, and for a line that is no row."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise FlawError(Outcome.NO_DEVICE, "no GID of any RDMA device")
    found = []
    for line in lines:
        row = ROW.fullmatch(line)
        if row is None:
            raise FlawError(Outcome.UNKNOWN_LINE, line)
        address = IPv6Address(row["gid"]).ipv4_mapped
        place = (row["device"], int(row["port"]), int(row["index"]))
        found.append(Gid(*place, address, row["type"], row["interface"]))
    return tuple(found)


def choose_gid(gids: Iterable[Gid], address: IPv4Address, device: str | None = None) -> Gid:
    """The RoCE v2 GID with this address; raises FlawError with what is there instead.

    device: only of this one; None: whichever has the address.
    """
    known = [gid for gid in gids if device is None or gid.device == device]
    if device is not None and not known:
        raise FlawError(Outcome.NO_DEVICE, device)
    fit = [gid for gid in known if gid.address == address]
    chosen = next((gid for gid in fit if gid.type == V2), None)
    if chosen is None:
        there = ", ".join(f"{g.device} {g.index} {g.address} {g.type}" for g in known if g.address)
        raise FlawError(Outcome.BAD_GID, f"no {V2} GID has {address}; there: {there or 'none'}")
    return chosen
