"""Arguments of commands as typed values, and the Device that they fill line by line."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Set
from dataclasses import dataclass, field
from ipaddress import AddressValueError, IPv4Address, IPv4Interface, IPv4Network


class BadArgumentError(ValueError):
    """A known command with an argument that no Device can have; `how` is the cure."""

    def __init__(self, what: str, how: str = "") -> None:
        self.how = how
        super().__init__(what)


NOT_MODELLED = False  # a reader's result for a line with more content than a Device can have


@dataclass(slots=True)
class Log:
    """The line that is being read, and the lines that touched each path of the Device."""

    number: int = 0
    marks: list[tuple[str, int]] = field(default_factory=list)
    first: dict[str, int] = field(default_factory=dict)  # first line of a path

    def mark(self, path: str) -> None:
        """Record that the current line sets a path."""
        self.marks.append((path, self.number))
        self.first.setdefault(path, self.number)

    def lines_in(self, paths: Set[str]) -> set[int]:
        """Return all lines that touched one of the places, given by path, or a part of it."""
        return {
            number
            for path, number in self.marks
            if path in paths
            or any(path[:at] in paths for at, sign in enumerate(path) if sign in ".[")
        }


@dataclass(slots=True)
class Part:
    """One model of the Device under construction; `path` as in parse.Parsed.lines."""

    log: Log
    path: str = ""
    fields: dict[str, object] = field(default_factory=dict)
    parts: dict[str, Part] = field(default_factory=dict)
    rows: dict[str, dict[Hashable, Part]] = field(default_factory=dict)
    values: dict[str, dict[object, None]] = field(default_factory=dict)  # sets, in order read
    facts: set[str] = field(default_factory=set)  # without a field; they restrict other lines

    def below(self, name: str) -> str:
        """Return the path of a field of this part."""
        return f"{self.path}.{name}" if self.path else name

    def set(self, name: str, value: object) -> None:
        """Set a field; another value on an earlier line is a contradiction."""
        path = self.below(name)
        earlier = self.fields.setdefault(name, value)
        if earlier != value:
            raise BadArgumentError(
                f"{path} is {value} here and {earlier} on line {self.log.first[path]}",
                "keep one of the two lines",
            )
        self.log.mark(path)

    def part(self, name: str) -> Part:
        """Return the nested model of a field, created when first named."""
        path = self.below(name)
        self.log.mark(path)
        return self.parts.setdefault(name, Part(self.log, path))

    def row(self, collection: str, key: Hashable, **named: object) -> Part:
        """Return the row of a collection, created with its naming fields when first named."""
        path = f"{self.below(collection)}[{key}]"
        self.log.mark(path)
        rows = self.rows.setdefault(collection, {})
        if key not in rows:
            rows[key] = Part(self.log, path, fields=dict(named))
        return rows[key]

    def add(self, collection: str, value: object) -> None:
        """Add a plain value to a collection; duplicates are merged."""
        self.log.mark(f"{self.below(collection)}[{value}]")
        self.values.setdefault(collection, {})[value] = None

    def take(self, collection: str, value: object) -> None:
        """Remove a plain value from a collection."""
        self.log.mark(f"{self.below(collection)}[{value}]")
        self.values.setdefault(collection, {}).pop(value, None)

    def content(self) -> dict[str, object]:
        """Return everything read, as the input of the pydantic model."""
        content = self.fields.copy()
        for name, part in self.parts.items():
            content[name] = part.content()
        for name, rows in self.rows.items():
            content[name] = tuple([row.content() for row in rows.values()])
        for name, values in self.values.items():
            content[name] = tuple(values)
        return content


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
