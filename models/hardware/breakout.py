"""Split ports: one front-panel port as several of a lower speed, with the names of the parts.

The parts keep the port's name: 100GE1/0/1 split 4*25GE is 100GE1/0/1:1 to 100GE1/0/1:4, and each
runs at 25 Gb/s. So the speed of a part follows from the split, not from its name.
"""
# V300R023C00 command reference, `port split`.

from __future__ import annotations

import re
from functools import cache
from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema

from rocefort.models.effect import KEY, SAME, KeyedRow

MOST_PARTS = 4  # of a port; V300R023C00, `port split`: the largest are 4*25GE, 4*50GE, 4*100GE
SPLIT_TYPE = rf"([2-{MOST_PARTS}])\*(\d{{1,3}})GE"


def check_split_type(value: str) -> str:
    """Accept `4*25GE`: the number of parts, and the speed of each."""
    if not re.fullmatch(SPLIT_TYPE, value, re.ASCII):
        raise ValueError(
            f"{value[:60]!r} is not a way to split a port; write 4*25GE: two to {MOST_PARTS} parts "
            "and the speed of each"
        )
    return value


SplitType = Annotated[
    str,
    AfterValidator(check_split_type),
    WithJsonSchema({"type": "string", "pattern": f"^{SPLIT_TYPE}$"}),
]


@cache
def parts_of(port: str, split_type: str) -> tuple[str, ...]:
    """Return the names of the parts of a split port, in order."""
    count = int(split_type.partition("*")[0])
    return tuple(f"{port}:{number}" for number in range(1, count + 1))


@cache
def part_speed_gbps(split_type: str) -> int:
    """Return the speed of each part, Gb/s: 25 for `4*25GE`."""
    return int(split_type.partition("*")[2].removesuffix("GE"))


def whole_port(interface: str) -> str:
    """Return the front-panel port of a part; a whole port is its own."""
    return interface.partition(":")[0]


class PortSplit(KeyedRow):
    """Port with its split type."""

    port: Annotated[str, KEY]
    type: Annotated[SplitType, SAME]

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the interfaces that replace the port."""
        return parts_of(self.port, self.type)
