"""A plan against a text as switches save it: what holds anyway is no change, no secret shows."""

from __future__ import annotations

from rocefort.design.derive import Derived
from rocefort.dialects.vrp.texts import render_all
from rocefort.models.network import Network
from rocefort.rollout.plan import make_changes

BESIDE = """#
vlan 1
#
interface 100GE1/0/40
#
interface 100GE1/0/41
#
interface NULL0
#
"""


def _running(network: Network, name: str, text: str) -> dict[str, str]:
    texts = render_all(network)
    return {**texts, name: texts[name].replace("#\nbgp ", f"{text}bgp ", 1)}


def test_empty_ports_and_vlan_1_are_no_change(heps: Derived) -> None:
    running = _running(heps.network, "leaf01", BESIDE)
    assert "interface 100GE1/0/40" in running["leaf01"]
    changes = make_changes(heps.network, running)
    assert [change.edits for change in changes] == [()] * len(changes)
    assert all(change.empty for change in changes)


def test_a_port_that_is_shut_down_is_a_change(heps: Derived) -> None:
    text = BESIDE.replace("100GE1/0/41\n", "100GE1/0/41\n shutdown\n")
    changes = make_changes(heps.network, _running(heps.network, "leaf01", text))
    edits = {change.device: change.edits for change in changes if change.edits}
    assert list(edits) == ["leaf01"]
    assert [edit.path for edit in edits["leaf01"]] == ["interfaces[100GE1/0/41]"]


def test_a_key_that_somebody_typed_is_in_no_change(heps: Derived) -> None:
    text = "#\nospf 1\n area 0\n  authentication-mode md5 1 hunter2\n#\n"
    changes = make_changes(heps.network, _running(heps.network, "leaf01", text))
    assert all("hunter2" not in change.model_dump_json() for change in changes)
