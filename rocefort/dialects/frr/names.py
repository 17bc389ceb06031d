"""Names of a switch's interfaces in a Linux kernel: at most 15 characters, no `/` or `:`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256

from rocefort.base.errors import Problem, Refused

LONGEST = 15  # IFNAMSIZ is 16, with the end of the string
LOOPBACK = "lo"
FORBIDDEN = re.compile(r"[^A-Za-z0-9._-]")
TAIL = 4


def kernel_name(name: str) -> str:
    """Return the name of an interface: 100GE1/0/1 -> 100GE1_0_1; every LoopBack is `lo`.

    A longer name is cut, and ends in digits that depend on the whole name.
    """
    if name.startswith("LoopBack"):
        return LOOPBACK
    plain = FORBIDDEN.sub("_", name)
    if len(plain) <= LONGEST:
        return plain
    return f"{plain[: LONGEST - TAIL - 1]}_{sha256(name.encode()).hexdigest()[:TAIL]}"


def kernel_names(names: Iterable[str], device: str) -> dict[str, str]:
    """Return kernel names by the switch's own. Raises Refused where two would be equal."""
    names_of: dict[str, str] = {}
    owners: dict[str, str] = {}
    for name in names:
        short = names_of[name] = kernel_name(name)
        if short != LOOPBACK and owners.setdefault(short, name) != name:
            what = f"{owners[short]} and {name} are both {short} in a kernel"
            raise Refused(problems=[Problem(f"{device} {name}", what)])
    return names_of
