"""Converters of VRP command arguments to typed values; out-of-range values raise errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ipaddress import AddressValueError, IPv4Address, IPv4Interface, IPv4Network

from rocefort.dialects.vrp.readers.draft import BadArgumentError

KBYTES = {"kbytes": 1, "mbytes": 1024}  # a CloudEngine's mbyte is taken as 1024 kbytes
LENGTHS = {str(IPv4Network((0, length)).netmask): length for length in range(33)} | {
    str(length): length for length in range(33)
}
DIGITS = 10  # the longest number of VRP, an AS number


Number = Callable[[str], int]


def number(low: int, high: int, what: str) -> Number:
    """Return a converter for a number in a closed range."""

    def convert(text: str) -> int:
        value = int(text) if text.isdecimal() and len(text) <= DIGITS else -1
        if not low <= value <= high:
            raise BadArgumentError(f"{what} {text:.20}", f"it is {low} to {high}")
        return value

    return convert


whole = number(0, 2**32 - 1, "number")
queue = number(0, 7, "queue")


def asn(text: str) -> int:
    """Convert an AS number, `65000` or `1.10`."""
    high, dot, low = text.partition(".")
    if dot:
        return (number(1, 65535, "AS number")(high) << 16) + number(0, 65535, "AS number")(low)
    return number(1, 2**32 - 1, "AS number")(text)


def address(text: str) -> IPv4Address:
    """Convert an IPv4 address."""
    try:
        return IPv4Address(text)
    except AddressValueError as error:
        raise BadArgumentError(f"{text} is not an IPv4 address", "write 10.0.0.1") from error


def prefix_length(text: str) -> int:
    """Convert the length of a mask that is written as a length or in dots."""
    if text not in LENGTHS:
        raise BadArgumentError(f"{text} is not a mask", "write 255.255.255.0 or 24")
    return LENGTHS[text]


def interface_address(ip: str, mask: str) -> IPv4Interface:
    """Convert the address of an interface with its mask."""
    return IPv4Interface((address(ip), prefix_length(mask)))


def network(ip: str, mask: str) -> IPv4Network:
    """Convert a prefix; one with bits beyond its mask is refused, because it names no network."""
    whole_net = interface_address(ip, mask).network
    if whole_net.network_address != address(ip):
        raise BadArgumentError(f"{ip} has bits beyond the mask {mask}", f"write {whole_net}")
    return whole_net


def wildcard_length(text: str) -> int | None:
    """Return the mask length of a wildcard, `0.0.0.255` -> 24, `0` -> 32; None with gaps."""
    if text == "0":
        return 32
    bits = int(address(text))
    return 32 - bits.bit_length() if bits & (bits + 1) == 0 else None


def kbytes(size: str, unit: str) -> int:
    """Convert a buffer size to kbytes."""
    return whole(size) * KBYTES[unit]


def queues(text: str) -> Iterator[int]:
    """Yield queues of a list such as `0 to 3 5`."""
    return listed_numbers(text, queue, "queues")


def listed_numbers(text: str, convert: Number, what: str) -> Iterator[int]:
    """Yield numbers of a list such as `10 20 to 30`."""
    words = text.split(" ")
    position = 0
    while position < len(words):
        low = high = convert(words[position])
        if words[position + 1 : position + 2] == ["to"]:
            high = convert(" ".join(words[position + 2 : position + 3]))
            position += 2
        if high < low:
            raise BadArgumentError(f"{what} {low} to {high}", "write the lower one first")
        yield from range(low, high + 1)
        position += 1
