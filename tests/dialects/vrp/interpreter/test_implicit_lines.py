"""Lines that a switch writes automatically are distinguished from typed lines."""

from __future__ import annotations

import pytest

from rocefort.dialects.vrp.interpreter.saved_lines import written_by_itself
from rocefort.models.network.network import TextLine


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), "stp mode mstp"),
        (("aaa",), "authentication-scheme default"),
        (("interface 100GE1/0/1",), "port pfc-deadlock trigger turn-off"),
        (("interface 100GE1/0/1",), "jumboframe enable 9216"),
    ],
)
def test_what_holds_anyway_needs_no_owner(path: tuple[str, ...], text: str) -> None:
    assert written_by_itself(TextLine(path, text, 1))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), "stp mode rstp"),
        (("aaa",), "authentication-scheme radius"),
        (("aaa", "authentication-scheme default"), "authentication-mode none"),
        (("interface 100GE1/0/1",), "authentication-scheme default"),
        (("interface 100GE1/0/1",), "port pfc-deadlock trigger error-down"),
        (("interface 100GE1/0/1",), "jumboframe enable 9000"),
        (("vm-manager",), "jumboframe enable 9216"),
        ((), "vlan 10"),  # it makes the VLAN, though its view is empty
        ((), "vm-manager"),
    ],
)
def test_what_somebody_typed_needs_one(path: tuple[str, ...], text: str) -> None:
    assert not written_by_itself(TextLine(path, text, 1))
