"""Words of an advanced ACL rule: the meaning of each, and the order of the saved line.

V300R023C00 command reference, ACL_Configuration_Commands, `rule (Advanced ACL view)`: matches come
in any order, ports and DSCPs by name or number. The saved order and spelling are not shown; here it
is source before destination, and numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from ipaddress import AddressValueError, IPv4Address, IPv4Network

PROTOCOLS = {"1": "icmp", "6": "tcp", "17": "udp"} | {w: w for w in ("ip", "icmp", "tcp", "udp")}
LAST_PORT = 65535
PORTS: Mapping[str, Mapping[str, int]] = {
    "tcp": {
        "echo": 7,
        "discard": 9,
        "daytime": 13,
        "chargen": 19,
        "ftp-data": 20,
        "ftp": 21,
        "telnet": 23,
        "smtp": 25,
        "time": 37,
        "tacacs": 49,
        "domain": 53,
        "finger": 79,
        "www": 80,
        "pop2": 109,
        "pop3": 110,
        "sunrpc": 111,
        "bgp": 179,
        "login": 513,
        "cmd": 514,
        "lpd": 515,
    },
    "udp": {
        "echo": 7,
        "discard": 9,
        "time": 37,
        "dns": 53,
        "bootps": 67,
        "bootpc": 68,
        "tftp": 69,
        "sunrpc": 111,
        "ntp": 123,
        "netbios-ns": 137,
        "netbios-dgm": 138,
        "netbios-ssn": 139,
        "snmp": 161,
        "snmptrap": 162,
        "syslog": 514,
        "rip": 520,
    },
}
DSCPS = (
    {f"cs{n}": 8 * n for n in range(1, 8)}
    | {f"af{c}{d}": 8 * c + 2 * d for c in range(1, 5) for d in range(1, 4)}
    | {"ef": 46, "default": 0}
)

Words = Sequence[str]
Read = tuple[int, str]  # number of words, their saved form
ORDER = ("source", "source-port", "destination", "destination-port", "dscp")


def saved_rule(words: Words) -> str | None:
    """Return protocol and matches as the switch saves them; None for unknown words.

    words: those after `permit` or `deny`, such as `17 destination-port eq 4791 source any`.
    """
    protocol = PROTOCOLS.get(words[0]) if words else None
    if protocol is None:
        return None
    pieces: dict[str, str] = {}
    position = 1
    while position < len(words):
        name = words[position]
        read = READERS.get(name)
        piece = read(words[position + 1 :], protocol) if read and name not in pieces else None
        if piece is None:
            return None
        position += 1 + piece[0]
        pieces[name] = piece[1]
    matches = (f"{name} {pieces[name]}" for name in ORDER if pieces.get(name))
    return " ".join((protocol, *matches))


def _addresses(words: Words, _protocol: str) -> Read | None:
    """Read `any`, or an address with a wildcard or a length.

    A wildcard with gaps is kept unchanged.
    """
    if words and words[0] == "any":
        return 1, ""
    if len(words) < 2:
        return None
    try:
        address, bits = IPv4Address(words[0]), _wildcard(words[1])
    except AddressValueError:
        return None
    if bits is None:
        return None
    if bits == 2**32 - 1:
        return 2, ""
    wildcard = "0" if bits == 0 else str(IPv4Address(bits))
    return 2, f"{IPv4Address(int(address) & ~bits)} {wildcard}"


def _wildcard(word: str) -> int | None:
    if word == "0":
        return 0
    if re.fullmatch(r"[1-9]\d?", word, re.ASCII):
        return 2 ** (32 - int(word)) - 1 if int(word) <= 32 else None
    return int(IPv4Address(word))


def _ports(words: Words, protocol: str) -> Read | None:
    names = PORTS.get(protocol)
    if names is None or not words:
        return None
    count = 2 if words[0] == "range" else 1
    numbers = [_number(word, names, LAST_PORT) for word in words[1 : 1 + count]]
    if len(numbers) != count or None in numbers:
        return None
    first, last = numbers[0] or 0, numbers[-1] or 0
    low, high = {
        "eq": (first, first),
        "range": (first, last),
        "gt": (first + 1, LAST_PORT),
        "lt": (0, first - 1),
    }.get(words[0], (1, 0))
    if low > high:
        return None
    return 1 + count, f"eq {low}" if low == high else f"range {low} {high}"


def _dscp(words: Words, _protocol: str) -> Read | None:
    number = _number(words[0], DSCPS, 63) if words else None
    return None if number is None else (1, str(number))


def _number(word: str, names: Mapping[str, int], highest: int) -> int | None:
    if word in names:
        return names[word]
    number = int(word) if re.fullmatch(r"\d{1,5}", word, re.ASCII) else -1
    return number if 0 <= number <= highest else None


READERS: dict[str, Callable[[Words, str], Read | None]] = {
    "source": _addresses,
    "source-port": _ports,
    "destination": _addresses,
    "destination-port": _ports,
    "dscp": _dscp,
}


def prefix_of(saved: str) -> IPv4Network | None:
    """Return the network of a saved `ADDRESS WILDCARD`; None where the wildcard has gaps."""
    address, wildcard = saved.split()
    bits = int(IPv4Address("0.0.0.0" if wildcard == "0" else wildcard))  # noqa: S104 - no socket
    if bits & (bits + 1):
        return None
    return IPv4Network((address, 32 - bits.bit_length()))
