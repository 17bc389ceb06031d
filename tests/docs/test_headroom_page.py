"""The numbers of docs/explanation/headroom.md are those of the code."""

from __future__ import annotations

import re

from rocefort.base.repository import ROOT
from rocefort.models.units import kbytes
from rocefort.validators.facts.headroom import (
    GAP_BYTES,
    INTERFACE_QUANTA,
    PFC_FRAME_BYTES,
    RESPONSE_QUANTA,
    cable_bytes,
    headroom_bytes,
    interface_bytes,
    response_bytes,
)

PAGE = (ROOT / "docs/explanation/headroom.md").read_text(encoding="utf-8")
MTU, RATE, LENGTH = 9216, 100, 50


def rows(heading: str) -> list[list[str]]:
    """Cells of the table with a heading row."""
    table = PAGE.partition(heading)[2].partition("\n\n")[0]
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_example_has_the_parts_of_the_formula() -> None:
    parts = {part: (calculation, int(size)) for part, calculation, size in rows("| bytes |\n")}
    assert parts == {
        "frame that crosses xoff": (f"{MTU}", MTU),
        "frame of this port": (f"{MTU} + {GAP_BYTES}", MTU + GAP_BYTES),
        "frame of the neighbor": (f"{MTU} + {GAP_BYTES}", MTU + GAP_BYTES),
        "pause frame": (f"64 + {GAP_BYTES}", PFC_FRAME_BYTES),
        "cable": (
            f"2 x {LENGTH} m x 5 ns/m x {RATE} Gb/s / 8",
            cable_bytes(RATE, LENGTH),
        ),
        "response": (f"{RESPONSE_QUANTA[RATE]} x 64", response_bytes(RATE)),
        "own interface": (f"{INTERFACE_QUANTA[RATE]} x 64", interface_bytes(RATE)),
        "headroom": ("sum", headroom_bytes(MTU, MTU, RATE, LENGTH)),
    }
    sizes = [size for _, size in parts.values()]
    assert sum(sizes[:-1]) == sizes[-1]
    assert f"{sizes[-1]:,} bytes are {kbytes(sizes[-1])} KB of 1,024 bytes" in PAGE


def test_the_table_of_lengths_is_computed() -> None:
    lengths = [int(metres) for metres in re.findall(r"(\d+) m \|", PAGE.partition("| rate |")[2])]
    table = rows("| rate | 3 m | 100 m | 300 m |\n")
    assert len(table) == 3
    for rate, *sizes in table:
        gbps = int(rate.removesuffix(" Gb/s"))
        assert [int(size) for size in sizes] == [
            headroom_bytes(MTU, MTU, gbps, length) for length in lengths[:3]
        ]
