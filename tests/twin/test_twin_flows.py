"""Evaluation of received packets, and the probability of an uneven spread."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocefort.lab.experiments.ecmp_spread import chance_of
from rocefort.lab.experiments.fault_injection import row_of
from rocefort.lab.lab_report import FailoverRow
from rocefort.lab.twin.flows import FlowLoad, FlowResult, PacketGap, gaps_of

MS = 1_000_000
CAME = [
    (4, (0, 1, 2, 3), FlowResult(4, 4)),
    (4, (0, 3), FlowResult(4, 2, (PacketGap(0.0, 2, 0.03),))),
    (4, (0, 1), FlowResult(4, 2, (PacketGap(0.01, 2, None),))),
    (4, (2, 3), FlowResult(4, 2, (PacketGap(0.0, 2, None),))),
    (4, (), FlowResult(4, 0, (PacketGap(0.0, 4, None),))),
]


@pytest.mark.parametrize(("sent", "numbers", "result"), CAME)
def test_gaps_are_between_what_came(sent: int, numbers: Sequence[int], result: FlowResult) -> None:
    assert gaps_of(sent, [(number, 10 * number * MS) for number in numbers]) == result


@given(st.integers(1, 50), st.data())
def test_no_lost_packet_is_in_two_gaps_or_in_none(sent: int, data: st.DataObject) -> None:
    numbers = sorted(data.draw(st.sets(st.integers(0, sent - 1))))
    heard = gaps_of(sent, [(number, number * MS) for number in numbers])
    assert sum(gap.lost for gap in heard.gaps) == sent - len(numbers) == heard.sent - heard.received


ROWS = [
    ((), FailoverRow(fault="f", where="w", hit=0, lost=0, window_ms=0, settled_s=1, mending_ms=0)),
    (
        (PacketGap(10.5, 2, 0.25), PacketGap(21.0, 1, 0.5)),
        FailoverRow(
            fault="f", where="w", hit=1, lost=3, window_ms=250, settled_s=1, mending_ms=500
        ),
    ),
    (
        (PacketGap(10.5, 3, 12.0),),
        FailoverRow(fault="f", where="w", hit=1, lost=3, window_ms=None, settled_s=1, mending_ms=0),
    ),
    (
        (PacketGap(10.5, 3, None),),
        FailoverRow(fault="f", where="w", hit=1, lost=3, window_ms=None, settled_s=1, mending_ms=0),
    ),
]


@pytest.mark.parametrize(("gaps", "row"), ROWS, ids=["none", "both", "until-mended", "endless"])
def test_a_loss_belongs_to_the_fault_or_to_its_mending(
    gaps: tuple[PacketGap, ...], row: FailoverRow
) -> None:
    lost = sum(gap.lost for gap in gaps)
    load = FlowLoad((), 10, (FlowResult(100, 100 - lost, gaps), FlowResult(100, 100)))
    assert row_of(("f", "w"), load, (10.0, 20.0), 1) == row


# Quantiles of Abramowitz and Stegun, table 26.8.
QUANTILES = [(1, 3.84146, 0.05), (1, 10.8276, 0.001), (2, 9.21034, 0.01), (3, 7.81473, 0.05)]
QUANTILES += [(7, 14.0671, 0.05), (8, 20.0902, 0.01), (15, 30.5779, 0.01)]


@pytest.mark.parametrize(("freedom", "value", "chance"), QUANTILES)
def test_the_chance_is_that_of_the_tables(freedom: int, value: float, chance: float) -> None:
    assert math.isclose(chance_of(value, freedom), chance, rel_tol=1e-4)


def test_an_even_spread_is_sure() -> None:
    assert [chance_of(0.0, freedom) for freedom in (1, 2, 5)] == [1.0, 1.0, 1.0]
