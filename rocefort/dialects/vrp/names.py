"""How a CloudEngine writes interface names and addresses, whatever form an operator types."""

from __future__ import annotations

import re
from functools import lru_cache

# Interface Management, V300R023C00: a type, an optional blank, numbers; a split port ends in `:n`.
INTERFACE = re.compile(
    r"(?P<kind>\d+GE|[A-Za-z]+(?:-[A-Za-z]+)*) ?(?P<number>\d+(?:/\d+)*(?::\d+)?)",
    re.ASCII | re.IGNORECASE,
)
KINDS = {
    kind.casefold(): kind
    for kind in ("Eth-Trunk", "Vlanif", "LoopBack", "MEth", "NULL", "Nve", "Tunnel", "GE")
}
ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}", re.ASCII)


@lru_cache(maxsize=4096)
def interface_name(typed: str) -> str | None:
    """Name as the switch saves it, `100ge 1/0/1` -> `100GE1/0/1`; None if it is not one."""
    match = INTERFACE.fullmatch(typed)
    if match is None:
        return None
    kind = match["kind"]
    saved = kind.upper() if kind[0].isdigit() else KINDS.get(kind.casefold(), kind)
    return saved + match["number"]


def is_address(word: str) -> bool:
    """Whether a word has the form of an IPv4 address, right or wrong."""
    return ADDRESS.fullmatch(word) is not None
