"""Names of interfaces in a kernel: at most 15 characters, and few special ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocefort.base.errors import Refused
from rocefort.dialects.frr import kernel_name, kernel_names

NAMES = st.from_regex(r"(10|25|100|400)GE[0-9]{1,2}/[0-9]{1,2}/[0-9]{1,3}(:[1-8])?", fullmatch=True)


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("100GE1/0/1", "100GE1_0_1"),
        ("100GE1/0/57", "100GE1_0_57"),
        ("25GE1/0/1:4", "25GE1_0_1_4"),
        ("Vlanif4094", "Vlanif4094"),
        ("Eth-Trunk511", "Eth-Trunk511"),
        ("MEth0/0/0", "MEth0_0_0"),
        ("LoopBack0", "lo"),
        ("LoopBack1023", "lo"),
        ("400GE16/1/36:2", "400GE16_1_36_2"),
    ],
)
def test_a_name_in_a_kernel(name: str, kernel: str) -> None:
    assert kernel_name(name) == kernel


@given(NAMES)
def test_every_port_has_a_name_that_a_kernel_takes(name: str) -> None:
    short = kernel_name(name)
    assert 0 < len(short) <= 15
    assert not set(short) & set("/: ")
    assert kernel_name(name) == short


def test_long_names_stay_apart() -> None:
    names = [f"400GE16/1/36:2.{vlan}" for vlan in range(1, 4095)]
    short = [kernel_name(name) for name in names]
    assert max(map(len, short)) == 15
    assert len(kernel_names(names[:100], "leaf01")) == 100


def test_two_ports_of_one_name_are_refused() -> None:
    with pytest.raises(Refused) as refused:
        kernel_names(["25GE1/0/1:4", "25GE1/0/1/4"], "leaf01")
    assert str(refused.value) == (
        "leaf01 25GE1/0/1/4: 25GE1/0/1:4 and 25GE1/0/1/4 are both 25GE1_0_1_4 in a kernel"
    )
