"""Bond: settings by which an Eth-Trunk bundles its member ports."""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Literal

from rocefort.models.base import Frozen
from rocefort.models.effect import BOND, EditCondition

# V300R023C00 command reference, `mode (Eth-Trunk interface view)`.
BondMode = Literal["manual load-balance", "lacp-static", "lacp-dynamic"]
LacpTimeout = Literal["slow", "fast"]
MANUAL: BondMode = "manual load-balance"
HIGHEST_ID = 511  # the ids that every CloudEngine release takes begin at 0 and end at least here
MOST_LINKS = 256  # V300R023C00, `least active-linknumber`


class Bond(Frozen):
    """Settings of an Eth-Trunk; the defaults have no line.

    lacp_timeout: time after which a silent member is removed, slow 90 s or fast 3 s.
    minimum_links: with fewer active members the whole Eth-Trunk goes down.
    """

    # V300R023C00 command reference, `mode`, `lacp timeout` and `least active-linknumber`.

    mode: Annotated[
        BondMode,
        BOND.affecting(
            "{} bundles its members in another way: it is down until its server does so, too",
            down=EditCondition.ALWAYS,
            stated=True,
        ),
    ] = MANUAL
    lacp_timeout: Annotated[LacpTimeout, BOND.but(down=EditCondition.ALWAYS, stated=True)] = "slow"
    minimum_links: Annotated[
        int,
        BOND.affecting(
            "{} goes down with another number of members", down=EditCondition.ALWAYS, stated=True
        ),
    ] = 1


NO_BOND = Bond()  # of every other interface, and of an Eth-Trunk by default


def trunk_name(number: int) -> str:
    """Return the interface of an Eth-Trunk: 10 -> Eth-Trunk10."""
    return f"Eth-Trunk{number}"


@cache
def trunk_number(name: str) -> int | None:
    """Return the id of an Eth-Trunk by its interface; None for any other interface."""
    match = re.fullmatch(r"Eth-Trunk(\d+)", name, re.ASCII)
    return int(match[1]) if match else None
