"""Parameters of command formats: the words that each accepts, and their saved form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from ipaddress import AddressValueError, IPv4Address

from rocefort.dialects.vrp.text.acl_words import saved_rule
from rocefort.dialects.vrp.text.names import (
    SNMP_VERSIONS,
    interface_name,
    ranges,
    snmp_version_text,
    snmp_version_words,
    split_ports,
)
from rocefort.dialects.vrp.text.secret_forms import STORED, cipher_of
from rocefort.models.device.interface import trunk_number
from rocefort.models.hardware.media import SPLIT_TYPE

LINE_LIMIT = 3100  # characters of a command line, V300R023C00
Tokens = tuple[str, ...]
Taken = Iterator[tuple[int, str]]  # (words used, text that the switch saves)

# Kinds of interfaces of a CloudEngine, by their saved names.
EXISTING = re.compile(
    r"\d*GE\d+/\d+/\d+(:\d+)?|MEth\d+/\d+/\d+|(Eth-Trunk|Vlanif|LoopBack|NULL)\d+", re.ASCII
)


def _number_range(tokens: Tokens, name: str) -> Taken:
    low, high = map(int, name.split("-"))
    if tokens and re.fullmatch(r"\d{1,10}", tokens[0], re.ASCII) and low <= int(tokens[0]) <= high:
        yield 1, str(int(tokens[0]))


def _size(tokens: Tokens, name: str) -> Taken:
    """Yield a number up to the maximum of a range of kbytes.

    Its unit, after it, is not read yet.
    """
    high = name.partition("-")[2]
    yield from _number_range(tokens, f"1-{high}")


def _address(tokens: Tokens, _name: str) -> Taken:
    saved = _saved_address(tokens[0]) if tokens else None
    if saved:
        yield 1, saved


def _saved_address(word: str) -> str | None:
    try:
        return str(IPv4Address(word))
    except AddressValueError:
        return None


def _mask(tokens: Tokens, _name: str) -> Taken:
    if not tokens:
        return
    if tokens[0].isdecimal() and int(tokens[0]) <= 32:
        yield 1, str(IPv4Address((2**32 - 1) ^ (2 ** (32 - int(tokens[0])) - 1)))
        return
    for used, saved in _address(tokens, ""):
        if "01" not in f"{int(IPv4Address(saved)):032b}":
            yield used, saved


def _name(tokens: Tokens, _name: str) -> Taken:
    if tokens and 1 <= len(tokens[0]) <= 255:
        yield 1, tokens[0]


def _cipher(tokens: Tokens, _name: str) -> Taken:
    """Yield a password that is saved encrypted.

    A stored cipher is kept unchanged, 20..432 characters.
    """
    if tokens and (len(tokens[0]) <= 255 or (STORED.fullmatch(tokens[0]) and len(tokens[0]) < 433)):
        yield 1, cipher_of(tokens[0])


def _peer(tokens: Tokens, _name: str) -> Taken:
    yield from _address(tokens, "")
    yield from _group(tokens, "")


def _group(tokens: Tokens, _name: str) -> Taken:
    if tokens and re.fullmatch(r"[A-Za-z]\S{0,46}", tokens[0]):  # group names: 1..47 characters
        yield 1, tokens[0]


def _asn(tokens: Tokens, _name: str) -> Taken:
    match = re.fullmatch(r"(?:(\d{1,5})\.)?(\d{1,10})", tokens[0]) if tokens else None
    if not match:
        return
    high, low = int(match[1] or 0), int(match[2])
    if high < 65536 and low < (65536 if match[1] else 2**32) and high + low > 0:
        yield 1, tokens[0]


def asn_of(word: str) -> int:
    """Return the AS number of a word, `65537` or `1.1`."""
    high, _, low = word.rpartition(".")
    return int(high or 0) * 65536 + int(low)


def _interface(tokens: Tokens, _name: str) -> Taken:
    for used in (1, 2):
        saved = interface_name("".join(tokens[:used])) if len(tokens) >= used else None
        if saved and EXISTING.fullmatch(saved):
            yield used, saved


def _trunk(tokens: Tokens, name: str) -> Taken:
    yield from (
        (used, saved) for used, saved in _interface(tokens, name) if trunk_number(saved) is not None
    )


def _text(tokens: Tokens, name: str) -> Taken:
    limit = int(name.partition(":")[2] or LINE_LIMIT)
    if tokens and len(" ".join(tokens)) <= limit:
        yield len(tokens), " ".join(tokens)


def _numbers(tokens: Tokens, name: str) -> Taken:
    low, high = map(int, name.partition(":")[2].split("-"))
    numbers = list_numbers(tokens)
    if numbers and all(low <= number <= high for number in numbers):
        yield len(tokens), " ".join(ranges(numbers))


def _acl_matches(tokens: Tokens, _name: str) -> Taken:
    if (saved := saved_rule(tokens)) is not None:
        yield len(tokens), saved


def _ports(tokens: Tokens, _name: str) -> Taken:
    for used in range(len(tokens), 0, -1):
        if ports := split_ports(tokens[:used]):
            yield used, " ".join(ports)
            return


def _snmp_versions(tokens: Tokens, _name: str) -> Taken:
    for used in range(len(tokens), 0, -1):
        words = snmp_version_words(" ".join(tokens[:used]))
        if len(set(words)) == len(words) and {*words} <= {*SNMP_VERSIONS}:
            yield used, snmp_version_text(words)


def _split_type(tokens: Tokens, _name: str) -> Taken:
    if tokens and re.fullmatch(SPLIT_TYPE, tokens[0].upper(), re.ASCII):
        yield 1, tokens[0].upper()


def _quoted(tokens: Tokens) -> Taken:
    """Yield one word, or several in double quotation marks."""
    if not tokens:
        return
    if not tokens[0].startswith('"'):
        yield 1, tokens[0]
        return
    for used in range(1, len(tokens) + 1):
        text = " ".join(tokens[:used])
        if len(text) > 2 and text.endswith('"'):
            yield used, text[1:-1]
            return


def _mark(tokens: Tokens, _name: str) -> Taken:
    """Yield a label or persist ID: 1..256 visible characters (V300R023C00, `commit`)."""
    for used, text in _quoted(tokens):
        if len(text) <= 256 and text.isascii():
            yield used, text


def _label(tokens: Tokens, name: str) -> Taken:
    """Yield a label: not a hyphen, not beginning with a digit (V300R023C00, `commit`)."""
    for used, text in _mark(tokens, name):
        if not text[0].isdigit() and text != "-":
            yield used, text


def _rest(tokens: Tokens, name: str) -> Taken:
    for used, text in _text(tokens, name):
        if text.isascii():
            yield used, text


def _file(tokens: Tokens, _name: str) -> Taken:
    """Yield a file name in the root folder: 5..64 characters, .cfg, .zip or .dat (`save`)."""
    if tokens and 5 <= len(tokens[0]) <= 64:
        match = re.fullmatch(
            r"(?:flash:/)?(\w[\w.-]*\.(?:cfg|zip|dat))", tokens[0], re.ASCII | re.IGNORECASE
        )
        if match:
            yield 1, match[1]


PARAMS: dict[str, Callable[[Tokens, str], Taken]] = {
    "ip": _address,
    "source": _address,
    "host": _address,
    "mask": _mask,
    "kbytes": _size,
    "name": _name,
    "other": _name,
    "plain": _name,  # a plain-text password
    "word": _name,
    "cipher": _cipher,
    "peer": _peer,
    "group": _group,
    "asn": _asn,
    "interface": _interface,
    "ports": _ports,
    "split-type": _split_type,
    "snmp-versions": _snmp_versions,
    "eth-trunk": _trunk,
    "text": _text,
    "rest": _rest,
    "label": _label,
    "persist": _mark,
    "file": _file,
    "acl-matches": _acl_matches,
    "numbers": _numbers,
}


def takes(name: str, tokens: Tokens) -> Taken:
    """Yield matches of the first words with a parameter: `ip`, `text:80`, a number of `1-4094`."""
    return PARAMS.get(name.partition(":")[0], _number_range)(tokens, name)


def list_numbers(tokens: Tokens) -> frozenset[int]:
    """Expand `10 20 to 22`; empty when the words are not such a list."""
    numbers: set[int] = set()
    text = " ".join(tokens)
    if not re.fullmatch(r"\d{1,5}(?: to \d{1,5})?(?: \d{1,5}(?: to \d{1,5})?)*", text):
        return frozenset()
    for first, last in re.findall(r"(\d+)(?: to (\d+))?", text):
        if int(last or first) < int(first):
            return frozenset()
        numbers.update(range(int(first), int(last or first) + 1))
    return frozenset(numbers)
