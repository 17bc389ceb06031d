"""Interface names, addresses and ranges in a CloudEngine's spelling, from any typed form."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rocefort.models import wording

# Interface Management, V300R023C00: a type, an optional blank, numbers; a split port ends in `:n`.
INTERFACE = re.compile(
    r"(?P<kind>\d+GE|[A-Za-z]+(?:-[A-Za-z]+)*) ?(?P<number>\d+(?:/\d+)*(?::\d+)?)",
    re.ASCII | re.IGNORECASE,
)
SPLITTABLE = re.compile(r"(?P<head>\d+GE\d+/\d+/)(?P<number>\d{1,3})", re.ASCII | re.IGNORECASE)
KINDS = {
    kind.casefold(): kind
    for kind in ("Eth-Trunk", "Vlanif", "LoopBack", "MEth", "NULL", "Nve", "Tunnel", "GE")
}
ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}", re.ASCII)


def interface_name(typed: str) -> str | None:
    """Return the name as the switch saves it, `100ge 1/0/1` -> `100GE1/0/1`.

    None if it is not one.
    """
    match = INTERFACE.fullmatch(typed)
    if match is None:
        return None
    kind = match["kind"]
    saved = kind.upper() if kind[0].isdigit() else KINDS.get(kind.casefold(), kind)
    return saved + match["number"]


def split_ports(words: Iterable[str]) -> tuple[str, ...]:
    """Return ports of `port split`, `100GE1/0/1 to 100GE1/0/3 100GE 1/0/9`.

    Empty if there are none. A range is of one card, from the lower number to the higher
    (V300R023C00, `port split`).
    """
    text = re.sub(r"(?i)(\dGE) (?=\d)", r"\1", " ".join(words))
    ports: list[str] = []
    for first, last in re.findall(r"(\S+)(?: to (\S+))?", text):
        low, high = SPLITTABLE.fullmatch(first), SPLITTABLE.fullmatch(last or first)
        if not low or not high or low["head"].upper() != high["head"].upper():
            return ()
        numbers = range(int(low["number"]), int(high["number"]) + 1)
        ports += [f"{low['head'].upper()}{number}" for number in numbers]
        if not numbers:
            return ()
    return tuple(ports)


def is_address(word: str) -> bool:
    """Whether a word has the form of an IPv4 address, right or wrong."""
    return ADDRESS.fullmatch(word) is not None


def ranges(numbers: Iterable[int]) -> list[str]:
    """Return numbers as words, each run without gaps as one: 0 1 2 4 -> `0 to 2`, `4`."""
    return [words.replace("-", " to ") for words in wording.ranges(numbers)]


SNMP_VERSIONS = ("v1", "v2c", "v3")


def snmp_version_words(text: str) -> tuple[str, ...]:
    """Return versions of `snmp-agent sys-info version`; `all` is each of them."""
    return SNMP_VERSIONS if text.strip() == "all" else tuple(text.split())


def snmp_version_text(versions: Iterable[str]) -> str:
    """Return versions as a switch saves them, all in one line."""
    enabled = [version for version in SNMP_VERSIONS if version in set(versions)]
    return "all" if len(enabled) == len(SNMP_VERSIONS) else " ".join(enabled)
