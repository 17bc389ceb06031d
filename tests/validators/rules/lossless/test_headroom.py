"""The headroom formula of cell buffers against the 51 defaults that SONiC ships for Spectrum.

The sizes are those of sonic-utilities, mellanox_buffer_migrator.py, v1.0.4: cables of 5, 40 and
300 m. The vendor published them, independent of this code.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from rocefort.validators.facts.headroom import CellBuffer, CellHeadroom, cell_headroom

CABLES_M = (5, 40, 300)
SPECTRUM_1 = CellBuffer(cell=96)
SPECTRUM_1_MSFT = CellBuffer(cell=96, small_percent=50)
SPECTRUM_2 = CellBuffer(cell=144)
SPECTRUM_3_LANES_8 = CellBuffer(cell=144, lanes=8)
VECTORS = [
    (SPECTRUM_1, 10, (49152, 49152, 56320)),
    (SPECTRUM_1, 25, (49152, 51200, 67584)),
    (SPECTRUM_1, 40, (49152, 52224, 78848)),
    (SPECTRUM_1, 50, (49152, 53248, 86016)),
    (SPECTRUM_1, 100, (50176, 58368, 123904)),
    (SPECTRUM_1_MSFT, 10, (41984, 41984, 47104)),
    (SPECTRUM_1_MSFT, 25, (41984, 44032, 56320)),
    (SPECTRUM_1_MSFT, 40, (41984, 45056, 64512)),
    (SPECTRUM_1_MSFT, 50, (41984, 45056, 69632)),
    (SPECTRUM_1_MSFT, 100, (43008, 49152, 98304)),
    (SPECTRUM_2, 10, (52224, 53248, 60416)),
    (SPECTRUM_2, 25, (52224, 55296, 73728)),
    (SPECTRUM_2, 40, (53248, 57344, 86016)),
    (SPECTRUM_2, 50, (53248, 58368, 95232)),
    (SPECTRUM_2, 100, (53248, 63488, 137216)),
    (SPECTRUM_2, 200, (55296, 74752, 223232)),
    (SPECTRUM_3_LANES_8, 400, (86016, 124928, 420864)),
]


@pytest.mark.parametrize(("buffer", "rate", "sizes"), VECTORS)
def test_sonic_defaults(buffer: CellBuffer, rate: int, sizes: tuple[int, ...]) -> None:
    frames = {"port_mtu": 9216, "lossless_mtu": 1024}
    found = [cell_headroom(buffer, rate, cable, **frames) for cable in CABLES_M]
    assert tuple(one.size for one in found) == sizes
    xon, frame = (37888, 9216) if buffer.lanes == 8 else (19456, 0)
    assert [one.xon for one in found] == [xon] * 3
    assert [one.xoff for one in found] == [size - xon - frame for size in sizes]


def test_there_are_51() -> None:
    assert sum(len(sizes) for _, _, sizes in VECTORS) == 51


def test_what_a_byte_takes() -> None:
    """Up to 128 bytes a cell the worst packet is a cell and a byte, beyond it one of 64 bytes."""
    assert CellBuffer(cell=96).occupancy == Fraction(192, 97)
    assert CellBuffer(cell=128).occupancy == Fraction(256, 129)
    assert CellBuffer(cell=129).occupancy == Fraction(129, 64)
    assert CellBuffer(cell=144, small_percent=0).occupancy == 1


def test_a_gearbox_counts_twice() -> None:
    plain, geared = CellBuffer(cell=144, small_percent=0), 4096
    frames = {"port_mtu": 9216, "lossless_mtu": 1024}
    with_gearbox = CellBuffer(cell=144, small_percent=0, gearbox=geared)
    before = cell_headroom(plain, 100, 40, **frames)
    assert cell_headroom(with_gearbox, 100, 40, **frames) == CellHeadroom(
        before.xon, before.xoff + 2 * geared, before.size + 2 * geared
    )
