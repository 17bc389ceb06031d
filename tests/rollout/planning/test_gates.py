"""A gate that the policy requires, and its feature, are both there, or nothing is planned."""

from __future__ import annotations

import pytest

from rocefort.base.errors import Refused
from rocefort.rollout import gates


def test_each_gate_has_its_feature() -> None:
    assert {name: gates.gate_of(name).seconds for name in gates.GATES}


def test_a_gate_whose_feature_is_not_installed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "GATES", {"rdma": "rocefort.absent.rollout_gate"})
    with pytest.raises(Refused) as refused:
        gates.gate_of()
    assert str(refused.value) == (
        "the policy requires a gate by rdma, and the feature rocefort.absent is not installed; "
        "install it, or run this command where it is"
    )
