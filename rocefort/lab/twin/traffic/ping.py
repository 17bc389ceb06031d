"""A real ping out of a namespace: ICMP echo requests on a raw socket, and their replies.

Requests follow each other at once, and no wait is longer than 2 s: the command lines of the whole
lab are blocked meanwhile, and replies here take milliseconds.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Sequence

from rocefort.base.errors import BadInput
from rocefort.emulator.switch.state_source import EchoReply, EchoRequest

REQUEST, REPLY = 8, 0  # types of ICMP, RFC 792
HEADER = struct.Struct("!BBHHH")
LONGEST_WAIT_S = 2.0
TTL_AT = 8  # octet of an IPv4 header


def echoes(echo: EchoRequest, device: str = "") -> Sequence[EchoReply | None]:
    """Send all requests in the caller's namespace, out of a device if one is given.

    Raises BadInput if the kernel refuses the source or the device.
    """
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as link:
            link.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, echo.ttl)
            if device:
                link.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
            if echo.source is not None:
                link.bind((str(echo.source), 0))
            return _exchange(link, echo)
    except OSError as error:
        raise BadInput(f"the kernel reports: {error.strerror or error}") from None


def _exchange(link: socket.socket, echo: EchoRequest) -> Sequence[EchoReply | None]:
    identity = int.from_bytes(os.urandom(2), "big")
    sent: dict[int, float] = {}
    came: dict[int, EchoReply] = {}
    for number in range(1, echo.count + 1):
        try:
            link.sendto(request(identity, number, echo.size), (str(echo.host), 0))
        except OSError:
            continue  # no route: lost, as one without a reply
        sent[number] = time.monotonic()
        _receive_answers(link, identity, sent, came, 0.0)
    wait = min(echo.timeout_ms / 1000, LONGEST_WAIT_S)
    _receive_answers(link, identity, sent, came, wait)
    return [came.get(number) for number in range(1, echo.count + 1)]


def _receive_answers(
    link: socket.socket,
    identity: int,
    sent: dict[int, float],
    came: dict[int, EchoReply],
    wait_s: float,
) -> None:
    """Receive replies until all are there or the time is over; without a wait only queued ones."""
    end = time.monotonic() + wait_s
    while len(came) < len(sent):
        link.settimeout(max(end - time.monotonic(), 0.000_1))
        try:
            packet = link.recv(65_535)
        except TimeoutError:
            return
        number = answered(packet, identity)
        if number in sent and number not in came:
            took = int((time.monotonic() - sent[number]) * 1000)
            came[number] = EchoReply(packet[TTL_AT], max(took, 1))


def answered(packet: bytes, identity: int) -> int | None:
    """Return the number of the request that an IPv4 packet answers; None: another packet."""
    start = (packet[0] & 15) * 4
    if len(packet) < start + HEADER.size:
        return None
    kind, _, _, owner, number = HEADER.unpack_from(packet, start)
    return number if (kind, owner) == (REPLY, identity) else None


def request(identity: int, number: int, size: int) -> bytes:
    """Return an echo request with some octets of data."""
    data = bytes(index & 255 for index in range(size))
    bare = HEADER.pack(REQUEST, 0, 0, identity, number) + data
    return HEADER.pack(REQUEST, 0, checksum(bare), identity, number) + data


def checksum(octets: bytes) -> int:
    """Return the checksum of RFC 1071."""
    padded = octets + b"\0" * (len(octets) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
